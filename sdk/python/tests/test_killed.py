"""The agent is killed at each place, and started again with the same key.

At every place: one request, one decision, and the tool runs at most once. If the tool has not run, the agent knows
that the approval was used before.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from case import ServerCase
from proxy import Drop, Proxy
from server import Person

REQUESTS = ["POST /v1/interrupts", "GET /v1/agent/decisions", "consume"]
TOOL = ["before the tool", "in the tool", "after the tool"]


class Story:
    """One agent that is killed once."""

    def __init__(self, number: int, mode: str, place: str, phase: str, expected: tuple[int, str]) -> None:
        self.number, self.mode, self.place, self.phase = number, mode, place, phase
        self.expected = expected
        self.code = -15 if phase == "SIGTERM" else -9
        self.victim: subprocess.Popen[str] | None = None
        self.key = f"killed-{uuid.uuid4().hex}"
        self.requests = 0
        self.codes: list[int] = []

    def kill(self) -> bool:
        """Kills the first process. Returns false if it was killed before."""
        victim, self.victim = self.victim, None
        if victim is not None:
            victim.send_signal(signal.SIGTERM if self.phase == "SIGTERM" else signal.SIGKILL)
        return victim is not None

    def hook(self, what: str, phase: str) -> None:
        is_place = what == self.place if self.place == "POST /v1/interrupts" else self.place in what
        if is_place and phase == self.phase and self.kill():
            raise Drop  # A request of a killed process does not reach the server.

    def play(self, url: str, token: str) -> tuple[int, str]:
        """Returns how often the tool ran, and the output of the second process."""
        with tempfile.TemporaryDirectory() as folder, Proxy(url, self.hook) as proxy:
            effects = os.path.join(folder, "effects")
            command = [sys.executable, os.path.join(os.path.dirname(__file__), "killed_agent.py")]
            command += [proxy.url, token, self.key, str(self.number), effects, self.mode]
            for attempt in range(2):
                environment = {**os.environ, "STOP_AT": self.place if attempt == 0 else ""}
                process = subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
                )
                if attempt == 0 and self.place not in TOOL:
                    self.victim = process
                out, _ = process.communicate(timeout=60)
                self.codes.append(process.returncode)
            try:
                with open(effects, encoding="utf-8") as file:
                    return len(file.readlines()), out.strip()
            except FileNotFoundError:
                return 0, out.strip()


class Killed(ServerCase):
    def test_at_each_request(self) -> None:
        self.play(
            # Only a kill after the server has recorded the use leaves the tool undone.
            (mode, place, phase, (0, "used before") if (place, phase) == ("consume", "after") else (1, "done"))
            for mode in ["sync", "async"]
            for place in REQUESTS
            for phase in ["before", "after"]
        )

    def test_while_waiting(self) -> None:
        """A signal does not withdraw the request."""
        self.play(
            (mode, "waiting", phase, (1, "done")) for mode in ["sync", "async"] for phase in ["SIGKILL", "SIGTERM"]
        )

    def test_around_the_tool(self) -> None:
        self.play(
            (mode, place, "", (ran, "used before"))
            for mode in ["sync", "async"]
            for place, ran in zip(TOOL, [0, 1, 1])
        )

    def play(self, places: Any) -> None:
        stories = [Story(number, *place) for number, place in enumerate(places)]

        def choose(interrupt: dict[str, Any]) -> tuple[str, dict[str, Any]]:
            story = stories[interrupt["payload"]["arguments"]["order"]]
            story.requests += 1
            if story.place == "waiting":
                story.kill()
            return "approve", {}

        person = Person(self.server, choose)
        with ThreadPoolExecutor(4) as pool:
            results = pool.map(lambda story: story.play(self.server.url, self.server.agent_token), stories)
            for story, result in zip(stories, results):
                with self.subTest(mode=story.mode, place=story.place, phase=story.phase):
                    self.assertEqual((result, story.codes, story.requests), (story.expected, [story.code, 0], 1))
        person.stop()
