"""A thought that a server left in the text is no call."""

from __future__ import annotations

import pytest

from bridge.conversation.frames import CallReady, ContractError, Frame, TextConfirmed
from bridge.conversation.stream import Finish, FinishReason, TextDelta
from bridge.cst.carriers import CARRIERS
from tests.bridge.cst import corpus, reference
from tests.bridge.cst.feeding import joined

MODES = ("ctl-heredoc", "ctl")
CALL = "call c1 open_app\narg app Notes\nend\n"
STOP = Finish(FinishReason.STOP)
CASES = {
    "thought, then a call": (f"<think>\n{CALL}no.\n</think>\n\n{CALL}", 1),
    "a call right behind the tag": (f"<think>é</think>{CALL}", 1),
    "thought, then an answer": (f"<think>{CALL}</think>\nIt is 4.", 0),
    "blanks and BOM before it": (f"\ufeff \n\t<think>{CALL}</think>{CALL}", 1),
    "no thought": (CALL, 1),
    "blanks only": (" \n", 0),
    "a begun tag": ("<thi", 0),
    "another tag": (f"<thin>\n{CALL}", 1),
    "a second thought is text": (f"<think></think>\n<think>\n{CALL}", 1),
    "a thought behind text is text": (f"I think.\n<think>\n{CALL}", 1),
    "tags that resemble the end": (f"<think></thinks></thin\n{CALL}</think>{CALL}", 1),
    "more blanks than a server sends": (" " * 100 + f"<think>\n{CALL}", 1),
}


def read(mode: str, pieces: list[str], finish: Finish | None = STOP) -> list[Frame]:
    reader = CARRIERS[mode].reader(corpus.TOOLS, None)
    frames = [frame for piece in pieces for frame in reader.feed(TextDelta(piece))]
    return frames + reader.close(finish)


def ready(frames: list[Frame]) -> list[str]:
    return [frame.call.id for frame in frames if isinstance(frame, CallReady)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_only_what_stands_behind_the_thought_runs(case: str, mode: str) -> None:
    """Whole, cut at every place, and at every prefix: as the simple reference says."""
    text, calls = CASES[case]
    whole = read(mode, [text])
    assert len(ready(whole)) == calls
    for at in range(len(text)):
        assert joined(read(mode, [text[:at], text[at:]])) == joined(whole)
        said = reference.spoken(text[:at].encode())
        wanted = reference.read(said, length_prefix=mode == "ctl").calls
        assert len(ready(read(mode, [text[:at]], None))) == len(wanted)
    assert joined(read(mode, list(text))) == joined(whole)


@pytest.mark.parametrize("mode", MODES)
def test_the_thought_stays_in_the_text_and_in_positions(mode: str) -> None:
    """It is replayed with the calls behind it, and counts where a fault is placed."""
    reader = CARRIERS[mode].reader(corpus.TOOLS, None)
    text = f"<think>é {CALL}</think>{CALL}"
    reader.feed(TextDelta(text))
    assert reader.replay_text == text
    [*_, fault] = reader.feed(TextDelta("call c2 open_app Notes\n"))
    assert isinstance(fault, ContractError)
    assert fault.position == len(text.encode())


@pytest.mark.parametrize("mode", MODES)
def test_a_reply_that_ends_in_a_thought_of_calls_is_no_answer(mode: str) -> None:
    """The model is told; a thought without calls stays text."""
    [*_, fault] = read(mode, [f"<think>\n{CALL}"])
    assert isinstance(fault, ContractError)
    assert "never closed" in fault.message
    assert [type(frame) for frame in read(mode, ["<think>\nhm"])] == [TextConfirmed]
