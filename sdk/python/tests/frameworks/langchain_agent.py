"""LangChain agent with a scripted model and a checkpointer."""

from typing import Any

from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.sqlite import SqliteSaver

from scripted import CALLS, call_id, last_text, pay_back, show, task


class Model(BaseChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> "Model":
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        results = [message.text for message in messages if isinstance(message, ToolMessage)]
        calls = [{**call, "id": call_id(index)} for index, call in enumerate(CALLS)]
        reply = AIMessage(last_text(results)) if results else AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    @property
    def _llm_type(self) -> str:
        return "scripted"


@tool
def refund(order: int, amount: int) -> str:
    """Pays money back."""
    return pay_back(order, amount)


@tool
def ask_human(question: str) -> str:
    """Asks a person."""
    raise NotImplementedError


def main() -> None:
    model = Model()
    with SqliteSaver.from_conn_string("checkpoints.db") as checkpointer:
        # guide
        from langchain.agents import create_agent
        from holdshort.langchain import QUESTION, HoldshortMiddleware

        held = HoldshortMiddleware({"refund": True, "ask_human": QUESTION}, tools=[refund])
        agent = create_agent(model, [refund, ask_human], middleware=[held], checkpointer=checkpointer)
        thread = {"configurable": {"thread_id": task}}
        begin = None if agent.get_state(thread).next else {"messages": [("user", "Refund order 4711")]}
        result = agent.invoke(begin, thread, durability="sync")
        # end
        show(result["messages"][-1].text)


if __name__ == "__main__":
    main()
