"""YOLO's text files."""

from pathlib import Path

import pytest

from capsieve.errors import FileError
from capsieve.statistics.regions.class_names import read_class_names
from capsieve.statistics.regions.region import Box, Polygon
from capsieve.statistics.regions.yolo import read_yolo


def test_centre_and_size_become_a_box(tmp_path: Path) -> None:
    (tmp_path / "001.txt").write_text("0 0.5 0.25 0.5 0.25\n\n")
    (region,) = read_yolo(tmp_path).regions
    assert region.file == "001"
    assert region.shape == Box(row0=0.125, col0=0.25, row1=0.375, col1=0.75, relative=True)


def test_points_become_a_polygon(tmp_path: Path) -> None:
    (tmp_path / "001.txt").write_text("0 0.1 0.2 0.3 0.2 0.3 0.4\n")
    (region,) = read_yolo(tmp_path).regions
    assert region.shape == Polygon((((0.2, 0.1), (0.2, 0.3), (0.4, 0.3)),), relative=True)


def test_folders_stay_in_the_name_without_labels(tmp_path: Path) -> None:
    folder = tmp_path / "labels" / "train"
    folder.mkdir(parents=True)
    (folder / "001.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    (region,) = read_yolo(tmp_path).regions
    assert region.file == "train/001"


@pytest.mark.parametrize(
    "text",
    [
        "names: ['ulcer', 'polyp']",
        'nc: 2\nnames: ["ulcer", "Polyp"]  # both\nval: x',
        "names:\n  0: ulcer\n  1: polyp\ntrain: images",
        "names:\n- ulcer\n- polyp\n",
        "names: {0: ulcer, 1: polyp}",
        "names: [\n  ulcer,\n  polyp\n]\nnc: 2",
    ],
)
def test_only_the_class_named_polyp_counts(tmp_path: Path, text: str) -> None:
    (tmp_path / "data.yaml").write_text(text)
    (tmp_path / "001.txt").write_text("0 0.5 0.5 0.1 0.1\n1 0.4 0.5 0.1 0.1\n")
    regions = read_yolo(tmp_path)
    assert [region.where for region in regions.regions] == ["line 2 of 001.txt"]
    assert [(problem.what, problem.rows) for problem in regions.problems] == [
        ("the class is not polyp", 1)
    ]


def test_names_stand_beside_the_labels(tmp_path: Path) -> None:
    (tmp_path / "labels" / "val").mkdir(parents=True)
    (tmp_path / "classes.txt").write_text("ulcer\npolyp\n")
    for folder in (tmp_path, tmp_path / "labels", tmp_path / "labels" / "val"):
        assert read_class_names(folder) == {0: "ulcer", 1: "polyp"}


def test_classes_without_names_are_not_guessed_at(tmp_path: Path) -> None:
    (tmp_path / "001.txt").write_text("0 0.5 0.5 0.1 0.1\n1 0.4 0.5 0.1 0.1\n")
    with pytest.raises(FileError, match=r"classes\.txt"):
        read_yolo(tmp_path)


def test_names_that_are_not_understood_are_refused(tmp_path: Path) -> None:
    (tmp_path / "data.yaml").write_text("names: *anchor\n")
    with pytest.raises(FileError, match=r"data\.yaml"):
        read_yolo(tmp_path)


@pytest.mark.parametrize(
    "line",
    ["0 0.5 0.5 0.1 0.1 0.93", "0 0.5 0.5", "0 0.5 0.5 0 0.1", "polyp 1 2 3 4", "0.5 1 1 1 1"],
)
def test_what_cannot_be_used_is_counted(tmp_path: Path, line: str) -> None:
    (tmp_path / "001.txt").write_text(f"0 0.5 0.5 0.1 0.1\n{line}\n")
    regions = read_yolo(tmp_path)
    assert len(regions.regions) == 1
    assert [problem.rows for problem in regions.problems] == [1]
    assert "line 2 of 001.txt" in regions.problems[0].examples[0]
