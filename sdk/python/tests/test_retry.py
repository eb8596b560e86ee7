"""Repeats of failed requests: each fault once, and the effect happens once."""

from __future__ import annotations

import os
import tempfile
import unittest
from collections.abc import Callable
from unittest import mock

import holdshort
from holdshort import retry

from case import ServerCase
from proxy import Answer, Drop, Proxy, problem

REFUND = {"order": 4711}


def fault_once(path: str, phase: str, fault: Exception) -> Callable[[str, str], None]:
    """Returns a hook that raises a fault at the first request whose path contains a text."""
    left = [fault]

    def hook(what: str, now: str) -> None:
        if path in what and now == phase and left:
            raise left.pop()

    return hook


FAULTS = {
    "408": problem(408, "request_timeout"),
    "429": problem(429, "too_many_requests", Retry_After="0.1"),
    "500": problem(500, "internal"),
    "503": problem(503, "busy", Retry_After="0"),
    "502 of a proxy": Answer(502, "<html>"),
    "connection closed": Drop(),
}


class Retries(ServerCase):
    def test_each_fault_at_each_request(self) -> None:
        self.person("approve")
        for path in ["POST /v1/interrupts", "consume", "decisions"]:
            for name, fault in FAULTS.items():
                for phase in ["before", "after"]:
                    with self.subTest(path=path, fault=name, phase=phase):
                        hook = fault_once(path, phase, fault)
                        with Proxy(self.server.url, hook) as proxy, mock.patch("holdshort.retry._FIRST_DELAY", 0.02):
                            client = self.client(proxy.url)
                            before = len(self.server.interrupts())
                            approval = client.approve_sync("refund", REFUND, key=self.key(), timeout=20)
                            self.assertEqual(approval.arguments, REFUND)
                            self.assertLessEqual(len(self.server.interrupts()) - before, 1)
                            client.close()

    def test_other_statuses_are_final(self) -> None:
        for status, code, kind in [
            (403, "forbidden_role", holdshort.Forbidden),
            (404, "not_found", holdshort.NotFound),
            (421, "wrong_host", holdshort.ApiError),
            (422, "invalid_request", holdshort.InvalidRequest),
        ]:
            hook = fault_once("POST /v1/interrupts", "before", problem(status, code))
            with self.subTest(status), Proxy(self.server.url, hook) as proxy, self.assertRaises(kind) as caught:
                self.client(proxy.url).ask_sync("?")
            self.assertEqual((caught.exception.code, proxy.count("POST /v1/interrupts")), (code, 1))

    def test_an_ended_access_is_repeated_once_with_the_token_read_again(self) -> None:
        self.person("answer", text="x")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "token")
            with open(path, "w", encoding="utf-8") as file:
                file.write("hs_ag_old\n")

            def hook(what: str, phase: str) -> None:
                if what == "POST /v1/interrupts" and phase == "before" and proxy.count(what) == 1:
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(self.server.agent_token)
                    raise problem(401, "access_ended")
                if "decisions" in what and phase == "before" and proxy.count("POST") == 0:
                    raise problem(503, "stopping")

            with Proxy(self.server.url, hook) as proxy:
                with mock.patch.dict(os.environ, HOLDSHORT_AGENT_TOKEN_FILE=path, HOLDSHORT_URL=proxy.url):
                    client = holdshort.Client()
                    self.addCleanup(client.close)
                    self.assertEqual(client.ask_sync("?", timeout=20), "x")
                self.assertEqual(proxy.count("POST /v1/interrupts"), 2)

    def test_a_second_401_is_final(self) -> None:
        def hook(what: str, phase: str) -> None:
            if what == "POST /v1/interrupts":
                raise problem(401, "access_ended")

        with Proxy(self.server.url, hook) as proxy, self.assertRaises(holdshort.NotAuthenticated):
            self.client(proxy.url).ask_sync("?")
        self.assertEqual(proxy.count("POST /v1/interrupts"), 2)

    def test_the_time_for_repeats_ends(self) -> None:
        def hook(what: str, phase: str) -> None:
            if what == "POST /v1/interrupts":
                raise Drop

        with Proxy(self.server.url, hook) as proxy, self.assertRaisesRegex(holdshort.Unreachable, "for 0.3 seconds"):
            self.client(proxy.url, retry_for=0.3).ask_sync("?")

    def test_a_redirect_does_not_carry_the_token_away(self) -> None:
        with Proxy(self.server.url) as elsewhere:
            hook = fault_once("POST /v1/interrupts", "before", Answer(302, {}, Location=f"{elsewhere.url}/v1/interrupts"))
            with Proxy(self.server.url, hook) as proxy, self.assertRaises(holdshort.ApiError) as caught:
                self.client(proxy.url).ask_sync("?")
            self.assertEqual((caught.exception.status, elsewhere.requests), (302, []))


class Delays(unittest.TestCase):
    def test_delays_grow_and_have_jitter(self) -> None:
        for attempt in range(12):
            drawn = [retry.delay(attempt) for _ in range(200)]
            self.assertGreater(len(set(drawn)), 100)
            self.assertLessEqual(max(drawn), min(15.0, 0.25 * 2**attempt))
        self.assertGreater(max(retry.delay(12) for _ in range(200)), 10)

    def test_retry_after_is_the_least(self) -> None:
        self.assertTrue(all(2 < retry.delay(0, "2") <= 2.25 for _ in range(100)))
        self.assertLessEqual(retry.delay(0, "Wed, 21 Oct 2026 07:28:00 GMT"), 0.25)
        self.assertLessEqual(retry.delay(0, "86400"), 61)
