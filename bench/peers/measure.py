"""Measures a peer written in Python: cycles per second with 1 and 64 at a time. Prints one line of JSON."""

import asyncio
import json
import os
import statistics
import time

PAYLOAD = "x" * 500
CROWD = 64
ROUNDS = int(os.environ.get("PEER_ROUNDS", "5"))
SECONDS = float(os.environ.get("PEER_SECONDS", "3"))


async def measure(cycle, /, **facts):
    """`cycle` runs one cycle. It returns the seconds between sending the decision and its arrival at the asker."""
    await rate(cycle, CROWD, SECONDS / 2)
    await rate(cycle, 1, SECONDS / 2)
    alone, together, latencies = [], [], []
    for _ in range(ROUNDS):
        a_second, each = await rate(cycle, 1, SECONDS)
        alone.append(a_second)
        latencies += each
        together.append((await rate(cycle, CROWD, SECONDS))[0])
    measured = {
        "alone": spread(alone),
        "together": spread(together),
        "decision_to_done_ms": round(statistics.median(latencies) * 1000, 3),
        "rounds": ROUNDS,
        "seconds": SECONDS,
    }
    print(json.dumps(facts | measured), flush=True)


async def rate(cycle, concurrency, seconds):
    """Returns the cycles per second and the time of each decision."""
    began, latencies = time.perf_counter(), []

    async def pair():
        while time.perf_counter() - began < seconds:
            latencies.append(await cycle())

    await asyncio.gather(*(pair() for _ in range(concurrency)))
    return len(latencies) / (time.perf_counter() - began), latencies


def spread(values):
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}
