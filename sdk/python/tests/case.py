"""Base of tests with a server: one server process for all tests of a class."""

from __future__ import annotations

import logging
import unittest
import uuid
from typing import Any

from holdshort import Client

from server import Person, Server


# The output of the tests has no lines about waits.
logging.getLogger("holdshort").addHandler(logging.NullHandler())


class ServerCase(unittest.TestCase):
    server: Server

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Server()
        cls.addClassCleanup(cls.server.__exit__)

    def client(self, url: str | None = None, **more: Any) -> Client:
        client = Client(url or self.server.url, self.server.agent_token, **more)
        self.addCleanup(client.close)
        return client

    def person(self, option: str | None, **more: Any) -> Person:
        """Decides each request of this test in the same way. `None` leaves the requests open."""
        person = Person(self.server, lambda _: (option, more))
        self.addCleanup(person.stop)
        return person

    def key(self) -> str:
        return f"test-{uuid.uuid4().hex}"
