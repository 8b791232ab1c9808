"""``cmd media_session volume`` and ``media volume``: how loud each stream is."""

from __future__ import annotations

from collections.abc import Sequence

from device_tools.virtual.framework.reply import fail, option, out
from device_tools.virtual.ports import CommandResult
from device_tools.virtual.ui.screen import TouchScreen

_STREAMS = {
    "0": ("voice", "STREAM_VOICE_CALL", 1, 5), "1": ("system", "STREAM_SYSTEM", 0, 7),
    "2": ("ring", "STREAM_RING", 0, 7), "3": ("music", "STREAM_MUSIC", 0, 15),
    "4": ("alarm", "STREAM_ALARM", 1, 7), "5": ("notification", "STREAM_NOTIFICATION", 0, 7),
}  # fmt: skip


def media(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``volume --stream N [--set LEVEL] [--get]``; a level out of range is refused."""
    stream = _STREAMS.get(option(args, "--stream") or "3")
    if list(args[:1]) != ["volume"] or stream is None:
        return fail("usage: media_session [subcommand] [options]", 255)
    name, title, low, high = stream
    key, settings = f"volume_{name}", screen.state.settings["system"]
    lines = [f"[V] will control stream={option(args, '--stream') or '3'} ({title})"]
    wanted = option(args, "--set")
    if wanted is not None:
        if not (wanted.isdigit() and low <= int(wanted) <= high):
            return fail(f"Error: invalid volume index {wanted} ({low}..{high})", 1)
        lines.append(f"[V] will set volume to index={wanted}")
        settings[key] = wanted
    if "--get" in args:
        lines.append(f"[V] volume is {settings.get(key, '4')} in range [{low}..{high}]")
    return out("\n".join(lines))
