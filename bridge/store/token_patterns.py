"""Keys and tokens by their form: prefixes of providers, bearer tokens, PEM blocks, URLs.

The prefixes are those that the providers document for their keys. Every repetition is bounded or
starts only where its run of characters starts, so a text cannot make the search quadratic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bridge.store.spans import Secret

# Plain substrings without which a pattern cannot match: most screens are done with these.
_MARKS = (
    "-----begin", "sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "glpat-", "akia", "asia", "aiza", "aq.", "xox", "xapp-", "hf_", "gsk_", "xai-", "pplx-",
    "nvapi-", "fw_", "r8_", "tgp_", "sg.", "npm_", "pypi-", "dop_v1_", "shpat_", "ya29.", "age-",
    "lin_api_", "ntn_", "figd_", "dapi", "hvs.", "dckr_pat_", "whsec_", "eyj", "apa91",
    "bearer", "basic", "token ", "cookie", "://", ":aa", "key-",
)  # fmt: skip

_LETTER = r"[A-Za-z0-9_\-]"
# not inside a longer word: "task-force-..." is no key
_START = r"(?<![A-Za-z0-9])"
_DIGIT_AHEAD = rf"(?={_LETTER}{{0,64}}\d)"
_KEY = re.compile(
    _START + r"(?:"
    rf"(?:sk|csk)-{_DIGIT_AHEAD}{_LETTER}{{16,}}"
    rf"|(?:sk|pk|rk)_(?:live|test)_{_LETTER}{{10,}}|sk_{_DIGIT_AHEAD}{_LETTER}{{20,}}"
    r"|gh[opusr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_\-]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    rf"|AIza{_LETTER}{{30,}}|AQ\.{_LETTER}{{30,}}|ya29\.{_LETTER}{{20,}}"
    r"|xox[abeoprs]-[A-Za-z0-9\-]{10,}|xapp-[A-Za-z0-9\-]{20,}"
    rf"|(?:hf|gsk|fw|r8|tgp|tgp_v1|npm|ntn)_{_DIGIT_AHEAD}{_LETTER}{{20,}}"
    rf"|(?:xai|pplx|nvapi|pypi|key)-{_DIGIT_AHEAD}{_LETTER}{{24,}}"
    rf"|SG\.{_LETTER}{{16,64}}\.{_LETTER}{{16,}}|hvs\.{_LETTER}{{20,}}|dapi[0-9a-f]{{32}}"
    rf"|(?:dop_v1|shpat|shpss|lin_api|figd|dckr_pat|whsec)_{_LETTER}{{16,}}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{50,}"
    r"|\d{8,10}:AA[A-Za-z0-9_\-]{32,}"  # Telegram bots
    rf"|{_LETTER}{{0,64}}:APA91{_LETTER}{{60,}}"  # Firebase
    r")"
)
_JWT = re.compile(r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*")
# a digit, a padding or mixed case: "Basic authentication" is no token
_RANDOM = r"(?=[A-Za-z+/._~\-]{0,64}(?:[0-9=]|(?-i:[a-z][A-Z])))"
_BEARER = re.compile(
    rf"\b(?:Bearer|Basic)(?:\s{{1,4}}|%20|\+){_RANDOM}([A-Za-z0-9+/=._~\-]{{12,}})"
    rf"|\bAuthorization[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?(?:token|apikey|key)\s{{1,4}}([^\s\"'\\]{{8,}})"
    r"|\b(?:Set-)?Cookie[\"']?\s{0,4}:\s{0,4}[\"']?([^\r\n\"'\\]{8,})",
    re.IGNORECASE,
)
_URL = re.compile(
    r"(?<![A-Za-z0-9+.\-])[a-z][a-z0-9+.\-]{1,20}://[^\s/:@\"'<>]{0,200}:([^\s/@\"'<>]{1,400})@",
    re.IGNORECASE,
)
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE)
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE)
# the lines of a block that was cut: base64 and header lines, line breaks also as two letters
_PEM_BODY = re.compile(
    r"(?:\\r|\\n|\s|[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1,15}={0,2}(?=\s|\\n|\Z)"
    r"|(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]{0,200})*-{0,5}"
)
LONGEST_PEM = 65_536


def find_tokens(text: str, lower: str) -> Iterator[Secret]:
    """``lower`` is ``text.lower()``."""
    if not any(mark in lower for mark in _MARKS):
        return
    yield from _pem_blocks(text)
    for match in _KEY.finditer(text):
        yield Secret(match.start(), match.end(), "key")
    for match in _JWT.finditer(text):
        yield Secret(match.start(), match.end(), "key")
    for pattern, kind in ((_BEARER, "key"), (_URL, "url")):
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            if not match[group].startswith("[redacted"):
                yield Secret(match.start(group), match.end(group), kind)


def _pem_blocks(text: str) -> Iterator[Secret]:
    end = 0
    for begin in _PEM.finditer(text):
        if begin.start() < end:
            continue
        close = _PEM_END.search(text, begin.end(), begin.end() + LONGEST_PEM)
        if close is None:
            close = _PEM_BODY.match(text, begin.end(), begin.end() + LONGEST_PEM)
        end = close.end() if close else begin.end()
        yield Secret(begin.start(), end, "key")
