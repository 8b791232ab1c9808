"""``python -m bridge`` and the console script: Ctrl-C ends with 130 from the first import on."""

import sys


def main() -> None:
    try:
        from bridge.cli.main import main as program

        program()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
