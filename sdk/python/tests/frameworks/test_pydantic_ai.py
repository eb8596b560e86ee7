"""Pydantic AI with the real framework."""

import scenarios


class PydanticAI(scenarios.Scenarios):
    program = "pydantic_ai_agent.py"
