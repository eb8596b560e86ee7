"""Idempotency keys: the same call of the same session always has the same key, also after a restart."""

from __future__ import annotations

from .canonical import digest


def idempotency_key(framework: str, session: str, call: str) -> str:
    """Returns the key of a tool call, from the names of the framework, the session and the call.

    The parts are hashed, so they may have any characters and any length.
    """
    return f"{framework}:{digest([framework, session, call])[:48]}"
