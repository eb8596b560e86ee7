"""Canonical JSON (RFC 8785) and the digest of an action.

Equal values have equal texts, so the server and the agent compute the same digest of a tool call.
Values that JSON cannot express are rejected with the JSON pointer of the value.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

from .errors import InvalidValue

_MAX_INTEGER = 2**53 - 1
"""Largest integer below which every integer is exact as a double (RFC 8785, 3.2.2.3)."""

_MAX_DEPTH = 100
"""Largest depth of nested lists and objects. A deeper value is rejected: it may contain itself."""

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def canonical_json(value: Any) -> bytes:
    """Returns the canonical JSON of a value as UTF-8.

    Raises `InvalidValue` for NaN, infinities, lone surrogates, keys that are not texts, and types that JSON lacks.
    """
    parts: list[str] = []
    _write(value, "", 0, parts)
    return "".join(parts).encode()


def plain(value: Any) -> Any:
    """Returns a copy of a JSON value, made of dictionaries, lists and scalars, as the server accepts it.

    Raises `InvalidValue`, also for whole numbers beyond 2^53 - 1: programs read them differently.
    """
    canonical_json(value)
    return _plain(value, "")


def digest(value: Any) -> str:
    """Returns the lower-case SHA-256 of the canonical JSON of a value."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _plain(value: Any, at: str) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item, _member(at, key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{at}/{index}") for index, item in enumerate(value)]
    if isinstance(value, (int, float)) and abs(value) > _MAX_INTEGER:
        raise InvalidValue(at, "is a number beyond 2^53 - 1, which programs read differently; pass it as a text")
    return value


def _member(at: str, key: str) -> str:
    return f"{at}/{key.replace('~', '~0').replace('/', '~1')}"


def _write(value: Any, at: str, depth: int, parts: list[str]) -> None:
    if depth > _MAX_DEPTH:
        raise InvalidValue(at, f"is nested more than {_MAX_DEPTH} levels deep, or contains itself")
    if value is None:
        parts.append("null")
    elif isinstance(value, bool):
        parts.append("true" if value else "false")
    elif isinstance(value, str):
        parts.append(_text(value, at))
    elif isinstance(value, int):
        parts.append(_integer(int(value), at))
    elif isinstance(value, float):
        parts.append(_number(float(value), at))
    elif isinstance(value, Mapping):
        _write_object(value, at, depth, parts)
    elif isinstance(value, (list, tuple)):
        parts.append("[")
        for index, item in enumerate(value):
            if index:
                parts.append(",")
            _write(item, f"{at}/{index}", depth + 1, parts)
        parts.append("]")
    else:
        raise InvalidValue(at, f"is of type `{type(value).__name__}`, which JSON lacks")


def _write_object(value: Mapping[Any, Any], at: str, depth: int, parts: list[str]) -> None:
    for key in value:
        if not isinstance(key, str):
            raise InvalidValue(at, f"has the key {key!r}, which is not a text")
        _text(key, at)
    parts.append("{")
    # RFC 8785, 3.2.3: keys are sorted by their UTF-16 code units.
    for index, key in enumerate(sorted(value, key=lambda key: key.encode("utf-16-be"))):
        if index:
            parts.append(",")
        parts.append(f"{_text(key, at)}:")
        _write(value[key], _member(at, key), depth + 1, parts)
    parts.append("}")


def _text(value: str, at: str) -> str:
    for char in value:
        if "\ud800" <= char <= "\udfff":
            raise InvalidValue(at, "contains half of a character (a lone surrogate)")
    return '"' + "".join(_ESCAPES.get(char) or (f"\\u{ord(char):04x}" if char < " " else char) for char in value) + '"'


def _integer(value: int, at: str) -> str:
    if abs(value) <= _MAX_INTEGER:
        return str(value)
    try:
        return _number(float(value), at)
    except OverflowError:
        raise InvalidValue(at, "is larger than any JSON number") from None


def _number(value: float, at: str) -> str:
    """Returns a number as ECMAScript writes it (ECMA-262, Number::toString)."""
    if not math.isfinite(value):
        raise InvalidValue(at, f"is {value}, which JSON lacks")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    # `repr` gives the shortest digits that read back as the same double, as ECMAScript requires.
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0)
    if whole == "0":
        point -= 1 + len(fraction) - len(fraction.lstrip("0"))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + (digits[0] if count == 1 else f"{digits[0]}.{digits[1:]}") + power
