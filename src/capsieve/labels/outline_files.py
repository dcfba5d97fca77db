"""Files of outlines: COCO, text boxes and SEE-AI, Kvasir-Capsule, tables and folders of masks."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from capsieve.errors import FileError, ParameterError, file_errors
from capsieve.labels.label_set import Problems
from capsieve.labels.outlines import (
    EDGE,
    Box,
    MaskFile,
    Outline,
    Outlines,
    Polygon,
    RunLength,
    Size,
)
from capsieve.labels.tables import RawTable, read_table
from capsieve.names import natural_key
from capsieve.sources.base import MAX_PIXELS
from capsieve.user_files import PathLike, open_file, read_text

_LARGEST = 1e6  # of a coordinate
_LONGEST_KEY = 80  # characters
_POLYPS = ("polyp", "polyps", "polyp-like")
_KVASIR_SIZE = (336, 336)  # of all frames of Kvasir-Capsule; outlines are scaled to other copies
_CORNERS = ("x1", "x2", "x3", "x4", "y1", "y2", "y3", "y4")
_SEE_AI = "all_annotation.csv"
_NO_BOXES = ("classes.txt", "train.txt", "val.txt", "valid.txt", "test.txt")
_FRAME = re.compile(r"(\d{1,18})(?:-head-(\d))?")


def read_outlines(path: PathLike, *, polyp_class: str | None = None) -> Outlines:
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
    if not path.is_dir():
        open_file(path).close()
    problems = Problems()
    with file_errors("read", path):
        name, outlines = _recognised(path, number, problems)
        usable = tuple(outlines)
    unique_names = name in ("Kvasir-Capsule", "SEE-AI")
    return Outlines(usable, tuple(problems), name, str(path), unique_names=unique_names)


def _recognised(
    path: Path, number: int | None, problems: Problems
) -> tuple[str, Iterator[Outline]]:
    """Return the format and its outlines; problems are added while these are read."""
    for name in ("masks.csv", "frames.csv", "metadata.csv") if path.is_dir() else ("",):
        table = path / name if name else path
        if table.suffix.lower() == ".csv" and os.path.lexists(table) and not table.is_dir():
            raw = read_table(table)
            if {"file", "mask"} <= set(raw.columns):
                return "table of masks", _mask_table(raw, problems)
            if {"filename", "finding_class", *_CORNERS} <= set(raw.columns):
                return "Kvasir-Capsule", _kvasir_boxes(raw.padded(), problems)
    if (path / _SEE_AI).is_file():
        return "SEE-AI", _see_ai_boxes(path, problems)
    files = [path] if path.is_file() else _visible(path, "*")
    candidates = {
        "COCO": [file for file in files if file.suffix.lower() == ".json"],
        "text boxes": [] if path.is_file() else _box_files(path),
        "masks": [] if path.is_file() else _mask_files(path),
    }
    possible = [name for name, files in candidates.items() if files]
    if possible == ["COCO"] and len(candidates["COCO"]) == 1:
        return "COCO", _coco(candidates["COCO"][0], number, problems)
    if possible == ["text boxes"]:
        return "text boxes", _text_boxes(path, candidates["text boxes"], number, problems)
    if possible == ["masks"]:
        return "masks", _masks(path, candidates["masks"])
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
    visible = [
        file
        for file in path.glob(pattern)
        # Whatever is not a folder is opened, so that a pipe or a broken link is refused by name.
        if not file.is_dir() and not any(p.startswith(".") for p in file.relative_to(path).parts)
    ]
    return sorted(visible, key=lambda file: natural_key(str(file)))


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


def _rows(raw: RawTable, problems: Problems) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield rows of a table: where they are, and their cells without blanks."""
    for problem in raw.problems:
        problems.add(problem.what, *problem.examples, rows=problem.rows)
    lines = raw.name_rows(range(len(raw.table)))
    for line, row in zip(lines, raw.table.to_pylist(), strict=True):
        yield line, {key: str("" if v is None else v).strip() for key, v in row.items()}


def _mask_table(raw: RawTable, problems: Problems) -> Iterator[Outline]:
    """Read file and mask, and optionally exam, head, frame, polyp (or sequence) and value.

    Paths of masks start at the table's folder. A row without a mask is a frame without an outline.
    """
    folder = Path(raw.path).parent
    for where, cells in _rows(raw, problems):
        mask, file = cells["mask"].replace("\\", "/"), cells["file"]
        numbers = [cells.get(key, "") for key in ("head", "frame", "value")]
        if not mask:
            continue
        if not all(re.fullmatch(r"\d{0,9}", number) for number in numbers):
            problems.add("head, frame or value is not a whole number", where)
            continue
        head, frame, value = (int(number) if number else None for number in numbers)
        if not file and frame is None:
            problems.add("the mask has no frame", where)
            continue
        sequence = cells.get("sequence")
        yield Outline(
            file or None,
            MaskFile(str(folder / mask), value),
            exam=cells.get("exam") or None,
            head=head,
            frame=frame,
            polyp=cells.get("polyp") or (f"sequence {sequence}" if sequence else None),
            where=where,
        )


def _kvasir_boxes(raw: RawTable, problems: Problems) -> Iterator[Outline]:
    """Read the boxes of polyps; their corners are pixels that belong to the finding."""
    for where, cells in _rows(raw, problems):
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
            yield Outline(
                cells["filename"],
                Box(min(y) - EDGE, min(x) - EDGE, max(y) + EDGE, max(x) + EDGE),
                exam=cells.get("video_id", "").lower() or None,
                frame=int(number) if re.fullmatch(r"\d{1,18}", number) else None,
                size=_KVASIR_SIZE,
                where=where,
            )


def _see_ai_boxes(path: Path, problems: Problems) -> Iterator[Outline]:
    """Read SEE-AI as downloaded: images, text boxes, and a table that names the classes.

    The first row of the table has the names of the classes, the second one their numbers.
    """
    table = path / _SEE_AI
    lines = read_text(table).splitlines()[:2]
    rows = [[cell.strip().lower() for cell in line.split(",")] for line in lines]
    numbers = [
        int(number)
        for name, number in zip(rows[0], rows[-1], strict=False)
        if name in _POLYPS and number.isdecimal()
    ]
    if len(numbers) != 1:
        raise FileError(f"{table} does not name the class of polyps in its first two rows")
    for box in _text_boxes(path, _box_files(path), numbers[0], problems):
        # Its folders of boxes and of images have different names; names of images are unique.
        yield replace(box, file=str(box.file).rpartition("/")[2], exam="SEE-AI")


def _box_files(path: Path) -> list[Path]:
    return [
        file
        for file in _visible(path, "**/*.txt")
        if file.name.lower() not in _NO_BOXES and not file.name.lower().startswith("readme")
    ]


def _text_boxes(
    path: Path, files: Sequence[Path], number: int | None, problems: Problems
) -> Iterator[Outline]:
    """Read text boxes; the file of an image has its name, up to the ending."""
    boxes: list[tuple[int, Outline]] = []
    for file in files:
        name = file.relative_to(path)
        stem = "/".join(part for part in name.with_suffix("").parts if part != "labels")
        lines = read_text(file).splitlines()
        for line_number, line in enumerate(lines, start=1):
            words, where = line.split(), f"line {line_number} of {name}"
            values = _numbers(words[1:], 4)
            if not words:
                continue
            if not re.fullmatch(r"\d{1,9}", words[0]) or values is None:
                message = "the line is not a class and four numbers"
                problems.add(message, f"{where}: {line.strip()[:40]!r}")
            elif min(values[2:]) <= 0:
                problems.add("the box has no area", where)
            else:
                x, y, width, height = values
                box = Box(y - height / 2, x - width / 2, y + height / 2, x + width / 2, True)
                outline = Outline(stem, box, where=where, **_frame_of(name))
                boxes.append((int(words[0]), outline))
    classes = sorted({number for number, _ in boxes})
    if number is None and classes not in ([], [0]):
        raise FileError(
            f"{path} has boxes of the classes {', '.join(map(str, classes[:9]))}; give the class "
            "of polyps with --class polyp=ID"
        )
    for own, outline in boxes:
        if own == (number or 0):
            yield outline
        else:
            problems.add("the class is not polyp", f"{outline.where}: class {own}")


def _mask_files(path: Path) -> list[Path]:
    """Return PNG files; only those in folders called masks if there are any."""
    images = [file for file in _visible(path, "**/*") if file.suffix.lower() == ".png"]
    inside = [file for file in images if "masks" in file.relative_to(path.parent).parts[:-1]]
    return inside or images


def _masks(path: Path, files: Sequence[Path]) -> Iterator[Outline]:
    """Return masks that have the names of their images; none is opened.

    Of EXAM/masks/000123.png the exam is EXAM, and the frame is 123 if the exam is a video.
    """
    for file in files:
        name = file.relative_to(path)
        stem = "/".join(part for part in name.with_suffix("").parts if part != "masks")
        frame = _frame_of(file.absolute() if file.parent.name == "masks" else name)
        if file.parent.name == "masks":
            frame["exam"] = file.absolute().parent.parent.name
        yield Outline(stem, MaskFile(str(file)), where=name.as_posix(), **frame)


def _frame_of(path: PurePath) -> dict[str, Any]:
    """Return exam, head and frame of EXAM/000123.png, in case the exam is a video."""
    folders = [part for part in path.parts[:-1] if part not in ("images", "labels", "masks", "/")]
    number = _FRAME.fullmatch(path.stem)
    if number is None or not folders:
        return {}
    head = None if number[2] is None else int(number[2])
    return {"exam": folders[-1], "frame": int(number[1]), "head": head}


def _coco(path: Path, number: int | None, problems: Problems) -> Iterator[Outline]:
    """Read polyps from images, annotations and categories; a mask or polygon wins over its box.

    Only the category named polyp counts, or the only one. The format is described at
    https://cocodataset.org/#format-data (object detection).
    """
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise FileError(f"cannot read {path} as JSON: {error}") from error
    lists = ("images", "annotations")
    if not isinstance(content, dict) or not all(isinstance(content.get(k), list) for k in lists):
        raise FileError(f"{path} is not in the format of COCO: it lacks images or annotations")
    images = _coco_images(_dicts(content["images"]), problems)
    annotations = _dicts(content["annotations"])
    polyps = {number}
    if number is None:
        polyps = _coco_polyps(_dicts(content.get("categories")), annotations)
    for position, entry in enumerate(annotations):
        identity = _key(entry.get("id"))
        where = f"annotation {position if identity is None else identity}"
        category, image = _key(entry.get("category_id")), _key(entry.get("image_id"))
        if category is None or image is None:
            problems.add("the annotation has no valid category_id or image_id", where)
        elif category not in polyps:
            problems.add("the category is not polyp", f"{where}: category {category}")
        elif image not in images:
            problems.add("the annotation belongs to no known image", where)
        else:
            name, size = images[image]
            shape, drawn = _coco_shape(entry, where, problems)
            if shape is not None:
                frame = _frame_of(PurePath(name.replace("\\", "/")))
                yield Outline(name, shape, size=drawn or size, where=where, **frame)


def _dicts(entries: Any) -> list[dict[str, Any]]:
    """Return the entries of a list; {} instead of something else."""
    entries = entries if isinstance(entries, list) else []
    return [entry if isinstance(entry, dict) else {} for entry in entries]


def _key(value: Any) -> int | str | None:
    """Return an identity of COCO, a whole number or a text; None if it is something else."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        return value
    return value if isinstance(value, str) and len(value) <= _LONGEST_KEY else None


def _coco_images(
    entries: list[dict[str, Any]], problems: Problems
) -> dict[int | str, tuple[str, Size | None]]:
    images: dict[int | str, tuple[str, Size | None]] = {}
    twice: set[int | str] = set()
    for position, entry in enumerate(entries):
        name, number = entry.get("file_name"), _key(entry.get("id"))
        if not isinstance(name, str) or not name or number is None:
            problems.add("an image has no valid id or file_name", f"image {position}")
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


def _coco_polyps(
    categories: list[dict[str, Any]], annotations: list[dict[str, Any]]
) -> set[int | str | None]:
    names = {_key(each.get("id")): str(each.get("name")) for each in categories}
    if not names.keys() - {None}:
        names = {_key(each.get("category_id")): "" for each in annotations}
    names.pop(None, None)
    polyps = {key for key, name in names.items() if name.strip().lower() in _POLYPS}
    return set(names) if len(names) == 1 else polyps


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
            shifted = (tuple((y - EDGE, x - EDGE) for y, x in ring) for ring in corners)
            return Polygon(tuple(shifted)), None
        problems.add("the polygon cannot be read; the box is used", where, used=True)
    box = _numbers(entry.get("bbox"), 4)
    if box is None:
        problems.add("the annotation has no valid mask, polygon or box", where)
    elif min(box[2:]) <= 0:
        problems.add("the box has no area", where)
    else:
        x, y, width, height = box
        return Box(y - EDGE, x - EDGE, y + height - EDGE, x + width - EDGE), None
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
