"""Secrets by pattern: keys, tokens, passwords, and one-time codes by the words around them.

Pure functions from text to the spans that are secret. Prices, dates, card tails, order and
phone numbers must stay: a number is a one-time code only next to a word that says so.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

MAX_AFTER = 48
MAX_BEFORE = 34
LONGEST_CODE = 16

# Plain substrings without which a pattern cannot match: most screens are done with these.
_TOKEN_MARKS = (
    "-----begin", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
    "github_pat_", "glpat-", "akia", "asia", "aiza", "xox", "hf_", "eyj", "bearer", "basic", "://",
    "wifi:",
)  # fmt: skip
_ASSIGNED_MARKS = (
    "passw", "pwd", "passphrase", "psk", "key", "secret", "token", "密码", "密碼",
)  # fmt: skip
_WORD_MARKS = (
    "code", "otp", "one-time", "one time", "tan", "pin", "2fa", "码", "碼", "口令", "コード",
    "番号", "ワンタイム", "인증", "보안", "확인", "일회용", "код", "одноразов", "пароль", "código",
    "codigo", "clave", "contraseña", "senha", "رمز", "كود", "सत्यापन", "ओटीपी", "लॉगिन", "einmal",
)  # fmt: skip


@dataclass(frozen=True)
class Secret:
    """``text[start:end]`` is secret; ``kind`` names it in the replacement."""

    start: int
    end: int
    kind: str


_TOKENS = re.compile(
    r"(?P<pem>-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z))"
    r"|(?P<key>\b(?:sk|pk|rk)[-_](?=[A-Za-z_\-]*\d)[A-Za-z0-9_\-]{16,}"
    r"|\bgh[opusr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_\-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_\-]{30,}|\bxox[abprs]-[A-Za-z0-9\-]{10,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*)"
    r"|\b(?:Bearer|Basic)\s+(?P<bearer>[A-Za-z0-9+/=._~\-]{12,})"
    r"|\b[a-z][a-z0-9+.\-]{1,20}://[^\s/:@\"]*:(?P<url>[^\s/@\"]+)@"
    r"|\bWIFI:[^\n\"]*?\bP:(?P<wifi>[^;\n\"]+);",
    re.DOTALL | re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"(?:\b|_)(?:password|passwort|passwd|pwd|passphrase|psk|wifi[_ -]?key|client[_-]?secret|secret"
    r"|api[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token|token|密码|密碼)"
    r"[\"']?\s*(?P<sign>[=:：])\s*[\"']?(?P<value>[^\s\"'\\,;&<>{}\[\]]{4,})",
    re.IGNORECASE,
)
_NO_VALUE = frozenset({"true", "false", "null", "none", "required", "optional", "hidden", "****"})

# Words that announce a one-time code. Weak words ("code") need a possessive or a verb beside them.
_WORDS = re.compile(
    r"verification\s+code|verify\s+code|security\s+code|authentication\s+code|auth\s+code"
    r"|confirmation\s+code|access\s+code|log-?\s?in\s+code|sign-?\s?in\s+code|passcode|\b2fa\b"
    r"|\botp\b|one[- ]time\s+(?:pass\w*|code|pin)|\b(?:m|sms|push)?-?tan\b"
    r"|\byour\s+(?:[\w’'\-]+\s+){0,3}?(?:code|pin)\b|\b(?:code|pin)(?:\s+is\b|\s?[:：])|\d-digit\s+code"
    r"|\benter\s+(?:the|this)\s+code"
    r"|验证码|驗證碼|校验码|動態密碼|动态密码|动态码|动态口令|认证码|安全码|一次性密码|短信口令"
    r"|認証コード|認証番号|確認コード|確認番号|本人確認番号|ワンタイム\w*|セキュリティコード"
    r"|인증\s?번호|인증\s?코드|보안\s?코드|확인\s?코드|일회용"
    r"|код\w*\s+(?:подтвержд\w+|для|доступа|входа|безопасности)|ваш\s+код|одноразов\w+|пароль"
    r"|c[óo]digo\s+de\s+(?:verifica\w+|seguridad|segurança|acesso|acceso|confirma\w+)"
    r"|\b(?:tu|su|seu)\s+c[óo]digo|(?:clave|contraseña|senha)\s+(?:temporal|temporária|de\s+un)"
    r"|رمز|كود\s+التحقق|(?:सत्यापन|ओटीपी|लॉगिन)\s*(?:कोड)?"
    r"|best[äa]e?tigungscode|sicherheitscode|verifizierungscode|einmal\w*|ihr\s+(?:\w+\s+)?code"
    r"|\bcode\s+de\s+(?:vérification|sécurité|confirmation|connexion)|votre\s+code"
    r"|\bcode\s+d[’']\s?accès",
    re.IGNORECASE,
)
_NOT_A_CODE_WORD = re.compile(
    r"(?:promo|discount|coupon|voucher|gift|zip|postal|area|country|error|qr|status|exit|product"
    r"|referral|invite|dress|source|bar|pickup|优惠|邀请)[\s-]*(?:code)?\s*$",
    re.IGNORECASE,
)
# `\n` may stand as two characters in an element list; \d covers full-width, Arabic, Devanagari
_EDGE = r"(?:(?<![0-9A-Za-z_#*/@.,:+$€£¥￥₹\-\d])|(?<=\\n)|(?<=[A-Z]-)|(?<=[#*:])(?<!\d[:]))"
_CANDIDATE = re.compile(
    _EDGE + r"(?:"
    r"\d(?: \d){3,7}(?![ ]?\d)"
    r"|\d{3}[ \-]\d{3,4}|\d{2}-\d{2}-\d{2}|\d{4,8}"
    r"|(?=[A-Z0-9]{0,7}[0-9])(?=[A-Z0-9]{0,7}[A-Z])[A-Z0-9]{5,8}"
    r")(?![0-9A-Za-z_\d])(?![.,:/\-][\d])"
)
_MONEY_AFTER = re.compile(
    r"\s?(?:元|円|원|€|\$|£|USD|EUR|GBP|CNY|RMB|INR|руб|р\b|ريال|MB|GB|KB|ms\b|px\b|%)"
)
_OTHER_BEFORE = re.compile(
    r"(?:尾号|末四位|カード下4桁|card\s+ending(?:\s+in)?|ending\s+in|\*|XX|Rs\.?|R\$|ref\.?|reference"
    r"|order|订单号?|заказ|pedido|tracking|call|tel\.?|phone|版本|version|build|flight|to)\s?#?\s*$",
    re.IGNORECASE,
)

_PHONE_BEFORE = re.compile(r"\+\d[\d \-]*\Z")


def find_secrets(text: str) -> list[Secret]:
    """Every secret span of ``text``, in order, never overlapping."""
    lower = text.lower()
    found = [
        *_find_tokens(text, lower),
        *_find_assigned(text, lower),
        *_find_codes(text, lower),
    ]
    found.sort(key=lambda secret: (secret.start, -secret.end))
    kept: list[Secret] = []
    for secret in found:
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def _find_tokens(text: str, lower: str) -> Iterator[Secret]:
    if not any(mark in lower for mark in _TOKEN_MARKS):
        return
    for match in _TOKENS.finditer(text):
        for kind, value in match.groupdict().items():
            if value is not None:
                yield Secret(match.start(kind), match.end(kind), "key" if kind != "url" else kind)


def _find_assigned(text: str, lower: str) -> Iterator[Secret]:
    if not any(mark in lower for mark in _ASSIGNED_MARKS):
        return
    for match in _ASSIGNED.finditer(text):
        value = match["value"]
        # after a colon a plain word is mostly a label of the screen ("Password: forgotten?")
        plausible = match["sign"] == "=" or not value.rstrip("?!.").isalpha()
        if plausible and value.lower() not in _NO_VALUE and not value.startswith("[redacted"):
            yield Secret(match.start("value"), match.end("value"), "password")


def _find_codes(text: str, lower: str) -> Iterator[Secret]:
    """For each announcing word the nearest number that can be its code."""
    if not any(mark in lower for mark in _WORD_MARKS):
        return
    words = [word for word in _WORDS.finditer(text) if not _is_other_word(text, word)]
    if not words:
        return
    candidates = [match for match in _CANDIDATE.finditer(text) if not _is_other(text, match)]
    starts = [match.start() for match in candidates]
    taken: set[int] = set()
    for word in words:
        first = bisect_left(starts, word.start() - MAX_BEFORE - LONGEST_CODE)
        last = bisect_right(starts, word.end() + MAX_AFTER)
        nearby = (_distance(text, word, match) for match in candidates[first:last])
        best = min((near for near in nearby if near is not None), default=None)
        if best is not None and best[1] not in taken:
            taken.add(best[1])
            yield Secret(best[1], best[2], "code")


def _is_other_word(text: str, word: re.Match[str]) -> bool:
    return bool(_NOT_A_CODE_WORD.search(text, max(0, word.start() - 14), word.start())) or bool(
        _NOT_A_CODE_WORD.search(word[0].rsplit("code", 1)[0])
    )


def _is_other(text: str, match: re.Match[str]) -> bool:
    """Money, sizes, card tails, references: numbers that are no code even beside the word."""
    if _MONEY_AFTER.match(text, match.end()):
        return True
    before = text[max(0, match.start() - 16) : match.start()]
    if _PHONE_BEFORE.search(before):
        return True
    return bool(_OTHER_BEFORE.search(before)) and not before.endswith(("\n*", "code: *"))


def _distance(
    text: str, word: re.Match[str], match: re.Match[str]
) -> tuple[float, int, int] | None:
    """How far the number is from the word, or None when too far; behind the word counts less."""
    if match.start() >= word.end() - 1:
        gap, limit = match.start() - word.end(), MAX_AFTER
        between = text[word.end() : match.start()]
    else:
        gap, limit = word.start() - match.end(), MAX_BEFORE
        between = text[match.end() : word.start()]
    lines = between.count("\n") + between.count("\\n")
    if gap < -1 or gap > limit or lines > 2:
        return None
    cost = gap * (1.0 if limit == MAX_AFTER else 1.5) + 10 * lines
    return (cost, match.start(), match.end())
