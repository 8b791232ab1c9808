"""No orphan, however a command ends; scripts/proof/terminal.py runs the whole matrix."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from alpine.identity import USER
from alpine.running import Output, run_command
from alpine.supervisor import Command, ShellProcessSupervisor
from device_tools.adb import AdbPhone
from device_tools.virtual import launcher
from device_tools.virtual.launcher import VirtualPhone
from device_tools.virtual.userland import phone_userland
from tests.alpine.orphans import leaves_nothing

_REASON = phone_userland.available()
pytestmark = pytest.mark.skipif(bool(_REASON), reason=_REASON or "")


@pytest.fixture(scope="module")
def rooted_phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualPhone]:
    folder = tmp_path_factory.mktemp("phone") / "p"
    with launcher.start(folder, name="orphans", root="magisk") as phone:
        yield phone


@pytest.mark.parametrize(
    ("end", "kind", "identity"),
    [
        ("time-out", "double fork", "root"),
        ("cancel", "cleared environment", "root"),
        ("host killed", "daemon", "root"),
        ("reconnect", "plain", "user"),
        ("reconnect", "double fork", "root"),
        ("adb server killed", "daemon", "root"),
    ],
)
def test_nothing_is_left_of_a_command(
    rooted_phone: VirtualPhone, end: str, kind: str, identity: str
) -> None:
    """Of user and of root, where Magisk's commands are no children of su."""
    word = f"7500{len(end)}{len(kind)}{len(identity)}.25"
    leaves_nothing(rooted_phone, end, kind, identity, word)


def test_commands_leave_no_descriptor_and_no_process(phone: AdbPhone) -> None:
    """Twenty in a row (the proof runs 200): the computer's descriptors and the phone's processes
    are as many as before."""
    supervisor = ShellProcessSupervisor(phone)

    def one() -> None:
        output = Output()
        run_command(supervisor, Command("sleep 0.01 & setsid true & exit 4"), USER, 20, output)
        assert output.code == 4

    one()
    descriptors = len(os.listdir("/proc/self/fd"))
    processes = phone.shell(["sh", "-c", "ls -d /proc/[0-9]* | wc -l"]).text
    for _ in range(20):
        one()
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    assert phone.shell(["sh", "-c", "ls -d /proc/[0-9]* | wc -l"]).text == processes
    assert supervisor.running == ()


def test_a_script_ends_with_its_command(phone: AdbPhone) -> None:
    """A long command that meets its time limit leaves no script on the phone either."""
    supervisor, output = ShellProcessSupervisor(phone), Output()
    text = f"x={'y' * 60_000}; sleep 60"
    run_command(supervisor, Command(text), USER, 0.5, output)
    assert output.end == "timed out"
    assert ".bridge" not in phone.shell(["ls", "-A", "/data/local/tmp"]).text
