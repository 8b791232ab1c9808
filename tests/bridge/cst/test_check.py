"""The checker of S1 to S3: silent on the carriers, loud on readers that break a property."""

from __future__ import annotations

import pytest

from bridge.conversation.frames import CallReady, Frame
from bridge.conversation.messages import ToolCall
from bridge.conversation.stream import Finish, FinishReason, StreamEvent, TextDelta
from bridge.cst.carrier import Reader
from bridge.cst.carriers import CARRIERS
from bridge.cst.check import Report, check
from bridge.cst.reading import RawText
from device_tools.catalog import PHONE_TOOLS

ONE = b"call c1 tap\narg x 1\narg y 2\nend\n"
TWO = ONE + "call c2 type_text\narg text <<T\n😀\nT\nend\n".encode()
STREAMS = {
    "ctl": TWO.replace(b"arg x 1\narg y 2", b"arg x 1\n1\narg y 1\n2"),
    "ctl-heredoc": TWO,
    "xml": b'<minimax:tool_call><invoke name="home"></invoke>'
    b'<invoke name="back"></invoke></minimax:tool_call>',
}


def checked(data: bytes, mode: str, reader: type[Reader] | None = None) -> Report:
    return check(
        data,
        mode,
        lambda: RawText(Finish(FinishReason.STOP)),
        reader or (lambda: CARRIERS[mode].reader(PHONE_TOOLS, None)),
    )


def violated(report: Report) -> list[str]:
    return [each.name for each in report.properties if each.violations]


@pytest.mark.parametrize("mode", STREAMS)
def test_the_carriers_keep_the_properties(mode: str) -> None:
    """Frames in the CTL modes, a block in xml, each prefix compared."""
    report = checked(STREAMS[mode], mode)
    assert violated(report) == []
    assert (report.calls, report.broken) == (2, "")
    assert report.properties[0].compared >= len(STREAMS[mode])


class _Reader:
    """Reads lines of text; a call is what a subclass takes for one."""

    def __init__(self) -> None:
        self.text = ""

    def ready(self, source: str) -> list[Frame]:
        return [CallReady(ToolCall("c1", "tap", {}, source))]

    def feed(self, event: StreamEvent) -> list[Frame]:
        if not isinstance(event, TextDelta):
            return []
        before, self.text = self.text, self.text + event.text
        return self.confirmed(before)

    def confirmed(self, before: str) -> list[Frame]:
        raise NotImplementedError

    def close(self, finish: Finish | None) -> list[Frame]:
        return []

    @property
    def replay_text(self) -> str:
        return self.text


class Hasty(_Reader):
    """Believes in the call once its first line is there."""

    def confirmed(self, before: str) -> list[Frame]:
        seen = "arg x 1\n"
        return self.ready(ONE.decode()) if seen in self.text and seen not in before else []


class Fickle(_Reader):
    """Runs what came in one piece, so that the call depends on the cuts."""

    def confirmed(self, before: str) -> list[Frame]:
        if "\nend\n" in before or "\nend\n" not in self.text:
            return []
        return self.ready(self.text[len(before) :])


class Forgetful(_Reader):
    """Sees a call only when its piece ends there."""

    def confirmed(self, before: str) -> list[Frame]:
        return self.ready(ONE.decode()) if self.text.encode() == ONE else []


@pytest.mark.parametrize(("reader", "names"), [(Hasty, "S1"), (Fickle, "S2"), (Forgetful, "S3")])
def test_a_reader_that_breaks_a_property_is_found(reader: type[_Reader], names: str) -> None:
    """Each by the property that it breaks, with the prefix where it did."""
    report = checked(TWO, "ctl-heredoc", reader)
    assert names in violated(report)
    found = next(each for each in report.properties if each.name == names)
    assert all(0 < each.prefix <= len(TWO) for each in found.violations)


def test_a_native_call_or_a_block_may_not_run_while_the_stream_is_open() -> None:
    """Where the end is the evidence, whatever the call looks like."""
    assert "S1" in violated(checked(TWO, "xml", Forgetful))
