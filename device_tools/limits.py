"""Every wait on a device has a name and a number of seconds; this table is the only place."""

from __future__ import annotations

import time
from dataclasses import dataclass

from device_tools.errors import DeviceTimeout, Outcome


@dataclass(frozen=True)
class Limit:
    """``name`` appears in the message when the seconds run out."""

    name: str
    seconds: float

    def longer_by(self, seconds: float) -> Limit:
        """The same limit for an operation that itself lasts ``seconds`` on the phone."""
        return Limit(self.name, self.seconds + seconds)


ADB_CONNECT = Limit("connecting to the adb server", 3.0)
ADB_REQUEST = Limit("a question to the adb server", 5.0)
ADB_START = Limit("starting the adb server", 20.0)
SHELL_READ = Limit("a short shell command", 10.0)
SERVICE_READ = Limit("reading what a service of the phone knows", 20.0)
SWITCHED = Limit("waiting for a switch to take effect", 8.0)
PACKAGE_CHANGE = Limit("installing or removing an app", 180.0)
FILE_COPY = Limit("copying a file", 300.0)
APP_START = Limit("starting an app", 15.0)
APP_IN_FRONT = Limit("waiting for the app to come to the front", 8.0)
FIELD_FOCUS = Limit("waiting for the field to take the focus", 2.0)
SETTLED = Limit("waiting for the screen to stand still", 1.5)
AFTER_LOOK = Limit("looking at the screen after an action", 5.0)
UI_PING = Limit("asking whether the UI server is alive", 5.0)
UI_LAUNCH = Limit("starting the UI server", 60.0)
UI_STOP = Limit("stopping the UI server", 3.0)
UI_READ = Limit("reading the screen", 15.0)
UI_ACTION = Limit("an action on the screen", 10.0)


class Deadline:
    """One limit counted over a whole operation, however many socket calls it takes."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self._end = time.monotonic() + limit.seconds

    def remaining(self, outcome: Outcome = Outcome.NOT_SENT) -> float:
        """Seconds left, more than 0.

        Raises:
            DeviceTimeout: none are left; it carries ``outcome``.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.expired(outcome)
        return left

    def expired(self, outcome: Outcome = Outcome.NOT_SENT) -> DeviceTimeout:
        return DeviceTimeout(
            f"{self.limit.name} took longer than {self.limit.seconds:g} s",
            advice="observe the screen before trying again",
            outcome=outcome,
        )
