"""Files of the phone, through real shells: mksh as user, BusyBox ash as root."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from alpine.errors import FileFailed
from alpine.files import PhoneFiles
from alpine.identity import USER
from alpine.root import find_root
from device_tools.adb import AdbPhone
from tests.alpine.test_root import rooted


@pytest.fixture
def folder(phone: AdbPhone) -> Iterator[str]:
    path = f"/data/local/tmp/files-{secrets.token_hex(4)}"
    assert phone.shell(["mkdir", path]).code == 0
    yield path
    phone.shell(["rm", "-rf", path])


@pytest.fixture
def files(phone: AdbPhone) -> PhoneFiles:
    return PhoneFiles(phone, USER)


def content(files: PhoneFiles, path: str) -> bytes:
    part = files.read(path, 0, 10**6)
    assert part is not None
    return part.data


def test_any_bytes_come_back_as_they_were_written(files: PhoneFiles, folder: str) -> None:
    """Every byte value, names with quotes and newlines, empty files, and more than one packet."""
    for name, data in {
        "all": bytes(range(256)) * 300,
        "empty": b"",
        "a 'b' $c\n-d": b"x",
        "-rf": b"y",
        "大": b"z",
    }.items():
        files.write(f"{folder}/{name}", data)
        assert content(files, f"{folder}/{name}") == data
    assert files.read(f"{folder}/none", 0, 10) is None


def test_a_part_is_read_by_offset_and_length(files: PhoneFiles, folder: str) -> None:
    """In bytes; behind the end there is nothing."""
    files.write(f"{folder}/f", b"0123456789")
    part = files.read(f"{folder}/f", 3, 4)
    assert part is not None and (part.data, part.size, part.offset) == (b"3456", 10, 3)
    beyond = files.read(f"{folder}/f", 50, 4)
    assert beyond is not None and beyond.data == b""


def test_mode_is_kept_and_links_are_followed(
    phone: AdbPhone, files: PhoneFiles, folder: str
) -> None:
    """The file behind a link is replaced, the link stays."""
    files.write(f"{folder}/f", b"old")
    phone.shell(["chmod", "751", f"{folder}/f"])
    phone.shell(["ln", "-s", "f", f"{folder}/link"])
    files.write(f"{folder}/link", b"new")
    part = files.read(f"{folder}/f", 0, 10)
    assert part is not None and (part.data, part.mode) == (b"new", "751")
    assert phone.shell(["readlink", f"{folder}/link"]).text == "f\n"


def test_append_adds_and_makes_directories(files: PhoneFiles, folder: str) -> None:
    """Also to a file that is not there yet, in a folder that is not there yet."""
    for piece in (b"one", b"two"):
        files.write(f"{folder}/new/deep/f", piece, append=True)
    assert content(files, f"{folder}/new/deep/f") == b"onetwo"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    phone: AdbPhone, files: PhoneFiles, folder: str
) -> None:
    """A directory that may not be written: the file is as it was, no temporary file stays."""
    files.write(f"{folder}/d/f", b"old")
    phone.shell(["chmod", "555", f"{folder}/d"])
    with pytest.raises(FileFailed, match="permission denied"):
        files.write(f"{folder}/d/f", b"new")
    phone.shell(["chmod", "755", f"{folder}/d"])
    assert content(files, f"{folder}/d/f") == b"old"
    assert phone.shell(["ls", "-A", f"{folder}/d"]).text == "f\n"
    with pytest.raises(FileFailed, match="another kind"):
        files.write(f"{folder}/d", b"new")


def test_a_directory_is_listed_with_types_and_sizes(
    phone: AdbPhone, files: PhoneFiles, folder: str
) -> None:
    """Hidden entries, links, and names with a newline too."""
    files.write(f"{folder}/b", b"12345")
    files.write(f"{folder}/.h", b"")
    files.write(f"{folder}/x\ny", b"1")
    phone.shell(["ln", "-s", "b", f"{folder}/l"])
    phone.shell(["mkdir", f"{folder}/d"])
    entries, errors = files.list(folder)
    assert errors == ""
    assert [(e.name, e.kind) for e in entries] == [
        (".h", "file"), ("b", "file"), ("d", "directory"), ("l", "link"), ("x\ny", "file"),
    ]  # fmt: skip
    assert (entries[1].size, entries[1].uid) == (5, 2000)
    assert files.list(f"{folder}/d")[0] == ()
    with pytest.raises(FileFailed, match="no such"):
        files.list(f"{folder}/none")
    with pytest.raises(FileFailed, match="another kind"):
        files.list(f"{folder}/b")


def test_a_link_cannot_lead_out_of_the_base(phone: AdbPhone, folder: str) -> None:
    """Neither for reading nor for writing, nor through a directory."""
    phone.shell(["ln", "-s", "/data/local/tmp", f"{folder}/out"])
    inside = PhoneFiles(phone, USER, folder)
    for attempt in (
        lambda: inside.read(f"{folder}/out/x", 0, 1),
        lambda: inside.write(f"{folder}/out/x", b"x"),
        lambda: inside.write(f"{folder}/out/new/x", b"x"),
        lambda: inside.delete(f"{folder}/out/x"),
        lambda: inside.read(f"{folder}/../x", 0, 1),
    ):
        with pytest.raises(FileFailed, match="leads out"):
            attempt()
    inside.write(f"{folder}/in", b"x")
    assert content(inside, f"{folder}/in") == b"x"


def test_kernel_files_are_read_although_they_have_no_size(files: PhoneFiles) -> None:
    """A file of /proc says that it has 0 bytes."""
    assert b"Linux" in content(files, "/proc/version")


def test_root_reaches_what_the_user_may_not(tmp_path: Path) -> None:
    """Owner and mode of a root file stay; data does not travel through su's standard input."""
    with rooted(tmp_path, "magisk") as phone:
        form = find_root(phone).form
        as_root, as_user = PhoneFiles(phone, form), PhoneFiles(phone, USER)
        as_root.write("/data/adb/secret", b"\0old")
        for command in (["chmod", "640"], ["chown", "1000:3003"]):
            line = form.line([*command, "/data/adb/secret"])
            assert phone.shell(["sh", "-c", line]).code == 0
        as_root.write("/data/adb/secret", b"\xffnew")
        part = as_root.read("/data/adb/secret", 0, 10)
        assert part is not None
        assert (part.data, part.mode, part.uid, part.gid) == (b"\xffnew", "640", 1000, 3003)
        assert [e.name for e in as_root.list("/data/adb")[0] if e.kind == "file"] == ["secret"]
        with pytest.raises(FileFailed):
            as_user.list("/data/adb")
        left = phone.shell(["ls", "-A", "/data/local/tmp"]).text
        assert ".bridge" not in left
        as_root.delete("/data/adb/secret")
        assert as_root.read("/data/adb/secret", 0, 10) is None
