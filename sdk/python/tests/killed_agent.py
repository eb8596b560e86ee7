"""Agent that `test_killed.py` kills and starts again. The tool appends a line to a file.

Arguments: URL, token, key, order, file of the tool, synchronous (`sync`) or asynchronous (`async`).
"""

import asyncio
import os
import signal
import sys

import holdshort

url, token, key, number, effects, mode = sys.argv[1:]
stop_at = os.environ.get("STOP_AT")
client = holdshort.Client(url, token)


def stop(place: str) -> None:
    if stop_at == place:
        os.kill(os.getpid(), signal.SIGKILL)


@holdshort.require_approval(key=key, client=client)
def refund(order: int) -> str:
    stop("before the tool")
    with open(effects, "a", encoding="utf-8") as file:
        file.write(f"{order}\n")
    stop("in the tool")
    return "done"


@holdshort.require_approval(key=key, client=client, tool="refund")
async def refund_async(order: int) -> str:
    return refund.__wrapped__(order)


try:
    result = refund(int(number)) if mode == "sync" else asyncio.run(refund_async(int(number)))
    stop("after the tool")
    print(result)
except holdshort.ApprovalUsed:
    print("used before")
