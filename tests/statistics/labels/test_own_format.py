"""capsieve's own labels."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsieve.errors import FileError
from capsieve.statistics.labels import LABELS, LabelSet, read_labels
from support.label_trees import write_text


def problem(labels: LabelSet, beginning: str) -> tuple[int, tuple[str, ...], bool]:
    found = [one for one in labels.problems if one.what.startswith(beginning)]
    assert len(found) == 1, labels.problems
    return found[0].rows, found[0].examples, found[0].used


def test_a_phantom_study_is_read(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "labels.csv",
        "exam,head,frame,file,label,polyp,patient",
        "patient-1,0,0,,normal,,1",
        "patient-1,0,1,,polyp,patient-1/1,1",
    )
    labels = read_labels(path)
    assert labels.table.schema.equals(LABELS)
    assert labels.table.to_pylist()[1] == {
        "exam": "patient-1",
        "head": 0,
        "frame": 1,
        "file": None,
        "label": "polyp",
        "polyp": "patient-1/1",
        "patient": "1",
        "block": None,
        "finding": None,
    }
    assert (labels.layout, labels.unit) == ("capsieve labels", "polyp")
    assert labels.problems == labels.warnings == ()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_delimiters_marks_and_line_ends_make_no_difference(
    tmp_path: Path, delimiter: str, encoding: str, newline: str
) -> None:
    rows = [["Exam", " frame", "label"], ["Müller", "3", "Polyp "], ["Müller", "4", "NORMAL"]]
    text = newline.join(delimiter.join(row) for row in rows)
    (tmp_path / "labels.txt").write_bytes(text.encode(encoding))
    table = read_labels(tmp_path / "labels.txt").table
    assert table["exam"].to_pylist() == ["Müller", "Müller"]
    assert table["frame"].to_pylist() == [3, 4]
    assert table["label"].to_pylist() == ["polyp", "normal"]


def test_parquet_and_csv_of_the_same_rows_agree(tmp_path: Path) -> None:
    columns = {
        "exam": pa.array(["a", "a", "b"]).dictionary_encode(),
        "frame": pa.array([1.0, float("nan"), 3.0]),  # as data frames store numbers with holes
        "file": pa.array([None, "x.jpg", None], pa.large_string()),
        "label": ["polyp", "other", "normal"],
        "patient": [7, 7, 8],
        "finding": ["", "bubbles", None],
    }
    pq.write_table(pa.table(columns), tmp_path / "labels.parquet")
    path = write_text(
        tmp_path / "labels.csv",
        "exam,frame,file,label,patient,finding",
        "a,1.0,,polyp,7,",
        "a,,x.jpg,other,7,bubbles",
        "b,3.0,,normal,8,",
    )
    assert read_labels(tmp_path / "labels.parquet").table.equals(read_labels(path).table)


def test_other_columns_are_named_and_not_used(tmp_path: Path) -> None:
    path = write_text(tmp_path / "l.csv", "file,label,camera,score", "a.jpg,polyp,Ann,3")
    (warning,) = read_labels(path).warnings
    assert "'camera', 'score'" in warning


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


def test_two_labels_for_one_frame_are_both_refused(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv",
        "exam,head,frame,label",
        "a,,1,polyp",
        "a,,2,normal",
        "a,0,1,normal",
        "b,,1,normal",
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


def test_a_row_that_stands_there_twice_counts_once(tmp_path: Path) -> None:
    row = "a,1,polyp,2"
    path = write_text(tmp_path / "l.csv", "exam,frame,label,polyp", row, "a,2,normal,", row, row)
    labels = read_labels(path)
    assert labels.table["frame"].to_pylist() == [1, 2]
    rows, examples, used = problem(labels, "the row stands there more than once")
    assert (rows, used) == (2, True)
    assert examples[0].startswith("line 4:")


def test_rows_of_one_frame_complete_each_other(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv",
        "exam,frame,label,polyp,finding",
        "a,1,polyp,,",
        "a,1,polyp,2,flat",
        "a,5,other,,bubbles",
        "a,5,other,,debris",
    )
    labels = read_labels(path)
    assert labels.table.select(["polyp", "finding"]).to_pylist() == [
        {"polyp": "a/2", "finding": "flat"},
        {"polyp": None, "finding": None},
    ]
    assert problem(labels, "the frame is labelled more than once; its rows")[2]
    assert problem(labels, "the frame is labelled more than once; details")[0] == 1


def test_two_polyps_on_one_frame_are_said_aloud(tmp_path: Path) -> None:
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
    assert "not counted: 'two'" in labels.warnings[0]


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


def test_an_exam_keeps_to_its_patient_where_rows_leave_it_open(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv", "exam,frame,label,patient", "a,1,normal,", "a,2,normal,7", "b,1,other,"
    )
    labels = read_labels(path)
    assert labels.table["patient"].to_pylist() == ["7", "7", None]
    assert problem(labels, "the row names no patient")[::2] == (1, True)


@pytest.mark.parametrize("number", ["0x10", "1e3", "2.5", "+3", "१२", "9" * 30, "--1"])
def test_what_is_no_plain_number_is_no_frame(tmp_path: Path, number: str) -> None:
    path = write_text(tmp_path / "l.csv", "exam,frame,label", f"a,{number},polyp", "a,1,polyp")
    labels = read_labels(path)
    assert labels.table["frame"].to_pylist() == [1]
    assert problem(labels, "the frame is not a whole number")[1] == (f"line 2: frame '{number}'",)


def test_names_that_look_like_nothing_are_names(tmp_path: Path) -> None:
    path = write_text(tmp_path / "l.csv", "exam,frame,label,patient", "NA,1,polyp,null")
    (row,) = read_labels(path).table.to_pylist()
    assert (row["exam"], row["patient"]) == ("NA", "null")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = write_text(tmp_path / "l.csv", "file,label,Label", "a.jpg,polyp,normal")
    with pytest.raises(FileError, match="more than one column 'label'"):
        read_labels(path)


def test_text_that_is_not_utf_8_further_down_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_bytes(b"file,label\n" + b"a.jpg,normal\n" * 9000 + b"\xff,polyp\n")
    with pytest.raises(FileError, match="not UTF-8"):
        read_labels(tmp_path / "l.csv")


def test_parquet_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    table = pa.table({"file": ["a"], "label": ["polyp"]})
    newer = table.replace_schema_metadata({"capsieve": '{"schema": 999, "table": "labels"}'})
    pq.write_table(newer, tmp_path / "l.parquet")
    with pytest.raises(FileError, match="newer version"):
        read_labels(tmp_path / "l.parquet")


def test_parquet_columns_that_are_no_texts_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"file": [["a"]], "label": ["polyp"]}), tmp_path / "l.parquet")
    with pytest.raises(FileError, match="column 'file' holds list"):
        read_labels(tmp_path / "l.parquet")


def test_a_quotation_mark_that_is_not_closed_is_named_with_all_its_lines(tmp_path: Path) -> None:
    lines = [f"a,{frame},normal,1" for frame in range(9)]
    lines[3] = 'a,3,"normal,1'
    path = write_text(tmp_path / "labels.csv", "exam,frame,label,patient", *lines)
    rows, examples, _ = problem(read_labels(path), "the row has too few")
    assert rows == 1
    assert examples[0].startswith("lines 5 to 10 (is a quotation mark not closed?)")


def test_names_that_swallow_the_file_are_cut_in_the_message(tmp_path: Path) -> None:
    lines = [f"a,{frame},normal,1" for frame in range(99)]
    lines[3] = 'a,3,normal,"1'
    path = write_text(tmp_path / "labels.csv", "exam,frame,label,patient", *lines)
    with pytest.raises(FileError, match="line 5") as error:
        read_labels(path)
    assert len(str(error.value)) < 400


def test_frames_of_two_patients_without_an_exam_are_named(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "labels.csv", "frame,label,patient", "7,normal,1", "8,normal,1", "7,normal,2"
    )
    with pytest.raises(FileError, match="frame 7 of an exam without a name has the patients"):
        read_labels(path)


def test_who_labelled_a_frame_is_read_without_a_warning(tmp_path: Path) -> None:
    rows = "exam,frame,label,reader\na,1,polyp,anna\na,2,normal,ben\na,3,normal,\n"
    labels = read_labels(write_text(tmp_path / "labels.csv", rows))
    assert labels.warnings == ()
    assert labels.problems == ()
    assert len(labels.table) == 3


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_readers_who_differ_on_a_frame_stop(tmp_path: Path, ending: str) -> None:
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
    words = f"on a frame: of exam a, frame 2 anna says polyp ({where[0]}) and ben says normal"
    with pytest.raises(FileError) as caught:
        read_labels(path)
    assert words in str(caught.value)
    assert "consensus" in str(caught.value)


def test_a_reader_who_agrees_with_both_sides_hides_no_difference(tmp_path: Path) -> None:
    rows = "exam,frame,label,reader\na,1,polyp,anna\na,1,polyp,ben\na,1,normal,anna\n"
    with pytest.raises(FileError, match="readers differ on a frame"):
        read_labels(write_text(tmp_path / "labels.csv", rows))


def test_one_reader_who_says_two_things_loses_the_frame_alone(tmp_path: Path) -> None:
    rows = "exam,frame,label,reader\na,1,polyp,anna\na,1,normal,anna\na,2,normal,anna\n"
    labels = read_labels(write_text(tmp_path / "labels.csv", rows))
    assert problem(labels, "the frame has two different labels")[0] == 2
    assert labels.table["frame"].to_pylist() == [2]
