"""``bridge config``: which settings are in force, changing one, and the keys in the keyring."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bridge.cli.common import JsonFlag, print_json

app = typer.Typer(help="Show and change the settings.", no_args_is_help=True, rich_markup_mode=None)
keys = typer.Typer(
    help="Keep API keys in the system's keyring.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(keys, name="key")

Account = Annotated[
    str,
    typer.Argument(metavar="PROVIDER", help="Its name, or host:port of another base URL."),
]


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


@app.command("set")
def set_setting(
    key: Annotated[str, typer.Argument(help="For example model, or providers.openai.model.")],
    value: Annotated[str, typer.Argument(help="The new value.")],
) -> None:
    """Write one setting into the configuration file."""
    from bridge import config
    from bridge.config_edit import set_value

    print(set_value(config.home_folder(), key, value))


@keys.command("set")
def set_key(provider: Account) -> None:
    """Read a key from the terminal (not shown) or from stdin and keep it in the keyring."""
    from bridge.providers.keys import keep_key

    if sys.stdin.isatty():
        value = str(typer.prompt("key", hide_input=True, err=True))
    else:
        value = sys.stdin.readline()
    keep_key(provider, value)
    print(f"the key of {provider} is in the keyring")


@keys.command("delete")
def delete_key(provider: Account) -> None:
    """Take a key out of the keyring."""
    from bridge.errors import ConfigurationError
    from bridge.providers.keys import forget_key

    if not forget_key(provider):
        raise ConfigurationError(f"the keyring has no key of {provider}")
    print(f"the key of {provider} is deleted")
