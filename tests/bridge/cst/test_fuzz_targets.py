"""The kept inputs of the fuzzer hold, and the seven error kinds are all there is."""

from __future__ import annotations

import pytest

from bridge.conversation.frames import ContractError, ContractErrorKind
from bridge.conversation.stream import Finish, FinishReason, TextDelta
from bridge.cst.carriers import CARRIERS
from tests.bridge.cst import corpus, native_corpus, xml_corpus
from tests.bridge.cst.fuzz_targets import TARGETS
from tests.bridge.cst.kept_seeds import read_seeds
from tests.bridge.cst.native_corpus import neutral

STOP = Finish(FinishReason.STOP)


@pytest.mark.parametrize("target", TARGETS)
def test_the_kept_inputs_hold(target: str) -> None:
    """Each promise of the targets, on the inputs that together reach the most code."""
    seeds = read_seeds(target)
    assert seeds
    for seed in seeds:
        TARGETS[target](seed)


def kinds_of_text(mode: str) -> set[str]:
    """The kinds of error that the hand-written replies of a text mode meet."""
    tools = xml_corpus.TOOLS if mode == "xml" else corpus.TOOLS
    replies = [reply for reply, *_ in xml_corpus.BAD.values()]
    if mode != "xml":
        streams = (*corpus.HANDWRITTEN, *corpus.BOUNDS)
        replies = [each.data.decode("utf-8", "replace") for each in streams]
    kinds = set()
    for reply in [*replies, "call c1 tap\narg x " + "y" * 9000]:
        one = CARRIERS[mode].reader(tools, None)
        for frame in one.feed(TextDelta(reply)) + one.close(STOP):
            if isinstance(frame, ContractError):
                kinds.add(frame.kind.value)
    return kinds


def test_all_seven_kinds_are_reached_and_no_other_comes_out() -> None:
    """Which modes meet which kinds; native calls have no lines and no values of their own."""
    every = {kind.value for kind in ContractErrorKind}
    assert kinds_of_text("ctl") == every
    assert kinds_of_text("ctl-heredoc") == every - {"body_eof"}
    assert kinds_of_text("xml") == every - {"heredoc_eof", "line_too_long"}
    native = set()
    entries = [native_corpus.entry(n, f"i{n}", "f", "{}") for n in range(65)]
    for stream in (*native_corpus.CORPUS, entries):
        for mode in ("native-eos", "native-inc"):
            one = CARRIERS[mode].reader((), None)
            frames = [frame for event in neutral(stream) for frame in one.feed(event)]
            native |= {each.kind.value for each in frames if isinstance(each, ContractError)}
    assert native == {"bad_call", "bad_arg", "limit"}
