"""What the user sees while a run goes on."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bridge.cli.common import print_json, printable

if TYPE_CHECKING:
    from bridge.store.journal import Listener

WIDTH = 160


def progress_listeners(as_json: bool) -> list[Listener]:
    """JSON Lines on stdout when asked; else lines on stderr, only where that is a terminal."""
    listeners: list[Listener] = []
    if as_json:
        listeners.append(print_json)
    if sys.stderr.isatty():
        listeners.append(_print_progress)
    return listeners


def describe(record: Mapping[str, Any]) -> str:
    """One line for a person about one event; "" for events that say nothing new."""
    return printable(_described(record))


def _described(record: Mapping[str, Any]) -> str:
    match record["type"]:
        case "run_started":
            return f"run {record['run']}: {record['task']}\n  {_model(record)}"
        case "assistant_text":
            return _short(f"  model: {record['text']}")
        case "reasoning_text":
            what = "reasoning, summarised" if record["summary"] else "reasoning"
            return _short(f"  {what}: {record['text']}")
        case "hosted_tool_started":
            return f"  {record['name']} of the provider: started"
        case "hosted_tool_ended":
            return f"  {record['name']} of the provider: {'failed' if record['failed'] else 'done'}"
        case "call_finished":
            return _short(f"  {_call(record)}")
        case "contract_fault":
            return _short(f"  unreadable reply ({record['kind']}): {record['message']}")
        case "notice":
            return _short(f"  note: {record['text']}")
        case "approval":
            return f"  {record['name']}: the user said {record['answer']}"
        case "steering_queued" | "steering_read" | "paused" | "resumed":
            return _short(f"  {_steered(record)}")
        case "response_started":
            return f"turn {record['turn']}"
        case "response_finished":
            return f"  reply ended: {_ending(record)}{_tokens(record)}{_time(record)}"
        case "run_finished":
            lines = [f"{record['status']}: {record['summary']}", totals_line(record["totals"])]
            lines += [_short(f"not read by the model: {text}") for text in record.get("unread", ())]
            return "\n  ".join(lines)
    return ""


def _print_progress(record: Mapping[str, Any]) -> None:
    if line := describe(record):
        print(line, file=sys.stderr, flush=True)


def _model(record: Mapping[str, Any]) -> str:
    return f"{record['provider']} {record['model']} on {record['device']}, {record['protocol']}"


def _call(record: Mapping[str, Any]) -> str:
    text = str(record["text"])
    # the first line of an observation is the title of the screen
    what = text.split("\n", 1)[0] if record["exit_code"] == 0 else " ".join(text.split())
    mark = "ok" if record["exit_code"] == 0 else f"{record['outcome']} exit={record['exit_code']}"
    return f"{record['name']}: {mark}{_time(record)}  {what}"


def _steered(record: Mapping[str, Any]) -> str:
    match record["type"]:
        case "steering_queued":
            return f"message {record['number']} waits for the next turn: {record['text']}"
        case "steering_read":
            return f"message {record['number']} goes to the model"
        case "paused":
            return f"paused; bridge resume {record['run']} goes on"
    return "goes on"


def _ending(record: Mapping[str, Any]) -> str:
    """The reason, with the server's own word where it says more; older records have none."""
    reason, raw = str(record["reason"]), str(record.get("raw_reason", ""))
    told = raw and raw != reason and reason in ("unknown", "content_filter", "length")
    return f"{reason} ({raw})" if told else reason


def _tokens(record: Mapping[str, Any]) -> str:
    """Tokens and cost of a reply; older records hold less."""
    counts = (
        (record["input_tokens"], "in"),
        (record.get("cached_tokens"), "of them cached"),
        (record["output_tokens"], "out"),
        (record.get("reasoning_tokens"), "of them reasoning"),
    )
    known = [f"{count} {what}" for count, what in counts if count is not None]
    tokens = f", tokens: {', '.join(known)}" if known else ", tokens unknown"
    cost = record.get("cost")
    return tokens if cost is None else f"{tokens}, cost {cost:.4f}"


def totals_line(totals: Mapping[str, Any]) -> str:
    """What a run used, in one line; sums that miss a reply say so."""
    tokens = [totals["input_tokens"], totals["output_tokens"]]
    shown = " + ".join("unknown" if count is None else str(count) for count in tokens)
    missing = "at least " if totals.get("unreported") and tokens != [None, None] else ""
    cost = totals.get("cost")
    money = "" if cost is None else f", cost {missing}{cost:.4f} {totals['currency']}"
    return (
        f"{totals['turns']} turns, {totals['calls']} calls, "
        f"{missing}{shown} tokens{money}, {totals['seconds']} s"
    )


def _time(record: Mapping[str, Any]) -> str:
    return f" ({record['milliseconds'] / 1000:.1f} s)"


def _short(line: str) -> str:
    line = " ".join(line.split("\n"))
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
