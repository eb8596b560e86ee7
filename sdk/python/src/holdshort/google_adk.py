"""Google ADK: a plugin that holds tool calls until a person decides.

    app = App(name="shop", root_agent=agent, plugins=[HoldshortPlugin(["refund"])])

`run` of this module also continues after a restart.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from google.adk import Runner
from google.adk.events import Event
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.sessions import Session
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from .client import Client
from .framework import QUESTION, Call, Holds, Reply, Rules
from .request_fields import RequestFields

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["QUESTION", "HoldshortPlugin", "run"]


async def run(
    runner: Runner, new_message: str | types.Content, *, user_id: str, session_id: str, **options: Any
) -> AsyncGenerator[Event, None]:
    """Runs an agent like `Runner.run_async`, and yields its events.

    If calls of the session have no response yet, as after a restart, their invocation is resumed instead, and
    `new_message` is ignored. This needs a `ResumabilityConfig` and a session service that stores sessions.
    """
    session = await runner.session_service.get_session(
        app_name=runner.app_name, user_id=user_id, session_id=session_id
    )
    begin: dict[str, Any] = {"invocation_id": _unfinished(session)}
    if begin["invocation_id"] is None:
        begin = {"new_message": types.UserContent(new_message) if isinstance(new_message, str) else new_message}
    async with aclosing(runner.run_async(user_id=user_id, session_id=session_id, **begin, **options)) as events:
        async for event in events:
            yield event


def _unfinished(session: Session | None) -> str | None:
    """Returns the id of the last invocation of a session if calls of it have no response yet."""
    open_calls: dict[str, str] = {}
    for event in session.events if session else []:
        for call in event.get_function_calls():
            open_calls[call.id or ""] = event.invocation_id
        for response in event.get_function_responses():
            open_calls.pop(response.id or "", None)
    return next(reversed(open_calls.values()), None)


class HoldshortPlugin(BasePlugin):
    """Holds tool calls of all agents of a runner. The calls of one reply of the model wait at the same time."""

    def __init__(self, rules: Rules, *, client: Client | None = None, **fields: Unpack[RequestFields]) -> None:
        """Creates a plugin. `rules` are names of tools, or a dictionary of rules by name."""
        super().__init__(name="holdshort")
        self._holds = Holds("google-adk", rules, client, fields)
        self._notes: dict[tuple[str, str], str] = {}

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Waits for the decision about a call, and uses the approval."""
        session, identity = tool_context.session.id, tool_context.function_call_id or ""
        outcome = await self._holds.before(Call(tool.name, dict(tool_args), session, identity, _schema(tool)))
        if isinstance(outcome, Reply):
            return {"result" if outcome.is_result else "error": outcome.text}
        if outcome.approval is not None and outcome.approval.edited:
            # The framework runs the tool with this same dictionary.
            tool_args.clear()
            tool_args.update(outcome.arguments)
        if outcome.note:
            self._notes[session, identity] = outcome.note
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Adds the person's words to the result."""
        note = self._notes.pop((tool_context.session.id, tool_context.function_call_id or ""), None)
        if note is None:
            return None
        return {**(result if isinstance(result, dict) else {"result": result}), "note": note}


def _schema(tool: BaseTool) -> dict[str, Any] | None:
    """Returns the JSON Schema with which the tool is declared to the model, if it has one."""
    declaration = tool._get_declaration()
    schema = getattr(declaration, "parameters_json_schema", None)
    return schema if isinstance(schema, dict) else None
