"""Errors of the SDK. Each error says what happened and what to do, and has a stable `code`.

An expiry, a withdrawal and a time-out have their own types: none of them is a refusal by a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class HoldshortError(Exception):
    """Base of all errors of this package."""

    code: str = "holdshort"


class ConfigError(HoldshortError):
    """A setting is missing or wrong. `setting` names the setting."""

    code = "config"

    def __init__(self, setting: str, message: str) -> None:
        super().__init__(f"{setting}: {message}")
        self.setting = setting


class InvalidValue(HoldshortError, ValueError):
    """A value cannot be sent. `pointer` is the JSON pointer of the part that is wrong; empty for the whole value."""

    code = "invalid_value"

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(f"the value at `{pointer}` {message}" if pointer else f"the value {message}")
        self.pointer = pointer
        self.message = message


class Unreachable(HoldshortError):
    """The server could not be reached within `retry_for` seconds. No decision is known.

    A repeat with the same key continues with the same request.
    """

    code = "unreachable"


class ApprovalRequired(HoldshortError):
    """Raised by a tool, or by a predicate, to say that a person must approve the call first.

    `reason` is shown to the person. `details` is JSON data that helps to decide, such as the data that the tool has
    fetched.
    """

    code = "approval_required"

    def __init__(self, reason: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.details = dict(details) if details else None


@dataclass(frozen=True)
class FieldError:
    """One error in a request: the JSON pointer of the field, and what is wrong."""

    pointer: str
    message: str


class ApiError(HoldshortError):
    """The server refused a request. `code` is the stable code of the problem, `errors` names the wrong fields."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(problem.get("code") or f"http_{status}")
        self.detail = str(problem.get("detail") or f"the server answered with status {status}")
        raw = problem.get("errors")
        self.errors = [
            FieldError(str(each.get("pointer", "")), str(each.get("message", "")))
            for each in (raw if isinstance(raw, list) else [])
            if isinstance(each, Mapping)
        ]
        self.problem = dict(problem)
        fields = "".join(f"; {each.pointer}: {each.message}" for each in self.errors)
        super().__init__(f"{self.code} ({status}): {self.detail}{fields}")


class InvalidRequest(ApiError):
    """The server rejects the request (`invalid_request`). `errors` names each field."""


class KeyReused(ApiError):
    """The key belongs to another request (`idempotency_key_reused`).

    A restart must send the same tool, arguments, reason and settings under the same key.
    """


class NotAuthenticated(ApiError):
    """The token is missing, unknown, ended or expired (401). Create a new key and set its secret."""


class Forbidden(ApiError):
    """The token does not allow the request (403). Use the agent token, or the key of an agent."""


class NotFound(ApiError):
    """The interrupt does not exist, was erased, or belongs to another agent (404)."""


class AlreadyResolved(ApiError):
    """A person decided before the request was withdrawn (`already_resolved`). The decision stays."""


class CannotUse(ApiError):
    """The approval cannot be used. The tool must not run."""


class ApprovalUsed(CannotUse):
    """The approval was used before (`approval_used`): an earlier attempt may have run the tool.

    The result of that attempt is unknown. Check whether the work was done before you ask for a new approval.
    """


class ApprovalExpired(CannotUse):
    """The approval was not used in time (`approval_expired`). Ask again."""


class ApprovalDiffers(CannotUse):
    """The approved action is not the action that the agent would carry out (`approval_differs`)."""


class Frozen(CannotUse):
    """An operator froze the agent or the installation (`frozen`). Try again after the freeze."""


_BY_CODE: dict[str, type[ApiError]] = {
    "invalid_request": InvalidRequest,
    "idempotency_key_reused": KeyReused,
    "already_resolved": AlreadyResolved,
    "approval_used": ApprovalUsed,
    "approval_expired": ApprovalExpired,
    "approval_differs": ApprovalDiffers,
    "not_approved": CannotUse,
    "frozen": Frozen,
}
_BY_STATUS: dict[int, type[ApiError]] = {401: NotAuthenticated, 403: Forbidden, 404: NotFound}


def api_error(status: int, problem: Mapping[str, Any]) -> ApiError:
    """Returns the error of a problem document, by its code and then by its status."""
    kind = _BY_CODE.get(str(problem.get("code"))) or _BY_STATUS.get(status) or ApiError
    return kind(status, problem)


@dataclass
class _About:
    """The request that an error is about: the id of its interrupt, and the link at which people decide."""

    interrupt: str
    link: str
    by: tuple[str, ...] = ()
    text: str | None = None
    record: dict[str, Any] = field(default_factory=dict, repr=False)


class WaitTimeout(HoldshortError, TimeoutError):
    """Nobody decided within `timeout`. The request stays open.

    A call with the same key continues to wait for the same request. `withdraw(error.interrupt)` ends the request.
    """

    code = "wait_timeout"

    def __init__(self, interrupt: str, link: str) -> None:
        super().__init__(f"no decision yet on {link}; ask again with the same key to continue, or withdraw the request")
        self.interrupt = interrupt
        self.link = link


class NoPermission(HoldshortError):
    """Base of all outcomes that do not permit the work.

    `interrupt` is the id of the request, `link` its page, `by` the people who decided, `text` their words.
    """

    def __init__(self, about: _About) -> None:
        words = f": {about.text}" if about.text else ""
        who = f" by {', '.join(about.by)}" if about.by else ""
        super().__init__(f"{self.code}{who}{words} ({about.link})")
        self.interrupt = about.interrupt
        self.link = about.link
        self.by = about.by
        self.text = about.text
        self.record = about.record


class Rejected(NoPermission):
    """A person, or a rule of the installation, rejected the request."""

    code = "rejected"


class Responded(NoPermission):
    """A person provided the result of the tool in `text`. The tool must not run."""

    code = "responded"


class Skipped(NoPermission):
    """A person skipped the question. Continue without an answer, for example with an assumption."""

    code = "skipped"


class NotDecided(NoPermission):
    """Base of the outcomes without a person's decision."""


class Expired(NotDecided):
    """Nobody decided before the request expired. Ask again, with a larger `expires_in_ms`."""

    code = "expired"


class Withdrawn(NotDecided):
    """The request was withdrawn or replaced, or its run was cancelled."""

    code = "withdrawn"
