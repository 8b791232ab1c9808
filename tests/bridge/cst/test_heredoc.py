"""The ctl-heredoc carrier: from provider events to typed calls and teaching errors."""

from __future__ import annotations

import pytest

from bridge.conversation.frames import (
    ArgumentConfirmed,
    CallOpened,
    CallReady,
    ContractError,
    ContractErrorKind,
    Frame,
    StopReading,
    TextConfirmed,
)
from bridge.conversation.messages import CallResult, ToolCall, UserMessage
from bridge.conversation.stream import (
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from bridge.cst.heredoc import HeredocCarrier, HeredocReader
from device_tools.catalog import PHONE_TOOLS
from device_tools.errors import InvalidCall
from device_tools.result import Image, done, failed
from device_tools.schema import ToolSpec, arguments_schema, validate

FINISH = ToolSpec(
    "finish",
    "End the run.",
    arguments_schema(
        {"success": {"type": "boolean"}, "summary": {"type": "string"}}, ["success", "summary"]
    ),
)
SHAPES = ToolSpec(
    "shapes",
    "Takes one value of every type.",
    arguments_schema(
        {
            "i": {"type": "integer"},
            "n": {"type": "number"},
            "b": {"type": "boolean"},
            "a": {"type": "array"},
            "o": {"type": "object"},
            "s": {"type": "string"},
            "e": {"enum": ["1", "2"]},
        }
    ),
)
TOOLS = (*PHONE_TOOLS, FINISH, SHAPES)
STOP = Finish(FinishReason.STOP, "stop")


def reader(cap: int | None = None) -> HeredocReader:
    return HeredocCarrier().reader(TOOLS, cap)


def read(text: str, finish: Finish | None = STOP, *extra: StreamEvent) -> list[Frame]:
    one = reader(cap=100)
    frames = one.feed(TextDelta(text))
    for event in extra:
        frames += one.feed(event)
    return frames + one.close(finish)


def calls(frames: list[Frame]) -> list[ToolCall]:
    return [frame.call for frame in frames if isinstance(frame, CallReady)]


def fault(frames: list[Frame]) -> ContractError:
    assert isinstance(frames[-1], ContractError)
    return frames[-1]


def test_a_reply_becomes_text_then_a_typed_call_with_its_exact_frame() -> None:
    """Text before a frame is text; the call carries typed arguments and its own source."""
    frame = "call c1 tap\narg x 12\narg y 3\nend\n"
    assert read("I tap it.\n" + frame) == [
        TextConfirmed("I tap it.\n"),
        CallOpened("c1", "tap"),
        ArgumentConfirmed("c1", "x", "12"),
        ArgumentConfirmed("c1", "y", "3"),
        CallReady(ToolCall("c1", "tap", {"x": 12, "y": 3}, frame)),
    ]


def test_digits_after_a_key_are_the_value() -> None:
    """No length prefix in this mode: a string of digits stays that string."""
    (call,) = calls(read("call c1 type_text\narg text 4417\nend\n"))
    assert call.arguments == {"text": "4417"}


def test_values_that_do_not_fit_their_type_stay_text_for_the_schema_to_refuse() -> None:
    """The carrier types what it can and repairs nothing."""
    (call,) = calls(read('call c1 shapes\narg i 7\narg b <<E\ntrue\nE\narg n "7"\nend\n'))
    assert call.arguments == {"i": 7, "b": True, "n": '"7"'}


def test_an_unknown_tool_in_a_frame_is_still_a_call() -> None:
    """The toolbox answers it; the carrier does not judge names."""
    (call,) = calls(read("call c1 fly\narg to moon\nend\n"))
    assert (call.name, call.arguments) == ("fly", {"to": "moon"})


def test_text_behind_a_call_stops_the_reading_and_stays_out_of_the_replay() -> None:
    """A guess of the result is neither shown nor replayed, and later frames do not run."""
    one = reader()
    frame = "call c1 current_app\nend\n"
    frames = one.feed(TextDelta("Look.\n" + frame + "\n```\nIt is Settings.\ncall c2 tap\nend\n"))
    assert isinstance(frames[-1], StopReading)
    assert len(calls(frames)) == 1
    assert one.replay_text == "Look.\n" + frame
    assert one.feed(TextDelta("call c3 current_app\nend\n")) == []
    assert one.close(STOP) == []


def test_a_plain_answer_is_replayed_whole() -> None:
    """Without a call the reply is its text, code fences included."""
    one = reader()
    text = "Here:\n```python\nprint(1)\n```\ncall"
    frames = one.feed(TextDelta(text)) + one.close(STOP)
    assert "".join(f.text for f in frames if isinstance(f, TextConfirmed)) == text
    assert one.replay_text == text


UNENDED = "call c1 current_app\nend"


@pytest.mark.parametrize(
    ("finish", "extra", "runs"),
    [
        (STOP, (), True),
        (STOP, (Usage(10, 99),), True),
        (STOP, (Usage(10, 100),), False),
        (Finish(FinishReason.TOOL_CALLS), (), False),
        (Finish(FinishReason.LENGTH), (), False),
        (Finish(FinishReason.CONTENT_FILTER), (), False),
        (Finish(FinishReason.UNKNOWN), (), False),
        (None, (), False),
    ],
)
def test_a_last_end_without_newline_needs_a_clean_stop(
    finish: Finish | None, extra: tuple[StreamEvent, ...], runs: bool
) -> None:
    """Only a stop below the output cap closes it; else the call is unfinished."""
    frames = read(UNENDED, finish, *extra)
    assert len(calls(frames)) == runs
    if not runs:
        assert fault(frames).kind is ContractErrorKind.UNEXPECTED_LINE
        assert "stream ended inside call c1" in fault(frames).message


@pytest.mark.parametrize("finish", [None, *[Finish(reason) for reason in FinishReason]])
def test_a_closed_frame_runs_whatever_the_reason(finish: Finish | None) -> None:
    """`end` and its newline are the commit evidence."""
    assert len(calls(read(UNENDED + "\n", finish))) == 1


def test_nothing_is_confirmed_when_the_stream_broke() -> None:
    """Without evidence of an end pending text stays unconfirmed."""
    assert read("call", None) == []
    assert read("call", STOP) == [TextConfirmed("call")]


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        ("call c1 open_app Notes", "call c1 open_app\narg app Notes\nend"),
        (
            "call c1 swipe 0 1080 0 2400",
            "call c1 swipe\narg x1 0\narg y1 1080\narg x2 0\narg y2 2400\nend",
        ),
        (
            'call c1 finish(true, "Wi-Fi is off, done")',
            "call c1 finish\narg success true\narg summary Wi-Fi is off, done\nend",
        ),
        ("call c1 tap(x=5, y=7)", "call c1 tap\narg x 5\narg y 7\nend"),
        ("call c1 tap x 5 y 7", "call c1 tap\narg x 5\narg y 7\nend"),
        ('call c1 tap {"x": 5, "y": 7}', "call c1 tap\narg x 5\narg y 7\nend"),
        ("call c1 type_text hello my friend", "call c1 type_text\narg text hello my friend\nend"),
        ("call c1 current_app()", "call c1 current_app\nend"),
        ("call open_app Notes", "call c1 open_app\narg app Notes\nend"),
        ("call open_app\narg app Notes\nend", "call c1 open_app\narg app text\nend"),
        ("call open_app(app='My Notes')", "call c1 open_app\narg app My Notes\nend"),
        ("call tap 5 7", "call c1 tap\narg x 5\narg y 7\nend"),
        ("call current_app", "call c1 current_app\nend"),
        ("call c1 current_app\r", "call c1 current_app\nend"),
    ],
)
def test_a_call_with_its_arguments_on_the_line_is_taught_the_right_frame(
    line: str, frame: str
) -> None:
    """The message shows the frame for that very call, and that frame is valid."""
    error = fault(read(line + "\n"))
    assert error.kind is ContractErrorKind.BAD_CALL
    assert error.message.startswith("tool_parse_error bad_call")
    assert error.message.endswith(frame)
    (call,) = calls(read(frame + "\n"))
    validate(next(tool for tool in TOOLS if tool.name == call.name), call.id, call.arguments)


def test_the_fault_message_tells_position_counts_and_line() -> None:
    """The model can find its own line, and no later frame was run."""
    error = fault(read("Hi.\ncall c1 tap\nx: 1\nend\ncall c2 current_app\nend\n"))
    assert (error.position, error.call_id) == (16, "c1")
    assert "byte 16" in error.message
    assert "arrived 4 bytes" in error.message
    assert "Your line: x: 1" in error.message


def test_a_refused_value_in_quotes_is_answered_with_the_unquoted_frame() -> None:
    """Values are never unquoted; where the schema refuses one the answer shows how to write it."""
    (call,) = calls(read('call c1 press_key\narg key "home"\nend\n'))
    with pytest.raises(InvalidCall) as refusal:
        validate(next(t for t in TOOLS if t.name == "press_key"), call.id, call.arguments)
    message = HeredocCarrier().results([CallResult(call, failed(refusal.value))])
    assert "call c1 press_key\narg key home\nend" in message.text


def test_results_come_back_in_order_with_pictures_and_the_note() -> None:
    """One user message: the frames, then the runtime's word; the pictures attached."""
    picture = Image(b"png", "image/png", 1, 1, "a screen")
    one, two = ToolCall("a", "tap", {}), ToolCall("b", "observe_screen", {})
    message = HeredocCarrier().results(
        [CallResult(one, done("tapped")), CallResult(two, done("é", images=(picture,)))], "Last."
    )
    assert message == UserMessage(
        "result a exit=0 6\ntapped\nend\nresult b exit=0 2\né\nend\nLast.\n", (picture,)
    )


def test_reasoning_is_never_read_as_a_call() -> None:
    """Frames in the reasoning are thoughts, not calls."""
    one = reader()
    assert one.feed(ReasoningDelta("call c1 current_app\nend\n")) == []
    assert one.close(STOP) == []


def test_a_character_split_into_surrogate_halves_is_joined() -> None:
    """Servers that escape half a character per event give the whole one; a lone half is U+FFFD."""
    one = reader()
    frames = one.feed(TextDelta("a\ud83d")) + one.feed(TextDelta("\ude00b\udc00"))
    assert "".join(f.text for f in frames if isinstance(f, TextConfirmed)) == "a\U0001f600b\ufffd"
