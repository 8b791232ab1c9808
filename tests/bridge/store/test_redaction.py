"""The boundary: classes of tools first, patterns second, memory over the whole run."""

from __future__ import annotations

import json

import pytest

from bridge.conversation.events import (
    AssistantText,
    CallFinished,
    CallIntended,
    HostedToolEnded,
    HostedToolStarted,
    ReasoningText,
    ResponseFinished,
    RunEvent,
)
from bridge.store.previews import preview_of
from bridge.store.redaction import Redacted, Redactor
from device_tools.schema import RiskGroup


def stored(redactor: Redactor, event: RunEvent) -> str:
    return json.dumps(redactor.redact(event, "r-1", 1.0).record, ensure_ascii=False)


def finished(text: str, group: RiskGroup = RiskGroup.DIRECT) -> CallFinished:
    return CallFinished(1, "c1", "tool", group, "DONE", 0, "", text, 1.0)


def test_only_the_redactor_makes_redacted_records() -> None:
    """A plain record cannot be dressed up as a redacted one."""
    with pytest.raises(TypeError):
        Redacted({"type": "notice"})


@pytest.mark.parametrize(
    "group", [RiskGroup.SENSITIVE_READ, RiskGroup.SENSITIVE_ACTION, RiskGroup.MEMORY]
)
def test_sensitive_tools_are_hidden_wholly(group: RiskGroup) -> None:
    """Neither arguments, frame nor result of a sensitive tool is stored, whatever they hold."""
    redactor = Redactor()
    intent = CallIntended(1, "c1", "send", group, {"to": "Alice"}, "call c1 send\narg to Alice\n")
    text = stored(redactor, intent) + stored(redactor, finished("Alice answered", group))
    assert "Alice" not in text
    assert '"name": "send"' in text


def test_a_secret_of_a_sensitive_tool_is_gone_from_later_records() -> None:
    """The code inside a hidden result is remembered and removed where the model repeats it."""
    redactor = Redactor()
    stored(redactor, finished("Your verification code is 482913", RiskGroup.SENSITIVE_READ))
    assert "482913" not in stored(redactor, AssistantText(2, "I type 482913 now, or 482 913."))


def test_a_remembered_code_does_not_eat_longer_numbers() -> None:
    """The same digits inside another number are another number and stay."""
    redactor = Redactor()
    redactor.text("Your code is 4821.")
    assert redactor.text("order 9948217, total 4821") == "order 9948217, total [redacted]"


def test_the_key_of_a_member_is_context() -> None:
    """A password argument is redacted by its name alone."""
    arguments = {"password": "hunter2!x", "note": "hello"}
    intent = CallIntended(1, "c1", "login", RiskGroup.DIRECT, arguments, "")
    text = stored(Redactor(), intent)
    assert "hunter2" not in text and "hello" in text


def test_a_lone_surrogate_does_not_break_the_record() -> None:
    """Text that is no Unicode still becomes a record that can be stored as UTF-8."""
    text = stored(Redactor(), AssistantText(1, "caf\udce9 ok"))
    assert "ok" in text
    text.encode("utf-8")


def test_the_providers_key_is_known_from_the_start() -> None:
    """A server that sends the key back in its text does not get it into the record."""
    redactor = Redactor(["plain-key-9988776655"])
    text = stored(redactor, AssistantText(1, "your key is plain-key-9988776655, thanks"))
    assert "9988776655" not in text and "thanks" in text


@pytest.mark.parametrize(
    "event",
    [
        ReasoningText(2, "I type 482913 now", summary=False),
        HostedToolStarted(2, "w1", "search for 482913"),
        HostedToolEnded(2, "482913", "web_search", failed=False),
        ResponseFinished(2, "stop", "It is 482913.", 1, 2, 3.0),
    ],
)
def test_every_text_of_a_response_passes_the_patterns(event: RunEvent) -> None:
    """Reasoning, hosted tools and the final text lose a known code like any other event."""
    redactor = Redactor()
    redactor.text("Your verification code is 482913")
    assert "482913" not in stored(redactor, event)


def test_hidden_arguments_are_left_out_before_the_call_runs() -> None:
    """The text that goes into an unknown or a secret field is in neither arguments nor frame."""
    arguments = {"text": "hunter2", "index": 5}
    intent = CallIntended(
        1, "c1", "type_text", RiskGroup.DIRECT, arguments, "call c1 type_text\n", ("text",)
    )
    text = stored(Redactor(), intent)
    assert "hunter2" not in text
    assert '"index": 5' in text


def test_secrets_of_a_result_are_gone_from_then_on() -> None:
    """What a field said is secret is hidden even when it is a common word, here and later."""
    redactor = Redactor()
    event = CallFinished(
        1, "c1", "type_text", RiskGroup.DIRECT, "DONE", 0, "", "now reads 'horse'", 1.0,
        secrets=("horse",), storable="was read back",
    )  # fmt: skip
    assert "horse" not in stored(redactor, event)
    assert "was read back" in stored(redactor, event)
    assert "horse" not in stored(redactor, AssistantText(2, "I typed horse."))


def test_words_before_a_call_lose_what_the_call_types() -> None:
    """The model's announcement of a password comes with the values that it must not tell."""
    event = AssistantText(1, "I type horse now.", ("horse",))
    text = stored(Redactor(), event)
    assert "horse" not in text
    assert "secrets" not in text


def test_a_recording_loses_what_calls_of_sensitive_tools_say() -> None:
    """In the frame, in the same JSON and nowhere else; refused and unknown tools count as well."""
    redactor = Redactor()
    frame = "call c1 search_messages\narg query query\nend\n"
    event = CallFinished(
        1, "c1", "search_messages", RiskGroup.SENSITIVE_READ, "DONE", 0, "", "", 1.0,
        arguments={"query": "query"}, frame=frame,
    )  # fmt: skip
    stored(redactor, event)
    source = '{"q": "a \\"b\\""}'
    unknown = CallFinished(
        1, "c2", "fly", RiskGroup.DIRECT, "NOT_SENT", 2, "unknown_tool", "", 1.0,
        arguments={"q": 'a "b"'}, frame=source,
    )  # fmt: skip
    stored(redactor, unknown)
    text = f"a query: {frame}{source}"
    shown = list(text)
    for secret in redactor.spans_of_wire(text):
        shown[secret.start : secret.end] = "*" * (secret.end - secret.start)
    assert "".join(shown) == (
        "a query: call c1 search_messages\narg query *****\nend\n" + '{"q": "*******"}'
    )
    assert redactor.text(text) == text


@pytest.mark.parametrize("end", ["", "end\n", "call c2 press_key\narg key home\nend\n"])
def test_a_recording_loses_frames_of_sensitive_tools_that_never_became_calls(end: str) -> None:
    """Cut off, or behind an error where nobody reads on: the first line is enough."""
    text = f"I look.\ncall c1 search_messages\narg query my bank\narg x <<E\nbody of it\nE\n{end}"
    shown = list(text)
    for secret in Redactor().spans_of_wire(text):
        shown[secret.start : secret.end] = "*" * (secret.end - secret.start)
    assert "".join(shown) == (
        f"I look.\ncall c1 search_messages\narg query *******\narg x ***\n**********\n*\n{end}"
    )


@pytest.mark.parametrize(
    ("text", "group", "kept"),
    [
        ('[4] "Lunch at 12?"', RiskGroup.DIRECT, True),
        ('[4] "Your verification code is 482913"', RiskGroup.DIRECT, False),
        ('[4] "Lunch at 12?"', RiskGroup.SENSITIVE_READ, False),
    ],
)
def test_no_small_picture_is_kept_of_a_screen_with_a_secret(
    text: str, group: RiskGroup, kept: bool
) -> None:
    """The note says so, by what the list beside the picture says; sensitive tools keep none."""
    event = CallFinished(1, "c1", "observe", group, "DONE", 0, "", text, 1.0, ("screenshot",))
    record = Redactor().redact(event, "r-1", 1.0).record
    assert (preview_of(record, 0, "image/jpeg", b"jpg") is not None) is kept


def test_a_redacted_text_stays_as_it_is() -> None:
    """A placeholder is no reason to hide the next number."""
    redacted = Redactor().text("Your verification code is 482913, room 4829, total 1204")
    assert redacted == "Your verification code is [redacted code], room 4829, total 1204"
    assert Redactor().text(redacted) == redacted
