"""A figure as a file: PNG, SVG or PDF."""

import os
import warnings
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError
from capsieve.report.style import DPI, STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_ending", "save_figure"]

_METADATA: dict[str, dict[str, str | None]] = {
    ".png": {},
    ".svg": {"Creator": f"capsieve {__version__}", "Date": None},
    ".pdf": {"Creator": f"capsieve {__version__}", "Producer": None, "CreationDate": None},
}


def save_figure(figure: "Figure", path: str | os.PathLike[str]) -> None:
    """Write the figure as PNG, SVG or PDF, by the file's ending.

    The file appears whole or not at all, and is the same for the same figure: no dates, no random
    ids.

    Raises
    ------
    FileError
        Another ending, or a place that cannot be written to.
    """
    import matplotlib.style

    ending = check_ending(path)
    with (
        atomic_write(path) as temporary,
        matplotlib.style.context(["default", STYLE]),
        warnings.catch_warnings(),
    ):
        # Users name things in any script; a letter that the font lacks becomes a box.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        if ending == ".png":
            _save_png(figure, temporary)
        else:
            figure.savefig(temporary, format=ending[1:], metadata=_METADATA[ending])


def _save_png(figure: "Figure", path: Path) -> None:
    """Write without the alpha channel, which holds nothing but costs a tenth of the file."""
    from PIL import Image

    with BytesIO() as drawn:
        figure.savefig(drawn, format="png")
        Image.open(drawn).convert("RGB").save(path, optimize=True, dpi=(DPI, DPI))


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a picture's file in small letters, or raise FileError."""
    ending = Path(path).suffix.lower()
    if ending not in _METADATA:
        what = f"not {ending!r}" if ending else "and this name has no ending"
        raise FileError(f"cannot write {path}: pictures end in .png, .svg or .pdf, {what}")
    return ending
