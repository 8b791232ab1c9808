"""Sound: what is playing, and how loud each kind of sound is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from device_tools.adb import AdbPhone
from device_tools.errors import ActionRefused, NotAvailable, Outcome
from device_tools.result import ToolResult, done
from device_tools.system.ask import ask, one_line, order, require_answer

# android.media.AudioManager.STREAM_*
_STREAMS = {"call": 0, "system": 1, "ring": 2, "music": 3, "alarm": 4, "notification": 5}
# android.view.KeyEvent.KEYCODE_MEDIA_*
_KEYS = {"play": 126, "pause": 127, "play_pause": 85, "next": 87, "previous": 88, "stop": 86}
_VOLUME = re.compile(r"volume is (\d+) in range \[(\d+)\.\.(\d+)\]")
# the words are new in Android 14
_STATE = re.compile(r"state=PlaybackState \{state=(?:(\w+)\((\d+)\)|(\d+))")
_OWNER = re.compile(r"^ +package=(\S+)$", re.MULTILINE)
_TITLE = re.compile(r"metadata:\s*size=\d+, description=(.*)$", re.MULTILINE)
_STATES = {"1": "stopped", "2": "paused", "3": "playing", "6": "buffering", "7": "failed"}


def parse_volume(text: str) -> tuple[int, int, int] | None:
    """``media volume --get``: (now, lowest, highest)."""
    found = _VOLUME.search(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def parse_sessions(text: str) -> list[tuple[str, str, str]]:
    """``dumpsys media_session``: (package, state, title), the one that gets the keys first."""
    sessions = []
    for block in re.split(r"\n(?= {4,6}\S[^\n]{1,300} \(userId=\d+\))", text)[1:]:
        owner, state, title = _OWNER.search(block), _STATE.search(block), _TITLE.search(block)
        if owner and state:
            number = state[2] or state[3]
            sessions.append((owner[1], _STATES.get(number, "other"), title[1] if title else ""))
    return sessions


def media_control(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    action = arguments["action"]
    order(phone, "input", "keyevent", str(_KEYS[action]))
    sessions = parse_sessions(ask(phone, "dumpsys", "media_session"))
    if not sessions:
        return done(f"sent {action}; no app offers anything to play", sessions=[])
    package, state, title = sessions[0]
    named = f": {one_line(title, 200)}" if title else ""
    return done(f"sent {action}; {package} is {state}{named}", package=package, state=state)


def set_volume(phone: AdbPhone, arguments: Mapping[str, Any]) -> ToolResult:
    stream = arguments.get("stream", "music")
    command, (_, low, high) = _volume_command(phone, _STREAMS[stream])
    wanted = low + round((high - low) * arguments["percent"] / 100)
    order(phone, *command, "--set", str(wanted))
    now = parse_volume(ask(phone, *command, "--get"))
    if now is None or now[0] != wanted:
        raise ActionRefused(
            f"the volume of {stream} is {now[0] if now else 'unknown'}, not {wanted} of {high}",
            advice="the phone may be in silent mode or limit the volume",
            outcome=Outcome.UNKNOWN,
        )
    return done(f"the volume of {stream} is {wanted} of {high}", volume=wanted, highest=high)


def _volume_command(phone: AdbPhone, stream: int) -> tuple[list[str], tuple[int, int, int]]:
    """The command of this phone (Android 11 moved it), and what it tells now."""
    command = ["cmd", "media_session", "volume", "--stream", str(stream)]
    try:
        text = ask(phone, *command, "--get")
    except NotAvailable:
        text = ""
    if parse_volume(text) is None:
        command = ["media", "volume", "--stream", str(stream)]
        text = ask(phone, *command, "--get")
    found = parse_volume(text)
    require_answer(found, "media volume", text)
    return command, found or (0, 0, 0)
