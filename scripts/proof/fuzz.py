"""Throw bytes at the parsers, guided by coverage, until one of them breaks a promise.

scripts/fuzz [TARGET ...] [--runs N] [--work FOLDER] [--keep]

Targets and what they check: tests/bridge/cst/fuzz_targets.py. What the fuzzer finds worth trying
again stays in FOLDER; ``--keep`` puts the smallest of that into tests/bridge/cst/seeds, which the
normal tests replay. Needs the extra ``fuzz`` (atheris).
Exit code 1: a target failed; its input is shown.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
SEEDS = ROOT / "tests" / "bridge" / "cst" / "seeds"
MAX_SEEDS, MAX_SEED_BYTES = 120, 200
CST_TARGETS = ("ctl", "heredoc", "xml", "native", "patch", "sse")

PATCHES = (
    "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
    "--- a/d/b.txt\n+++ b/d/b.txt\n@@ -1 +1 @@\n-x\n+z\n@@ -3 +3,2 @@\n x\n+w\n",
    "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+hello\n\\ No newline at end of file\n",
    "diff --git a/n b/n\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-no end\n\\ No newline\n",
    "--- n\n+++ n\n@@\n-no end\n+an end\n",
)
"""Patches that fit the files of the target."""


def child(target: str, arguments: list[str]) -> None:
    """One libFuzzer process; it never returns."""
    import atheris

    with atheris.instrument_imports(include=["bridge"]):
        from tests.bridge.cst.fuzz_targets import TARGETS
    atheris.Setup([sys.argv[0], *arguments], TARGETS[target])
    atheris.Fuzz()


def libfuzzer(target: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(__file__)), "--child", target, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def seeded(target: str, folder: Path) -> None:
    """Puts the kept seeds and the hand-written streams into the working folder, one file each."""
    from tests.bridge.cst.corpus import HANDWRITTEN
    from tests.bridge.cst.kept_seeds import read_seeds
    from tests.bridge.cst.xml_corpus import CORPUS

    folder.mkdir(parents=True, exist_ok=True)
    written: list[bytes] = []
    if target in ("ctl", "heredoc"):
        written = [bytes([each.length_prefix, 7]) + each.data for each in HANDWRITTEN]
    elif target == "xml":
        written = [b"\0\7" + reply.encode() for reply in CORPUS]
    elif target == "patch":
        written = [each.encode() for each in PATCHES]
    for number, seed in enumerate([*read_seeds(target), *written]):
        (folder / f"seed-{number}").write_bytes(seed)


def fuzz(target: str, runs: int, folder: Path) -> bool:
    """Runs one target and prints a row; False when it failed."""
    seeded(target, folder)
    begun = time.monotonic()
    done = libfuzzer(
        target,
        f"-runs={runs}",
        "-max_len=160",
        "-timeout=60",
        f"-artifact_prefix={folder.parent}/",
        str(folder),
    )
    executed = re.findall(r"^#(\d+)\s+DONE.* cov: (\d+)", done.stderr, re.MULTILINE)
    seconds = time.monotonic() - begun
    if done.returncode or not executed:
        print(f"{target}: FAILED\n{done.stderr[-6000:]}", file=sys.stderr)
        return False
    count, coverage = executed[-1]
    print(f"| {target} | {count} | {coverage} | {len(list(folder.iterdir()))} | {seconds:.0f} |")
    sys.stdout.flush()
    return True


def keep(target: str, folder: Path) -> None:
    """Writes the smallest of the inputs that added coverage; the fuzzer keeps no others."""
    from tests.bridge.cst.kept_seeds import write_seeds

    found = sorted({path.read_bytes() for path in folder.iterdir()}, key=lambda s: (len(s), s))
    write_seeds(target, [seed for seed in found if len(seed) <= MAX_SEED_BYTES][:MAX_SEEDS])


def main() -> int:
    """0: every target kept its promises for all runs."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("targets", nargs="*", default=list(CST_TARGETS))
    options.add_argument("--runs", type=int, default=20_000, help="executions of each target")
    options.add_argument("--work", type=Path, default=ROOT / ".fuzz", help="where finds are kept")
    options.add_argument("--keep", action="store_true", help="write the seeds of the tests anew")
    chosen = options.parse_args()
    print("| target | executions | edges covered | inputs | seconds |\n|---|---|---|---|---|")
    clean = [fuzz(target, chosen.runs, chosen.work / target) for target in chosen.targets]
    for target in chosen.targets if chosen.keep else []:
        keep(target, chosen.work / target)
    return 0 if all(clean) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3:])
    sys.exit(main())
