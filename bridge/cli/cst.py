"""``bridge cst``: the call protocols by themselves, without a model or a phone."""

from __future__ import annotations

import typer

from bridge.cli.cst_bench import bench
from bridge.cli.cst_streams import check, parse

app = typer.Typer(help="Examine call protocols.", no_args_is_help=True, rich_markup_mode=None)
app.command("parse")(parse)
app.command("check")(check)
app.command("bench")(bench)
