"""``bridge config``: which settings are in force and where the files are."""

from __future__ import annotations

import typer

from bridge.cli.common import JsonFlag, print_json

app = typer.Typer(help="Show the settings.", no_args_is_help=True, rich_markup_mode=None)


@app.command("show")
def show(as_json: JsonFlag = False) -> None:
    """Each setting, its value and where it came from. Keys are never shown: they are not kept."""
    from bridge import config

    loaded = config.load()
    values = config.as_json(loaded.settings)
    if as_json:
        print_json({"v": 1, "type": "settings", "home": str(loaded.home), "settings": values,
                    "sources": dict(loaded.sources)})  # fmt: skip
        return
    print(f"home = {loaded.home}")
    for name, value in values.items():
        if value is None:
            print(f"{name} is not set")
            continue
        shown = value
        if name == "groups":
            off = [group for group, switch in value.items() if not switch]
            shown = f"off: {', '.join(off)}" if off else "all on"
        print(f"{name} = {shown}  ({loaded.sources[name]})")


@app.command("path")
def path(as_json: JsonFlag = False) -> None:
    """The configuration file and the home folder."""
    from bridge import config

    home = config.home_folder()
    if as_json:
        print_json({"v": 1, "type": "paths", "home": str(home),
                    "config": str(home / config.FILE_NAME)})  # fmt: skip
    else:
        print(home / config.FILE_NAME)
