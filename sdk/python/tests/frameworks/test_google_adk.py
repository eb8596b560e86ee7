"""Google ADK with the real framework."""

import scenarios


class GoogleADK(scenarios.Scenarios):
    program = "google_adk_agent.py"
