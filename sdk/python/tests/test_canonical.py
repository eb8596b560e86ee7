"""Canonical JSON: RFC 8785, values that JSON lacks, and the same digest as the server's."""

from __future__ import annotations

import json
import math
import random
import struct
import unittest
from pathlib import Path

from holdshort import InvalidValue, canonical_json, digest

VECTORS = json.loads(Path(__file__).with_name("canonical_vectors.json").read_text(encoding="utf-8"))


class Canonical(unittest.TestCase):
    def test_vectors(self) -> None:
        for vector in VECTORS:
            with self.subTest(vector["name"]):
                self.assertEqual(canonical_json(json.loads(vector["json"])).decode(), vector["canonical"])

    def test_doubles_read_back_and_have_the_shape_of_ecmascript(self) -> None:
        source = random.Random(8785)
        for _ in range(5000):
            (value,) = struct.unpack("<d", source.randbytes(8))
            if math.isfinite(value):
                text = canonical_json(value).decode()
                self.assertEqual(float(text), value)
                self.assertRegex(text, r"^(0|-?(0\.0{0,5}[1-9]\d*|[1-9]\d{0,20}(\.\d+)?|[1-9](\.\d+)?e[+-][1-9]\d*))$")

    def test_values_that_json_lacks(self) -> None:
        loop: list[object] = []
        loop.append(loop)
        for value, pointer in [
            ({"a": [1, math.nan]}, "/a/1"),
            ({"a/b": {"c~": math.inf}}, "/a~1b/c~0"),
            ({"a": object()}, "/a"),
            ({"a": {1: 2}}, "/a"),
            ({"a": b"bytes"}, "/a"),
            ({"a": "\ud800"}, "/a"),
            ({"a": 10**400}, "/a"),
            ({"a": {1, 2}}, "/a"),
        ]:
            with self.subTest(pointer), self.assertRaises(InvalidValue) as caught:
                canonical_json(value)
            self.assertEqual(caught.exception.pointer, pointer)
        with self.assertRaises(InvalidValue):
            canonical_json(loop)

    def test_equal_values_have_equal_digests(self) -> None:
        self.assertEqual(digest({"b": (1, 2.0), "a": "x"}), digest({"a": "x", "b": [1.0, 2]}))
        self.assertEqual(digest({}), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")
