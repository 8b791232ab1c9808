"""Plant secrets everywhere, run, and search every byte that is left for them.

    PYTHONPATH=. python scripts/proof/planted_secrets.py [--each 20] [--seed 1]

``--each N`` plants N secrets of every kind: in what the model says, in messages, notifications and
notes on the screen, in typed text, in arguments of sensitive tools, in the task, a steering message
and as the provider's key. Searched: the home folder, recordings, debug output, the temporary
folder, the phone's /data/local/tmp, stdout and stderr, the process list, and the requests of a
continuation; raw, in JSON, URL, hex, base64 at three offsets, UTF-16 and packed. Left out: a run's
own answer, and the virtual phone's storage. Exit code 1: a secret was found, or too few ordinary
texts are left.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.bridge.hunt.judge import judge
from tests.bridge.hunt.plants import planted
from tests.bridge.hunt.runs import hunted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    plants = planted(options.seed, options.each)
    with tempfile.TemporaryDirectory(prefix="hunt-") as name:
        prey = hunted(Path(name), plants)
        verdict = judge(prey)
    for found in verdict.found[:40]:
        print(f"{found.secret!r} as {found.form} in {found.where}", file=sys.stderr)
    for text in verdict.missing[:20]:
        print(f"missing: {text!r}", file=sys.stderr)
    report = {
        "secrets": len(plants.secrets),
        "reached_the_run": verdict.reached,
        "found": len(verdict.found),
        "controls": len(plants.controls),
        "controls_present": len(plants.controls) - len(verdict.missing),
        "files_bytes": verdict.searched_bytes,
        "exit_codes": dict(Counter(f"{name}={code}" for name, code in prey.exits.items())),
        "seconds": round(time.monotonic() - started),
    }
    print(json.dumps(report))
    return 0 if verdict.clean else 1


if __name__ == "__main__":
    sys.exit(main())
