"""The tool every run has: it ends the run and gives its answer."""

from __future__ import annotations

from device_tools.schema import Effect, ToolSpec, arguments_schema

FINISH = ToolSpec(
    "finish",
    "End the run. success false when the task is not done; summary says what happened in one or "
    "two sentences; output carries the answer that was asked for, if any.",
    arguments_schema(
        {
            "success": {"type": "boolean"},
            "summary": {"type": "string", "maxLength": 4000},
            "output": {"type": "string", "maxLength": 100_000},
        },
        ["success", "summary"],
    ),
    effect=Effect.NONE,
)
