"""CrewAI: hooks that hold tool calls until a person decides.

    hold(["refund"], task="task-4711")

CrewAI runs a tool if a hook fails. So a failure of the approval blocks the call, and the model is told.
"""

from __future__ import annotations

import contextvars
import logging
import threading
import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any

from crewai.hooks import (
    ToolCallHookContext,
    register_after_tool_call_hook,
    register_before_tool_call_hook,
    unregister_after_tool_call_hook,
    unregister_before_tool_call_hook,
)

from .canonical import digest
from .client import Client
from .framework import QUESTION, Call, Holds, Reply, Rules, add_note
from .request_fields import RequestFields

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["QUESTION", "Held", "hold"]

log = logging.getLogger("holdshort")


def hold(
    rules: Rules, *, task: str | None = None, client: Client | None = None, **fields: Unpack[RequestFields]
) -> Held:
    """Holds tool calls of all crews of this process until a person decides.

    `rules` are names of tools as the model sees them, or a dictionary of rules by name. `task` identifies the work: with
    the same task after a restart, equal calls of equal crew tasks continue with the same requests. Without it, a
    restart asks again.
    """
    held = Held(Holds("crewai", rules, client, fields), task or uuid.uuid4().hex)
    register_before_tool_call_hook(held.before)
    register_after_tool_call_hook(held.after)
    return held


class Held:
    """The registered hooks."""

    def __init__(self, holds: Holds, task: str) -> None:
        self._holds = holds
        self._task = task
        self._lock = threading.Lock()
        self._calls: Counter[str] = Counter()
        self._outcome: contextvars.ContextVar[Any] = contextvars.ContextVar("holdshort_crewai", default=None)

    def release(self) -> None:
        """Removes the hooks. Calls are no longer held."""
        unregister_before_tool_call_hook(self.before)
        unregister_after_tool_call_hook(self.after)

    def before(self, context: ToolCallHookContext) -> bool | None:
        """Waits for the decision about a call. Returns `False` to block the call."""
        self._outcome.set(None)
        try:
            call = self._call(context)
            outcome = self._holds.before_sync(call)
        except Exception as error:
            log.error("`%s` is blocked, because nobody could be asked: %s", context.tool_name, error)
            self._outcome.set(Reply(f"Nobody could be asked to approve this call, so it did not run: {error}", False))
            return False
        self._outcome.set(outcome)
        if isinstance(outcome, Reply):
            return False
        if outcome.approval is not None and outcome.approval.edited:
            # CrewAI runs the tool with this same dictionary.
            context.tool_input.clear()
            context.tool_input.update(outcome.arguments)
        return None

    def after(self, context: ToolCallHookContext) -> str | None:
        """Replaces the result of a blocked call, or adds the person's words to the result."""
        outcome = self._outcome.get()
        self._outcome.set(None)
        if isinstance(outcome, Reply):
            return outcome.text
        note = outcome.note if outcome is not None else None
        return add_note(str(context.tool_result or ""), note) if note else None

    def _call(self, context: ToolCallHookContext) -> Call:
        """Returns the call. CrewAI gives no id that survives a restart, so equal calls of a task are counted."""
        arguments = dict(context.tool_input)
        crew_task = getattr(context.task, "key", "") or ""
        same = digest([crew_task, context.tool_name, arguments])
        with self._lock:
            self._calls[same] += 1
            number = self._calls[same]
        return Call(context.tool_name, arguments, self._task, f"{same}/{number}", _schema(context.tool))


def _schema(tool: Any) -> dict[str, Any] | None:
    model = getattr(tool, "args_schema", None)
    return model.model_json_schema() if model is not None else None
