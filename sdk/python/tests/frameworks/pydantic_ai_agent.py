"""Pydantic AI agent with a scripted model and stored messages."""

from pathlib import Path
from typing import Any

from pydantic_ai import CallDeferred
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from scripted import CALLS, call_id, last_text, pay_back, show, task


def reply(messages: Any, info: AgentInfo) -> ModelResponse:
    results = [
        str(part.content) for message in messages for part in message.parts if isinstance(part, ToolReturnPart)
    ]
    if results:
        return ModelResponse(parts=[TextPart(last_text(results))])
    return ModelResponse(
        parts=[ToolCallPart(call["name"], call["args"], call_id(index)) for index, call in enumerate(CALLS)]
    )


def refund(order: int, amount: int) -> str:
    """Pays money back."""
    return pay_back(order, amount)


def ask_human(question: str) -> str:
    """Asks a person."""
    raise CallDeferred


model = FunctionModel(reply)
# guide
from pydantic_ai import Agent, ModelMessagesTypeAdapter, Tool
from holdshort.pydantic_ai import approvals

stored = Path(f"{task}.json")
agent = Agent(model, tools=[Tool(refund, requires_approval=True), ask_human], capabilities=[approvals(store=stored)])
history = ModelMessagesTypeAdapter.validate_json(stored.read_bytes()) if stored.exists() else None
result = agent.run_sync(None if history else "Refund order 4711", message_history=history)
# end
show(result.output)
