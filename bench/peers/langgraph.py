"""LangGraph with its SQLite checkpointer.

LangGraph is a library without a server. Asking and deciding are calls in this process, without HTTP, which makes
them faster. A cycle: `ainvoke` runs the graph to `interrupt()` and saves it. `ainvoke(Command(resume=…))` loads the
graph and runs it to its end. `durability="sync"` means that each checkpoint is committed before the next step.

packages (pip): langgraph==1.2.22 langgraph-checkpoint-sqlite==3.1.2
"""

import asyncio
import time
import uuid
from importlib.metadata import version
from typing import TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from measure import PAYLOAD, measure


class State(TypedDict):
    payload: str
    decision: str


def ask(state: State):
    return {"decision": interrupt(state["payload"])}


async def main():
    async with AsyncSqliteSaver.from_conn_string("langgraph.db") as saver:
        await saver.setup()
        mode = await pragma(saver, "journal_mode")
        synchronous = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}[await pragma(saver, "synchronous")]
        graph = StateGraph(State).add_node(ask).add_edge(START, "ask").add_edge("ask", END)
        graph = graph.compile(checkpointer=saver)

        async def cycle():
            config = {"configurable": {"thread_id": uuid.uuid4().hex}}
            asked = await graph.ainvoke({"payload": PAYLOAD}, config, durability="sync")
            assert asked["__interrupt__"]
            sent = time.perf_counter()
            done = await graph.ainvoke(Command(resume="approve"), config, durability="sync")
            assert done["decision"] == "approve"
            return time.perf_counter() - sent

        await measure(
            cycle,
            name="LangGraph",
            version=f"langgraph {version('langgraph')}, checkpoint-sqlite {version('langgraph-checkpoint-sqlite')}",
            durability=f"SQLite, {mode.upper()}, `synchronous={synchronous}`; `durability=sync`",
            cycle="two calls in process (no HTTP): invoke to the interrupt, invoke with the resume",
        )


async def pragma(saver, name):
    async with saver.conn.execute(f"PRAGMA {name}") as rows:
        return (await rows.fetchone())[0]


asyncio.run(main())
