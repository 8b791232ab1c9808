"""What the calls of one phone share: which screen they refer to, and what a number or point on
it means on the screen as it is now.

Indexes and screenshot coordinates refer to the observation that the model had seen when it
began to answer (``begin_turn``), never to a newer one of the same reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

from device_tools.adb import AdbPhone
from device_tools.elements import Element
from device_tools.errors import StaleScreen, UiServerError
from device_tools.focus import FocusReader
from device_tools.freshness import (
    element_by_index,
    relocate,
    require_inside,
    require_same_screen,
)
from device_tools.observation import Observation, Tree
from device_tools.observer import Observer
from device_tools.pictures import DEFAULT_RULE, PictureRule
from device_tools.secrets import KnownSecrets, SecretSource, no_secrets
from device_tools.ui_server import UiServer

Space = Literal["screenshot", "screen"]


class ScreenSession:
    """``latest`` is the newest look; ``tree`` the newest view tree known, which may be newer."""

    def __init__(
        self,
        phone: AdbPhone,
        ui: UiServer,
        *,
        default_space: Space = "screenshot",
        rule: PictureRule = DEFAULT_RULE,
        secrets: SecretSource = no_secrets,
    ) -> None:
        self.phone = phone
        self.ui = ui
        self.focus = FocusReader(phone)
        self.secrets = secrets
        self.hidden = KnownSecrets()
        self.observer = Observer(ui, self.focus, rule=rule, hidden=self.hidden)
        self.latest: Observation | None = None
        self.tree: Tree | None = None
        self._default_space: Space = default_space
        self._turn: Observation | None = None
        self._in_turn = False

    def begin_turn(self) -> None:
        """The model is about to answer what it has seen so far."""
        self._turn, self._in_turn = self.latest, True

    def observe(self, *, screenshot: bool = True, numbers: bool = False) -> Observation:
        """Look at the screen; the newest observation is what the next turn refers to."""
        self.latest = self.observer.observe(screenshot=screenshot, numbers=numbers)
        self.tree = self.latest.tree
        return self.latest

    def look(self) -> Tree:
        """The tree now, without a picture."""
        self.tree = self.observer.tree()
        return self.tree

    def points(self, arguments: Mapping[str, Any], *names: str) -> list[tuple[int, int]]:
        """Device pixels of the named coordinates, checked against screen and freshness.

        A name is the two letters and a number: "xy2" reads the arguments x2 and y2.

        Raises:
            InvalidCall: outside the screen.
            StaleScreen: another window, activity or rotation than in the observation.
        """
        space: Space = arguments.get("coordinate_space", self._default_space)
        asks = self._in_turn or self.latest or space == "screenshot"
        observation = self._reference() if asks else None
        size = _space_size(observation, space) if observation else self.observer.size()
        points = []
        for name in names:
            key_x, key_y = name[0] + name[2:], name[1] + name[2:]
            x, y = arguments[key_x], arguments[key_y]
            require_inside(x, y, size, space, name)
            to_screen = observation is not None and space == "screenshot"
            points.append(observation.to_screen(x, y) if observation and to_screen else (x, y))
        if observation is not None:
            self._require_unchanged(observation)
        return points

    def found(self, index: int) -> tuple[Element, Tree]:
        """The element as it is on the screen now, and the tree it was found in.

        Raises:
            InvalidCall: no such number.
            StaleScreen: another screen, or the element is gone or cannot be told from others.
        """
        observation = self._reference()
        element = element_by_index(observation, index)
        with ThreadPoolExecutor(1) as pool:
            focus = pool.submit(self.focus.read)
            tree = self.look()
        require_same_screen(observation, focus.result(), tree.rotation)
        return relocate(element, tree.elements, observation.size), tree

    @property
    def referred(self) -> Observation | None:
        """The observation that numbers refer to now, None before the first."""
        return self._turn if self._in_turn else self.latest

    def _reference(self) -> Observation:
        """What this turn refers to. Outside of turns: the newest look, a first one where none is.

        Raises:
            StaleScreen: the model names something on a screen it was never shown.
        """
        if not self._in_turn:
            return self.latest or self.observe()
        if self._turn is None:
            raise StaleScreen(
                "you have not seen the screen yet", advice="call observe_screen and wait for it"
            )
        return self._turn

    def _require_unchanged(self, observation: Observation) -> None:
        focus = self.focus.read()
        rotation = focus.rotation
        if rotation is None:
            rotation = self.ui.device_info().get("displayRotation")
        if not isinstance(rotation, int):
            raise UiServerError("the phone does not tell how its screen is turned")
        require_same_screen(observation, focus, rotation)


def _space_size(observation: Observation, space: Space) -> tuple[int, int]:
    image = observation.screenshot
    return (image.width, image.height) if image and space == "screenshot" else observation.size
