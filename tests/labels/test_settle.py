"""The rules that all label formats share."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.errors import FileError
from capsieve.labels import LabelSet, read_labels
from capsieve.labels.settle import settle
from support.label_sets import write_text


def problem(labels: LabelSet, beginning: str) -> tuple[int, tuple[str, ...], bool]:
    found = [one for one in labels.problems if one.what.startswith(beginning)]
    assert len(found) == 1, labels.problems
    return found[0].rows, found[0].examples, found[0].used


def test_a_polyp_belongs_to_its_exam(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv",
        "exam,frame,label,polyp,patient",
        "a,1,polyp,1,p",
        "b,1,polyp,1,p",
        "c,1,polyp,c/1,q",
        "d,1,polyp,q/9,q",
    )
    assert read_labels(path).table["polyp"].to_pylist() == ["a/1", "b/1", "c/1", "q/9"]


def test_without_an_exam_a_polyp_belongs_to_its_patient(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv",
        "file,label,polyp,patient",
        "1.jpg,polyp,1,p",
        "2.jpg,polyp,1,q",
        "3.jpg,polyp,1,",
    )
    assert read_labels(path).table["polyp"].to_pylist() == ["p/1", "q/1", "1"]


def test_rows_that_cannot_be_used_are_counted_and_named(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv",
        "exam,head,frame,file,label,polyp",
        "a,0,1,,Polip,",
        "a,0,-2,,polyp,",
        "",
        "a,0,three,,polyp,",
        "a,left,4,,polyp,",
        "a,0,,,polyp,",
        "a,0,6,, ,",
        "a,0,7,,normal,3",
        'a,0,8,"two\nlines.jpg",polyp,',
        "a,0,9,,nothing,",
        "a,0,10",
    )
    labels = read_labels(path)
    assert labels.table["frame"].to_pylist() == [8]
    assert problem(labels, "the label is not one") == (
        2,
        ("line 2: label 'Polip'", "line 12: label 'nothing'"),
        False,
    )
    assert problem(labels, "the frame is not a whole number") == (
        2,
        ("line 3: frame '-2'", "line 5: frame 'three'"),
        False,
    )
    assert problem(labels, "the head") == (1, ("line 6: head 'left'",), False)
    assert problem(labels, "the row names neither") == (1, ("line 7: exam a, head 0",), False)
    assert problem(labels, "the label is empty")[:2] == (1, ("line 8: exam a, head 0, frame 6",))
    assert problem(labels, "a polyp is named")[1] == ("line 9: polyp '3', label 'normal'",)
    assert problem(labels, "the row has too few")[1] == ("line 13: 3 cells instead of 6",)


def test_two_labels_of_one_reader_for_one_frame_are_not_used(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv",
        "exam,head,frame,label,reader",
        "a,,1,polyp,anna",
        "a,,2,normal,anna",
        "a,0,1,normal,anna",
        "b,,1,normal,anna",
    )
    labels = read_labels(path)
    assert labels.table.select(["exam", "frame"]).to_pylist() == [
        {"exam": "a", "frame": 2},
        {"exam": "b", "frame": 1},
    ]
    examples = ("line 2: exam a, frame 1 is polyp", "line 4: exam a, head 0, frame 1 is normal")
    assert problem(labels, "the frame has two different labels") == (2, examples, False)


def test_files_of_one_name_in_two_exams_are_two_frames(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv", "exam,file,label", "a,0001.jpg,polyp", "b,0001.jpg,normal"
    )
    assert read_labels(path).problems == ()


def test_one_file_written_in_two_ways_is_one_frame(tmp_path: Path) -> None:
    path = write_text(tmp_path / "l.csv", "file,label", "x\\1.jpg,polyp", "./x/1.jpg,normal")
    with pytest.raises(FileError, match=r"line 2.*line 3"):
        read_labels(path)


def test_a_row_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    row = "a,1,polyp,2"
    path = write_text(tmp_path / "l.csv", "exam,frame,label,polyp", row, "a,2,normal,", row, row)
    labels = read_labels(path)
    assert labels.table["frame"].to_pylist() == [1, 2]
    rows, examples, used = problem(labels, "the row is there more than once")
    assert (rows, used) == (2, True)
    assert examples[0].startswith("line 4:")


def test_rows_of_one_frame_complete_each_other(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv",
        "exam,frame,label,polyp,finding,block",
        "a,1,polyp,,,x",
        "a,1,polyp,2,flat,",
        "a,5,other,,bubbles; fold,x",
        "a,5,other,,debris;fold,y",
    )
    labels = read_labels(path)
    assert labels.table.select(["polyp", "finding", "block"]).to_pylist() == [
        {"polyp": "a/2", "finding": "flat", "block": "x"},
        {"polyp": None, "finding": "bubbles;fold;debris", "block": None},
    ]
    assert problem(labels, "the frame is labelled more than once; its rows")[2]
    assert problem(labels, "the frame is labelled more than once; details")[0] == 1


def test_two_polyps_on_one_frame_are_reported(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv",
        "exam,frame,label,polyp",
        "a,1,polyp,one",
        "a,2,polyp,one",
        "a,2,polyp,two",
    )
    labels = read_labels(path)
    assert labels.table["label"].to_pylist() == ["polyp", "polyp"]
    assert labels.table["polyp"].to_pylist() == ["a/one", None]
    assert problem(labels, "the frame shows more than one polyp")[2]
    assert "'two'" in labels.warnings[0]


def test_an_exam_with_two_patients_stops(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv", "exam,frame,label,patient", "a,1,normal,7", "a,2,normal,8"
    )
    with pytest.raises(FileError, match=r"exam 'a' has .* '7' \(line 2\) and '8' \(line 3\)"):
        read_labels(path)


def test_a_frame_with_two_patients_stops(tmp_path: Path) -> None:
    path = write_text(tmp_path / "l.csv", "file,label,patient", "x.jpg,normal,7", "x.jpg,normal,8")
    with pytest.raises(FileError, match=r"'7' \(line 2\) and '8' \(line 3\)"):
        read_labels(path)


def test_frames_of_two_patients_without_an_exam_are_named(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "labels.csv", "frame,label,patient", "7,normal,1", "8,normal,1", "7,normal,2"
    )
    with pytest.raises(FileError, match="frame 7 of an exam without a name has the patients"):
        read_labels(path)


def test_a_polyp_with_two_patients_stops(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv", "exam,frame,label,polyp,patient", "a,1,polyp,a/1,7", "b,2,polyp,a/1,8"
    )
    with pytest.raises(FileError, match=r"polyp 'a/1' .* \(line 2 and line 3\)"):
        read_labels(path)


def test_a_polyp_of_an_earlier_exam_may_be_seen_again(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv", "exam,frame,label,polyp,patient", "a,1,polyp,a/1,7", "b,2,polyp,a/1,7"
    )
    assert read_labels(path).table["polyp"].to_pylist() == ["a/1", "a/1"]


def test_a_row_without_a_patient_gets_the_one_of_its_exam(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv", "exam,frame,label,patient", "a,1,normal,", "a,2,normal,7", "b,1,other,"
    )
    labels = read_labels(path)
    assert labels.table["patient"].to_pylist() == ["7", "7", None]
    assert problem(labels, "the row names no patient")[::2] == (1, True)


@pytest.mark.parametrize("number", ["0x10", "1e3", "2.5", "+3", "१२", "9" * 30, "--1"])
def test_only_plain_digits_are_a_frame_number(tmp_path: Path, number: str) -> None:
    path = write_text(tmp_path / "l.csv", "exam,frame,label", f"a,{number},polyp", "a,1,polyp")
    labels = read_labels(path)
    assert labels.table["frame"].to_pylist() == [1]
    assert problem(labels, "the frame is not a whole number")[1] == (f"line 2: frame '{number}'",)


def test_long_names_are_cut_in_messages(tmp_path: Path) -> None:
    lines = [f"a,{frame},normal,1" for frame in range(99)]
    lines[3] = 'a,3,normal,"1'
    path = write_text(tmp_path / "labels.csv", "exam,frame,label,patient", *lines)
    with pytest.raises(FileError, match="line 5") as error:
        read_labels(path)
    assert len(str(error.value)) < 400


def test_the_reader_of_a_frame_is_read_without_a_warning(tmp_path: Path) -> None:
    rows = "exam,frame,label,reader\na,1,polyp,anna\na,2,normal,ben\na,3,normal,\n"
    labels = read_labels(write_text(tmp_path / "labels.csv", rows))
    assert labels.warnings == labels.problems == ()
    assert len(labels.table) == 3


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_readers_who_disagree_on_a_frame_stop(tmp_path: Path, ending: str) -> None:
    columns = {
        "exam": ["a"] * 5,
        "frame": [1, 2, 2, 3, 3],
        "label": ["polyp", "polyp", "normal", "polyp", "polyp"],
        "reader": ["anna", "anna", "ben", "anna", "ben"],
    }
    path = tmp_path / f"labels.{ending}"
    if ending == "csv":
        lines = (",".join(map(str, row)) for row in zip(*columns.values(), strict=True))
        write_text(path, "\n".join([",".join(columns), *lines, ""]))
    else:
        pq.write_table(pa.table(columns), path)
    where = ("line 3", "line 4") if ending == "csv" else ("row 2", "row 3")
    with pytest.raises(FileError, match="exam a, frame 2") as caught:
        read_labels(path)
    assert f"anna says polyp ({where[0]}) and ben says normal ({where[1]})" in str(caught.value)


def test_a_reader_who_agrees_with_both_does_not_hide_a_disagreement(tmp_path: Path) -> None:
    rows = "exam,frame,label,reader\na,1,polyp,anna\na,1,polyp,ben\na,1,normal,anna\n"
    with pytest.raises(FileError, match="readers disagree on a frame"):
        read_labels(write_text(tmp_path / "labels.csv", rows))


@pytest.mark.parametrize("reader", ["", ",reader"])
def test_labels_that_differ_without_a_reader_stop(tmp_path: Path, reader: str) -> None:
    name = "," if reader else ""
    rows = (f"exam,frame,label{reader}", f"a,1,polyp{name}", f"a,2,normal{name}")
    path = write_text(tmp_path / "labels.csv", *rows, f"a,1,normal{name and ',ben'}")
    with pytest.raises(FileError, match=r"exam a, frame 1.*line 2.*line 4"):
        read_labels(path)


def test_one_reader_with_two_labels_loses_only_that_frame(tmp_path: Path) -> None:
    rows = "exam,frame,label,reader\na,1,polyp,anna\na,1,normal,anna\na,2,normal,anna\n"
    labels = read_labels(write_text(tmp_path / "labels.csv", rows))
    assert problem(labels, "the frame has two different labels")[0] == 2
    assert labels.table["frame"].to_pylist() == [2]


CELLS = st.fixed_dictionaries(
    {
        "exam": st.sampled_from(["", "a", "b"]),
        "head": st.sampled_from(["", "0", "1", "x"]),
        "frame": st.sampled_from(["", "0", "1", "1.0", "-1", "two"]),
        "file": st.sampled_from(["", "", "0.jpg", "1.jpg"]),
        "label": st.sampled_from(["polyp", " Polyp", "normal", "other", "", "Polip"]),
        "polyp": st.sampled_from(["", "", "1", "2"]),
    }
)


def labels_one_by_one(rows: list[dict[str, str]]) -> tuple[dict[tuple, tuple], int]:
    """Return the label and polyp of each frame by the rules, and how many rows are not used."""
    frames: defaultdict[tuple, list[tuple[str, str]]] = defaultdict(list)
    unused = 0
    for row in rows:
        frame = {"1.0": "1"}.get(row["frame"], row["frame"])
        word = row["label"].strip().lower()
        numbers = frame in ("", "0", "1") and row["head"] in ("", "0", "1")
        if not numbers or not (frame or row["file"]) or word not in ("polyp", "normal", "other"):
            unused += 1
        elif row["file"]:
            frames[row["exam"], row["file"]].append((word, row["polyp"]))
        else:
            frames[row["exam"], row["head"] or "0", frame].append((word, row["polyp"]))
    settled: dict[tuple, tuple] = {}
    for key, said in frames.items():
        if len({word for word, _ in said}) > 1:
            unused += len(said)
            continue
        clear = [(word, polyp) for word, polyp in said if word == "polyp" or not polyp]
        unused += len(said) - len(clear)
        if clear:
            polyps = {polyp for _, polyp in clear if polyp}
            name = polyps.pop() if len(polyps) == 1 else None
            full = f"{key[0]}/{name}" if name and key[0] else name
            settled[key] = (clear[0][0], full)
    return settled, unused


@given(st.lists(CELLS, min_size=1, max_size=12))
@settings(max_examples=300, deadline=None)
def test_the_rules_hold_as_they_are_written(rows: list[dict[str, str]]) -> None:
    columns = {name: pa.array([row[name] for row in rows]) for name in rows[0]}
    columns["reader"] = pa.array(["anna"] * len(rows))
    names = [f"row {place}" for place in range(len(rows))]
    labels = settle(
        columns, name_rows=lambda some: [names[n] for n in some], label_format="", path=""
    )
    expected, unused = labels_one_by_one(rows)
    found = {}
    for row in labels.table.to_pylist():
        exam = row["exam"] or ""
        numbers = (exam, str(row["head"] or 0), str(row["frame"]))
        found[(exam, row["file"]) if row["file"] else numbers] = (row["label"], row["polyp"])
    assert found == expected
    assert len(labels.table) == len(expected)
    assert sum(problem.rows for problem in labels.problems if not problem.used) == unused
    assert all(problem.examples for problem in labels.problems)


def test_many_rows_are_read_as_one_by_one() -> None:
    count = 100_000
    random = np.random.default_rng(5)
    words = random.choice(["polyp", "normal", "Other", "Polip"], count, p=[0.1, 0.8, 0.05, 0.05])
    frame = random.integers(0, 45_000, count)
    exam = [f"exam-{number}" for number in (np.arange(count) % 7).tolist()]
    columns = {"exam": pa.array(exam), "frame": pa.array(frame), "label": pa.array(words.tolist())}
    labels = settle(
        columns | {"reader": pa.array(["anna"] * count)},
        name_rows=lambda rows: [str(row) for row in rows],
        label_format="",
        path="",
    )
    said: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for name, number, word in zip(exam, frame.tolist(), words.tolist(), strict=True):
        if word != "Polip":
            said[name, number].append(word.lower())
    expected = {key: some[0] for key, some in said.items() if len(set(some)) == 1}
    cells = (labels.table[name].to_pylist() for name in ("exam", "frame", "label"))
    assert {(name, number): word for name, number, word in zip(*cells, strict=True)} == expected
    assert [problem.rows for problem in labels.problems] == [
        int((words == "Polip").sum()),
        sum(len(some) for some in said.values() if len(set(some)) > 1),
        sum(len(some) - 1 for some in said.values() if len(set(some)) == 1),
    ]
