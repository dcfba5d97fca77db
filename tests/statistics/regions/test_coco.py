"""COCO's JSON file."""

import json
from pathlib import Path
from typing import Any

import pytest

from capsieve.errors import FileError
from capsieve.statistics.regions.coco import read_coco
from capsieve.statistics.regions.region import Box, Polygon, RegionSet

POLYP = [{"id": 1, "name": "Polyp"}]
IMAGE = {"id": 7, "file_name": "a/001.jpg", "width": 200, "height": 100}
GOOD = {"id": 1, "image_id": 7, "category_id": 1, "bbox": [10, 20, 4, 2]}


def read(tmp_path: Path, *annotations: Any, categories: Any = POLYP, images: Any = None) -> Any:
    content = {"images": images or [IMAGE], "annotations": annotations, "categories": categories}
    path = tmp_path / "boxes.json"
    path.write_text(json.dumps(content))
    return read_coco(path)


def kinds(regions: RegionSet) -> dict[str, int]:
    return {problem.what: problem.rows for problem in regions.problems}


def test_a_box_is_counted_from_the_edge_of_the_first_pixel(tmp_path: Path) -> None:
    (region,) = read(tmp_path, GOOD).regions
    # Columns 10 to 13 and rows 20 and 21 belong to it, whole.
    assert region.shape == Box(row0=19.5, col0=9.5, row1=21.5, col1=13.5)
    assert (region.file, region.size) == ("a/001.jpg", (100, 200))


def test_a_polygon_says_more_than_its_box(tmp_path: Path) -> None:
    annotation = GOOD | {"segmentation": [[10, 20, 14, 20, 14, 22]]}
    (region,) = read(tmp_path, annotation).regions
    assert region.shape == Polygon((((19.5, 9.5), (19.5, 13.5), (21.5, 13.5)),))


@pytest.mark.parametrize(
    "segmentation", [{"counts": [3, 2], "size": [100, 200]}, [[1, 2, 3, 4]], [[1, 2, 3, 4, 5]]]
)
def test_what_is_no_polygon_is_counted_and_its_box_used(tmp_path: Path, segmentation: Any) -> None:
    regions = read(tmp_path, GOOD | {"segmentation": segmentation})
    assert isinstance(regions.regions[0].shape, Box)
    assert [(problem.rows, problem.used) for problem in regions.problems] == [(1, True)]


def test_only_polyps_count_among_several_categories(tmp_path: Path) -> None:
    categories = [{"id": 1, "name": "ulcer"}, {"id": 2, "name": "POLYP"}]
    regions = read(tmp_path, GOOD, GOOD | {"id": 2, "category_id": 2}, categories=categories)
    assert [region.where for region in regions.regions] == ["annotation 2"]
    assert kinds(regions) == {"the category is not polyp": 1}


def test_a_single_category_counts_whatever_its_name(tmp_path: Path) -> None:
    assert len(read(tmp_path, GOOD, categories=[{"id": 1, "name": "lesion"}]).regions) == 1


def test_nameless_categories_are_not_guessed_at(tmp_path: Path) -> None:
    regions = read(tmp_path, GOOD, GOOD | {"category_id": 2}, categories=[])
    assert regions.regions == ()
    assert kinds(regions) == {"the category is not polyp": 2}


@pytest.mark.parametrize(
    "change",
    [
        {"image_id": 8},
        {"bbox": [1, 2, 0, 4]},
        {"bbox": [1, 2, 3]},
        {"bbox": ["1", 2, 3, 4]},
        {"bbox": None},
    ],
)
def test_what_cannot_be_used_is_counted(tmp_path: Path, change: dict[str, Any]) -> None:
    regions = read(tmp_path, GOOD, GOOD | {"id": 2} | change)
    assert len(regions.regions) == 1
    assert [problem.rows for problem in regions.problems] == [1]


def test_two_images_of_one_id_are_not_used(tmp_path: Path) -> None:
    regions = read(tmp_path, GOOD, images=[IMAGE, IMAGE | {"file_name": "b.jpg"}])
    assert regions.regions == ()


@pytest.mark.parametrize("text", ["{", "[]", '{"images": []}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(FileError, match=r"x\.json"):
        read_coco(path)
