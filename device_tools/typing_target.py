"""Where typed text would go, as far as is known before it is typed.

The record of a call is written before the call runs, and the text of a password must not be in it.
So a text is stored only where the field is known and holds no secret; where nobody knows the
field, the text is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from device_tools.elements import Element
from device_tools.observation import Observation
from device_tools.result import Secrecy

TYPES = frozenset({"type_text", "clear_text", "type_secret"})
TAPS = frozenset({"tap_element", "long_press_element"})


class TypingTarget:
    """The field that has the focus; None while that is not known."""

    def __init__(self) -> None:
        self._field: Element | None = None

    def seen(self, observation: Observation) -> None:
        """A new look at the screen says which field has the focus."""
        fields = (each for each in observation.elements if _is_field(each))
        self._field = next((each for each in fields if "focused" in each.flags), None)

    def acted(self, name: str, arguments: Mapping[str, Any], turn: Observation | None) -> None:
        """A call that changes the phone ran: it may have moved the focus anywhere, but for a tap on
        a field, and for typing, behind which a secret field is not left for a plain one."""
        field = _by_index(arguments, turn) if name in TAPS | TYPES else None
        if name in TYPES:
            field = field if "index" in arguments else self._field
            field = field if field is not None and field.secret else None
        self._field = field if field is not None and _is_field(field) else None

    def secrecy(self, name: str, arguments: Mapping[str, Any], turn: Observation | None) -> Secrecy:
        """What of a call that is about to run must not be stored. ``arguments`` need not be
        valid."""
        text = arguments.get("text")
        if name not in TYPES or not isinstance(text, str):
            return Secrecy()
        field = _by_index(arguments, turn) if "index" in arguments else self._field
        if field is None:
            return Secrecy(hidden=("text",))
        return Secrecy(("text",), (text.removesuffix("\n"),)) if field.secret else Secrecy()


def _is_field(element: Element) -> bool:
    return "type" in element.actions


def _by_index(arguments: Mapping[str, Any], turn: Observation | None) -> Element | None:
    index = arguments.get("index")
    if turn is None or type(index) is not int or not 1 <= index <= len(turn.elements):
        return None
    return turn.elements[index - 1]
