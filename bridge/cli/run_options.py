"""The options that `bridge run` and `bridge continue` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Provider = Annotated[
    str | None,
    typer.Option(
        help="demo, openai, anthropic, openrouter, ollama, llama.cpp, ..., custom, replay:FILE."
    ),
]
Model = Annotated[str | None, typer.Option(help="Model name at the provider.")]
BaseUrl = Annotated[str | None, typer.Option(help="Base URL of the model server.")]
Protocol = Annotated[
    str | None,
    typer.Option(
        help="How calls travel: ctl-heredoc, ctl, native-eos, native-inc or xml; "
        "without it the provider's default, mostly ctl-heredoc."
    ),
]
Wire = Annotated[
    str | None, typer.Option(help="The server's interface: chat, responses or anthropic.")
]
Thinking = Annotated[
    str | None, typer.Option(help="Effort of reasoning models: off, low, medium or high.")
]
WebSearch = Annotated[
    bool | None,
    typer.Option("--web-search/--no-web-search", help="Offer the provider's own web search."),
]
Record = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write the model's answers, redacted, for a bug report."),
]
DebugHttp = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write the HTTP traffic, redacted.")
]
Ask = Annotated[str | None, typer.Option(help="Ask before calls: none, sensitive or all.")]
MaxTurns = Annotated[int | None, typer.Option(help="1 to 64.")]
MaxMinutes = Annotated[
    float | None, typer.Option(help="The run ends after so many minutes, pauses included; 30.")
]
MaxTokens = Annotated[
    int | None, typer.Option(help="Ceiling on input plus output tokens of the run.")
]
MaxCost = Annotated[
    float | None, typer.Option(help="Ceiling on the cost of the run, in US dollars.")
]
Images = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="A picture that goes with the task; may be repeated."),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GROUP",
        help="direct, sensitive_read, sensitive_action, ...; may be repeated; only narrows.",
    ),
]
Replace = Annotated[
    bool, typer.Option("--replace", help="End the run that holds the phone, then take it over.")
]
