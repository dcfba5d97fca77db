"""Pages without a script: the log-in, and what is shown without access.

Their style is inside, and their policy names its digest: without access, not even a style sheet is
served.
"""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from capsieve.report.page import digest
from capsieve.review.headers import content_policy

if TYPE_CHECKING:
    from fastapi.responses import HTMLResponse
    from jinja2 import Template


def small_page(template: str, status: int = 200, **content: Any) -> "HTMLResponse":
    """Return a page.

    Parameters
    ----------
    template
        Its name.
    status
        Of the answer.
    content
        What the template is given; it is escaped.
    """
    from fastapi.responses import HTMLResponse

    style = _style()
    page = _template(template).render(style=style, **content)
    return HTMLResponse(
        page, status, {"content-security-policy": content_policy(style=digest(style))}
    )


@cache
def _template(name: str) -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("capsieve.review", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


@cache
def _style() -> str:
    return files("capsieve.review").joinpath("pages", "small.css").read_text(encoding="utf-8")
