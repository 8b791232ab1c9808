"""Delimiter strictness: a damaged framing byte never lets through what the grammar forbids."""

from __future__ import annotations

import pytest

from bridge.conversation.frames import ArgumentConfirmed, CallOpened, CallReady, ContractError
from bridge.conversation.stream import TextDelta
from bridge.cst.carriers import CARRIERS
from tests.bridge.cst import damage, reference, xml_reference
from tests.bridge.cst.corpus import TOOLS
from tests.bridge.cst.xml_corpus import STOP

Calls = list[tuple[str, dict[str, str]]]


def carried(mode: str, text: str) -> tuple[Calls, bool]:
    """The calls that the carrier lets through at a clean end, and whether it broke the reply."""
    one = CARRIERS[mode].reader(TOOLS, None)
    found: Calls = []
    name, values, broken = "", dict[str, str](), False
    for frame in one.feed(TextDelta(text)) + one.close(STOP):
        match frame:
            case CallOpened(_, opened):
                name, values = opened, {}
            case ArgumentConfirmed(_, key, piece):
                values[key] = values.get(key, "") + piece
            case CallReady():
                found.append((name, values))
            case ContractError():
                broken = True
    return found, broken


def allowed(mode: str, text: str) -> Calls:
    """What the independent reader sees in the whole reply."""
    if mode == "xml":
        return xml_reference.read(text) or []
    # a last bare end counts after a clean stop
    data = text.encode() + (b"\n" if text.endswith("\nend") else b"")
    return [
        (name, {key: value.decode("utf-8", "replace") for key, value in given.items()})
        for _, name, given, _ in reference.read(data, length_prefix=mode == "ctl").calls
    ]


def disagreements(mode: str, count: int, seed: int, *, thorough: bool = False) -> tuple[int, int]:
    """(damaged replies, those of them that still hold a call); fails on the first one in which
    the carrier accepts other calls than the grammar."""
    tried = accepted = 0
    for frame in damage.frames(mode, count, seed):
        for raw in damage.damaged(frame, seed, thorough=thorough):
            text = raw.decode("utf-8", "replace")
            found, broken = carried(mode, text)
            wanted = allowed(mode, text)
            assert found == wanted, text
            assert not (mode == "xml" and broken and found), text
            tried += 1
            accepted += bool(found)
    return tried, accepted


@pytest.mark.parametrize("mode", damage.MODES)
def test_the_frames_are_valid_before_they_are_damaged(mode: str) -> None:
    """Each of the 200 is one call to the carrier and to the reference."""
    for frame in damage.frames(mode, 200, seed=1):
        text = frame.data.decode()
        assert len(allowed(mode, text)) == 1
        assert carried(mode, text) == (allowed(mode, text), False)


@pytest.mark.parametrize("mode", damage.MODES)
def test_a_damaged_framing_byte_is_never_skipped(mode: str) -> None:
    """Every framing byte of 200 frames flipped, lost, and with another before it: accepted is
    exactly what the independent reader of the grammar accepts, and that is seldom anything."""
    tried, accepted = disagreements(mode, 200, seed=1)
    assert tried > 10_000
    assert accepted < tried / 5
