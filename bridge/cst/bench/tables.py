"""Rows of the experiments as Markdown tables and as JSON objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import groupby
from typing import Any

from bridge.cst.bench.correctness import CorrectnessRow
from bridge.cst.bench.positions import CurveRow, FirstCallRow
from bridge.cst.bench.speed import SegmentRow, SpeedRow, TargetRow
from bridge.cst.bench.truncation import PendingRow, TruncationRow

Row = (
    TruncationRow
    | PendingRow
    | FirstCallRow
    | CurveRow
    | CorrectnessRow
    | SpeedRow
    | SegmentRow
    | TargetRow
)

_TITLES: Mapping[type, tuple[str, str]] = {
    TruncationRow: ("truncation", "C: replies cut at the same places of their content"),
    PendingRow: ("pending", "C: bytes that wait at the cuts"),
    FirstCallRow: ("first_call", "C: where the first of ten calls becomes executable, % of bytes"),
    CurveRow: ("curve", "C: executable calls of ten by the place of the cut"),
    CorrectnessRow: ("correctness", "D: frames a model wrote"),
    SpeedRow: ("speed", "Speed: the same calls"),
    SegmentRow: ("segments", "Speed: µs per 20-byte delta in ten parts of one stream"),
    TargetRow: ("targets", "Speed: targets, measured in this run"),
}
_NOT_PRINTED = (CurveRow,)


def as_json(row: Row) -> dict[str, Any]:
    """``table`` names the kind of row, the rest are its fields as the classes document them."""
    return {"table": _TITLES[type(row)][0], **asdict(row)}


def printed(rows: Iterable[Row]) -> str:
    """One titled Markdown table per kind of row; curves are for plots and JSON only."""
    parts = []
    for kind, group in groupby(rows, type):
        if kind not in _NOT_PRINTED:
            parts.append(f"{_TITLES[kind][1]}\n\n{_table(list(group))}\n")
    return "\n".join(parts)


def _table(rows: Sequence[Row]) -> str:
    head = [field.name.replace("_", " ") for field in fields(rows[0])]
    body = [[_cell(value) for value in vars(row).values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = [head, ["-" * width for width in widths], *body]
    return "\n".join(_line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {count}" for key, count in value.items()) or "-"
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value)
