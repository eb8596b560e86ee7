"""LangChain and LangGraph with the real frameworks: batched, per call, and in a graph of one's own."""

import scenarios
from scenarios import REFUND


class LangChain(scenarios.Scenarios):
    program = "langchain_agent.py"


class LangChainPerCall(scenarios.Scenarios):
    program = "langchain_per_call_agent.py"

    def test_a_decided_call_runs_while_another_waits(self) -> None:
        process = self.start(REFUND, {"name": "refund", "args": {"order": 7, "amount": 1}})
        first, second = self.next_request(process), self.next_request(process)
        self.server.decide(first["id"], "approve")
        self.wait_for_effects(1)
        self.assertEqual(self.server.read(second["id"])["status"], "open")
        self.server.decide(second["id"], "approve")
        self.final(process)
        self.assertEqual(len(self.effects), 2)


class LangGraph(scenarios.Scenarios):
    program = "langgraph_agent.py"
