"""All tools that act on a phone, opened together: the screen's, those on plain adb, terminals."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from alpine import file_tools
from alpine.catalog import TERMINAL_TOOLS
from alpine.terminal import open_terminal
from alpine.tools import Handler, TerminalTools
from bridge.device import EXCHANGE, Target
from bridge.patching import patch_files
from bridge.secrets import find_secret
from device_tools.adb import open_device
from device_tools.cancel import CancelScope
from device_tools.catalog import ALL_PHONE_TOOLS
from device_tools.executor import PhoneTools, open_phone_tools
from device_tools.pictures import DEFAULT_RULE, PictureRule
from device_tools.result import Secrecy, ToolResult
from device_tools.schema import Effect, RiskGroup, ToolSpec, ValidCall
from device_tools.session import Space

ALL_TOOLS: tuple[ToolSpec, ...] = (*ALL_PHONE_TOOLS, *TERMINAL_TOOLS)
"""What a run offers, in this order; ``finish`` is added by the toolbox."""


class ToolSet:
    """``bridge.tools.Executor``: each call goes to who knows its group."""

    def __init__(self, phone: PhoneTools | None, terminal: TerminalTools) -> None:
        self._phone = phone
        self._terminal = terminal

    def begin_turn(self) -> None:
        if self._phone is not None:
            self._phone.begin_turn()

    def secrecy(self, name: str, arguments: Mapping[str, Any]) -> Secrecy:
        """What of a call that is about to run must not be stored."""
        return self._phone.secrecy(name, arguments) if self._phone else Secrecy()

    def execute(self, call: ValidCall) -> ToolResult:
        """Run it once.

        Raises:
            Cancelled: with UNKNOWN when the action may have happened.
            LookupError: the set was opened without what runs this tool.
        """
        if call.spec.group is RiskGroup.TERMINAL:
            if self._phone is not None and call.spec.effect is not Effect.NONE:
                self._phone.disturbed()
            return self._terminal.execute(call)
        if self._phone is None:
            raise LookupError(f"{call.spec.name} needs the screen")
        return self._phone.execute(call)


@contextmanager
def open_tools(
    target: Target,
    cancel: CancelScope,
    home: Path,
    *,
    default_space: Space = "screenshot",
    rule: PictureRule = DEFAULT_RULE,
    adb_root: bool = False,
    screen: bool = True,
) -> Iterator[ToolSet]:
    """The tools of one phone; nothing of ours runs on it any more afterwards.

    ``adb_root`` allows to restart an emulator's adbd as root; ``screen`` False leaves out what
    needs the UI server, which takes a moment to start.

    Raises:
        DeviceError: the phone or its UI server cannot be used.
    """
    with ExitStack() as stack:
        phone = None
        if screen:
            phone = stack.enter_context(
                open_phone_tools(
                    target.serial,
                    target.address,
                    cancel,
                    default_space=default_space,
                    rule=rule,
                    exchange=home / EXCHANGE,
                    secrets=partial(find_secret, environment=os.environ),
                )
            )
        adb = phone.phone if phone else open_device(target.serial, target.address, cancel)
        terminal = stack.enter_context(open_terminal(adb, allow_adb_root=adb_root))
        more: dict[str, Handler] = {
            **file_tools.bind(terminal),
            "apply_patch": partial(patch_files, terminal),
        }
        yield ToolSet(phone, TerminalTools(terminal, more))
