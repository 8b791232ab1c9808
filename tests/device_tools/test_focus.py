"""The app in front, out of the texts that different Android versions print."""

from __future__ import annotations

import pytest

from device_tools.focus import Focus, parse_focus
from tests.shared_data import shared_data


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t018", Focus("com.android.settings", ".SubSettings")),
        ("t019", Focus("com.example.universal", "crc648a3abc16689e594e.MainActivity")),
        ("t020", Focus("", "", "NotificationShade")),
        ("t021", Focus("", "", "More options")),
        ("t022", None),
        ("t023", Focus("com.cyanogenmod.trebuchet", "com.android.launcher3.Launcher")),
        ("t024", Focus("dev.telemachus.display", ".MainActivity")),
    ],
)
def test_real_texts_name_the_window_in_front(name: str, expected: Focus | None) -> None:
    """Null lines, several displays, windows without an activity and both spellings are read."""
    (file,) = shared_data("phone/text").glob(f"{name}_*")
    assert parse_focus(file.read_text(encoding="utf-8", errors="replace")) == expected


def test_a_window_without_activity_keeps_the_app_below_it() -> None:
    """The shade over an app is named beside that app, and the lock is seen."""
    text = (
        "mCurrentFocus=Window{bb56de2 u0 NotificationShade}\n"
        "mFocusedApp=ActivityRecord{1 u0 com.a/com.a.Main t9}\nmShowingLockscreen=true"
    )
    focus = parse_focus(text)
    assert focus == Focus("com.a", ".Main", "NotificationShade", locked=True)
    assert str(focus) == "com.a/.Main (NotificationShade)"


@pytest.mark.parametrize(
    ("lines", "rotation"),
    [
        ("mRotation=0 mAltOrientation=false", 0),
        ("mDisplayRotation=ROTATION_270 mRotation=3", 3),
        ("mRotation=ROTATION_90", 1),
        ("mRotation=0\n  mRotation=1", None),
        ("mRotation=720", None),
        ("no word of it", None),
    ],
)
def test_the_rotation_is_told_only_where_one_display_tells_it(
    lines: str, rotation: int | None
) -> None:
    """Quarter turns from numbers or degrees; several displays that differ tell nothing."""
    focus = parse_focus(f"  mCurrentFocus=Window{{1 u0 com.a/com.a.Main}}\n  {lines}\n")

    assert focus is not None
    assert focus.rotation == rotation
