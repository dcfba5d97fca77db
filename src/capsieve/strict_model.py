"""Immutable models of the content of files, checked by pydantic."""

import json
import tomllib
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from capsieve.errors import ParameterError


class Strict(BaseModel, frozen=True):
    """An immutable model that converts no value silently and knows all its entries.

    Files may contain anything: :meth:`from_json` and :meth:`from_toml` raise a
    :class:`~capsieve.errors.ParameterError` that names the entry.
    """

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    def to_json(self) -> str:
        """Return one line of JSON; equal objects give equal texts."""
        return self.model_dump_json(exclude_none=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the content as JSON has it."""
        return self.model_dump(mode="json", exclude_none=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Build from JSON."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            # Another version first: it explains the other errors.
            problem, *_ = sorted(error.errors(), key=lambda each: each["loc"] != (_VERSION,))
            raise _parameter_error(problem) from error

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Build from TOML."""
        try:
            content = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise ParameterError("TOML", f"not a valid TOML text ({error})") from error
        return cls.from_json(json.dumps(content, default=str))  # only dates are not JSON


_VERSION = "schema_version"


def _parameter_error(problem: ErrorDetails) -> ParameterError:
    names = [f"[{each}]" if isinstance(each, int) else f".{each}" for each in problem["loc"]]
    field = "".join(names).removeprefix(".") or "the text"
    match problem["type"]:
        case "missing":
            message = "is missing"
        case "extra_forbidden":
            message = "there is no such entry; see docs/foreign-models.md"
        case "value_error":  # of a validator of this module
            name, _, message = str(problem.get("ctx", {})["error"]).partition(": ")
            field = name if field == "the text" else f"{field}.{name}"
        case _:
            message = f"{problem['msg'][:1].lower()}{problem['msg'][1:]}"
            given = repr(problem["input"])
            if len(given) <= 40:
                message += f", not {given}"
    return ParameterError(field, message)
