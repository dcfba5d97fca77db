"""Where polyps are on frames: boxes, polygons and masks, with a hit test.

Positions are in pixels, rows first; whole numbers are centres of pixels. COCO and text boxes count
from the outer edge of the first pixel, so they are shifted by half a pixel.
"""

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import FileError, ParameterError, file_errors
from capsieve.labels.keys import KEY_PROBLEMS, FrameKeys, find_frames
from capsieve.labels.label_set import LabelProblem, Problems, compute, tidy_paths
from capsieve.labels.tables import RawTable, read_table
from capsieve.sources.base import MAX_PIXELS, natural_key

__all__ = ["FrameOutline", "Outline", "Outlines", "read_outlines"]

_PNG = b"\x89PNG\r\n\x1a\n"
_STRAY = 1.0  # pixels by which sizes may differ, and outlines may leave the frame
_LARGEST = 1e6  # of a coordinate
_EDGE = 0.5
_POLYPS = ("polyp", "polyps", "polyp-like")
_KVASIR_SIZE = (336, 336)  # of all frames of Kvasir-Capsule; outlines are scaled to other copies
_CORNERS = ("x1", "x2", "x3", "x4", "y1", "y2", "y3", "y4")
_SEE_AI = "all_annotation.csv"
_NO_BOXES = ("classes.txt", "train.txt", "val.txt", "valid.txt", "test.txt")
_MASK_NUMBER = re.compile(r"(\d+)(?:-head-(\d))?")

Size = tuple[int, int]
Floats = NDArray[np.float64]


class _Misfit(Exception):  # noqa: N818 - it is counted here and never leaves this module
    """An outline that cannot be used: one sentence without a final stop."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, edges included; in shares of the image if it is relative."""

    row0: float
    col0: float
    row1: float
    col1: float
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Polygon:
    """Closed lines of corners (row, column); a point is inside if any of them encloses it."""

    rings: tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True, slots=True)
class MaskFile:
    """A PNG file; `value` is the grey level of one polyp, None takes every level above 0."""

    path: str
    value: int | None = None


@dataclass(frozen=True, slots=True)
class RunLength:
    """A run-length mask of COCO: lengths of runs of 0 and 1 in turn, column by column."""

    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """One polyp on one frame, as the source has it.

    Attributes
    ----------
    file, exam, head, frame
        The frame, as in labels. A file without the ending of an image fits any image of this stem.
    shape
        The outline.
    size
        Rows and columns of the image that it was drawn on, or None.
    polyp
        Its name, or None.
    where
        Where it was read, for messages.
    """

    file: str | None
    shape: Box | Polygon | MaskFile | RunLength
    exam: str | None = None
    head: int | None = None
    frame: int | None = None
    size: Size | None = None
    polyp: str | None = None
    where: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class FrameOutline:
    """One polyp on one frame, in pixels of the frame.

    Attributes
    ----------
    row
        Row of the frame in the table of frames.
    polyp
        The name that the source gives it, or None.
    inside, scale
        The hit test in pixels of the outline, and pixels of the frame per pixel of the outline.
    """

    row: int
    polyp: str | None
    inside: Callable[[Floats, Floats], NDArray[np.bool_]]
    scale: tuple[float, float] = (1.0, 1.0)

    def hit(self, row: Floats, col: Floats) -> NDArray[np.bool_]:
        """Return which points are inside; NaN never is."""
        row = (np.asarray(row, np.float64) + _EDGE) / self.scale[0] - _EDGE
        col = (np.asarray(col, np.float64) + _EDGE) / self.scale[1] - _EDGE
        return self.inside(row, col)


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """All outlines of a study.

    Attributes
    ----------
    outlines, problems
        What was read, and what is not clear.
    outline_format
        "COCO", "text boxes", "masks", ...
    path
        Where it was read.
    unique_names
        Whether names of files identify frames, in whatever folder.
    """

    outlines: tuple[Outline, ...]
    problems: tuple[LabelProblem, ...]
    outline_format: str
    path: str
    unique_names: bool = False

    def find(
        self, frames: pa.Table, *, polyp_frames: NDArray[np.bool_]
    ) -> tuple[list[FrameOutline], tuple[LabelProblem, ...]]:
        """Return the outlines of polyp frames, sorted by frame, and what cannot be used.

        Frames are found by the rule by which labels find theirs, see
        :func:`~capsieve.labels.match`.

        Parameters
        ----------
        frames
            As for :func:`~capsieve.labels.match`, with the columns rows and cols (the size of the
            images; null or 0 if unknown). Without these columns, the images have the size of those
            that the outlines were drawn on.
        polyp_frames
            Frames that are labelled polyp. Outlines of other frames are counted and not opened. If
            one outline of a frame cannot be used, all outlines of this frame are left out.
        """
        problems = Problems()
        places = self._places(frames, polyp_frames, problems)
        columns = [name for name in ("rows", "cols") if name in frames.column_names]
        sizes = [compute.fill_null(frames[name], 0).to_numpy() for name in columns]
        found: list[tuple[FrameOutline, Outline]] = []
        spoiled: set[int] = set()
        seen: set[tuple[int, Any, str | None]] = set()
        for outline, row in sorted(places, key=lambda pair: pair[1]):
            if not polyp_frames[row]:
                problems.add("the frame of the outline is not labelled polyp", outline.where)
                continue
            if (row, outline.shape, outline.polyp) in seen:
                problems.add("the outline is there twice", outline.where, used=True)
                continue
            seen.add((row, outline.shape, outline.polyp))
            try:
                size = (int(sizes[0][row]), int(sizes[1][row])) if columns else None
                found.append((_fitted(outline, row, size), outline))
            except _Misfit as error:
                problems.add(str(error), outline.where)
                spoiled.add(row)
        for one, outline in found:
            if one.row in spoiled:
                problems.add("another outline of the same frame cannot be used", outline.where)
        return [one for one, _ in found if one.row not in spoiled], problems.result()

    def _places(
        self, frames: pa.Table, polyp_frames: NDArray[np.bool_], problems: Problems
    ) -> list[tuple[Outline, int]]:
        """Return outlines with the rows of their frames."""
        from capsieve.sources.image_source import is_image_name  # here: it imports decoders

        rows = np.arange(len(frames))
        if self.unique_names:  # copies of a frame in other folders have no label
            rows = np.flatnonzero(polyp_frames)
            frames = frames.take(pa.array(rows))
        stems = compute.replace_substring_regex(frames["path"], r"\.[^./]*$", "")
        stem_frames = frames.set_column(frames.column_names.index("path"), "path", stems)
        places: list[tuple[Outline, int]] = []
        for known, by_stem in ((frames, False), (stem_frames, True)):
            chosen = [one for one in self.outlines if by_stem != is_image_name(one.file or "x.png")]
            if not chosen:
                continue
            files = pa.array([one.file for one in chosen], pa.string())
            keys = pa.table(
                {
                    "exam": pa.array([one.exam for one in chosen], pa.string()),
                    "head": pa.array([one.head for one in chosen], pa.int64()),
                    "frame": pa.array([one.frame for one in chosen], pa.int64()),
                    "file": tidy_paths(files),
                }
            )
            found = find_frames(
                FrameKeys(known), keys, what=self.path, unique_names=self.unique_names
            )
            for outline, row, why in zip(chosen, found.row, found.why, strict=True):
                if row >= 0:
                    places.append((outline, int(rows[row])))
                else:
                    problems.add(KEY_PROBLEMS[why], outline.where)
        return places


def read_outlines(path: str | os.PathLike[str], *, polyp_class: str | None = None) -> Outlines:
    """Read where polyps are on frames.

    Parameters
    ----------
    path
        A JSON file of COCO; a folder of text boxes, one file per image with lines ``class x y width
        height`` in shares of the image; the folder of SEE-AI; metadata.csv of Kvasir-Capsule; a CSV
        table with the columns file and mask, such as masks.csv of a phantom study; a folder of PNG
        masks; or a folder with one of these files.
    polyp_class
        The class of polyps, "polyp=3" or "3", if the source does not name it.

    Raises
    ------
    FileError
        The path is missing, cannot be read, or is in no known format or in several.
    ParameterError
        The class is not a whole number.
    """
    path = Path(path)
    number = _class_number(polyp_class)
    if not path.exists():
        raise FileError(f"cannot read {path}: there is no such file or folder")
    with file_errors("read", path):
        for name in ("masks.csv", "frames.csv", "metadata.csv") if path.is_dir() else ("",):
            table = path / name if name else path
            if table.suffix.lower() == ".csv" and table.is_file():
                raw = read_table(table)
                if {"file", "mask"} <= set(raw.columns):
                    return _read_mask_table(raw)
                if {"filename", "finding_class", *_CORNERS} <= set(raw.columns):
                    return _read_kvasir(raw)
        if path.is_dir() and (path / _SEE_AI).is_file():
            return _read_see_ai(path)
        files = [path] if path.is_file() else _visible(path, "*")
        found = {
            "COCO": [one for one in files if one.suffix.lower() == ".json"],
            "text boxes": [] if path.is_file() else _box_files(path),
            "masks": [] if path.is_file() else _mask_files(path),
        }
    possible = [name for name, some in found.items() if some]
    if possible == ["COCO"] and len(found["COCO"]) == 1:
        return _read_coco(found["COCO"][0], number)
    if possible == ["text boxes"]:
        return _read_boxes(path, found["text boxes"], number)
    if possible == ["masks"]:
        return _read_masks(path, found["masks"])
    raise FileError(
        f"cannot read outlines from {path}: "
        + (f"it may be {' or '.join(possible)}; give one" if possible else "unknown format; give")
        + " JSON file of COCO, folder of text boxes or of PNG masks, or table of masks"
    )


def _class_number(text: str | None) -> int | None:
    if text is None:
        return None
    name, equals, number = str(text).rpartition("=")
    if (equals and name.strip().lower() not in _POLYPS) or not number.strip().isdecimal():
        raise ParameterError("polyp_class", f"must be polyp=ID with a whole number, not {text!r}")
    return int(number)


def _visible(path: Path, pattern: str) -> list[Path]:
    """Return files of a folder in natural order, without hidden ones."""
    found = [
        file
        for file in path.glob(pattern)
        if file.is_file() and not any(p.startswith(".") for p in file.relative_to(path).parts)
    ]
    return sorted(found, key=lambda file: natural_key(str(file)))


def _numbers(values: Any, count: int | None = None) -> list[float] | None:
    """Return finite numbers of a reasonable size; None if the values are something else."""
    if not isinstance(values, list | tuple) or (count is not None and len(values) != count):
        return None
    try:
        numbers = [float(v) for v in values if isinstance(v, int | float | str)]
    except (ValueError, OverflowError):
        return None
    fits = len(numbers) == len(values) and not any(isinstance(v, bool) for v in values)
    return numbers if fits and all(abs(v) <= _LARGEST for v in numbers) else None


# Formats


def _read_mask_table(raw: RawTable) -> Outlines:
    """Read file and mask, and optionally exam, head, frame, polyp (or sequence) and value.

    Paths of masks start at the table's folder. A row without a mask is a frame without an outline.
    """
    problems = Problems()
    outlines: list[Outline] = []
    folder, name = Path(raw.path).parent, Path(raw.path).name
    lines = raw.name_rows(range(len(raw.table)))
    for line, row in zip(lines, raw.table.to_pylist(), strict=True):
        cells = {key: str(value or "").strip() for key, value in row.items()}
        mask, file = cells["mask"].replace("\\", "/"), cells["file"]
        where = f"{line} of {name}"
        numbers = [cells.get(key, "") for key in ("head", "frame", "value")]
        if not mask:
            continue
        if not all(number == "" or re.fullmatch(r"\d{1,9}", number) for number in numbers):
            problems.add("head, frame or value is not a whole number", where)
            continue
        head, frame, value = (int(number) if number else None for number in numbers)
        if not file and frame is None:
            problems.add("the mask has no frame", where)
            continue
        sequence = cells.get("sequence")
        outlines.append(
            Outline(
                file or None,
                MaskFile(str(folder / mask), value),
                exam=cells.get("exam") or None,
                head=head,
                frame=frame,
                polyp=cells.get("polyp") or (f"sequence {sequence}" if sequence else None),
                where=where,
            )
        )
    known = (*raw.problems, *problems.result())
    return Outlines(tuple(outlines), known, "table of masks", raw.path)


def _read_kvasir(raw: RawTable) -> Outlines:
    """Read the boxes of polyps; their corners are pixels that belong to the finding."""
    raw = raw.padded()
    problems = Problems()
    outlines: list[Outline] = []
    lines = raw.name_rows(range(len(raw.table)))
    for where, row in zip(lines, raw.table.to_pylist(), strict=True):
        cells = {key: str(value or "").strip() for key, value in row.items()}
        corners = [cells[key] for key in _CORNERS]
        if cells["finding_class"].lower() not in _POLYPS:
            if any(corners):
                problems.add("the finding is not polyp", f"{where}: {cells['finding_class']}")
            continue
        values = _numbers(corners)
        number = cells.get("frame_number", "")
        if not any(corners):
            problems.add("a polyp has no box", f"{where}: {cells['filename']}")
        elif values is None or not cells["filename"]:
            problems.add("the row lacks a file name or numbers for its corners", where)
        else:
            x, y = values[:4], values[4:]
            box = Box(min(y) - _EDGE, min(x) - _EDGE, max(y) + _EDGE, max(x) + _EDGE)
            outlines.append(
                Outline(
                    cells["filename"],
                    box,
                    exam=cells.get("video_id", "").lower() or None,
                    frame=int(number) if re.fullmatch(r"\d{1,18}", number) else None,
                    size=_KVASIR_SIZE,
                    where=where,
                )
            )
    known = (*raw.problems, *problems.result())
    return Outlines(tuple(outlines), known, "Kvasir-Capsule", raw.path, unique_names=True)


def _read_see_ai(path: Path) -> Outlines:
    """Read SEE-AI as downloaded: images, text boxes, and a table that names the classes.

    The first row of the table has the names of the classes, the second one their numbers.
    """
    table = path / _SEE_AI
    lines = table.read_text(encoding="utf-8-sig").splitlines()[:2]
    rows = [[cell.strip().lower() for cell in line.split(",")] for line in lines]
    numbers = [
        int(number)
        for name, number in zip(rows[0], rows[-1], strict=False)
        if name in _POLYPS and number.isdecimal()
    ]
    if len(numbers) != 1:
        raise FileError(f"{table} does not name the class of polyps in its first two rows")
    found = _read_boxes(path, _box_files(path), numbers[0])
    # Its folders of boxes and of images have different names; names of images are unique.
    outlines = tuple(
        Outline(str(one.file).rpartition("/")[2], one.shape, exam="SEE-AI", where=one.where)
        for one in found.outlines
    )
    return Outlines(outlines, found.problems, "SEE-AI", str(path), unique_names=True)


def _box_files(path: Path) -> list[Path]:
    return [
        file
        for file in _visible(path, "**/*.txt")
        if file.name.lower() not in _NO_BOXES and not file.name.lower().startswith("readme")
    ]


def _read_boxes(path: Path, files: Sequence[Path], number: int | None) -> Outlines:
    """Read text boxes; the file of an image has its name, up to the ending."""
    problems = Problems()
    found: list[tuple[int, Outline]] = []
    for file in files:
        name = file.relative_to(path)
        stem = "/".join(part for part in name.with_suffix("").parts if part != "labels")
        with file_errors("read", file):
            lines = file.read_text(encoding="utf-8-sig").splitlines()
        for place, line in enumerate(lines, start=1):
            words, where = line.split(), f"line {place} of {name}"
            values = _numbers(words[1:], 4)
            if not words:
                continue
            if not re.fullmatch(r"\d{1,9}", words[0]) or values is None:
                what = "the line is not a class and four numbers"
                problems.add(what, f"{where}: {line.strip()[:40]!r}")
            elif min(values[2:]) <= 0:
                problems.add("the box has no area", where)
            else:
                x, y, width, height = values
                box = Box(y - height / 2, x - width / 2, y + height / 2, x + width / 2, True)
                found.append((int(words[0]), Outline(stem, box, where=where)))
    classes = sorted({one for one, _ in found})
    if number is None and classes not in ([], [0]):
        raise FileError(
            f"{path} has boxes of the classes {', '.join(map(str, classes[:9]))}; give the class "
            "of polyps with --class polyp=ID"
        )
    for one, outline in found:
        if one != (number or 0):
            problems.add("the class is not polyp", f"{outline.where}: class {one}")
    outlines = tuple(outline for one, outline in found if one == (number or 0))
    return Outlines(outlines, problems.result(), "text boxes", str(path))


def _mask_files(path: Path) -> list[Path]:
    """Return PNG files; only those in folders called masks if there are any."""
    found = [file for file in _visible(path, "**/*") if file.suffix.lower() == ".png"]
    inside = [file for file in found if "masks" in file.relative_to(path.parent).parts[:-1]]
    return inside or found


def _read_masks(path: Path, files: Sequence[Path]) -> Outlines:
    """Return masks that have the names of their images; none is opened.

    Of EXAM/masks/000123.png the exam is EXAM, and the frame is 123 if the exam is a video.
    """
    outlines: list[Outline] = []
    for file in files:
        name = file.relative_to(path)
        stem = "/".join(part for part in name.with_suffix("").parts if part != "masks")
        number = _MASK_NUMBER.fullmatch(file.stem) if file.parent.name == "masks" else None
        exam, frame, head = None, None, None
        if number is not None and len(number[1]) < 19:
            exam, frame = file.parent.parent.name, int(number[1])
            head = None if number[2] is None else int(number[2])
        mask = MaskFile(str(file))
        outlines.append(
            Outline(stem, mask, exam=exam, head=head, frame=frame, where=name.as_posix())
        )
    return Outlines(tuple(outlines), (), "masks", str(path))


def _read_coco(path: Path, number: int | None) -> Outlines:
    """Read polyps from images, annotations and categories; a mask or polygon wins over its box.

    Only the category named polyp counts, or the only one.

    References
    ----------
    COCO data format, object detection, https://cocodataset.org/#format-data
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"cannot read {path} as JSON: {error}") from error
    lists = ("images", "annotations")
    if not isinstance(content, dict) or not all(isinstance(content.get(k), list) for k in lists):
        raise FileError(f"{path} is not in the format of COCO: it lacks images or annotations")
    problems = Problems()
    images = _coco_images(content["images"], problems)
    polyps = _coco_polyps(content) if number is None else {number}
    outlines: list[Outline] = []
    for place, entry in enumerate(content["annotations"]):
        entry = entry if isinstance(entry, dict) else {}  # noqa: PLW2901
        identity = _key(entry.get("id"))
        where = f"annotation {place if identity is None else identity}"
        category, image = _key(entry.get("category_id")), _key(entry.get("image_id"))
        if category is None or image is None:
            problems.add("the annotation has no valid category_id or image_id", where)
        elif category not in polyps:
            problems.add("the category is not polyp", f"{where}: category {str(category)[:40]}")
        elif image not in images:
            problems.add("the annotation belongs to no known image", where)
        else:
            name, size = images[image]
            shape, drawn = _coco_shape(entry, where, problems)
            if shape is not None:
                outlines.append(Outline(name, shape, size=drawn or size, where=where))
    return Outlines(tuple(outlines), problems.result(), "COCO", str(path))


def _key(value: Any) -> int | str | None:
    """Return an identity of COCO, a whole number or a text; None if it is something else."""
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def _coco_images(
    entries: list[Any], problems: Problems
) -> dict[int | str, tuple[str, Size | None]]:
    images: dict[int | str, tuple[str, Size | None]] = {}
    twice: set[int | str] = set()
    for place, given in enumerate(entries):
        entry = given if isinstance(given, dict) else {}
        name, number = entry.get("file_name"), _key(entry.get("id"))
        if not isinstance(name, str) or not name or number is None:
            problems.add("an image has no valid id or file_name", f"image {place}")
        elif number in images:
            twice.add(number)
            problems.add("two images have the same id, and none is used", f"image {number}")
        else:
            images[number] = (name, _coco_size([entry.get("height"), entry.get("width")]))
    return {number: image for number, image in images.items() if number not in twice}


def _coco_size(values: Any) -> Size | None:
    sides = _numbers(values, 2)
    if sides is None or min(sides) < 1 or sides[0] * sides[1] > MAX_PIXELS:
        return None
    return int(sides[0]), int(sides[1])


def _coco_polyps(content: dict[str, Any]) -> set[int | str]:
    listed = content.get("categories")
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    names = {
        key: str(one.get("name")) for one in entries if (key := _key(one.get("id"))) is not None
    }
    if not names:
        annotations = (one for one in content["annotations"] if isinstance(one, dict))
        used = {_key(one.get("category_id")) for one in annotations} - {None}
        names = {key: "" for key in used if key is not None}
    if len(names) == 1:
        return set(names)
    return {key for key, name in names.items() if name.strip().lower() in _POLYPS}


def _coco_shape(
    entry: dict[str, Any], where: str, problems: Problems
) -> tuple[Box | Polygon | RunLength | None, Size | None]:
    """Return the outline of an annotation, and the size of a mask."""
    segmentation = entry.get("segmentation")
    if isinstance(segmentation, dict):
        size = _coco_size(segmentation.get("size"))
        counts = _run_lengths(segmentation.get("counts"))
        if size is not None and counts is not None and sum(counts) == size[0] * size[1]:
            return RunLength(counts), size
        problems.add("the mask cannot be read; the box is used", where, used=True)
    elif segmentation:
        lines = segmentation if isinstance(segmentation, list) else [None]
        rings = [_numbers(line) for line in lines]
        if all(ring is not None and len(ring) >= 6 and len(ring) % 2 == 0 for ring in rings):
            corners = (zip(ring[1::2], ring[::2], strict=True) for ring in rings if ring)
            shifted = (tuple((y - _EDGE, x - _EDGE) for y, x in ring) for ring in corners)
            return Polygon(tuple(shifted)), None
        problems.add("the polygon cannot be read; the box is used", where, used=True)
    box = _numbers(entry.get("bbox"), 4)
    if box is None:
        problems.add("the annotation has no valid mask, polygon or box", where)
    elif min(box[2:]) <= 0:
        problems.add("the box has no area", where)
    else:
        x, y, width, height = box
        return Box(y - _EDGE, x - _EDGE, y + height - _EDGE, x + width - _EDGE), None
    return None, None


def _run_lengths(counts: Any) -> tuple[int, ...] | None:
    """Return the lengths of runs, also of a compressed mask; None if they are wrong.

    Compressed, a length is written in groups of five bits, the lowest first, each as a character
    from "0" on; the sixth bit says that another group follows. From the fourth length on it is the
    difference to the length before the last one.
    """
    if isinstance(counts, list):
        whole = all(isinstance(n, int) and not isinstance(n, bool) for n in counts)
        return tuple(counts) if whole and all(0 <= n <= MAX_PIXELS for n in counts) else None
    if not isinstance(counts, str):
        return None
    lengths: list[int] = []
    value = shift = 0
    for character in counts:
        bits = ord(character) - ord("0")
        if not 0 <= bits < 64 or shift > 60:
            return None
        value |= (bits & 31) << shift
        shift += 5
        if not bits & 32:
            if bits & 16:
                value -= 1 << shift  # the highest bit is the sign
            if len(lengths) > 2:
                value += lengths[-2]
            if not 0 <= value <= MAX_PIXELS:
                return None
            lengths.append(value)
            value = shift = 0
    return tuple(lengths) if not shift else None


# Outlines on frames


def _fitted(outline: Outline, row: int, frame: Size | None) -> FrameOutline:
    """Return an outline in pixels of its frame.

    Sizes that differ by at most a pixel are equal. An outline that was drawn on an image of another
    size but the same proportions is scaled.
    """
    shape = outline.shape
    if isinstance(shape, MaskFile | RunLength):
        mask = _read_mask(shape) if isinstance(shape, MaskFile) else _decoded(shape, outline.size)
        if not mask.any():
            raise _Misfit("the mask is empty, but the frame is labelled polyp")
        if mask.all():
            raise _Misfit("the mask covers the whole image")
        drawn = (mask.shape[0], mask.shape[1])
        scale = _scale(drawn, frame or drawn)
        return FrameOutline(row, outline.polyp, _mask_test(mask), scale)
    frame = frame or outline.size or (0, 0)
    if isinstance(shape, Box) and shape.relative:
        if not all(frame):
            raise _Misfit("the size of the frame is not known")
        top, bottom = (share * frame[0] - _EDGE for share in (shape.row0, shape.row1))
        left, right = (share * frame[1] - _EDGE for share in (shape.col0, shape.col1))
        shape = Box(top, left, bottom, right)
        scale = (1.0, 1.0)
    else:
        scale = (1.0, 1.0) if outline.size is None else _scale(outline.size, frame)
    if isinstance(shape, Box):
        points = [(shape.row0, shape.col0), (shape.row1, shape.col1)]
        test = _box_test(shape)
    else:
        points = [corner for ring in shape.rings for corner in ring]
        test = _polygon_test(shape)
    for place in (0, 1) if all(frame) else ():
        low, high = -_EDGE - _STRAY, frame[place] / scale[place] - _EDGE + _STRAY
        if not all(low <= point[place] <= high for point in points):
            raise _Misfit("the outline reaches beyond the frame by more than a pixel")
    return FrameOutline(row, outline.polyp, test, scale)


def _scale(drawn: Size, frame: Size) -> tuple[float, float]:
    rows, cols = frame
    if not (rows and cols):
        raise _Misfit("the size of the frame is not known")
    if abs(drawn[0] - rows) <= _STRAY and abs(drawn[1] - cols) <= _STRAY:
        return 1.0, 1.0
    factor = cols / drawn[1]
    if abs(rows - drawn[0] * factor) > max(_STRAY, factor):  # either side may have been rounded
        raise _Misfit("the outline was drawn on an image of other proportions than the frame")
    return rows / drawn[0], factor


def _box_test(box: Box) -> Callable[[Floats, Floats], NDArray[np.bool_]]:
    def inside(row: Floats, col: Floats) -> NDArray[np.bool_]:
        return (box.row0 <= row) & (row <= box.row1) & (box.col0 <= col) & (col <= box.col1)

    return inside


def _polygon_test(polygon: Polygon) -> Callable[[Floats, Floats], NDArray[np.bool_]]:
    def inside(row: Floats, col: Floats) -> NDArray[np.bool_]:
        found = np.zeros(row.shape, np.bool_)
        for ring in polygon.rings:
            odd = np.zeros(row.shape, np.bool_)  # crossings of a ray along the row
            for (row0, col0), (row1, col1) in zip(ring, (*ring[1:], ring[0]), strict=True):
                if row0 != row1:
                    crosses = (row0 > row) != (row1 > row)
                    odd ^= crosses & (col < col0 + (row - row0) * (col1 - col0) / (row1 - row0))
            found |= odd
        return found & ~np.isnan(col) & ~np.isnan(row)

    return inside


def _mask_test(mask: NDArray[np.bool_]) -> Callable[[Floats, Floats], NDArray[np.bool_]]:
    # Only the part with the polyp is kept, because all masks of a study are in memory.
    rows, cols = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    top, left = int(rows[0]), int(cols[0])
    part = mask[top : int(rows[-1]) + 1, left : int(cols[-1]) + 1].copy()

    def inside(row: Floats, col: Floats) -> NDArray[np.bool_]:
        down, right = np.floor(row + _EDGE) - top, np.floor(col + _EDGE) - left
        near = (down >= 0) & (down < part.shape[0]) & (right >= 0) & (right < part.shape[1])
        found = np.zeros(row.shape, np.bool_)
        found[near] = part[down[near].astype(int), right[near].astype(int)]
        return found

    return inside


def _decoded(mask: RunLength, size: Size | None) -> NDArray[np.bool_]:
    assert size is not None
    values = np.arange(len(mask.counts)) % 2 == 1
    return np.repeat(values, mask.counts).reshape(size[1], size[0]).T


def _read_mask(mask: MaskFile) -> NDArray[np.bool_]:
    from capsieve.sources.image_file import read_image  # here: it imports decoders

    try:
        with Path(mask.path).open("rb") as file:
            start = file.read(len(_PNG))
    except OSError:
        raise _Misfit("the mask is missing or cannot be read") from None
    if start != _PNG:
        raise _Misfit("the mask is not a PNG file")
    try:
        image = read_image(mask.path)
    except FileError:
        raise _Misfit("the mask is damaged or too large") from None
    if mask.value is None:
        return np.any(image[..., :3], axis=2) if image.ndim == 3 else image > 0
    if image.ndim == 3:
        raise _Misfit("the mask is not grey, so its values do not number polyps")
    return image == mask.value
