"""Microsoft Agent Framework with the real framework."""

import scenarios


class AgentFramework(scenarios.Scenarios):
    program = "agent_framework_agent.py"
    can_edit = False
