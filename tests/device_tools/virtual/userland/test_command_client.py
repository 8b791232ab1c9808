from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from device_tools.virtual.userland import command_client
from device_tools.virtual.userland.phone_userland import PhoneUserland
from tests.device_tools.virtual.userland.phone import (
    EVERY_BYTE,
    in_phone,
    needs_userland,
    shell,
)


@needs_userland
def test_arguments_arrive_as_they_were_given() -> None:
    """Blanks, newlines, backslashes, globs, an empty argument and bad UTF-8 all survive."""
    command = "settings put -- 'a  b' '' '*' '\\n\\0101' '\n' $'\\xff'"
    code, out, err = in_phone(lambda phone: shell(phone, command))
    words = out.decode().splitlines()
    expected = ["settings", "put", "--", "a  b", "", "*", "\\n\\0101", "\n", "\udcff"]
    assert (code, words, err) == (0, [ascii(word) for word in expected], b"")


@needs_userland
def test_stdout_and_stderr_are_binary_safe_and_the_code_comes_along() -> None:
    """A megabyte of every byte value on stdout, every value on stderr, and the exit code."""
    answer = in_phone(lambda phone: shell(phone, "screencap -p"))
    assert answer == (7, EVERY_BYTE, bytes(range(256)))


@needs_userland
def test_stdin_goes_along_only_where_the_command_reads_it() -> None:
    """``pm install -S`` gets the bytes; ``getprop`` leaves the script's input alone."""

    async def scenario(phone: PhoneUserland) -> None:
        _, out, _ = await shell(phone, "printf 'a\\0b' | pm install -S 3")
        assert out.endswith(b"\na\0b")
        _, out, _ = await shell(phone, "printf 'x\\ny\\n' | { read a; getprop; cat; }")
        assert out == b"'getprop'\ny\n"

    in_phone(scenario)


@needs_userland
def test_a_command_writes_into_the_phones_files() -> None:
    """What the framework writes is there for the shell, owned by its user."""

    async def scenario(phone: PhoneUserland) -> None:
        command = "cd /sdcard; uiautomator dump w.xml; cat /sdcard/w.xml; test -O /sdcard/w.xml"
        assert await shell(phone, command) == (0, b"dumped\n<hierarchy/>", b"")

    in_phone(scenario)


@needs_userland
def test_an_unknown_service_is_20() -> None:
    """A command the framework does not know says so as Android's cmd does."""
    answer = in_phone(lambda phone: shell(phone, "svc power"))
    assert answer == (20, b"", b"cmd: Can't find service: svc\n")


def test_without_a_daemon_the_script_says_so(tmp_path: Path) -> None:
    """The portable form of the script (for a shell without print) reports a missing daemon."""
    text = command_client.script(mksh=False, socket=str(tmp_path / "none"))
    program = tmp_path / "getprop"
    program.write_text(text)
    shell_path = shutil.which("sh") or "/bin/sh"
    done = subprocess.run([shell_path, str(program), "a"], capture_output=True, timeout=10)
    assert done.returncode == command_client.NO_ANSWER
    assert done.stderr == b"cmd: Can't find service: getprop\n"
