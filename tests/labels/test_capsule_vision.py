"""Capsule Vision 2024: its folder."""

from pathlib import Path

import pytest

from capsieve.labels import read_labels
from support.label_sets import OTHER_VIDEO, VIDEO, make_files


def test_the_whole_data_set_is_read(tmp_path: Path) -> None:
    folder = make_files(
        tmp_path / "Dataset",
        f"training/Normal/KVASIR/{VIDEO}_887.jpg",
        "training/Polyp/SEE-AI/image00018.jpg",
        "training/Worms/AIIMS/worm.jpg",
        f"validation/Foreign Body/KVASIR/{OTHER_VIDEO}_5.jpg",
        "validation/Polyp/KID/1.jpg",
        "training/training_data.xlsx",
    )
    labels = read_labels(folder)
    columns = ["exam", "frame", "file", "label", "patient", "finding"]
    assert [tuple(row.values()) for row in labels.table.select(columns).to_pylist()] == [
        (VIDEO, 887, f"training/Normal/KVASIR/{VIDEO}_887.jpg", "normal", VIDEO, "Normal"),
        (None, 18, "training/Polyp/SEE-AI/image00018.jpg", "polyp", None, "Polyp"),
        (None, None, "training/Worms/AIIMS/worm.jpg", "other", None, "Worms"),
        (OTHER_VIDEO, 5, f"validation/Foreign Body/KVASIR/{OTHER_VIDEO}_5.jpg", "other",
         OTHER_VIDEO, "Foreign Body"),
        (None, None, "validation/Polyp/KID/1.jpg", "polyp", None, "Polyp"),
    ]  # fmt: skip
    sources = ["KVASIR", "SEE-AI", "AIIMS", "KVASIR", "KID"]
    assert labels.table["source"].to_pylist() == sources
    assert labels.problems == ()
    assert any("shares exams" in warning for warning in labels.warnings)


@pytest.mark.parametrize(("part", "rows"), [("training", 2), ("training/Polyp", 1)])
def test_a_part_or_a_class_is_read_with_the_same_names(
    tmp_path: Path, part: str, rows: int
) -> None:
    folder = make_files(
        tmp_path / "Dataset",
        "training/Polyp/SEE-AI/image00018.jpg",
        "training/Ulcer/AIIMS/a.jpg",
        "validation/Polyp/SEE-AI/image00020.jpg",
    )
    whole = read_labels(folder).table["file"].to_pylist()
    files = read_labels(folder / part).table["file"].to_pylist()
    assert files == [name for name in whole if name.startswith(part)]
    assert len(files) == rows


def test_copies_of_one_frame_are_one_row_with_all_findings(tmp_path: Path) -> None:
    folder = make_files(
        tmp_path,
        "training/Erosion/SEE-AI/image00018.jpg",
        "training/Polyp/SEE-AI/image00018.jpg",
        "training/Normal/SEE-AI/image00019.jpg",
        "validation/Polyp/SEE-AI/image00019.jpg",
        "training/Normal/KID/1.jpg",  # names of KID are not unique
        "training/Polyp/KID/1.jpg",
    )
    labels = read_labels(folder)
    rows = labels.table.select(["file", "label", "finding"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("training/Erosion/SEE-AI/image00018.jpg", "polyp", "Erosion;Polyp"),
        ("training/Normal/KID/1.jpg", "normal", "Normal"),
        ("training/Polyp/KID/1.jpg", "polyp", "Polyp"),
    ]
    counts = {problem.what: (problem.rows, problem.used) for problem in labels.problems}
    assert counts["the frame has two different labels"] == (2, False)
    assert counts["the frame is in the training and in the validation part"] == (1, True)


def test_images_in_unknown_folders_are_named(tmp_path: Path) -> None:
    folder = make_files(
        tmp_path,
        "training/Polyp/KVASIR/a.jpg",
        "training/Polyp/stray.jpg",
        "training/Polyp/Elsewhere/b.jpg",
        "training/Cancer/KID/c.jpg",
    )
    labels = read_labels(folder)
    assert labels.table["file"].to_pylist() == ["training/Polyp/KVASIR/a.jpg"]
    assert [problem.rows for problem in labels.problems] == [2, 1]
