"""``bridge run``: one task to its end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bridge.cli.common import (
    DeviceOption,
    JsonFlag,
    print_error,
    print_json,
    print_note,
    printable,
)

Text = Annotated[str, typer.Argument(metavar="TASK", help="What to do, in one quoted text.")]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GROUP",
        help="direct, sensitive_read, sensitive_action, ...; may be repeated; only narrows.",
    ),
]


def run(
    task: Text,
    device: DeviceOption = None,
    provider: Annotated[
        str | None,
        typer.Option(
            help="demo, openai, anthropic, openrouter, ollama, llama.cpp, ..., custom, replay:FILE."
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model name at the provider.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Base URL of the model server.")] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            help="How calls travel: ctl-heredoc, ctl, native-eos, native-inc or xml; "
            "without it the provider's default, mostly ctl-heredoc."
        ),
    ] = None,
    wire: Annotated[
        str | None, typer.Option(help="The server's interface: chat, responses or anthropic.")
    ] = None,
    thinking: Annotated[
        str | None, typer.Option(help="Effort of reasoning models: off, low, medium or high.")
    ] = None,
    web_search: Annotated[
        bool | None,
        typer.Option("--web-search/--no-web-search", help="Offer the provider's own web search."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the model's answers, redacted, for a bug report."),
    ] = None,
    debug_http: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the HTTP traffic, redacted.")
    ] = None,
    ask: Annotated[
        str | None, typer.Option(help="Ask before calls: none, sensitive or all.")
    ] = None,
    max_turns: Annotated[int | None, typer.Option(help="1 to 64.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Ceiling on input plus output tokens of the run.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Ceiling on the cost of the run, in US dollars.")
    ] = None,
    image: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A picture that goes with the task; may be repeated."),
    ] = None,
    allow: Groups = None,
    deny: Groups = None,
    as_json: JsonFlag = False,
) -> None:
    """Let a model carry out TASK on a phone."""
    from bridge import config
    from bridge.cli.common import DEBUG
    from bridge.cli.progress import ask_on_terminal, progress_listeners
    from bridge.errors import ConfigurationError
    from bridge.policy import parse_groups
    from bridge.run import RunRequest, cancel_on_signals, execute
    from device_tools.cancel import CancelScope

    flags: dict[str, Any] = {
        "device": device, "provider": provider, "model": model, "base_url": base_url,
        "protocol": protocol, "ask": ask, "max_turns": max_turns, "max_tokens": max_tokens,
        "max_cost": max_cost, "wire": wire, "thinking": thinking, "web_search": web_search,
        "record": record, "debug_http": debug_http,
    }  # fmt: skip
    if not task.strip():
        raise ConfigurationError("the task is empty", advice='bridge run "turn off Wi-Fi"')
    loaded = config.load(flags)
    request = RunRequest(
        task,
        loaded.settings,
        loaded.home,
        parse_groups(allow, "--allow") if allow else None,
        parse_groups(deny or [], "--deny"),
        ask_on_terminal,
        tuple(image or ()),
        DEBUG.get(),
    )
    cancel = CancelScope()
    with cancel_on_signals(cancel):
        result = execute(request, cancel, progress_listeners(as_json))
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
