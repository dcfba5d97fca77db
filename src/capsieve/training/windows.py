"""Windows of frames with outlines of polyps: training examples from other endoscopes.

A frame of a colonoscopy that is published with the outline of its polyp always shows one, and its
shape, captions and insets differ from those of a capsule. A window is a disc in the part of the
frame that shows the gut, like the image of a capsule. Windows come in pairs from the same frame:
the polyp covers a part of one, and the other, nearly as large, shows nothing of it. So neither
the device nor the light or the colours of the frame distinguish them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh3_128_hexdigest

from capsieve.errors import FileError, FrameError, file_errors
from capsieve.frames import FieldOfView, checked_pixels, pixel_hash
from capsieve.labels import FrameOutline, LabelProblem, read_outlines
from capsieve.learned.crop import CROP_VERSION, crop
from capsieve.names import natural_key
from capsieve.phash import field_phash, phash
from capsieve.sources.image_file import read_image
from capsieve.sources.image_source import is_image_name
from capsieve.training.folds import StepListener
from capsieve.training.store import Joined, Store

PAIRS = 3
"""Windows with, and as many without the polyp, that are cut from a frame."""
COVERED = (0.04, 0.7)
"""The share of a window that the polyp covers."""

_FORMAT = 2  # raised with any change of the windows of a frame
_FEWEST = 20  # frames with a pair of windows; fewer teach nothing
_PART = 128  # frames of a file
_RADIUS = (0.17, 0.5)  # of the frame's shorter side; uniform in the logarithm
_LEAST_DIAMETER = 80  # pixels of the frame; smaller windows are blurred
_COUNTERPART = 0.6  # smallest radius of the window without the polyp, in radii of the other
_WHOLE, _LARGE = 0.5, 0.2  # a window shows half of the polyp, or the polyp covers this share of it
_ALIKE = 0.2  # by which the covered share may differ from the one that was drawn
_TRIES = 4  # radii per pair

_GRID = 120  # pixels of the shorter side on which places are chosen
_BLACK = 30  # the brightest channel of black surroundings and insets
_GREEN = 20  # by which green exceeds red in insets
_MARGIN = 0.02  # of the shorter side, around surroundings, insets and polyps
_MARKS = 72  # cells per side of the map of captions
_STROKE, _THIN = 60, 9  # grey levels, and pixels of 360, of the strokes of a caption
_FREQUENT = 3.0  # captions are where strokes are that many times as frequent as elsewhere,
_LEAST_STROKES = 0.04  # cover at least this part of a cell,
_LEAST_CELLS = 4  # and do so in that many neighbouring cells


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Windows of a folder of frames, sorted by frame.

    Attributes
    ----------
    name
        Name of the folder: the source of the frames on the card.
    crops
        A sequence of S x S x 3 bytes, RGB; read from files.
    polyp
        Whether the window shows a polyp.
    covered
        The share of the window that the polyp covers.
    radius
        Of the window, in shorter sides of the frame.
    frame
        The number of the frame of each window.
    files, pixel_hash, phash
        Path, hash and perceptual hashes of each frame; the numbers of windows refer to them.
    key
        Hash of everything that determines the windows.
    problems
        Outlines that cannot be used.
    """

    name: str
    crops: Sequence[NDArray[np.uint8]]
    polyp: NDArray[np.bool_]
    covered: NDArray[np.float32]
    radius: NDArray[np.float32]
    frame: NDArray[np.int64]
    files: tuple[str, ...]
    pixel_hash: tuple[str, ...]
    phash: NDArray[np.uint8]
    key: str
    problems: tuple[LabelProblem, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.polyp)

    def folds(self, count: int) -> NDArray[np.int64]:
        """Return the fold of each window: blocks of consecutive frames of about the same size.

        Nothing is known about patients, and files with similar names often show the same one.
        """
        return np.asarray(self.frame * count // len(self.files))


def read_windows(
    folder: Path,
    work: Path,
    *,
    size: int,
    polyp_class: str | None = None,
    progress: StepListener,
) -> Windows:
    """Return windows of the frames in a folder; those that are stored in `work` are not cut again.

    Parameters
    ----------
    folder
        Images, in any depth, and their outlines in one of the formats of
        :func:`capsieve.labels.read_outlines`.
    work
        Folder for the files.
    size
        Rows and columns of the windows.
    polyp_class
        The class of polyps, if the outlines do not name it.
    progress
        Called with what is done, and how much of it.

    Raises
    ------
    FileError
        The folder, an image or the outlines cannot be read, or there are too few windows.
    """
    found = read_outlines(folder, polyp_class=polyp_class)
    images = _images(folder)
    table = pa.table(
        {
            "exam": pa.array([folder.name] * len(images), pa.string()),
            "head": pa.array([0] * len(images), pa.int16()),
            "frame": pa.array(range(len(images)), pa.int64()),
            "path": pa.array(images, pa.string()),
        }
    )
    outlines, problems = found.find(table, polyp_frames=np.ones(len(images), np.bool_))
    frames = [
        _Frame(folder / images[row], tuple(each for each in outlines if each.row == row))
        for row in sorted({outline.row for outline in outlines})
    ]
    store = Store(work, "windows", _content(folder, size, polyp_class))
    parts = _parts(frames, store, size, progress)
    number, polyp, covered, radius, hashes, perceptual = (
        np.concatenate([np.empty(0, _row(size))[name], *(part[name] for part in parts)])
        for name in ("frame", "polyp", "covered", "radius", "pixel_hash", "phash")
    )
    present, first, frame = np.unique(number, return_index=True, return_inverse=True)
    if len(present) < _FEWEST:
        raise FileError(
            f"only {len(present)} frames of {folder} have space for a window with the polyp and "
            f"one without it, but at least {_FEWEST} are needed; add frames with outlines"
        )
    return Windows(
        name=folder.absolute().name,
        crops=Joined([part["crop"] for part in parts]),
        polyp=polyp,
        covered=covered,
        radius=radius,
        frame=frame,
        files=tuple(frames[each].path.relative_to(folder).as_posix() for each in present),
        pixel_hash=tuple(each.decode() for each in hashes[first].tolist()),
        phash=perceptual[first],
        key=store.key,
        problems=(*found.problems, *problems),
    )


class _Frame(NamedTuple):
    path: Path
    outlines: tuple[FrameOutline, ...]

    def pixels(self) -> NDArray[np.uint8]:
        """Return the frame as RGB."""
        try:
            pixels = checked_pixels(read_image(self.path), value_range=(0, 255))
        except FrameError as error:
            raise FileError(f"{self.path}: {error}") from error
        colour = pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
        return np.asarray(np.clip(colour, 0, 255), np.uint8)


def _images(folder: Path) -> list[str]:
    """Return the images below a folder in natural order, without folders of masks."""
    with file_errors("read", folder):
        found = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    names = [
        path.as_posix()
        for path in found
        if "masks" not in path.parts[:-1] and is_image_name(path.as_posix())
    ]
    return sorted(names, key=natural_key)


def _content(folder: Path, size: int, polyp_class: str | None) -> dict[str, Any]:
    """Return everything that determines the windows: settings, and a hash of each file."""
    with file_errors("read", folder):
        files = {
            path.relative_to(folder).as_posix(): xxh3_128_hexdigest(path.read_bytes())
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
    settings = [_FORMAT, CROP_VERSION, size, polyp_class, cv2.__version__]
    return {"settings": settings, "files": files}


def _row(size: int) -> np.dtype[Any]:
    """Return the type of a stored window."""
    return np.dtype(
        [
            ("crop", np.uint8, (size, size, 3)),
            ("polyp", np.bool_),
            ("covered", np.float32),
            ("radius", np.float32),
            ("frame", np.int64),
            ("pixel_hash", "S32"),
            ("phash", np.uint8, (2, 32)),
        ]
    )


def _parts(
    frames: Sequence[_Frame], store: Store, size: int, progress: StepListener
) -> list[NDArray[Any]]:
    """Return the windows of the frames in parts; those that are not stored are cut."""
    row, parts = _row(size), list[NDArray[Any]]()
    marks: NDArray[np.bool_] | None = None
    for start in range(0, len(frames), _PART):
        name = f"part-{start // _PART:05}"
        part = store.read(name, row)
        if part is None:
            if marks is None:
                marks = find_marks(frame.pixels() for frame in frames)
            cut: list[NDArray[Any]] = []
            for number in range(start, min(start + _PART, len(frames))):
                cut.append(_windows(frames[number], number, marks, size))
                progress("Windows of frames", number + 1, len(frames))
            store.write(name, np.concatenate(cut))
            part = store.read(name, row)
            if part is None:
                raise FileError(f"a file in {store.folder} changed while it was written")
        parts.append(part)
    return parts


def _windows(frame: _Frame, number: int, marks: NDArray[np.bool_], size: int) -> NDArray[Any]:
    """Cut the windows of a frame, each with the polyp followed by its counterpart."""
    pixels = frame.pixels()
    side = min(pixels.shape[:2])
    grid = _Grid.of(pixels, frame.outlines, marks)
    rng = np.random.default_rng(number)
    discs = [disc for pair in grid.pairs(rng, _LEAST_DIAMETER / 2 / side) for disc in pair]
    rows = np.zeros(len(discs), _row(size))
    for row, disc in zip(rows, discs, strict=True):
        field_of_view = FieldOfView("circle", disc.row, disc.col, disc.radius)
        row["crop"] = crop(pixels, field_of_view, size)
        row["polyp"], row["covered"] = disc.covered > 0, disc.covered
        row["radius"], row["frame"] = disc.radius / side, number
        row["pixel_hash"] = pixel_hash(pixels)
        for at, found in enumerate((phash(pixels), field_phash(pixels, None))):
            row["phash"][at] = np.frombuffer(found or bytes(32), np.uint8)
    return rows


class _Disc(NamedTuple):
    """A window, in pixels of the frame."""

    row: float
    col: float
    radius: float
    covered: float


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """A frame at the size on which places are chosen.

    Attributes
    ----------
    scale
        Pixels of the frame per place, for rows and columns.
    polyp
        Places that show the polyp.
    space, clear
        Distance of each place from what no window may show, and from this and the polyp.
    """

    scale: NDArray[np.float64]
    polyp: NDArray[np.bool_]
    space: NDArray[np.float32]
    clear: NDArray[np.float32]

    @classmethod
    def of(
        cls, pixels: NDArray[np.uint8], outlines: Sequence[FrameOutline], marks: NDArray[np.bool_]
    ) -> "_Grid":
        sides = np.array(pixels.shape[:2])
        rows, cols = np.rint(sides * _GRID / sides.min()).astype(int).tolist()
        scale = sides / (rows, cols)
        row, col = np.mgrid[:rows, :cols].astype(np.float64)
        row, col = (row + 0.5) * scale[0] - 0.5, (col + 0.5) * scale[1] - 0.5
        polyp = np.zeros((rows, cols), np.bool_)
        for outline in outlines:
            polyp |= outline.hit(row, col)
        small = np.asarray(cv2.resize(pixels, (cols, rows), interpolation=cv2.INTER_AREA), np.uint8)
        marked = cv2.resize(marks.view(np.uint8), (cols, rows), interpolation=cv2.INTER_NEAREST)
        hidden = surroundings(small) | marked.astype(np.bool_)
        margin = round(_MARGIN * _GRID)
        space = _distance(hidden) - margin
        return cls(scale, polyp, space, np.minimum(space, _distance(polyp, frame=False) - margin))

    def pairs(self, rng: np.random.Generator, least: float) -> Iterator[tuple[_Disc, _Disc]]:
        """Yield windows with the polyp and their counterparts.

        Parameters
        ----------
        rng
            Source of all random numbers.
        least
            The smallest radius, in shorter sides of the frame.
        """
        low, high = max(_RADIUS[0], least), _RADIUS[1]
        made = 0
        for _ in range(PAIRS * _TRIES if low < high and self.polyp.any() else 0):
            radius = _GRID * float(np.exp(rng.uniform(*np.log((low, high)))))
            covered = float(np.exp(rng.uniform(*np.log(COVERED))))
            counter = min(radius, float(self.clear.max()))
            if counter < max(_COUNTERPART * radius, _GRID * low):
                continue
            place = self._with_polyp(radius, covered, rng)
            if place is None:
                continue
            other = _drawn(self.clear >= counter, rng)
            yield (
                self._disc(place, radius, self._covered(radius)[place]),
                self._disc(other, counter),
            )
            made += 1
            if made == PAIRS:
                return

    def _with_polyp(
        self, radius: float, covered: float, rng: np.random.Generator
    ) -> tuple[int, int] | None:
        """Return a place at which the polyp covers about the wanted share, or any allowed one."""
        share = self._covered(radius)
        shown = share * np.pi * radius**2 / self.polyp.sum()
        fits = (self.space >= radius) & (share >= COVERED[0]) & (share <= COVERED[1])
        fits &= (shown >= _WHOLE) | (share >= _LARGE)
        near = fits & (np.abs(share - covered) <= _ALIKE * covered)
        chosen = near if near.any() else fits
        return _drawn(chosen, rng) if chosen.any() else None

    def _covered(self, radius: float) -> NDArray[np.float64]:
        """Return the share that the polyp covers of a disc around each place."""
        reach = int(radius)
        offset = np.arange(-reach, reach + 1)
        disc = (offset[:, None] ** 2 + offset**2 <= radius**2).astype(np.float64)
        polyp = self.polyp.astype(np.float64)
        share = cv2.filter2D(polyp, -1, disc / disc.sum(), borderType=cv2.BORDER_CONSTANT)
        return np.asarray(np.maximum(share, 0), np.float64)

    def _disc(self, place: tuple[int, int], radius: float, covered: float = 0.0) -> _Disc:
        row, col = (np.array(place) + 0.5) * self.scale - 0.5
        return _Disc(float(row), float(col), radius * float(self.scale.min()), float(covered))


def _drawn(chosen: NDArray[np.bool_], rng: np.random.Generator) -> tuple[int, int]:
    places = np.argwhere(chosen)
    row, col = places[rng.integers(len(places))].tolist()
    return row, col


def _distance(mask: NDArray[np.bool_], *, frame: bool = True) -> NDArray[np.float32]:
    """Return the distance of each place from the mask and, if wanted, from outside the frame."""
    free = np.pad(~mask, 1, constant_values=not frame).astype(np.uint8)
    if free.all():
        return np.full(mask.shape, np.inf, np.float32)
    distance = cv2.distanceTransform(free, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return np.asarray(distance[1:-1, 1:-1], np.float32)


def surroundings(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return black and green areas that reach the border: corners and insets.

    Dark places inside of the gut are surrounded by brighter ones.
    """
    red, green = pixels[..., 0].astype(np.int16), pixels[..., 1].astype(np.int16)
    hidden = (pixels.max(axis=2) < _BLACK) | (green > red + _GREEN)
    _, parts = cv2.connectedComponents(hidden.astype(np.uint8), connectivity=4)
    border = np.concatenate([parts[0], parts[-1], parts[:, 0], parts[:, -1]])
    return np.isin(parts, border[border > 0])


def find_marks(frames: Iterator[NDArray[np.uint8]]) -> NDArray[np.bool_]:
    """Return where captions are, as cells of a grid over the frame.

    Thin bright strokes are frequent at the places of captions. Reflections are thin and bright as
    well, but they are everywhere.
    """
    density, count = np.zeros((_MARKS, _MARKS)), 0
    for pixels in frames:
        thin = max(3, round(_THIN * min(pixels.shape[:2]) / 360))
        shape = cv2.getStructuringElement(cv2.MORPH_RECT, (thin, thin))
        strokes = cv2.morphologyEx(pixels.min(axis=2), cv2.MORPH_TOPHAT, shape) > _STROKE
        cells = strokes.astype(np.float32)
        density += cv2.resize(cells, (_MARKS, _MARKS), interpolation=cv2.INTER_AREA)
        count += 1
    density /= max(count, 1)
    # The mean over neighbours: with few frames single cells have many strokes by chance.
    density = cv2.blur(density, (3, 3))
    marks = density > max(_FREQUENT * float(np.median(density)), _LEAST_STROKES)
    _, parts, sizes, _ = cv2.connectedComponentsWithStats(marks.astype(np.uint8), connectivity=8)
    large = np.flatnonzero(sizes[:, cv2.CC_STAT_AREA] >= _LEAST_CELLS)
    large = np.isin(parts, large[large > 0]).astype(np.uint8)
    joined = cv2.morphologyEx(large, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    return np.asarray(joined, np.bool_)
