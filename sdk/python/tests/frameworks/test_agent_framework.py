"""Microsoft Agent Framework with the real framework."""

from scenarios import Scenarios


class AgentFramework(Scenarios):
    program = "agent_framework_agent.py"
    can_edit = False
