from __future__ import annotations

import pytest

from bridge.errors import ConfigurationError
from bridge.providers.extra import RESERVED, with_extra
from bridge.providers.wire import RequestOptions

BODY = {"model": "m", "stream_options": {"include_usage": True}, "max_tokens": 5}


def test_extra_is_laid_over_the_body_table_by_table() -> None:
    """Tables are merged, anything else is replaced, and the given values are not changed."""
    extra = {"max_tokens": 9, "stream_options": {"x": 1}, "seed": 3}
    whole = with_extra(BODY, RequestOptions("m", extra=extra), ())
    assert whole == {
        "model": "m",
        "stream_options": {"include_usage": True, "x": 1},
        "max_tokens": 9,
        "seed": 3,
    }
    assert BODY["max_tokens"] == 5
    assert extra["stream_options"] == {"x": 1}


def test_thinking_off_removes_what_the_wire_calls_thinking() -> None:
    """Dotted fields lie deeper; a table that becomes empty goes too; with an effort all stay."""
    extra = {"effort": "high", "kwargs": {"think": True, "other": 1}, "deep": {"er": {"think": 1}}}
    keys = {"effort", "kwargs.think", "deep.er.think", "missing.think"}
    off = with_extra(BODY, RequestOptions("m", thinking="off", extra=extra), keys)
    assert {k: v for k, v in off.items() if k not in BODY} == {"kwargs": {"other": 1}}
    low = with_extra(BODY, RequestOptions("m", thinking="low", extra=extra), keys)
    assert {k: v for k, v in low.items() if k not in BODY} == extra
    assert extra["kwargs"] == {"think": True, "other": 1}


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_what_the_runtime_decides_cannot_be_overridden(name: str) -> None:
    """A reserved field is refused with its name."""
    with pytest.raises(ConfigurationError, match=name):
        with_extra(BODY, RequestOptions("m", extra={name: 1}), ())
