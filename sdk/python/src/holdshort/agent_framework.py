"""Microsoft Agent Framework: tools that a person approves, and a run that continues after a restart.

    agent = Agent(client, tools=[refund], middleware=[HoldshortMiddleware(["refund"])])
    response = await run(agent, "Refund order 4711", task="task-4711", state="task-4711.json")

The tools have `approval_mode="always_require"`. The framework runs an approved call with its original arguments only,
so *edit* is not offered.
"""

from __future__ import annotations

import contextvars
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_framework import (
    Agent,
    AgentResponse,
    AgentSession,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    Message,
    MiddlewareTermination,
)

from .client import Client
from .errors import ConfigError
from .files import write_private
from .framework import QUESTION, Call, Holds, Reply, Rules, add_note
from .request_fields import RequestFields

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["QUESTION", "HoldshortMiddleware", "run"]

_errors: contextvars.ContextVar[list[Exception] | None] = contextvars.ContextVar("holdshort_errors", default=None)


class HoldshortMiddleware(FunctionMiddleware):
    """Waits for the decision about a call, and uses the approval, right before the tool runs."""

    def __init__(self, rules: Rules, *, client: Client | None = None, **fields: Unpack[RequestFields]) -> None:
        """Creates a middleware. `rules` are names of tools, or a dictionary of rules by name."""
        self.holds = Holds("agent-framework", rules, client, fields, editable=False)

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        session = context.session.session_id if context.session else ""
        arguments = _plain(context.arguments)
        try:
            outcome = await self.holds.before(
                Call(context.function.name, arguments, session, str(context.metadata["call_id"]))
            )
        except Exception as error:
            # The framework would give the error to the model as a result of the tool. `run` raises it instead.
            errors = _errors.get()
            if errors is not None:
                errors.append(error)
            context.result = f"Nobody could be asked to approve this call, so it did not run: {error}"
            raise MiddlewareTermination(str(error)) from error
        if isinstance(outcome, Reply):
            context.result = outcome.text
            return
        await call_next()
        context.result = _with_note(context.result, outcome.note)


async def run(
    agent: Agent[Any], input: Any, *, task: str, state: str | os.PathLike[str] | None = None, **options: Any
) -> AgentResponse[Any]:
    """Runs an agent with held tools until its final response.

    All calls of one reply of the model are asked at once. `task` identifies the work: it must be the same after a
    restart. While people decide, the session is in the file `state`, and a restart continues there; `input` is then
    ignored. `options` go to `agent.run`.
    """
    path = Path(state) if state is not None else None
    saved = _load(path)
    thread, requests = saved or (agent.create_session(session_id=task), [])
    errors: list[Exception] = []
    token = _errors.set(errors)
    try:
        following = await _decided(agent, thread, requests) if saved else input
        while True:
            response: AgentResponse[Any] = await agent.run(following, session=thread, **options)
            if errors:
                raise errors[0]
            requests = response.user_input_requests
            if not requests:
                break
            if path is not None:
                content = {"session": thread.to_dict(), "requests": [request.to_dict() for request in requests]}
                write_private(path, json.dumps(content).encode())
            following = await _decided(agent, thread, requests)
    finally:
        _errors.reset(token)
    if path is not None:
        path.unlink(missing_ok=True)
    return response


def _load(path: Path | None) -> tuple[AgentSession, list[Content]] | None:
    if path is None or not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    return AgentSession.from_dict(content["session"]), [Content.from_dict(each) for each in content["requests"]]


async def _decided(agent: Agent[Any], thread: AgentSession, requests: list[Content]) -> Message:
    """Waits for all decisions. The middleware reads each decision again, so the framework may start all calls."""
    held = next((each for each in agent.middleware or [] if isinstance(each, HoldshortMiddleware)), None)
    calls = []
    for request in requests:
        call = request.function_call
        if call is None or held is None or not held.holds.rule(call.name or ""):
            name = call.name if call is not None else request.type
            raise ConfigError("middleware", f"`{name}` needs an approval, but no HoldshortMiddleware has a rule for it")
        arguments = dict(call.parse_arguments() or {})
        calls.append(Call(call.name or "", arguments, thread.session_id, str(call.call_id)))
    if held is not None:
        await held.holds.decide_all(calls)
    return Message("user", [request.to_function_approval_response(approved=True) for request in requests])


def _plain(arguments: Any) -> dict[str, Any]:
    return dict(arguments) if isinstance(arguments, dict) else dict(arguments.model_dump(exclude_unset=True))


def _with_note(result: Any, note: str | None) -> Any:
    if note is None:
        return result
    if isinstance(result, list):
        return [*result, Content.from_text(f"[{note}]")]
    return add_note(result, note)
