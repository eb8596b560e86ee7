"""OpenAI Agents SDK with the real framework."""

import scenarios


class OpenAIAgents(scenarios.Scenarios):
    program = "openai_agents_agent.py"
