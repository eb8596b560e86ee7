"""Procedures that run in synchronous and in asynchronous code.

A procedure is a generator that yields steps: a function to call, a time to sleep, or a future to wait for. The two
drivers below perform the steps, so each procedure is written once. A cancelled task closes the generator, and the
generator's `finally` blocks clean up.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Do:
    """Calls a function that blocks for the duration of one request."""

    function: Callable[[], Any]


@dataclass(frozen=True)
class Sleep:
    """Sleeps."""

    seconds: float


@dataclass(frozen=True)
class Wait:
    """Waits for a future. Raises `TimeoutError` in the procedure after `timeout` seconds."""

    future: Future[Any]
    timeout: float | None = None


Step = Do | Sleep | Wait
Procedure = Generator[Step, Any, T]


def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=8, thread_name_prefix="holdshort-request")


_requests = _pool()


def _replace_pool() -> None:
    global _requests
    _requests = _pool()


# A forked process has no threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_pool)


def run(procedure: Procedure[T]) -> T:
    """Performs a procedure in this thread."""
    return _drive(procedure, _perform)


async def run_async(procedure: Procedure[T]) -> T:
    """Performs a procedure in an event loop. Requests run in a small pool of threads, waits use no thread."""
    try:
        send: Callable[[], Step] = lambda: next(procedure)
        while True:
            try:
                step = send()
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            try:
                result = await _perform_async(step)
                send = lambda result=result: procedure.send(result)  # type: ignore[misc]
            except Exception as error:
                send = lambda error=error: procedure.throw(error)  # type: ignore[misc]
    finally:
        procedure.close()


def _drive(procedure: Procedure[T], perform: Callable[[Step], Any]) -> T:
    try:
        send: Callable[[], Step] = lambda: next(procedure)
        while True:
            try:
                step = send()
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            try:
                result = perform(step)
                send = lambda result=result: procedure.send(result)  # type: ignore[misc]
            except Exception as error:
                send = lambda error=error: procedure.throw(error)  # type: ignore[misc]
    finally:
        procedure.close()


def _perform(step: Step) -> Any:
    if isinstance(step, Do):
        return step.function()
    if isinstance(step, Sleep):
        return time.sleep(step.seconds)
    try:
        return step.future.result(step.timeout)
    except FutureTimeout:
        raise TimeoutError from None


async def _perform_async(step: Step) -> Any:
    if isinstance(step, Do):
        return await asyncio.wrap_future(_requests.submit(step.function))
    if isinstance(step, Sleep):
        return await asyncio.sleep(step.seconds)
    try:
        return await asyncio.wait_for(asyncio.wrap_future(step.future), step.timeout)
    except asyncio.TimeoutError:
        raise TimeoutError from None
