"""Scores and labels together."""

from typing import Any

import numpy as np
import pytest

from capsieve.errors import FileError, LeakError
from capsieve.evaluation.results import radius_warnings, read_results
from capsieve.frame_table import NORMAL, POLYP, UNLABELLED
from capsieve.labels import read_labels
from capsieve.report.count_tables import frame_counts_table
from capsieve.statistics.frames import BLOCKS_ARE_NOT_EXAMS
from capsieve.statistics.options import InputOptions
from support.results import write_results


def labels_of(folder, exam="a"):
    path = folder / "labels.csv"
    path.write_text(f"exam,frame,label,patient\n{exam},0,polyp,p\n{exam},1,normal,p\n")
    return read_labels(path)


def test_labels_of_other_exams_are_refused_with_the_names_that_would_fit(tmp_path):
    write_results(tmp_path / "out" / "a", score=np.ones(2))
    with pytest.raises(FileError, match="exams of the scores are a"):
        read_results(tmp_path / "out", labels_of(tmp_path, "z"))


def test_frames_have_their_labels(tmp_path):
    write_results(tmp_path / "out" / "a", score=np.arange(3.0))
    frames = read_results(tmp_path / "out", labels_of(tmp_path)).frames
    assert frames.truth.tolist() == [POLYP, NORMAL, UNLABELLED]
    assert frames.patient.names == ("p",)
    assert frames.unit[0] == "a"


def test_training_patients_are_a_part(tmp_path):
    write_results(tmp_path / "out" / "a", score=np.ones(2))
    write_results(tmp_path / "out" / "b", score=np.ones(2))
    path = tmp_path / "labels.csv"
    path.write_text("exam,frame,label,patient\na,0,polyp,p\nb,1,normal,q\n")
    read = read_results(tmp_path / "out", read_labels(path), InputOptions(train_patients=("q",)))
    assert read.frames.part.names == ("train", "test")
    assert read.frames.part.code[[0, 3]].tolist() == [1, 0]


@pytest.mark.parametrize("column", ["block", "patient"])
@pytest.mark.parametrize("split", [True, False])
def test_parts_of_blocks_have_a_caution(tmp_path, column, split):
    labels, parts = tmp_path / "labels.csv", tmp_path / "split.csv"
    rows, places = [f"exam,frame,label,{column}"], ["exam,frame,group,part"]
    for exam in "ab":
        write_results(tmp_path / "out" / exam, score=np.ones(2))
        rows += [f"{exam},0,polyp,{exam}", f"{exam},1,normal,{exam}"]
        places += [f"{exam},{frame},{exam},{exam}" for frame in range(2)]
    labels.write_text("\n".join(rows) + "\n")
    parts.write_text("\n".join(places) + "\n")
    read = read_results(
        tmp_path / "out", read_labels(labels), InputOptions(splits=parts if split else None)
    )
    assert (BLOCKS_ARE_NOT_EXAMS in read.warnings) == (split and column == "block")


def test_an_exam_is_in_one_part_even_if_only_some_rows_name_its_patient(tmp_path):
    write_results(tmp_path / "out" / "a", score=np.ones(2))
    labels, split = tmp_path / "labels.csv", tmp_path / "split.csv"
    labels.write_text("exam,frame,label,patient\na,0,polyp,Anna\na,1,normal,\n")
    split.write_text("exam,frame,group,part\na,0,x,train\na,1,y,test\n")
    with pytest.raises(LeakError):
        read_results(tmp_path / "out", read_labels(labels), InputOptions(splits=split))


def test_videos_without_patients_are_in_one_part(tmp_path):
    write_results(tmp_path / "out" / "a", score=np.ones(2))
    labels, split = tmp_path / "labels.csv", tmp_path / "split.csv"
    labels.write_text("exam,frame,label\na,0,polyp\na,1,normal\n")
    split.write_text("exam,frame,group,part\na,0,x,train\na,1,y,test\n")
    with pytest.raises(LeakError):
        read_results(tmp_path / "out", read_labels(labels), InputOptions(splits=split))


def test_every_frame_and_every_row_of_the_labels_is_accounted_for(tmp_path):
    write_results(
        tmp_path / "out" / "a",
        7,
        score=[1.0, 2.0, 3.0, None, None, 4.0, 5.0],
        reason=["polyp"] * 3 + [None, None] + ["polyp"] * 2,
        status=["decoded"] * 4 + ["undecodable"] + ["decoded"] * 2,
        file=[f"{number}.png" for number in range(7)],
    )
    path = tmp_path / "labels.csv"
    # a/1.png and 1.png name the same frame.
    rows = ["0.png,polyp", "1.png,normal", "a/1.png,normal", "2.png,normal", "a/2.png,normal"]
    rows += ["3.png,other", "5.png,normal", "9.png,polyp"]
    path.write_text("\n".join(["file,label", *rows, ""]))
    read = read_results(tmp_path / "out", read_labels(path))
    table: Any = frame_counts_table(read.frames, read.matched.rows)
    row = dict(zip([column.key for column in table.columns], table.total, strict=True))
    assert row["found"] == 7 == row["undecoded"] + row["unscorable"] + row["scored"]
    classes = ("polyp", "normal", "other", "unlabelled")
    assert [row[name] for name in classes] == [1, 3, 1, 2]
    assert row["labelled_unscored"] == 1
    assert [row[name] for name in ("repeated_rows", "rows_without_frame")] == [2, 1]
    assert row["label_rows"] == 8
    assert table.total[1:] == tuple(map(sum, list(zip(*table.rows, strict=True))[1:]))


def read_radii(folder, radii, **record):
    write_results(folder / "out" / "a", score=np.array(radii, float), record=record)
    return read_results(folder / "out", labels_of(folder))


@pytest.mark.parametrize(
    ("radii", "threshold", "words"),
    [
        ([43, 0, 50, 0], 37.0, ["R_P = 37 does not act", "smallest R_max is 43"]),
        ([37, 50], 37.0, ["smallest R_max is 37"]),
        ([43, 36], 37.0, []),
        ([43, 50], None, []),
        ([43, 50], 44.0, []),
        ([0, 0], 37.0, []),
        ([30, 85, *[50] * 18], 37.0, []),
        ([30, 85, *[50] * 17], 37.0, ["5 % of the radii R_max are 85"]),
    ],
)
def test_radii_that_no_threshold_separates_have_a_warning(tmp_path, radii, threshold, words):
    warnings = radius_warnings(read_radii(tmp_path, radii), threshold)
    assert bool(warnings) == bool(words)
    assert all(word in "".join(warnings) for word in words)


def test_radii_of_other_detectors_have_no_warning(tmp_path):
    read = read_radii(tmp_path, [85, 85], detector={"name": "curvature"})
    assert radius_warnings(read, 37.0) == []


def test_largest_radius_follows_from_the_width(tmp_path):
    read = read_radii(tmp_path, [42, 42], parameters={"width": 128})
    assert "are 42" in "".join(radius_warnings(read, None))
