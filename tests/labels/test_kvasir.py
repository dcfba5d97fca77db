"""Kvasir-Capsule: its folder, its metadata.csv and its split files."""

from pathlib import Path

import pytest

from capsieve.errors import FileError
from capsieve.labels import LabelSet, read_labels
from support.label_sets import OTHER_VIDEO, VIDEO, make_files, write_text

METADATA = "filename;video_id;frame_number;finding_category;finding_class;x1;y1;x2;y2;x3;y3;x4;y4"

# From the repository of the data set: its list of labels.
PUBLISHED = {
    "Ampulla of Vater": "other",
    "Angiectasia": "other",
    "Blood - fresh": "other",
    "Blood - hematin": "other",
    "Erosion": "other",
    "Erythema": "other",
    "Foreign body": "other",
    "Ileocecal valve": "other",
    "Lymphangiectasia": "other",
    "Normal clean mucosa": "normal",
    "Polyp": "polyp",
    "Pylorus": "other",
    "Reduced mucosal view": "other",
    "Ulcer": "other",
}


def counted(labels: LabelSet) -> dict[str, int]:
    return {problem.what: problem.rows for problem in labels.problems}


def metadata_line(frame: int, finding: str, *, box: bool = False, video: str = VIDEO) -> str:
    # The published file has a cell too few where there is no box.
    rest = ";1;2;3;4;5;6;7;8" if box else ";;;;;;;"
    return f"{video}_{frame}.jpg;{video};{frame};Luminal;{finding}{rest}"


@pytest.mark.parametrize("top", ["", "labelled_images/"])
def test_folders_are_findings(tmp_path: Path, top: str) -> None:
    images = [f"{finding}/{VIDEO}_{number}.jpg" for number, finding in enumerate(sorted(PUBLISHED))]
    labels = read_labels(make_files(tmp_path, *(f"{top}{name}" for name in images)))
    rows = labels.table.to_pylist()
    assert {row["finding"]: row["label"] for row in rows} == PUBLISHED
    assert [row["file"] for row in rows] == images
    assert [row["frame"] for row in rows] == list(range(len(PUBLISHED)))
    assert {(row["exam"], row["patient"], row["polyp"]) for row in rows} == {(VIDEO, VIDEO, None)}
    assert (labels.label_format, labels.problems) == ("Kvasir-Capsule", ())


def test_metadata_is_read_with_its_short_lines(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "metadata.csv",
        METADATA,
        metadata_line(885, "Pylorus"),
        metadata_line(12, "Polyp", box=True, video=OTHER_VIDEO),
        metadata_line(7, "Foreign Body", box=True),
    )
    labels = read_labels(path)
    assert labels.problems == ()
    columns = ["exam", "frame", "file", "label", "patient", "finding"]
    assert [tuple(row.values()) for row in labels.table.select(columns).to_pylist()] == [
        (VIDEO, 885, f"{VIDEO}_885.jpg", "other", VIDEO, "Pylorus"),
        (OTHER_VIDEO, 12, f"{OTHER_VIDEO}_12.jpg", "polyp", OTHER_VIDEO, "Polyp"),
        (VIDEO, 7, f"{VIDEO}_7.jpg", "other", VIDEO, "Foreign body"),
    ]


def test_a_split_file_is_read(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "split_0.csv",
        "filename,label",
        f"{VIDEO}_20404.jpg,Erosion",
        f"{VIDEO}_15539.jpg,Reduced Mucosal View",
        f"{OTHER_VIDEO}_1.jpg,Normal",
    )
    table = read_labels(path).table
    assert table["label"].to_pylist() == ["other", "other", "normal"]
    assert table["frame"].to_pylist() == [20404, 15539, 1]
    assert table["patient"].to_pylist() == [VIDEO, VIDEO, OTHER_VIDEO]


def test_split_files_have_words_of_their_own(tmp_path: Path) -> None:
    # The words of the official splits, and the folders of the same images.
    words = {
        "Angiectasia": "Angiectasia",
        "Blood": "Blood - fresh",
        "Erosion": "Erosion",
        "Erythematous": "Erythema",
        "Foreign Bodies": "Foreign body",
        "Ileo-cecal valve": "Ileocecal valve",
        "Lymphangiectasia": "Lymphangiectasia",
        "Normal": "Normal clean mucosa",
        "Pylorus": "Pylorus",
        "Reduced Mucosal View": "Reduced mucosal view",
        "Ulcer": "Ulcer",
    }
    lines = [f"{VIDEO}_{number}.jpg,{word}" for number, word in enumerate(words)]
    split = read_labels(write_text(tmp_path / "split_1.csv", "filename,label", *lines))
    assert split.problems == ()
    assert split.table["finding"].to_pylist() == list(words.values())
    images = [f"{name}/{VIDEO}_{number}.jpg" for number, name in enumerate(words.values())]
    folder = read_labels(make_files(tmp_path / "labelled_images", *images))
    same = ["exam", "frame", "label", "finding"]
    assert (
        split.table.select(same).sort_by("frame").equals(folder.table.select(same).sort_by("frame"))
    )


def test_a_polyp_beside_another_finding_is_a_polyp(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "metadata.csv",
        METADATA,
        metadata_line(1, "Reduced Mucosal View"),
        metadata_line(1, "Polyp", box=True),
        metadata_line(2, "Pylorus"),
        metadata_line(2, "Erosion", box=True),
    )
    labels = read_labels(path)
    assert labels.table.select(["frame", "label", "finding"]).to_pylist() == [
        {"frame": 1, "label": "polyp", "finding": "Polyp;Reduced mucosal view"},
        {"frame": 2, "label": "other", "finding": "Erosion;Pylorus"},
    ]
    (several,) = labels.problems
    assert (several.rows, several.used) == (2, True)


def test_normal_beside_a_finding_is_a_contradiction(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "metadata.csv",
        METADATA,
        metadata_line(1, "Normal clean mucosa"),
        metadata_line(1, "Polyp", box=True),
        metadata_line(2, "Polyp"),
    )
    labels = read_labels(path)
    assert labels.table["frame"].to_pylist() == [2]
    (contrary,) = labels.problems
    assert (contrary.rows, contrary.used) == (2, False)
    assert contrary.examples[0].startswith("line 2: ")


def test_the_same_image_in_two_folders_is_one_frame_with_two_findings(tmp_path: Path) -> None:
    folder = make_files(
        tmp_path,
        f"Erosion/{VIDEO}_1.jpg",
        f"Polyp/{VIDEO}_1.jpg",
        f"Polyp/{VIDEO}_2.jpg",
        f"Normal clean mucosa/{VIDEO}_2.jpg",
    )
    labels = read_labels(folder)
    assert labels.table.select(["file", "label", "finding"]).to_pylist() == [
        {"file": f"Erosion/{VIDEO}_1.jpg", "label": "polyp", "finding": "Erosion;Polyp"}
    ]
    assert counted(labels)["the frame has two different labels"] == 2


def test_findings_that_were_not_published_are_not_guessed(tmp_path: Path) -> None:
    folder = make_files(
        tmp_path,
        f"Polyp/{VIDEO}_1.jpg",
        f"Polyps/{VIDEO}_2.jpg",
        f"Normal_clean_mucosa/{VIDEO}_3.jpg",
    )
    labels = read_labels(folder)
    assert labels.table["frame"].to_pylist() == [1]
    (unknown,) = labels.problems
    assert unknown.rows == 2
    assert unknown.examples[1] == f"Polyps/{VIDEO}_2.jpg: finding 'Polyps'"


def test_a_name_that_tells_no_video_has_no_patient(tmp_path: Path) -> None:
    folder = make_files(tmp_path, "Polyp/picture-3.jpg", f"Polyp/{VIDEO[:-1]}_3.jpg")
    labels = read_labels(folder)
    assert labels.table["patient"].to_pylist() == labels.table["exam"].to_pylist() == [None, None]
    (strange,) = labels.problems
    assert (strange.rows, strange.used) == (2, True)


def test_columns_that_contradict_the_name_are_refused(tmp_path: Path) -> None:
    wrong = f"{VIDEO}_5.jpg;{VIDEO};6;Luminal;Polyp;;;;;;;"
    path = write_text(tmp_path / "metadata.csv", METADATA, wrong, metadata_line(7, "Polyp"))
    labels = read_labels(path)
    assert labels.table["frame"].to_pylist() == [7]
    assert labels.problems[0].examples[0].startswith("line 2: ")


def test_lines_without_a_picture_or_a_finding_are_named(tmp_path: Path) -> None:
    lines = ["filename,label", ",Polyp", f"{VIDEO}_1.jpg,", "", f"{VIDEO}_2.jpg,Polyp"]
    path = write_text(tmp_path / "split_1.csv", *lines)
    labels = read_labels(path)
    assert labels.table["frame"].to_pylist() == [2]
    assert [problem.examples for problem in labels.problems] == [
        ("line 2: finding 'Polyp'",),
        (f"line 3: {VIDEO}_1.jpg",),
    ]


def test_an_empty_metadata_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no rows"):
        read_labels(write_text(tmp_path / "metadata.csv", METADATA))
