r"""Passwords by the name they are given to: assignments, headers, XML, command lines, Wi-Fi.

Forms: ``password=x`` (shell, query string, URL form, INI), ``"password": "x"`` (JSON, also escaped
inside another string), ``password: x`` (YAML, screens), ``<string name="PreSharedKey">x<``
(WifiConfigStore.xml, shared preferences), ``--password x``, ``WIFI:...;P:x;;`` (the text of a QR
code), and "the password is x". Every repetition is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bridge.store.spans import Secret

_MARKS = (
    "pass", "pwd", "psk", "key", "secret", "token", "credential", "session", "wifi:", "wep", "pin",
    "signature", "sig=", "密码", "密碼", "密钥", "密鑰", "口令", "パスワード",
    "비밀번호", "암호", "парол", "kennwort", "contrase", "clave", "senha",
    "كلمة", "पासवर्ड", "mật khẩu", "şifre", "parola", "-u ", "--user", "connect-network", "sid=",
)  # fmt: skip
# Words whose value may also be a plain word: nobody labels a screen "psk: forgotten?".
_WIFI_WORDS = (
    r"(?<![a-z])psk|pre[-_ ]?shared[-_ ]?key|wpa[-_ ]?(?:psk|passphrase|key)|wep[-_ ]?keys?\d?"
    r"|sae[-_ ]?password|(?:wi-?fi|network|hotspot)[-_ ]?(?:key|password|passphrase)|网络密钥"
)
_WORDS = (
    r"passwords?|passwor[td]e?s?|passwd|(?<![a-z])pwd|passphrase|passcode|(?<![a-z])pass|kennwort"
    r"|client[-_ ]?secret|secret(?:[-_ ]?(?:access)?[-_ ]?key)?|private[-_ ]?key(?:[-_ ]?passwd)?"
    r"|(?:api|access|auth|encryption|shared|account|master|signing|subscription)[-_ ]?key|apikey"
    r"|token|credentials?|session[-_ ]?id|phpsessid|jsessionid"
    r"|(?<![a-z])sid(?==)|(?<![a-z])sig(?==)"
    r"|x-amz-signature|(?<![a-z])(?:sim[-_ ]?)?(?:pin|puk)(?:[-_ ]?(?:code|num))?(?=\"?\s?[=:])"
    r"|密码|密碼|密钥|密鑰|口令|パスワード|비밀번호|암호|пароль|contraseña|(?<![a-z])clave|(?<![a-z])senha"
    r"|mot de passe|كلمة (?:المرور|السر)|पासवर्ड|mật khẩu|şifre|(?<![a-z])parola"
)
_ANY_WORD = f"(?:(?P<wifi>{_WIFI_WORDS})|{_WORDS})"
_QUOTED = (
    r"(?:\\\\?\"(?P<escaped>(?:\\\\\\?.|[^\"\\\n]){1,400})\\"
    r"|\"(?P<double>(?:\\.|[^\"\\\n]){1,400})\""
    r"|'(?P<single>(?:\\.|[^'\\\n]){1,400})'"
    r"|&quot;(?P<entity>(?:(?!&quot;)[^<>\n]){1,400})&quot;)"
)
_BARE = (
    r"(?P<bare>(?:(?!\\n|,\s?[\w.\-]{1,40}[=:]|%26|&(?:amp;)?[\w.%\-]{1,40}=)[^\s\"'<>]){3,400})"
)
_ASSIGNED = re.compile(
    _ANY_WORD
    + r"(?:\\?[\"'])?(?:\s{0,8}(?P<sign>[=:：]|=>|%3D)\s{0,8}|\s?(?P<verb>是|为|為|は)\s?)"
    rf"(?:{_QUOTED}|{_BARE})",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"(?:password|passphrase|passwort|kennwort|passcode|contraseña|clave|senha|mot de passe|пароль)"
    r"(?P<verb>(?:[ \t]{1,4}(?:for|of|to|für|de|del|da|do|du|от|для)[ \t]{1,4}[^\s:=]{1,40}){0,2}"
    r"(?::|[ \t]{1,4}(?:is|ist|es|est|é|to|lautet|-|—)?)[ \t]{0,4})"
    rf"(?:{_QUOTED}|(?P<bare>[^\s\"'<>:=]{{4,200}}))",
    re.IGNORECASE,
)
_XML = re.compile(
    rf"(?:name=\\?\"[^\"<>\n]{{0,40}}(?:{_WIFI_WORDS}|{_WORDS})[^\"<>\n]{{0,20}}\"[^<>\n]{{0,80}}"
    rf"|<[\w:.\-]{{0,40}}(?:{_WIFI_WORDS}|{_WORDS})(?:\s[^<>\n]{{0,80}})?)>"
    r"\s{0,8}(?:&quot;)?(?P<xml>[^<&\s](?:(?!&quot;)[^<\n]){0,400})",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"(?<![\w\-])(?:--?(?:password|passwd|pass|token|secret|api-?key|passphrase|psk|storepass|keypass)"
    r"[= \t]{1,4}|sshpass\s{1,4}-p\s{0,4}|-u\s{1,4}[^\s:'\"]{1,80}:|--user[= ][^\s:'\"]{1,80}:"
    r"|connect-network\s{1,4}\S{1,80}\s{1,4}wpa[23]\s{1,4})"
    rf"(?:{_QUOTED}|(?P<bare>[^\s\"'<>]{{3,400}}))",
    re.IGNORECASE,
)
_QR = re.compile(
    r"\bWIFI:(?:(?:\\.|[^;\\\n]){0,200};){0,8}?P:\"?(?P<qr>(?:\\.|[^;\\\n\"]){1,200})",
    re.IGNORECASE,
)
_GROUPS = ("escaped", "double", "single", "entity", "bare", "xml", "qr")

_NO_VALUE = frozenset(
    """true false null none nil undefined required optional hidden empty unset set yes no on off
    string str int number bytes char text value here placeholder changed incorrect wrong invalid
    forgotten forgot expired missing unknown default disabled enabled needed manager reset saved
    protected protection available authentication based verification strength must should cannot
    field fields input login visible mismatch policy only with from this that your wpa wpa2
    wpa-psk sae""".split()  # noqa: SIM905
)
_MASK = re.compile(r"[*•●·.x#_\-]+\Z|\.{3}|…", re.IGNORECASE)
_REFERENCE = re.compile(
    r"(?:\$[\w{(]|%[sd(]|\{\{|<|\[redacted|\[hidden|\[REDACTED)|\w[\w.]*\(\)?\Z"
)
# how Java prints an object: window tokens fill the output of dumpsys
_OBJECT = re.compile(r"[\w.$]{0,80}(?:Token|WCT)\{|[\w.$]{1,120}@[0-9a-f]{1,8}\Z")
_CALLED = re.compile(r"[A-Za-z_][\w.]*\(")
_WIFI_BEFORE = re.compile(r"(?:wi-?fi|network|hotspot)[ \t]\Z", re.IGNORECASE)
_PLAIN_KEY = re.compile(r"(?:^|\\n)[ \t]{0,40}(?:- )?[a-z0-9_.\-]{0,60}\Z")
_TRAILING = ".,;:)]}>，。；）"


def find_passwords(text: str, lower: str) -> Iterator[Secret]:
    """``lower`` is ``text.lower()``."""
    if not any(mark in lower for mark in _MARKS):
        return
    for pattern in (_ASSIGNED, _SAID, _XML, _OPTION, _QR):
        for match in pattern.finditer(text):
            found = _value(text, match)
            if found is not None:
                yield found


def _value(text: str, match: re.Match[str]) -> Secret | None:
    groups = match.groupdict()
    name = next(name for name in _GROUPS if groups.get(name))
    start, end = match.span(name)
    if name == "bare":
        end = start + len(text[start:end].rstrip(_TRAILING) or text[start:end])
    value = text[start:end]
    if _is_no_value(value) or not _is_meant(text, match, value, bare=name == "bare"):
        return None
    return Secret(start, end, "password")


def _is_no_value(value: str) -> bool:
    plain = value.strip().lower()
    if not plain or plain.rstrip(_TRAILING + "?!？！") in _NO_VALUE:
        return True
    return bool(_MASK.match(plain) or _REFERENCE.match(value))


def _is_meant(text: str, match: re.Match[str], value: str, *, bare: bool) -> bool:
    """Whether the value is one, not the rest of a sentence or of a label ("Password: forgotten?").

    A path is no password (``PWD=/sdcard``), nor is a printed object a token, nor the call of a
    function in a line of source code.
    """
    groups = match.groupdict()
    if match.re in (_XML, _OPTION, _QR):
        return True
    if match[0][:5].lower() == "token" and _OBJECT.match(value):
        return False
    if " = " in match[0] and _CALLED.match(value):
        return False
    if value.startswith("/") and "pwd" in match[0][:8].lower():
        return False
    if match.re is _SAID:
        wifi = _WIFI_BEFORE.search(text, max(0, match.start() - 12), match.start())
        if wifi and " is " in match[0] and len(value) >= 6:
            return True
        return any(character.isdigit() for character in value) or (not bare and " " not in value)
    wordlike = all(character.isalpha() or character in " '’-_" for character in value)
    if not wordlike or groups["wifi"] or not bare:
        return bool(not bare or len(value) >= 3)
    if groups["sign"] in ("=", "=>", "%3D"):
        return len(value) >= 4
    # a lower-case key at the start of a line is YAML; elsewhere a plain word is a label
    before = text[max(0, match.start() - 60) : match.start()].rpartition("\n")[2]
    key = match[0].split(":", 1)[0]
    return len(value) >= 6 and key.islower() and bool(_PLAIN_KEY.search(before))
