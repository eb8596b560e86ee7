"""Settings: where they come from, and what the errors say."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from unittest import mock

import holdshort
from holdshort import Client, ConfigError


class Settings(unittest.TestCase):
    def setUp(self) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("HOLDSHORT_")}
        patch = mock.patch.dict(os.environ, clean, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def file(self, content: str) -> str:
        with tempfile.NamedTemporaryFile("w", delete=False, encoding="utf-8") as file:
            file.write(content)
        self.addCleanup(os.unlink, file.name)
        return file.name

    def test_a_missing_token_is_named(self) -> None:
        with self.assertRaisesRegex(ConfigError, "HOLDSHORT_AGENT_TOKEN: is not set; set it to .*holdshort keys create"):
            holdshort.ask_sync("?")

    def test_tokens(self) -> None:
        tokens = json.dumps({"operator": "hs_op_x", "agent": "hs_ag_x"})
        for variable, value, expected in [
            ("HOLDSHORT_AGENT_TOKEN", "hs_ag_a", "hs_ag_a"),
            ("HOLDSHORT_AGENT_TOKEN_FILE", self.file("hs_ag_b\n"), "hs_ag_b"),
            ("HOLDSHORT_AGENT_TOKEN_FILE", self.file(tokens), "hs_ag_x"),
        ]:
            with self.subTest(value), mock.patch.dict(os.environ, {variable: value}):
                self.assertEqual(Client().config.read_token(), expected)

    def test_tokens_that_cannot_be_sent(self) -> None:
        for variable, value in [
            ("HOLDSHORT_AGENT_TOKEN_FILE", "/nowhere"),
            ("HOLDSHORT_AGENT_TOKEN_FILE", self.file("{}")),
            ("HOLDSHORT_AGENT_TOKEN_FILE", self.file("")),
            ("HOLDSHORT_AGENT_TOKEN", "a\nb: c"),
            ("HOLDSHORT_AGENT_TOKEN", "ü"),
        ]:
            with self.subTest(value), mock.patch.dict(os.environ, {variable: value}):
                with self.assertRaises(ConfigError) as caught:
                    Client().config.read_token()
                self.assertEqual(caught.exception.setting, variable)

    def test_addresses(self) -> None:
        self.assertEqual(Client().config.url, "http://127.0.0.1:7349")
        self.assertEqual(Client("https://example.org/", "x").config.link("int_1"), "https://example.org/inbox/int_1")
        for address in ["example.org", "ftp://example.org", "http://", "http://user:secret@example.org", "ftp://user:secret@a", "http://a?b"]:
            with self.subTest(address), self.assertRaises(ConfigError) as caught:
                Client(address, "x")
            self.assertNotIn("secret", str(caught.exception))
            self.assertEqual(caught.exception.setting, "HOLDSHORT_URL")

    def test_no_secret_in_a_repr(self) -> None:
        client = Client(token="hs_ag_secret")
        self.assertNotIn("secret", f"{client!r} {client.config!r} {vars(client)!r}")
