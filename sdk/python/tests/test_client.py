"""Questions and approvals against a real server."""

from __future__ import annotations

import asyncio
import threading
import unittest
from collections.abc import Callable
from typing import Any

import holdshort
from holdshort import Client, digest

from case import ServerCase

REFUND = {"order": 4711, "amount": 120}
SCHEMA = {
    "type": "object",
    "properties": {"order": {"type": "integer"}, "amount": {"type": "number"}},
    "required": ["order", "amount"],
    "additionalProperties": False,
}


class Decided(ServerCase):
    def decided(self, work: Callable[[], Any], option: str, **more: Any) -> Any:
        """Runs `work` in this thread, and decides the request that it opens in another."""
        decider = threading.Thread(target=lambda: self.server.decide(self.server.next_request()["id"], option, **more))
        decider.start()
        try:
            return work()
        finally:
            decider.join()


class Questions(Decided):
    def test_a_text_is_answered(self) -> None:
        answer = self.decided(lambda: self.client().ask_sync("Which region?", context="eu costs 12 % more"), "answer", text="eu")
        self.assertEqual(answer, "eu")

    def test_answers_are_typed(self) -> None:
        choice = {"type": "string", "enum": ["eu", "us"]}
        for schema, given, expected in [
            (bool, {"edit": True}, True),
            (int, {"edit": 3}, 3),
            (float, {"edit": 3}, 3.0),
            (str, {"text": "x"}, "x"),
            (choice, {"text": "us"}, "us"),
            (SCHEMA, {"edit": REFUND}, REFUND),
        ]:
            with self.subTest(schema=schema):
                answer = self.decided(lambda schema=schema: self.client().ask_sync("?", schema), "answer", **given)
                self.assertEqual((type(answer), answer), (type(expected), expected))

    def test_a_schema_of_200_fields(self) -> None:
        names = [f"field_{index}" for index in range(200)]
        schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}, "required": names}
        values = {name: index for index, name in enumerate(names)}
        self.assertEqual(self.decided(lambda: self.client().ask_sync("All?", schema), "answer", edit=values), values)

    def test_a_long_question_is_shown_whole(self) -> None:
        question = "Gehört die Änderung dazu? " * 50
        self.decided(lambda: self.client().ask_sync(question, key="long"), "answer", text="yes")
        (card,) = [each for each in self.server.interrupts() if each["title"].startswith("Gehört")]
        self.assertEqual(card["message"], question)

    def test_no_answer_has_a_type(self) -> None:
        client = self.client()
        with self.assertRaises(holdshort.Skipped) as skipped:
            self.decided(lambda: client.ask_sync("?"), "skip", text="not now")
        self.assertEqual((skipped.exception.text, skipped.exception.by), ("not now", ("operator",)))
        with self.assertRaises(holdshort.Withdrawn):
            self.decided(lambda: client.ask_sync("?"), "cancel")
        with self.assertRaises(holdshort.Expired) as expired:
            client.ask_sync("?", expires_in_ms=50)
        self.assertNotIsInstance(expired.exception, holdshort.Rejected)


class Approvals(Decided):
    def test_an_approval_has_words_and_people(self) -> None:
        approval = self.decided(lambda: self.client().approve_sync("refund", REFUND, reason="over 100"), "approve", text="once")
        self.assertEqual(
            (approval.arguments, approval.edited, approval.text, approval.by, approval.cause),
            (REFUND, False, "once", ("operator",), "decision"),
        )
        card = self.server.read(approval.interrupt)
        self.assertEqual((card["title"], card["message"]), ("Run refund", "over 100"))
        self.assertEqual(card["approval"]["used"]["by"], "agent")
        self.assertEqual(approval.link, f"{self.server.url}/inbox/{approval.interrupt}")
        self.assertEqual(approval.note(), "The person who approved this call said: once")

    def test_an_edit_replaces_the_arguments(self) -> None:
        edited = {"order": 4711, "amount": 99.5}
        approval = self.decided(
            lambda: self.client().approve_sync("refund", REFUND, edit_schema=SCHEMA), "edit", edit=edited
        )
        self.assertEqual((approval.arguments, approval.edited), (edited, True))
        used = self.server.read(approval.interrupt)["approval"]
        self.assertEqual(used["digest"], digest({"tool": "refund", "arguments": edited}))
        self.assertIn('{"amount":99.5,"order":4711}', approval.note())

    def test_the_digest_is_that_of_the_server(self) -> None:
        hard = {"ü😀\ufb33": [1e15, 0.1, -0.0, 2**53 - 1, "\u2028\x7f\x00"], "a": {"b": [], "": None}}
        approval = self.decided(lambda: self.client().approve_sync("write", hard), "approve")
        self.assertEqual(approval.record["action_digest"], digest({"tool": "write", "arguments": hard}))

    def test_what_does_not_permit_the_call_has_a_type(self) -> None:
        client = self.client()
        with self.assertRaises(holdshort.Rejected) as rejected:
            self.decided(lambda: client.approve_sync("refund", REFUND), "reject", text="too much")
        self.assertEqual((rejected.exception.text, rejected.exception.by), ("too much", ("operator",)))
        with self.assertRaises(holdshort.Responded) as responded:
            self.decided(lambda: client.approve_sync("refund", REFUND), "respond", text="paid by hand")
        self.assertEqual(responded.exception.text, "paid by hand")
        with self.assertRaises(holdshort.Expired):
            client.approve_sync("refund", REFUND, expires_in_ms=50)

    def test_without_edit(self) -> None:
        self.decided(lambda: self.client().approve_sync("refund", {"n": 1}, editable=False, title="No edit"), "approve")
        (card,) = [each for each in self.server.interrupts() if each["title"] == "No edit"]
        self.assertEqual([each["id"] for each in card["options"]], ["approve", "respond", "reject"])

    def test_a_schema_that_the_server_refuses_only_ends_the_edit(self) -> None:
        for name, schema in [("Unknown", {"type": "object", "$dynamicRef": "#x"}), ("Large", {"description": "x" * 20_000})]:
            with self.subTest(name):
                self.decided(lambda: self.client().approve_sync("t", {"n": 1}, edit_schema=schema, title=name), "approve")
                (card,) = [each for each in self.server.interrupts() if each["title"] == name]
                self.assertNotIn("edit", [each["id"] for each in card["options"]])

    def test_the_same_key_is_one_request(self) -> None:
        client, key = self.client(), self.key()
        with self.assertRaises(holdshort.WaitTimeout) as late:
            client.approve_sync("refund", REFUND, key=key, timeout=0.05)
        self.assertIsInstance(late.exception, TimeoutError)
        self.assertEqual(self.server.read(late.exception.interrupt)["status"], "open")
        self.server.decide(late.exception.interrupt, "approve")
        approval = client.approve_sync("refund", REFUND, key=key)
        self.assertEqual(approval.interrupt, late.exception.interrupt)
        # The approval is used: a third attempt, as after a restart, must not run the tool again.
        with self.assertRaises(holdshort.ApprovalUsed):
            self.client().approve_sync("refund", REFUND, key=key)
        with self.assertRaises(holdshort.KeyReused):
            client.approve_sync("refund", {"order": 1}, key=key)

    def test_a_request_is_withdrawn_only_by_the_caller(self) -> None:
        client = self.client()
        with self.assertRaises(holdshort.WaitTimeout) as late:
            client.approve_sync("refund", REFUND, key=self.key(), timeout=0.05)
        client.withdraw_sync(late.exception.interrupt, "done by hand")
        resolution = self.server.read(late.exception.interrupt)["resolution"]
        self.assertEqual((resolution["outcome"], resolution["cause"]), ("cancelled", "withdrawn"))
        decided = self.decided(lambda: client.approve_sync("refund", REFUND), "approve")
        with self.assertRaises(holdshort.AlreadyResolved):
            client.withdraw_sync(decided.interrupt)

    def test_an_approval_that_expires_before_its_use(self) -> None:
        client, key = self.client(), self.key()
        with self.assertRaises(holdshort.WaitTimeout) as late:
            client.approve_sync("refund", REFUND, key=key, timeout=0.05, usable_ms=1)
        self.server.decide(late.exception.interrupt, "approve")
        with self.assertRaises(holdshort.ApprovalExpired):
            client.approve_sync("refund", REFUND, key=key, usable_ms=1)

    def test_a_freeze_is_no_refusal(self) -> None:
        client, key = self.client(), self.key()
        with self.assertRaises(holdshort.WaitTimeout) as late:
            client.approve_sync("refund", REFUND, key=key, timeout=0.05)
        self.server.decide(late.exception.interrupt, "approve")
        self.server.call("POST", "/v1/system/freeze", {"reason": "audit"})
        try:
            with self.assertRaises(holdshort.Frozen):
                client.approve_sync("refund", REFUND, key=key)
        finally:
            self.server.call("POST", "/v1/system/unfreeze", {})
        self.assertEqual(client.approve_sync("refund", REFUND, key=key).arguments, REFUND)

    def test_a_cancelled_task_leaves_the_request_open(self) -> None:
        client, key = self.client(), self.key()

        async def cancel() -> None:
            task = asyncio.create_task(client.approve("refund", REFUND, key=key))
            interrupt = await asyncio.to_thread(self.server.next_request)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(self.server.read(interrupt["id"])["status"], "open")
            self.server.decide(interrupt["id"], "approve")

        asyncio.run(cancel())
        self.assertEqual(client.approve_sync("refund", REFUND, key=key).arguments, REFUND)

    def test_the_log_names_the_link_and_no_secret(self) -> None:
        with self.assertLogs("holdshort", "DEBUG") as logs:
            approval = self.decided(lambda: self.client().approve_sync("refund", REFUND), "approve")
        self.assertIn(f"waiting for a person: {approval.link} (Run refund)", "\n".join(logs.output))
        texts = [*logs.output, repr(self.client()), repr(approval), repr(self.client().config)]
        self.assertNotIn(self.server.agent_token, "\n".join(texts))


class BadInput(ServerCase):
    def test_arguments_that_json_lacks(self) -> None:
        with self.assertRaises(holdshort.InvalidValue) as caught:
            self.client().approve_sync("refund", {"customer": {"since": object()}})
        self.assertEqual(caught.exception.pointer, "/customer/since")
        with self.assertRaisesRegex(holdshort.InvalidValue, "`/ids/0` is a number beyond"):
            self.client().approve_sync("refund", {"ids": [2**53]})
        with self.assertRaises(holdshort.InvalidValue):
            self.client().approve_sync("refund", [1])  # type: ignore[arg-type]
        self.assertEqual(self.server.interrupts(), [])

    def test_fields_are_named(self) -> None:
        with self.assertRaisesRegex(TypeError, "`expires`.*expires_in_ms"):
            self.client().ask_sync("?", expires=3)  # type: ignore[call-arg]
        with self.assertRaises(holdshort.InvalidRequest) as caught:
            self.client().ask_sync("?", assignment={"groups": ["nobody"]})
        self.assertTrue(caught.exception.errors[0].pointer.startswith("/assignment"), caught.exception.errors)
        self.assertEqual(caught.exception.code, "invalid_request")

    def test_keys(self) -> None:
        for key in ["", " x", "ü", "a\nb", "x" * 256]:
            with self.subTest(key), self.assertRaises(holdshort.InvalidValue) as caught:
                self.client().ask_sync("?", key=key)
            self.assertEqual(caught.exception.pointer, "/key")
        made = [holdshort.idempotency_key(*parts) for parts in [("f", "a", "b/c"), ("f", "a/b", "c"), ("f", "a", "b/c")]]
        self.assertEqual((made[0], len(set(made))), (made[2], 2))
        self.assertLess(len(holdshort.idempotency_key("f", "ü" * 1000, "c")), 255)

    def test_a_token_that_may_not_ask(self) -> None:
        with self.assertRaises(holdshort.NotAuthenticated):
            Client(self.server.url, "hs_ag_wrong").ask_sync("?")

    def test_an_interrupt_of_somebody_else(self) -> None:
        with self.assertRaises(holdshort.NotFound):
            self.client().withdraw_sync("int_01k6f0000000000000000000cc")

    def test_a_closed_client(self) -> None:
        client = self.client()
        client.close()
        with self.assertRaisesRegex(holdshort.HoldshortError, "closed"):
            client.ask_sync("?")


if __name__ == "__main__":
    unittest.main()
