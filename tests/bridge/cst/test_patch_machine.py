"""apply_patch against difflib: any sequence of patches over a folder gives what was meant."""

from __future__ import annotations

import difflib
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bridge.cst.patch import apply_patch
from bridge.errors import PatchNotApplied, PatchRefused
from tests.bridge.cst.folder_store import FolderStore

NAMES = st.sampled_from(["a", "b.txt", "d/c", "d/e/f"])
WORDS = st.sampled_from(
    ["", "x", "y", "  x", "x ", "-x", "+", "@@", "--- a/a", "é", "\\ No", "\x0c"]
)
ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def contents(draw: st.DrawFn) -> str:
    """A small file with repeated lines, one kind of line end, with or without the last one."""
    end = draw(ENDS)
    lines = draw(st.lists(WORDS, max_size=12))
    text = "".join(line + end for line in lines)
    return text.removesuffix(end) if draw(st.booleans()) else text


def difference(name: str, old: str | None, new: str | None, context: int) -> str:
    """What ``diff -u`` would print; "" when nothing differs."""
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", text or "") for text in (old, new))
    lines = difflib.unified_diff(
        before,
        after,
        "/dev/null" if old is None else f"a/{name}",
        "/dev/null" if new is None else f"b/{name}",
        n=context,
    )
    ended = [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    ]
    if not ended and (old is None) != (new is None):
        ended = [f"--- {'/dev/null' if old is None else 'a/' + name}\n",
                 f"+++ {'/dev/null' if new is None else 'b/' + name}\n"]  # fmt: skip
    return "".join(ended)


def same_ends(old: str, new: str) -> bool:
    """Whether the line ends of ``new`` are those that a file like ``old`` is given."""
    return "\r\n" not in old or all(line.endswith("\r") for line in new.split("\n")[:-1])


class Folder(RuleBasedStateMachine):
    """``files`` is what the folder should hold."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.store = FolderStore(self.root)
        self.files: dict[str, str] = {}

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @rule(goals=st.dictionaries(NAMES, st.one_of(st.none(), contents()), min_size=1),
          context=st.integers(0, 3))  # fmt: skip
    def reach(self, goals: dict[str, str | None], context: int) -> None:
        """One patch takes several files to their goals, or deletes them."""
        patch, wanted = "", dict(self.files)
        for name, new in goals.items():
            old = self.files.get(name)
            if new is not None and old is not None and not same_ends(old, new):
                continue
            step = difference(name, old, new, context)
            patch += step
            if new is not None:
                wanted[name] = new
            else:
                wanted.pop(name, None)
        if patch:
            apply_patch(patch, self.store)
        self.files = wanted

    @rule(name=NAMES, at=st.integers(0, 2))
    def one_missing_hunk(self, name: str, at: int) -> None:
        """A patch with one hunk that is nowhere changes nothing, wherever it stands."""
        parts = [f"--- /dev/null\n+++ b/new{n}\n@@ -0,0 +1 @@\n+x\n" for n in range(2)]
        parts.insert(at, f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-nowhere\n+x\n")
        with pytest.raises(PatchRefused):
            apply_patch("".join(parts), self.store)

    @rule(name=NAMES, text=contents())
    def full_disk(self, name: str, text: str) -> None:
        """The first write fails: nothing changes."""
        old = self.files.get(name)
        patch = difference(name, old, text, 3)
        if patch:
            with pytest.raises(PatchNotApplied):
                apply_patch(patch, FolderStore(self.root, writes_left=0))

    @invariant()
    def the_folder_is_as_it_should_be(self) -> None:
        assert self.store.content() == {k: v.encode() for k, v in self.files.items()}


TestFolder = Folder.TestCase
TestFolder.settings = settings(max_examples=60, stateful_step_count=12, deadline=None)
