"""One-time codes by the words around them, on screens and in messages.

Prices, dates, card tails, order and phone numbers must stay: a number is a one-time code only
next to a word that says so.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from bridge.store.spans import Secret

MAX_AFTER = 48
MAX_BEFORE = 34
LONGEST_CODE = 40
"""Of what stands for one: a placeholder is longer than a code."""
BEFORE_MARK, BEHIND_MARK = 128, 64
"""An announcing word begins and ends no further from its mark: "your" and three words, "code"."""

# Plain substrings without which no word can match: most texts are done with these.
_WORD_MARKS = (
    "code", "otp", "one-time", "one time", "tan", "pin", "2fa", "to verify", "to log in",
    "to sign in", "码", "碼", "口令", "コード",
    "番号", "ワンタイム", "인증", "보안", "확인", "일회용", "код", "одноразов", "пароль", "código",
    "codigo", "clave", "contraseña", "senha", "رمز", "كود", "सत्यापन", "ओटीपी", "लॉगिन", "einmal",
    "kod", "kód", "cod ", "codul", "codice", "mã", "รหัส", "קוד", "κωδικ", "salasana",
)  # fmt: skip

# Words that announce a one-time code. Weak words ("code") need a possessive or a verb beside them.
# A space stands for one to four of any kind: an unbounded repetition could be made quadratic.
_WORDS = re.compile(
    (
        r"verification code|verify code|security code|authentication code|auth code"
        r"|confirmation code|access code"
        r"|log-?\s?in code|sign-?\s?in code|passcode|\b2fa\b"
        r"|\botp\b|one[- ]time (?:pass\w{0,24}|code|pin)|\b(?:m|sms|push)?-?tan\b"
        r"|\byour (?:[\w’'\-]{1,24} ){0,3}?(?:code|pin)\b(?! of| word)"
        r"|\b(?:code|pin)(?: is\b|\s?[:：])|\d-digit code|\bpin code\b|\bcode (?=\d)"
        r"|\bto (?:verify your|log in|sign in)\b"
        r"|\benter (?:the|this) code"
        r"|验证码|驗證碼|校验码|動態密碼|动态密码|动态码|动态口令|认证码|安全码|一次性密码|短信口令"
        r"|認証コード|認証番号|確認コード|確認番号|本人確認番号|ワンタイム\w{0,24}|セキュリティコード"
        r"|인증\s?번호|인증\s?코드|보안\s?코드|확인\s?코드|일회용"
        r"|код\w{0,24} (?:подтвержд\w{1,24}|для|доступа|входа|безопасности)"
        r"|ваш код|одноразов\w{1,24}|пароль"
        r"|c[óo]digo de (?:verifica\w{1,24}|seguridad|segurança|acesso|acceso|confirma\w{1,24})"
        r"|\b(?:tu|su|seu) c[óo]digo|(?:clave|contraseña|senha) (?:temporal|temporária|de un)"
        r"|رمز|كود التحقق|(?:सत्यापन|ओटीपी|लॉगिन)\s*(?:कोड)?"
        r"|best[äa]e?tigungscode|sicherheitscode|verifizierungscode"
        r"|einmal\w{0,24}|ihr (?:\w{1,24} )?code"
        r"|\bcode de (?:vérification|sécurité|confirmation|connexion)|votre code"
        r"|\bcode d[’']\s?accès"
        r"|codice (?:di )?(?:verifica|sicurezza|conferma|accesso|otp)|il tuo codice"
        r"|(?:verificatie|beveiligings|toegangs|bekræftelses|verifierings|vahvistus)(?:code|kode|kod|koodi)"
        r"|(?:doğrulama|onay|güvenlik|giriş) kodu|\bkodem\b"
        r"|kod (?:weryfikacyjny|potwierdz|autoryz|dostępu)"
        r"|kode (?:verifikasi|otp|keamanan|masuk)|mã (?:xác (?:nhận|thực|minh)|otp|bảo)"
        r"|รหัส(?:ยืนยัน|\s?otp|ความปลอดภัย)|קוד (?:ה?אימות|הכניסה|גישה)|κωδικ[όο]ς? επαλήθευσης"
        r"|cod(?:ul)? de (?:verificare|confirmare|securitate)|ověřovací kód|код:"
    ).replace(" ", r"\s{1,4}"),
    re.IGNORECASE,
)
_NOT_A_CODE_WORD = re.compile(
    r"(?:promo|discount|coupon|voucher|gift|zip|postal|area|country|error|qr|status|exit|product|response"
    r"|referral|invite|dress|source|bar|pickup|return|result|key|dial|sort|swift|优惠|邀请)[\s-]*(?:code)?\s*$",
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
    r"|(?P<gone>\[redacted[a-z: ]{0,24}\])"
)
_MONEY_AFTER = re.compile(
    r"\s?(?:元|円|원|€|\$|£|USD|EUR|GBP|CNY|RMB|INR|руб|р\b|ريال|MB|GB|KB|ms\b|px\b|%)"
)
_OTHER_BEFORE = re.compile(
    r"(?:尾号|末四位|カード下4桁|card ending(?: in)?|ending in|\*|XX|Rs\.?|R\$|ref\.?|reference"
    r"|order|订单号?|заказ|pedido|tracking|call|tel\.?|phone|版本|version|build|flight|to)\s?#?\s*$",
    re.IGNORECASE,
)

_PHONE_BEFORE = re.compile(r"\+\d[\d \-]*\Z")


def find_codes(text: str, lower: str) -> Iterator[Secret]:
    """For each announcing word the nearest number that can be its code; ``lower`` is
    ``text.lower()``."""
    words = [word for word in _announcements(text, lower) if not _is_other_word(text, word)]
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
        # a code that was hidden already is still the nearest one
        if best is not None and best[1] not in taken and text[best[1]] != "[":
            taken.add(best[1])
            yield Secret(best[1], best[2], "code")


def _announcements(text: str, lower: str) -> Iterator[re.Match[str]]:
    """The announcing words; looked for only around their marks, which is many times faster."""
    if len(lower) != len(text):  # a few letters become two in lower case, so places differ
        yield from _WORDS.finditer(text)
        return
    for start, end in _around(lower):
        yield from _WORDS.finditer(text, start, end)


def _around(lower: str) -> Iterator[tuple[int, int]]:
    """The parts of a text in which a word can stand, apart and in order."""
    start = end = -1
    for place in sorted(place for mark in _WORD_MARKS for place in _places(mark, lower)):
        if place - BEFORE_MARK > end:
            if end >= 0:
                yield start, end
            start = max(0, place - BEFORE_MARK)
        end = min(len(lower), place + BEHIND_MARK)
    if end >= 0:
        yield start, end


def _places(mark: str, lower: str) -> Iterator[int]:
    place = lower.find(mark)
    while place >= 0:
        yield place
        place = lower.find(mark, place + 1)


def _is_other_word(text: str, word: re.Match[str]) -> bool:
    return bool(_NOT_A_CODE_WORD.search(text, max(0, word.start() - 14), word.start())) or bool(
        _NOT_A_CODE_WORD.search(word[0].rsplit("code", 1)[0])
    )


def _is_other(text: str, match: re.Match[str]) -> bool:
    """Money, sizes, card tails, references: numbers that are no code even beside the word."""
    if match["gone"]:
        return False
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
