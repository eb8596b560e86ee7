"""Optional fields of a request to a person, as the API names them (`POST /v1/interrupts`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class RequestFields(TypedDict, total=False):
    """Fields that every request may have. `docs/external-agents.md` describes them."""

    title: str
    assignment: Mapping[str, Any]
    """Approvers: `{"groups": ["legal"], "quorum": {"required": 2}}`."""
    expires_in_ms: int
    on_expiry: str
    escalation: list[Mapping[str, Any]]
    reminders: Mapping[str, Any]
    options: list[Mapping[str, str]]
    run: str
    session: str
    subject: str
    usable_ms: int
    withhold: list[Mapping[str, Any]]
    working_time: bool


_NAMES = frozenset(RequestFields.__annotations__)


def checked_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields that have a value. Raises `TypeError` for a field that no request has."""
    for name in fields:
        if name not in _NAMES:
            raise TypeError(f"`{name}` is not a field of a request; known are: {', '.join(sorted(_NAMES))}")
    return {name: value for name, value in fields.items() if value is not None}
