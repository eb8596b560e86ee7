"""LangChain agent, asynchronous, in which each call runs as soon as it is decided."""

import asyncio

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from langchain_agent import Model, ask_human, refund
from scripted import show, task

model = Model()


async def main() -> None:
    async with AsyncSqliteSaver.from_conn_string("checkpoints.db") as checkpointer:
        # guide
        from langchain.agents import create_agent
        from holdshort.langchain import QUESTION, HoldshortMiddleware

        held = HoldshortMiddleware({"refund": True, "ask_human": QUESTION}, tools=[refund], per_call=True)
        agent = create_agent(model, [refund, ask_human], middleware=[held], checkpointer=checkpointer)
        # end
        thread = {"configurable": {"thread_id": task}}
        state = await agent.aget_state(thread)
        begin = None if state.next else {"messages": [("user", "Refund order 4711")]}
        result = await agent.ainvoke(begin, thread, durability="sync")
        show(result["messages"][-1].text)


asyncio.run(main())
