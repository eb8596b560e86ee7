"""Idempotency keys: the same call of the same session always has the same key, also after a restart."""

from __future__ import annotations

from .canonical import digest
from .errors import InvalidValue

_MAX_CHARS = 255
"""Longest key that the server accepts (`docs/reference/limits.md`)."""


def idempotency_key(framework: str, session: str, call: str) -> str:
    """Returns the key of a tool call, from the names of the framework, the session and the call.

    The parts are hashed, so they may have any characters and any length.
    """
    return f"{framework}:{digest([framework, session, call])[:48]}"


def check_key(key: str) -> None:
    """Raises `InvalidValue` for a key that the server would refuse."""
    is_right = isinstance(key, str) and key.isascii() and key.isprintable() and key.strip() == key != ""
    if not is_right or len(key) > _MAX_CHARS:
        raise InvalidValue("/key", f"is not a text of 1 to {_MAX_CHARS} visible ASCII characters; `idempotency_key` makes one")
