"""Work of the scripted agents: the calls that the model makes, the tool's effect, and the model's last text."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

CALLS: list[dict[str, Any]] = json.loads(
    os.environ.get("CALLS") or '[{"name": "refund", "args": {"order": 4711, "amount": 120}}]'
)
WORK = os.environ["WORK"]
task = os.environ["TASK"]


def pay_back(order: int, amount: int) -> str:
    """Appends a line to a file: the effect of the tool `refund`."""
    with open(os.path.join(WORK, "effects"), "a", encoding="utf-8") as file:
        file.write(f"{order} {amount}\n")
    if os.environ.get("STOP_IN_TOOL"):
        os.kill(os.getpid(), signal.SIGKILL)
    return f"paid {amount}"


def call_id(index: int) -> str:
    """Returns an id of a call that differs in each process, as with a real model."""
    return f"call_{os.getpid()}_{index}"


def last_text(results: list[str]) -> str:
    """Returns the last text of the model: everything that the model learned from its calls."""
    return "learned: " + " | ".join(results)


def show(text: Any) -> None:
    print("FINAL", json.dumps(str(text)))
