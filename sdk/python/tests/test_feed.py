"""One event stream for all waits: nothing is lost, whatever happens to the stream."""

from __future__ import annotations

import asyncio
import os
import threading
import unittest
from typing import Any

import holdshort

from case import ServerCase
from proxy import Drop, Proxy, problem
from server import Server


def ask_in_thread(client: Any, **more: Any) -> tuple[threading.Thread, list[Any]]:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(client.ask_sync("?", **more)))
    thread.start()
    return thread, answers


class Streams(ServerCase):
    def test_one_stream_serves_300_waits(self) -> None:
        with Proxy(self.server.url) as proxy:
            client = self.client(proxy.url)

            async def ask_all() -> list[str]:
                asked = [asyncio.create_task(client.ask("?", key=f"many-{index}")) for index in range(300)]
                for _ in asked:
                    interrupt = await asyncio.to_thread(self.server.next_request)
                    await asyncio.to_thread(self.server.decide, interrupt["id"], "answer", text=interrupt["id"])
                return await asyncio.gather(*asked)

            answers = asyncio.run(ask_all())
            self.assertEqual(len(set(answers)), 300)
            self.assertEqual(proxy.count("GET /v1/agent/decisions"), 1)
            self.assertLessEqual(proxy.count("GET /v1/interrupts/"), 300)

    def test_the_stream_is_open_before_the_question_is_sent(self) -> None:
        with Proxy(self.server.url) as proxy:
            thread, answers = ask_in_thread(self.client(proxy.url))
            self.server.decide(self.server.next_request()["id"], "answer", text="x")
            thread.join()
            self.assertEqual(answers, ["x"])
            order = [what.split("?")[0].split("/int_")[0] for what, _ in proxy.requests]
            self.assertEqual(
                order[:3], ["GET /v1/agent/decisions", "POST /v1/interrupts", "GET /v1/interrupts"]
            )

    def test_a_decision_between_the_question_and_the_wait_is_heard(self) -> None:
        """The person decides before the agent has the response with the id."""

        def hook(what: str, phase: str) -> None:
            if what == "POST /v1/interrupts" and phase == "after":
                self.server.decide(self.server.next_request()["id"], "answer", text="fast")

        with Proxy(self.server.url, hook) as proxy:
            self.assertEqual(self.client(proxy.url).ask_sync("?", timeout=10), "fast")

    def test_a_decision_while_the_stream_is_cut_is_heard(self) -> None:
        cut = threading.Event()
        blocked = threading.Event()

        def hook(what: str, phase: str) -> None:
            if what.startswith("GET") and phase == "before" and cut.is_set():
                blocked.set()
                raise Drop

        with Proxy(self.server.url, hook) as proxy:
            thread, answers = ask_in_thread(self.client(proxy.url), timeout=20)
            interrupt = self.server.next_request()["id"]
            self.wait_for(lambda: proxy.count(f"GET /v1/interrupts/{interrupt}") == 1)
            cut.set()
            proxy.cut_streams()
            self.assertTrue(blocked.wait(10))
            self.server.decide(interrupt, "answer", text="meanwhile")
            cut.clear()
            thread.join(20)
            self.assertEqual(answers, ["meanwhile"])

    def test_everything_is_read_again_after_a_reconnect(self) -> None:
        """An event that the stream has lost is not missed."""
        with Proxy(self.server.url) as proxy:
            thread, answers = ask_in_thread(self.client(proxy.url), timeout=20)
            interrupt = self.server.next_request()["id"]
            self.wait_for(lambda: proxy.count(f"GET /v1/interrupts/{interrupt}") == 1)
            proxy.cut_streams()
            self.wait_for(lambda: proxy.count("GET /v1/agent/decisions") == 2)
            # The interrupt is read after the second stream has begun: an event before it may be lost.
            self.wait_for(lambda: proxy.requests[-1][0] == f"GET /v1/interrupts/{interrupt}")
            last_id = [headers.get("last-event-id") for what, headers in proxy.requests if what.endswith("/decisions")]
            self.assertEqual(last_id[0], None)
            self.assertRegex(last_id[1], "^p")
            self.server.decide(interrupt, "answer", text="y")
            thread.join(20)
            self.assertEqual(answers, ["y"])

    def test_without_any_stream_the_interrupt_is_read(self) -> None:
        """A proxy that offers no streams, or a server with too many streams."""

        def hook(what: str, phase: str) -> None:
            if what.startswith("GET /v1/agent/decisions"):
                raise problem(429, "too_many_streams")

        with Proxy(self.server.url, hook) as proxy:
            thread, answers = ask_in_thread(self.client(proxy.url), timeout=30)
            self.server.decide(self.server.next_request()["id"], "answer", text="z")
            thread.join(30)
            self.assertEqual(answers, ["z"])

    def test_an_unknown_position_is_given_up(self) -> None:
        """After a restore from a backup, the server does not know the position."""

        def hook(what: str, phase: str) -> None:
            if "decisions" in what and phase == "before" and proxy.count("GET /v1/agent/decisions") == 2:
                raise problem(400, "invalid_header")

        with Proxy(self.server.url, hook) as proxy:
            thread, answers = ask_in_thread(self.client(proxy.url), timeout=20)
            interrupt = self.server.next_request()["id"]
            self.wait_for(lambda: proxy.count(f"GET /v1/interrupts/{interrupt}") == 1)
            proxy.cut_streams()
            self.wait_for(lambda: proxy.count("GET /v1/agent/decisions") == 3)
            self.assertNotIn("last-event-id", proxy.requests[-1][1])
            self.server.decide(interrupt, "answer", text="v")
            thread.join(20)
            self.assertEqual(answers, ["v"])

    def wait_for(self, condition: Any) -> None:
        """Waits until a condition holds that the proxy's next request can change."""
        done = threading.Event()
        for _ in range(2000):
            if condition():
                return
            done.wait(0.005)
        self.fail("the condition did not become true")


@unittest.skipUnless(hasattr(os, "fork"), "the system has no fork")
class Forks(ServerCase):
    def test_a_forked_process_opens_a_stream_of_its_own(self) -> None:
        """A server of applications creates the client, and then forks."""
        with Proxy(self.server.url) as proxy:
            client = self.client(proxy.url)
            self.person("answer", text="x")
            self.assertEqual(client.ask_sync("?"), "x")
            child = os.fork()
            if child == 0:
                try:
                    is_right = client.ask_sync("?", timeout=20) == "x" and asyncio.run(client.ask("?", timeout=20)) == "x"
                    os._exit(0 if is_right else 1)
                except BaseException:
                    os._exit(2)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertEqual(proxy.count("GET /v1/agent/decisions"), 2)


class Restarts(unittest.TestCase):
    def test_waits_continue_after_a_restart_of_the_server(self) -> None:
        with Server() as server:
            client = holdshort.Client(server.url, server.agent_token)
            thread, answers = ask_in_thread(client, timeout=40)
            interrupt = server.next_request()["id"]
            server.stop()
            server.start()
            server.decide(interrupt, "answer", text="still here")
            thread.join(40)
            self.assertEqual(answers, ["still here"])
            client.close()

    def test_a_revoked_key_ends_the_waits(self) -> None:
        with Server() as server:
            made = server.call("POST", "/v1/keys", {"name": "bot"})
            client = holdshort.Client(server.url, made["secret"])
            errors: list[Exception] = []

            def ask() -> None:
                try:
                    client.ask_sync("?", timeout=30)
                except Exception as error:
                    errors.append(error)

            thread = threading.Thread(target=ask)
            thread.start()
            server.next_request()
            server.call("DELETE", f"/v1/keys/{made['id']}")
            thread.join(30)
            self.assertEqual([type(error) for error in errors], [holdshort.NotAuthenticated])
            client.close()

    def test_a_rotated_key_continues(self) -> None:
        """The token is a function, so that the new secret is used after the old one has ended."""
        with Server() as server:
            made = server.call("POST", "/v1/keys", {"name": "bot"})
            secret = [made["secret"]]
            client = holdshort.Client(server.url, lambda: secret[0])
            thread, answers = ask_in_thread(client, timeout=30)
            interrupt = server.next_request()["id"]
            secret[0] = server.call("POST", f"/v1/keys/{made['id']}/rotate", {})["secret"]
            server.decide(interrupt, "answer", text="rotated")
            thread.join(30)
            self.assertEqual(answers, ["rotated"])
            client.close()

