"""Repeats of a failed request: which failures are repeated, and after which delay."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

from . import http
from .config import Config
from .errors import ApiError, Unreachable, api_error
from .http import NetworkError, Response
from .steps import Do, Procedure, Sleep

_FIRST_DELAY = 0.25
_MAX_DELAY = 15.0


def delay(attempt: int, retry_after: str | None = None) -> float:
    """Returns the seconds before the next attempt: exponential with full jitter, at least `Retry-After`.

    `attempt` is 0 after the first failure.
    """
    jitter = random.uniform(0, min(_MAX_DELAY, _FIRST_DELAY * 2 ** min(attempt, 10)))
    try:
        least = min(float(retry_after or 0), 60.0)
    except ValueError:
        least = 0.0
    # Many agents may get the same `Retry-After`, so the jitter is added to it.
    return max(least, 0.0) + max(jitter, 0.01)


def is_temporary(status: int) -> bool:
    """Returns true if a request with this status is repeated."""
    return status in (408, 429) or status >= 500


def request(
    config: Config, method: str, path: str, body: Mapping[str, Any] | None = None, key: str | None = None
) -> Procedure[Any]:
    """Returns the JSON body of the response that `respond` returns."""
    return (yield from respond(config, method, path, body, key)).body


def respond(
    config: Config, method: str, path: str, body: Mapping[str, Any] | None = None, key: str | None = None
) -> Procedure[Response]:
    """Sends a request until it gets a final response, and returns the response of a success.

    Repeats after network errors and temporary statuses for `config.retry_for` seconds. After 401, the token is read
    again, and the request is repeated once if the access had ended or the token has changed. Raises `ApiError` or
    `Unreachable`.
    """
    deadline = time.monotonic() + config.retry_for
    attempt = 0
    is_token_read_again = False
    token = config.read_token()
    while True:
        why: str
        error: ApiError | None = None
        retry_after = None
        try:
            response: Response = yield Do(
                lambda token=token: http.send(method, config.url + path, token, body, key)  # type: ignore[misc]
            )
            if 200 <= response.status < 300:
                return response
            problem = response.body if isinstance(response.body, dict) else {}
            error = api_error(response.status, problem)
            if response.status == 401 and not is_token_read_again:
                is_token_read_again = True
                fresh = config.read_token()
                if error.code == "access_ended" or fresh != token:
                    token = fresh
                    continue
            if not is_temporary(response.status):
                raise error
            why, retry_after = str(error), response.headers.get("retry-after")
        except NetworkError as failure:
            why = str(failure)
        pause = delay(attempt, retry_after)
        if time.monotonic() + pause > deadline:
            if error is not None:
                raise error
            raise Unreachable(
                f"no answer from {config.url} for {config.retry_for:g} seconds ({why}); "
                "check that the server runs, then repeat with the same key"
            )
        attempt += 1
        yield Sleep(pause)
