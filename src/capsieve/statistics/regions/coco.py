"""Boxes and polygons in COCO's format: one JSON file."""

import json
import math
from pathlib import Path
from typing import Any

from capsieve.errors import FileError
from capsieve.statistics.regions.polyp_words import polyp_classes
from capsieve.statistics.regions.problem_list import ProblemList
from capsieve.statistics.regions.region import Box, Polygon, Region, RegionSet

__all__ = ["read_coco", "recognises_coco"]

_EDGE = 0.5  # COCO counts from the outer edge of the first pixel, we from its centre


def recognises_coco(path: Path) -> bool:
    """Whether this is a JSON file, or a folder whose only JSON file is meant."""
    return _file(path) is not None


def read_coco(path: Path) -> RegionSet:
    """Read polyps from ``images``, ``annotations`` and ``categories``.

    A polygon says more than the box around it, and is used where there is one; run-length masks
    are not read, and their box is used. Only the category named polyp counts, or the only one.

    Parameters
    ----------
    path
        The file, or a folder with no other JSON file.

    References
    ----------
    COCO data format, object detection, https://cocodataset.org/#format-data
    """
    file = _file(path)
    if file is None:
        raise FileError(f"{path} is no JSON file, nor a folder with one; give COCO's file")
    content = _load(file)
    problems = ProblemList()
    images = _images(content["images"], problems)
    polyps = _polyp_categories(content)
    regions = []
    for place, annotation in enumerate(content["annotations"]):
        number = annotation.get("id", place) if isinstance(annotation, dict) else place
        where = f"annotation {number}"
        if not isinstance(annotation, dict):
            problems.add("an annotation is not a JSON object", where)
        elif annotation.get("category_id") not in polyps:
            category = annotation.get("category_id")
            problems.add("the category is not polyp", f"{where}: category {category}")
        elif annotation.get("image_id") not in images:
            image = annotation.get("image_id")
            problems.add("the annotation belongs to no known image", f"{where}: image {image}")
        else:
            name, size = images[annotation["image_id"]]
            shape = _shape(annotation, where, problems)
            if shape is not None:
                regions.append(Region(None, None, None, name, shape, None, size, where))
    return RegionSet(tuple(regions), problems.result(), "COCO", str(path))


def _file(path: Path) -> Path | None:
    if path.is_dir():
        files = [file for file in path.glob("*.json") if not file.name.startswith(".")]
        return files[0] if len(files) == 1 else None
    return path if path.suffix.lower() == ".json" else None


def _load(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {path} as JSON: {error}") from error
    lists = ("images", "annotations")
    if not isinstance(content, dict) or not all(isinstance(content.get(k), list) for k in lists):
        raise FileError(
            f"{path} is not in COCO's format: the lists images and annotations are not there"
        )
    return content


def _images(entries: list[Any], problems: ProblemList) -> dict[Any, tuple[str, Any]]:
    images: dict[Any, tuple[str, Any]] = {}
    twice: set[Any] = set()
    for place, entry in enumerate(entries):
        name = entry.get("file_name") if isinstance(entry, dict) else None
        number = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name or not isinstance(number, int | str):
            problems.add("an image has no id or no file_name", f"image {place}")
        elif number in images:
            twice.add(number)
            problems.add("two images have the same id, and none is used", f"image {number}")
        else:
            size = (entry.get("height"), entry.get("width"))
            stated = all(isinstance(side, int) and side > 0 for side in size)
            images[number] = (name, size if stated else None)
    return {number: image for number, image in images.items() if number not in twice}


def _polyp_categories(content: dict[str, Any]) -> set[Any]:
    listed = content.get("categories")
    if isinstance(listed, list) and listed:
        named = [entry for entry in listed if isinstance(entry, dict) and "id" in entry]
        return polyp_classes({entry["id"]: str(entry.get("name", "")) for entry in named})
    used = {
        annotation.get("category_id")
        for annotation in content["annotations"]
        if isinstance(annotation, dict)
    }
    return used if len(used) == 1 else set()


def _shape(annotation: dict[str, Any], where: str, problems: ProblemList) -> Box | Polygon | None:
    outline = annotation.get("segmentation")
    if isinstance(outline, dict):
        problems.add("run-length masks are not read; the box is used", where, used=True)
    elif outline:
        rings = _rings(outline)
        if rings is not None:
            return Polygon(rings)
        problems.add("the polygon cannot be read; the box is used", where, used=True)
    box = annotation.get("bbox")
    if not (isinstance(box, list) and len(box) == 4 and _are_numbers(box)):
        problems.add("there is neither a polygon nor a box", where)
    elif not (box[2] > 0 and box[3] > 0):
        problems.add("the box has no area", f"{where}: {box}")
    else:
        left, top, width, height = (float(value) for value in box)
        return Box(top - _EDGE, left - _EDGE, top + height - _EDGE, left + width - _EDGE)
    return None


def _rings(outline: Any) -> tuple[tuple[tuple[float, float], ...], ...] | None:
    """Turn lists x1, y1, x2, y2, ... into corners; None where one of them is none."""
    if not isinstance(outline, list):
        return None
    for line in outline:
        fits = isinstance(line, list) and len(line) >= 6 and len(line) % 2 == 0
        if not fits or not _are_numbers(line):
            return None
    return tuple(
        tuple((y - _EDGE, x - _EDGE) for x, y in zip(line[::2], line[1::2], strict=True))
        for line in outline
    )


def _are_numbers(values: list[Any]) -> bool:
    return all(
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        for value in values
    )
