from __future__ import annotations

import pytest

from device_tools.virtual.userland.command_server import parse_request


def test_arguments_and_stdin_are_split_by_the_count() -> None:
    """NULs in stdin do not end it; an empty argument is one."""
    assert parse_request(b"3\0/\0pm\0\0-S\0a\0b\0") == (["pm", "", "-S"], b"a\0b\0")


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        ("screencap -d 0 -p a.png", "screencap -d 0 -p /sdcard/a.png"),
        ("uiautomator dump --compressed w.xml", "uiautomator dump --compressed /sdcard/w.xml"),
        ("uiautomator dump /data/w.xml", "uiautomator dump /data/w.xml"),
        ("am start a/b", "am start a/b"),
    ],
)
def test_the_file_to_write_is_below_the_callers_folder(words: str, seen: str) -> None:
    """A relative file name of screencap and uiautomator is completed; nothing else is touched."""
    argv = words.split()
    packed = "\0".join([str(len(argv)), "/sdcard", *argv, ""]).encode()
    assert parse_request(packed)[0] == seen.split()


@pytest.mark.parametrize("request_", [b"", b"x\0a\0", b"0\0", b"2\0a\0", b"99999999\0a\0"])
def test_a_malformed_request_has_no_argv(request_: bytes) -> None:
    """A count that is missing, wrong or unreasonable is refused."""
    assert parse_request(request_) == ([], b"")
