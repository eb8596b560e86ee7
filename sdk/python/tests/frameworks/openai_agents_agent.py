"""OpenAI Agents SDK agent with a scripted model and a stored run."""

import asyncio
import json
from typing import Any

from agents import Model, ModelResponse, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from scripted import CALLS, call_id, last_text, pay_back, show, task

set_tracing_disabled(True)


class Scripted(Model):
    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        items = [] if isinstance(input, str) else input
        results = [str(item["output"]) for item in items if item.get("type") == "function_call_output"]
        output: list[Any] = [
            ResponseFunctionToolCall(
                type="function_call", call_id=call_id(index), name=call["name"], arguments=json.dumps(call["args"])
            )
            for index, call in enumerate(CALLS)
        ]
        if results:
            text = ResponseOutputText(type="output_text", text=last_text(results), annotations=[])
            output = [ResponseOutputMessage(id="1", type="message", role="assistant", status="completed", content=[text])]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


model = Scripted()


@function_tool
def refund(order: int, amount: int) -> str:
    """Pays money back."""
    return pay_back(order, amount)


@function_tool
def ask_human(question: str) -> str:
    """Asks a person."""
    raise NotImplementedError


async def main() -> None:
    # guide
    from agents import Agent
    from holdshort.openai_agents import asks, held, run

    agent = Agent(name="clerk", model=model, tools=[held(refund), asks(ask_human)])
    result = await run(agent, "Refund order 4711", task=task, state=f"{task}.json")
    # end
    show(result.final_output)


asyncio.run(main())
