"""Holdshort: an agent holds short of a risky step until a person clears it.

`ask` asks a question, `approve` asks for the approval of a tool call, `require_approval` gates a function. The module
functions use the settings of the environment (`HOLDSHORT_URL`, `HOLDSHORT_AGENT_TOKEN`); `Client` takes its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .canonical import canonical_json, digest
from .client import Client, default_client
from .decision import Approval
from .errors import (
    AlreadyResolved,
    ApiError,
    ApprovalDiffers,
    ApprovalExpired,
    ApprovalRequired,
    ApprovalUsed,
    CannotUse,
    ConfigError,
    Expired,
    FieldError,
    Forbidden,
    Frozen,
    HoldshortError,
    InvalidRequest,
    InvalidValue,
    KeyReused,
    NoPermission,
    NotAuthenticated,
    NotDecided,
    NotFound,
    Rejected,
    Responded,
    Skipped,
    Unreachable,
    WaitTimeout,
    Withdrawn,
)
from .gate import Rule, current_approval, require_approval
from .keys import idempotency_key
from .request_fields import RequestFields
from .version import VERSION as __version__

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")

__all__ = [
    "AlreadyResolved",
    "ApiError",
    "Approval",
    "ApprovalDiffers",
    "ApprovalExpired",
    "ApprovalRequired",
    "ApprovalUsed",
    "CannotUse",
    "Client",
    "ConfigError",
    "Expired",
    "FieldError",
    "Forbidden",
    "Frozen",
    "HoldshortError",
    "InvalidRequest",
    "InvalidValue",
    "KeyReused",
    "NoPermission",
    "NotAuthenticated",
    "NotDecided",
    "NotFound",
    "Rejected",
    "RequestFields",
    "Responded",
    "Rule",
    "Skipped",
    "Unreachable",
    "WaitTimeout",
    "Withdrawn",
    "__version__",
    "approve",
    "approve_sync",
    "ask",
    "ask_sync",
    "canonical_json",
    "current_approval",
    "default_client",
    "digest",
    "idempotency_key",
    "require_approval",
    "withdraw",
    "withdraw_sync",
]


@overload
async def ask(question: str, schema: type[T], **options: Any) -> T: ...
@overload
async def ask(question: str, schema: Any = ..., **options: Any) -> Any: ...
async def ask(question: str, schema: Any = None, **options: Any) -> Any:
    """Asks a person a question and returns the answer (`Client.ask`)."""
    return await default_client().ask(question, schema, **options)


@overload
def ask_sync(question: str, schema: type[T], **options: Any) -> T: ...
@overload
def ask_sync(question: str, schema: Any = ..., **options: Any) -> Any: ...
def ask_sync(question: str, schema: Any = None, **options: Any) -> Any:
    """Synchronous twin of `ask`."""
    return default_client().ask_sync(question, schema, **options)


async def approve(tool: str, arguments: Mapping[str, Any], **options: Any) -> Approval:
    """Asks for the approval of a tool call, waits, and uses the approval (`Client.approve`)."""
    return await default_client().approve(tool, arguments, **options)


def approve_sync(tool: str, arguments: Mapping[str, Any], **options: Any) -> Approval:
    """Synchronous twin of `approve`."""
    return default_client().approve_sync(tool, arguments, **options)


async def withdraw(interrupt: str, reason: str | None = None) -> None:
    """Withdraws a request that nobody needs any more (`Client.withdraw`)."""
    await default_client().withdraw(interrupt, reason)


def withdraw_sync(interrupt: str, reason: str | None = None) -> None:
    """Synchronous twin of `withdraw`."""
    default_client().withdraw_sync(interrupt, reason)
