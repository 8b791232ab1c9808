"""The table of commands: name -> handler; ``cmd SERVICE ...`` leads to the same handlers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from device_tools.virtual.framework import (
    activity,
    content,
    dumpsys,
    inputs,
    packages,
    properties,
    sound,
    system,
)
from device_tools.virtual.framework import settings as settings_command
from device_tools.virtual.framework.reply import fail, fail_out, out
from device_tools.virtual.ports import CommandResult, Files
from device_tools.virtual.ui.screen import TouchScreen, png
from device_tools.virtual.ui.service_times import BusyTime

Handler = Callable[[TouchScreen, Sequence[str]], CommandResult]

_COMMANDS: dict[str, Handler] = {
    "am": activity.am,
    "content": content.content,
    "dumpsys": dumpsys.dumpsys,
    "getprop": properties.getprop,
    "ifconfig": system.ifconfig,
    "ime": system.ime,
    "input": inputs.input_command,
    "ip": system.ip,
    "logcat": system.logcat,
    "media": sound.media,
    "monkey": activity.monkey,
    "pm": packages.pm,
    "ps": system.ps,
    "service": system.service,
    "setprop": properties.setprop,
    "settings": settings_command.settings,
    "svc": system.svc,
    "wm": system.wm,
}
_SERVICES: dict[str, Handler] = {
    "activity": activity.am,
    "bluetooth_manager": system.bluetooth,
    "input": inputs.input_command,
    "input_method": system.ime,
    "media_session": sound.media,
    "package": packages.pm,
    "settings": settings_command.settings,
    "statusbar": system.statusbar,
    "uimode": system.uimode,
    "wifi": system.wifi,
    "window": system.wm,
}
_FILE_COMMANDS = ("screencap", "uiautomator", "cmd", "date")
_DUMP_FILE = "/sdcard/window_dump.xml"


class PhoneFramework:
    """Implements ``ports.Framework``."""

    def __init__(self, screen: TouchScreen, busy: BusyTime) -> None:
        self._screen = screen
        self._busy = busy
        self._own: dict[str, Callable[[Sequence[str], Files], Awaitable[CommandResult]]] = {
            "screencap": self._screencap,
            "uiautomator": self._uiautomator,
        }

    def knows(self, argv: Sequence[str]) -> bool:
        return bool(argv) and (argv[0] in _COMMANDS or argv[0] in _FILE_COMMANDS)

    async def run(self, argv: Sequence[str], stdin: bytes, files: Files) -> CommandResult:
        with self._busy.serving():
            return await self._answer(argv, files)

    async def _answer(self, argv: Sequence[str], files: Files) -> CommandResult:
        name, args = argv[0], list(argv[1:])
        if name in self._own:
            return await self._own[name](args, files)
        if name == "cmd":
            return self._cmd(args)
        if name == "date":
            return _date(args)
        if name not in _COMMANDS:
            return fail(f"/system/bin/sh: {name}: inaccessible or not found", 127)
        return _COMMANDS[name](self._screen, args)

    def _cmd(self, args: Sequence[str]) -> CommandResult:
        if not args:
            return fail("cmd: No service specified; use -l to list all running services", 20)
        if args[0] == "-l":
            return out("Currently running services:\n" + "\n".join(f"  {s}" for s in _SERVICES))
        if args[0] not in _SERVICES:
            return fail(f"cmd: Can't find service: {args[0]}", 20)
        return _SERVICES[args[0]](self._screen, args[1:])

    async def _screencap(self, args: Sequence[str], files: Files) -> CommandResult:
        if "-h" in args:
            return out("usage: screencap [-hp] [-d display-id] [FILENAME]")
        names = [
            word
            for place, word in enumerate(args)
            if not word.startswith("-") and args[place - 1 : place] != ["-d"]
        ]
        if "-p" not in args and not (names and names[0].endswith(".png")):
            return fail("screencap: only PNG is supported here: use -p", 1)
        data = await asyncio.to_thread(png, self._screen.picture_job())
        if not names:
            return CommandResult(data)
        try:
            files.write(names[0].encode(), data)
        except OSError as error:
            return fail(f"Error opening file: {names[0]} ({error.strerror})", 1)
        return out()

    async def _uiautomator(self, args: Sequence[str], files: Files) -> CommandResult:
        names = [word for word in args[1:] if not word.startswith("-")]
        if args[:1] != ["dump"]:
            return fail_out(
                "Usage: uiautomator <subcommand> [options]\n\nAvailable subcommands:\n"
                "help: displays help message\ndump: creates an XML dump of current UI "
                "hierarchy"
            )
        target = names[0] if names else _DUMP_FILE
        try:
            files.write(target.encode(), self._screen.xml().replace("\r\n", "").encode())
        except OSError as error:
            return fail(f"ERROR: could not write {target}: {error.strerror}", 1)
        # the misspelling is Android's
        return out(f"UI hierchary dumped to: {target}")


def _date(args: Sequence[str]) -> CommandResult:
    form = next((word[1:] for word in args if word.startswith("+")), "%a %b %e %H:%M:%S UTC %Y")
    # strftime's own %s takes the fields for local time
    return out(time.strftime(form.replace("%s", str(int(time.time()))), time.gmtime()))
