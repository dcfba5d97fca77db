"""The report of a reading as PDF."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, MissingExtraError

__all__ = ["pdf_bytes", "require_pdf", "write_pdf"]


def require_pdf() -> Any:
    """Return the module that makes PDF files.

    Raises
    ------
    MissingExtraError
        It is not installed, or the system's library that it needs is not there.
    """
    try:
        import weasyprint
    except ImportError:
        raise MissingExtraError(
            "a PDF needs the package weasyprint; pip install 'capsieve[pdf]', or print the HTML "
            "from a browser"
        ) from None
    except OSError as error:  # it loads Pango when it is imported
        raise MissingExtraError(
            "a PDF needs Pango, a library of the system, which cannot be loaded "
            f"({str(error).splitlines()[0]}); install it (Debian: apt install libpango-1.0-0 "
            "libpangoft2-1.0-0; macOS: brew install pango), or print the HTML from a browser"
        ) from error
    return weasyprint


def write_pdf(page: str, path: Path) -> None:
    """Write a page as PDF, whole or not at all; see :func:`pdf_bytes`.

    Raises
    ------
    MissingExtraError
        See :func:`require_pdf`.
    FileError
        It cannot be written.
    """
    content = pdf_bytes(page)
    with atomic_write(path) as temporary:
        temporary.write_bytes(content)


def pdf_bytes(page: str) -> bytes:
    """Return a page as PDF; nothing is fetched for it.

    Parameters
    ----------
    page
        HTML with all its pictures inside.

    Raises
    ------
    MissingExtraError
        See :func:`require_pdf`.
    FileError
        The page asks for something outside of it.
    """
    weasyprint = require_pdf()
    from weasyprint.urls import FatalURLFetchingError, URLFetcher

    # Only what lies in the page itself: a text that somebody wrote must not reach a file or a host.
    fetcher = URLFetcher(allowed_protocols=("data",), fail_on_errors=True)
    try:
        with _quiet():
            return weasyprint.HTML(string=page, url_fetcher=fetcher).write_pdf(
                pdf_identifier=b"capsieve", pdf_tags=True
            )
    except FatalURLFetchingError as error:
        raise FileError("cannot make a PDF: something outside of the page is asked for") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep remarks on style that is meant for screens from the terminal."""
    logger = logging.getLogger("weasyprint")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
