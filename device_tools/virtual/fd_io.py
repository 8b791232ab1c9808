"""Reading and writing non-blocking descriptors from asyncio, only when asked to.

A reader is registered for one read and removed again: a slow host then stops the child.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable

READ_BYTES = 64 * 1024


async def read_fd(fd: int) -> bytes:
    """What is there, at most ``READ_BYTES``; ``b""`` at the end (EIO is a PTY's end)."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            return os.read(fd, READ_BYTES)
        except BlockingIOError:
            await _ready(fd, loop.add_reader, loop.remove_reader)
        except OSError as error:
            if error.errno in (errno.EIO, errno.ECONNRESET, errno.EBADF):
                return b""
            raise


async def write_fd(fd: int, data: bytes) -> None:
    """Write all of it. Raises ConnectionError when nobody reads any more."""
    loop = asyncio.get_running_loop()
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            await _ready(fd, loop.add_writer, loop.remove_writer)
        except OSError as error:
            if error.errno in (errno.EIO, errno.EBADF):
                raise BrokenPipeError(error.errno, error.strerror) from error
            raise


def shutdown_write(fd: int) -> None:
    """End the input of whoever holds the other end of this socket."""
    try:
        with socket.socket(fileno=os.dup(fd)) as sock:
            sock.shutdown(socket.SHUT_WR)
    except OSError:
        # already gone: there is nobody left to tell
        return


async def _ready(fd: int, add: Callable[..., object], remove: Callable[[int], object]) -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    add(fd, _wake, future)
    try:
        await future
    finally:
        remove(fd)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
