"""Draws the rows of the experiments as PNG pictures (matplotlib, of the extra ``bench``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.cst.bench.correctness import CorrectnessRow
from bridge.cst.bench.positions import CurveRow, FirstCallRow
from bridge.cst.bench.speed import SegmentRow, SpeedRow
from bridge.cst.bench.tables import Row
from bridge.errors import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES = (6.4, 3.4)
_DPI = 100


def require_library() -> None:
    """Raises ConfigurationError: matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ConfigurationError(
            "plots need matplotlib", advice="pip install 'bridge-android[bench]'"
        )


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """One picture per kind of row that is there; the files written.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    pictures: Mapping[str, Callable[[Axes, Sequence[Row]], bool]] = {
        "cst-cut.png": _curves,
        "cst-first-call.png": _first_calls,
        "cst-delta-cost.png": _segments,
        "cst-progress.png": _progress,
        "cst-frames.png": _frames,
    }
    drawn = (_picture(folder / name, paint, rows) for name, paint in pictures.items())
    return [path for path in drawn if path is not None]


def _picture(
    path: Path, paint: Callable[[Axes, Sequence[Row]], bool], rows: Sequence[Row]
) -> Path | None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_INCHES, dpi=_DPI, layout="constrained")
    if not paint(figure.add_subplot(), rows):
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": None})
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error
    return path


def _curves(axes: Axes, rows: Sequence[Row]) -> bool:
    chosen = [row for row in rows if isinstance(row, CurveRow)]
    # modes with the same curve share one line
    lines: dict[tuple[float, ...], list[CurveRow]] = {}
    for row in chosen:
        lines.setdefault(row.executable, []).append(row)
    for same in lines.values():
        axes.plot(same[0].percent, same[0].executable, label=", ".join(row.mode for row in same))
    axes.set_xlabel("the connection breaks at % of the content")
    axes.set_ylabel("executable calls of 10")
    if chosen:
        axes.legend(fontsize="x-small")
    return bool(chosen)


def _first_calls(axes: Axes, rows: Sequence[Row]) -> bool:
    chosen = [row for row in rows if isinstance(row, FirstCallRow)]
    axes.barh([row.mode for row in chosen], [row.mean for row in chosen])
    for row in chosen:
        axes.plot([row.low, row.high], [row.mode] * 2, color="black", linewidth=1)
    axes.invert_yaxis()
    axes.set_xlabel("first of ten calls executable at % of the bytes (mean; line: range)")
    return bool(chosen)


def _segments(axes: Axes, rows: Sequence[Row]) -> bool:
    chosen = [row for row in rows if isinstance(row, SegmentRow)]
    for row in chosen:
        part = row.kilobytes / len(row.microseconds)
        places = [part * (number + 0.5) for number in range(len(row.microseconds))]
        axes.plot(places, row.microseconds, marker="o", label=row.subject)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("KB of the argument that have arrived")
    axes.set_ylabel("µs per 20-byte delta")
    if chosen:
        axes.legend(fontsize="small")
    return bool(chosen)


def _progress(axes: Axes, rows: Sequence[Row]) -> bool:
    chosen = [row for row in rows if isinstance(row, SpeedRow) and "each shown" in row.feed]
    bars = axes.barh([row.subject for row in chosen], [row.ratio for row in chosen])
    axes.bar_label(bars, fmt="%.0f", padding=3)
    axes.margins(x=0.1)
    axes.invert_yaxis()
    if chosen:
        axes.set_xlabel(f"time for a {chosen[0].document}, ctl-heredoc = 1")
    return bool(chosen)


def _frames(axes: Axes, rows: Sequence[Row]) -> bool:
    chosen = [row for row in rows if isinstance(row, CorrectnessRow)]
    for row in chosen:
        label = f"{row.arm}: {row.kind}\n{row.source}"
        share = 100 * row.well_formed / row.replies
        axes.barh(label, share, color="C0" if row.arm == "ctl-heredoc" else "C1")
        axes.plot([row.low, row.high], [label] * 2, color="black", linewidth=1)
    axes.set_xlim(0, 100)
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize="small")
    axes.set_xlabel("well-formed replies, % (line: Wilson 95 %)")
    return bool(chosen)
