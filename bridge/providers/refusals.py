"""What a server's refusal means and what the user can do: status, body -> ProviderError."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from bridge.errors import ProviderError
from bridge.providers.endpoint import Endpoint
from bridge.providers.faults import PROXY_ADVICE

_LONGEST_QUOTE = 300
_KEY_SHAPE = re.compile(r"\b(sk|gsk|pk|key|AIza)[-_A-Za-z0-9*]{12,}")
_URL_ADVICE = "check --base-url: for most servers it ends in /v1"


def from_status(
    endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes, model: str
) -> ProviderError:
    """The error of a response that is not 200."""
    host, said = endpoint.host, quote(server_message(body), endpoint.secret)
    if 300 <= status < 400:
        to = urlsplit(headers.get("location", "")).hostname or "elsewhere"
        return ProviderError(f"{host} redirects to {to} ({status})", advice=_URL_ADVICE)
    if _is_page(headers, body):
        said = "a web page instead of an API answer"
    message = f"{host} answered {status}" + (f": {said}" if said else "")
    broke = "quota" in said.lower() or "billing" in said.lower()
    busy = status >= 500 or (status == 429 and not broke)
    return ProviderError(
        message,
        advice=_advice(endpoint, status, said, model, broke),
        retryable=busy,
        retry_after=_retry_after(headers) if busy else None,
    )


def not_a_stream(endpoint: Endpoint, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error of a 200 whose content type is no event stream."""
    host = endpoint.host
    if _is_page(headers, body):
        return ProviderError(f"{host} answered with a web page", advice=_URL_ADVICE)
    said = quote(server_message(body), endpoint.secret)
    if said:
        return ProviderError(f"{host} reported an error: {said}")
    kind = quote(headers.get("content-type", "") or "no content type", endpoint.secret)
    return ProviderError(
        f"{host} did not stream its answer ({kind})",
        advice="the server must support stream: true; " + _URL_ADVICE,
    )


def server_message(body: bytes) -> str:
    """The message in the usual shapes of error bodies, "" when there is none."""
    try:
        return error_text(json.loads(body))
    except (ValueError, RecursionError):
        return ""


def error_text(value: object) -> str:
    """``{"error": {"message": …}}``, ``{"error": "…"}``, ``{"message": …}``, ``{"detail": …}``."""
    if not isinstance(value, dict):
        return ""
    for key in ("error", "message", "detail"):
        inner = value.get(key)
        if isinstance(inner, str) and inner:
            return inner
        if isinstance(inner, dict):
            # an error object without words is still an error
            return error_text(inner) or str(inner.get("type") or inner.get("code") or "no reason")
    return ""


def quote(text: str, secret: str) -> str:
    """One bounded line of a server's words without anything that looks like a key."""
    if secret:
        text = text.replace(secret, "[key]")
    text = _KEY_SHAPE.sub("[key]", " ".join(text.split()))
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…"


def _advice(endpoint: Endpoint, status: int, said: str, model: str, broke: bool) -> str:
    if status in (401, 403):
        return f"check the key in {endpoint.key_source}"
    if status == 407:
        return "a proxy on the way wants a name and a password: " + PROXY_ADVICE
    if status == 402 or broke:
        return "the account at the provider has no credit or quota left"
    if status != 413 and "image" in said.lower():
        return "does the model read pictures? if not: BRIDGE_PICTURES=false"
    if status in (400, 404, 422) and "model" in said.lower():
        return f"is {model!r} a model of this server? choose one with --model"
    if status in (404, 405):
        return _URL_ADVICE
    if status == 413:
        return "the request is too large: fewer or smaller images"
    if status == 429:
        return "the provider limits the rate: wait a little"
    if status >= 500:
        return "the server has a problem of its own: try again later"
    return "the server does not accept this request: check --model and --base-url"


def _is_page(headers: Mapping[str, str], body: bytes) -> bool:
    start = body[:200].lstrip().lower()
    return "html" in headers.get("content-type", "").lower() or start.startswith(
        (b"<!doctype html", b"<html")
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds or an HTTP date (RFC 9110, 10.2.3)."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,6}(\.\d+)?", value):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        return None
    return max(0.0, (date - datetime.now(UTC)).total_seconds())
