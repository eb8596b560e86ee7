"""Decisions as the SDK returns them, read from a resolved interrupt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .errors import Expired, NoPermission, Rejected, Responded, Skipped, Withdrawn, _About


@dataclass(frozen=True)
class Approval:
    """A used approval: the tool may run now, once, with exactly these arguments."""

    tool: str
    arguments: dict[str, Any]
    """The arguments to run with: those of the call, or the arguments that a person put in their place."""
    edited: bool
    text: str | None
    """Words of the person, if any."""
    by: tuple[str, ...]
    """The people who decided. Empty if a rule or a grant allowed the call."""
    interrupt: str
    link: str
    cause: str
    """`decision`, `rule` or `grant`."""
    record: dict[str, Any] = field(default_factory=dict, repr=False)
    """The interrupt as the server sent it."""

    def note(self) -> str | None:
        """Returns what the model should know besides the result: changed arguments, and the person's words."""
        parts = []
        if self.edited:
            from .canonical import canonical_json

            parts.append(f"A person changed the arguments of this call to {canonical_json(self.arguments).decode()}.")
        if self.text:
            parts.append(f"The person who approved this call said: {self.text}")
        return "\n".join(parts) or None


def about(interrupt: dict[str, Any], link: str) -> _About:
    """Returns what an error says about an interrupt."""
    resolution = interrupt.get("resolution") or {}
    by = tuple(str(each) for each in resolution.get("by") or ())
    return _About(interrupt["id"], link, by, resolution.get("text") or None, interrupt)


def check_approved(interrupt: dict[str, Any], link: str) -> None:
    """Returns if the interrupt is approved. Raises the type of the outcome otherwise."""
    outcome = (interrupt.get("resolution") or {}).get("outcome")
    if outcome == "approved":
        return
    raise _error(outcome)(about(interrupt, link))


def check_answered(interrupt: dict[str, Any], link: str) -> None:
    """Returns if the question was answered. Raises the type of the outcome otherwise."""
    resolution = interrupt.get("resolution") or {}
    if resolution.get("outcome") == "answered" and resolution.get("option") != "skip":
        return
    is_skipped = resolution.get("outcome") == "answered"
    kind = Skipped if is_skipped else _error(resolution.get("outcome"))
    raise kind(about(interrupt, link))


def _error(outcome: str | None) -> type[NoPermission]:
    known: dict[str | None, type[NoPermission]] = {
        "rejected": Rejected,
        "answered": Responded,
        "expired": Expired,
        "cancelled": Withdrawn,
        "superseded": Withdrawn,
    }
    # An outcome of a later version permits nothing.
    return known.get(outcome, Rejected)
