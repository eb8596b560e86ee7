"""OpenAI Agents SDK with the real framework."""

from scenarios import Scenarios


class OpenAIAgents(Scenarios):
    program = "openai_agents_agent.py"
