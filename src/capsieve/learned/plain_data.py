"""Frozen dataclasses as plain tables (JSON, TOML) and back, with a sentence for what is wrong.

A table comes from a file that anybody may have written. Every name, type and number is checked;
nothing is converted silently.
"""

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from capsieve.errors import ParameterError

__all__ = ["check_schema", "decode", "encode", "entry", "parsed_json", "require"]

T = TypeVar("T")

_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def entry(meaning: str, default: Any = MISSING) -> Any:
    """Return a field with its meaning, which a message quotes where the field is missing."""
    return field(default=default, metadata={"meaning": meaning})


def require(condition: bool, name: str, rule: str, value: object) -> None:
    """Raise a ParameterError where a value breaks a rule."""
    if not condition:
        raise ParameterError(name, f"must be {rule}, not {value!r}")


def encode(value: Any) -> Any:
    """Return a dataclass as plain tables, lists, texts and numbers; without what is None."""
    if is_dataclass(value):
        found = {each.name: getattr(value, each.name) for each in fields(value)}
        return {name: encode(content) for name, content in found.items() if content is not None}
    if isinstance(value, Mapping):
        return {str(name): encode(content) for name, content in value.items()}
    if isinstance(value, tuple | list):
        return [encode(content) for content in value]
    return value


def decode(kind: type[T], table: object, where: str = "") -> T:
    """Return the dataclass that a plain table stands for.

    Raises
    ------
    ParameterError
        A name is missing or unknown, or a value is of another type; it names the place.
    """
    return _dataclass(kind, table, where)


def parsed_json(text: str) -> object:
    """Return what a JSON text holds; a ParameterError says what is wrong with it."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParameterError("JSON", f"not a valid JSON text ({error})") from error


def check_schema(table: object, known: int, *, unsaid: int | None = None) -> None:
    """Say first that a table's version is another one: other names would then be no mistakes.

    Parameters
    ----------
    table
        What is no table is told by :func:`decode`.
    known
        The version that is read.
    unsaid
        What a table without a version has; None where it must say it.
    """
    if not isinstance(table, Mapping):
        return
    schema = table.get("schema", unsaid)
    if type(schema) is not int or schema != known:
        raise ParameterError(
            "schema", f"this version of capsieve reads schema {known}, not {schema!r}"
        )


def _dataclass(kind: Any, table: object, where: str) -> Any:
    if not isinstance(table, Mapping):
        raise ParameterError(where or "the description", f"must be a table, not {_shown(table)}")
    known: dict[str, Field[Any]] = {each.name: each for each in fields(kind)}
    for name in table:
        if name not in known:
            near = get_close_matches(str(name), known, n=1, cutoff=0.0)
            raise ParameterError(_join(where, name), f"no such entry; did you mean {near[0]!r}?")
    hints = get_type_hints(kind)
    found: dict[str, Any] = {}
    for name, each in known.items():
        if name in table:
            found[name] = _value(hints[name], table[name], _join(where, name))
        elif each.default is MISSING and each.default_factory is MISSING:
            meaning = each.metadata.get("meaning", "")
            raise ParameterError(
                _join(where, name), "is missing" + (f"; it says {meaning}" if meaning else "")
            )
    return kind(**found)


def _value(kind: Any, value: object, where: str) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _value(_alternative(get_args(kind), value), value, where)
    if origin is Literal:
        choices = get_args(kind)
        if not isinstance(value, str) or value not in choices:
            names = ", ".join(f'"{choice}"' for choice in choices)
            raise ParameterError(where, f"must be one of {names}, not {_shown(value)}")
        return value
    if origin is tuple:
        return _row(get_args(kind), value, where)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise ParameterError(where, f"must be a table, not {_shown(value)}")
        inner = get_args(kind)[1]
        return {str(n): _value(inner, content, _join(where, n)) for n, content in value.items()}
    return _dataclass(kind, value, where) if is_dataclass(kind) else _scalar(kind, value, where)


def _alternative(kinds: tuple[Any, ...], value: object) -> Any:
    """Return the kind that a value is most likely meant to be."""
    if value is None and type(None) in kinds:
        return type(None)
    for kind in kinds:
        if isinstance(value, list | tuple) and get_origin(kind) is tuple:
            return kind
        if type(value) is kind:
            return kind
    return next(kind for kind in kinds if kind is not type(None))


def _row(kinds: tuple[Any, ...], value: object, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ParameterError(where, f"must be a list, not {_shown(value)}")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise ParameterError(where, f"must be a list of {len(kinds)}, not of {len(value)}")
    pairs = enumerate(zip(kinds, value, strict=True))
    return tuple(_value(kind, each, f"{where}[{number}]") for number, (kind, each) in pairs)


def _scalar(kind: Any, value: object, where: str) -> Any:
    if kind is type(None):
        return None
    if kind is float and type(value) is int:
        value = float(value) if abs(value) < 2**63 else math.inf
    if type(value) is not kind:
        raise ParameterError(where, f"must be {_WORDS[kind]}, not {_shown(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(where, f"must be a finite number, not {value!r}")
    return value


def _join(where: str, name: object) -> str:
    return f"{where}.{name}" if where else str(name)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
