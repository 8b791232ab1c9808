"""apply_patch on files of the phone: the engine of ``bridge.cst.patch`` over ``alpine.files``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from alpine.errors import FileFailed
from alpine.file_tools import files_of
from alpine.files import PhoneFiles
from alpine.terminal import Terminal
from bridge.cst.patch import Change, apply_patch
from bridge.errors import FileStoreError
from device_tools.errors import DeviceError
from device_tools.result import ToolResult, done

MAX_PATCHED = 1_000_000
"""Bytes of a file that a patch may change."""


def patch_files(terminal: Terminal, arguments: Mapping[str, Any]) -> ToolResult:
    """Apply ``arguments["patch"]`` below ``arguments["root"]``, wholly or not at all.

    Raises:
        PatchRefused, FileStoreError, PatchNotApplied: see ``bridge.cst.patch.apply_patch``.
        DeviceError, Cancelled
    """
    root: str = arguments["root"].rstrip("/") or "/"
    store = PhoneStore(files_of(terminal, arguments, root), root)
    changes = apply_patch(arguments["patch"], store)
    lines = [f"{_verb(change)} {change.path}" for change in changes]
    return done("\n".join(lines), files=[change.path for change in changes])


class PhoneStore:
    """``bridge.cst.patch.FileStore`` below one directory of the phone."""

    def __init__(self, files: PhoneFiles, root: str) -> None:
        self._files = files
        self._root = root.rstrip("/")

    def read(self, path: str) -> bytes | None:
        with _store_errors(path):
            part = self._files.read(self._place(path), 0, MAX_PATCHED + 1)
        if part is not None and len(part.data) > MAX_PATCHED:
            raise FileStoreError(
                f"{path} has more than {MAX_PATCHED} bytes", advice="change it with a command"
            )
        return None if part is None else part.data

    def write(self, path: str, data: bytes) -> None:
        with _store_errors(path):
            self._files.write(self._place(path), data)

    def delete(self, path: str) -> None:
        with _store_errors(path):
            self._files.delete(self._place(path))

    def _place(self, path: str) -> str:
        return f"{self._root}/{path}"


@contextmanager
def _store_errors(path: str) -> Iterator[None]:
    try:
        yield
    except DeviceError as error:
        what = error.message if isinstance(error, FileFailed) else f"{path}: {error.message}"
        raise FileStoreError(what, advice=error.advice, outcome=error.outcome) from error


def _verb(change: Change) -> str:
    if change.before is None:
        return "created"
    return "deleted" if change.after is None else "changed"
