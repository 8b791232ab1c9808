"""The one error tree of the project; ``bridge.errors`` adds the leaves that know of models.

    BridgeError                       what happened, what to do next, who is at fault
    ├── InvalidCall                   the model's (or caller's) arguments were refused
    ├── Cancelled                     the user ended it
    └── DeviceError                   something between us and the phone
        ├── AdbUnavailable            no adb binary or no adb server
        ├── DeviceNotFound            no such device, none at all, or several
        ├── DeviceNotReady            offline, unauthorized, booting
        ├── DeviceDisconnected        the connection broke while in use
        ├── DeviceTimeout             a named limit ran out
        ├── UiServerError             the uiautomator2 server failed or refused
        ├── ScreenUnreadable          no usable hierarchy or picture
        ├── StaleScreen               the screen is not the one the call was made for
        ├── ActionRefused             the phone said no (permission, unknown app, ...)
        ├── NotAvailable              this phone lacks what a tool needs; the message says what
        └── VirtualPhoneError         the virtual phone cannot start or lacks a part

Every error carries an ``Outcome``: whether the action it belongs to may have happened.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class Outcome(StrEnum):
    """Whether an action happened. UNKNOWN is never told as a success."""

    DONE = "DONE"
    NOT_SENT = "NOT_SENT"
    UNKNOWN = "UNKNOWN"


class Blame(StrEnum):
    """Who has to change something for the next try to succeed."""

    MODEL = "model"
    USER = "user"
    HOST = "host"
    DEVICE = "device"
    PROVIDER = "provider"


class BridgeError(Exception):
    """One line what happened, one line what to do next (``advice``, may be empty)."""

    blame: ClassVar[Blame] = Blame.HOST
    exit_code: ClassVar[int] = 1

    def __init__(
        self, message: str, *, advice: str = "", outcome: Outcome = Outcome.NOT_SENT
    ) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.outcome = outcome


class InvalidCall(BridgeError):
    """Arguments do not match the tool's schema; ``field`` names the bad one ("" = whole)."""

    blame = Blame.MODEL
    exit_code = 2

    def __init__(self, message: str, *, field: str = "", advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.field = field


class Cancelled(BridgeError):
    """The user cancelled; ``outcome`` tells whether the action in progress may have happened."""

    blame = Blame.USER
    exit_code = 130


class DeviceError(BridgeError):
    """Root of everything that goes wrong between us and the phone."""

    blame = Blame.DEVICE
    exit_code = 3


class AdbUnavailable(DeviceError):
    """No adb binary, or no adb server answers."""

    blame = Blame.HOST


class DeviceNotFound(DeviceError):
    """The serial is not attached, nothing is attached, or several are and none was named."""

    blame = Blame.USER


class DeviceNotReady(DeviceError):
    """The device is listed but offline, unauthorized or still booting."""


class DeviceDisconnected(DeviceError):
    """The connection broke while in use."""


class DeviceTimeout(DeviceError):
    """A named limit ran out; the message names it."""


class UiServerError(DeviceError):
    """The uiautomator2 server on the phone failed or refused."""


class ScreenUnreadable(DeviceError):
    """The hierarchy or picture is missing, empty or cannot be parsed: never an empty screen."""


class StaleScreen(DeviceError):
    """The screen differs from the observation the call belongs to; nothing was sent."""


class ActionRefused(DeviceError):
    """The phone refused: missing permission, unknown app, no focused field."""


class NotAvailable(DeviceError):
    """This phone (its version, its maker, its rights) has no such thing; the message says why."""


class VirtualPhoneError(DeviceError):
    """The virtual phone cannot start, or lacks a part on this machine."""

    blame = Blame.HOST
