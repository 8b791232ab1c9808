"""A FileStore over a folder of this machine, with a switch to run out of space."""

from __future__ import annotations

from pathlib import Path

from bridge.errors import FileStoreError


class FolderStore:
    """``writes_left``: how many changes succeed before the disk is full; None is no bound."""

    def __init__(self, root: Path, writes_left: int | None = None) -> None:
        self.root = root
        self.writes_left = writes_left

    def read(self, path: str) -> bytes | None:
        try:
            return self._inside(path).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileStoreError(f"{path}: {error.strerror}") from error

    def write(self, path: str, data: bytes) -> None:
        self._spend(path)
        target = self._inside(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            fresh = target.with_name(".new")
            fresh.write_bytes(data)
            fresh.replace(target)
        except OSError as error:
            raise FileStoreError(f"{path}: {error.strerror}") from error

    def delete(self, path: str) -> None:
        self._spend(path)
        self._inside(path).unlink()

    def content(self) -> dict[str, bytes]:
        """Every file of the folder by its path."""
        found = (path for path in sorted(self.root.rglob("*")) if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}

    def _spend(self, path: str) -> None:
        if self.writes_left == 0:
            raise FileStoreError(f"{path}: no space left", advice="free some space")
        if self.writes_left is not None:
            self.writes_left -= 1

    def _inside(self, path: str) -> Path:
        target = (self.root / path).resolve()
        if not target.is_relative_to(self.root.resolve()):
            raise FileStoreError(f"{path} leads out of the folder")
        return target
