"""``bridge run`` and ``bridge continue``: one task to its end."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bridge.cli import run_options as options
from bridge.cli.common import (
    DeviceOption,
    JsonFlag,
    print_error,
    print_json,
    print_note,
    printable,
)

if TYPE_CHECKING:
    from bridge.run import RunResult

Text = Annotated[str, typer.Argument(metavar="TASK", help="What to do, in one quoted text.")]
Name = Annotated[
    str, typer.Argument(metavar="RUN", help="A run or session, or the beginning of its id.")
]
Message = Annotated[str, typer.Argument(metavar="MESSAGE", help="What to do next.")]


def run(
    task: Text,
    device: DeviceOption = None,
    provider: options.Provider = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    protocol: options.Protocol = None,
    wire: options.Wire = None,
    thinking: options.Thinking = None,
    web_search: options.WebSearch = None,
    record: options.Record = None,
    debug_http: options.DebugHttp = None,
    ask: options.Ask = None,
    max_turns: options.MaxTurns = None,
    max_minutes: options.MaxMinutes = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    image: options.Images = None,
    allow: options.Groups = None,
    deny: options.Groups = None,
    replace: options.Replace = False,
    as_json: JsonFlag = False,
) -> None:
    """Let a model carry out TASK on a phone."""
    _carry_out(task, None, locals())


def go_on(
    name: Name,
    message: Message,
    device: DeviceOption = None,
    provider: options.Provider = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    protocol: options.Protocol = None,
    wire: options.Wire = None,
    thinking: options.Thinking = None,
    web_search: options.WebSearch = None,
    record: options.Record = None,
    debug_http: options.DebugHttp = None,
    ask: options.Ask = None,
    max_turns: options.MaxTurns = None,
    max_minutes: options.MaxMinutes = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    image: options.Images = None,
    allow: options.Groups = None,
    deny: options.Groups = None,
    replace: options.Replace = False,
    as_json: JsonFlag = False,
) -> None:
    """A new run in the session of RUN, which knows what was said and done in it.

    Phone, provider, model and protocol are those of its last run unless options say otherwise.
    """
    _carry_out(message, name, locals())


def _carry_out(task: str, name: str | None, given: dict[str, Any]) -> None:
    from bridge import config
    from bridge.cli.common import DEBUG
    from bridge.cli.progress import progress_listeners
    from bridge.cli.terminal import Terminal
    from bridge.continuing import take_up
    from bridge.errors import ConfigurationError
    from bridge.policy import parse_groups
    from bridge.run import RunRequest, execute
    from bridge.signals import cancel_on_signals
    from device_tools.cancel import CancelScope

    if not task.strip():
        raise ConfigurationError("the task is empty", advice='bridge run "turn off Wi-Fi"')
    flags = {key: value for key, value in given.items() if key in config.NAMES}
    loaded, past = config.load(flags), None
    if name is not None:
        loaded, past = take_up(loaded.home, name, flags)
    cancel = CancelScope()
    terminal = Terminal(cancel)
    request = RunRequest(
        task,
        loaded.settings,
        loaded.home,
        parse_groups(given["allow"], "--allow") if given["allow"] else None,
        parse_groups(given["deny"] or [], "--deny"),
        terminal.approve,
        tuple(given["image"] or ()),
        DEBUG.get(),
        given["replace"],
        past,
        terminal.attached,
    )
    with cancel_on_signals(cancel):
        result = execute(request, cancel, progress_listeners(given["as_json"]))
    _tell(result, given["as_json"])


def _tell(result: RunResult, as_json: bool) -> None:
    finished = result.finished
    if as_json:
        # the answer belongs to the one who asked; the events above are the redacted record
        print_json(
            {
                "v": 1,
                "type": "answer",
                "run": result.run,
                "status": finished.status.value,
                "summary": finished.summary,
                "output": finished.output,
                "exit_code": finished.exit_code,
            }
        )
    elif not finished.error or finished.error == "model_reported_failure":
        answer = finished.output or finished.summary
        print(printable(answer) if sys.stdout.isatty() else answer)
    else:
        print_error(finished.summary, finished.advice)
    if sys.stderr.isatty():
        print_note(f"  files of this run: {result.folder}")
    raise typer.Exit(finished.exit_code)
