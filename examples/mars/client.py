#!/usr/bin/env python3
"""A terminal for the MARS edge: starts a task, shows what happens, and asks you where a person must speak.

    python3 client.py --work-dir FOLDER "what you want"
    python3 client.py --id my-task --config '{"mode": "hitl-interactive"}' --work-dir FOLDER "what you want"

Needs Python 3.11 and the package `websockets` (Debian: python3-websockets). HOLDSHORT_URL names the server and
HOLDSHORT_TOKEN the operator's token. Started again with the same --id it attaches to the task that is there: nothing
is lost when this ends. Exit code 0: completed, 1: failed or cancelled, 4: left, the task goes on without this.
"""

import argparse
import asyncio
import json
import os
import sys
import threading
import urllib.parse
import uuid

import websockets

# What a key stands for, by where the task holds (`position`); `*` is any other text, which goes along as feedback.
ANSWERS = {
    "after_planning": {"y": "approve", "n": "reject", "*": "revise"},
    "before_step": {"y": "approve", "n": "reject", "s": "skip", "*": "approve"},
    "after_step": {"c": "continue", "r": "redo", "a": "abort", "*": "continue"},
    "on_error": {"r": "retry", "s": "skip", "*": "abort"},
    "clarification": {"s": "skip", "*": "submit"},
    "max_rounds": {"c": "continue", "f": "finish", "*": "continue"},
    "tool_approval": {"y": "allow", "s": "allow_session", "n": "deny", "*": "provide_instructions"},
    "ag2_dynamic": {"y": "continue", "n": "abort", "*": "provide_instructions"},
    "checkpoint": {"y": "approve", "n": "reject", "*": "approve"},
    # Of a copilot.
    "proposal": {**{str(n): f"option_{n}" for n in range(1, 6)}, "*": "custom"},
    "copilot_turn": {"d": "done", "c": "continue", "*": "submit"},
    "satisfaction": {"y": "satisfied", "o": "start_over", "*": "needs_changes"},
}
# Words are what is asked for, and release nothing: they are sent as they are typed.
WORDS = {"submit", "custom", "needs_changes"}
SHOWN = {
    "agent_message": "{agent}: {message}",
    "step_started": "begins: {step_id} ({agent})",
    "step_completed": "done: {step_id}",
    "step_failed": "failed: {step_id}: {error}",
    "error_occurred": "error: {message}",
    "workflow_failed": "failed: {error}",
    "workflow_cancelled": "cancelled: {message}",
    "workflow_completed": "completed: {reason}",
}
ENDS = {"workflow_completed": 0, "workflow_failed": 1, "workflow_cancelled": 1}
LEFT = 4
REPLACED = 4409


def say(text):
    """What would not be seen, or would move the cursor, is written out: much of this is an agent's."""
    print("".join(c if c.isprintable() or c in "\n\t" else f"\\u{{{ord(c):x}}}" for c in text), flush=True)


def lines_of(stream):
    """Lines of a terminal as a queue; `None` at its end. Reading blocks, so it has a thread of its own."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue()

    def read():
        for line in stream:
            loop.call_soon_threadsafe(queue.put_nowait, line.strip())
        loop.call_soon_threadsafe(queue.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    return queue


class Left(Exception):
    """Nobody answers any more; what is open stays open."""


def keys_for(asked):
    """The answers to what is asked, as far as they are on offer."""
    names = (asked["position"], asked["checkpoint_type"], asked["action"], "checkpoint")
    known = next(ANSWERS[name] for name in names if name in ANSWERS)
    offered = {option["id"] for option in asked["option_details"]}
    return {key: resolution for key, resolution in known.items() if resolution in offered}


async def answer(asked, lines):
    """Asks until there is an answer: a key, or a text that was confirmed."""
    keys = keys_for(asked)
    for empty in range(2):
        listed = ", ".join(f"{key} = {resolution}" for key, resolution in keys.items() if key != "*")
        say(f"? {asked['message']} [{listed}{', or your own words' if '*' in keys else ''}]")
        text = await lines.get()
        if text is None:
            raise Left
        if text in keys and text != "*":
            return {"resolution": keys[text]}
        if text and "*" in keys:
            resolution = keys["*"]
            if resolution in WORDS:
                return {"resolution": resolution, "feedback": text}
            # What is no key is shown first: a slip of the finger approves nothing.
            say(f"? \"{text}\" means: {resolution}. Send it? [y/n]")
            if await lines.get() == "y":
                return {"resolution": resolution, "feedback": text}
            return await answer(asked, lines)
    raise Left


def show_change(change):
    """What a call would change. A path is data: it is written out, whatever stands in it."""
    say(f"  {change['summary']}")
    for file in change["files"]:
        say(f"  {json.dumps(file['file_path'])}: {file['words']}")
        for line in file.get("diff", "").splitlines():
            say(f"    {line}")
    if "not_shown" in change:
        say(f"  {change['not_shown']}")


def show(frame):
    """A line for what happened, if there is one to show."""
    data = frame["data"]
    if frame["event_type"] == "approval_requested":
        say(f"holds at {data['position']}: {data['message']}")
        if "agent_says" in data["context"]:
            say(f"  {data['agent'] or 'the server'} says: {data['context']['agent_says']}")
        for step in data["context"].get("plan") or []:
            say(f"  - {step['sub_task']} ({step['sub_task_agent'] or 'engineer'})")
        for n, way in enumerate(data["context"].get("proposals") or [], 1):
            say(f"  {n}. {way['title']}: {way['description']}")
        if "change" in data["context"]:
            show_change(data["context"]["change"])
    elif frame["event_type"] == "approval_received":
        say(f"{data['resolution'] or data['outcome']} by {data['by']}: approved is {data['approved']}")
    elif frame["event_type"] in SHOWN:
        say(SHOWN[frame["event_type"]].format(**data))


async def converse(socket, first, lines, seen):
    """One connection, to the end of the task. `seen` holds the last place, for the next connection, and the session."""
    await socket.send(json.dumps({**first, "since": seen["since"]}))
    asking, stands = {}, {"seq": 0, "open_approvals": []}

    def is_open(frame):
        # What is told again may be decided on by now; what is asked again, without an id, is open.
        if "id" not in frame:
            return True
        told_again = int(frame["id"].split(".")[0]) <= stands["seq"]
        return not told_again or frame["data"]["approval_id"] in stands["open_approvals"]

    async def ask(asked):
        decision = await answer(asked, lines)
        await socket.send(json.dumps(
            {"type": "resolve_approval", "approval_id": asked["approval_id"], **decision}))

    try:
        while True:
            hear = asyncio.ensure_future(socket.recv())
            await asyncio.wait([hear, *asking.values()], return_when=asyncio.FIRST_COMPLETED)
            for task in asking.values():
                if task.done():
                    task.result()
            frame = json.loads(await hear)
            data = frame["data"]
            if frame["event_type"] == "approval_requested" and data["approval_id"] in asking:
                continue
            show(frame)
            if frame["event_type"] == "status":
                stands = data
            elif frame["event_type"] == "approval_requested" and is_open(frame):
                # One question at a time, in the order in which they came.
                asking[data["approval_id"]] = asyncio.ensure_future(after(list(asking.values()), ask(data)))
            elif frame["event_type"] == "approval_received" and data["approval_id"] in asking:
                # Also where somebody else decided, in the browser or another terminal.
                asking.pop(data["approval_id"]).cancel()
            elif frame["event_type"] == "error_occurred" and "id" not in frame:
                raise SystemExit(1)
            if "id" in frame:
                seen["since"] = frame["id"]
            if frame["event_type"] == "result":
                seen["session"] = data["session_id"]
            if frame["event_type"] in ENDS:
                return ENDS[frame["event_type"]]
    finally:
        for task in [hear, *asking.values()]:
            task.cancel()


async def after(others, then):
    if others:
        await asyncio.wait(others)
    await then


async def carry_out(name, task, config, lines):
    """Starts a task, or attaches to it, and stays to its end: the exit code, and the session that it was in."""
    base = os.environ.get("HOLDSHORT_URL", "http://127.0.0.1:7349").replace("http", "ws", 1)
    if not os.environ.get("HOLDSHORT_TOKEN"):
        sys.exit("HOLDSHORT_TOKEN is not set: it is the `operator` of tokens.json in the server's data folder")
    query = urllib.parse.urlencode({"token": os.environ["HOLDSHORT_TOKEN"]})
    url = f"{base}/edges/mars/ws/{urllib.parse.quote(name, safe='')}?{query}"
    seen = {"since": 0, "session": None}
    say(f"task {name}")
    for wait in (0, 1, 2, 4, 8, 16):  # the server may be on its way back
        await asyncio.sleep(wait)
        try:
            async with websockets.connect(url, max_size=None) as socket:
                code = await converse(socket, {"task": task, "config": config}, lines, seen)
                return code, seen["session"]
        except (OSError, websockets.ConnectionClosed) as error:
            if getattr(getattr(error, "rcvd", None), "code", None) == REPLACED:
                say("another connection took the task")
                return LEFT, seen["session"]
            say(f"the connection is gone ({error or type(error).__name__}); the task goes on")
        except Left:
            break
    say(f"left; the task holds. Come back with --id {name}")
    return LEFT, seen["session"]


async def main():
    parser = argparse.ArgumentParser(description="A terminal for the MARS edge.")
    parser.add_argument("task")
    parser.add_argument("--id", default=f"cli-{uuid.uuid4()}", help="the task's id: the same one attaches")
    parser.add_argument("--config", type=json.loads, default={"mode": "hitl-interactive"})
    parser.add_argument("--work-dir", default=os.getcwd())
    arguments = parser.parse_args()
    config = {"work_dir": os.path.abspath(arguments.work_dir), **arguments.config}
    code, _ = await carry_out(arguments.id, arguments.task, config, lines_of(sys.stdin))
    return code


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
