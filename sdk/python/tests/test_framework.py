"""Shared part of the adapters: rules, batches, and texts for the model."""

from __future__ import annotations

import threading
import unittest
from typing import Any

import holdshort
from holdshort.framework import QUESTION, Call, Holds, Reply, Run, add_note

from case import ServerCase


def over_100(arguments: dict[str, Any]) -> str | None:
    return "over 100" if arguments["amount"] > 100 else None


class Rules(ServerCase):
    def holds(self, rules: Any, **more: Any) -> Holds:
        return Holds("test", rules, self.client(), {}, **more)

    def call(self, tool: str, **arguments: Any) -> Call:
        return Call(tool, arguments, self.key(), "call_1")

    def test_which_calls_are_held(self) -> None:
        rules = {"refund": over_100, "pay": "always", "ask": QUESTION, "read": False}
        for named, tool, amount, expected in [
            (rules, "refund", 101, True),
            (rules, "refund", 100, False),
            (rules, "pay", 1, True),
            (rules, "ask", 1, True),
            (rules, "read", 1, False),
            (rules, "other", 1, False),
            ({**rules, "*": True}, "other", 1, True),
            ({**rules, "*": True}, "read", 1, False),
            (["refund"], "refund", 1, True),
            (["refund"], "pay", 1, False),
        ]:
            with self.subTest(tool=tool, amount=amount):
                self.assertEqual(self.holds(named).is_held(self.call(tool, amount=amount)), expected)
        with self.assertRaisesRegex(TypeError, "is a text"):
            self.holds("refund")

    def test_a_call_that_is_not_held_runs_without_a_request(self) -> None:
        before = len(self.server.interrupts())
        self.assertEqual(self.holds([]).before_sync(self.call("read", path="x")), Run({"path": "x"}))
        self.assertEqual(len(self.server.interrupts()), before)

    def test_the_reason_of_a_predicate_is_on_the_card(self) -> None:
        person = self.person("approve", text="fine")
        outcome = self.holds({"refund": over_100}).before_sync(self.call("refund", amount=120))
        assert isinstance(outcome, Run)
        self.assertEqual((outcome.arguments, outcome.note), ({"amount": 120}, "The person who approved this call said: fine"))
        self.assertEqual(person.seen[0]["message"], "over 100")

    def test_a_batch_is_asked_at_once(self) -> None:
        holds = self.holds({"refund": True, "ask": QUESTION})
        calls = [self.call("refund", amount=1), self.call("refund", amount=2), self.call("ask", question="Which?")]
        batch = threading.Thread(target=holds.decide_all_sync, args=(calls,))
        batch.start()
        cards = [self.server.next_request() for _ in calls]
        for card in cards:
            is_question = card["kind"] == "question"
            self.server.decide(card["id"], "answer" if is_question else "reject", text="eu")
        batch.join(20)
        outcomes = [holds.before_sync(call) for call in calls]
        rejected = Reply("A person rejected this call, so it did not run. Reason: eu", False)
        self.assertEqual(outcomes, [rejected, rejected, Reply("eu", True)])

    def test_no_decision_is_not_a_rejection(self) -> None:
        holds = Holds("test", ["refund"], self.client(), {"expires_in_ms": 50})
        outcome = holds.before_sync(self.call("refund", amount=1))
        self.assertEqual(outcome, Reply("Nobody decided in time, so this call did not run. Nobody rejected it.", False))

    def test_a_server_that_cannot_be_asked_is_an_error(self) -> None:
        holds = Holds("test", ["refund"], holdshort.Client(self.server.url, "hs_ag_wrong"), {})
        with self.assertRaises(holdshort.NotAuthenticated):
            holds.before_sync(self.call("refund", amount=1))
        with self.assertRaises(holdshort.NotAuthenticated):
            holds.decide_all_sync([self.call("refund", amount=1)])

    def test_a_question_needs_a_text(self) -> None:
        with self.assertRaises(holdshort.InvalidValue) as caught:
            self.holds({"ask": QUESTION}).before_sync(self.call("ask", topic="x"))
        self.assertEqual(caught.exception.pointer, "/question")


class Notes(unittest.TestCase):
    def test_only_a_text_carries_a_note(self) -> None:
        self.assertEqual(add_note("paid", "fine"), "paid\n\n[fine]")
        self.assertEqual(add_note({"paid": 1}, "fine"), {"paid": 1})
        self.assertEqual(add_note("paid", None), "paid")
