"""The decorator: reasons, edits, `raise ApprovalRequired`, and functions of every kind."""

from __future__ import annotations

import asyncio
import threading
import unittest
from typing import Any

import holdshort
from holdshort import ApprovalRequired, current_approval, require_approval

from case import ServerCase


class Gates(ServerCase):
    def decided(self, work: Any, option: str, **more: Any) -> tuple[Any, dict[str, Any]]:
        seen: list[dict[str, Any]] = []

        def decide() -> None:
            seen.append(self.server.next_request())
            self.server.decide(seen[0]["id"], option, **more)

        thread = threading.Thread(target=decide)
        thread.start()
        try:
            return work(), seen[0]
        finally:
            thread.join()

    def test_a_function_runs_with_the_edited_arguments(self) -> None:
        @require_approval(client=self.client())
        def refund(order: int, amount: float = 10, note: str | None = None) -> tuple[Any, ...]:
            return order, amount, note, current_approval() is not None

        result, card = self.decided(
            lambda: refund(4711, amount=120), "edit", edit={"order": 4711, "amount": 99, "note": None}
        )
        self.assertEqual(result, (4711, 99, None, True))
        self.assertEqual(card["payload"]["arguments"], {"order": 4711, "amount": 120, "note": None})
        self.assertIsNone(current_approval())

    def test_an_edit_must_fit_the_function(self) -> None:
        @require_approval(client=self.client())
        def refund(order: int) -> int:
            return order

        def work() -> Any:
            card = self.server.next_request()
            for edit in [{"order": "x"}, {"amount": 1}, {}]:
                try:
                    self.server.decide(card["id"], "edit", edit=edit)
                    problems.append(edit)
                except Exception:
                    pass
            self.server.decide(card["id"], "edit", edit={"order": 2})

        problems: list[Any] = []
        thread = threading.Thread(target=work)
        thread.start()
        self.assertEqual(refund(1), 2)
        thread.join()
        self.assertEqual(problems, [])

    def test_a_predicate_returns_the_reason(self) -> None:
        def over_100(arguments: dict[str, Any]) -> str | None:
            return f"{arguments['amount']} EUR is over 100" if arguments["amount"] > 100 else None

        @require_approval(when=over_100, client=self.client())
        def refund(amount: int) -> int:
            return amount

        before = len(self.server.interrupts())
        self.assertEqual(refund(100), 100)
        self.assertEqual(len(self.server.interrupts()), before)
        result, card = self.decided(lambda: refund(101), "approve")
        self.assertEqual((result, card["message"]), (101, "101 EUR is over 100"))

    def test_a_tool_raises_approval_required_with_the_data_that_it_fetched(self) -> None:
        runs: list[str] = []

        @require_approval(when=False, client=self.client())
        async def delete(path: str) -> str:
            runs.append(path)
            if path == "/etc/hosts" and not current_approval():
                raise ApprovalRequired("a protected file", {"bytes": 211})
            return f"deleted {path}"

        self.assertEqual(asyncio.run(delete("/tmp/x")), "deleted /tmp/x")
        result, card = self.decided(lambda: asyncio.run(delete("/etc/hosts")), "approve")
        self.assertEqual(result, "deleted /etc/hosts")
        self.assertEqual((card["message"], card["payload"]["bytes"]), ("a protected file", 211))
        self.assertEqual(runs, ["/tmp/x", "/etc/hosts", "/etc/hosts"])

    def test_a_rejected_function_does_not_run(self) -> None:
        runs: list[int] = []

        @require_approval("always", client=self.client())
        def pay(amount: int) -> None:
            runs.append(amount)

        with self.assertRaises(holdshort.Rejected):
            self.decided(lambda: pay(1), "reject")
        self.assertEqual(runs, [])

    def test_methods_and_hidden_parameters(self) -> None:
        client = self.client()

        class Shop:
            name = "shop"

            @require_approval(client=client, omit=("self", "session"))
            def refund(self, session: object, **lines: int) -> Any:
                return self.name, session, lines

        session = object()
        result, card = self.decided(lambda: Shop().refund(session, a=1, b=2), "edit", edit={"a": 3})
        self.assertEqual(result, ("shop", session, {"a": 3}))
        self.assertEqual(card["payload"]["arguments"], {"a": 1, "b": 2})

    def test_a_key_of_the_arguments_survives_a_restart(self) -> None:
        def make() -> Any:
            @require_approval(client=self.client(), key=lambda arguments: f"refund-{arguments['order']}", timeout=0.05)
            def refund(order: int) -> str:
                return "done"

            return refund

        with self.assertRaises(holdshort.WaitTimeout) as late:
            make()(7)
        self.server.decide(late.exception.interrupt, "approve")
        self.assertEqual(make()(7), "done")
        with self.assertRaises(holdshort.ApprovalUsed):
            make()(7)


class Definitions(unittest.TestCase):
    def test_arguments_without_a_name_are_refused(self) -> None:
        with self.assertRaisesRegex(TypeError, r"\*amounts"):

            @require_approval()
            def pay(*amounts: int) -> None: ...

    def test_an_unknown_field_is_refused_at_once(self) -> None:
        with self.assertRaisesRegex(TypeError, "`assigned`"):
            require_approval(assigned="anna")  # type: ignore[call-arg]

    def test_a_coroutine_is_no_predicate(self) -> None:
        async def predicate(_: Any) -> bool:
            return False

        @require_approval(when=predicate)  # type: ignore[arg-type]
        def pay() -> None: ...

        with self.assertWarns(RuntimeWarning), self.assertRaisesRegex(TypeError, "coroutine"):
            pay()
