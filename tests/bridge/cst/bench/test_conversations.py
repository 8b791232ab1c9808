"""The generated replies: seeded, valid, and sayable in every mode."""

from __future__ import annotations

import pytest

from bridge.cst.bench.conversations import BENCH_TOOLS, Reply, replies
from bridge.cst.bench.encodings import encode
from bridge.cst.bench.subjects import Cut, executed, subjects
from device_tools.schema import validate

REPLIES = replies(20)
MODES = {subject.name: subject for subject in subjects()}


def test_the_same_seed_makes_the_same_replies() -> None:
    """Two researchers with one seed cut the same replies; another seed makes others."""
    assert replies(20) == REPLIES
    assert replies(20, seed=1) != REPLIES


def test_numbers_of_calls_go_from_one_to_ten() -> None:
    """Every size of message occurs equally often."""
    assert [len(reply.calls) for reply in REPLIES] == [*range(1, 11)] * 2


def test_every_call_passes_the_schema_of_its_tool() -> None:
    """A refusal in an experiment is then never the generator's fault."""
    specs = {spec.name: spec for spec in BENCH_TOOLS}
    for reply in REPLIES:
        for call in reply.calls:
            assert validate(specs[call.name], "c1", call.arguments).arguments == call.arguments


@pytest.mark.parametrize("mode", MODES)
def test_a_whole_reply_gives_exactly_its_calls(mode: str) -> None:
    """What a mode writes its own reader reads back, value for value."""
    for reply in REPLIES:
        encoding = encode(reply, mode)
        calls = executed(MODES[mode], encoding, encoding.size, Cut(lies=True))
        assert [(call.name, dict(call.arguments)) for call in calls] == [
            (call.name, dict(call.arguments)) for call in reply.calls
        ]


@pytest.mark.parametrize("mode", MODES)
def test_places_in_the_content_are_the_same_in_every_mode(mode: str) -> None:
    """Each mode holds the same number of content characters, in order, within its bytes."""
    for reply in REPLIES:
        encoding = encode(reply, mode)
        assert len(encoding.starts) == len(encoding.ends) == reply.characters
        offsets = [at for pair in zip(encoding.starts, encoding.ends, strict=True) for at in pair]
        assert offsets == sorted(offsets)
        assert offsets[-1] <= encoding.size
        assert len(encoding.wholes) == len(encoding.closes) == len(reply.calls)


def test_a_place_has_an_early_and_a_late_offset() -> None:
    """Early: right behind the character. Late: all syntax up to the next one is there too."""
    encoding = encode(Reply("", REPLIES[0].calls), "ctl")
    data = encoding.parts[0].data
    name = REPLIES[0].calls[0].name
    assert data[: encoding.early(len(name))].decode() == f"call c1 {name}"
    assert data[: encoding.late(len(name))].decode().startswith(f"call c1 {name}\narg ")
    assert encoding.late(REPLIES[0].characters) == encoding.size or encoding.text_end == 0
