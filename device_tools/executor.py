"""Executes validated phone calls: the table from tool name to what is done on the phone.

Indexes and screenshot coordinates refer to the observation that the model had seen when it
began to answer (``begin_turn``), never to a newer one of the same reply.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from device_tools import apps, gestures, text_input
from device_tools.adb import AdbPhone, open_device
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.elements import HIDDEN, Element
from device_tools.errors import (
    ActionRefused,
    BridgeError,
    Cancelled,
    Outcome,
    StaleScreen,
    UiServerError,
)
from device_tools.focus import FocusReader
from device_tools.freshness import (
    element_by_index,
    relocate,
    require_inside,
    require_same_screen,
)
from device_tools.hierarchy import Bounds
from device_tools.observation import (
    Observation,
    Observer,
    Tree,
    as_json,
    as_text,
    secrets_shown,
    storable_text,
)
from device_tools.pictures import DEFAULT_RULE, PictureRule
from device_tools.result import Secrecy, ToolResult, done, failed
from device_tools.schema import Effect, ValidCall
from device_tools.system.tools import bind
from device_tools.typing_target import TypingTarget
from device_tools.ui_server import UiServer

Space = Literal["screenshot", "screen"]
_POLL_SECONDS = 0.1
_Handler = Callable[[Mapping[str, Any]], ToolResult]


@contextmanager
def open_phone_tools(
    serial: str | None,
    address: AdbAddress,
    cancel: CancelScope,
    *,
    default_space: Space = "screenshot",
    rule: PictureRule = DEFAULT_RULE,
    exchange: Path | None = None,
) -> Iterator[PhoneTools]:
    """The tools of one phone with its UI server running; what was started is stopped at the end.
    ``exchange`` is the one folder of this computer that files are copied from and to.

    Raises:
        DeviceError: the phone or its UI server cannot be used.
    """
    phone = open_device(serial, address, cancel)
    ui = UiServer(phone)
    try:
        ui.start()
        yield PhoneTools(phone, ui, default_space=default_space, rule=rule, exchange=exchange)
    finally:
        ui.close()


class PhoneTools:
    """One phone. Calls run one after another."""

    def __init__(
        self,
        phone: AdbPhone,
        ui: UiServer,
        *,
        default_space: Space = "screenshot",
        rule: PictureRule = DEFAULT_RULE,
        exchange: Path | None = None,
    ) -> None:
        self.phone = phone
        self.latest: Observation | None = None
        self._ui = ui
        self._default_space: Space = default_space
        self._focus = FocusReader(phone)
        self._observer = Observer(ui, self._focus, rule=rule)
        self._turn: Observation | None = None
        self._in_turn = False
        self._target = TypingTarget()
        self._table: Mapping[str, _Handler] = {
            "observe_screen": self._observe_screen,
            "tap": self._tap,
            "tap_element": self._tap_element,
            "long_press": self._long_press,
            "swipe": self._swipe,
            "scroll": self._scroll,
            "type_text": self._type_text,
            "press_key": self._press_key,
            "open_app": self._open_app,
            "list_apps": self._list_apps,
            "current_app": self._current_app,
            "wait_for": self._wait_for,
            **bind(phone, exchange),
        }

    def begin_turn(self) -> None:
        """The model is about to answer what it has seen so far."""
        self._turn, self._in_turn = self.latest, True

    def observe(self, *, screenshot: bool = True) -> Observation:
        """Look at the screen; the newest observation is what the next turn refers to."""
        self.latest = self._observer.observe(screenshot=screenshot)
        self._target.seen(self.latest)
        return self.latest

    def secrecy(self, name: str, arguments: Mapping[str, Any]) -> Secrecy:
        """What of a call that is about to run must not be stored, by the field it types into."""
        return self._target.secrecy(name, arguments, self._turn if self._in_turn else self.latest)

    def disturbed(self) -> None:
        """Something else acts on the phone, a shell command: the focus may be anywhere then."""
        self._target.acted("", {}, None)

    def execute(self, call: ValidCall) -> ToolResult:
        """Run it once. Faults come back as results.

        Raises:
            Cancelled: with UNKNOWN when the action may have happened.
            KeyError: no phone tool has this name.
        """
        handler = self._table[call.spec.name]
        secrecy = self.secrecy(call.spec.name, call.arguments)
        try:
            self.phone.cancel.check()
            return _kept_secret(handler(call.arguments), secrecy)
        except Cancelled:
            raise
        except BridgeError as error:
            if call.spec.effect is Effect.NONE:
                # a look that failed has changed nothing, whatever was lost on the way
                error.outcome = Outcome.NOT_SENT
            return _kept_secret(failed(error), secrecy)
        finally:
            if call.spec.effect is not Effect.NONE:
                self._target.acted(call.spec.name, call.arguments, self._turn or self.latest)

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

    def _observe_screen(self, arguments: Mapping[str, Any]) -> ToolResult:
        return observation_result(self.observe(screenshot=arguments.get("screenshot", True)))

    def _tap(self, arguments: Mapping[str, Any]) -> ToolResult:
        x, y = self._points(arguments, "xy")[0]
        gestures.tap(self._ui, x, y)
        return done(f"tapped ({arguments['x']}, {arguments['y']})", x=x, y=y)

    def _long_press(self, arguments: Mapping[str, Any]) -> ToolResult:
        duration = arguments.get("duration_ms", 800)
        x, y = self._points(arguments, "xy")[0]
        gestures.long_press(self._ui, x, y, duration)
        text = f"pressed ({arguments['x']}, {arguments['y']}) for {duration} ms"
        return done(text, x=x, y=y)

    def _swipe(self, arguments: Mapping[str, Any]) -> ToolResult:
        start, end = self._points(arguments, "xy1", "xy2")
        gestures.swipe(self._ui, start, end, arguments.get("duration_ms", 300))
        return done(f"swiped from {start} to {end}", start=list(start), end=list(end))

    def _tap_element(self, arguments: Mapping[str, Any]) -> ToolResult:
        element, _ = self._found(arguments["index"])
        gestures.tap(self._ui, *element.tap)
        return done(
            f"tapped {_named(element, arguments['index'])}", x=element.tap[0], y=element.tap[1]
        )

    def _scroll(self, arguments: Mapping[str, Any]) -> ToolResult:
        direction = arguments["direction"]
        if "index" in arguments:
            element, before = self._found(arguments["index"])
            area = element.bounds
        else:
            before = self._observer.tree()
            area = _scroll_area(before)
        gestures.scroll(self._ui, area, direction)
        if self._observer.tree().xml == before.xml:
            return done(f"scrolled {direction}, but nothing moved: the end is reached", moved=False)
        return done(f"scrolled {direction}", moved=True)

    def _type_text(self, arguments: Mapping[str, Any]) -> ToolResult:
        text = text_input.without_final_newline(arguments["text"])
        if "index" in arguments:
            self._focus_field(arguments["index"])
        anew = arguments.get("mode", "append") == "replace"
        typed = text_input.type_text(self._ui, self.phone, text, replace=anew)
        if typed.reads is None:
            result = done("typed into a password field, which cannot be read back")
            return replace(result, secrets=(text,))
        said = "typed;" if typed.exact else "typed, but"
        result = done(f"{said} the field now reads {typed.reads!r}", reads=typed.reads)
        if not typed.secret:
            return result
        storable = f"{said} the field, which holds a password or a code, was read back"
        return replace(result, secrets=(text, typed.reads), storable=storable)

    def _focus_field(self, index: int) -> None:
        element, tree = self._found(index)
        if "type" not in element.actions:
            # a tap on a button that was meant as a field would press it
            raise ActionRefused(
                f"{_named(element, index)} is no text field",
                advice="give the index of a field, or tap this element first",
            )
        before = text_input.focused_field(tree.hierarchy)
        if before is not None and before.bounds == element.bounds:
            return
        gestures.tap(self._ui, *element.tap)
        text_input.wait_for_focus(self._ui, self.phone, element.resource_id, element.tap, before)

    def _press_key(self, arguments: Mapping[str, Any]) -> ToolResult:
        gestures.press_key(self._ui, arguments["key"])
        return done(f"pressed {arguments['key']}")

    def _open_app(self, arguments: Mapping[str, Any]) -> ToolResult:
        app, front = apps.open_app(self.phone, self._ui, arguments["app"])
        question = "" if front == app.package else f"; {front} asks a question first"
        return done(f"opened {app.name} ({app.package}){question}", package=app.package)

    def _list_apps(self, arguments: Mapping[str, Any]) -> ToolResult:
        found = apps.list_apps(self.phone, arguments.get("query", ""))
        text = "\n".join(f"{app.name} ({app.package})" for app in found) or "no app matches"
        return done(text, apps=[{"name": app.name, "package": app.package} for app in found])

    def _current_app(self, _arguments: Mapping[str, Any]) -> ToolResult:
        focus = self._focus.read()
        return done(str(focus), package=focus.package, activity=focus.activity)

    def _wait_for(self, arguments: Mapping[str, Any]) -> ToolResult:
        text, gone = arguments["text"], arguments.get("gone", False)
        seconds = arguments.get("timeout_ms", 5000) / 1000
        end = time.monotonic() + seconds
        while True:
            if _shows(self._observer.tree(), text) is not gone:
                return done(f"{text!r} is {'gone' if gone else 'on the screen'}")
            if time.monotonic() >= end:
                state = "still" if gone else "not"
                raise ActionRefused(f"{text!r} is {state} on the screen after {seconds:g} s")
            self.phone.cancel.wait(_POLL_SECONDS)

    def _points(self, arguments: Mapping[str, Any], *names: str) -> list[tuple[int, int]]:
        """Device pixels of the named coordinates, checked against screen and freshness."""
        space: Space = arguments.get("coordinate_space", self._default_space)
        asks = self._in_turn or self.latest or space == "screenshot"
        observation = self._reference() if asks else None
        size = _space_size(observation, space) if observation else self._observer.size()
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

    def _require_unchanged(self, observation: Observation) -> None:
        focus = self._focus.read()
        rotation = focus.rotation
        if rotation is None:
            rotation = self._ui.device_info().get("displayRotation")
        if not isinstance(rotation, int):
            raise UiServerError("the phone does not tell how its screen is turned")
        require_same_screen(observation, focus, rotation)

    def _found(self, index: int) -> tuple[Element, Tree]:
        """The element as it is on the screen now, and the tree it was found in."""
        observation = self._reference()
        element = element_by_index(observation, index)
        with ThreadPoolExecutor(1) as pool:
            focus = pool.submit(self._focus.read)
            tree = self._observer.tree()
        require_same_screen(observation, focus.result(), tree.rotation)
        return relocate(element, tree.elements, observation.size), tree


def observation_result(observation: Observation) -> ToolResult:
    """An observation as the model gets it."""
    images = (observation.screenshot,) if observation.screenshot else ()
    result = done(as_text(observation), images=images, **as_json(observation))
    return replace(result, secrets=secrets_shown(observation), storable=storable_text(observation))


def _kept_secret(result: ToolResult, secrecy: Secrecy) -> ToolResult:
    """The result of a call that typed a secret, whatever the field said of itself afterwards."""
    if not secrecy.secrets:
        return result
    shown = result.text if result.storable is None else result.storable
    for secret in secrecy.secrets:
        shown = shown.replace(secret, HIDDEN) if secret else shown
    return replace(result, secrets=(*result.secrets, *secrecy.secrets), storable=shown)


def _named(element: Element, index: int) -> str:
    words = (f"[{index}]", element.role, f'"{element.label}"')
    return " ".join(word for word in words if word)


def _space_size(observation: Observation, space: Space) -> tuple[int, int]:
    image = observation.screenshot
    return (image.width, image.height) if image and space == "screenshot" else observation.size


def _scroll_area(tree: Tree) -> Bounds:
    """The largest scrolling view, else the middle of the screen."""
    lists = [element.bounds for element in tree.elements if "scroll" in element.actions]
    return max(lists, key=lambda bounds: bounds.area, default=Bounds(0, 0, *tree.size))


def _shows(tree: Tree, text: str) -> bool:
    wanted = " ".join(text.split()).casefold()
    stack = list(tree.hierarchy.windows)
    while stack:
        node = stack.pop()
        shown = f"{node.text}\n{node.description}"
        if not node.has("password") and wanted in " ".join(shown.split()).casefold():
            return True
        stack += node.children
    return False
