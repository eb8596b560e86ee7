"""A real server for tests, and a person who decides."""

from __future__ import annotations

import json
import os
import queue
import socket
import subprocess
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

PROGRAM = os.environ.get("HOLDSHORT_PROGRAM", "holdshort")


class Server:
    """Server process with a data folder of its own. Use as a context manager."""

    def __init__(self, *arguments: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="holdshort-sdk-")
        self._arguments = arguments
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._opened: queue.Queue[str | None] = queue.Queue()
        self.start()
        with open(self.path("tokens.json"), encoding="utf-8") as file:
            self.tokens = json.load(file)
        self._follow()

    def path(self, name: str) -> str:
        return os.path.join(self._folder.name, name)

    def start(self) -> None:
        command = [PROGRAM, "serve", "--data", self._folder.name, "--json", "--listen", f"127.0.0.1:{self.port}"]
        self._process = subprocess.Popen(
            [*command, *self._arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        # The first line has the tokens of the data folder; it is printed once the server listens.
        assert self._process.stdout.readline(), "the server did not start"

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    @property
    def agent_token(self) -> str:
        return str(self.tokens["agent"])

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Sends a request as the operator."""
        request = urllib.request.Request(self.url + path, method=method)
        request.add_header("Authorization", f"Bearer {self.tokens['operator']}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"{}")

    def next_request(self, timeout: float = 60) -> dict[str, Any]:
        """Waits for the next interrupt that an agent opens and that is still open."""
        while True:
            opened = self._opened.get(timeout=timeout)
            if opened is None:
                raise Stopped
            interrupt = self.read(opened)
            if interrupt["status"] == "open":
                return interrupt

    def read(self, interrupt: str) -> dict[str, Any]:
        return dict(self.call("GET", f"/v1/interrupts/{interrupt}"))

    def decide(self, interrupt: str, option: str = "approve", **more: Any) -> None:
        self.call("POST", f"/v1/interrupts/{interrupt}/decisions", {"option": option, **more})

    def interrupts(self) -> list[dict[str, Any]]:
        return list(self.call("GET", "/v1/interrupts?limit=200")["items"])

    def end_person(self) -> None:
        """Makes a waiting `next_request` raise `Stopped`."""
        self._opened.put(None)

    def _follow(self) -> None:
        """Follows the server's events. The stream begins before this method returns."""
        ready = threading.Event()
        threading.Thread(target=self._read_events, args=(ready,), daemon=True).start()
        assert ready.wait(10)

    def _read_events(self, ready: threading.Event) -> None:
        request = urllib.request.Request(self.url + "/v1/events?previews=false")
        request.add_header("Authorization", f"Bearer {self.tokens['operator']}")
        request.add_header("Accept", "text/event-stream")
        try:
            with urllib.request.urlopen(request, timeout=60) as stream:
                for data in _data(stream, ready):
                    event = json.loads(data)
                    if event.get("type") == "interrupt_opened":
                        self._opened.put(event["data"]["interrupt"])
        except OSError:
            pass  # The server stopped.

    def follow_again(self) -> None:
        """Follows the events after a restart."""
        self._follow()


def _data(stream: Any, ready: threading.Event) -> Iterator[str]:
    for raw in stream:
        line = raw.decode().rstrip()
        if line.startswith("event: position"):
            ready.set()
        elif line.startswith("data: "):
            yield line[6:]


class Stopped(Exception):
    """Raised by `next_request` in a person who was stopped."""


class Person(threading.Thread):
    """Decides each request with a function from the interrupt to `(option, more)`. One person at a time."""

    def __init__(self, server: Server, choose: Any) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._choose = choose
        self.seen: list[dict[str, Any]] = []
        self.start()

    def run(self) -> None:
        while True:
            try:
                interrupt = self._server.next_request()
                self.seen.append(interrupt)
                option, more = self._choose(interrupt)
                if option is not None:
                    self._server.decide(interrupt["id"], option, **more)
            except (Stopped, queue.Empty, OSError):
                return

    def stop(self) -> None:
        """Ends the thread after the requests that are open now."""
        self._server.end_person()
        self.join(20)
