"""One-time codes: real wordings of many languages, and look-alikes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from device_tools.otp import find_code
from scripts.otp_table import Score, scores, table
from tests.shared_data import shared_data

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sms-codes.md"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Il tuo codice di verifica è 482913", "482913"),
        ("Doğrulama kodunuz: 482913", "482913"),
        ("Mã OTP của bạn là 482913", "482913"),
        ("รหัส OTP ของคุณคือ 482913", "482913"),
        ("קוד האימות שלך הוא 482913", "482913"),
        ("کد تایید شما: ۴۸۲۹۱۳", "482913"),
        ("Uw code is 4829", "4829"),
        ("Your code is KXQTRB.", "KXQTRB"),
        ("<#> Your ExampleApp code is: 123ABC78 FA+9qCX9VSu", "123ABC78"),
        ("Use 481 516 to verify your account.", "481516"),
        ("Your OTP for a payment of INR 4500.00 is 889911", "889911"),
        ("Ref 998877: your code 112233", "112233"),
        ("Card ending 1234 code 883311", "883311"),
        ("验证码: 1 2 3 4 5 6", "123456"),
    ],
)
def test_codes_are_found_without_separators(text: str, code: str) -> None:
    """Any language and script of digits; the nearest number beside the announcing word."""
    assert code == find_code(text)


@pytest.mark.parametrize(
    "text",
    [
        "Your promo code SAVE20 is waiting",
        "Use discount code 482913",
        "Your booking code is X7K29Q",
        "Meet me at 1730, room 4821",
        "Call +1 555 0100 to get your code",
        "Codice postale 00184 Roma",
        "промокод 482913",
        "您的取件码 482913",
        "Never share your code",
        "",
    ],
)
def test_look_alikes_are_no_codes(text: str) -> None:
    """Vouchers, phone numbers, pickup codes and numbers without an announcing word."""
    assert find_code(text) is None


def test_a_long_message_costs_no_time() -> None:
    """Only its beginning is read, so no message can hold the tool up."""
    assert find_code("код 12345 " * 200_000) == "12345"
    assert find_code("1 2 3 " * 100_000) is None


def test_precision_and_recall_are_those_of_the_page() -> None:
    """The table in the docs is what the messages give now; nothing is invented or missed."""
    folder = shared_data("phone/otp")
    found = scores(folder)

    assert table(found) in PAGE.read_text(encoding="utf-8")
    assert all(score == Score(score.messages, score.messages, 0) for score in found.values())


def test_no_code_is_invented_in_the_look_alikes() -> None:
    """Every message that holds no code gives none, in any language."""
    lines = (shared_data("phone/otp") / "otp_negative.jsonl").read_text("utf-8").splitlines()
    wrong = [text for text in (json.loads(line)["text"] for line in lines) if find_code(text)]
    assert not wrong
