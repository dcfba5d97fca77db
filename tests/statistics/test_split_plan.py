from collections import defaultdict
from itertools import pairwise

import pytest

from capsieve.errors import ParameterError
from capsieve.statistics.split_plan import plan_splits
from support.label_sets import label_set


def of_patients(count, *, normal=40, polyp=5, exams=1):
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


def parts_of(plan, rows, key):
    """For each value of a column, the parts that its rows are in."""
    parts = defaultdict(set)
    for row, part in zip(rows, plan.splits.table["part"].to_pylist(), strict=True):
        if row.get(key) is not None:
            parts[row[key]].add(part)
    return parts


def counted(plan, key):
    return dict(zip(plan.table.column("part"), plan.table.column(key), strict=True))


def test_every_patient_is_in_one_part():
    rows = of_patients(10, exams=2)
    plan = plan_splits(label_set(rows), folds=5)
    assert {len(parts) for parts in parts_of(plan, rows, "patient").values()} == {1}
    assert counted(plan, "groups") == dict.fromkeys("12345", 2)
    assert plan.kind == "patient"
    assert plan.warnings == ()


def test_test_and_training_have_their_shares():
    plan = plan_splits(label_set(of_patients(10)), test=0.3)
    assert counted(plan, "frames") == {"train": 7 * 45, "test": 3 * 45}
    assert counted(plan, "polyp") == {"train": 35, "test": 15}
    assert counted(plan, "normal") == {"train": 280, "test": 120}
    assert counted(plan, "polyps") == {"train": 7, "test": 3}


def test_frames_without_a_patient_go_by_blocks():
    rows = of_patients(3) + [{"file": f"s/{frame}.jpg"} for frame in range(500)]
    plan = plan_splits(label_set(rows), folds=3, block_size=50)
    table = plan.splits.table.to_pylist()
    assert plan.kind == "patient or block"
    assert {row["kind"] for row in table[:135]} == {"patient"}
    assert {row["kind"] for row in table[135:]} == {"block"}
    groups = defaultdict(set)
    for row in table:
        groups[row["group"]].add(row["part"])
    assert {len(parts) for parts in groups.values()} == {1}
    # Consecutive frames: from one frame to the next the group changes nine times, not more.
    names = [row["group"] for row in table[135:]]
    assert sum(one != other for one, other in pairwise(names)) == 9


def test_no_polyp_is_in_two_parts():
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
        plan = plan_splits(label_set(rows), folds=4, block_size=13, seed=seed)
        assert {len(parts) for parts in parts_of(plan, rows, "polyp").values()} == {1}


def test_blocks_of_the_labels_are_kept():
    rows = [{"file": f"s/{frame}.jpg", "block": f"b{frame % 4}"} for frame in range(40)]
    plan = plan_splits(label_set(rows), folds=2, by="block")
    assert {len(parts) for parts in parts_of(plan, rows, "block").values()} == {1}
    assert set(plan.splits.table["group"].to_pylist()) == {"b0", "b1", "b2", "b3"}


def test_sources_are_balanced():
    rows = [
        {"file": f"{source}/{frame}.jpg", "frame": frame}
        for source, count in (("large", 4000), ("small", 400))
        for frame in range(count)
    ]
    plan = plan_splits(label_set(rows), folds=2, block_size=100)
    small = [
        part
        for row, part in zip(rows, plan.splits.table["part"].to_pylist(), strict=True)
        if row["file"].startswith("small")
    ]
    assert 100 <= small.count("1") <= 300


def test_whole_exams_stay_together():
    rows = [{"exam": f"e{n}", "frame": frame} for n in range(4) for frame in range(30)]
    plan = plan_splits(label_set(rows), folds=2, by="exam")
    assert {len(parts) for parts in parts_of(plan, rows, "exam").values()} == {1}
    assert plan.kind == "exam"


def test_the_rows_keep_their_keys_and_order():
    rows = [*of_patients(2), {"file": "x/1.jpg", "frame": 7}, {"exam": "e", "head": 1, "frame": 3}]
    table = plan_splits(label_set(rows), folds=2).splits.table
    for name in ("exam", "head", "frame", "file"):
        assert table[name].to_pylist() == [row.get(name) for row in rows]


def test_a_part_without_a_class_is_named():
    rows = of_patients(3, polyp=0) + [
        {"exam": "z", "frame": n, "patient": "z", "label": "polyp"} for n in range(4)
    ]
    warnings = plan_splits(label_set(rows), folds=2).warnings
    assert len([text for text in warnings if "has no frame labelled polyp" in text]) == 1
    assert (
        "no frame is labelled polyp"
        in plan_splits(label_set(of_patients(3, polyp=0)), folds=2).warnings
    )


def test_a_polyp_torn_by_the_labels_own_blocks_is_named():
    rows = [
        {"file": f"{n}.jpg", "block": str(n), "label": "polyp", "polyp": "one"} for n in range(2)
    ]
    warnings = plan_splits(label_set(rows), folds=2).warnings
    assert any("1 polyps are in two parts (one)" in text for text in warnings)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"folds": 4}, r"folds: 4 parts need as many groups, and there are 3 \(patient\)"),
        ({"folds": 1}, "2 or more"),
        ({"test": 1.0}, "between 0 and 1"),
        ({}, "either folds or test"),
        ({"folds": 2, "test": 0.5}, "either folds or test"),
        ({"folds": 2, "block_size": 0}, "1 or more"),
        ({"folds": 2, "by": "block"}, "270 rows name their patient"),
        ({"folds": 2, "by": "exam"}, r"3 patients have several exams \(p0, p1, p2\)"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        plan_splits(label_set(of_patients(3, exams=2)), **options)


def test_rows_that_belong_nowhere_cannot_go_by_exam():
    with pytest.raises(ParameterError, match="2 rows have neither"):
        plan_splits(label_set([{"file": "1.jpg"}, {"file": "2.jpg"}]), folds=2, by="exam")
