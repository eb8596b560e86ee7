"""Google ADK with the real framework."""

from scenarios import Scenarios


class GoogleADK(Scenarios):
    program = "google_adk_agent.py"
