"""One HTTP request over the standard library.

`urllib` honours the proxy variables of the environment and the certificates of the system. Each request has its own
connection, so a connection that a server or a proxy has closed cannot fail a later request. Redirects are refused,
because a redirect would carry the token to another address.
"""

from __future__ import annotations

import functools
import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from .version import VERSION

REQUEST_TIMEOUT = 30.0
"""Seconds without a byte after which a request has failed."""


class NetworkError(Exception):
    """The request got no complete response. The server may have carried it out."""


@dataclass(frozen=True)
class Response:
    """Status, headers with lower-case names, and parsed JSON body; an empty object if the body is not JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@functools.cache
def _opener(scheme: str) -> urllib.request.OpenerDirector:
    """Returns the opener for a scheme. Only `https` reads the certificates of the system, which takes some time."""
    if scheme != "https":
        return urllib.request.build_opener(_NoRedirects)
    return urllib.request.build_opener(
        _NoRedirects, urllib.request.HTTPSHandler(context=ssl.create_default_context())
    )


def send(method: str, url: str, token: str, body: Any = None, key: str | None = None) -> Response:
    """Sends a request and returns its response, whatever the status. Raises `NetworkError`."""
    headers = {"Accept": "application/json"}
    data = None
    if body is not None:
        data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        headers["Content-Type"] = "application/json"
    if key is not None:
        headers["Idempotency-Key"] = key
    try:
        with _open(method, url, token, headers, data, REQUEST_TIMEOUT) as answer:
            return Response(answer.status, _lower(answer.headers), _parse(answer.read()))
    except urllib.error.HTTPError as error:
        return _refused(error)
    except (OSError, http.client.HTTPException) as error:
        raise NetworkError(_describe(error)) from None


def open_stream(url: str, token: str, timeout: float) -> IO[bytes] | Response:
    """Opens an event stream. Returns the response if the server refuses. Raises `NetworkError`.

    Reading raises `OSError` after `timeout` seconds without a byte.
    """
    try:
        return _open("GET", url, token, {"Accept": "text/event-stream"}, None, timeout)  # type: ignore[no-any-return]
    except urllib.error.HTTPError as error:
        return _refused(error)
    except (OSError, http.client.HTTPException) as error:
        raise NetworkError(_describe(error)) from None


def _open(method: str, url: str, token: str, headers: Mapping[str, str], data: bytes | None, timeout: float) -> Any:
    request = urllib.request.Request(url, data=data, method=method, headers=dict(headers))
    request.add_header("User-Agent", f"holdshort-python/{VERSION}")
    # Not sent to another host: redirects are refused.
    request.add_unredirected_header("Authorization", f"Bearer {token}")
    return _opener(request.type).open(request, timeout=timeout)


def _refused(error: urllib.error.HTTPError) -> Response:
    try:
        with error:
            return Response(error.code, _lower(error.headers), _parse(error.read()))
    except (OSError, http.client.HTTPException) as broken:
        raise NetworkError(_describe(broken)) from None


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _describe(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(reason) or type(error).__name__
