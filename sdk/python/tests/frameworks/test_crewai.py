"""CrewAI with the real framework."""

from scenarios import Scenarios


class CrewAI(Scenarios):
    program = "crewai_agent.py"
    waits_at_once = False
    fails_if_nobody_can_be_asked = False
