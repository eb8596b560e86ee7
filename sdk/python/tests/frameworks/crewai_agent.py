"""CrewAI crew with a scripted model."""

import json
import os
import re
from typing import Any

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")
from crewai import BaseLLM
from crewai.tools import tool

from scripted import CALLS, last_text, pay_back, show, task


class Scripted(BaseLLM):
    """Writes the text form of tool calls, one call after the other."""

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        texts = [str(message["content"]) for message in messages if message["role"] in ("assistant", "user")]
        results = re.findall(r"Observation: (.*?)(?=\n*(?:Observation|Thought):|\Z)", "\n".join(texts), re.DOTALL)
        results = [each.strip() for each in results if not each.strip().startswith("the result")]
        if len(results) < len(CALLS):
            call = CALLS[len(results)]
            return f"Thought: go on\nAction: {call['name']}\nAction Input: {json.dumps(call['args'])}"
        return f"Thought: done\nFinal Answer: {last_text(results)}"

    def supports_function_calling(self) -> bool:
        return False


@tool("refund")
def refund(order: int, amount: int) -> str:
    """Pays money back."""
    return pay_back(order, amount)


@tool("ask_human")
def ask_human(question: str) -> str:
    """Asks a person."""
    raise NotImplementedError


model = Scripted(model="scripted")
# guide
from crewai import Agent, Crew, Task
from holdshort.crewai import QUESTION, hold

hold({"refund": True, "ask_human": QUESTION}, task=task)
clerk = Agent(role="clerk", goal="refund", backstory="A clerk.", llm=model, tools=[refund, ask_human])
work = Task(description="Refund order 4711", expected_output="a receipt", agent=clerk)
result = Crew(agents=[clerk], tasks=[work]).kickoff()
# end
show(result.raw)
