#!/usr/bin/env python3
"""A conversation with a copilot over the MARS edge: each message is a task of its own, in one session.

    python3 copilot.py --work-dir FOLDER
    python3 copilot.py --work-dir FOLDER --session ses_… --config '{"intelligent_routing": "aggressive"}'

A line is a message; where the copilot asks, a line is the answer, as in client.py beside this file. The next message goes
on in the session of the one before, so the copilot is told what was said and what came of it. An empty line, or the end of
input, ends the conversation. Exit code 0: ended, 4: left while a task holds.
"""

import argparse
import asyncio
import json
import os
import sys
import uuid

from client import LEFT, carry_out, lines_of, say


async def main():
    parser = argparse.ArgumentParser(description="A conversation with a copilot over the MARS edge.")
    parser.add_argument("--work-dir", default=os.getcwd())
    parser.add_argument("--config", type=json.loads, default={})
    parser.add_argument("--session", help="goes on in this one")
    arguments = parser.parse_args()
    config = {"mode": "copilot", "available_agents": ["copilot"], "work_dir": os.path.abspath(arguments.work_dir)}
    lines, session = lines_of(sys.stdin), arguments.session
    while True:
        say("> say what is to be done")
        message = await lines.get()
        if not message:
            break
        told = {**config, **arguments.config, "copilotSessionId": session}
        code, in_session = await carry_out(f"copilot-{uuid.uuid4()}", message, told, lines)
        session = in_session or session
        if code == LEFT:
            return LEFT
    if session:
        say(f"ended; go on with --session {session}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
