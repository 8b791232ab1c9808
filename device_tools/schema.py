"""Tool descriptions and the gate in front of every executor.

``ValidCall`` is the first lock of the design: executors accept nothing else, and only
``validate`` makes one. Nothing is coerced: booleans are not integers, "12" is not 12,
an unknown key refuses the call (JSON Schema 2020-12 through ``jsonschema``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from device_tools.errors import InvalidCall

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError


class RiskGroup(StrEnum):
    """User switches and redaction work on these groups, never on single words of a request."""

    DIRECT = "direct"
    SENSITIVE_READ = "sensitive_read"
    SENSITIVE_ACTION = "sensitive_action"
    TERMINAL = "terminal"
    MEMORY = "memory"
    SKILL = "skill"
    MANAGER = "manager"


class Effect(StrEnum):
    """Where a tool leaves a trace. The last allowed turn of a run starts only ``NONE``."""

    NONE = "none"
    PHONE = "phone"
    HOST = "host"


@dataclass(frozen=True)
class ToolSpec:
    """One tool as the model sees it. ``parameters`` is a closed JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    group: RiskGroup = RiskGroup.DIRECT
    effect: Effect = Effect.PHONE

    @property
    def properties(self) -> Mapping[str, Any]:
        """The schema of each argument by name."""
        properties: Mapping[str, Any] = self.parameters["properties"]
        return properties


_ONLY_VALIDATE = object()


@dataclass(frozen=True)
class ValidCall:
    """A call whose arguments match the schema that was sent in this turn."""

    id: str
    spec: ToolSpec
    arguments: Mapping[str, Any]
    _proof: object = field(repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self._proof is not _ONLY_VALIDATE:
            raise TypeError("only device_tools.schema.validate makes a ValidCall")


def arguments_schema(
    properties: Mapping[str, Any], required: Sequence[str] = ()
) -> Mapping[str, Any]:
    """A closed object schema: the only kind a tool may have."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def validate(spec: ToolSpec, call_id: str, arguments: object) -> ValidCall:
    """Check ``arguments`` against ``spec`` and seal them.

    Raises:
        InvalidCall: not an object, a missing, unknown or ill-typed field; ``field`` names it.
    """
    if not isinstance(arguments, Mapping):
        raise InvalidCall(f"{spec.name}: arguments must be one JSON object")
    # most specific first, so that the message names a field whenever one is to blame
    errors = sorted(_validator(spec).iter_errors(dict(arguments)), key=_order)
    if errors:
        raise _refusal(spec, errors[0])
    for name, value in arguments.items():
        if not _is_text_whole(value):
            raise InvalidCall(
                f"{spec.name}.{name}: half of a character (a lone surrogate) is no text",
                field=str(name),
            )
    return ValidCall(call_id, spec, dict(arguments), _ONLY_VALIDATE)


def _is_text_whole(value: object) -> bool:
    """JSON can spell strings that no encoding can carry to a phone or into the record."""
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, Mapping):
        return all(_is_text_whole(item) for pair in value.items() for item in pair)
    return not isinstance(value, list) or all(_is_text_whole(item) for item in value)


def _order(error: ValidationError) -> tuple[int, str]:
    return (-len(error.absolute_path), error.message)


def _refusal(spec: ToolSpec, error: ValidationError) -> InvalidCall:
    name = ".".join([*(str(part) for part in error.absolute_path), *_named_by_rule(spec, error)])
    known = ", ".join(spec.properties) or "none"
    where = f"{spec.name}.{name}" if name else spec.name
    return InvalidCall(
        f"{where}: {error.message}", field=name, advice=f"arguments of {spec.name}: {known}"
    )


def _named_by_rule(spec: ToolSpec, error: ValidationError) -> list[str]:
    """The field that a rule about the whole object blames: an unknown or a missing one."""
    if error.absolute_path or not isinstance(error.instance, Mapping):
        return []
    if error.validator == "additionalProperties":
        return [key for key in error.instance if key not in spec.properties][:1]
    if error.validator == "required":
        required = spec.parameters["required"]
        return [key for key in required if f"'{key}'" in error.message][:1]
    return []


class _SpecKey:
    """Caches validators by identity: a frozen dataclass with dicts inside has no hash."""

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    def __hash__(self) -> int:
        return id(self.spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SpecKey) and other.spec is self.spec


def _validator(spec: ToolSpec) -> Draft202012Validator:
    return _compiled(_SpecKey(spec))


@lru_cache(maxsize=256)
def _compiled(key: _SpecKey) -> Draft202012Validator:
    # imported here: the command line must not pay for it on --help
    from jsonschema import Draft202012Validator, TypeChecker
    from jsonschema.validators import extend

    def is_integer(_checker: TypeChecker, value: object) -> bool:
        # JSON Schema counts 1.0 as an integer; a model that writes 1.0 did not write 1
        return isinstance(value, int) and not isinstance(value, bool)

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    strict = extend(Draft202012Validator, type_checker=checker)  # type: ignore[no-untyped-call]
    strict.check_schema(key.spec.parameters)
    validator: Draft202012Validator = strict(key.spec.parameters)
    return validator
