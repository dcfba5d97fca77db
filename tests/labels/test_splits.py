"""Groups of frames, planned splits and their files."""

import csv
import random
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from capsieve.errors import FileError, ParameterError
from capsieve.labels import (
    LabelSet,
    SplitOptions,
    SplitPlan,
    plan_splits,
    read_labels,
    read_splits,
    write_splits,
)
from capsieve.labels.groups import group_rows
from capsieve.labels.splits import SPLITS
from sample_frames import CAPSULE
from support.label_sets import label_set, make_files, split_set

Rows = list[dict[str, Any]]


def of_patients(count: int, *, normal: int = 40, polyp: int = 5, exams: int = 1) -> Rows:
    return [
        {
            "exam": f"exam-{patient}-{exam}",
            "frame": frame,
            "patient": f"p{patient}",
            "label": "polyp" if frame < polyp else "normal",
            "polyp": f"p{patient}/1" if frame < polyp else None,
        }
        for patient in range(count)
        for exam in range(exams)
        for frame in range(normal + polyp)
    ]


def plan(rows: Rows | LabelSet, **options: Any) -> SplitPlan:
    labels = rows if isinstance(rows, LabelSet) else label_set(rows)
    return plan_splits(labels, SplitOptions(**options))


def parts_by(planned: SplitPlan, keys: list[Any]) -> dict[Any, set[str]]:
    """Return for each key of rows the parts that its rows are in."""
    parts: dict[Any, set[str]] = defaultdict(set)
    for key, part in zip(keys, planned.splits.table["part"].to_pylist(), strict=True):
        if key is not None:
            parts[key].add(part)
    return parts


def together(planned: SplitPlan, rows: Rows, key: str) -> bool:
    return all(len(parts) == 1 for parts in parts_by(planned, [r.get(key) for r in rows]).values())


def counted(planned: SplitPlan, key: str) -> dict[str, int]:
    return dict(zip(planned.table.column("part"), planned.table.column(key), strict=True))


def test_every_patient_is_in_one_part() -> None:
    rows = of_patients(10, exams=2)
    planned = plan(rows, folds=5)
    assert together(planned, rows, "patient")
    assert counted(planned, "groups") == dict.fromkeys("12345", 2)
    assert planned.kind == "patient"
    assert planned.warnings == ()


def test_test_and_training_have_their_shares() -> None:
    planned = plan(of_patients(10), test=30)
    assert counted(planned, "frames") == {"train": 7 * 45, "test": 3 * 45}
    assert counted(planned, "polyp") == {"train": 35, "test": 15}
    assert counted(planned, "normal") == {"train": 280, "test": 120}
    assert counted(planned, "polyps") == {"train": 7, "test": 3}
    assert plan(of_patients(10)).splits.table.equals(planned.splits.table)  # 30 % by default


def test_videos_without_patients_stay_together() -> None:
    """Labels with `exam` and without `patient` used to be cut into blocks."""
    rows = [{"exam": f"video-{n}", "frame": frame} for n in range(10) for frame in range(900)]
    for options in ({"test": 30}, {"folds": 5}, {"folds": 5, "in_order": True}):
        planned = plan(rows, **options)
        assert together(planned, rows, "exam")
        assert planned.kind == "exam"


def test_frames_without_a_patient_or_an_exam_go_by_blocks() -> None:
    rows = of_patients(3) + [{"file": f"s/{frame}.jpg"} for frame in range(500)]
    planned = plan(rows, folds=3, block_size=50)
    table = planned.splits.table.to_pylist()
    assert planned.kind == "patient or block"
    assert {row["kind"] for row in table[:135]} == {"patient"}
    assert {row["kind"] for row in table[135:]} == {"block"}
    assert together(planned, table, "group")
    names = [row["group"] for row in table[135:]]
    assert sum(one != other for one, other in pairwise(names)) == 9
    parts = [row["part"] for row in table[135:]]  # each part has one stretch of the numbering
    assert sum(one != other for one, other in pairwise(parts)) == 2


def test_no_polyp_is_in_two_parts() -> None:
    rows = [
        {
            "file": f"s/{frame}.jpg",
            "frame": frame,
            "label": "polyp" if frame % 20 < 9 else "normal",
            "polyp": f"run{frame // 20}" if frame % 20 < 9 else None,
        }
        for frame in range(1000)
    ]
    for seed in range(3):
        assert together(plan(rows, folds=4, block_size=13, seed=seed), rows, "polyp")


def test_blocks_are_cut_over_the_running_number_of_a_source() -> None:
    """Frames of one source in several folders are neighbours by their number."""
    rows = [{"file": f"{'ab'[n % 2]}/{n:04}.jpg", "frame": n, "source": "s"} for n in range(900)]
    random.Random(1).shuffle(rows)
    groups = group_rows(label_set(rows))
    code = groups.code[np.argsort([row["frame"] for row in rows])]
    assert np.bincount(code).tolist() == [300, 300, 300]
    assert (np.diff(code) >= 0).all()


def test_nearby_polyp_frames_without_a_name_are_not_cut() -> None:
    rows = [
        {"file": f"s/{n:04}.jpg", "label": "polyp" if n % 4 == 0 else "normal"} for n in range(200)
    ]
    assert set(group_rows(label_set(rows), block_size=20).code) == {0}
    far = [{**row, "label": "normal"} for row in rows]
    assert len(set(group_rows(label_set(far), block_size=20).code)) == 10


def test_blocks_of_the_labels_are_kept() -> None:
    rows = [{"file": f"s/{frame}.jpg", "block": f"b{frame % 4}"} for frame in range(40)]
    planned = plan(rows, folds=2)
    assert together(planned, rows, "block")
    assert set(planned.splits.table["group"].to_pylist()) == {"b0", "b1", "b2", "b3"}


def test_every_part_has_its_share_of_every_source() -> None:
    rows = [
        {"file": f"{source}/{frame}.jpg", "frame": frame}
        for source, count in (("large", 4000), ("small", 400))
        for frame in range(count)
    ]
    for in_order in (False, True):
        planned = plan(rows, folds=2, block_size=100, in_order=in_order)
        small = planned.splits.table["part"].to_pylist()[4000:]
        assert 100 <= small.count("1") <= 300


def test_the_order_of_groups_is_that_of_their_frames() -> None:
    rows = [{"file": f"s/{n:04}.jpg", "frame": n, "block": f"b{n // 50}"} for n in range(500)]
    parts = plan(rows, folds=5, in_order=True).splits.table["part"].to_pylist()
    assert parts == [str(1 + n // 100) for n in range(500)]
    shuffled = random.Random(2).sample(rows, len(rows))
    again = plan(shuffled, folds=5, in_order=True).splits.table
    found = dict(zip(again["frame"].to_pylist(), again["part"].to_pylist(), strict=True))
    assert [found[n] for n in range(500)] == parts


def test_folders_of_single_exams_are_taken_together_in_order() -> None:
    rows = [
        {"exam": f"e{exam}", "file": f"e{exam}/{n}.jpg"} for exam in range(10) for n in range(20)
    ]
    parts = plan(rows, folds=5, in_order=True).splits.table["part"].to_pylist()
    assert parts == [str(1 + place // 40) for place in range(200)]


def test_the_rows_keep_their_keys_and_order() -> None:
    rows = [*of_patients(2), {"file": "x/1.jpg", "frame": 7}, {"exam": "e", "head": 1, "frame": 3}]
    table = plan(rows, folds=2).splits.table
    for name in ("exam", "head", "frame", "file"):
        assert table[name].to_pylist() == [row.get(name) for row in rows]


def test_the_seed_decides_and_nothing_else() -> None:
    rows = of_patients(12)
    tables = [plan(rows, folds=3, seed=seed).splits.table for seed in (1, 1, 2)]
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])


def test_a_part_without_a_class_is_named() -> None:
    rows = of_patients(3, polyp=0) + [
        {"exam": "z", "frame": n, "patient": "z", "label": "polyp"} for n in range(4)
    ]
    warnings = plan(rows, folds=2).warnings
    assert len([text for text in warnings if "has no frame labelled polyp" in text]) == 1
    assert "no frame is labelled polyp" in plan(of_patients(3, polyp=0), folds=2).warnings


def test_a_polyp_that_the_labels_own_blocks_divide_is_named() -> None:
    rows = [
        {"file": f"{n}.jpg", "block": str(n), "label": "polyp", "polyp": "one"} for n in range(2)
    ]
    assert any("1 polyps are in two parts (one)" in text for text in plan(rows, folds=2).warnings)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"folds": 4}, r"folds: 4 parts need as many groups, and there are 3 \(patient\)"),
        ({"folds": 1}, "2 or more"),
        ({"test": 100}, "percent"),
        ({"test": 0.3}, "percent"),
        ({"folds": 2, "test": 50}, "either folds or test"),
        ({"folds": 2, "block_size": 0}, "1 or more"),
        ({"folds": 2, "in_order": True, "seed": 1}, "seed"),
    ],
)
def test_options_that_cannot_be_met_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        plan(of_patients(3, exams=2), **options)


# Capsule Vision 2024


def capsule_vision(folder: Path) -> Path:
    """Lay out the real frames as Dataset/{training,validation}/CLASS/SOURCE, without images.

    Frames are spread at random over both parts, and those with several findings over classes.
    """
    sources = {"see-ai": "SEE-AI", "kvasir-capsule": "KVASIR"}
    chance = random.Random(7)
    with (CAPSULE / "frames.csv").open() as file:
        for row in csv.DictReader(file):
            part = chance.choice(["training", "validation"])
            for finding in row["findings"].split(";"):
                kind = finding.replace("-", " ").title()
                name = Path(row["file"]).name
                make_files(folder / "Dataset", f"{part}/{kind}/{sources[row['source']]}/{name}")
    return folder / "Dataset"


@pytest.mark.skipif(not CAPSULE.is_dir(), reason="the real frames are not here")
def test_neighbouring_polyp_frames_of_capsule_vision_are_not_separated(tmp_path: Path) -> None:
    labels = read_labels(capsule_vision(tmp_path))
    own = read_labels(CAPSULE / "frames.csv")
    assert len(labels.table) == len(own.table) == 16110
    table = labels.table.to_pylist()
    assert sum(row["label"] == "polyp" for row in table) == 699
    run = {row["frame"]: row["polyp"] for row in own.table.to_pylist() if row["source"] == "see-ai"}
    runs = [run[row["frame"]] if row["source"] == "SEE-AI" else None for row in table]
    for options in (
        {"test": 30},
        {"test": 20, "seed": 3},
        {"folds": 5},
        {"folds": 5, "in_order": True},
    ):
        planned = plan(labels, **options)
        parts = parts_by(planned, runs)
        assert len(parts) == 148
        assert all(len(some) == 1 for some in parts.values())
        assert together(planned, table, "patient")
        see_ai = sorted(
            (row["frame"], part)
            for row, part in zip(table, planned.splits.table["part"].to_pylist(), strict=True)
            if row["source"] == "SEE-AI"
        )
        changes = sum(one[1] != other[1] for one, other in pairwise(see_ai))
        assert changes == len(planned.table.rows) - 1  # one stretch of the running number per part


# Files

ROWS: Rows = [
    {"exam": "a, b", "head": 0, "frame": 3, "group": "007", "kind": "patient", "part": "train"},
    {"file": 'x/"é".png', "group": "=s #1", "kind": "block", "part": "test"},
]
for row in ROWS:
    row["schema"] = 1


@pytest.mark.parametrize("name", ["splits.csv", "splits.parquet", "splits"])
def test_a_split_is_read_as_it_was_written(tmp_path: Path, name: str) -> None:
    written = split_set(ROWS)
    write_splits(written, tmp_path / name)
    read = read_splits(tmp_path / name)
    assert read.table.equals(written.table)
    assert set(read.table["part"].to_pylist()) == {"train", "test"}
    assert read.problems == ()


@pytest.mark.parametrize(
    "text", ["file,part\na.png,train\nb.png,test\n", "Part;File\ntrain;a.png\ntest;b.png\n"]
)
def test_a_split_made_by_hand_needs_little(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    table = read_splits(path).table
    assert table.schema == SPLITS
    assert table["file"].to_pylist() == ["a.png", "b.png"]
    assert table["part"].to_pylist() == ["train", "test"]


def test_train_and_test_are_known_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "splits.csv").write_text("file,part\na.png,TRAIN\nb.png, Test\nc.png,Fold A\n")
    parts = read_splits(tmp_path / "splits.csv").table["part"].unique().to_pylist()
    assert parts == ["train", "test", "Fold A"]


def test_frames_that_are_there_twice_are_kept_and_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("exam,frame,part\na,1,train\na,2,train\na,1,test\n")
    splits = read_splits(path)
    assert splits.table.num_rows == 3
    (problem,) = splits.problems
    assert (problem.rows, problem.examples) == (1, ("a frame 1",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exam,frame\na,1\n", "has no column part"),
        ("exam,part\na,train\n", "frame"),
        ("file,part\na.png,train\nb.png,\n", "line 3: there is no part"),
        ("exam,frame,part\na,one,train\n", "line 2: the frame is not a whole number"),
        ("file,part,kind\na.png,train,frame\n", "kind 'frame'"),
        ("file,part,schema\na.png,train,9\n", "schema 9"),
        ("file,part\n", "no rows"),
        ("file,part\na.png,train,more\n", "line 2: 3 cells"),
        ("", "empty"),
        ("\0\1", "mine.csv"),
    ],
)
def test_a_file_that_is_not_a_split_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=words):
        read_splits(path)


def test_a_missing_or_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    for path in (tmp_path / "absent.csv", tmp_path, tmp_path / "broken.parquet"):
        with pytest.raises(FileError, match="cannot read"):
            read_splits(path)
