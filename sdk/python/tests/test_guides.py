"""Guides: their code is code that a test runs, and it is short.

`UPDATE_GUIDES=1 tests/run -k guides` copies the code of the framework tests into the guides.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import os
import re
import textwrap
import unittest
from pathlib import Path
from types import CodeType
from unittest import mock

import holdshort.client

from case import ServerCase
from server import Person

HERE = Path(__file__).parent
GUIDES = HERE.parents[2] / "docs" / "guides"
PROGRAMS = {
    ("langchain", ""): "langchain_agent.py",
    ("langchain", " graph"): "langgraph_agent.py",
    ("openai-agents", ""): "openai_agents_agent.py",
    ("pydantic-ai", ""): "pydantic_ai_agent.py",
    ("crewai", ""): "crewai_agent.py",
    ("google-adk", ""): "google_adk_agent.py",
    ("agent-framework", ""): "agent_framework_agent.py",
}


def guide_code(program: str) -> str:
    text = (HERE / "frameworks" / program).read_text(encoding="utf-8")
    (part,) = re.findall(r"^ *# guide\n(.*?)^ *# end\n", text, re.DOTALL | re.MULTILINE)
    return textwrap.dedent(part)


class Frameworks(unittest.TestCase):
    def test_the_code_is_the_code_of_the_tests(self) -> None:
        for (guide, info), program in PROGRAMS.items():
            path = GUIDES / "frameworks" / f"{guide}.md"
            text = path.read_text(encoding="utf-8")
            block = re.compile(rf"```python{info}\n(.*?)```", re.DOTALL)
            if os.environ.get("UPDATE_GUIDES"):
                text = block.sub(lambda _, code=guide_code(program), info=info: f"```python{info}\n{code}```", text)
                path.write_text(text, encoding="utf-8")
            with self.subTest(guide + info):
                self.assertEqual(block.findall(text), [guide_code(program)])

    def test_an_agent_needs_at_most_ten_lines(self) -> None:
        for program in PROGRAMS.values():
            with self.subTest(program):
                self.assertLessEqual(len([line for line in guide_code(program).splitlines() if line.strip()]), 10)

    def test_a_page_has_at_most_250_words(self) -> None:
        for path in (GUIDES / "frameworks").glob("*.md"):
            with self.subTest(path.name):
                words = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL).split()
                self.assertLessEqual(len(words), 250)


class Python(ServerCase):
    def test_each_block_of_the_guide_runs(self) -> None:
        text = (GUIDES / "sdk-python.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        refunds: list[dict[str, int]] = []

        def choose(interrupt: dict[str, object]) -> tuple[str, dict[str, object]]:
            return ("answer", {"edit": 14}) if interrupt["kind"] == "question" else ("approve", {})

        person = Person(self.server, choose)
        environment = {"HOLDSHORT_URL": self.server.url, "HOLDSHORT_AGENT_TOKEN": self.server.agent_token}
        printed = io.StringIO()
        with mock.patch.dict(os.environ, environment), mock.patch.object(holdshort.client, "_default", None):
            names: dict[str, object] = {"refund": lambda **arguments: refunds.append(arguments)}
            for block in blocks:
                with contextlib.redirect_stdout(printed):
                    code = compile(block, "sdk-python.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
                    asyncio.run(run_block(code, names))
            holdshort.default_client().close()
        person.stop()
        self.assertEqual(len(blocks), 4)
        self.assertEqual(names["hour"], 14)
        self.assertEqual(refunds, [{"order": 4711, "amount": 120}])
        self.assertEqual(printed.getvalue(), "paid 120\ndeleted /etc/hosts\n")
        self.assertEqual(len(person.seen), 4)


async def run_block(code: CodeType, names: dict[str, object]) -> None:
    result = eval(code, names)
    if asyncio.iscoroutine(result):
        await result
