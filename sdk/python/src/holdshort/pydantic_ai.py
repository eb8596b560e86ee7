"""Pydantic AI: a capability that lets people decide deferred tool calls.

    agent = Agent(model, capabilities=[approvals()])

    @agent.tool_plain(requires_approval=True)
    def refund(order: int, amount: int) -> str: ...

To end the run while people decide, leave out the capability, store the messages, and pass `await decide(...)` as
`deferred_tool_results`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic_ai import DeferredToolRequests, DeferredToolResults, RunContext, ToolApproved, ToolDenied
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.messages import ToolCallPart

from .client import Client
from .errors import ApprovalRequired
from .framework import QUESTION, Call, Holds, Reply
from .request_fields import RequestFields

if TYPE_CHECKING:
    from typing_extensions import Unpack


def approvals(*, client: Client | None = None, **fields: Unpack[RequestFields]) -> HandleDeferredToolCalls[Any]:
    """Returns the capability. People approve calls that require approval, and answer calls that are deferred.

    A deferred call must have the argument `question`: the person's answer is its result.
    """

    async def handle(context: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        session = context.conversation_id or context.run_id or ""
        return await decide(requests, session=session, client=client, **fields)

    return HandleDeferredToolCalls(handler=handle)


async def decide(
    requests: DeferredToolRequests, *, session: str, client: Client | None = None, **fields: Unpack[RequestFields]
) -> DeferredToolResults:
    """Asks about all requests at once, waits for all decisions, and uses the approvals.

    Pass the results to the agent right away. `session` must be the same after a restart.
    """
    results = DeferredToolResults()
    questions = Holds("pydantic-ai", {"*": QUESTION}, client, fields)
    asked = [(questions, _call(part, session)) for part in requests.calls]
    for part in requests.approvals:
        asked.append((_holds(requests.metadata.get(part.tool_call_id) or {}, client, fields), _call(part, session)))
    await asyncio.gather(*(holds.decide_all([call]) for holds, call in asked))
    for holds, call in asked:
        outcome = await holds.before(call)
        if holds is questions:
            results.calls[call.id] = outcome.text if isinstance(outcome, Reply) else ""
        elif isinstance(outcome, Reply):
            results.approvals[call.id] = ToolDenied(outcome.text)
        else:
            approval = outcome.approval
            is_edited = approval is not None and approval.edited
            results.approvals[call.id] = ToolApproved(override_args=outcome.arguments if is_edited else None)
            if outcome.note:
                results.metadata[call.id] = {"holdshort": outcome.note}
    return results


def _holds(metadata: dict[str, Any], client: Client | None, fields: RequestFields) -> Holds:
    """Returns the rule of a call: `reason` of `ApprovalRequired(metadata=…)` is the reason, the rest are details."""
    details = {name: value for name, value in metadata.items() if name != "reason"}

    def needed(_: dict[str, Any]) -> str:
        raise ApprovalRequired(str(metadata.get("reason", "")), details)

    return Holds("pydantic-ai", {"*": needed}, client, fields)


def _call(part: ToolCallPart, session: str) -> Call:
    return Call(part.tool_name, part.args_as_dict(), session, part.tool_call_id)
