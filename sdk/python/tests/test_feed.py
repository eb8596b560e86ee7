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
            # A request is read if it was opened before the stream starts, but responded to after. At most 8 requests
            # are sent at a time.
            self.assertLess(proxy.count("GET /v1/interrupts/"), 8)

    def test_the_first_stream_starts_before_its_question(self) -> None:
        """A decision that the person makes before the agent has the response is heard, and nothing is read."""

        def hook(what: str, phase: str) -> None:
            if what == "POST /v1/interrupts" and phase == "after":
                self.server.decide(self.server.next_request()["id"], "answer", text="fast")

        with Proxy(self.server.url, hook) as proxy:
            self.assertEqual(self.client(proxy.url).ask_sync("?", timeout=10), "fast")
            paths = " ".join(what for what, _ in proxy.requests)
            self.assertRegex(paths, r"^POST /v1/interrupts GET /v1/agent/decisions\?cursor=p\d+$")

    def test_an_open_stream_hears_a_decision_before_the_response(self) -> None:
        heard = threading.Event()
        heard.set()

        def hook(what: str, phase: str) -> None:
            if what == "POST /v1/interrupts" and phase == "after" and not heard.is_set():
                self.server.decide(self.server.next_request()["id"], "answer", text="early")
                # The stream is in order: the answer to a later question proves that it has brought the earlier one.
                heard.set()
                self.assertEqual(client.ask_sync("second?", timeout=10), "late")

        with Proxy(self.server.url, hook) as proxy:
            client = self.client(proxy.url)
            first, _ = ask_in_thread(client, timeout=30)
            first_id = self.server.next_request()["id"]
            self.wait_for(lambda: client.connections == 1)
            heard.clear()
            early, answers = ask_in_thread(client, timeout=20)
            self.wait_for(heard.is_set)
            self.server.decide(self.server.next_request()["id"], "answer", text="late")
            early.join(20)
            self.assertEqual(answers, ["early"])
            self.assertEqual(proxy.count("GET /v1/interrupts/"), 0)
            self.server.decide(first_id, "answer", text="end")
            first.join(20)

    def test_a_question_older_than_the_stream_is_read_once(self) -> None:
        """Its decision may be before the position at which another question has started the stream."""
        held = threading.Event()

        def hook(what: str, phase: str) -> None:
            if what == "POST /v1/interrupts" and phase == "after" and not held.is_set():
                self.server.decide(self.server.next_request()["id"], "answer", text="old")
                held.set()
                self.wait_for(lambda: client.connections == 1)

        with Proxy(self.server.url, hook) as proxy:
            client = self.client(proxy.url)
            old, answers = ask_in_thread(client, timeout=20)
            self.assertTrue(held.wait(10))
            new, more = ask_in_thread(client, timeout=20)
            self.server.decide(self.server.next_request()["id"], "answer", text="new")
            old.join(20)
            new.join(20)
            self.assertEqual(answers + more, ["old", "new"])
            self.assertEqual(proxy.count("GET /v1/interrupts/"), 1)

    def test_a_repeated_question_does_not_replay_all_decisions(self) -> None:
        """A process that starts again reads its open question after the stream has begun at the present."""
        key = self.key()
        with self.assertRaises(holdshort.WaitTimeout):
            self.client().ask_sync("?", key=key, timeout=0)
        interrupt = self.server.next_request()["id"]

        def hook(what: str, phase: str) -> None:
            if what == "POST /v1/interrupts" and phase == "after":
                self.server.decide(interrupt, "answer", text="again")

        with Proxy(self.server.url, hook) as proxy:
            self.assertEqual(self.client(proxy.url).ask_sync("?", key=key, timeout=10), "again")
            self.assertEqual(
                [what for what, _ in proxy.requests],
                ["POST /v1/interrupts", "GET /v1/agent/decisions", f"GET /v1/interrupts/{interrupt}"],
            )

    def test_a_decision_while_the_stream_is_cut_is_heard(self) -> None:
        cut = threading.Event()
        blocked = threading.Event()

        def hook(what: str, phase: str) -> None:
            if what.startswith("GET") and phase == "before" and cut.is_set():
                blocked.set()
                raise Drop

        with Proxy(self.server.url, hook) as proxy:
            client = self.client(proxy.url)
            thread, answers = ask_in_thread(client, timeout=20)
            interrupt = self.server.next_request()["id"]
            self.wait_for(lambda: client.connections == 1)
            cut.set()
            proxy.cut_streams()
            self.assertTrue(blocked.wait(10))
            self.server.decide(interrupt, "answer", text="meanwhile")
            cut.clear()
            thread.join(20)
            self.assertEqual(answers, ["meanwhile"])

    def test_a_stream_continues_after_its_last_event(self) -> None:
        """A decision between two connections is heard, and nothing is read."""

        def hook(what: str, phase: str) -> None:
            if "decisions" in what and phase == "before" and proxy.count("GET /v1/agent/decisions") == 2:
                self.server.decide(interrupt, "answer", text="between")

        with Proxy(self.server.url, hook) as proxy:
            client = self.client(proxy.url)
            thread, answers = ask_in_thread(client, timeout=20)
            self.server.decide(self.server.next_request()["id"], "answer", text="first")
            thread.join(20)
            self.assertEqual(answers, ["first"])
            thread, answers = ask_in_thread(client, timeout=20)
            interrupt = self.server.next_request()["id"]
            proxy.cut_streams()
            thread.join(20)
            self.assertEqual(answers, ["between"])
            first, second = [what for what, _ in proxy.requests if "decisions" in what]
            self.assertNotEqual(first, second)
            self.assertEqual(proxy.count("GET /v1/interrupts/"), 0)

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
        """After a restore from a backup, the server does not know the position. The open waits are read."""

        def hook(what: str, phase: str) -> None:
            if "decisions" in what and phase == "before" and proxy.count("GET /v1/agent/decisions") == 2:
                self.server.decide(interrupt, "answer", text="v")
                raise problem(400, "invalid_query")

        with Proxy(self.server.url, hook) as proxy:
            client = self.client(proxy.url)
            thread, answers = ask_in_thread(client, timeout=20)
            interrupt = self.server.next_request()["id"]
            self.wait_for(lambda: client.connections == 1)
            proxy.cut_streams()
            thread.join(20)
            self.assertEqual(answers, ["v"])
            paths = [what for what, _ in proxy.requests if "decisions" in what]
            self.assertEqual([("cursor" in what) for what in paths], [True, True, False])
            self.assertEqual(proxy.count("GET /v1/interrupts/"), 1)

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

