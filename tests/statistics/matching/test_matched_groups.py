"""Patients, groups and parts of matched frames."""

import pytest

from capsieve.statistics.judged import NORMAL, UNLABELLED
from capsieve.statistics.matching import match
from support.label_sets import label_set, split_set
from support.matched_problems import examples_of, problems_of
from support.results import write_results


def test_two_patients_for_one_frame_contradict(tmp_path):
    folder = write_results(tmp_path / "exam", file=["a.png", "b.png"])
    rows = [
        {"exam": "exam", "frame": 0, "patient": "1"},
        {"file": "a.png", "patient": "2"},
        {"exam": "exam", "frame": 1, "patient": "1"},
        {"file": "b.png"},
    ]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [UNLABELLED, NORMAL]
    assert matched.judged.patient.tolist() == [-1, 0]


def test_a_patient_whom_all_rows_name_has_the_whole_exam(tmp_path):
    folder = write_results(tmp_path / "exam", 5)
    rows = [{"exam": "exam", "frame": frame, "patient": "7"} for frame in (0, 3)]
    judged = match([folder], label_set(rows)).judged
    assert judged.patient.tolist() == [0] * 5
    assert judged.groups == ("patient 7",)


@pytest.mark.parametrize("other", ["8", None])
def test_patients_are_not_guessed(tmp_path, other):
    folder = write_results(tmp_path / "exam", 3)
    rows = [
        {"exam": "exam", "frame": 0, "patient": "7"},
        {"exam": "exam", "frame": 1, "patient": other},
    ]
    judged = match([folder], label_set(rows)).judged
    assert judged.patient.tolist() == [0, 1 if other else -1, -1]


def test_groups_are_patients_else_blocks_else_exams(tmp_path):
    folder = write_results(tmp_path / "7", 4)
    rows = [
        {"exam": "7", "frame": 0, "patient": "7"},
        {"exam": "7", "frame": 1, "block": "7"},
        {"exam": "7", "frame": 2, "block": "7", "patient": "7"},
        {"exam": "7", "frame": 3},
    ]
    judged = match([folder], label_set(rows)).judged
    assert [judged.groups[code] for code in judged.group] == [
        "patient 7", "block 7", "patient 7", "exam 7",
    ]  # fmt: skip
    assert judged.group_kind == "patient or block or exam"


def test_groups_are_called_after_what_labelled_frames_have(tmp_path):
    folder = write_results(tmp_path / "exam", 3)
    rows = [{"exam": "exam", "frame": n, "patient": str(n)} for n in range(2)]
    assert match([folder], label_set(rows)).judged.group_kind == "patient"


def test_a_split_of_the_same_rows_and_one_with_other_keys_agree(tmp_path):
    folders = [write_results(tmp_path / name, file=["1.png", "2.png"]) for name in ("a", "b")]
    rows = [{"exam": exam, "file": f"{n}.png"} for exam in ("a", "b") for n in (1, 2)]
    parts = ["x", "y", "y", "x"]
    same = [row | {"part": part} for row, part in zip(rows, parts, strict=True)]
    other = [
        {"file": f"{row['exam']}/{row['file']}", "part": row["part"]} for row in reversed(same)
    ]
    for split in (same, other):
        judged = match(folders, label_set(rows), splits=split_set(split)).judged
        assert [judged.parts[code] for code in judged.part] == parts


def test_a_split_says_the_parts(tmp_path):
    folder = write_results(tmp_path / "exam", 4)
    rows = [{"exam": "exam", "frame": frame} for frame in range(3)]
    parts = split_set([
        {"exam": "exam", "frame": 0, "part": "train", "group": "b1", "kind": "block"},
        {"exam": "exam", "frame": 1, "part": "test", "group": "b2", "kind": "block"},
        {"exam": "exam", "frame": 3, "part": "test"},
        {"exam": "exam", "frame": 9, "part": "test"},
    ])  # fmt: skip
    matched = match([folder], label_set(rows), splits=parts)
    judged = matched.judged
    assert [judged.parts[code] if code >= 0 else "" for code in judged.part] == [
        "train", "test", "", "test",
    ]  # fmt: skip
    assert [judged.groups[code] for code in judged.group] == [
        "block b1", "block b2", "exam exam", "exam exam",
    ]  # fmt: skip
    found = problems_of(matched)
    assert found["split: the exam has no such frame; they are numbered from 0"] == 1
    assert found["split: the labelled frame is in no part"] == 1
    assert found["split: the frame is in the split and has no label"] == 1


def test_a_frame_in_two_parts_is_in_none_and_named(tmp_path):
    folder = write_results(tmp_path / "exam", file=["a.png", "b.png"])
    rows = [{"exam": "exam", "frame": frame} for frame in range(2)]
    parts = split_set([
        {"exam": "exam", "frame": 0, "part": "train"},
        {"file": "a.png", "part": "test"},
        {"file": "b.png", "part": "test"},
        {"file": "exam/b.png", "part": "test"},
    ])  # fmt: skip
    matched = match([folder], label_set(rows), splits=parts)
    assert matched.in_two_parts.tolist() == [0]
    assert matched.judged.part.tolist()[0] == -1
    assert matched.judged.parts[matched.judged.part[1]] == "test"
    assert examples_of(matched, "in two parts") == ("exam/a.png",)
