"""The agent is killed at each place, and started again with the same key.

At every place: one request, one decision, and the tool runs at most once. If the tool has not run, the agent knows
that the approval was used before.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

from case import ServerCase
from proxy import Drop, Proxy
from server import Person

REQUESTS = ["GET /v1/agent/decisions", "POST /v1/interrupts", "GET /v1/interrupts/", "consume"]
TOOL = ["before the tool", "in the tool", "after the tool"]


class Killed(ServerCase):
    def test_at_each_request(self) -> None:
        for mode in ["sync", "async"]:
            for place in REQUESTS:
                for phase in ["before", "after"]:
                    with self.subTest(mode=mode, place=place, phase=phase):
                        ran, out = self.killed(mode, place, phase)
                        # Only a kill after the server has recorded the use leaves the tool undone.
                        is_used = place == "consume" and phase == "after"
                        self.assertEqual((ran, out), (0, "used before") if is_used else (1, "done"))

    def test_while_waiting(self) -> None:
        for mode in ["sync", "async"]:
            with self.subTest(mode):
                self.assertEqual(self.killed(mode, "waiting", ""), (1, "done"))

    def test_around_the_tool(self) -> None:
        for place, ran in zip(TOOL, [0, 1, 1]):
            with self.subTest(place):
                self.assertEqual(self.killed("sync", place, ""), (ran, "used before"))

    def killed(self, mode: str, place: str, phase: str) -> tuple[int, str]:
        """Returns how often the tool ran, and the output of the second process."""
        key = self.key()
        processes: list[subprocess.Popen[str]] = []
        victims: list[subprocess.Popen[str]] = []

        def hook(what: str, now: str) -> None:
            is_place = (what == place or place in what) and now == phase
            if place == "POST /v1/interrupts":
                is_place = what == place and now == phase
            if is_place and victims:
                victims.pop().kill()
                raise Drop  # A request of a killed process does not reach the server.

        before = len(self.server.interrupts())
        decided: list[str] = []

        def choose(interrupt: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
            if place == "waiting" and victims:
                victims.pop().kill()
            decided.append(interrupt["id"])
            return "approve", {}

        person = Person(self.server, choose)
        with tempfile.TemporaryDirectory() as folder, Proxy(self.server.url, hook) as proxy:
            effects = os.path.join(folder, "effects")
            command = [sys.executable, os.path.join(os.path.dirname(__file__), "killed_agent.py")]
            command += [proxy.url, self.server.agent_token, key, effects, mode]
            for attempt in range(2):
                environment = {**os.environ, "STOP_AT": place if attempt == 0 else ""}
                process = subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
                )
                processes.append(process)
                if attempt == 0 and place not in TOOL:
                    victims.append(process)
                out, _ = process.communicate(timeout=60)
            person.stop()
            self.assertEqual([each.returncode for each in processes], [-9, 0])
            self.assertEqual(len(self.server.interrupts()) - before, 1)
            self.assertEqual(len(decided), 1)
            try:
                with open(effects, encoding="utf-8") as file:
                    return len(file.readlines()), out.strip()
            except FileNotFoundError:
                return 0, out.strip()
