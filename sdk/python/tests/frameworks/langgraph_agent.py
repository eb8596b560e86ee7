"""LangGraph graph of one's own, asynchronous, in which each call runs as soon as it is decided."""

import asyncio

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_agent import Model, ask_human, refund
from scripted import show, task

model = Model()


async def main() -> None:
    async with AsyncSqliteSaver.from_conn_string("graph.db") as checkpointer:
        # guide
        from langgraph.prebuilt import ToolNode, tools_condition
        from holdshort.langchain import QUESTION, HoldshortMiddleware

        held = HoldshortMiddleware({"refund": True, "ask_human": QUESTION}, tools=[refund])
        tools = ToolNode([refund, ask_human], awrap_tool_call=held.awrap_tool_call)
        # end
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", tools)
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
        graph.add_edge("tools", "model")
        app = graph.compile(checkpointer=checkpointer)
        thread = {"configurable": {"thread_id": task}}
        state = await app.aget_state(thread)
        begin = None if state.next else {"messages": [("user", "Refund order 4711")]}
        result = await app.ainvoke(begin, thread, durability="sync")
        show(result["messages"][-1].text)


asyncio.run(main())
