"""Sources become Markdown links behind what they prove, else a list; never anything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.conversation.citations import SOURCES, with_links
from bridge.conversation.stream import Citation

URL = "https://example.org/a"
OTHER = "https://example.org/b"


def cite(text: str, part: str, url: str = URL, title: str = "A") -> Citation:
    start = text.index(part)
    return Citation(url, title, start, start + len(part))


def test_a_link_stands_behind_the_cited_words() -> None:
    """The text stays as it is, the link follows the place."""
    text = "It rains in Oslo. Take a coat."
    cited = with_links(text, [cite(text, "It rains in Oslo.")])
    assert cited == f"It rains in Oslo. ([A]({URL})) Take a coat."


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("今天奥斯陆下雨。带上外套。", "今天奥斯陆下雨。"),
        ("🌧️ in Oslo 🧥", "🌧️ in Oslo"),
        ("שלום עולם", "שלום"),
    ],
)
def test_places_count_characters_of_any_script(text: str, part: str) -> None:
    """Offsets are characters, not bytes or UTF-16 units."""
    assert with_links(text, [cite(text, part)]) == text.replace(part, f"{part} ([A]({URL}))", 1)


@pytest.mark.parametrize("drawn_as_one", ["👩‍💻", "👍🏽", "☔️", "e\u0301"])
def test_a_place_inside_one_drawn_character_moves_behind_it(drawn_as_one: str) -> None:
    """A link never splits an emoji or an accented letter."""
    cited = with_links(f"{drawn_as_one} yes", [Citation(URL, "A", 0, 1)])
    assert cited == f"{drawn_as_one} ([A]({URL})) yes"


def test_each_address_is_linked_once() -> None:
    """The same address at several places is linked at the first of them."""
    text = "One. Two. Three."
    cited = with_links(text, [cite(text, "Three."), cite(text, "One."), cite(text, "One.")])
    assert cited == f"One. ([A]({URL})) Two. Three."


def test_overlapping_places_keep_the_text_whole() -> None:
    """Places that cover each other get one link each; those at one place keep their order."""
    text = "One two three."
    citations = [
        cite(text, "One two"), cite(text, "two three", OTHER, "B"),
        cite(text, "three", "https://c.example/", "C"),
    ]  # fmt: skip
    cited = with_links(text, citations)
    assert cited == f"One two ([A]({URL})) three ([B]({OTHER})) ([C](https://c.example/))."


@pytest.mark.parametrize(
    ("start", "end"), [(None, None), (0, None), (-3, 2), (4, 2), (2, 2), (0, 99), (50, 99)]
)
def test_a_bad_place_falls_back_to_the_list(start: int | None, end: int | None) -> None:
    """What cannot be placed is named at the end, and nothing is lost."""
    cited = with_links("It rains.", [Citation(URL, "A", start, end)])
    assert cited == f"It rains.\n\n{SOURCES}\n- [A]({URL})"


def test_places_of_another_text_are_not_used() -> None:
    """With calls inside the text the offsets count other characters: list instead."""
    assert with_links("It rains.", [Citation(URL, "A", 0, 2)], placed=False).startswith(
        "It rains.\n"
    )


def test_an_address_that_the_text_links_already_stays_alone() -> None:
    """Models often write the link themselves."""
    text = f"It rains ([met]({URL}))."
    assert with_links(text, [cite(text, "It rains")]) == text


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "", "https:///x"])
def test_only_addresses_of_the_web_become_links(url: str) -> None:
    """A source that is no http(s) address is left out."""
    assert with_links("It rains.", [Citation(url, "A", 0, 2)]) == "It rains."


def test_titles_and_addresses_cannot_break_out() -> None:
    """Brackets, line breaks and parentheses of a server's strings stay inside the link."""
    cited = with_links("x", [Citation("https://e.org/(a) b\n", "[t](u)\nnew", 0, 1)])
    assert cited == "x ([\\[t\\](u) new](https://e.org/%28a%29%20b))"
    assert with_links("x", [Citation(URL, "", 0, 1)]) == f"x ([example.org]({URL}))"


@given(
    st.text(max_size=40),
    st.lists(
        st.builds(
            Citation,
            st.sampled_from([URL, OTHER, "ftp://x", ""]),
            st.text(max_size=8),
            st.none() | st.integers(-5, 60),
            st.none() | st.integers(-5, 60),
        ),
        max_size=6,
    ),
)
def test_no_character_of_the_text_is_lost(text: str, citations: list[Citation]) -> None:
    """Whatever the server says, the text remains as a subsequence and addresses stay single."""
    cited = with_links(text, citations)
    rest = iter(cited)
    assert all(character in rest for character in text.rstrip())
    assert cited.count(f"]({URL})") <= 1
