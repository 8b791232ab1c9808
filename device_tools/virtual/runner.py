"""Runs command lines that need no shell: the framework's commands and a few built-ins."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from device_tools.virtual.command_line import SimpleCommand, parse
from device_tools.virtual.ports import CommandResult, Files, Framework
from device_tools.virtual.shell_builtins import find_builtin

NO_SHELL = (
    b"virtual phone: no shell here: needs Linux with mksh and toybox (or busybox) "
    b"and user namespaces (apt install mksh toybox uidmap)\n"
)
UI_SERVER_CLASS = "com.wetest.uia2.Main"
UI_SERVER_PORT = 9008
MAX_STDIN = 256 * 1024 * 1024

ReadStdin = Callable[[int], Awaitable[bytes]]
"""Up to that many bytes of the command's input."""


@dataclass(frozen=True)
class Runner:
    """``files`` is the phone's tree as its shell user sees it; ``no_shell`` is said where a real
    shell would be needed and there is none."""

    framework: Framework
    files: Files
    have_shell: bool
    no_shell: bytes = NO_SHELL

    def plan(self, line: str) -> list[SimpleCommand] | None:
        """The line's commands when all of them are answered here, else None."""
        commands = parse(line)
        if commands is None or not all(self._known(c.argv) for c in commands):
            return None
        return commands

    async def run(
        self, commands: Sequence[SimpleCommand], stdin: ReadStdin
    ) -> AsyncIterator[CommandResult]:
        """The result of each command that ran, in order; the line's code is the last one's."""
        code = 0
        for command in commands:
            if not command.always and code:
                continue
            words = command.words(code)
            if words[0] == "exit":
                yield CommandResult(code=_exit_code(words, code))
                return
            result = await self._one(words, stdin)
            code = result.code & 255
            yield result

    async def _one(self, words: Sequence[str], stdin: ReadStdin) -> CommandResult:
        if self.framework.knows(words):
            size = stdin_size(words)
            return await self.framework.run(words, await stdin(size) if size else b"", self.files)
        builtin = find_builtin(words, have_shell=self.have_shell)
        return builtin(words, self.files) if builtin else CommandResult(b"", self.no_shell, 127)

    def _known(self, argv: Sequence[str]) -> bool:
        return (
            argv[0] == "exit"
            or self.framework.knows(argv)
            or find_builtin(argv, have_shell=self.have_shell) is not None
        )


def stdin_size(argv: Sequence[str]) -> int:
    """How many bytes a command says it reads: only ``... install ... -S SIZE`` does."""
    if "-S" not in argv[:-1] or not any(word.startswith("install") for word in argv):
        return 0
    text = argv[list(argv).index("-S") + 1]
    return min(int(text), MAX_STDIN) if text.isdigit() else 0


def ui_server_port(line: str) -> int | None:
    """The port when the line starts the uiautomator2 server by app_process, else None."""
    if "app_process" not in line:
        return None
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    if UI_SERVER_CLASS not in words:
        return None
    port = words[words.index("-p") + 1] if "-p" in words[:-1] else str(UI_SERVER_PORT)
    return int(port) if port.isdigit() else None


def _exit_code(words: Sequence[str], last: int) -> int:
    return int(words[1]) & 255 if len(words) > 1 and words[1].isdigit() else last
