"""Parser of server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO


def read_events(stream: IO[bytes]) -> Iterator[tuple[str, str | None, str]]:
    """Parses server-sent events: name, id and data. A comment is an event with an empty name."""
    name, identity, data = "", None, ""
    for raw in stream:
        line = raw.decode("utf-8").rstrip("\r\n")
        if not line:
            if data:
                yield name, identity, data
            name, identity, data = "", None, ""
            continue
        if line.startswith(":"):
            yield "", None, ""
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "id":
            identity = value
        elif field == "data":
            data = f"{data}\n{value}" if data else value
