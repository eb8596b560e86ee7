"""Pydantic AI: a capability that lets people decide deferred tool calls.

    agent = Agent(model, capabilities=[approvals()])

    @agent.tool_plain(requires_approval=True)
    def refund(order: int, amount: int) -> str: ...

To end the run while people decide, leave out the capability, store the messages, and pass `await decide(...)` as
`deferred_tool_results`.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_ai import DeferredToolRequests, DeferredToolResults, RunContext, ToolApproved, ToolDenied
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.messages import ModelMessagesTypeAdapter, ToolCallPart
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import ToolDefinition

from .client import Client
from .errors import ApprovalRequired
from .files import write_private
from .framework import QUESTION, Call, Holds, Reply, add_note
from .request_fields import RequestFields

if TYPE_CHECKING:
    from typing_extensions import Unpack


def approvals(
    *, store: str | os.PathLike[str] | None = None, client: Client | None = None, **fields: Unpack[RequestFields]
) -> HandleDeferredToolCalls[Any]:
    """Returns the capability. People approve calls that require approval, and answer calls that are deferred.

    A deferred call must have the argument `question`: the person's answer is its result. While people decide, the
    messages of the run are in the file `store`. After a restart, pass these messages as `message_history`.
    """
    path = Path(store) if store is not None else None

    async def handle(context: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        if path is not None:
            write_private(path, ModelMessagesTypeAdapter.dump_json(context.messages))
        conversation = context.conversation_id or context.run_id or ""
        return await decide(requests, task=conversation, client=client, **fields)

    return _Approvals(handler=handle, store=path)


@dataclass
class _Approvals(HandleDeferredToolCalls[Any]):
    """Capability that also adds the person's words to results, and deletes the stored messages after the run."""

    store: Path | None = None

    async def after_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any], result: Any
    ) -> Any:
        metadata = ctx.tool_call_metadata
        return add_note(result, metadata.get("holdshort") if isinstance(metadata, dict) else None)

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        if self.store is not None:
            self.store.unlink(missing_ok=True)
        return result


async def decide(
    requests: DeferredToolRequests, *, task: str, client: Client | None = None, **fields: Unpack[RequestFields]
) -> DeferredToolResults:
    """Asks about all requests at once, waits for all decisions, and uses the approvals.

    Pass the results to the agent right away. `task` identifies the work: it must be the same after a restart.
    """
    results = DeferredToolResults()
    questions = Holds("pydantic-ai", {"*": QUESTION}, client, fields)
    asked = [(questions, _call(part, task)) for part in requests.calls]
    for part in requests.approvals:
        asked.append((_holds(requests.metadata.get(part.tool_call_id) or {}, client, fields), _call(part, task)))
    await asyncio.gather(*(holds.decide_all([call]) for holds, call in asked))
    for holds, call in asked:
        outcome = await holds.before(call)
        if holds is questions:
            results.calls[call.id] = outcome.text if isinstance(outcome, Reply) else ""
        elif isinstance(outcome, Reply):
            results.approvals[call.id] = ToolDenied(outcome.text)
        else:
            is_edited = outcome.approval is not None and outcome.approval.edited
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


def _call(part: ToolCallPart, task: str) -> Call:
    return Call(part.tool_name, part.args_as_dict(), task, part.tool_call_id)
