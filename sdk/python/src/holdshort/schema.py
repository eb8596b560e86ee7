"""Types of answers: a JSON Schema for the person's form, and the typed value of the answer.

With pydantic, a schema may be any type that pydantic knows. Without pydantic, a schema is a JSON Schema as a
dictionary, or one of `str`, `bool`, `int` and `float`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

from .errors import InvalidValue

_SIMPLE: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def json_schema(schema: Any) -> dict[str, Any] | None:
    """Returns the JSON Schema of an answer. `None` for an answer in free text."""
    if schema is None or schema is str:
        return None
    if isinstance(schema, dict):
        return schema
    if _is_simple(schema):
        return {"type": _SIMPLE[schema]}
    return _adapter(schema).json_schema()  # type: ignore[no-any-return]


def read_answer(schema: Any, resolution: dict[str, Any]) -> Any:
    """Returns the answer of a resolution as a value of the schema's type. Raises `InvalidValue`."""
    text, data = resolution.get("text"), resolution.get("edit")
    answer = text if data is None else data
    if schema is None or schema is str:
        return text or ""
    if isinstance(schema, dict):
        return answer
    if _is_simple(schema):
        is_right = isinstance(answer, (int, float) if schema is float else schema)
        if not is_right or (isinstance(answer, bool) and schema is not bool):
            raise InvalidValue("", f"is not of type `{schema.__name__}`")
        return schema(answer)
    from pydantic import ValidationError

    try:
        return _adapter(schema).validate_json(json.dumps(answer))
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidValue("".join(f"/{part}" for part in first["loc"]), str(first["msg"])) from error


def _is_simple(schema: Any) -> bool:
    return isinstance(schema, type) and schema in _SIMPLE


def _adapter(schema: Any) -> Any:
    try:
        from pydantic import TypeAdapter
    except ImportError:
        raise TypeError(
            f"schema: `{schema!r}` needs pydantic: install `pydantic`, or pass a JSON Schema as a dictionary"
        ) from None
    return TypeAdapter(schema)


def arguments_schema(function: Callable[..., Any], omit: frozenset[str]) -> dict[str, Any]:
    """Returns the JSON Schema of a function's arguments, with which the server checks an edit.

    A parameter whose type has no JSON Schema accepts any value.
    """
    properties: dict[str, Any] = {}
    required: list[str] = []
    is_open = False
    hints = _hints(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
        elif name not in omit:
            properties[name] = _parameter_schema(hints.get(name))
            if parameter.default is parameter.empty:
                required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": is_open}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    import typing

    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:  # A name in an annotation may be unknown at run time.
        return {}


def _parameter_schema(hint: Any) -> dict[str, Any]:
    if _is_simple(hint):
        return {"type": _SIMPLE[hint]}
    if hint is None:
        return {}
    try:
        schema: dict[str, Any] = _adapter(hint).json_schema()
    except Exception:  # No pydantic, or a type that pydantic does not know.
        return {}
    # References point to the root of their own document, so they cannot be nested here.
    return {} if "$defs" in schema else schema
