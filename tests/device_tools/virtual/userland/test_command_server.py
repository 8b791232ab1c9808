from __future__ import annotations

import pytest

from device_tools.virtual.userland.command_server import parse_request


def test_arguments_and_stdin_are_split_by_the_count() -> None:
    """NULs in stdin do not end it; an empty argument is one."""
    assert parse_request(b"3\0pm\0\0-S\0a\0b\0") == (["pm", "", "-S"], b"a\0b\0")


@pytest.mark.parametrize("request_", [b"", b"x\0a\0", b"0\0", b"2\0a\0", b"99999999\0a\0"])
def test_a_malformed_request_has_no_argv(request_: bytes) -> None:
    """A count that is missing, wrong or unreasonable is refused."""
    assert parse_request(request_) == ([], b"")
