"""The decorator `@require_approval`, and the rules that say which calls need an approval."""

from __future__ import annotations

import contextvars
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from .client import Client, default_client
from .decision import Approval
from .errors import ApprovalRequired, InvalidValue
from .request_fields import RequestFields, checked_fields
from .schema import arguments_schema

if TYPE_CHECKING:
    from typing_extensions import Unpack

Rule = bool | str | Callable[[dict[str, Any]], "bool | str | None"]
"""Rule for a tool: `True` (always ask), the reason to ask, or a predicate.

A predicate takes the arguments and returns the reason, `True`, or a false value if no approval is needed. It may
raise `ApprovalRequired` instead. The reason must be the same after a restart.
"""

Function = TypeVar("Function", bound=Callable[..., Any])

_approval: contextvars.ContextVar[Approval | None] = contextvars.ContextVar("holdshort_approval", default=None)


def current_approval() -> Approval | None:
    """Returns the approval under which the current call of a `@require_approval` function runs."""
    return _approval.get()


def required(rule: Rule, arguments: Mapping[str, Any]) -> ApprovalRequired | None:
    """Returns the reason why a call needs an approval. `None` if it needs none."""
    try:
        answer = rule(dict(arguments)) if callable(rule) else rule
    except ApprovalRequired as needed:
        return needed
    if inspect.isawaitable(answer):
        raise TypeError("the predicate is a coroutine function; pass a function that returns the reason")
    if not answer:
        return None
    return ApprovalRequired(answer if isinstance(answer, str) else "")


def require_approval(
    when: Rule = True,
    *,
    tool: str | None = None,
    key: str | Callable[[dict[str, Any]], str] | None = None,
    omit: tuple[str, ...] = ("self", "cls"),
    timeout: float | None = None,
    client: Client | None = None,
    **fields: Unpack[RequestFields],
) -> Callable[[Function], Function]:
    """Decorates a function, synchronous or asynchronous, that runs only after an approval.

    The function gets the approved arguments. `when` is a `Rule`; with `when=False`, only an `ApprovalRequired` that
    the function raises before its work asks. `key` is the idempotency key, or a function of the arguments; without it
    a restart asks again. Parameters in `omit` are neither shown nor editable.
    """
    checked_fields(fields)

    def decorate(function: Function) -> Function:
        gated = _Gated(function, when, tool or function.__name__, key, frozenset(omit), timeout, client, fields)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def asynchronous(*args: Any, **kwargs: Any) -> Any:
                return await gated.call(args, kwargs)

            return asynchronous  # type: ignore[return-value]

        @functools.wraps(function)
        def synchronous(*args: Any, **kwargs: Any) -> Any:
            return gated.call_sync(args, kwargs)

        return synchronous  # type: ignore[return-value]

    return decorate


class _Gated:
    """A function that runs after an approval."""

    def __init__(
        self,
        function: Callable[..., Any],
        when: Rule,
        tool: str,
        key: str | Callable[[dict[str, Any]], str] | None,
        omit: frozenset[str],
        timeout: float | None,
        client: Client | None,
        fields: RequestFields,
    ) -> None:
        self._function = function
        self._when = when
        self._tool = tool
        self._key = key
        self._omit = omit
        self._timeout = timeout
        self._client = client
        self._fields = fields
        self._signature = inspect.signature(function)
        for parameter in self._signature.parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                raise TypeError(f"`{tool}` takes `*{parameter.name}`: give each argument a name, so that a card shows it")
        self._edit_schema = arguments_schema(function, omit)

    async def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        needed = required(self._when, self._shown(bound))
        if needed is None:
            try:
                return await self._function(*args, **kwargs)
            except ApprovalRequired as raised:
                needed = raised
        approval = await self._client_().approve(**self._request(bound, needed))
        with _Under(approval):
            run_with = self._approved(bound, approval)
            return await self._function(*run_with.args, **run_with.kwargs)

    def call_sync(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        needed = required(self._when, self._shown(bound))
        if needed is None:
            try:
                return self._function(*args, **kwargs)
            except ApprovalRequired as raised:
                needed = raised
        approval = self._client_().approve_sync(**self._request(bound, needed))
        with _Under(approval):
            run_with = self._approved(bound, approval)
            return self._function(*run_with.args, **run_with.kwargs)

    def _client_(self) -> Client:
        return self._client or default_client()

    def _shown(self, bound: inspect.BoundArguments) -> dict[str, Any]:
        """Returns the arguments that the person sees, with defaults."""
        full = inspect.BoundArguments(bound.signature, type(bound.arguments)(bound.arguments))
        full.apply_defaults()
        shown: dict[str, Any] = {}
        for name, value in full.arguments.items():
            if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                shown.update(value)
            elif name not in self._omit:
                shown[name] = value
        return shown

    def _request(self, bound: inspect.BoundArguments, needed: ApprovalRequired) -> dict[str, Any]:
        shown = self._shown(bound)
        return {
            "tool": self._tool,
            "arguments": shown,
            "reason": needed.reason,
            "details": needed.details,
            "edit_schema": self._edit_schema,
            "key": self._key(shown) if callable(self._key) else self._key,
            "timeout": self._timeout,
            **self._fields,
        }

    def _approved(self, bound: inspect.BoundArguments, approval: Approval) -> inspect.BoundArguments:
        if not approval.edited:
            return bound
        values = {name: value for name, value in bound.arguments.items() if name in self._omit}
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                known = set(self._signature.parameters)
                values[name] = {key: value for key, value in approval.arguments.items() if key not in known}
            elif name in approval.arguments:
                values[name] = approval.arguments[name]
            elif name not in values and parameter.default is parameter.empty:
                raise InvalidValue(f"/{name}", "is missing from the arguments that a person gave")
        return inspect.BoundArguments(self._signature, values)


class _Under:
    """Sets the current approval for the duration of a call."""

    def __init__(self, approval: Approval) -> None:
        self._approval = approval

    def __enter__(self) -> None:
        self._token = _approval.set(self._approval)

    def __exit__(self, *_: object) -> None:
        _approval.reset(self._token)
