"""The toolbox of a run: what is offered, the checks before each call, and who executes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from bridge.conversation.finish import FINISH
from bridge.conversation.messages import ToolCall
from bridge.policy import Answer, Policy
from device_tools.errors import InvalidCall, Outcome
from device_tools.result import Secrecy, ToolResult, done, failed
from device_tools.schema import ToolSpec, ValidCall, validate

__all__ = ["FINISH", "Executor", "Tools", "refusal"]


class Executor(Protocol):
    """Runs valid calls of the phone tools (``device_tools.executor.PhoneTools``)."""

    def begin_turn(self) -> None: ...

    def execute(self, call: ValidCall) -> ToolResult: ...

    def secrecy(self, name: str, arguments: Mapping[str, Any]) -> Secrecy: ...


def refusal(error: str, text: str) -> ToolResult:
    """A call that was not sent: exit code 2."""
    return ToolResult(Outcome.NOT_SENT, 2, text, error=error)


class Tools:
    """``bridge.agent.ports.Toolbox``. ``on_decision`` hears the answer to every question asked,
    so that the record has it."""

    def __init__(
        self,
        executor: Executor,
        specs: Sequence[ToolSpec],
        policy: Policy,
        on_decision: Callable[[ValidCall, Answer], None],
    ) -> None:
        self._executor = executor
        self._specs = tuple(specs)
        self._policy = policy
        self._on_decision = on_decision
        self._always: set[str] = set()

    def offered(self) -> Sequence[ToolSpec]:
        """Permitted tools, and ``finish``, which no switch takes away."""
        # once for each group: every question reads the user's switches anew
        groups = {spec.group for spec in self._specs}
        permitted = {group for group in groups if self._policy.permits(group)}
        return (*(spec for spec in self._specs if spec.group in permitted), FINISH)

    def begin_turn(self) -> None:
        self._executor.begin_turn()

    def check(self, call: ToolCall, offered: Sequence[ToolSpec]) -> ValidCall | ToolResult:
        """Known name, offered in this turn, schema, switches as they are now, the user's word."""
        spec = next((spec for spec in offered if spec.name == call.name), None)
        if spec is None:
            names = ", ".join(spec.name for spec in offered)
            return refusal("unknown_tool", f"there is no tool {call.name!r}; tools: {names}")
        try:
            valid = validate(spec, call.id, call.arguments)
        except InvalidCall as error:
            return failed(error)
        if spec is FINISH:
            return valid
        return self._switched_off(spec) or self._asked(valid) or valid

    def execute(self, call: ValidCall) -> ToolResult:
        """Run it once; ``finish`` has no effect of its own."""
        if call.spec is FINISH:
            return done(str(call.arguments["summary"]))
        return self._executor.execute(call)

    def secrecy(self, call: ToolCall) -> Secrecy:
        """What of a call that is about to run must not be stored."""
        return self._executor.secrecy(call.name, call.arguments)

    def _switched_off(self, spec: ToolSpec) -> ToolResult | None:
        if self._policy.permits(spec.group):
            return None
        return refusal("switched_off", f"the user switched {spec.group.value} tools off")

    def _asked(self, call: ValidCall) -> ToolResult | None:
        """The refusal of the user, or of a switch that was turned off while the question stood."""
        name = call.spec.name
        if not self._policy.must_ask(call.spec.group) or name in self._always:
            return None
        answer = self._policy.approve(call.spec, call.arguments)
        self._on_decision(call, answer)
        if answer is Answer.ALWAYS:
            self._always.add(name)
        if answer is Answer.NO:
            return refusal("not_approved", f"the user did not allow {name}")
        return self._switched_off(call.spec)
