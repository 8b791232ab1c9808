"""Run one virtual phone: ``python -m device_tools.virtual --folder DIR --name NAME``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(prog="device_tools.virtual", description="Run a virtual phone")
    parser.add_argument("--folder", type=Path, required=True, help="where its files go")
    parser.add_argument("--name", required=True)
    parser.add_argument("--owned", action="store_true", help="end when standard input ends")
    parser.add_argument("--root", default="none", help="how it is rooted")
    given = parser.parse_args()
    from device_tools.virtual.process import Options, run

    return run(Options(given.folder.resolve(), given.name, given.owned, given.root))


if __name__ == "__main__":
    sys.exit(main())
