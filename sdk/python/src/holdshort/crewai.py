"""CrewAI: hooks that hold tool calls until a person decides.

    hold(["refund"], session="task-4711")
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from crewai.hooks import ToolCallHookContext
from crewai.hooks.dispatch import HookAborted, InterceptionPoint, on

from .canonical import digest
from .client import Client
from .errors import HoldshortError
from .framework import Call, Holds, Reply, Rules, add_note
from .request_fields import RequestFields

if TYPE_CHECKING:
    from typing_extensions import Unpack
