"""Google ADK agent with a scripted model and a stored session."""

import asyncio
import json
import warnings
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from scripted import CALLS, call_id, last_text, pay_back, show, task

warnings.simplefilter("ignore")


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in llm_request.contents for part in content.parts or []]
        results = [json.dumps(part.function_response.response) for part in parts if part.function_response]
        reply = [types.Part(text=last_text(results))]
        if not results:
            reply = [
                types.Part(function_call=types.FunctionCall(id=call_id(index), name=call["name"], args=call["args"]))
                for index, call in enumerate(CALLS)
            ]
        yield LlmResponse(content=types.Content(role="model", parts=reply))


model = Scripted(model="scripted")


def refund(order: int, amount: int) -> str:
    """Pays money back."""
    return pay_back(order, amount)


def ask_human(question: str) -> str:
    """Asks a person."""
    raise NotImplementedError


async def main() -> None:
    # guide
    from google.adk import Agent, Runner
    from google.adk.apps import App, ResumabilityConfig
    from google.adk.sessions.sqlite_session_service import SqliteSessionService
    from holdshort.google_adk import QUESTION, HoldshortPlugin, run

    agent = Agent(name="clerk", model=model, tools=[refund, ask_human])
    held = HoldshortPlugin({"refund": True, "ask_human": QUESTION})
    app = App(name="shop", root_agent=agent, plugins=[held], resumability_config=ResumabilityConfig(is_resumable=True))
    runner = Runner(app=app, session_service=SqliteSessionService("sessions.db"), auto_create_session=True)
    events = [event async for event in run(runner, "Refund order 4711", user_id="anna", session_id=task)]
    # end
    show([part.text for event in events if event.content for part in event.content.parts if part.text][-1])


asyncio.run(main())
