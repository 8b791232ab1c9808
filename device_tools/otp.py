"""One-time codes in messages of any language: the code, never the text around it.

A number is a code only beside a word that announces one. Amounts, dates, card tails, order and
phone numbers are not. Pure functions; the words are data.
"""

from __future__ import annotations

import re
import unicodedata

MOST_TEXT = 2000
_AFTER, _BEFORE = 45, 40

# Words that announce a code, by language family. Letters of the same script may not touch them.
_LATIN = (
    "code", "codes", "passcode", "otp", "one-time password", "one time password", "tan", "mtan",
    "smstan", "pin", "2fa", "verification", "to verify", "to log in",
    "to sign in", "código", "codigo", "clave", "contraseña temporal",
    "senha", "token", "codice", "kode", "kod", "kodu", "kodunuz", "koden", "kód", "kódja", "cod",
    "codul", "şifre", "şifreniz", "mã", "código de", "bestätigungscode", "bestaetigungscode",
    "sicherheitscode", "anmeldecode", "zugangscode", "verifizierungscode", "einmalcode",
    "einmalpasswort", "einmalkennwort", "freischaltcode", "verificatiecode", "beveiligingscode",
    "toegangscode", "vahvistuskoodi", "koodi", "kodas", "kods", "koda",
)  # fmt: skip
_OTHER = (
    r"[验驗]证码|驗證碼|认证码|認證碼|校[验驗][码碼]|[动動][态態](?:密?[码碼]|口令)|安全[码碼]"
    r"|[确確][认認][码碼]|登[录錄][码碼]|授[权權][码碼]|(?:一次性|[临臨][时時]|短信)(?:密[码碼]|口令)"
    r"|(?:認証|確認|本人確認|セキュリティ|ログイン|検証)\s?(?:コード|番号|キー)"
    r"|ワンタイム(?:パスワード|パス|コード)?|パスコード"
    r"|(?:인증|보안|확인|일회용|검증|로그인)\s?(?:번호|코드|비밀번호)"
    r"|(?<![а-яёіїєґ])(?:код[а-яё]{0,3}|парол[а-яё]{1,2}|пин-?код)(?![а-яёіїєґ])"
    r"|رمز|كود|کد|کوڈ|קוד|קודך|סיסמה|κωδικ[όο]ς?"
    r"|कोड|ओटीपी|পাসকোড|কোড|ওটিপি|குறியீடு|కోడ్|કોડ|ਕੋਡ|കോഡ്|ಕೋಡ್|รหัส|โค้ด|កូដ|လျှို့ဝှက်ကုဒ်|კოდი|կոդ"
)
_WORDS = re.compile(
    r"(?<![^\W\d_])(?:" + "|".join(re.escape(word) for word in sorted(_LATIN, key=len)[::-1])
    + r")(?![^\W\d_])|" + _OTHER,
    re.IGNORECASE,
)  # fmt: skip
# The same words in another sense; tested against the text up to and including the word.
_OTHER_SENSE = re.compile(
    r"(?:promo\w*|discount|coupon|voucher|gift|zip|post(?:al)?|area|country|error|qr|bar|status"
    r"|product|refer+al|invit\w+|dress|source|pickup|collection|tracking|booking|order|sort|swift"
    r"|bank|branch|ticket|reservation|remote|cheat)[\s-]*(?:code|pin)s?$"
    r"|(?:取[件货]|提货|邀请|优惠|兑换|条|二维|推荐)[码碼]?$|(?:クーポン|バー|qr|紹介)\s?コード$|промокод\w*$",
    re.IGNORECASE,
)
_SENSE_BEHIND = re.compile(
    r"\s*(?:postal|promo\w*|de\s+(?:barras|desc\w+|rastre\w+|promo\w*|réduction|postal\w*)|fiscale)"
    r"|\s*(?:к|на)\s+скидк",
    re.IGNORECASE,
)
_CANDIDATE = re.compile(
    r"(?<![A-Za-z0-9_#*/@+$€£¥￥₹₩₽\-.,:])(?:[A-Z]{1,2}-(?=\d))?#?\*?(?P<code>"
    r"\d(?: \d){3,7}(?![ ]?\d)|\d{3}[ \-]\d{3,4}(?![ \-]\d)|\d{4}[ \-]\d{4}(?![ \-]\d)"
    r"|\d{2}-\d{2}-\d{2}(?!-\d)|\d{4,8}"
    r"|(?=[A-Z0-9]*[0-9])(?=[A-Z0-9]*[A-Z])[A-Z0-9]{4,8}"
    r")(?![A-Za-z_\d])(?![.,:/\-]\d)"
)
_LETTERS = re.compile(r"\s*(?:is|es|ist|est|é|:|：)\s+(?P<code>[A-Z]{4,8})(?=\s*(?:[.,;。\n]|$))")
_NO_CODE_BEHIND = re.compile(
    r"\s?(?:[元円원€$£₽₹%]|usd|eur|gbp|cny|rmb|inr|руб|р\b|ريال|тг|[kmg]b\b|ms\b|px\b|km\b|年|г\.)",
    re.IGNORECASE,
)
_NO_CODE_BEFORE = re.compile(
    r"(?:尾号|末四位|末尾|下4桁|カード|카드|карт\w*|card(?:\s+no\.?)?|ending(?:\s+(?:in|with))?|xx+|\*+"
    r"|rs\.?|r\$|usd|eur|inr|ref(?:erence)?\.?|order|订单号?|単号|注文番号|заказ\w*|pedido|tracking"
    r"|call|tel\.?|phone|версия|版本|version|build|flight|to|at|account|konto|a/c|счет\w*|№|nr\.?)"
    r"\s?[:#*]?[^\S\n]*\Z",
    re.IGNORECASE,
)
_PHONE_BEFORE = re.compile(r"\+\d[\d \-()]*\Z")


def find_code(text: str) -> str | None:
    """The one-time code of a message: 4 to 8 ASCII letters or digits without separators, or None.

    Digits of any script are read; only the first 2,000 characters are looked at.
    """
    flat = _ascii_digits(text[:MOST_TEXT])
    words = [word for word in _WORDS.finditer(flat) if not _another_sense(flat, word)]
    best: tuple[float, str] | None = None
    for match in _CANDIDATE.finditer(flat):
        if _something_else(flat, match):
            continue
        costs = [_distance(flat, word, match) for word in words]
        cost = min((cost for cost in costs if cost is not None), default=None)
        code = re.sub(r"[^A-Za-z0-9]", "", match["code"])
        if cost is not None and 4 <= len(code) <= 8 and (best is None or cost < best[0]):
            best = (cost, code)
    return best[1] if best else _only_letters(flat, words)


def _ascii_digits(text: str) -> str:
    """The same length: every decimal digit of Unicode as 0 to 9; marks of direction as spaces."""
    return "".join(
        character if character.isascii()
        else str(unicodedata.decimal(character)) if unicodedata.decimal(character, None) is not None
        else " " if unicodedata.category(character) in ("Cf", "Zs")
        else character
        for character in text
    )  # fmt: skip


def _another_sense(text: str, word: re.Match[str]) -> bool:
    before = text[max(0, word.start() - 16) : word.end()]
    return bool(_OTHER_SENSE.search(before) or _SENSE_BEHIND.match(text, word.end()))


def _something_else(text: str, match: re.Match[str]) -> bool:
    start, end = match.span("code")
    before = text[max(0, start - 20) : start]
    marked = before.endswith(("\n*", " *", "#")) or (match[0][:1].isalpha() and "-" in match[0][:3])
    if _NO_CODE_BEHIND.match(text, end) or _PHONE_BEFORE.search(before):
        return True
    return bool(_NO_CODE_BEFORE.search(before)) and not marked


def _distance(text: str, word: re.Match[str], match: re.Match[str]) -> float | None:
    """How far the number is from the word; None when too far to belong to it. A number behind the
    word is preferred, as is one on the same line."""
    start, end = match.span("code")
    if start >= word.end():
        between, limit, weight = text[word.end() : start], _AFTER, 1.0
    elif end <= word.start():
        between, limit, weight = text[end : word.start()], _BEFORE, 1.4
    else:
        return None
    lines = between.count("\n")
    if len(between) > limit or lines > 3:
        return None
    return len(between) * weight + 6 * lines + 12 * len(re.findall(r"[.!?。]\s", between))


def _only_letters(text: str, words: list[re.Match[str]]) -> str | None:
    """A code of capital letters alone counts only right behind its word."""
    found = (_LETTERS.match(text, word.end()) for word in words)
    return next((match["code"] for match in found if match), None)
