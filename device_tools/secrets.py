"""Secrets that are typed without the model seeing them, and kept off what it is shown later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from device_tools.hierarchy import Bounds, Hierarchy, Node

SecretSource = Callable[[str], str | None]
"""From the name of a secret to its value; None when there is none of that name."""


def no_secrets(_name: str) -> str | None:
    """Nobody gave any secrets."""
    return None


@dataclass
class KnownSecrets:
    """Values typed in this run, with their names. They stay in memory."""

    _names: dict[str, str] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return bool(self._names)

    def add(self, name: str, value: str) -> None:
        self._names[value] = name

    def without(self, text: str) -> str:
        """``text`` with each value replaced by the name of the secret."""
        for value, name in self._names.items():
            if value in text:
                text = text.replace(value, f"[secret {name}]")
        return text

    def in_tree(self, hierarchy: Hierarchy) -> tuple[Hierarchy, list[Bounds]]:
        """The tree without the values, and where on the screen they are shown."""
        if not self._names:
            return hierarchy, []
        places: list[Bounds] = []
        windows = tuple(self._cleaned(window, places) for window in hierarchy.windows)
        return (replace(hierarchy, windows=windows), places) if places else (hierarchy, [])

    def _cleaned(self, node: Node, places: list[Bounds]) -> Node:
        text, description = self.without(node.text), self.without(node.description)
        if (text, description) != (node.text, node.description):
            places.append(node.bounds)
        children = []
        for child in node.children:
            children.append(self._cleaned(child, places))
        return replace(node, text=text, description=description, children=tuple(children))
