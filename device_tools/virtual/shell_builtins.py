"""The few file and shell commands that the clients issue themselves, answered without a shell."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence

from device_tools.virtual.ports import CommandResult, Files

_SHELL_ID = (
    b"uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log),1011(adb),"
    b"1015(sdcard_rw),1028(sdcard_r),3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats)"
    b" context=u:r:shell:s0\n"
)

Builtin = Callable[[Sequence[str], Files], CommandResult]


def find_builtin(argv: Sequence[str], *, have_shell: bool) -> Builtin | None:
    """What answers ``argv`` here. With a real shell only what means exactly the same there."""
    name = _name(argv)
    if name == "echo" and any("\\" in word or word.startswith("-") for word in argv[1:]):
        return None
    return _ALWAYS.get(name) or (None if have_shell else _WITHOUT_SHELL.get(name))


def _name(argv: Sequence[str]) -> str:
    if argv[0] == "toybox" and len(argv) > 1:
        return argv[1]
    return argv[0]


def _args(argv: Sequence[str]) -> list[str]:
    return list(argv[2:] if argv[0] == "toybox" else argv[1:])


def _true(argv: Sequence[str], files: Files) -> CommandResult:
    return CommandResult()


def _false(argv: Sequence[str], files: Files) -> CommandResult:
    return CommandResult(code=1)


def _echo(argv: Sequence[str], files: Files) -> CommandResult:
    return CommandResult(os.fsencode(" ".join(_args(argv))) + b"\n")


def _md5sum(argv: Sequence[str], files: Files) -> CommandResult:
    def line(path: str) -> bytes:
        digest = hashlib.md5(files.read(os.fsencode(path)), usedforsecurity=False).hexdigest()
        return f"{digest}  {path}\n".encode()

    return _each(argv, "md5sum", line)


def _cat(argv: Sequence[str], files: Files) -> CommandResult:
    return _each(argv, "cat", lambda path: files.read(os.fsencode(path)))


def _mkdir(argv: Sequence[str], files: Files) -> CommandResult:
    def make(path: str) -> bytes:
        files.mkdir(os.fsencode(path))
        return b""

    return _each(argv, "mkdir", make)


def _ls(argv: Sequence[str], files: Files) -> CommandResult:
    def names(path: str) -> bytes:
        return b"".join(name + b"\n" for name in files.list(os.fsencode(path)))

    return _each(argv, "ls", names)


def _rm(argv: Sequence[str], files: Files) -> CommandResult:
    flags = "".join(word[1:] for word in _args(argv) if word.startswith("-"))

    def remove(path: str) -> bytes:
        try:
            _remove(files, os.fsencode(path), "r" in flags or "R" in flags)
        except FileNotFoundError:
            if "f" not in flags:
                raise
        return b""

    return _each(argv, "rm", remove)


def _remove(files: Files, path: bytes, recursive: bool) -> None:
    try:
        names = files.list(path) if recursive else []
    except NotADirectoryError:
        names = []
    for name in names:
        _remove(files, path.rstrip(b"/") + b"/" + name, True)
    files.remove(path)


def _each(argv: Sequence[str], name: str, work: Callable[[str], bytes]) -> CommandResult:
    out, err = b"", b""
    for path in (word for word in _args(argv) if not word.startswith("-")):
        try:
            out += work(path if path.startswith("/") else "/" + path)
        except OSError as error:
            err += f"{name}: {path}: {error.strerror}\n".encode()
    return CommandResult(out, err, 1 if err else 0)


_ALWAYS: dict[str, Builtin] = {
    "true": _true,
    "export": _true,
    "false": _false,
    "echo": _echo,
    "md5sum": _md5sum,
    "md5": _md5sum,
    "rm": _rm,
}
_WITHOUT_SHELL: dict[str, Builtin] = {
    "cat": _cat,
    "mkdir": _mkdir,
    "ls": _ls,
    "id": lambda argv, files: CommandResult(_SHELL_ID),
    "whoami": lambda argv, files: CommandResult(b"shell\n"),
}
