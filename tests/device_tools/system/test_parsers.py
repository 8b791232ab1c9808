"""The parsers beside real outputs of phones of many makers and versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from device_tools.system import (
    clock,
    environment,
    logcat,
    media,
    network,
    notifications,
    packages,
    status,
    usage,
)
from device_tools.system.content import Query, parse_numbers, parse_rows
from tests.shared_data import shared_data

PARSERS: tuple[Callable[[str], Any], ...] = (
    status.parse_battery, status.parse_properties, status.parse_memory, status.parse_storage,
    status.parse_processes, status.parse_app_sizes, network.parse_wifi, network.parse_saved_names,
    network.parse_addresses, network.parse_supplicant, notifications.parse_notifications,
    notifications.parse_heads, notifications.parse_archive, usage.parse_events,
    environment.parse_fixes, environment.parse_heat, clock.parse_alarms, media.parse_volume,
    media.parse_sessions, logcat.parse_log, packages.parse_packages, packages.parse_failure,
)  # fmt: skip
SMS = Query("content://sms", ("_id",), ("address", "date", "body"))


def real(number: str) -> str:
    (path,) = shared_data("phone/text").glob(f"{number}_*")
    return path.read_text("utf-8", "replace")


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__)
def test_no_output_of_any_phone_breaks_a_parser(parser: Callable[[str], Any]) -> None:
    """Every file, also of another command, also cut anywhere: an answer or nothing, no error."""
    for path in sorted(shared_data("phone/text").iterdir()):
        text = path.read_text("utf-8", "replace")
        for cut in {len(text), len(text) // 2, len(text) // 3, 40, 0}:
            parser(text[:cut])


HOSTILE = (
    " " * 60_000, "\n" * 60_000, "Row: 1 _id=1, " * 5_000, "time=\"" * 20_000, "(" * 60_000,
    "    NotificationRecord(0x1: pkg=a user=b\n" + "   android.text=String (x\n" * 1_000,
    "04-24 18:19:45.433  1086  1292 D " + " " * 60_000, "\n    a/b/" + "c/" * 20_000,
    "Location[gps 1.0,2.0 " * 2_000, "  Alarm{" * 10_000, "Package Names: [" + "[" * 60_000 + "]",
)  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__)
def test_what_an_app_writes_cannot_hold_a_parser_up(parser: Callable[[str], Any]) -> None:
    """Texts made to send a pattern back and forth end in time, not in minutes."""
    for text in HOSTILE:
        parser(text)


def test_a_broken_store_of_networks_is_a_named_reason() -> None:
    """Whatever is no store, and what would make an XML reader expand it, is a ValueError."""
    for text in ("", "<a", real("t067"), "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"):
        with pytest.raises(ValueError):
            network.parse_store(text)


def test_battery_of_an_old_phone() -> None:
    """Percent, degrees, state and source of power."""
    assert status.Battery(44, 28.0, "charging", ("USB",)) == status.parse_battery(real("t053"))


def test_properties_of_two_phones() -> None:
    """Also around a blank line."""
    assert status.parse_properties(real("t054"))["bluetooth.profile.asha.central.enabled"] == "true"
    assert status.parse_properties(real("t055"))["dalvik.vm.heapgrowthlimit"] == "192m"


def test_a_network_name_with_a_comma_stays_whole() -> None:
    """The name ends at the next field; older phones write it without quotes."""
    assert network.Wifi(True, "Home, 5G", "-48", "866Mbps") == network.parse_wifi(real("t071"))
    assert network.Wifi(None, "AndroidWifi", "-50", "58Mbps") == network.parse_wifi(real("t072"))


def test_saved_networks_and_their_passwords() -> None:
    """Names with spaces, commas and entities; both forms of the store."""
    assert ("Cafe, Bar", "wpa2-psk") in network.parse_saved_names(real("t069"))
    assert not network.parse_saved_names(real("t070"))
    wanted = network.SavedNetwork("Home & Garden 5G", "not-a-real-key-3", "WPA_PSK")
    assert [wanted] == network.parse_store(real("t068"))
    old = [(item.ssid, item.key) for item in network.parse_supplicant(real("t067"))]
    assert old == [("HOME_00AA", "not-a-real-key-1"), ("CAFE_11BB", "not-a-real-key-2")]


def test_notifications_with_parentheses_and_lines_stay_whole() -> None:
    """A value ends where the next extra begins, not at the first closing parenthesis."""
    found = {item.package: item for item in notifications.parse_notifications(real("t062"))}
    bank = found["com.google.android.apps.messaging"]
    assert (bank.title, bank.when) == ("AlphaBank", 1790000000123)
    assert bank.text.endswith("(we never call).")
    assert "739104" in found["com.kakao.talk"].text
    assert found["com.google.android.apps.maps"].ongoing


def test_texts_the_phone_withholds_are_empty() -> None:
    """``String [length=23]`` is no text, and a phone without notifications has none."""
    records = notifications.parse_notifications(real("t061"))
    assert records and not any(item.title or item.text for item in records)
    assert notifications.parse_notifications(real("t063")) == []


def test_a_notification_cannot_forge_another() -> None:
    """A head that is only in the form with texts was written by a sender."""
    text = real("t062")
    forged = text.replace("(70 m)", "(70 m\n    NotificationRecord(0x1: pkg=bank user=x\n      a)")
    heads = notifications.parse_heads(text)
    assert len(notifications.parse_heads(forged)) == len(heads) + 1
    assert "bank" not in [n.package for n in notifications.parse_notifications(forged, heads)]


def test_messages_with_lines_commas_and_equal_signs() -> None:
    """NULL and empty fields are empty; nothing of a body is lost."""
    heads = [{"_id": number} for number in ("42", "41", "40", "39")]
    rows = parse_rows(real("t064"), SMS, heads)
    assert [row["_id"] for row in heads] == [row["_id"] for row in rows]
    assert rows[1]["body"].endswith("알려주지 마세요")
    assert rows[2]["body"] == "Hi, see you at 5, ok? date=tomorrow"
    assert (rows[3]["address"], rows[3]["body"]) == ("", "")


def test_a_message_cannot_forge_another() -> None:
    """What looks like a row inside a text stays a part of it."""
    query = Query("content://sms", ("_id", "date"), ("address", "body"))
    text = (
        "Row: 0 _id=2, date=1790000000200, address=mallory, body=hello\n"
        "Row: 1 _id=1, date=1790000000000, address=AlphaBank, body=your code is 111111\n"
        "Row: 1 _id=1, date=1790000000100, address=AlphaBank, body=your code is 482913\n"
    )
    heads = parse_numbers(
        "Row: 0 _id=2, date=1790000000200\nRow: 1 _id=1, date=1790000000100\n", query.numbers
    )
    rows = parse_rows(text, query, heads)
    assert [(row["address"], "111111" in row["body"]) for row in rows] == [
        ("mallory", True),
        ("AlphaBank", False),
    ]


def test_log_lines_of_four_phones() -> None:
    """A mark at the start, buffer headings, and a column with the user in front."""
    counts = [len(logcat.parse_log(real(number))) for number in ("t073", "t074", "t076")]
    assert counts == [158, 31, 9]
    (line,) = logcat.parse_log(real("t075"))
    assert (line.level, line.tag) == ("D", "HeadsetStateMachine")


def test_the_reason_of_a_refused_package_is_told() -> None:
    """The word in brackets, and what to do about it where we know."""
    assert packages.parse_failure(real("t017"))[0] == "INSTALL_FAILED_ALREADY_EXISTS"
    said = "Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]"
    assert "developer options" in packages.parse_failure(said)[1]
    assert "com.tencent.mm" in packages.parse_packages(real("t032"))


def test_memory_prefers_what_counts_swapped_pages() -> None:
    """PSS where it is told, else RSS; biggest first."""
    rss = "Total RSS by process:\n    1,000K: a (pid 1)\n    22,000K: b (pid 2 / activities)\n"
    assert status.parse_processes(rss) == [("b", 2, 22_000), ("a", 1, 1_000)]
    pss = f"{rss}\nTotal PSS by process:\n    7,000K: a (pid 1)  (6,000K in swap)\n"
    assert status.parse_processes(pss) == [("a", 1, 7_000)]


def test_sizes_of_apps_are_matched_by_place() -> None:
    """A list that is missing counts as zero."""
    text = 'Package Names: ["a","b"]\nApp Sizes: [1,20]\nCache Sizes: [3,4]\n'
    assert status.parse_app_sizes(text) == [("b", 20, 0, 4), ("a", 1, 0, 3)]


def test_positions_of_four_forms() -> None:
    """Decimal commas, no accuracy, old field names; the newest first."""
    text = (
        "last location=Location[network 31.309459,121.508284 hAcc=40 et=+1m23s722ms]\n"
        "last location=Location[fused -26,107600,28,056800 hAcc=14,5 et=+3d2h alt=1560.0]\n"
        "  gps: Location[gps 3.723600,-75.483600 acc=5 et=+2h0m0s]\n"
        "last location=Location[fused 10.1,76.4]\nlast location=null\n"
    )
    fixes = environment.parse_fixes(text)
    assert [fix.since_start for fix in fixes] == [266_400, 7_200, 83, 0]
    assert (fixes[0].latitude, fixes[0].longitude, fixes[0].within) == (-26.1076, 28.0568, 14.5)
    assert (fixes[1].latitude, fixes[1].longitude, fixes[1].within) == (3.7236, -75.4836, 5.0)


def test_use_of_apps_by_period() -> None:
    """The main user's section of the period; 1970 means never."""
    text = (
        "user=0\n  In-memory daily stats\n    packages\n"
        '      package=a.b totalTimeUsed="02:05:03" lastTimeUsed="2026-11-30 09:00:00" '
        "appLaunchCount=3\n"
        '      package=c.d totalTimeUsed="00:00" lastTimeUsed="1970-01-01 01:00:00"\n'
        "user=10\n  In-memory daily stats\n    packages\n"
        '      package=e.f totalTimeUsed="20:01" lastTimeUsed="2026-11-30 09:00:00"\n'
    )
    used = usage.parse_usage(text, "daily")
    assert [(u.package, u.seconds, u.launches) for u in used] == [("a.b", 7503, 3), ("c.d", 0, 0)]
    assert used[1].last == ""
    assert usage.parse_usage(text, "weekly") == []
