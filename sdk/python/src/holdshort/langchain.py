"""LangChain and LangGraph: a middleware that holds tool calls until a person decides.

    agent = create_agent(model, tools, middleware=[HoldshortMiddleware([refund])], checkpointer=checkpointer)

In a graph of your own, pass the hooks to the tool node:
`ToolNode(tools, wrap_tool_call=held.wrap_tool_call, awrap_tool_call=held.awrap_tool_call)`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ToolCallRequest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel

from .client import Client
from .framework import QUESTION, Call, Holds, Reply, Rules, Run, add_note
from .request_fields import RequestFields

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["QUESTION", "HoldshortMiddleware"]

Result = ToolMessage | Command[Any]


class HoldshortMiddleware(AgentMiddleware[Any, Any]):
    """Holds tool calls until a person decides. Works with `invoke` and `ainvoke`.

    By default, all calls of one reply of the model are decided before the first one runs. With `per_call`, each call
    runs as soon as it is decided.
    """

    def __init__(
        self,
        rules: Rules | Iterable[BaseTool],
        *,
        tools: Iterable[BaseTool] = (),
        per_call: bool = False,
        client: Client | None = None,
        **fields: Unpack[RequestFields],
    ) -> None:
        """Creates a middleware.

        `rules` are tools or names of tools, or a dictionary of rules by name. The schemas of the tools in `rules` and
        `tools` check a person's edits.
        """
        super().__init__()
        given = rules if isinstance(rules, Mapping) else list(rules)
        known = [each for each in [*given, *tools] if isinstance(each, BaseTool)]
        self._schemas = {tool.name: _schema(tool) for tool in known}
        named: Rules = given if isinstance(given, Mapping) else [_name(each) for each in given]
        self._holds = Holds("langgraph", named, client, fields)
        self._per_call = per_call

    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Asks about all calls of the reply, and waits for all decisions."""
        if not self._per_call:
            self._holds.decide_all_sync(self._calls(state))

    async def aafter_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Asynchronous twin of `after_model`."""
        if not self._per_call:
            await self._holds.decide_all(self._calls(state))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Waits for the decision about a call, uses the approval, and runs the tool."""
        outcome = self._holds.before_sync(self._call(request.tool_call, request.state))
        if isinstance(outcome, Reply):
            return _message(request, outcome)
        return _with_note(handler(_changed(request, outcome)), outcome.note)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Asynchronous twin of `wrap_tool_call`."""
        outcome = await self._holds.before(self._call(request.tool_call, request.state))
        if isinstance(outcome, Reply):
            return _message(request, outcome)
        return _with_note(await handler(_changed(request, outcome)), outcome.note)

    def _calls(self, state: Any) -> list[Call]:
        message = _last_reply(state)
        return [self._call(call, state) for call in message.tool_calls] if message else []

    def _call(self, call: Mapping[str, Any], state: Any) -> Call:
        message = _last_reply(state)
        # The id of the message distinguishes replies of models that number their calls from 1 again.
        session = f"{_thread()}/{message.id if message else ''}"
        return Call(call["name"], dict(call["args"]), session, str(call["id"]), self._schemas.get(call["name"]))


def _thread() -> str:
    try:
        return str(get_config().get("configurable", {}).get("thread_id", ""))
    except RuntimeError:  # Outside of a graph, or asynchronous on Python 3.10.
        return ""


def _last_reply(state: Any) -> AIMessage | None:
    messages = state if isinstance(state, list) else _messages(state)
    return next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)


def _messages(state: Any) -> list[Any]:
    return list(state.get("messages", []) if isinstance(state, Mapping) else getattr(state, "messages", []))


def _name(rule: Any) -> str:
    return rule.name if isinstance(rule, BaseTool) else str(rule)


def _schema(tool: BaseTool) -> Mapping[str, Any] | None:
    """Returns the JSON Schema of a tool's arguments. `None` for schemas of pydantic 1."""
    schema = tool.tool_call_schema
    if isinstance(schema, dict):
        return schema
    return schema.model_json_schema() if issubclass(schema, BaseModel) else None


def _changed(request: ToolCallRequest, run: Run) -> ToolCallRequest:
    if run.approval is None or not run.approval.edited:
        return request
    return request.override(tool_call={**request.tool_call, "args": run.arguments})


def _message(request: ToolCallRequest, reply: Reply) -> ToolMessage:
    return ToolMessage(
        content=reply.text,
        name=request.tool_call["name"],
        tool_call_id=request.tool_call["id"],
        status="success" if reply.is_result else "error",
    )


def _with_note(result: Result, note: str | None) -> Result:
    if note is None or not isinstance(result, ToolMessage):
        return result
    content = result.content
    added = add_note(content, note) if isinstance(content, str) else [*content, {"type": "text", "text": f"[{note}]"}]
    return result.model_copy(update={"content": added})
