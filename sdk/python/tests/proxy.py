"""A proxy between an agent and the server that injects faults."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


class Drop(Exception):
    """Closes the connection without a response."""


class Answer(Exception):
    """Responds without the server."""

    def __init__(self, status: int, body: Any, **headers: str) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers


Hook = Callable[[str, str], None]
"""Called with `METHOD /path` and the phase, `before` or `after` the server's response. May raise `Drop` or `Answer`."""


def problem(status: int, code: str, **headers: str) -> Answer:
    return Answer(status, {"status": status, "code": code, "detail": code}, **headers)


class Proxy:
    """Forwards requests to a server. Use as a context manager."""

    def __init__(self, target: str, hook: Hook = lambda what, phase: None) -> None:
        self.hook = hook
        self.requests: list[tuple[str, dict[str, str]]] = []
        self._streams: list[Any] = []
        self._lock = threading.Lock()
        proxy, address = self, urlsplit(target)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def log_message(self, *_: object) -> None:
                pass

            def forward(self) -> None:
                what = f"{self.command} {self.path}"
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None
                with proxy._lock:
                    proxy.requests.append((what, {name.lower(): value for name, value in self.headers.items()}))
                try:
                    proxy.hook(what, "before")
                    server = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
                    headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                    server.request(self.command, self.path, body, headers)
                    answer = server.getresponse()
                    is_stream = answer.headers.get_content_type() == "text/event-stream"
                    content = b"" if is_stream else answer.read()
                    proxy.hook(what, "after")
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        if name.lower() not in ("transfer-encoding", "connection", "content-length", "date"):
                            self.send_header(name, value)
                    if not is_stream:
                        self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                    if is_stream:
                        self.pass_on(server, answer)
                except Answer as made:
                    content = json.dumps(made.body).encode()
                    self.send_response(made.status)
                    for name, value in {**made.headers, "Content-Length": str(len(content))}.items():
                        self.send_header(name.replace("_", "-"), value)
                    self.end_headers()
                    self.wfile.write(content)
                except (Drop, OSError, http.client.HTTPException):
                    self.close_connection = True

            def pass_on(self, server: http.client.HTTPConnection, answer: http.client.HTTPResponse) -> None:
                with proxy._lock:
                    proxy._streams.append(self.connection)
                for line in answer:
                    self.wfile.write(line)
                    self.wfile.flush()

            do_GET = do_POST = do_DELETE = do_PUT = forward

        class Listener(ThreadingHTTPServer):
            daemon_threads = True
            # With the default of 5, a burst overflows the queue, and connections start seconds late.
            request_queue_size = 128

        self._server = Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def cut_streams(self) -> int:
        """Closes all event streams. Returns their number."""
        with self._lock:
            streams, self._streams = self._streams, []
        for stream in streams:
            try:
                stream.shutdown(2)
            except OSError:
                pass
        return len(streams)

    def count(self, what: str) -> int:
        """Returns the number of requests so far whose `METHOD /path` begins with a text."""
        with self._lock:
            return sum(1 for each, _ in self.requests if each.startswith(what))

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
