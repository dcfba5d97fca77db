"""Galleries of frames as figures. Frames are read from the sources and verified by their hash."""

import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import CapsieveError
from capsieve.frame_images import jpeg, rgb, shrink
from capsieve.report.evaluation.drawing import drawing_style, mathematical
from capsieve.report.evaluation.galleries import Gallery, Tile, left_out_words
from capsieve.report.formats import plain
from capsieve.report.style import INK, SOFT_INK, YELLOW
from capsieve.store.exam import Exam
from capsieve.store.record import RECORD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Fetch", "Picture", "Place", "draw", "gallery_figure", "recalling"]

Place: TypeAlias = tuple[str, int, int]
"""Exam, head and frame."""

Fetch = Callable[[Iterable[Place]], Mapping[Place, NDArray[np.uint8]]]
"""Frames -> their images, scaled down; without those that cannot be read."""

_WIDTH = 240  # columns of a picture
_QUALITY = 85
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_ACROSS = 4  # pictures in a row of the figure
_TILE = 2.2  # inches
_HEADER = 0.42
_LINE = 0.16  # inches of a line below a picture
_SPACE = 0.22  # inches of a row of pictures beside pictures and lines
_SIZE = 7.8  # points of the letters below a picture
_MOST_LINES = 2  # of a title or a rule
_MOST_WHERE = 3  # lines: the number of the frame stands behind the name of the exam


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A tile with its frame, scaled down; pixels are None if the frame cannot be read."""

    tile: Tile
    pixels: NDArray[np.uint8] | None

    def jpeg(self) -> bytes | None:
        """Return the picture as a small JPEG file."""
        return None if self.pixels is None else jpeg(self.pixels, quality=_QUALITY)


def recalling(results: Path) -> Fetch:
    """Return a function that reads frames of screened exams from their sources.

    Each head is opened once per call, and its frames are read in stored order. If a source is
    missing or has changed, its frames are left out.

    Parameters
    ----------
    results
        The folder with one folder per exam, or the folder of one exam.
    """

    def fetch(places: Iterable[Place]) -> dict[Place, NDArray[np.uint8]]:
        wanted: dict[tuple[str, int], set[int]] = {}
        for exam, head, frame in places:
            wanted.setdefault((exam, head), set()).add(frame)
        images: dict[Place, NDArray[np.uint8]] = {}
        for (exam, head), frames in wanted.items():
            folder = results if (results / RECORD).is_file() else results / exam
            with suppress(CapsieveError), Exam(folder).reader(head) as reader:
                for frame in reader.in_stored_order(sorted(frames)):
                    with suppress(CapsieveError):
                        small = shrink(rgb(reader.pixels(frame)), width=_WIDTH)
                        images[exam, head, frame] = small
        return images

    return fetch


def draw(gallery: Gallery, fetch: Fetch | None) -> tuple[Picture, ...]:
    """Return the tiles of a gallery with their images."""
    places = [(tile.exam, tile.head, tile.frame) for tile in gallery.tiles]
    images = {} if fetch is None else fetch(places)
    return tuple(
        Picture(tile, images.get(place)) for tile, place in zip(gallery.tiles, places, strict=True)
    )


def gallery_figure(gallery: Gallery, pictures: tuple[Picture, ...]) -> "Figure":
    """Draw a gallery as a figure: pictures with their circles, and the words below each."""
    from matplotlib.figure import Figure

    across = min(_ACROSS, max(len(pictures), 3))
    down = -(-len(pictures) // across)
    words = [_lines(picture.tile) for picture in pictures]
    deepest = [max(map(len, words[row * across : (row + 1) * across])) for row in range(down)]
    steps = [_TILE + _LINE * lines + _SPACE for lines in deepest]
    caption = textwrap.wrap(_caption(gallery), round(across * _TILE * 15.5))
    top = _HEADER + 0.17 * len(caption)
    width, height = across * (_TILE + 0.12) + 0.12, top + sum(steps)
    with drawing_style():
        figure = Figure(figsize=(width, height))
        title = mathematical(gallery.title)
        figure.text(0.12 / width, 1 - 0.1 / height, title, va="top", weight="bold", fontsize=11)
        for number, line in enumerate(caption):
            figure.text(
                0.12 / width, 1 - (0.34 + 0.17 * number) / height, mathematical(line),
                va="top", fontsize=8, color=SOFT_INK,
            )  # fmt: skip
        for number, picture in enumerate(pictures):
            row, col = divmod(number, across)
            left = 0.12 + col * (_TILE + 0.12)
            bottom = height - top - sum(steps[:row]) - _TILE
            place = (left / width, bottom / height, _TILE / width, _TILE / height)
            _draw_tile(figure, place, picture)
            for line, (text, color, weight) in enumerate(words[number]):
                figure.text(
                    left / width, (bottom - 0.05 - _LINE * line) / height, mathematical(text),
                    va="top", fontsize=_SIZE, color=color, weight=weight,
                )  # fmt: skip
        return figure


def _draw_tile(
    figure: "Figure", place: tuple[float, float, float, float], picture: Picture
) -> None:
    from matplotlib.patches import Circle

    axes = figure.add_axes(place)
    axes.set_axis_off()
    rows, cols = (1, 1) if picture.pixels is None else picture.pixels.shape[:2]
    axes.set_xlim(-0.5, cols - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)
    if picture.pixels is None:
        axes.fill([-0.5, 0.5, 0.5, -0.5], [-0.5, -0.5, 0.5, 0.5], color="#e8edf2", hatch="//")
        axes.text(
            0, 0, "no picture:\nthe source is not there\nor has changed", ha="center", va="center",
            fontsize=8, bbox={"facecolor": "white", "edgecolor": "none", "pad": 2},
        )  # fmt: skip
        return
    axes.imshow(picture.pixels, interpolation="nearest", aspect="equal")
    if picture.tile.ball is not None:
        scale = cols / picture.tile.shape[1]
        row, col, radius = picture.tile.ball
        for color, line in (("#101418", 3.4), (YELLOW, 1.7)):
            centre = scale * (col + 0.5) - 0.5, scale * (row + 0.5) - 0.5
            axes.add_patch(Circle(centre, scale * radius, fill=False, color=color, linewidth=line))


def _caption(gallery: Gallery) -> str:
    return f"{gallery.caption} {left_out_words(gallery)}".strip()


def _lines(tile: Tile) -> list[tuple[str, str, str]]:
    """The lines below a picture with their colours and weights, none wider than the picture."""
    return [
        (line, color, weight)
        for text, color, weight, most in (
            (tile.title, INK, "bold", _MOST_LINES),
            (tile.rule, INK, "normal", _MOST_LINES),
            (tile.where, SOFT_INK, "normal", _MOST_WHERE),
        )
        for line in _wrapped(text, weight, most=most)
    ]


def _wrapped(text: str, weight: str, *, most: int) -> list[str]:
    """Break a text between words, or within one that is too long; cut what is still too much."""
    lines: list[str] = []
    rest = " ".join(plain(text).split())
    while rest and len(lines) < most:
        fits = _fitting(rest, weight)
        if fits < len(rest):
            if len(lines) == most - 1:
                fits = _fitting(rest, weight, end=_ELLIPSIS)
                rest = rest[:fits].rstrip() + _ELLIPSIS
                fits = len(rest)
            elif " " in rest[1 : fits + 1]:
                fits = rest.rindex(" ", 1, fits + 1)
        lines.append(rest[:fits].rstrip())
        rest = rest[fits:].lstrip()
    return lines or [""]


def _fitting(text: str, weight: str, *, end: str = "") -> int:
    """How many letters of a text, at least one, are together no wider than a picture."""
    most = 0.97 * 72 * _TILE  # letters that are fitted to pixels may take a little more
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if _width(text[:middle] + end, weight) <= most:
            low = middle
        else:
            high = middle - 1
    return low


def _width(text: str, weight: str) -> float:
    """The width of a text in points; with symbols set it is drawn narrower, never wider."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=_SIZE, weight=weight)
    with warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width)
