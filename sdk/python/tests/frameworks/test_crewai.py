"""CrewAI with the real framework."""

import scenarios


class CrewAI(scenarios.Scenarios):
    program = "crewai_agent.py"
    waits_at_once = False
    fails_if_nobody_can_be_asked = False
