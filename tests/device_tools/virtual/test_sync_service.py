"""The sync loop over a real socket pair, and the files client on top of it."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from device_tools.virtual.files import DirectoryFiles, make_tree
from device_tools.virtual.socket_files import SocketFiles
from device_tools.virtual.sync_service import serve_sync


@pytest.fixture
def directory(tmp_path: Path) -> DirectoryFiles:
    return make_tree(tmp_path / "root")


@pytest.fixture
def sync(directory: DirectoryFiles) -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=serve_sync, args=(theirs, directory.tree))
    thread.start()
    ours.settimeout(5)
    yield ours
    ours.close()
    thread.join(5)
    assert not thread.is_alive()


@pytest.fixture
def files(sync: socket.socket) -> Iterator[SocketFiles]:
    files = SocketFiles(sync)
    yield files
    files.close()


def _ask(ident: bytes, path: bytes) -> bytes:
    return ident + struct.pack("<I", len(path)) + path


def test_files_are_written_read_listed_and_removed(files: SocketFiles) -> None:
    """The whole Files interface works over the socket."""
    data = os.urandom(200_000)
    files.write(b"/sdcard/new/a", data)
    assert files.read(b"/sdcard/new/a") == data
    assert files.stat(b"/storage/emulated/0/new/a").size == len(data)
    files.mkdir(b"/sdcard/new/sub")
    assert files.list(b"/sdcard/new") == [b"a", b"sub"]
    files.remove(b"/sdcard/new/a")
    files.remove(b"/sdcard/new/sub")
    assert files.list(b"/sdcard/new") == []


def test_errors_keep_their_number_and_the_connection(files: SocketFiles) -> None:
    """A refused call raises the system's error, and the next call still works."""
    with pytest.raises(FileNotFoundError):
        files.read(b"/sdcard/missing")
    with pytest.raises(PermissionError):
        files.write(b"/system/x", b"1")
    with pytest.raises(FileNotFoundError):
        files.remove(b"/sdcard/missing")
    files.write(b"/sdcard/x", b"1")
    assert files.read(b"/sdcard/x") == b"1"


def test_lstat_and_stat_differ_on_a_link(sync: socket.socket) -> None:
    """LST2 tells of the link, STA2 of the folder behind it."""
    sync.sendall(_ask(b"LST2", b"/sdcard") + _ask(b"STA2", b"/sdcard"))
    answer = sync.makefile("rb").read(144)
    modes = [struct.unpack_from("<I", answer, offset + 24)[0] & 0o170000 for offset in (0, 72)]
    assert modes == [0o120000, 0o040000]


def test_a_trailing_slash_is_a_directory(sync: socket.socket) -> None:
    """SEND to a path with a trailing slash fails as it does on a phone, and swallows the data."""
    data = b"DATA" + struct.pack("<I", 3) + b"abc" + b"DONE" + struct.pack("<I", 0)
    sync.sendall(_ask(b"SEND", b"/sdcard/dir/,33188") + data)
    assert b"couldn't create file: " in sync.recv(200)


def test_a_long_path_and_an_unknown_request_end_it(sync: socket.socket) -> None:
    """What breaks the protocol is answered with FAIL and hung up on."""
    sync.sendall(b"STAT" + struct.pack("<I", 5000))
    file = sync.makefile("rb")
    assert file.read().startswith(b"FAIL")


@pytest.mark.parametrize("path", [b"/../../etc/passwd", b"/sdcard/../../../../etc/passwd"])
def test_dots_do_not_leave_the_root(directory: DirectoryFiles, path: bytes) -> None:
    """``..`` stops at the phone's root."""
    located = directory.tree.locate(path, follow=True)
    assert located.startswith(directory.tree.root + b"/")


def test_a_loop_of_links_is_an_error(directory: DirectoryFiles) -> None:
    """Links that lead in a circle end with ELOOP."""
    loop = os.path.join(directory.tree.root, b"storage/emulated/0/loop")
    os.symlink(b"/sdcard/loop", loop)
    with pytest.raises(OSError, match="symbolic links"):
        directory.read(b"/sdcard/loop")


def test_a_zero_byte_in_a_path_is_refused_and_the_connection_lives(files: SocketFiles) -> None:
    """No path of a file system holds a zero byte; the next request is served."""
    for ask in (files.stat, files.read, files.list, files.mkdir, files.remove):
        with pytest.raises(OSError, match="Invalid argument"):
            ask(b"/sdcard/a\0b")
    with pytest.raises(OSError, match="Invalid argument"):
        files.write(b"/sdcard/a\0b", b"x")
    assert files.list(b"/sdcard") == []
