"""OpenAI Agents SDK: tools that a person approves, and a run that continues after a restart.

    agent = Agent(name="clerk", tools=[held(refund)])
    result = await run(agent, "Refund order 4711", task="task-4711", state="task-4711.json")
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import json
import os
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents import Agent, FunctionTool, Runner, RunResult, RunState
from agents.tool_context import ToolContext

from .client import Client
from .errors import ConfigError, HoldshortError
from .files import write_private
from .framework import QUESTION, Call, Holds, Reply, add_note
from .gate import Rule
from .request_fields import RequestFields

if TYPE_CHECKING:
    from typing_extensions import Unpack

_task: contextvars.ContextVar[str | None] = contextvars.ContextVar("holdshort_task", default=None)


def held(
    tool: FunctionTool, when: Rule = True, *, client: Client | None = None, **fields: Unpack[RequestFields]
) -> FunctionTool:
    """Returns a copy of a tool whose calls a person approves. Run the agent with `run` of this module."""
    return _copy(tool, Holds("openai-agents", {tool.name: when}, client, fields))


def asks(tool: FunctionTool, *, client: Client | None = None, **fields: Unpack[RequestFields]) -> FunctionTool:
    """Returns a copy of a tool that asks a person its argument `question`, and returns the answer."""
    return _copy(tool, Holds("openai-agents", {tool.name: QUESTION}, client, fields))


async def run(
    agent: Agent[Any], input: Any, *, task: str, state: str | os.PathLike[str] | None = None, **options: Any
) -> RunResult:
    """Runs an agent with held tools until its final output.

    All calls of one reply of the model are asked at once. `task` identifies the work: it must be the same after a restart. While people decide, the run is stored in the file `state`, and a restart continues there; `input` is
    then ignored. `options` go to `Runner.run`.
    """
    path = Path(state) if state is not None else None
    token = _task.set(task)
    try:
        begin: Any = input
        saved = await _load(agent, path)
        if saved is not None:
            await _decide(saved)
            begin = saved
        result = await _run(agent, begin, options)
        while result.interruptions:
            paused = result.to_state()
            if path is not None:
                write_private(path, paused.to_string().encode())
            await _decide(paused)
            result = await _run(agent, paused, options)
        if path is not None:
            path.unlink(missing_ok=True)
        return result
    finally:
        _task.reset(token)


class _Invoke:
    """Invocation of a held tool: waits for the decision and uses the approval."""

    def __init__(self, tool: FunctionTool, holds: Holds) -> None:
        self.holds = holds
        self.schema = tool.params_json_schema
        self._name = tool.name
        self._invoke: Callable[[ToolContext[Any], str], Awaitable[Any]] = tool.on_invoke_tool

    async def __call__(self, context: ToolContext[Any], arguments: str) -> Any:
        call = self.call(json.loads(arguments or "{}"), context.tool_call_id)
        outcome = await self.holds.before(call)
        if isinstance(outcome, Reply):
            return outcome.text
        changed = outcome.approval is not None and outcome.approval.edited
        result = await self._invoke(context, json.dumps(outcome.arguments) if changed else arguments)
        return add_note(result, outcome.note)

    def call(self, arguments: dict[str, Any], identity: str) -> Call:
        task = _task.get() or uuid.uuid4().hex
        return Call(self._name, arguments, task, identity, self.schema)


def _copy(tool: FunctionTool, holds: Holds) -> FunctionTool:
    invoke = _Invoke(tool, holds)

    async def needs_approval(_: Any, arguments: dict[str, Any], identity: str) -> bool:
        return holds.is_held(invoke.call(arguments, identity))

    held_tool = copy.copy(tool)
    held_tool.on_invoke_tool = invoke
    held_tool.needs_approval = needs_approval
    return held_tool


async def _run(agent: Agent[Any], begin: Any, options: dict[str, Any]) -> RunResult:
    try:
        return await Runner.run(agent, begin, **options)
    except Exception as error:
        # The framework wraps errors of tools.
        if isinstance(error.__cause__, HoldshortError):
            raise error.__cause__ from error
        raise


async def _decide(state: RunState[Any, Any]) -> None:
    """Waits for all decisions. The tools then read their own decision, so the framework may start all of them."""
    by_holds: dict[Holds, list[Call]] = {}
    paused = state.get_interruptions()
    for item in paused:
        tool = next((tool for tool in item.agent.tools if tool.name == item.name), None)
        invoke = getattr(tool, "on_invoke_tool", None)
        if not isinstance(invoke, _Invoke):
            raise ConfigError("tools", f"`{item.name}` needs an approval, but is not held: pass `held({item.name})`")
        by_holds.setdefault(invoke.holds, []).append(invoke.call(json.loads(item.arguments or "{}"), item.call_id or ""))
    await asyncio.gather(*(holds.decide_all(calls) for holds, calls in by_holds.items()))
    for item in paused:
        state.approve(item)


async def _load(agent: Agent[Any], path: Path | None) -> RunState[Any, Any] | None:
    if path is None or not path.exists():
        return None
    return await RunState.from_string(agent, path.read_text(encoding="utf-8"))
