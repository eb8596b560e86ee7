"""Shared part of the adapters: what happens before a tool call of a framework.

An adapter asks `Holds.before` and then either runs the tool with the returned arguments, or gives the returned text to
the model. All other errors end the run: an unreachable server is not a refusal.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from .client import Client, default_client
from .decision import Approval
from .errors import (
    ApprovalRequired,
    ApprovalUsed,
    Expired,
    InvalidValue,
    NoPermission,
    Rejected,
    Responded,
    Skipped,
)
from .gate import Rule, required
from .keys import idempotency_key
from .request_fields import RequestFields, checked_fields


class _Question:
    def __repr__(self) -> str:
        return "QUESTION"


QUESTION = _Question()
"""Rule for a tool that asks a person: the argument `question` is the question, the answer is the tool's result."""

Rules = Mapping[str, "Rule | _Question"] | Iterable[str]
"""Rules by the name of the tool, or names of tools that always ask. The name `*` stands for all other tools."""


@dataclass(frozen=True)
class Call:
    """A tool call of a framework. `schema` is the JSON Schema of its arguments, if known."""

    tool: str
    arguments: dict[str, Any]
    session: str
    id: str
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Run:
    """The tool runs with these arguments. `approval` is `None` if the call needs no approval."""

    arguments: dict[str, Any]
    approval: Approval | None = None

    @property
    def note(self) -> str | None:
        """Text for the model besides the result: changed arguments, and the person's words."""
        return self.approval.note() if self.approval else None


@dataclass(frozen=True)
class Reply:
    """The tool does not run. The model gets `text` instead. `is_result` is true if `text` is the tool's result."""

    text: str
    is_result: bool


class Holds:
    """Rules of one agent in one framework."""

    def __init__(
        self, framework: str, rules: Rules, client: Client | None, fields: RequestFields, editable: bool = True
    ) -> None:
        checked_fields(fields)
        if isinstance(rules, str):
            raise TypeError(f"tools: `{rules}` is a text; pass a list of names, or a dictionary of rules")
        self._framework = framework
        self._rules = dict(rules) if isinstance(rules, Mapping) else {name: True for name in rules}
        self._client = client
        self._fields = fields
        self._editable = editable

    @property
    def client(self) -> Client:
        """The client of these rules."""
        return self._client or default_client()

    def rule(self, tool: str) -> Rule | _Question:
        """Returns the rule for a tool. `False` if the tool never asks."""
        return self._rules.get(tool, self._rules.get("*", False))

    def is_held(self, call: Call) -> bool:
        """Returns true if a person decides about the call, or answers it."""
        return self._needed(call) is not None

    async def before(self, call: Call) -> Run | Reply:
        """Waits for the decision about a call, and uses an approval."""
        needed = self._needed(call)
        if needed is None:
            return Run(call.arguments)
        try:
            if isinstance(needed, _Question):
                return _reply(await self.client.ask(**self._question(call)))
            return _run(await self.client.approve(**self._request(call, needed)))
        except (NoPermission, ApprovalUsed) as error:
            return explain(error)

    def before_sync(self, call: Call) -> Run | Reply:
        """Synchronous twin of `before`."""
        needed = self._needed(call)
        if needed is None:
            return Run(call.arguments)
        try:
            if isinstance(needed, _Question):
                return _reply(self.client.ask_sync(**self._question(call)))
            return _run(self.client.approve_sync(**self._request(call, needed)))
        except (NoPermission, ApprovalUsed) as error:
            return explain(error)

    async def decide_all(self, calls: Sequence[Call]) -> None:
        """Asks about all calls at once, and returns after all decisions. `before` then returns each at once."""
        tasks = [asyncio.ensure_future(self._decide(call)) for call in calls]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    def decide_all_sync(self, calls: Sequence[Call]) -> None:
        """Synchronous twin of `decide_all`. Uses an event loop of its own in a thread."""
        if not any(self.is_held(call) for call in calls):
            return
        done: Future[None] = Future()

        def decide() -> None:
            try:
                done.set_result(asyncio.run(self.decide_all(calls)))
            except BaseException as error:
                done.set_exception(error)

        threading.Thread(target=decide, name="holdshort-batch", daemon=True).start()
        done.result()

    async def _decide(self, call: Call) -> None:
        needed = self._needed(call)
        if needed is None:
            return
        if not isinstance(needed, _Question):
            await self.client.wait_for_decision(**self._request(call, needed))
            return
        try:
            await self.client.ask(**self._question(call))
        except NoPermission:
            pass  # `before` explains the outcome.

    def _needed(self, call: Call) -> ApprovalRequired | _Question | None:
        rule = self.rule(call.tool)
        return rule if isinstance(rule, _Question) else required(rule, call.arguments)

    def _key(self, call: Call) -> str:
        return idempotency_key(self._framework, call.session, call.id)

    def _request(self, call: Call, needed: ApprovalRequired) -> dict[str, Any]:
        return {
            "tool": call.tool,
            "arguments": call.arguments,
            "reason": needed.reason,
            "details": needed.details,
            "edit_schema": call.schema,
            "editable": self._editable,
            "key": self._key(call),
            **self._fields,
        }

    def _question(self, call: Call) -> dict[str, Any]:
        question = call.arguments.get("question")
        if not isinstance(question, str) or not question.strip():
            raise InvalidValue("/question", f"is not a question; the tool `{call.tool}` needs the argument `question`")
        others = {name: value for name, value in call.arguments.items() if name != "question" and value}
        context = "\n".join(f"{name}: {value}" for name, value in others.items()) or None
        fields = {name: value for name, value in self._fields.items() if name not in ("usable_ms", "options")}
        return {"question": question, "context": context, "key": self._key(call), **fields}


def _run(approval: Approval) -> Run:
    return Run(approval.arguments, approval)


def _reply(answer: Any) -> Reply:
    return Reply(str(answer), is_result=True)


def explain(error: NoPermission | ApprovalUsed) -> Reply:
    """Returns the text for the model about a call that must not run."""
    if isinstance(error, ApprovalUsed):
        return Reply(
            "This call was approved and started before a restart. It is unknown whether it finished, so it was not "
            "repeated. Check its effect before you try again.",
            is_result=False,
        )
    if isinstance(error, Responded):
        return Reply(error.text or "", is_result=True)
    if isinstance(error, Rejected):
        who = "A person" if error.by else "A rule"
        words = f" Reason: {error.text}" if error.text else ""
        return Reply(f"{who} rejected this call, so it did not run.{words}", is_result=False)
    if isinstance(error, Skipped):
        words = f" They said: {error.text}" if error.text else ""
        return Reply(f"The person skipped the question. Continue without an answer.{words}", is_result=False)
    if isinstance(error, Expired):
        return Reply("Nobody decided in time, so this call did not run. Nobody rejected it.", is_result=False)
    return Reply("The request was withdrawn before a decision, so this call did not run.", is_result=False)


def add_note(result: Any, note: str | None) -> Any:
    """Returns a result with a note for the model. Only a text can carry a note; other results are unchanged."""
    if note is None or not isinstance(result, str):
        return result
    return f"{result}\n\n[{note}]"
