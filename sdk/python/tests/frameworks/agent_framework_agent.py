"""Microsoft Agent Framework agent with a scripted model and a stored session."""

import asyncio
from typing import Any

from agent_framework import BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message, tool

from scripted import CALLS, call_id, last_text, pay_back, show, task


class Scripted(FunctionInvocationLayer, BaseChatClient):
    async def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> ChatResponse:
        contents = [content for message in messages for content in message.contents]
        results = [str(content.result) for content in contents if content.type == "function_result"]
        reply = [Content.from_text(last_text(results))]
        if not results:
            reply = [
                Content.from_function_call(call_id(index), call["name"], arguments=call["args"])
                for index, call in enumerate(CALLS)
            ]
        return ChatResponse(messages=[Message("assistant", reply)], response_id="1")


model = Scripted()


@tool(approval_mode="always_require")
def refund(order: int, amount: int) -> str:
    """Pays money back."""
    return pay_back(order, amount)


@tool
def ask_human(question: str) -> str:
    """Asks a person."""
    raise NotImplementedError


async def main() -> None:
    # guide
    from agent_framework import Agent
    from holdshort.agent_framework import QUESTION, HoldshortMiddleware, run

    held = HoldshortMiddleware({"refund": True, "ask_human": QUESTION})
    agent = Agent(model, tools=[refund, ask_human], middleware=[held])
    response = await run(agent, "Refund order 4711", task=task, state=f"{task}.json")
    # end
    show(response.text)


asyncio.run(main())
