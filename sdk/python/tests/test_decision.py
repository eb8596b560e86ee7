"""Outcomes as types, also of a later server."""

from __future__ import annotations

import unittest

import holdshort
from holdshort.decision import check_answered, check_approved


def interrupt(outcome: str, option: str | None = None) -> dict[str, object]:
    return {"id": "int_1", "resolution": {"outcome": outcome, "option": option, "by": ["anna"], "text": "x"}}


class Outcomes(unittest.TestCase):
    def test_only_approved_permits_the_work(self) -> None:
        check_approved(interrupt("approved"), "link")
        for outcome, kind in [
            ("rejected", holdshort.Rejected),
            ("answered", holdshort.Responded),
            ("expired", holdshort.Expired),
            ("cancelled", holdshort.Withdrawn),
            ("superseded", holdshort.Withdrawn),
            ("an outcome of a later version", holdshort.Rejected),
        ]:
            with self.subTest(outcome), self.assertRaises(kind) as caught:
                check_approved(interrupt(outcome), "link")
            self.assertEqual(type(caught.exception), kind)
            self.assertIn("anna", str(caught.exception))

    def test_only_an_answer_answers(self) -> None:
        check_answered(interrupt("answered", "answer"), "link")
        for outcome, option, kind in [
            ("answered", "skip", holdshort.Skipped),
            ("expired", "skip", holdshort.Expired),
            ("cancelled", "cancel", holdshort.Withdrawn),
        ]:
            with self.subTest(outcome), self.assertRaises(kind) as caught:
                check_answered(interrupt(outcome, option), "link")
            self.assertEqual(type(caught.exception), kind)

    def test_codes_are_stable(self) -> None:
        kinds = [holdshort.Rejected, holdshort.Responded, holdshort.Skipped, holdshort.Expired, holdshort.Withdrawn]
        codes = [kind.code for kind in [*kinds, holdshort.WaitTimeout, holdshort.Unreachable]]
        known = ["rejected", "responded", "skipped", "expired", "withdrawn", "wait_timeout", "unreachable"]
        self.assertEqual(codes, known)
