"""apply_patch and the file tools on the phone, as the model calls them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.device import Target
from bridge.tool_sets import ALL_TOOLS, open_tools
from device_tools.adb import AdbPhone
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.errors import Outcome
from device_tools.result import ToolResult
from device_tools.schema import validate
from device_tools.virtual.launcher import VirtualPhone
from device_tools.virtual.userland import phone_userland

_REASON = phone_userland.available()
pytestmark = pytest.mark.skipif(bool(_REASON), reason=_REASON or "")
SPECS = {spec.name: spec for spec in ALL_TOOLS}
Call = Callable[..., ToolResult]
ROOT = "/data/local/tmp/patched"

PATCH = """\
--- a/one.txt
+++ b/one.txt
@@ -1,2 +1,2 @@
-alpha
+ALPHA
 beta
--- /dev/null
+++ b/sub/two.txt
@@ -0,0 +1 @@
+made
--- a/three.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
"""


@pytest.fixture
def adb(shared_phone: VirtualPhone) -> AdbPhone:
    handle = shared_phone.handle
    return AdbPhone(handle.serial, AdbAddress("127.0.0.1", handle.adb_port), CancelScope())


@pytest.fixture
def call(shared_phone: VirtualPhone, adb: AdbPhone, tmp_path: Path) -> Iterator[Call]:
    handle = shared_phone.handle
    target = Target(handle.serial, AdbAddress("127.0.0.1", handle.adb_port), virtual=True)
    adb.shell(["rm", "-rf", ROOT])
    adb.shell(["mkdir", ROOT])
    with open_tools(target, CancelScope(), tmp_path, screen=False) as tools:

        def run(name: str, **arguments: Any) -> ToolResult:
            return tools.execute(validate(SPECS[name], "c1", arguments))

        yield run


def put(call: Call, **files: str) -> None:
    for name, content in files.items():
        assert call("write_file", path=f"{ROOT}/{name}.txt", content=content).ok


def test_a_patch_changes_creates_and_deletes(call: Call) -> None:
    """One call, several files."""
    put(call, one="alpha\nbeta\n", three="gone\n")
    result = call("apply_patch", patch=PATCH, root=ROOT)
    assert result.text == "changed one.txt\ncreated sub/two.txt\ndeleted three.txt"
    assert call("read_file", path=f"{ROOT}/one.txt").text == "ALPHA\nbeta\n"
    assert call("read_file", path=f"{ROOT}/sub/two.txt").text == "made\n"
    assert call("read_file", path=f"{ROOT}/three.txt").error == "file_failed"


def test_a_patch_that_does_not_fit_touches_nothing(call: Call) -> None:
    """The second file is missing: the first stays as it was."""
    put(call, one="alpha\nbeta\n")
    result = call("apply_patch", patch=PATCH, root=ROOT)
    assert (result.outcome, result.error) == (Outcome.NOT_SENT, "file_clash")
    assert call("read_file", path=f"{ROOT}/one.txt").text == "alpha\nbeta\n"
    assert call("list_directory", path=ROOT).data["total"] == 1


def test_a_write_that_fails_half_way_is_taken_back(call: Call, adb: AdbPhone) -> None:
    """The new file's directory may not be written: the file changed before is as it was."""
    put(call, one="alpha\nbeta\n", three="gone\n")
    adb.shell(["mkdir", "-m", "555", f"{ROOT}/sub"])
    result = call("apply_patch", patch=PATCH, root=ROOT)
    assert (result.outcome, result.error) == (Outcome.NOT_SENT, "patch_not_applied")
    assert call("read_file", path=f"{ROOT}/one.txt").text == "alpha\nbeta\n"
    assert call("read_file", path=f"{ROOT}/three.txt").text == "gone\n"


def test_a_patch_cannot_leave_its_directory(call: Call, adb: AdbPhone) -> None:
    """Not by ``..``, and not by a link that lies inside."""
    adb.shell(["ln", "-s", "/data/local/tmp", f"{ROOT}/out"])
    for path in ("../escaped", "out/escaped"):
        patch = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
        assert not call("apply_patch", patch=patch, root=ROOT).ok
    assert adb.shell(["ls", "/data/local/tmp/escaped"]).code != 0


def test_binary_files_travel_as_base64(call: Call) -> None:
    """What is no text is never shown as if it were."""
    data = bytes(range(256))
    path = f"{ROOT}/b.bin"
    encoded = base64.b64encode(data).decode()
    assert call("write_file", path=path, content=encoded, encoding="base64").ok
    result = call("read_file", path=path)
    assert (result.data["encoding"], result.data["content"]) == ("base64", encoded)
    assert call("read_file", path=path, encoding="text").error == "file_failed"
    assert call("write_file", path=path, content="?", encoding="base64").error == "invalid_call"


def test_text_is_never_cut_inside_a_character(call: Call) -> None:
    """Pages that follow next_offset join to the whole."""
    put(call, one="žluťoučký kůň 大漢\n" * 20)
    seen, offset, size = "", 0, 1
    while offset < size:
        page = call("read_file", path=f"{ROOT}/one.txt", offset=offset, length=17).data
        assert page["encoding"] == "text"
        seen, offset, size = seen + page["content"], page["next_offset"], page["size"]
    assert seen == "žluťoučký kůň 大漢\n" * 20


def test_a_listing_goes_on_where_it_stopped(call: Call) -> None:
    """Long directories come in pages that say how many are left."""
    put(call, **{f"n{n}": "x" for n in range(5)})
    first = call("list_directory", path=ROOT, max_entries=3)
    assert "[2 more; go on with offset 3]" in first.text
    rest = call("list_directory", path=ROOT, offset=3)
    names = [entry["name"] for entry in first.data["entries"] + rest.data["entries"]]
    assert names == [f"n{n}.txt" for n in range(5)]
