"""The phone's file tree: paths of the phone to paths of the process that serves them.

``Tree(b"/")`` is for a process that already lives inside the phone's root: the kernel resolves.
Any other root is a folder of the host: every component is resolved by hand so that no symbolic
link and no ``..`` leads out of it, and only the places a shell user may write are writable.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from device_tools.virtual.ports import FileStat

MAX_LINKS = 40
_WRITABLE = (b"/data/local/tmp", b"/storage/emulated/0")
_LAYOUT = ("data/local/tmp", "storage/self", "storage/emulated/0", "system/bin", "system/etc")
_LINKS = (("sdcard", "/storage/self/primary"), ("storage/self/primary", "/storage/emulated/0"))


class Tree:
    """Resolves the phone's paths below ``root``."""

    def __init__(self, root: bytes) -> None:
        self.root = root.rstrip(b"/")

    def locate(self, path: bytes, *, follow: bool, writing: bool = False) -> bytes:
        """The path to use in system calls. ``follow`` resolves a link in the last component; a
        trailing slash stays. Raises OSError (ELOOP, EACCES, ENOTDIR, EINVAL)."""
        if b"\0" in path:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if not self.root:
            return path if path.startswith(b"/") else b"/" + path
        inside = self._resolve(path, follow or path.endswith(b"/"))
        if writing and not inside.startswith(tuple(place + b"/" for place in _WRITABLE)):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return self.root + inside + (b"/" if path.endswith(b"/") else b"")

    def holds(self, fd: int) -> bool:
        """Whether an opened file belongs to the phone. Inside its root the kernel resolves, and
        ``/proc/self`` is the serving process: its program is a file of the host, its memory map
        names more of them."""
        if self.root:
            return True
        if os.readlink(f"/proc/self/fd/{fd}").startswith(f"/proc/{os.getpid()}/"):
            return False
        device = os.fstat(fd).st_dev
        number = b"%d:%d" % (os.major(device), os.minor(device))
        with open("/proc/self/mountinfo", "rb") as mounts:
            return any(line.split()[2] == number for line in mounts)

    def _resolve(self, path: bytes, follow: bool) -> bytes:
        todo = [part for part in path.split(b"/") if part not in (b"", b".")]
        done: list[bytes] = []
        links = 0
        while todo:
            part = todo.pop(0)
            if part == b"..":
                done = done[:-1]
                continue
            here = b"/".join([self.root, *done, part])
            if not (todo or follow) or not os.path.islink(here):
                done.append(part)
                continue
            links += 1
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = os.readlink(here)
            done = [] if target.startswith(b"/") else done
            todo = [piece for piece in target.split(b"/") if piece not in (b"", b".")] + todo
        return b"/" + b"/".join(done)


class DirectoryFiles:
    """``Files`` on a folder of the host, used where the phone has no namespaces of its own."""

    def __init__(self, root: Path) -> None:
        self.tree = Tree(os.fsencode(root.resolve()))

    def read(self, path: bytes) -> bytes:
        with open(self.tree.locate(path, follow=True), "rb") as file:
            return file.read()

    def write(self, path: bytes, data: bytes, mode: int = 0o644) -> None:
        target = self.tree.locate(path, follow=True, writing=True)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)
        os.chmod(target, mode)

    def remove(self, path: bytes) -> None:
        target = self.tree.locate(path, follow=False, writing=True)
        if stat.S_ISDIR(os.lstat(target).st_mode):
            os.rmdir(target)
        else:
            os.unlink(target)

    def stat(self, path: bytes) -> FileStat:
        found = os.stat(self.tree.locate(path, follow=True))
        return FileStat(found.st_mode, found.st_size, int(found.st_mtime))

    def list(self, path: bytes) -> Sequence[bytes]:
        return sorted(os.listdir(self.tree.locate(path, follow=True)))

    def mkdir(self, path: bytes) -> None:
        os.mkdir(self.tree.locate(path, follow=False, writing=True), 0o775)


def make_tree(root: Path) -> DirectoryFiles:
    """Lay out the folders every phone has below ``root`` (made if missing) and serve them."""
    for folder in _LAYOUT:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name, target in _LINKS:
        link = root / name
        if not link.is_symlink():
            link.symlink_to(target)
    return DirectoryFiles(root)
