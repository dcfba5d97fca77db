"""What every page is made with: its template, its style, and the digests that its policy names."""

import base64
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["digest", "part", "template"]


@cache
def template(name: str) -> "Template":
    """Return a template; what it is given is escaped, and a name that it lacks is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("capsieve.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


@cache
def part(name: str) -> str:
    """Return a style sheet or a script as a text."""
    return files("capsieve.report").joinpath("templates", name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Return how a content security policy names the one text that it allows."""
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode('ascii')}"
