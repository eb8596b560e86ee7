"""Pydantic AI with the real framework."""

from scenarios import Scenarios


class PydanticAI(Scenarios):
    program = "pydantic_ai_agent.py"
