"""Stories that every framework plays: with the real framework in a process of its own, and a real server."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from server import Server

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = float(os.environ.get("TEST_TIMEOUT", "90"))
REFUND = {"name": "refund", "args": {"order": 4711, "amount": 120}}


class Scenarios(unittest.TestCase):
    """Stories of one framework. `program` is its agent."""

    program = ""
    can_edit = True
    can_show_words = True
    can_continue_after_restart = True
    waits_at_once = True
    """All calls of one reply wait at the same time."""
    fails_if_nobody_can_be_asked = True
    """The run ends with an error if the server cannot be asked. Otherwise the model is told."""
    environment: dict[str, str] = {}

    server: Server

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Server()
        cls.addClassCleanup(cls.server.__exit__)

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = folder.name

    def start(self, *calls: dict[str, Any], **environment: str) -> subprocess.Popen[str]:
        settings = {
            **os.environ,
            "HOLDSHORT_URL": self.server.url,
            "HOLDSHORT_AGENT_TOKEN": self.server.agent_token,
            "WORK": self.work,
            "HOME": self.work,
            "TASK": f"task-{os.path.basename(self.work)}",
            "PYTHONPATH": os.pathsep.join([os.path.join(HERE, "..", "..", "src"), HERE]),
            "CALLS": json.dumps(calls) if calls else "",
            **self.environment,
            **environment,
        }
        process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, self.program)],
            env=settings,
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.end, process)
        return process

    def end(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.communicate()

    def final(self, process: subprocess.Popen[str]) -> str:
        out, err = process.communicate(timeout=TIMEOUT)
        lines = [line for line in out.splitlines() if line.startswith("FINAL ")]
        self.assertTrue(lines, f"exit {process.returncode}\n{out[-2000:]}\n{err[-4000:]}")
        return str(json.loads(lines[-1][6:]))

    def next_request(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        """Waits for the next request, and fails at once if the agent ends."""
        deadline = time.monotonic() + TIMEOUT
        while process.poll() is None and time.monotonic() < deadline:
            try:
                return self.server.next_request(timeout=0.5)
            except queue.Empty:
                continue
        process.kill()
        out, err = process.communicate()
        self.fail(f"no request; exit {process.returncode}\n{out[-2000:]}\n{err[-4000:]}")

    @property
    def effects(self) -> list[str]:
        try:
            with open(os.path.join(self.work, "effects"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def wait_for_effects(self, count: int) -> None:
        deadline = time.monotonic() + TIMEOUT
        while len(self.effects) < count:
            self.assertLess(time.monotonic(), deadline, "the tool did not run")
            time.sleep(0.02)

    def decided(self, option: str, **more: Any) -> tuple[str, dict[str, Any]]:
        process = self.start()
        card = self.next_request(process)
        self.assertEqual(self.effects, [])
        self.server.decide(card["id"], option, **more)
        return self.final(process), card

    def test_approved_with_words(self) -> None:
        text, card = self.decided("approve", text="only this once")
        self.assertEqual(self.effects, ["4711 120"])
        self.assertIn("paid 120", text)
        self.assertEqual("only this once" in text, self.can_show_words)
        self.assertEqual(card["payload"]["arguments"], REFUND["args"])
        self.assertIsNotNone(self.server.read(card["id"])["approval"]["used"])

    def test_edited(self) -> None:
        if not self.can_edit:
            text, card = self.decided("approve")
            self.assertNotIn("edit", [each["id"] for each in card["options"]])
            return
        text, card = self.decided("edit", edit={"order": 4711, "amount": 99})
        self.assertEqual(self.effects, ["4711 99"])
        self.assertIn("paid 99", text)
        self.assertEqual("A person changed the arguments" in text, self.can_show_words)

    def test_rejected(self) -> None:
        text, _ = self.decided("reject", text="too much")
        self.assertEqual(self.effects, [])
        self.assertIn("too much", text)

    def test_a_person_provides_the_result(self) -> None:
        text, _ = self.decided("respond", text="paid by hand")
        self.assertEqual(self.effects, [])
        self.assertIn("paid by hand", text)

    def test_a_question(self) -> None:
        process = self.start({"name": "ask_human", "args": {"question": "Which region?"}})
        card = self.next_request(process)
        self.assertEqual((card["kind"], card["title"]), ("question", "Which region?"))
        self.server.decide(card["id"], "answer", text="eu-west")
        self.assertIn("eu-west", self.final(process))

    def test_two_calls_in_one_reply(self) -> None:
        process = self.start(REFUND, {"name": "refund", "args": {"order": 7, "amount": 1}})
        first = self.next_request(process)
        if self.waits_at_once:
            cards = [first, self.next_request(process)]
            for card in reversed(cards):
                self.server.decide(card["id"], "approve")
        else:
            self.server.decide(first["id"], "approve")
            self.server.decide(self.next_request(process)["id"], "approve")
        text = self.final(process)
        self.assertEqual(sorted(self.effects), ["4711 120", "7 1"])
        self.assertIn("paid 120", text)
        self.assertIn("paid 1", text)

    def test_killed_while_waiting(self) -> None:
        process = self.start()
        card = self.next_request(process)
        process.kill()
        process.wait()
        self.assertEqual(self.server.read(card["id"])["status"], "open")
        before = len(self.server.interrupts())
        again = self.start()
        self.server.decide(card["id"], "approve")
        if not self.can_continue_after_restart:
            self.server.decide(self.next_request(again)["id"], "approve")
        self.assertIn("paid 120", self.final(again))
        self.assertEqual(self.effects, ["4711 120"])
        self.assertEqual(len(self.server.interrupts()) - before, 0 if self.can_continue_after_restart else 1)

    def test_killed_in_the_tool(self) -> None:
        process = self.start(STOP_IN_TOOL="1")
        card = self.next_request(process)
        self.server.decide(card["id"], "approve")
        self.assertEqual(process.wait(TIMEOUT), -9)
        self.assertEqual(self.effects, ["4711 120"])
        again = self.start()
        if not self.can_continue_after_restart:
            self.server.decide(self.next_request(again)["id"], "reject")
        text = self.final(again)
        self.assertEqual(self.effects, ["4711 120"])
        if self.can_continue_after_restart:
            self.assertIn("It is unknown whether it finished", text)

    def test_an_agent_that_may_not_ask_does_nothing(self) -> None:
        process = self.start(HOLDSHORT_AGENT_TOKEN="hs_ag_wrong")
        if self.fails_if_nobody_can_be_asked:
            _, err = process.communicate(timeout=TIMEOUT)
            self.assertNotEqual(process.returncode, 0)
            self.assertIn("NotAuthenticated", err)
        else:
            self.assertIn("did not run", self.final(process))
        self.assertEqual(self.effects, [])
