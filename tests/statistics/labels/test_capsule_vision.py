"""Capsule Vision 2024: its folder and its .xlsx tables."""

from pathlib import Path

import pytest

from capsieve.errors import FileError
from capsieve.statistics.labels import read_labels
from support.label_trees import CLASSES, OTHER_VIDEO, VIDEO, make_files, one_hot, write_workbook

HEADER = ["image_path", "Dataset", *CLASSES]


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
        (None, 887, f"training/Normal/KVASIR/{VIDEO}_887.jpg", "normal", VIDEO, "Normal"),
        (None, 18, "training/Polyp/SEE-AI/image00018.jpg", "polyp", None, "Polyp"),
        (None, None, "training/Worms/AIIMS/worm.jpg", "other", None, "Worms"),
        (None, 5, f"validation/Foreign Body/KVASIR/{OTHER_VIDEO}_5.jpg", "other", OTHER_VIDEO,
         "Foreign Body"),
        (None, None, "validation/Polyp/KID/1.jpg", "polyp", None, "Polyp"),
    ]  # fmt: skip
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


def test_copies_of_one_frame_share_their_findings(tmp_path: Path) -> None:
    folder = make_files(
        tmp_path,
        "training/Erosion/SEE-AI/image00018.jpg",
        "training/Polyp/SEE-AI/image00018.jpg",
        "training/Normal/SEE-AI/image00019.jpg",
        "validation/Polyp/SEE-AI/image00019.jpg",
        "training/Normal/KID/1.jpg",  # names of KID may begin anew in every folder
        "training/Polyp/KID/1.jpg",
    )
    labels = read_labels(folder)
    assert [(row["file"], row["label"]) for row in labels.table.to_pylist()] == [
        ("training/Erosion/SEE-AI/image00018.jpg", "polyp"),
        ("training/Normal/KID/1.jpg", "normal"),
        ("training/Polyp/KID/1.jpg", "polyp"),
        ("training/Polyp/SEE-AI/image00018.jpg", "polyp"),
    ]
    counts = {problem.what: (problem.rows, problem.used) for problem in labels.problems}
    assert counts["the frame has two different labels"] == (2, False)
    assert counts["the frame stands in the training and in the validation part"] == (1, True)


def test_pictures_in_unknown_folders_are_named(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("shared", [True, False])
def test_folder_and_table_say_the_same(tmp_path: Path, shared: bool) -> None:
    pictures = [
        (f"training/Normal/KVASIR/{VIDEO}_887.jpg", "Normal"),
        ("training/Polyp/SEE-AI/image00018.jpg", "Polyp"),
        ("training/Worms/AIIMS/worm & co.jpg", "Worms"),
    ]
    folder = make_files(tmp_path / "Dataset", *(name for name, _ in pictures))
    rows = [one_hot(name.replace("/", "\\"), word) for name, word in pictures]
    sheet = write_workbook(tmp_path / "training_data.xlsx", [HEADER, *rows], shared=shared)
    assert read_labels(sheet).table.equals(read_labels(folder).table)


def test_rows_of_a_table_that_are_not_clear_are_named(tmp_path: Path) -> None:
    def row(name: str, *classes: str) -> list[str]:
        return one_hot(f"training\\Polyp\\SEE-AI\\{name}", *classes)

    rows = [
        HEADER,
        row("image00001.jpg", "Polyp"),
        row("image00002.jpg"),
        row("image00003.jpg", "Ulcer"),
        [*row("image00004.jpg")[:2], *["0.25"] * len(CLASSES)],
        one_hot("image00005.jpg", "Polyp"),
        row("image00006.jpg", "Polyp", "Ulcer"),
    ]
    labels = read_labels(write_workbook(tmp_path / "validation_data.xlsx", rows))
    assert labels.table.select(["frame", "finding"]).to_pylist() == [
        {"frame": 1, "finding": "Polyp"},
        {"frame": 6, "finding": "Polyp;Ulcer"},
    ]
    unused = [problem.examples[0] for problem in labels.problems if not problem.used]
    assert sorted(example.partition(":")[0] for example in unused) == [
        "row 3", "row 4", "row 5", "row 6",
    ]  # fmt: skip


def test_predictions_are_no_labels(tmp_path: Path) -> None:
    rows = [[*HEADER, "predicted_class"], [*one_hot("a", "Polyp"), "Polyp"]]
    with pytest.raises(FileError, match="predictions"):
        read_labels(write_workbook(tmp_path / "p.xlsx", rows))


def test_a_workbook_of_something_else_is_refused(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "costs.xlsx", [["item", "price"], ["tea", "3"]])
    with pytest.raises(FileError, match="image_path is not"):
        read_labels(path)
