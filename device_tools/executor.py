"""Executes validated phone calls: the table from tool name to what is done on the phone.

Behind an action on the screen the result says what it changed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from device_tools.adb import AdbPhone, open_device
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.changes import changes
from device_tools.elements import HIDDEN
from device_tools.errors import BridgeError, Cancelled, DeviceError, Outcome
from device_tools.handlers import apps, look, text, touch
from device_tools.observation import Observation
from device_tools.pictures import DEFAULT_RULE, PictureRule
from device_tools.result import Secrecy, ToolResult, failed
from device_tools.schema import Effect, ValidCall
from device_tools.secrets import SecretSource, no_secrets
from device_tools.session import ScreenSession, Space
from device_tools.system.tools import bind
from device_tools.typing_target import TypingTarget
from device_tools.ui_server import UiServer

_Handler = Callable[[Mapping[str, Any]], ToolResult]
_LOOKS = (look.observe_screen, look.wait_for, apps.list_apps, apps.current_app)
_ACTS = (
    touch.tap, touch.tap_area, touch.tap_element, touch.long_press, touch.long_press_element,
    touch.swipe, touch.drag, touch.pinch, touch.scroll, touch.scroll_element, touch.press_key,
    text.type_text, text.clear_text, text.type_secret,
    apps.open_app, apps.close_app, apps.open_url,
)  # fmt: skip
_CLIPBOARD = (text.clipboard_get, text.clipboard_set)
_REPORTED = frozenset(act.__name__ for act in _ACTS)


@contextmanager
def open_phone_tools(
    serial: str | None,
    address: AdbAddress,
    cancel: CancelScope,
    *,
    default_space: Space = "screenshot",
    rule: PictureRule = DEFAULT_RULE,
    exchange: Path | None = None,
    secrets: SecretSource = no_secrets,
    report: bool = True,
) -> Iterator[PhoneTools]:
    """The tools of one phone with its UI server running; what was started is stopped at the end.
    ``exchange`` is the one folder of this computer that files are copied from and to; ``report``
    as in ``PhoneTools``.

    Raises:
        DeviceError: the phone or its UI server cannot be used.
    """
    phone = open_device(serial, address, cancel)
    ui = UiServer(phone)
    try:
        ui.start()
        session = ScreenSession(phone, ui, default_space=default_space, rule=rule, secrets=secrets)
        yield PhoneTools(session, exchange=exchange, report=report)
    finally:
        ui.close()


class PhoneTools:
    """One phone. Calls run one after another. ``report``: after an action wait until the screen
    stands still, and say what changed."""

    def __init__(
        self, session: ScreenSession, *, exchange: Path | None = None, report: bool = True
    ) -> None:
        self.phone: AdbPhone = session.phone
        self._session = session
        self._report = report
        self._target = TypingTarget()
        handlers = (*_LOOKS, *_ACTS, *_CLIPBOARD)
        self._table: Mapping[str, _Handler] = {
            **{each.__name__: partial(each, session) for each in handlers},
            **bind(session.phone, exchange),
        }

    @property
    def latest(self) -> Observation | None:
        """The newest look at the screen."""
        return self._session.latest

    def begin_turn(self) -> None:
        """The model is about to answer what it has seen so far."""
        self._session.begin_turn()

    def observe(self, *, screenshot: bool = True) -> Observation:
        """Look at the screen; the newest observation is what the next turn refers to."""
        seen = self._session.observe(screenshot=screenshot)
        self._target.seen(seen)
        return seen

    def secrecy(self, name: str, arguments: Mapping[str, Any]) -> Secrecy:
        """What of a call that is about to run must not be stored, by the field it types into."""
        return self._target.secrecy(name, arguments, self._session.referred)

    def disturbed(self) -> None:
        """Something else acts on the phone, a shell command: the focus may be anywhere then."""
        self._target.acted("", {}, None)

    def execute(self, call: ValidCall) -> ToolResult:
        """Run it once. Faults come back as results.

        Raises:
            Cancelled: with UNKNOWN when the action may have happened.
            KeyError: no phone tool has this name.
        """
        handler, looked = self._table[call.spec.name], self.latest
        secrecy = self.secrecy(call.spec.name, call.arguments)
        try:
            self.phone.cancel.check()
            result = handler(call.arguments)
            if self._report and call.spec.name in _REPORTED and result.ok:
                result = self._reported(result)
            return _kept_secret(result, secrecy)
        except Cancelled:
            raise
        except BridgeError as error:
            if call.spec.effect is Effect.NONE:
                # a look that failed has changed nothing, whatever was lost on the way
                error.outcome = Outcome.NOT_SENT
            return _kept_secret(failed(error), secrecy)
        finally:
            self._noted(call, looked)

    def _reported(self, result: ToolResult) -> ToolResult:
        """The result with what changed on the screen; a look that fails takes nothing back."""
        before = self._session.tree
        try:
            after, still = self._session.observer.settled()
        except Cancelled as error:
            error.outcome = Outcome.UNKNOWN
            raise
        except DeviceError as error:
            return replace(result, text=f"{result.text}\n(no look afterwards: {error.message})")
        lines = changes(before, after) if before is not None else []
        if not still:
            lines.append("(the screen keeps moving)")
        self._session.tree = after
        data = {**result.data, "changes": lines}
        told = replace(result, text="\n".join([result.text, *lines]), data=data)
        if any(
            element.secret for element in (*after.elements, *(before.elements if before else ()))
        ):
            # what a secret field shows may stand in these lines
            return replace(told, storable=result.storable or result.text)
        return told

    def _noted(self, call: ValidCall, looked: Observation | None) -> None:
        """What the call did to the focus; ``looked`` was the newest look before it."""
        if self.latest is not None and self.latest is not looked:
            self._target.seen(self.latest)
        if call.spec.effect is not Effect.NONE:
            self._target.acted(call.spec.name, call.arguments, self._session.referred)


def _kept_secret(result: ToolResult, secrecy: Secrecy) -> ToolResult:
    """The result of a call that typed a secret, whatever the field said of itself afterwards."""
    if not secrecy.secrets:
        return result
    shown = result.text if result.storable is None else result.storable
    for secret in secrecy.secrets:
        shown = shown.replace(secret, HIDDEN) if secret else shown
    return replace(result, secrets=(*result.secrets, *secrecy.secrets), storable=shown)
