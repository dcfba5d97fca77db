"""Pages: templates, images inside the page, and PDF files.

A page is one file that fetches nothing: its content security policy allows the style sheet and the
script by their digests, and images that are inside the page or in files next to it.
"""

import base64
import logging
from functools import cache
from hashlib import sha256
from importlib.resources import files
from inspect import getmembers, isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, MissingExtraError
from capsieve.frame_images import jpeg
from capsieve.report import tables, text

if TYPE_CHECKING:
    from jinja2 import Environment

_KINDS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"<svg": "svg+xml", b"<?xm": "svg+xml"}


def render(template: str, *, script: str = "", files: bool = False, **values: Any) -> str:
    """Return a page.

    Parameters
    ----------
    template
        A file of report/templates that extends base.html. Values are escaped, and a name that is
        not passed is an error. The functions of :mod:`capsieve.report.text` are filters, and so is
        ``table`` (:func:`capsieve.report.tables.html`).
    script
        A script of report/templates.
    files
        Whether the page shows images from files next to it.
    **values
        The names that the template uses.
    """
    style, code = _part("style.css"), _part(script) if script else ""
    common = {
        "made_with": __version__,
        "style": style,
        "style_digest": digest(style),
        "script": code,
        "script_digest": digest(code),
        "images": "data: 'self' file:" if files else "data:",
    }
    return _environment().get_template(template).render(common | values)


def write(content: str | bytes, path: Path) -> None:
    """Write a page or another file, complete or not at all."""
    with atomic_write(path) as temporary:
        is_text = isinstance(content, str)
        temporary.write_bytes(content.encode("utf-8", "replace") if is_text else content)


def image(picture: "NDArray[Any] | bytes | None") -> str:
    """Return a frame (as JPEG), or a PNG, JPEG or SVG file, as a data URL; "" for None."""
    if picture is None:
        return ""
    content = picture if isinstance(picture, bytes) else jpeg(picture, quality=85)
    kind = next((kind for start, kind in _KINDS.items() if content.startswith(start)), "jpeg")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def digest(content: str) -> str:
    """Return the name of a style sheet or a script in a content security policy."""
    return f"sha256-{base64.b64encode(sha256(content.encode()).digest()).decode('ascii')}"


def require_pdf() -> Any:
    """Return the module weasyprint; MissingExtraError if it or its library Pango is missing."""
    try:
        import weasyprint
    except ImportError:
        raise MissingExtraError(
            "a PDF needs the package weasyprint; pip install 'capsieve[pdf]', or print the HTML "
            "from a browser"
        ) from None
    except OSError as error:  # it loads Pango when it is imported
        raise MissingExtraError(
            "a PDF needs the system library Pango, which cannot be loaded "
            f"({str(error).splitlines()[0]}); install it (Debian: apt install libpango-1.0-0 "
            "libpangoft2-1.0-0; macOS: brew install pango), or print the HTML from a browser"
        ) from error
    return weasyprint


def pdf(html: str, path: Path) -> None:
    """Write a page as PDF, complete or not at all; errors are those of :func:`pdf_bytes`."""
    write(pdf_bytes(html), path)


def pdf_bytes(html: str) -> bytes:
    """Return a page as PDF; nothing is fetched, and a reference out of it is a FileError."""
    weasyprint = require_pdf()
    from weasyprint.urls import FatalURLFetchingError, URLFetcher

    # A text of a reader must not reach a file or a host.
    fetcher = URLFetcher(allowed_protocols=("data",), fail_on_errors=True)
    logger = logging.getLogger("weasyprint")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # no remarks about style that is meant for screens
    try:
        return weasyprint.HTML(string=html, url_fetcher=fetcher).write_pdf(
            pdf_identifier=b"capsieve", pdf_tags=True
        )
    except FatalURLFetchingError as error:
        raise FileError("cannot make a PDF: the page refers to something outside of it") from error
    finally:
        logger.setLevel(level)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("capsieve.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        name: each
        for name, each in getmembers(text, isfunction)
        if each.__module__ == text.__name__
    }
    environment.filters["table"] = tables.html
    return environment


@cache
def _part(name: str) -> str:
    return files("capsieve.report").joinpath("templates", name).read_text(encoding="utf-8")
