"""The phone's commands: what they change, and their formats beside real outputs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from device_tools.virtual.phone import Phone
from device_tools.virtual.ports import CommandResult, FileStat
from tests.shared_data import shared_data


class FolderFiles:
    """``ports.Files`` on a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def _path(self, path: bytes) -> Path:
        return self.root / path.decode().lstrip("/")

    def read(self, path: bytes) -> bytes:
        return self._path(path).read_bytes()

    def write(self, path: bytes, data: bytes, mode: int = 0o644) -> None:
        self._path(path).parent.mkdir(parents=True, exist_ok=True)
        self._path(path).write_bytes(data)

    def remove(self, path: bytes) -> None:
        self._path(path).unlink()

    def stat(self, path: bytes) -> FileStat:
        facts = self._path(path).stat()
        return FileStat(facts.st_mode, facts.st_size, int(facts.st_mtime))

    def list(self, path: bytes) -> Sequence[bytes]:
        return sorted(each.name.encode() for each in self._path(path).iterdir())

    def mkdir(self, path: bytes) -> None:
        self._path(path).mkdir()


class Shell:
    def __init__(self, root: Path) -> None:
        self.phone = Phone()
        self.files = FolderFiles(root)

    def run(self, line: str) -> CommandResult:
        argv = line.split()
        assert self.phone.framework.knows(argv), line
        return asyncio.run(self.phone.framework.run(argv, b"", self.files))

    def text(self, line: str) -> str:
        result = self.run(line)
        assert result.code == 0, result
        return result.stdout.decode()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_wifi_is_one_switch_everywhere(shell: Shell) -> None:
    """svc, settings, cmd wifi and dumpsys wifi all tell and change the same state."""
    assert shell.text("settings get global wifi_on") == "1\n"
    shell.text("svc wifi disable")
    assert shell.text("settings get global wifi_on") == "0\n"
    assert shell.text("cmd wifi status").startswith("Wifi is disabled\n")
    assert shell.text("dumpsys wifi").startswith("Wi-Fi is disabled\n")
    assert shell.run("ifconfig wlan0").code == 1
    shell.text("settings put global wifi_on 1")
    assert shell.phone.state()["wifi"] is True
    assert "inet addr:10.0.2.16" in shell.text("ifconfig wlan0")


def test_settings_reads_missing_keys_as_null(shell: Shell) -> None:
    """get of nothing prints null as on Android; list prints key=value; delete counts rows."""
    real = shared_data("phone/text/t057_settings_get.txt").read_text().strip()
    assert shell.text("settings get secure nothing").strip() == real
    assert "wifi_on=1\n" in shell.text("settings list global")
    assert shell.text("settings delete global wifi_on") == "Deleted 1 rows\n"
    assert shell.run("settings get nowhere key").code == 255


def test_getprop_lists_like_android(shell: Shell) -> None:
    """Every line has the form of a real listing; one property prints its value alone."""
    form = re.compile(r"\[.+\]: \[.*\]")
    real = shared_data("phone/text/t054_getprop.txt").read_text().splitlines()
    assert form.fullmatch(real[0])
    assert all(form.fullmatch(line) for line in shell.text("getprop").splitlines())
    assert shell.text("getprop ro.build.version.sdk") == "34\n"
    assert shell.text("getprop no.such") == "\n"


def test_wm_and_display_agree(shell: Shell) -> None:
    """wm size has the real wording; dumpsys display carries the orientation clients look for."""
    assert re.fullmatch(r"Physical size: \d+x\d+\n", shell.text("wm size"))
    assert shell.text("wm density") == "Physical density: 440\n"
    assert "orientation=0" in shell.text("dumpsys display")


@pytest.mark.parametrize("view", ["window", "window windows", "window displays"])
def test_current_focus_names_the_activity(shell: Shell, view: str) -> None:
    """mCurrentFocus has the form real phones print and names the foreground activity."""
    shell.text("am start -n com.android.settings/.Settings")
    focus = re.search(r"mCurrentFocus=Window\{\w+ u0 (\S+)/(\S+)\}", shell.text(f"dumpsys {view}"))
    assert focus
    assert focus.groups() == ("com.android.settings", "com.android.settings.Settings")


def test_resumed_activity_and_top(shell: Shell) -> None:
    """The two fallbacks of uiautomator2's app_current find the same activity."""
    shell.text("monkey -p com.example.notes -c android.intent.category.LAUNCHER 1")
    resumed = shell.text("dumpsys activity activities")
    assert re.search(
        r"mResumedActivity: ActivityRecord\{\w+ u0 com.example.notes/\S+ t\d+\}", resumed
    )
    assert re.search(
        r"ACTIVITY com.example.notes/\S+ \w+ pid=\d+", shell.text("dumpsys activity top")
    )


def test_am_start_of_a_missing_activity(shell: Shell) -> None:
    """The error has the words of a real phone and a code other than 0."""
    real = shared_data("phone/text/t035_am_start.txt").read_text().splitlines()
    result = shell.run("am start -n com.example.app/.Main")
    lines = (result.stdout + result.stderr).decode().splitlines()
    assert lines == real
    assert result.code == 1


def test_am_start_of_a_private_activity_is_denied(shell: Shell) -> None:
    """What is not exported cannot be started from the shell; the text is that of a real phone."""
    real = shared_data("phone/text/t038_am_start_denied.txt").read_text()
    before = shell.phone.state()["foreground"]
    result = shell.run("am start -n com.android.contacts/.quickcontact.QuickContactActivity")
    assert b"not exported from uid" in result.stderr
    assert result.stderr.decode().splitlines()[1] == real.splitlines()[2]
    assert result.code == 255
    assert shell.phone.state()["foreground"] == before


def test_odd_settings_do_not_break_the_screen(shell: Shell) -> None:
    """A brightness that is no number reads as 0 on the Display page and in the final state."""
    shell.text("settings put system screen_brightness bright")
    shell.text("settings delete secure location_mode")
    shell.text("am start -a android.settings.DISPLAY_SETTINGS")
    shell.text("uiautomator dump")
    assert shell.phone.state()["brightness"] == 0


def test_am_start_wait_reports_like_android(shell: Shell) -> None:
    """-W prints the fields of a real output; a second start warns."""
    real = shared_data("phone/text/t037_am_start_wait.txt").read_text().splitlines()
    mine = shell.text("am start -W -n com.example.notes/.NotesActivity").splitlines()
    assert [line.split(":")[0] for line in mine] == [line.split(":")[0] for line in real]
    assert "Warning: Activity not started" in shell.text(
        "am start -n com.example.notes/.NotesActivity"
    )


def test_am_start_view_opens_the_browser(shell: Shell) -> None:
    """A web address goes to the browser; a settings action to its page; force-stop ends it."""
    shell.text("am start -a android.intent.action.VIEW -d https://news.example/")
    assert shell.phone.state()["foreground"].startswith("com.android.browser/")
    shell.text("am start -a android.settings.WIFI_SETTINGS")
    assert shell.phone.model.screen.args == {"page": "internet"}
    shell.text("am force-stop com.android.settings")
    assert shell.phone.state()["foreground"].startswith("com.android.launcher3/")


def test_pm_lists_and_paths(shell: Shell) -> None:
    """list packages, its filters, path, and the failure for an unknown package."""
    assert "package:com.android.settings\n" in shell.text("pm list packages")
    assert shell.text("pm list packages -3") == "package:com.example.notes\n"
    assert "com.example.notes" not in shell.text("cmd package list packages -s")
    assert re.fullmatch(r"package:/\S+\.apk\n", shell.text("pm path com.example.notes"))
    assert shell.run("pm path no.such").code == 1


def test_launcher_activities_are_queried(shell: Shell) -> None:
    """query-activities --brief names every launchable component; resolve-activity one."""
    brief = shell.text(
        "cmd package query-activities --brief -a android.intent.action.MAIN "
        "-c android.intent.category.LAUNCHER"
    )
    assert brief.startswith("5 activities found:\n  Activity #0:\n")
    assert "    com.example.notes/.NotesActivity\n" in brief
    resolved = shell.text("cmd package resolve-activity --brief com.android.settings")
    real = shared_data("phone/text/t039_resolve_activity.txt").read_text().splitlines()
    assert resolved.splitlines()[0] == real[0]
    assert resolved.splitlines()[1] == "com.android.settings/.Settings"
    missing = shared_data("phone/text/t040_resolve_activity.txt").read_text().strip()
    assert shell.text("cmd package resolve-activity --brief no.such.app").strip() == missing


def test_battery_has_the_real_keys(shell: Shell) -> None:
    """Every key of a real dump is there, in the same form."""
    real = shared_data("phone/text/t053_dumpsys_battery.txt").read_text().splitlines()
    mine = {line.split(":")[0] for line in shell.text("dumpsys battery").splitlines()}
    assert {line.split(":")[0] for line in real} <= mine


def test_ps_has_nine_columns(shell: Shell) -> None:
    """ps -A has the header of a real phone, nine columns and the running apps."""
    shell.text("am start -n com.example.notes/.NotesActivity")
    lines = shell.text("ps -A").splitlines()
    assert lines[0] == shared_data("phone/text/t058_ps.txt").read_text().splitlines()[0].rstrip()
    assert all(len(line.split()) == 9 for line in lines)
    assert any(line.endswith(" com.example.notes") for line in lines)


def test_input_types_and_taps(shell: Shell) -> None:
    """tap, text with %s, keyevents and their errors."""
    shell.text("am start -n com.example.notes/.EditNoteActivity")
    shell.text("input -d 0 tap 540 1200")
    assert shell.phone.state()["focus"] == "body"
    shell.text("input text Hello%sworld")
    shell.text("input keyevent KEYCODE_DEL 67 KEYCODE_A")
    assert shell.phone.state()["fields"] == {"body": "Hello wora"}
    assert shell.run("input text 你好").code == 255
    assert shell.run("input tap one two").code == 255
    assert shell.phone.state()["counters"] == {"click": 1, "text": 1, "key": 3}


def test_screencap_and_dump_write_files(shell: Shell) -> None:
    """screencap -p gives PNG on stdout or in a file; uiautomator dump says what Android says."""
    assert shell.run("screencap -p").stdout.startswith(b"\x89PNG\r\n\x1a\n")
    shell.text("screencap -p /sdcard/a.png")
    assert shell.files.read(b"/sdcard/a.png").startswith(b"\x89PNG")
    real = shared_data("phone/text/t044_uiautomator_ok.txt").read_text().strip()
    assert shell.text("uiautomator dump").strip() == real
    assert shell.files.read(b"/sdcard/window_dump.xml").startswith(b"<?xml")


def test_notifications_are_redacted_unless_asked(shell: Shell) -> None:
    """dumpsys notification hides texts; --noredact shows them, in the form of a real dump."""
    assert "482913" not in shell.text("dumpsys notification")
    shown = shell.text("dumpsys notification --noredact")
    assert re.search(r"android\.text=String \(.*482913", shown)


def test_unknown_services_answer_like_android(shell: Shell) -> None:
    """dumpsys and cmd tell an unknown service in Android's words."""
    assert shell.text("dumpsys nothing") == "Can't find service: nothing\n"
    result = shell.run("cmd nothing")
    assert (result.stderr, result.code) == (b"cmd: Can't find service: nothing\n", 20)
    assert not shell.phone.framework.knows(["vim"])


def test_keyboard_is_told_by_dumpsys(shell: Shell) -> None:
    """mInputShown follows the keyboard."""
    assert "mInputShown=false" in shell.text("dumpsys input_method")
    shell.text("am start -n com.example.notes/.EditNoteActivity")
    shell.text("input tap 540 1200")
    assert "mInputShown=true" in shell.text("dumpsys input_method")
