"""Typing of argument texts by the schema."""

from __future__ import annotations

import pytest

from bridge.cst.values import typed

SCHEMAS = {
    "i": {"type": "integer"},
    "n": {"type": "number"},
    "b": {"type": "boolean"},
    "a": {"type": "array"},
    "o": {"type": "object"},
    "s": {"type": "string"},
    "e": {"enum": ["1", "2"]},
    "u": {"type": ["integer", "null"]},
    "v": {"type": ["integer", "string"]},
    "missing": None,
}


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("i", "7", 7),
        ("i", "-0", 0),
        ("i", "7.0", "7.0"),
        ("i", "true", "true"),
        ("i", '"7"', '"7"'),
        ("i", "07", "07"),
        ("i", "9" * 5000, "9" * 5000),
        ("n", "1.5", 1.5),
        ("n", "NaN", "NaN"),
        ("n", "Infinity", "Infinity"),
        ("n", "1e999", "1e999"),
        ("b", "true", True),
        ("b", "True", "True"),
        ("b", "1", "1"),
        ("a", "[1, 2]", [1, 2]),
        ("a", "[" * 5000, "[" * 5000),
        ("o", '{"k": 1}', {"k": 1}),
        ("o", '{"k": 1, "k": 2}', '{"k": 1, "k": 2}'),
        ("s", '"quoted"', '"quoted"'),
        ("s", "", ""),
        ("e", "1", "1"),
        ("u", "null", None),
        ("u", "5", 5),
        ("v", "5", "5"),
        ("missing", "1", "1"),
        ("i", "7\n", 7),
        ("i", "", ""),
    ],
)
def test_values_are_typed_by_strict_json_or_stay_text(key: str, text: str, value: object) -> None:
    """Each schema type by strict JSON; what does not fit stays the model's text."""
    found = typed(text, SCHEMAS[key])
    assert found == value
    assert type(found) is type(value)
