"""`bridge --help` against a Typer program that has the same commands and does nothing.

Run: python scripts/bench/cli.py [repetitions]. Target: at most 1.3 times.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from measure import command, figures, interleaved, python, table

EMPTY = """
import typer
app = typer.Typer(rich_markup_mode=None)
{commands}
app()
"""


def empty_program(folder: Path) -> Path:
    """The same groups and commands as bridge, with no options and no work."""
    import typer

    from bridge.cli.main import app

    root = typer.main.get_command(app)
    lines: list[str] = []
    for name, entry in root.commands.items():  # type: ignore[attr-defined]
        children = getattr(entry, "commands", None)
        owner = "app"
        if children is not None:
            owner = f"group_{name}"
            lines.append(f"{owner} = typer.Typer()\napp.add_typer({owner}, name={name!r})")
        for child in children if children is not None else [name]:
            lines.append(f"@{owner}.command({child!r})\ndef _(): 'does nothing'")
    path = folder / "empty.py"
    path.write_text(EMPTY.format(commands="\n".join(lines)))
    return path


def main(repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = empty_program(Path(folder))
        taken = interleaved(
            {
                "bridge --help": command(python("-m", "bridge", "--help")),
                "empty Typer program --help": command(python(str(program), "--help")),
            },
            repeat,
        )
    rows = [[name, figures(seconds)] for name, seconds in taken.items()]
    ours, empty = (statistics.median(seconds) for seconds in taken.values())
    print(table(["command", "ms: median (lowest to highest)"], rows))
    print(f"\nratio {ours / empty:.2f} (target: at most 1.3)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
