"""LangChain with the real framework."""

from scenarios import Scenarios


class LangChain(Scenarios):
    program = "langchain_agent.py"
