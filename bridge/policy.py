"""What a run may do: the user's switches per capability group, narrowed by the request, and
whether the user is asked before a call. Words of the task are never matched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bridge.errors import ConfigurationError
from device_tools.schema import RiskGroup, ToolSpec

_ASKED_WHEN_SENSITIVE = frozenset(
    {RiskGroup.SENSITIVE_READ, RiskGroup.SENSITIVE_ACTION, RiskGroup.TERMINAL}
)


class Ask(StrEnum):
    """When the user is asked before a call (``--ask``)."""

    NONE = "none"
    SENSITIVE = "sensitive"
    ALL = "all"


class Answer(StrEnum):
    """What the user said. ALWAYS holds for the same tool until the run ends."""

    YES = "yes"
    NO = "no"
    ALWAYS = "always"


Approver = Callable[[ToolSpec, Mapping[str, Any]], Answer]
SwitchReader = Callable[[], Mapping[RiskGroup, bool]]


def refuse_without_terminal(_spec: ToolSpec, _arguments: Mapping[str, Any]) -> Answer:
    """The approver where nobody can be asked."""
    return Answer.NO


def parse_groups(names: Sequence[str], flag: str) -> frozenset[RiskGroup]:
    """Groups by name; ConfigurationError names an unknown one."""
    known = {group.value: group for group in RiskGroup}
    for name in names:
        if name not in known:
            raise ConfigurationError(
                f"{flag}: no capability group {name!r}", advice=f"groups: {', '.join(known)}"
            )
    return frozenset(known[name] for name in names)


@dataclass(frozen=True)
class Policy:
    """``read_switches`` is called anew for each decision: a switch turned off holds at once.

    ``allow`` None means all groups; ``allow`` and ``deny`` only ever narrow the switches.
    """

    read_switches: SwitchReader
    allow: frozenset[RiskGroup] | None = None
    deny: frozenset[RiskGroup] = frozenset()
    ask: Ask = Ask.NONE
    approve: Approver = refuse_without_terminal

    def permits(self, group: RiskGroup) -> bool:
        """Whether the group is switched on and inside what the request asked for."""
        if group in self.deny or (self.allow is not None and group not in self.allow):
            return False
        return self.read_switches().get(group, True)

    def must_ask(self, group: RiskGroup) -> bool:
        return self.ask is Ask.ALL or (self.ask is Ask.SENSITIVE and group in _ASKED_WHEN_SENSITIVE)
