"""Which fields hold a password or a code, and what of them may be kept."""

from __future__ import annotations

import pytest

from device_tools.elements import HIDDEN, Element, pick_elements, render, storable
from device_tools.hierarchy import parse_hierarchy
from device_tools.secret_fields import names_secret


def screen(*nodes: str) -> tuple[Element, ...]:
    frame = '<node class="android.widget.FrameLayout" bounds="[0,0][1080,2000]">'
    root = f"{frame}{''.join(nodes)}</node>"
    return pick_elements(parse_hierarchy(f"<hierarchy rotation='0'>{root}</hierarchy>"))


def field(bounds: str, text: str = "", rid: str = "", hint: str = "", more: str = "") -> str:
    name = f"com.example:id/{rid}" if rid else ""
    return (
        f'<node class="android.widget.EditText" bounds="{bounds}" text="{text}" hint="{hint}" '
        f'resource-id="{name}" clickable="true" {more}/>'
    )


def shown(bounds: str, text: str, more: str = "") -> str:
    return f'<node class="android.widget.TextView" bounds="{bounds}" text="{text}" {more}/>'


LINE = "[0,0][1080,100]"
TAPPED = 'clickable="true"'


@pytest.mark.parametrize(
    "name",
    [
        "Password", "Enter PIN", "One-time code", "OTP", "com.a:id/otp_input", "smsCode", "CVV",
        "com.a:id/editPassword", "Passcode", "请输入验证码", "密码", "パスワード", "인증번호",
        "Пароль", "Код из SMS", "Contraseña", "Código de verificación", "Passwort", "كلمة المرور",
        "Wi-Fi key",
    ],
)  # fmt: skip
def test_names_of_passwords_and_codes_are_known(name: str) -> None:
    """Labels, hints and resource ids in many languages."""
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "Zip code", "Postal code", "Promo code", "Country code", "com.a:id/coupon_code", "Decode",
        "com.a:id/encoder", "Spinner", "Title", "Name", "Search", "Opinion", "QR code", "Typing",
        "com.a:id/codecName", "Standard", "邮政编码", "Shopping",
    ],
)  # fmt: skip
def test_other_names_are_not(name: str) -> None:
    """Postal, promotion and country codes are no secrets, nor are words that hold such letters."""
    assert not names_secret(name)


@pytest.mark.parametrize(
    "view",
    [
        field(LINE, "482913", rid="otp"),
        field(LINE, "482913", hint="Code"),
        field(LINE, "482913", more='content-desc="Enter the code"'),
        field(LINE, "482913", rid="password_visible"),
    ],
)
def test_what_a_code_field_shows_is_told_and_not_kept(view: str) -> None:
    """The model reads the value; the form to be kept has dots in its place."""
    (element,) = screen(view)
    assert element.secret
    assert "482913" in render((element,))
    assert "482913" not in render((storable(element),))
    assert HIDDEN in render((storable(element),))


def test_the_row_around_a_field_names_it() -> None:
    """A field without hint and id takes the text beside it."""
    row = f'<node class="android.widget.LinearLayout" bounds="{LINE}">'
    view = (
        row + shown("[0,0][500,100]", "Enter PIN") + field("[500,0][1080,100]", "4821") + "</node>"
    )
    assert [element.secret for element in screen(view)] == [False, True]


def test_boxes_of_one_character_each_are_a_code() -> None:
    """Six boxes in a row need no name; what they show is not kept."""
    boxes = [field(f"[{n * 150},0][{n * 150 + 130},100]", str(n)) for n in range(6)]
    elements = screen(*boxes)
    assert all(element.secret for element in elements)
    assert render(tuple(map(storable, elements))).count(HIDDEN) == 6


def test_digits_that_a_screen_shows_in_boxes_are_a_code_where_it_says_so() -> None:
    """A row of digits beside the word for a code is one; a calendar and a keypad are none."""
    digits = [shown(f"[{n * 150},200][{n * 150 + 130},300]", str(n)) for n in range(6)]
    heading = shown(LINE, "Your pairing code")
    assert sum(element.secret for element in screen(heading, *digits)) == 6
    assert not any(element.secret for element in screen(shown(LINE, "November"), *digits))
    keys = [
        shown(f"[{n * 150},200][{n * 150 + 130},300]", str(n), 'clickable="true"') for n in range(6)
    ]
    assert not any(element.secret for element in screen(heading, *keys))


def test_ordinary_fields_are_kept_as_they_are() -> None:
    """A title or a postal code stays readable in the record."""
    for view in (field(LINE, "buy milk", hint="Title"), field(LINE, "10115", hint="Postal code")):
        (element,) = screen(view)
        assert storable(element) is element
