"""A small IDE for the CodeLab edge: shows plans, asks you, runs the agents' tools in a folder.

    python3 client.py FOLDER "what you want"
    python3 client.py --yes --session my-session FOLDER "what you want"

Needs Python 3.11 and the package `websockets` (Debian: python3-websockets). HOLDSHORT_URL names the server and
HOLDSHORT_TOKEN the operator's token. Everything that a real IDE needs to know is in `Ide.hear`: one frame after
the other, in the order in which they come.
"""

import argparse
import asyncio
import inspect
import json
import os
import pathlib
import subprocess
import sys
import urllib.parse
import uuid

import websockets


class Tools:
    """The tools of the agents, in one folder. A name that leads out of it is refused."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()

    def run(self, name, arguments):
        return getattr(self, f"_{name}")(**arguments)

    def _place(self, path):
        place = (self.folder / path).resolve()
        if place != self.folder and self.folder not in place.parents:
            raise ValueError(f"{path} leads out of the project")
        return place

    def _read_file(self, path):
        return self._place(path).read_text()

    def _list_files(self, path="."):
        files = (file for file in self._place(path).rglob("*") if file.is_file())
        return "\n".join(sorted(str(file.relative_to(self.folder)) for file in files))

    def _search_in_code(self, query, path="."):
        found = []
        for name in self._list_files(path).splitlines():
            for number, line in enumerate(self._place(name).read_text(errors="replace").splitlines(), 1):
                if query in line:
                    found.append(f"{name}:{number}: {line}")
        return "\n".join(found) or "nothing found"

    def _write_file(self, path, content):
        place = self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
        return f"{path} is written"

    def _execute_command(self, command):
        done = subprocess.run(
            command, shell=True, cwd=self.folder, capture_output=True, text=True, timeout=600, check=False
        )
        return f"exit code {done.returncode}\n{done.stdout}{done.stderr}"

    def _delete_file(self, path):
        self._place(path).unlink()
        return f"{path} is deleted"

    def _move_file(self, path, to):
        self._place(path).rename(self._place(to))
        return f"{path} is now {to}"

    def _create_directory(self, path):
        self._place(path).mkdir(parents=True, exist_ok=True)
        return f"{path} is there"


def cut(text, size=60_000):
    """A result has at most 64 KiB."""
    whole = text.encode()
    if len(whole) <= size:
        return text
    return whole[:size].decode(errors="ignore") + f"\n(cut: {len(whole)} bytes)"


class Left(Exception):
    """Nobody answers any more; what is open stays open."""


class Ide:
    def __init__(self, tools, yes):
        self.socket, self.tools, self.yes = None, tools, yes
        # By call, what came of it: a call is run once, however often it is handed out.
        self.ran = {}
        self.failed = False
        self.begun = False

    async def say(self, message):
        await self.socket.send(json.dumps(message))

    async def ask(self, question):
        if self.yes:
            print(f"{question} yes")
            return "yes"
        # An empty line decides nothing.
        for _ in range(2):
            try:
                answer = (await asyncio.to_thread(input, f"{question} ")).strip()
            except EOFError:
                raise Left from None
            if answer:
                return "yes" if answer.lower() in ("y", "yes") else answer
        raise Left

    async def run_tool(self, call):
        answer = {"type": "tool_result", "call_id": call["call_id"]}
        if call["call_id"] not in self.ran:
            try:
                answer["result"] = cut(await asyncio.to_thread(self.tools.run, call["tool_name"], call["arguments"]))
            except Exception as error:  # The agent is told, and goes on.
                answer["error"] = f"{type(error).__name__}: {error}"
            self.ran[call["call_id"]] = answer
        # Handed out once more: the result did not arrive.
        await self.say(self.ran[call["call_id"]])

    async def hear(self, frame):
        """What an IDE does about each frame. `True`: nothing more comes of what was said."""
        kind = frame["type"]
        self.begun |= kind not in ("session_info", "error")
        if kind == "session_info":
            print(f"session {frame['session_id']}: {frame['status']}" + (", a rehearsal" if frame.get("rehearsal") else ""))
        elif kind == "assistant_message":
            metadata = frame.get("metadata", {})
            # How a subtask ended stands in `subtask_completed`.
            if metadata.get("subtask_status", "in_progress") == "in_progress":
                print(frame["content"])
            if metadata.get("question"):
                answer = {"type": "user_message", "content": await self.ask(">"), "role": "user"}
                await self.say(answer | {"request_id": metadata["request_id"]})
            elif metadata.get("limit"):
                await self.decide(metadata["request_id"], "Let it go on?")
            elif metadata.get("approval"):
                # It runs on the server.
                await self.decide(metadata["request_id"], "Let it run?")
        elif kind == "agent_switched":
            print(f"[{frame['from_agent']} -> {frame['to_agent']}]")
        elif kind == "plan_notification":
            await self.decide_plan(frame)
        elif kind == "tool_call":
            again = ", once more" if frame.get("metadata", {}).get("redelivered") else ""
            print(f"[{frame['tool_name']} {json.dumps(frame['arguments'])}{again}]")
            if frame["requires_approval"]:
                # Nothing is run on a decision: it may come too late, or not be the last word. What is to run is
                # handed out, in a `tool_call` of its own.
                await self.decide(frame["call_id"], "Run it?")
            else:
                await self.run_tool(frame)
        elif kind == "subtask_completed":
            brought = frame.get("result", {}).get("content") or frame.get("error", "")
            print(f"[{frame['subtask_id']} {frame['status']}] {brought}")
        elif kind == "plan_completed":
            print(f"[plan {frame['plan_status']}: {frame['completed']} of {frame['total_subtasks']}]")
        elif kind == "error":
            print(f"error: {frame['error']}", file=sys.stderr)
            # What is refused at the very beginning is followed by nothing.
            self.failed |= frame["is_final"] or not self.begun
            return not self.begun
        # `waiting` is not the end: what this client was asked, it answers.
        return kind == "done" and frame["status"] in ("completed", "failed", "cancelled")

    async def decide_plan(self, plan):
        for subtask in plan["metadata"]["subtasks"]:
            time = f", {subtask['estimated_time']}" if "estimated_time" in subtask else ""
            print(f"- {subtask['id']} ({subtask['agent']}{time}): {subtask['description']}")
        answer = await self.ask("Approve the plan? (yes, or why not)")
        decision = {"type": "plan_decision", "plan_id": plan["metadata"]["plan_id"], "decision": "approve"}
        if answer != "yes":
            decision |= {"decision": "reject", "feedback": answer}
        await self.say(decision)

    async def decide(self, call_id, question):
        answer = await self.ask(f"{question} (yes, or why not)")
        decision = {"type": "hitl_decision", "call_id": call_id, "decision": "approve"}
        if answer != "yes":
            decision |= {"decision": "reject", "feedback": answer}
        await self.say(decision)


def connect(url, token):
    """The token in a header, which newer versions of the library call otherwise."""
    known = inspect.signature(websockets.connect).parameters
    headers = "additional_headers" if "additional_headers" in known else "extra_headers"
    return websockets.connect(url, max_size=None, **{headers: {"Authorization": f"Bearer {token}"}})


async def main():
    parser = argparse.ArgumentParser(description="an IDE for the CodeLab edge")
    parser.add_argument("folder")
    parser.add_argument("message")
    parser.add_argument("--session", default=f"ide-{uuid.uuid4().hex[:8]}", help="go on with this session")
    parser.add_argument("--agent", help="begin with this agent instead of the orchestrator")
    parser.add_argument("--yes", action="store_true", help="approve everything")
    given = parser.parse_args()

    base = os.environ.get("HOLDSHORT_URL", "http://127.0.0.1:7349").replace("http", "ws", 1)
    token = os.environ.get("HOLDSHORT_TOKEN")
    if not token:
        sys.exit("HOLDSHORT_TOKEN is not set: it is the `operator` of tokens.json in the server's data folder")
    url = f"{base}/edges/codelab/ws/{urllib.parse.quote(given.session, safe='')}"
    message = {"type": "user_message", "content": given.message, "role": "user"}
    if given.agent:
        message = {"type": "switch_agent", "agent_type": given.agent, "content": given.message}
    ide, since = Ide(Tools(given.folder), given.yes), None
    while True:
        try:
            async with connect(url + (f"?since={since}" if since else ""), token) as ide.socket:
                if message:
                    await ide.say(message)
                    message = None
                async for text in ide.socket:
                    frame = json.loads(text)
                    if await ide.hear(frame):
                        return 1 if ide.failed else 0
                    # Only what was dealt with is behind us.
                    since = frame.get("id", since)
        except Left:
            print(f"left; the session holds. Go on with --session {given.session}", file=sys.stderr)
            return 4
        except (OSError, websockets.ConnectionClosed):
            if since is None:
                raise
        print("the connection is lost: coming back", file=sys.stderr)
        await asyncio.sleep(1)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
