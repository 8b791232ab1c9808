"""Fields that hold a password or a one-time code, by what the view says about itself.

A view is one when the phone marks it as a password; when it is editable and its hint, its
description, its label or its resource id names a password or a code; or when it is one of a row of
boxes of one character each. Pure functions over the tree of views.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from device_tools.hierarchy import Hierarchy, Node

BOXES = 4
"""So many boxes in a row hold a code; calendars and keypads have rows of buttons instead."""

_EDITABLE = re.compile(r"EditText|AutoComplete")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORDS = re.compile(
    r"pass[\s_\-]?(?:words?|codes?|phrase|wd)|(?<![a-z])(?:pwd|otp|totp|pins?|puk|tan|cvv2?|cvc2?|psk"
    r"|2fa|mfa|codes?)(?![a-z])|(?:verification|verify|security|auth|sms|login)[\s_\-]?code"
    r"|one[\s_\-]?time|pin[\s_\-]?code|secret|api[\s_\-]?key|wi-?fi[\s_\-]?key|kennwort|passwort"
    r"|einmalcode|sicherheitscode|bestätigungscode|mot\sde\spasse|contraseña|clave|código|senha"
    r"|codice|密码|密碼|口令|验证码|驗證碼|校验码|动态码|安全码|パスワード|暗証番号|認証コード|認証番号|確認コード"
    r"|비밀번호|인증\s?번호|인증\s?코드|парол|(?<![а-я])код(?![а-я])|пин-?код|رمز|كلمة\s(?:المرور|السر)"
    r"|पासवर्ड|ओटीपी|कोड|şifre|parola|doğrulama\skodu|mật\skhẩu|mã\s(?:xác|otp)|รหัส|סיסמה|κωδικ",
    re.IGNORECASE,
)
_OTHER_CODES = re.compile(
    r"(?:zip|postal|post|promo\w*|coupon|discount|voucher|gift|country|area|dial\w*|qr|bar|source"
    r"|referr?al|invit\w+|product|currency|language|status|color|colour|tax|airport|swift|branch)"
    r"[\s_\-]*codes?|código\s(?:postal|promocional)|邮政编码|优惠码|邀请码|промокод",
    re.IGNORECASE,
)


def names_secret(*texts: str) -> bool:
    """Whether a label, hint or resource id names a password or a code (a postal code is none)."""
    for text in texts:
        words = _HUMP.sub("_", text.rpartition("/")[2] if ":id/" in text else text)
        if _WORDS.search(_OTHER_CODES.sub(" ", words)):
            return True
    return False


def is_secret(node: Node, *labels: str) -> bool:
    """Whether the view by itself, under ``labels``, holds a secret."""
    if node.has("password"):
        return True
    editable = node.has("editable") or bool(_EDITABLE.search(node.class_name))
    return editable and names_secret(node.hint, node.description, node.resource_id, *labels)


def code_boxes(hierarchy: Hierarchy) -> Iterator[tuple[Node, ...]]:
    """Rows of at least ``BOXES`` views of one size that show at most one character each, in reading
    order. Views that only show count where the screen names a code and they cannot be tapped."""
    nodes = list(_all(hierarchy))
    named = any(names_secret(node.text, node.description, node.hint) for node in nodes)
    rows: dict[tuple[int, int, int, bool], list[Node]] = {}
    for node in nodes:
        editable = bool(_EDITABLE.search(node.class_name)) or node.has("editable")
        shows = named and node.text.isdigit() and not node.has("clickable")
        if node.bounds.area > 0 and len(node.text.strip()) <= 1 and (editable or shows):
            place = (node.bounds.top, node.bounds.bottom, node.bounds.width, editable)
            rows.setdefault(place, []).append(node)
    for row in rows.values():
        row.sort(key=lambda node: node.bounds.left)
        apart = [next(same) for _, same in groupby(row, key=lambda node: node.bounds.left)]
        if len(apart) >= BOXES:
            yield tuple(row)


def _all(hierarchy: Hierarchy) -> Iterator[Node]:
    stack = list(reversed(hierarchy.windows))
    while stack:
        node = stack.pop()
        if not node.has("invisible"):
            yield node
            stack += reversed(node.children)
