"""Typed answers and checked edits with pydantic."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import unittest
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import holdshort
from pydantic import AfterValidator, BaseModel, Field

from server import Server


class Day(BaseModel):
    day: date
    hours: list[Annotated[int, Field(ge=0, lt=24)]]


class Plan(BaseModel):
    first: Day
    others: list[Day] = []


@dataclass
class Point:
    x: int
    y: int = 0


def even(value: int) -> int:
    if value % 2:
        raise ValueError("is odd")
    return value


class Typed(unittest.TestCase):
    server: Server

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Server()
        cls.addClassCleanup(cls.server.__exit__)
        cls.client = holdshort.Client(cls.server.url, cls.server.agent_token)
        cls.addClassCleanup(cls.client.close)

    def answered(self, schema: Any, **answer: Any) -> Any:
        thread = threading.Thread(target=lambda: self.server.decide(self.server.next_request()["id"], "answer", **answer))
        thread.start()
        try:
            return asyncio.run(self.client.ask("?", schema))
        finally:
            thread.join()

    def test_models(self) -> None:
        day = {"day": "2026-12-01", "hours": [9, 14]}
        plan = self.answered(Plan, edit={"first": day, "others": [day]})
        self.assertEqual(plan, Plan(first=Day(day=date(2026, 12, 1), hours=[9, 14]), others=[Day(**day)]))

    def test_other_types(self) -> None:
        self.assertEqual(self.answered(Literal["eu", "us"], text="us"), "us")
        self.assertEqual(self.answered(list[int], edit=[1, 2]), [1, 2])
        self.assertEqual(self.answered(Point, edit={"x": 3}), Point(3))
        self.assertEqual(self.answered(date, text="2026-12-01"), date(2026, 12, 1))

    def test_an_answer_that_only_python_rejects(self) -> None:
        with self.assertRaises(holdshort.InvalidValue) as caught:
            self.answered(Annotated[int, AfterValidator(even)], edit=3)
        self.assertIn("is odd", str(caught.exception))

    def test_an_edit_is_checked_by_the_types_of_the_parameters(self) -> None:
        @holdshort.require_approval(client=self.client)
        def refund(order: Annotated[int, Field(gt=0)], reason: Literal["late", "broken"] = "late") -> Any:
            return order, reason

        refused: list[Any] = []

        def edit() -> None:
            card = self.server.next_request()
            for wrong in [{"order": 0}, {"order": 1, "reason": "other"}, {"order": 1, "amount": 2}]:
                try:
                    self.server.decide(card["id"], "edit", edit=wrong)
                except OSError:
                    refused.append(wrong)
            self.server.decide(card["id"], "edit", edit={"order": 2, "reason": "broken"})

        thread = threading.Thread(target=edit)
        thread.start()
        self.assertEqual(refund(1), (2, "broken"))
        thread.join()
        self.assertEqual(len(refused), 3)
