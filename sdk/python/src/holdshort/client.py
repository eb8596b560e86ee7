"""The client: asks people, waits for decisions, and uses approvals.

Each method has a synchronous twin with the suffix `_sync`.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import retry
from .canonical import canonical_json, digest, plain
from .config import Config, TokenSource, configure
from .decision import Approval, about, check_answered, check_approved
from .errors import ApprovalDiffers, InvalidRequest, InvalidValue, WaitTimeout
from .feed import Feed
from .http import Response
from .keys import check_key
from .request_fields import RequestFields, checked_fields
from .schema import json_schema, read_answer
from .steps import Procedure, Wait, run, run_async

if TYPE_CHECKING:
    from typing_extensions import Unpack

log = logging.getLogger("holdshort")

T = TypeVar("T")
Interrupt = dict[str, Any]

_TITLE_BYTES = 500
"""Longest title that the server accepts (`docs/reference/limits.md`)."""

_SCHEMA_BYTES = 16 * 1024
"""Largest schema that the server accepts (`docs/external-agents.md`)."""


class Client:
    """Client of one server, as one agent. A process needs one client for any number of waits."""

    def __init__(self, url: str | None = None, token: str | TokenSource | None = None, retry_for: float = 120.0) -> None:
        """Creates a client.

        `url` defaults to `HOLDSHORT_URL`, `token` to the content of `HOLDSHORT_AGENT_TOKEN_FILE`, or to
        `HOLDSHORT_AGENT_TOKEN`. A function as `token` is called before each use. While the server cannot be reached
        or is busy, requests are repeated for `retry_for` seconds. Raises `ConfigError`.
        """
        self.config: Config = configure(url, token, retry_for)
        self._feed = Feed(self.config)

    def __repr__(self) -> str:
        return f"Client(url={self.config.url!r})"

    @property
    def connections(self) -> int:
        """Number of event streams that this client has opened so far."""
        return self._feed.connections

    def close(self) -> None:
        """Ends the event stream. Waits fail; their requests stay open."""
        self._feed.close()

    @overload
    async def ask(
        self,
        question: str,
        schema: type[T],
        *,
        context: str | None = ...,
        key: str | None = ...,
        timeout: float | None = ...,
        **fields: Unpack[RequestFields],
    ) -> T: ...
    @overload
    async def ask(
        self,
        question: str,
        schema: Any = ...,
        *,
        context: str | None = ...,
        key: str | None = ...,
        timeout: float | None = ...,
        **fields: Unpack[RequestFields],
    ) -> Any: ...
    async def ask(
        self,
        question: str,
        schema: Any = None,
        *,
        context: str | None = None,
        key: str | None = None,
        timeout: float | None = None,
        **fields: Unpack[RequestFields],
    ) -> Any:
        """Asks a person a question and returns the answer.

        `schema` is a type (with pydantic: any type that pydantic knows) or a JSON Schema as a dictionary; without it,
        the answer is a text. Under the same `key` a question is asked once, also after a restart. `timeout` ends the
        wait with `WaitTimeout`, but not the question. Raises `Skipped`, `Expired` or `Withdrawn` without an answer.
        """
        return await run_async(self._ask(question, schema, context, key, timeout, fields))

    def ask_sync(
        self,
        question: str,
        schema: Any = None,
        *,
        context: str | None = None,
        key: str | None = None,
        timeout: float | None = None,
        **fields: Unpack[RequestFields],
    ) -> Any:
        """Synchronous twin of `ask`."""
        return run(self._ask(question, schema, context, key, timeout, fields))

    async def approve(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        reason: str | None = None,
        details: Mapping[str, Any] | None = None,
        edit_schema: Mapping[str, Any] | None = None,
        editable: bool = True,
        key: str | None = None,
        timeout: float | None = None,
        **fields: Unpack[RequestFields],
    ) -> Approval:
        """Asks for the approval of a tool call, waits, and uses the approval. Run the tool right after the return.

        Run the tool with `approval.arguments`: a person may have changed them. `reason` and `details` are shown to
        the person; `edit_schema` is the JSON Schema that changed arguments must fit. Use a `key` that stays the same
        after a restart: the person is then asked once, and the approval is used once.

        Raises `Rejected`, `Responded`, `Expired` or `Withdrawn` if the call is not approved, `ApprovalUsed` if an
        earlier attempt with this key may have run the tool, and `WaitTimeout` after `timeout` seconds.
        """
        return await run_async(
            self._approve(tool, arguments, reason, details, edit_schema, editable, key, timeout, fields)
        )

    def approve_sync(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        reason: str | None = None,
        details: Mapping[str, Any] | None = None,
        edit_schema: Mapping[str, Any] | None = None,
        editable: bool = True,
        key: str | None = None,
        timeout: float | None = None,
        **fields: Unpack[RequestFields],
    ) -> Approval:
        """Synchronous twin of `approve`."""
        return run(self._approve(tool, arguments, reason, details, edit_schema, editable, key, timeout, fields))

    async def wait_for_decision(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        reason: str | None = None,
        details: Mapping[str, Any] | None = None,
        edit_schema: Mapping[str, Any] | None = None,
        editable: bool = True,
        key: str,
        timeout: float | None = None,
        **fields: Unpack[RequestFields],
    ) -> None:
        """Asks for an approval and returns after any decision, without using the approval.

        A later `approve` with the same values gets the decision at once.
        """
        body = self._approval_body(tool, arguments, reason, details, edit_schema, editable, fields)
        await run_async(self._settle_approval(body, key, timeout))

    def wait_for_decision_sync(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        reason: str | None = None,
        details: Mapping[str, Any] | None = None,
        edit_schema: Mapping[str, Any] | None = None,
        editable: bool = True,
        key: str,
        timeout: float | None = None,
        **fields: Unpack[RequestFields],
    ) -> None:
        """Synchronous twin of `wait_for_decision`."""
        body = self._approval_body(tool, arguments, reason, details, edit_schema, editable, fields)
        run(self._settle_approval(body, key, timeout))

    async def withdraw(self, interrupt: str, reason: str | None = None) -> None:
        """Withdraws a request that nobody needs any more. Raises `AlreadyResolved` if a person has decided."""
        await run_async(self._withdraw(interrupt, reason))

    def withdraw_sync(self, interrupt: str, reason: str | None = None) -> None:
        """Synchronous twin of `withdraw`."""
        run(self._withdraw(interrupt, reason))

    def _ask(
        self,
        question: str,
        schema: Any,
        context: str | None,
        key: str | None,
        timeout: float | None,
        fields: RequestFields,
    ) -> Procedure[Any]:
        body: dict[str, Any] = {"kind": "question", **_question(question, context), **checked_fields(fields)}
        answer_schema = json_schema(schema)
        if answer_schema is not None:
            body["response_schema"] = answer_schema
        interrupt = yield from self._settle(body, key, timeout)
        check_answered(interrupt, self.config.link(interrupt["id"]))
        return read_answer(schema, interrupt["resolution"])

    def _approve(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        reason: str | None,
        details: Mapping[str, Any] | None,
        edit_schema: Mapping[str, Any] | None,
        editable: bool,
        key: str | None,
        timeout: float | None,
        fields: RequestFields,
    ) -> Procedure[Approval]:
        body = self._approval_body(tool, arguments, reason, details, edit_schema, editable, fields)
        interrupt = yield from self._settle_approval(body, key, timeout)
        link = self.config.link(interrupt["id"])
        check_approved(interrupt, link)
        # The digest is of the call that will run, so the server can detect a difference from the approved call.
        changed = (interrupt.get("approval") or {}).get("approved")
        call = body["call"] if changed is None else {**body["call"], "arguments": changed["arguments"]}
        path = f"/v1/interrupts/{interrupt['id']}/consume"
        # The key is new in each process: a repeat after a lost response is safe, but another process that used the
        # approval before gets `approval_used`.
        used = yield from retry.request(self.config, "POST", path, {"digest": digest(call)}, key=uuid.uuid4().hex)
        if digest(used["approved"]) != digest(call):
            raise ApprovalDiffers(409, {"code": "approval_differs", "detail": "the server approved another call"})
        run_with = dict(arguments) if changed is None else dict(call["arguments"])
        about_it, resolution = about(interrupt, link), interrupt["resolution"]
        return Approval(
            tool=tool,
            arguments=run_with,
            edited=changed is not None,
            text=about_it.text,
            by=about_it.by,
            interrupt=interrupt["id"],
            link=link,
            cause=str(resolution.get("cause", "decision")),
            record=interrupt,
        )

    def _approval_body(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        reason: str | None,
        details: Mapping[str, Any] | None,
        edit_schema: Mapping[str, Any] | None,
        editable: bool,
        fields: RequestFields,
    ) -> dict[str, Any]:
        if not isinstance(arguments, Mapping):
            raise InvalidValue("", "is not a dictionary of arguments")
        body: dict[str, Any] = {"kind": "tool_approval", "title": f"Run {tool}", **checked_fields(fields)}
        body["call"] = {"tool": tool, "arguments": plain(arguments)}
        if reason:
            body["message"] = reason
        if details:
            body["payload"] = plain(details)
        fits = edit_schema is None or len(canonical_json(edit_schema)) <= _SCHEMA_BYTES
        if editable and fits:
            if edit_schema is not None:
                body["response_schema"] = plain(edit_schema)
        elif "options" not in body:
            body["options"] = _without_edit()
        return body

    def _settle_approval(self, body: dict[str, Any], key: str | None, timeout: float | None) -> Procedure[Interrupt]:
        """Opens an approval and returns the resolved interrupt. Without a usable schema, *edit* is not offered."""
        key = key or f"python:{uuid.uuid4().hex}"
        try:
            return (yield from self._settle(body, key, timeout))
        except InvalidRequest as error:
            is_schema = any(each.pointer.startswith("/response_schema") for each in error.errors)
            if not is_schema or "response_schema" not in body:
                raise
            log.info("the server cannot check edits of `%s`, so it offers none: %s", body["call"]["tool"], error)
            plain = {name: value for name, value in body.items() if name != "response_schema"}
            plain.setdefault("options", _without_edit())
            return (yield from self._settle(plain, key, timeout))

    def _settle(self, body: Mapping[str, Any], key: str | None, timeout: float | None) -> Procedure[Interrupt]:
        """Opens a request and returns its resolved interrupt.

        The response has a position before the decision, at which the event stream starts. So no decision is lost,
        whether the request is new or was decided long ago.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        if key is not None:
            check_key(key)
        key = key or f"python:{uuid.uuid4().hex}"
        with self._feed.asking():
            response = yield from retry.respond(self.config, "POST", "/v1/interrupts", body, key)
            interrupt: Interrupt = response.body
            identity, link = interrupt["id"], self.config.link(interrupt["id"])
            if interrupt["status"] == "resolved":
                return interrupt
            # A warning, because the program stops here until a person acts.
            log.warning("waiting for a person: %s (%s)", link, body["title"])
            wait, is_unsure = self._feed.add(identity, _cursor(response))
        try:
            if is_unsure:
                interrupt = yield from retry.request(self.config, "GET", f"/v1/interrupts/{identity}")
            if interrupt["status"] != "resolved":
                left = None if deadline is None else max(deadline - time.monotonic(), 0)
                try:
                    interrupt = yield Wait(wait, left)
                except TimeoutError:
                    raise WaitTimeout(identity, link) from None
        finally:
            self._feed.remove(identity, wait)
        log.info("decided: %s is %s", link, interrupt["resolution"]["outcome"])
        return interrupt

    def _withdraw(self, interrupt: str, reason: str | None) -> Procedure[None]:
        body = {"text": reason} if reason else {}
        yield from retry.request(self.config, "POST", f"/v1/interrupts/{interrupt}/cancel", body)


def _question(question: str, context: str | None) -> dict[str, str]:
    """Returns the title and the message of a question. A long question moves into the message."""
    if len(question.encode()) <= _TITLE_BYTES:
        return {"title": question, "message": context or ""}
    title = question.encode()[: _TITLE_BYTES - 3].decode(errors="ignore") + "…"
    return {"title": title, "message": f"{question}\n\n{context}" if context else question}


def _cursor(response: Response) -> str | None:
    """Returns a position before the decision. That of a repeated request is before all decisions, so it is not used."""
    if response.headers.get("idempotency-replayed") == "true":
        return None
    return response.headers.get("decisions-cursor")


def _without_edit() -> list[dict[str, str]]:
    return [{"id": "approve"}, {"id": "respond"}, {"id": "reject"}]


_default: Client | None = None
_default_lock = threading.Lock()


def default_client() -> Client:
    """Returns the client of this process, with the settings of the environment."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Client()
        return _default
