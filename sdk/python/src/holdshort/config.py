"""Address of the server and token of the agent, from arguments or the environment.

The token is read again before each use, so that a rotated key works without a restart. It never appears in a `repr`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from .errors import ConfigError

DEFAULT_URL = "http://127.0.0.1:7349"

TokenSource = Callable[[], str]


@dataclass(frozen=True)
class Config:
    """Settings of a client."""

    url: str
    read_token: TokenSource
    retry_for: float = 120.0
    """Seconds for which a request is repeated while the server cannot be reached or is busy."""

    def __repr__(self) -> str:
        return f"Config(url={self.url!r})"

    def link(self, interrupt: str) -> str:
        """Returns the page on which people decide an interrupt."""
        return f"{self.url}/inbox/{interrupt}"


def configure(url: str | None, token: str | TokenSource | None, retry_for: float) -> Config:
    """Returns the settings of a client. Reads `HOLDSHORT_URL` and the token's variables if an argument is missing."""
    chosen = (url or os.environ.get("HOLDSHORT_URL") or DEFAULT_URL).rstrip("/")
    parts = urlsplit(chosen)
    if "@" in parts.netloc:
        raise ConfigError("HOLDSHORT_URL", "contains a name or password; set HOLDSHORT_AGENT_TOKEN instead")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError("HOLDSHORT_URL", f"`{chosen}` is not the address of a server, such as {DEFAULT_URL}")
    return Config(chosen, _token_source(token), retry_for)


def _token_source(token: str | TokenSource | None) -> TokenSource:
    if token is None:
        return _token_from_environment
    if callable(token):
        read = token
        return lambda: _checked(read(), "token")
    return lambda: _checked(token, "token")


def _token_from_environment() -> str:
    path = os.environ.get("HOLDSHORT_AGENT_TOKEN_FILE")
    if path:
        return _token_from_file(os.path.expanduser(path))
    token = os.environ.get("HOLDSHORT_AGENT_TOKEN")
    if not token:
        raise ConfigError(
            "HOLDSHORT_AGENT_TOKEN",
            "is not set; set it to the secret of `holdshort keys create NAME`, or set HOLDSHORT_AGENT_TOKEN_FILE",
        )
    return _checked(token, "HOLDSHORT_AGENT_TOKEN")


def _token_from_file(path: str) -> str:
    """Returns the token in a file: the token alone, or the `tokens.json` of a data folder."""
    name = "HOLDSHORT_AGENT_TOKEN_FILE"
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise ConfigError(name, f"`{path}` cannot be read: {error.strerror}") from None
    if text.lstrip().startswith("{"):
        try:
            text = json.loads(text)["agent"]
        except (ValueError, KeyError, TypeError):
            raise ConfigError(name, f"`{path}` has no member `agent`") from None
    return _checked(text, name)


def _checked(token: object, name: str) -> str:
    text = token.strip() if isinstance(token, str) else ""
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise ConfigError(name, "is empty, or contains characters that a token cannot have")
    return text
