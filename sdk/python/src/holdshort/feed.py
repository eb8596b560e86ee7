"""The event stream of a process: one connection for any number of waits.

A thread follows `GET /v1/agent/decisions` while there are waits. The stream starts at a position that the server read
before it opened the first request, and each later connection continues after the last event. So every decision is
heard once. Open waits are read again only if the position is unknown, or if the server or a proxy offers no stream.
"""

from __future__ import annotations

import dataclasses
import http.client
import json
import logging
import os
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager
from typing import IO, Any
from urllib.parse import quote

from . import http as requests
from . import retry
from .config import Config
from .errors import ApiError, HoldshortError, NotFound, api_error
from .http import NetworkError, Response
from .sse import read_events
from .steps import run

log = logging.getLogger("holdshort")

_PATH = "/v1/agent/decisions"
_SILENCE = 50.0
"""Seconds without a byte after which the stream is lost. The server sends a ping every 15 seconds."""
_LINGER = 30.0
"""Seconds for which the stream stays open after the last wait."""

Interrupt = dict[str, Any]

_feeds: weakref.WeakSet[Feed] = weakref.WeakSet()


class _Lost(Exception):
    """The stream ended, or could not be opened."""

    def __init__(self, why: str, retry_after: str | None = None) -> None:
        super().__init__(why)
        self.retry_after = retry_after


class _Refused(Exception):
    """The server refuses the stream, and a repeat would not help."""

    def __init__(self, error: ApiError) -> None:
        super().__init__(str(error))
        self.error = error


class Feed:
    """Waits for the decisions of one agent."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._once = dataclasses.replace(config, retry_for=0)
        self._is_closed = False
        self.connections = 0
        """Number of streams that were opened so far."""
        self._begin()
        _feeds.add(self)

    def _begin(self) -> None:
        """Sets the state without a stream and without waits: of a new feed, and of a copy in a forked process."""
        self._lock = threading.Lock()
        self._waits: dict[str, set[Future[Interrupt]]] = {}
        self._thread: threading.Thread | None = None
        self._cursor: str | None = None
        self._start: int | None = None
        self._asking = 0
        self._heard: dict[str, Interrupt] = {}
        self._idle_since = time.monotonic()
        self._reading = 0
        self._has_access_ended = False

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Keeps the decisions that are heard while a request is under way."""
        with self._lock:
            if self._is_closed:
                raise HoldshortError("the client is closed")
            self._asking += 1
        try:
            yield
        finally:
            with self._lock:
                self._asking -= 1
                if self._asking == 0:
                    self._heard.clear()

    def add(self, interrupt: str, cursor: str | None) -> tuple[Future[Interrupt], bool]:
        """Waits for an interrupt that was open in the response to a request. Call it inside of `asking`.

        `cursor` is a position before the decision, if known. Returns a future of the resolved interrupt, and true if
        the present stream may have started after the decision. Then read the interrupt once.
        """
        wait: Future[Interrupt] = Future()
        with self._lock:
            if self._is_closed:
                raise HoldshortError("the client was closed")
            if interrupt in self._heard:
                wait.set_result(self._heard[interrupt])
                return wait, False
            self._waits.setdefault(interrupt, set()).add(wait)
            self._idle_since = time.monotonic()
            if self._thread is not None:
                asked_at = _number(cursor)
                return wait, asked_at is None or self._start is None or asked_at < self._start
            self._begin_at(cursor)
            # The request had access, so a stream that is refused with 401 has just lost it.
            self._has_access_ended = True
            self._thread = threading.Thread(target=self._follow, name="holdshort-feed", daemon=True)
            self._thread.start()
            return wait, False

    def _begin_at(self, cursor: str | None) -> None:
        """Sets the position of the next connection. Without a position, the connection reads all waits."""
        self._cursor = cursor
        self._start = _number(cursor)

    def remove(self, interrupt: str, wait: Future[Interrupt]) -> None:
        """Ends a wait. The request stays open."""
        with self._lock:
            waits = self._waits.get(interrupt, set())
            waits.discard(wait)
            if not waits:
                self._waits.pop(interrupt, None)
            self._idle_since = time.monotonic()

    def close(self) -> None:
        """Ends the stream at its next event or ping. Waits fail."""
        with self._lock:
            self._is_closed = True
        self._fail(HoldshortError("the client was closed"))

    def _follow(self) -> None:
        failures = 0
        while not self._ends_here():
            pause_after: str | None = None
            has_begun = False
            try:
                for _ in self._read_stream():
                    has_begun = True
                    failures = 0
            except _Refused as refused:
                self._give_up(refused.error)
                return
            except _Lost as lost:
                pause_after = lost.retry_after
                if self._is_needed():
                    log.log(logging.WARNING if failures == 0 else logging.DEBUG, "event stream: %s; reconnecting", lost)
            except HoldshortError as error:  # The token cannot be read.
                self._fail(error)
            if self._is_needed():
                if not has_begun:
                    self._read_again(self._once)
                time.sleep(retry.delay(failures, pause_after))
                failures += 1

    def _give_up(self, error: ApiError) -> None:
        """Fails every wait and ends the thread."""
        with self._lock:
            waits = [wait for each in self._waits.values() for wait in each]
            self._waits.clear()
            self._thread = None
        for wait in waits:
            _finish(wait, error=error)

    def _ends_here(self) -> bool:
        """Returns true if nobody has waited for some time. Then the next wait starts another thread."""
        with self._lock:
            is_idle = not self._waits and time.monotonic() - self._idle_since > _LINGER
            if self._is_closed or is_idle:
                self._thread = None
                return True
            return False

    def _is_needed(self) -> bool:
        with self._lock:
            is_idle = not self._waits and time.monotonic() - self._idle_since > _LINGER
            return not self._is_closed and not is_idle

    def _read_stream(self) -> Iterator[None]:
        """Follows one connection. Yields after each event. Raises `_Lost` at its end."""
        stream = self._open()
        self.connections += 1
        is_lost = self._cursor is None
        try:
            for name, identity, data in read_events(stream):
                if name == "position" or name == "decision":
                    self._cursor = identity or self._cursor
                if name == "position" and is_lost:
                    self._start_reading(identity)
                elif name == "decision":
                    self._resolve(json.loads(data)["interrupt"])
                elif name == "problem":
                    problem = json.loads(data)
                    self._has_access_ended = problem.get("code") == "access_ended"
                    raise _Lost(f"{problem.get('code')}: {problem.get('detail')}")
                yield
                if not self._is_needed():
                    return
            raise _Lost("the server closed the stream")
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            raise _Lost(str(error) or type(error).__name__) from None
        finally:
            stream.close()

    def _open(self) -> IO[bytes]:
        """Opens the stream. Reads the token again, and once more after 401, because a key may have been rotated."""
        for attempt in range(2):
            token = self._config.read_token()
            try:
                at = "" if self._cursor is None else f"?cursor={quote(self._cursor)}"
                answer = requests.open_stream(self._config.url + _PATH + at, token, _SILENCE)
            except NetworkError as failure:
                raise _Lost(str(failure)) from None
            if not isinstance(answer, Response):
                return answer
            error = api_error(answer.status, answer.body if isinstance(answer.body, dict) else {})
            if answer.status == 401 and attempt == 0 and self._config.read_token() != token:
                continue
            if answer.status == 401 and self._has_access_ended:
                # The new secret of a rotated key may be stored a moment after the old secret has ended.
                self._has_access_ended = False
                raise _Lost(str(error), "1")
            if answer.status == 400 and self._cursor is not None:
                # The position is unknown, for example after a restore from a backup.
                with self._lock:
                    self._begin_at(None)
                continue
            if retry.is_temporary(answer.status):
                raise _Lost(str(error), answer.headers.get("retry-after"))
            raise _Refused(error)
        raise _Lost("the server refused the position or the token")

    def _start_reading(self, cursor: str | None) -> None:
        """Reads the open waits in another thread, while this thread follows the stream that starts at a position."""
        with self._lock:
            self._start = _number(cursor)
            if not self._waits:
                return
        threading.Thread(target=self._read_again, args=(self._config,), name="holdshort-read", daemon=True).start()

    def _read_again(self, config: Config) -> None:
        """Reads each interrupt that somebody waits for. A later reading replaces an earlier one."""
        with self._lock:
            self._reading += 1
            reading = self._reading
            waiting = list(self._waits)
        for interrupt in waiting:
            with self._lock:
                if self._reading != reading or self._is_closed:
                    return
                if interrupt not in self._waits:
                    continue
            try:
                self._resolve(run(retry.request(config, "GET", f"/v1/interrupts/{interrupt}")))
            except NotFound as error:
                self._fail(error, interrupt)
            except HoldshortError as error:
                log.debug("interrupt %s could not be read again: %s", interrupt, error)
                return

    def _resolve(self, interrupt: Interrupt) -> None:
        if interrupt.get("status") != "resolved":
            return
        with self._lock:
            if self._asking > 0:
                self._heard[interrupt["id"]] = interrupt
            waits = self._waits.pop(interrupt["id"], set())
            self._idle_since = time.monotonic()
        for wait in waits:
            _finish(wait, interrupt)

    def _fail(self, error: HoldshortError, interrupt: str | None = None) -> None:
        with self._lock:
            ids = list(self._waits) if interrupt is None else [interrupt]
            waits = [wait for each in ids for wait in self._waits.pop(each, set())]
        for wait in waits:
            _finish(wait, error=error)


def _finish(future: Future[Any], value: Any = None, error: Exception | None = None) -> None:
    """Sets the result of a future that may be done or cancelled already."""
    try:
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)
    except InvalidStateError:
        pass


def _number(cursor: str | None) -> int | None:
    """Returns the number by which positions are ordered."""
    number = (cursor or "").removeprefix("p")
    return int(number) if number.isascii() and number.isdecimal() else None


def _begin_all() -> None:
    for feed in _feeds:
        feed._begin()


# A forked process has no threads: its first wait opens a stream of its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_all)
