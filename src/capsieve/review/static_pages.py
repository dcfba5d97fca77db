"""The built page: its files, looked up by name."""

import mimetypes
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

__all__ = ["ABSENT", "StaticFile", "StaticFiles", "shipped_pages"]

ABSENT = (
    "The page has not been built: run npm ci and npm run build in web/, or install a released "
    "capsieve."
)
"""What is said where there is no page."""

_INDEX = "index.html"
_HASHED = "assets/"  # vite puts a digest into every name there
_FOR_EVER = "private, max-age=31536000, immutable"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/vnd.microsoft.icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file: its content, its type, and how long a browser may keep it."""

    content: bytes
    media_type: str
    cache: str


class StaticFiles:
    """The files of a folder, by their names below it.

    Names are looked up in what the folder holds: none that a request sends becomes a path.

    Parameters
    ----------
    folder
        Where the page was built into.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, Path] = {}

    def index(self) -> StaticFile | None:
        """Return the page itself; None where it has not been built."""
        self._paths = self._listed()  # it may have been built anew
        return self.find(_INDEX)

    def find(self, name: str) -> StaticFile | None:
        """Return a file by its name; None where there is none."""
        if name not in self._paths:
            self._paths = self._listed()
        path = self._paths.get(name)
        if path is None:
            return None
        try:
            content = path.read_bytes()
        except OSError:  # gone since it was listed
            return None
        return StaticFile(
            content,
            _type(path),
            _FOR_EVER if name.startswith(_HASHED) else "no-cache",
        )

    def _listed(self) -> dict[str, Path]:
        if not self._folder.is_dir():
            return {}
        return {
            path.relative_to(self._folder).as_posix(): path
            for path in self._folder.rglob("*")
            if path.is_file() and not path.is_symlink()
        }


def shipped_pages() -> StaticFiles:
    """Return the files that capsieve ships with."""
    return StaticFiles(Path(str(files("capsieve.review").joinpath("static"))))


def _type(path: Path) -> str:
    known = _TYPES.get(path.suffix.lower())
    return known or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
