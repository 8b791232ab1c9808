"""Hierarchy dumps, whole and broken, as phones really send them."""

from __future__ import annotations

import pytest

from device_tools.errors import ScreenUnreadable
from device_tools.hierarchy import Bounds, parse_hierarchy
from tests.shared_data import shared_data

NODE = '<node index="0" text="{}" class="android.widget.TextView" bounds="[0,10][100,60]" />'


def dump(*nodes: str) -> str:
    head = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    return f'{head}<hierarchy rotation="1">{"".join(nodes)}</hierarchy>'


def test_every_dump_of_the_collection_is_a_tree_or_a_named_reason() -> None:
    """No file of real and derived dumps gives anything but windows or ScreenUnreadable."""
    reasons = {}
    files = sorted(shared_data("phone/xml").iterdir())
    for file in files:
        try:
            assert parse_hierarchy(file.read_bytes()).windows
        except ScreenUnreadable as error:
            reasons[file.name[:3]] = error.message
    assert len(files) > 100
    assert reasons == {
        "108": "the phone returned an empty hierarchy",
        "109": "the hierarchy dump is truncated",
    }


def test_attributes_and_rotation_are_read() -> None:
    """A node carries its text, class and bounds; the dump its rotation."""
    hierarchy = parse_hierarchy(dump(NODE.format("a &amp; b")))
    (node,) = hierarchy.windows
    assert hierarchy.rotation == 1
    assert (node.text, node.bounds) == ("a & b", Bounds(0, 10, 100, 60))


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_other_encodings_are_read(codec: str) -> None:
    """UTF-16 with and without a mark, and UTF-8 with a mark, give the same text."""
    assert parse_hierarchy(dump(NODE.format("设置")).encode(codec)).windows[0].text == "设置"


def test_surrogate_references_become_one_character() -> None:
    """Two UTF-16 halves written as references are the character they stand for."""
    assert parse_hierarchy(dump(NODE.format("&#55357;&#56832;&#1;"))).windows[0].text == "😀 "


def test_lines_around_and_several_documents_are_accepted() -> None:
    """Status lines around the document and a second document glued to it do no harm."""
    text = "[Manager] found\n" + dump(NODE.format("a")) + dump(NODE.format("b")) + "dumped to: x"
    assert [node.text for node in parse_hierarchy(text).windows] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no hierarchy"),
        ("ERROR: could not get idle state.", "could not get idle state"),
        ('<hierarchy rotation="0" />', "empty"),
        (dump(NODE.format("a"))[:-20], "truncated"),
        (dump('<node text="a>'), "not well-formed"),
        ('<!DOCTYPE a [<!ENTITY b "c">]>' + dump(NODE.format("&b;")), "document type"),
        (dump("<node>" * 600 + "</node>" * 600), "deeper than"),
    ],
)
def test_unusable_dumps_are_refused_with_a_reason(text: str, reason: str) -> None:
    """Empty, failed, truncated, broken, hostile and bottomless dumps name what is wrong."""
    with pytest.raises(ScreenUnreadable, match=reason):
        parse_hierarchy(text.encode())
