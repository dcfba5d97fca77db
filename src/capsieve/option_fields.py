"""Fields of settings dataclasses that are also options of the command line."""

from dataclasses import field, fields
from typing import Any, TypeVar

SettingsT = TypeVar("SettingsT")


def option(default: Any, text: str, **more: Any) -> Any:
    """Return a field of a settings dataclass with its default and the help text of its option.

    `more` is for the command line: "metavar"; "option", if it is not the name of the field; and
    "min" and "max" of a number.
    """
    return field(default=default, metadata={"help": text} | more)


def documented(settings: type[SettingsT]) -> type[SettingsT]:
    """Add the help texts of its fields to the docstring of a settings dataclass."""
    texts = [f"{each.name}\n    {each.metadata['help']}" for each in fields(settings)]  # pyright: ignore[reportArgumentType]
    settings.__doc__ = "\n".join([f"{settings.__doc__}\n\nAttributes\n----------", *texts])
    return settings
