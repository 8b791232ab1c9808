"""apply_patch: located in memory, all or nothing, and errors that teach."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.cst.patch import apply_patch
from bridge.errors import (
    FileClash,
    FileStoreError,
    HunkAmbiguous,
    HunkMissing,
    HunksOverlap,
    PatchMalformed,
    PatchNotApplied,
    PatchRefused,
    PathRefused,
)
from device_tools.errors import Outcome
from tests.bridge.cst.folder_store import FolderStore


def patched(folder: Path, before: bytes | None, *hunk: str, path: str = "f.txt") -> bytes:
    """The content of one file after a patch of these lines under its header."""
    store = FolderStore(folder)
    if before is not None:
        store.write(path, before)
    old = "/dev/null" if before is None else f"a/{path}"
    apply_patch("\n".join([f"--- {old}", f"+++ b/{path}", *hunk, ""]), store)
    return store.content()[path]


def refused(folder: Path, patch: str, **files: bytes) -> PatchRefused:
    """The refusal of ``patch``; the files (``f_txt`` is f.txt) must be as before."""
    store = FolderStore(folder)
    for name, data in files.items():
        store.write(name.replace("_", "."), data)
    before = store.content()
    with pytest.raises(PatchRefused) as caught:
        apply_patch(patch, store)
    assert store.content() == before
    assert caught.value.advice
    assert caught.value.message.endswith("no file was touched")
    return caught.value


HEAD = "--- a/f.txt\n+++ b/f.txt\n"


def test_several_files_are_changed_created_and_deleted_at_once(tmp_path: Path) -> None:
    """One patch, three kinds of change, told in the order of the patch."""
    store = FolderStore(tmp_path)
    store.write("a.txt", b"one\ntwo\n")
    store.write("gone.txt", b"old\n")
    patch = (
        "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\nindex 3367afd..0000000\n"
        "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n\n"
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@ section\n one\n+middle\n two\n"
        "--- /dev/null\n+++ b/deep/new.txt\n@@ -0,0 +1 @@\n+hello\n"
    )
    changes = apply_patch(patch, store)
    assert store.content() == {"a.txt": b"one\nmiddle\ntwo\n", "deep/new.txt": b"hello\n"}
    assert [(c.path, c.before is None, c.after is None) for c in changes] == [
        ("gone.txt", False, True), ("a.txt", False, False), ("deep/new.txt", True, False),
    ]  # fmt: skip


def test_names_without_prefix_with_dot_and_with_times_are_names(tmp_path: Path) -> None:
    """Plain diff -u headers name the same file that git headers do."""
    store = FolderStore(tmp_path)
    store.write("d/x", b"1\n")
    apply_patch(
        "--- ./d/x\t2026-01-01 10:00:00\n+++ ./d/x\t2026-01-02\n@@ -1 +1 @@\n-1\n+2\n", store
    )
    assert store.content() == {"d/x": b"2\n"}


@pytest.mark.parametrize(
    ("hunk", "place"),
    [("@@ -4 +4 @@", 3), ("@@ -3 +3 @@", 3), ("@@ -99 +99 @@", 6), ("@@ -1 +1 @@", 0),
     ("@@ -6 +6 @@", 6), ("@@ -2 +2 @@", 0)],
)  # fmt: skip
def test_a_line_number_picks_the_nearest_match(tmp_path: Path, hunk: str, place: int) -> None:
    """The stated line, else the nearest one."""
    lines = [b"x\n", b"-\n", b"-\n", b"x\n", b"-\n", b"-\n", b"x\n"]
    after = patched(tmp_path, b"".join(lines), hunk, "-x", "+y")
    lines[place] = b"y\n"
    assert after == b"".join(lines)


def test_two_equally_near_matches_give_the_earlier(tmp_path: Path) -> None:
    """A hunk with a line number is never ambiguous."""
    assert patched(tmp_path, b"x\n-\nx\n", "@@ -2 +2 @@", "-x", "+y") == b"y\n-\nx\n"


def test_a_hunk_without_number_needs_one_match(tmp_path: Path) -> None:
    """Unique lines are found anywhere; repeated ones are refused with where they are."""
    assert patched(tmp_path, b"a\nb\nc\n", "@@", "-b", "+B") == b"a\nB\nc\n"
    error = refused(tmp_path, f"{HEAD}@@ @@\n-a\n+b\n", f_txt=b"a\nb\na\n")
    assert isinstance(error, HunkAmbiguous)
    assert "several times (lines 1, 3)" in error.message
    assert (error.file, error.line) == ("f.txt", 3)
    assert isinstance(refused(tmp_path, f"{HEAD}@@\n+b\n", f_txt=b"a\n"), HunkAmbiguous)


def test_one_bad_hunk_leaves_every_file_untouched(tmp_path: Path) -> None:
    """The first file's hunks are fine, the second's are not: nothing is written."""
    good = "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n"
    error = refused(tmp_path, f"{good}{HEAD}@@ -1 +1 @@\n-z\n+y\n", f_txt=b"a\n")
    assert isinstance(error, HunkMissing)
    assert "starts with 'z', line 1 of the file is 'a'" in error.message


def test_trailing_white_space_never_decides(tmp_path: Path) -> None:
    """Kept lines stay byte for byte as the file has them; empty context may lack its space."""
    before = b"one  \n\t\ntwo\t\nthree\n"
    after = patched(tmp_path, before, "@@ -1,4 +1,4 @@", " one", "", "-two   ", "+2", " three ")
    assert after == b"one  \n\t\n2\nthree\n"


def test_leading_white_space_decides(tmp_path: Path) -> None:
    """Indentation is content."""
    error = refused(tmp_path, f"{HEAD}@@ -1 +1 @@\n-x\n+y\n", f_txt=b"  x\n")
    assert isinstance(error, HunkMissing)


def test_files_with_cr_lf_keep_it(tmp_path: Path) -> None:
    """Lines added to a file of CR LF lines end in CR LF, whatever the patch had."""
    before = b"a\r\nb\r\nc\r\n"
    wanted = b"a\r\nB\r\nd\r\nc\r\n"
    assert patched(tmp_path, before, "@@ -1,3 +1,4 @@", " a", "-b", "+B", "+d", " c") == wanted
    body = ("@@ -1,3 +1,4 @@", " a\r", "-b\r", "+B\r", "+d\r", " c\r")
    assert patched(tmp_path, before, *body) == wanted


def test_a_patch_that_came_with_cr_lf_adds_plain_lines(tmp_path: Path) -> None:
    """CR on every line, headers too, belongs to the transport."""
    store = FolderStore(tmp_path)
    store.write("f.txt", b"a\n")
    apply_patch(f"{HEAD}@@ -1 +1,2 @@\n a\n+b\n".replace("\n", "\r\n"), store)
    assert store.content() == {"f.txt": b"a\nb\n"}


def test_mixed_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    """Nothing is normalised."""
    after = patched(tmp_path, b"a\r\nb\nc\r\n", "@@ -2 +2 @@", "-b", "+B")
    assert after == b"a\r\nB\nc\r\n"


NO_END = "\\ No newline at end of file"


@pytest.mark.parametrize(
    ("before", "hunk", "after"),
    [
        (b"a", ("@@ -1 +1 @@", "-a", NO_END, "+b"), b"b\n"),
        (b"a\n", ("@@ -1 +1 @@", "-a", "+b", NO_END), b"b"),
        (b"a", ("@@ -1 +1 @@", "-a", NO_END, "+b", NO_END), b"b"),
        (b"a", ("@@ -1 +1,2 @@", " a", "+b"), b"a\nb\n"),
        (b"a\nb", ("@@ -1,2 +1,2 @@", "-a", "+A", " b"), b"A\nb"),
        (b"a\nb", ("@@ -1,2 +1 @@", " a", "-b", NO_END), b"a\n"),
        (b"a\r\nb", ("@@ -2 +2,2 @@", " b", "+c"), b"a\r\nb\r\nc\r\n"),
        (b"x\na\nx", ("@@", "-x", NO_END, "+y"), b"x\na\ny\n"),
        (b"", ("@@ -0,0 +1,2 @@", "+a", "+b"), b"a\nb\n"),
        (b"", ("@@", "+a", NO_END), b"a"),
        (None, ("@@ -0,0 +1 @@", "+a", NO_END), b"a"),
        (None, ("@@", "+a", "+", "+b"), b"a\n\nb\n"),
        (None, (), b""),
        (b"a\nb\n", ("@@ -1,0 +2 @@", "+x"), b"a\nx\nb\n"),
        (b"a\nb\n", ("@@ -0,0 +1 @@", "+x"), b"x\na\nb\n"),
        (b"a\nb\n", ("@@ -2,0 +3 @@", "+x"), b"a\nb\nx\n"),
        (b"a\n-- b\n", ("@@ -1,2 +1,2 @@", " a", "--- b", "+++ b"), b"a\n++ b\n"),
        (b"a\nb\nc\n", ("@@", "-a", "", "@@", "-c", "+C", ""), b"b\nC\n"),
        (b"\xff\x00a\nb\n", ("@@ -2 +2 @@", "-b", "+é"), b"\xff\x00a\n\xc3\xa9\n"),
    ],
)  # fmt: skip
def test_ends_of_files_and_odd_places(
    tmp_path: Path, before: bytes | None, hunk: tuple[str, ...], after: bytes
) -> None:
    """Missing newlines, empty files, insertions, lines that look like headers, other bytes."""
    assert patched(tmp_path, before, *hunk) == after


def test_hunks_are_placed_in_the_original_file_in_any_order(tmp_path: Path) -> None:
    """Line numbers mean the file as it was."""
    hunks = ("@@ -3 +5 @@", "-c", "+C", "@@ -1 +1,3 @@", "-a", "+A", "+A2", "+A3")
    assert patched(tmp_path, b"a\nb\nc\n", *hunks) == b"A\nA2\nA3\nb\nC\n"


@pytest.mark.parametrize(
    "hunks",
    [
        "@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n",
        "@@ -1 +1 @@\n-a\n+A\n@@ -1 +1 @@\n-a\n+AA\n",
        "@@ -1,2 +1,2 @@\n-a\n-b\n+A\n+B\n@@ -1,0 +2 @@\n+x\n",
    ],
)
def test_overlapping_hunks_are_refused(tmp_path: Path, hunks: str) -> None:
    """Two hunks that take the same lines, or one that inserts inside another."""
    assert isinstance(refused(tmp_path, HEAD + hunks, f_txt=b"a\nb\nc\n"), HunksOverlap)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../x",
        "a/../../x",
        "b/..",
        "",
        ".",
        "d/",
        'a"b',
        "a\\b",
        "a\x01b",
        "d/" + "名" * 86,
    ],
)
def test_paths_that_lead_elsewhere_are_refused(tmp_path: Path, path: str) -> None:
    """Absolute paths, .. anywhere, quoted names, names of no file and names too long for one."""
    patch = f"--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x\n"
    assert isinstance(refused(tmp_path, patch), PathRefused)


def test_traversal_behind_the_git_prefix_is_refused(tmp_path: Path) -> None:
    """The prefix is taken off before the path is judged."""
    for path in ("../x", "/x"):
        patch = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n"
        assert isinstance(refused(tmp_path, patch), PathRefused)


def test_a_link_out_of_the_folder_is_the_stores_error(tmp_path: Path) -> None:
    """The engine passes it on and writes nothing."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    with pytest.raises(FileStoreError):
        apply_patch("--- /dev/null\n+++ b/link/x\n@@ -0,0 +1 @@\n+x\n", FolderStore(inside))
    assert not list(outside.iterdir())


GIT = "diff --git a/f.txt b/g.txt\n"


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        ("", "names no file"),
        ("\n\n", "names no file"),
        ("Here is the patch:\n" + HEAD, "no line of a unified diff"),
        ("*** Begin Patch\n*** Update File: f.txt\n", "no line of a unified diff"),
        (GIT + "similarity index 100%\nrename from f.txt\nrename to g.txt\n", "renames"),
        (GIT + "rename from f.txt\nrename to g.txt\n", "renames"),
        (GIT + "copy from f.txt\ncopy to g.txt\n", "copies"),
        ("--- a/f.txt\n+++ b/g.txt\n@@ -1 +1 @@\n-a\n+b\n", "renames nothing"),
        ("--- f.txt.orig\n+++ f.txt\n@@ -1 +1 @@\n-a\n+b\n", "renames nothing"),
        (GIT + "old mode 100644\nnew mode 100755\n", "modes"),
        (GIT + "Binary files a/f.txt and b/f.txt differ\n", "binary"),
        (GIT + "GIT binary patch\n", "binary"),
        (GIT + "new file mode 100644\nindex 0000000..e69de29\n", "no --- and +++"),
        (GIT + GIT, "no --- and +++"),
        ("--- /dev/null\n+++ /dev/null\n", "both sides"),
        ("--- a/f.txt\n", "+++ line must follow"),
        ("--- a/f.txt\n@@ -1 +1 @@\n-a\n+b\n", "+++ line must follow"),
        (HEAD, "has no hunk"),
        (HEAD + "-a\n+b\n", "has no hunk"),
        (HEAD + "@@ -1 +1 @@\n", "declares 1 old and 1 new lines, but it has 0 and 0"),
        (HEAD + "@@ -1,2 +1,2 @@\n-a\n+b\n", "declares 2 old and 2 new lines, but it has 1 and 1"),
        (HEAD + "@@ -1 +1 @@\n-a\n+b\n+c\n", "but more lines follow"),
        (HEAD + "@@ -1 +1 @@\n a\n", "changes nothing"),
        (HEAD + "@@\n", "changes nothing"),
        (HEAD + "@@ -x +y @@\n-a\n+b\n", "is no hunk header"),
        (HEAD + "@@ -1 +1 @@\n-a\n+b\n" + HEAD + "@@ -1 +1 @@\n-a\n+b\n", "comes twice"),
        (HEAD + "@@ -1 +1 @@\n-a\n+b\nThat is all.\n", "no line of a unified diff"),
        (HEAD + "@@\n\\ No newline at end of file\n-a\n", "no line comes before"),
        (HEAD + "@@\n-a\n\\ No newline at end of file\n-b\n", "only the last line"),
    ],
)  # fmt: skip
def test_what_is_no_whole_diff_of_changes_is_refused(tmp_path: Path, patch: str, says: str) -> None:
    """Prose, other formats, renames, modes, binaries, wrong counts: each has its message."""
    error = refused(tmp_path, patch, f_txt=b"a\n")
    assert isinstance(error, PatchMalformed)
    assert says in error.message


def test_a_cut_patch_with_counts_changes_nothing(tmp_path: Path) -> None:
    """A hunk is confirmed only when whole."""
    patch = f"{HEAD}@@ -1,3 +1,3 @@\n a\n-b\n+BBB\n c\n"
    for length in range(len(patch) - 1):
        refused(tmp_path, patch[:length], f_txt=b"a\nb\nc\n")


@pytest.mark.parametrize(
    ("patch", "kind", "says"),
    [
        ("--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+x\n", FileClash, "exists already"),
        ("--- a/g.txt\n+++ b/g.txt\n@@ -1 +1 @@\n-a\n+b\n", FileClash, "there is no file g.txt"),
        ("--- a/g.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", FileClash, "there is no file g.txt"),
        ("--- a/f.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", HunkMissing, "leaves lines of it"),
        ("--- a/f.txt\n+++ /dev/null\n", HunkMissing, "leaves lines of it"),
        (HEAD + "@@ -9,0 +9 @@\n+a\n", HunkMissing, "has only 2 lines"),
        ("--- /dev/null\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n", HunkMissing, "are not in n"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_files_is_refused(
    tmp_path: Path, patch: str, kind: type[PatchRefused], says: str
) -> None:
    """Files that exist or do not, deletions that leave lines, places past the end."""
    error = refused(tmp_path, patch, f_txt=b"a\nb\n")
    assert isinstance(error, kind)
    assert says in error.message


TWO = (
    "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
    "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n"
    "--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+3\n"
)


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_full_disk_half_way_is_told_and_never_a_success(tmp_path: Path, writes: int) -> None:
    """Without a write before it nothing changed; else, as undoing fails too, UNKNOWN."""
    store = FolderStore(tmp_path)
    store.write("a", b"1\n")
    store.write("b", b"1\n")
    with pytest.raises(PatchNotApplied) as caught:
        apply_patch(TWO, FolderStore(tmp_path, writes_left=writes))
    assert caught.value.outcome is (Outcome.UNKNOWN if writes else Outcome.NOT_SENT)
    assert ("may be changed: " in caught.value.message) == bool(writes)
    assert store.content()["a"] == b"1\n"


def test_a_failed_write_takes_back_the_ones_before(tmp_path: Path) -> None:
    """The last file cannot be made, its folder is a file: the first ones are restored."""
    store = FolderStore(tmp_path)
    store.write("b", b"1\n")
    store.write("d", b"file\n")
    before = store.content()
    new = "--- /dev/null\n+++ b/{}\n@@ -0,0 +1 @@\n+3\n"
    patch = "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n" + new.format("c") + new.format("e/../d/x")
    with pytest.raises(PathRefused):
        apply_patch(patch, store)
    patch = patch.replace("e/../d/x", "c/x")  # c is made a file by this very patch
    with pytest.raises(PatchNotApplied) as caught:
        apply_patch(patch, store)
    assert caught.value.outcome is Outcome.NOT_SENT
    assert store.content() == before


def test_a_large_file_of_equal_lines_is_searched_quickly(tmp_path: Path) -> None:
    """200,000 equal lines and a hunk of 5,000 of them: the stated place wins, in time."""
    size, block = 200_000, 5_000
    hunk = [f"@@ -{size - block + 1},{block} +1,{block + 1} @@", *[" x"] * block, "+end"]
    assert patched(tmp_path, b"x\n" * size, *hunk) == b"x\n" * size + b"end\n"
