"""The package has the version of the server."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

import holdshort

ROOT = Path(__file__).parents[3]


class Version(unittest.TestCase):
    def test_the_version_is_that_of_the_server(self) -> None:
        pattern = re.compile(r'^version = "(.+)"$', re.MULTILINE)
        for name in ["Cargo.toml", "sdk/python/pyproject.toml"]:
            self.assertEqual(pattern.findall((ROOT / name).read_text(encoding="utf-8"))[:1], [holdshort.__version__])
