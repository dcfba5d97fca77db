"""Delimited files, Parquet, and capsieve's own labels."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capsieve.errors import FileError, ParameterError
from capsieve.labels import LABELS, read_labels, tables, write_labels
from capsieve.labels.tables import read_table
from capsieve.store.schema import SCHEMA
from sample_frames import CAPSULE
from support.label_sets import VIDEO, write_text

FRAMES = "file,source,video,frame,findings,label,run"


def test_labels_of_a_phantom_study_are_read(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "labels.csv",
        "exam,head,frame,file,label,polyp,patient",
        "patient-1,0,0,,normal,,1",
        "patient-1,0,1,,polyp,patient-1/1,1",
    )
    labels = read_labels(path)
    assert labels.table.schema.equals(LABELS)
    assert {name: value for name, value in labels.table.to_pylist()[1].items() if value} == {
        "exam": "patient-1",
        "frame": 1,
        "label": "polyp",
        "polyp": "patient-1/1",
        "patient": "1",
    }
    assert (labels.label_format, labels.polyp_word) == ("capsieve labels", "polyp")
    assert labels.problems == labels.warnings == ()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_delimiters_byte_order_marks_and_line_ends_make_no_difference(
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


def test_a_table_of_frames_with_findings_and_runs_is_read(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "frames.csv",
        FRAMES,
        f"kvasir-capsule/{VIDEO}_887.jpg,kvasir-capsule,{VIDEO},887,ulcer,other,",
        "see-ai/image00018.jpg,see-ai,,18,erosion;polyp,polyp,run02160",
        "other/x.jpg,elsewhere,,1,normal,normal,",
    )
    labels = read_labels(path)
    columns = ["exam", "frame", "label", "polyp", "source", "finding"]
    assert [tuple(row.values()) for row in labels.table.select(columns).to_pylist()] == [
        (VIDEO, 887, "other", None, "kvasir-capsule", "ulcer"),
        (None, 18, "polyp", "run02160", "see-ai", "erosion;polyp"),
        (None, 1, "normal", None, "elsewhere", "normal"),
    ]
    assert labels.polyp_word == "run"
    assert any("2 rows name no patient" in text for text in labels.warnings)


@pytest.mark.skipif(not CAPSULE.is_dir(), reason="the real frames are not here")
def test_the_real_frames_are_counted() -> None:
    labels = read_labels(CAPSULE / "frames.csv")
    table = labels.table
    assert labels.problems == ()
    counts = table.group_by(["source", "label"]).aggregate([([], "count_all")]).to_pylist()
    assert {(row["source"], row["label"]): row["count_all"] for row in counts} == {
        ("see-ai", "polyp"): 699,
        ("see-ai", "normal"): 4035,
        ("see-ai", "other"): 4400,
        ("kvasir-capsule", "normal"): 6117,
        ("kvasir-capsule", "other"): 859,
    }
    assert len(set(table["polyp"].to_pylist()) - {None}) == 148
    assert len(set(table["exam"].to_pylist()) - {None}) == 20


def test_files_with_filename_and_label_keep_patients_polyps_and_other_findings(
    tmp_path: Path,
) -> None:
    path = write_text(
        tmp_path / "labels.csv",
        "filename,label,patient,polyp",
        "1.jpg,polyp,7,1",
        "2.jpg,other,7,",
        "3.jpg,normal,8,",
    )
    labels = read_labels(path)
    assert labels.label_format == "capsieve labels"
    columns = ["file", "label", "patient", "polyp"]
    assert [tuple(row.values()) for row in labels.table.select(columns).to_pylist()] == [
        ("1.jpg", "polyp", "7", "7/1"),
        ("2.jpg", "other", "7", None),
        ("3.jpg", "normal", "8", None),
    ]
    assert labels.problems == labels.warnings == ()


@pytest.mark.parametrize(
    "lines",
    [
        ("filename,label", "a.jpg,polyp", "b.jpg,other"),  # names of another kind
        ("filename,label", f"{VIDEO}_1.jpg,polyp", f"{VIDEO}_2.jpg,other"),
    ],
)
def test_two_columns_alone_do_not_make_a_split_file_of_kvasir(
    tmp_path: Path, lines: tuple[str, ...]
) -> None:
    labels = read_labels(write_text(tmp_path / "l.csv", *lines))
    assert labels.table["label"].to_pylist() == ["polyp", "other"]


def test_other_columns_are_named_and_not_used(tmp_path: Path) -> None:
    path = write_text(tmp_path / "l.csv", "file,label,patient,camera", "a.jpg,polyp,1,Ann")
    (warning,) = read_labels(path).warnings
    assert "'camera'" in warning
    assert "patient" not in warning


def test_lines_are_named_as_an_editor_counts_them(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "l.csv",
        "",
        "exam,frame,label",
        "a,0,Polip",
        "",
        "a,1",
        'a,2,"two',
        'lines"',
        "a,3,Polip",
        ",,",
        "a,4,Polip",
    )
    labels = read_labels(path)
    (ragged,) = [one for one in labels.problems if "cells" in one.what]
    assert ragged.examples == ("line 5: 2 cells instead of 3",)
    (unknown,) = [one for one in labels.problems if "label is not" in one.what]
    assert [text.partition(":")[0] for text in unknown.examples] == [
        *("line 3", "line 6", "line 8", "line 10")
    ]
    assert unknown.rows == 4


def test_short_records_can_be_completed(tmp_path: Path) -> None:
    raw = read_table(write_text(tmp_path / "t.csv", "a,b,c", "1,2,3", '4,"5, 6"', "7", "8,9,10,11"))
    padded = raw.padded()
    assert padded.table.to_pylist() == [
        {"a": "1", "b": "2", "c": "3"},
        {"a": "4", "b": "5, 6", "c": ""},
        {"a": "7", "b": "", "c": ""},
    ]
    assert padded.name_rows([0, 1, 2]) == ["line 2", "line 3", "line 4"]
    assert [problem.rows for problem in padded.problems] == [1]


def test_a_quotation_mark_that_is_not_closed_is_named_with_all_its_lines(tmp_path: Path) -> None:
    lines = [f"a,{frame},normal,1" for frame in range(9)]
    lines[3] = 'a,3,"normal,1'
    path = write_text(tmp_path / "labels.csv", "exam,frame,label,patient", *lines)
    (problem,) = [one for one in read_labels(path).problems if "cells" in one.what]
    assert problem.rows == 1
    assert problem.examples[0].startswith("lines 5 to 10 ")


def test_a_quotation_mark_that_swallows_a_large_file_is_reported(tmp_path: Path) -> None:
    row = "a,1,normal," + "x" * 1000
    path = write_text(
        tmp_path / "l.csv", "exam,frame,label,block", 'a,0,"normal,1', *[row] * 20_000
    )
    with pytest.raises(FileError, match="quotation mark"):
        read_labels(path)


def test_short_records_with_long_or_open_cells_are_read_or_named(tmp_path: Path) -> None:
    long = "x" * 200_000
    raw = read_table(write_text(tmp_path / "t.csv", "a,b,c", f"{long},2", '3,"4', "5"))
    padded = raw.padded()
    assert padded.table["a"].to_pylist() == [long]
    assert [problem.rows for problem in padded.problems] == [1]


def test_names_that_look_like_missing_values_are_names(tmp_path: Path) -> None:
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


def test_zeros_behind_the_part_that_is_read_first_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_LONGEST_HEADER", 20)
    zeroed = b"file,label\na.jpg,normal\nb.jpg,polyp\nc.jpg,po" + bytes(30)
    (tmp_path / "l.csv").write_bytes(zeroed)
    with pytest.raises(FileError, match="not UTF-8"):
        read_labels(tmp_path / "l.csv")


def test_parquet_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    table = pa.table({"file": ["a"], "label": ["polyp"]})
    newer = table.replace_schema_metadata({"capsieve": '{"schema": 999, "table": "labels"}'})
    pq.write_table(newer, tmp_path / "l.parquet")
    with pytest.raises(FileError, match="newer version"):
        read_labels(tmp_path / "l.parquet")


def test_a_flipped_bit_in_parquet_of_capsieve_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "l.parquet"
    names = [f"frame-{number}" for number in range(500)]
    write_labels(pa.table({"file": names, "label": ["normal"] * 500}), path)
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileError, match="damaged"):
        read_labels(path)


def test_parquet_of_too_many_rows_is_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_MOST_ROWS", 9)
    pq.write_table(pa.table({"file": ["a"] * 10, "label": ["polyp"] * 10}), tmp_path / "l.parquet")
    with pytest.raises(FileError, match="10 rows"):
        read_labels(tmp_path / "l.parquet")


def test_parquet_columns_that_are_not_text_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"file": [["a"]], "label": ["polyp"]}), tmp_path / "l.parquet")
    with pytest.raises(FileError, match="column 'file' contains list"):
        read_labels(tmp_path / "l.parquet")


@pytest.mark.parametrize("content", [b"file,label\n", b"file,label", b"file,label\n,\n\n"])
def test_a_header_alone_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "l.csv").write_bytes(content)
    with pytest.raises(FileError, match="no rows"):
        read_labels(tmp_path / "l.csv")


NAMES = st.none() | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).map(
    str.strip
).filter(bool)
FORMULAS = st.sampled_from(["=1+1", "'=x", "''@a", "-3", "+", "@SUM(A1)", "'quoted'", "'"])
ROWS = st.lists(
    st.tuples(st.sampled_from(["polyp", "normal", "other"]), NAMES | FORMULAS, NAMES | FORMULAS),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@given(rows=ROWS)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_is_written_is_read_again(
    tmp_path: Path, ending: str, rows: list[tuple[str, str | None, str | None]]
) -> None:
    labels, blocks, findings = zip(*rows, strict=True)
    content = {
        "exam": ["=a, \"b\"\n;c"] * len(rows),
        "frame": range(len(rows)),
        "label": labels,
        "block": blocks,
        "finding": findings,
    }  # fmt: skip
    schema = pa.schema([LABELS.field(name) for name in content])
    path = tmp_path / f"labels.{ending}"
    write_labels(pa.table({name: list(some) for name, some in content.items()}, schema), path)
    again = read_labels(path)
    assert again.problems == again.warnings == ()
    assert again.table.select(schema.names).to_pydict() == {
        name: list(some) for name, some in content.items()
    }


def test_no_cell_of_a_written_file_begins_like_a_formula(tmp_path: Path) -> None:
    names = ["=1+1", "+1", "-1", "@a"]
    table = pa.table({"exam": names, "frame": range(4), "label": ["polyp"] * 4})
    write_labels(table, tmp_path / "labels.csv")
    lines = (tmp_path / "labels.csv").read_text().splitlines()[1:]
    assert [line.partition(",")[0] for line in lines] == [f"'{name}" for name in names]


def test_parquet_carries_the_version(tmp_path: Path) -> None:
    write_labels(pa.table({"file": ["a.jpg"], "label": ["polyp"]}), tmp_path / "labels.parquet")
    metadata = pq.read_schema(tmp_path / "labels.parquet").metadata
    assert metadata is not None
    assert json.loads(metadata[b"capsieve"]) == {"schema": SCHEMA, "table": "labels"}


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"label": ["polyp"], "reader": ["Ann"]}),
        pa.table({"label": ["polyp"], "frame": ["three"]}),
    ],
)
def test_a_table_that_is_not_labels_is_refused(tmp_path: Path, table: pa.Table) -> None:
    with pytest.raises(ParameterError, match="table"):
        write_labels(table, tmp_path / "labels.csv")
    assert list(tmp_path.iterdir()) == []


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"\.csv or \.parquet"):
        write_labels(pa.table({"label": ["polyp"]}), tmp_path / "labels.json")


WIDE = ",".join(f"column-{number}" for number in range(9000))


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (f"exam,frame,label,{WIDE}", "a,1,polyp" + "," * 9000),
        (f"{WIDE},exam,frame,label", "," * 9000 + "a,1,polyp"),
        (f"exam,frame,label,{'x' * 200_000}", "a,1,polyp,"),
        ('exam,frame,label,"' + "x\n" * 40_000 + '"', "a,1,polyp,"),
        (f"{'ä' * 40_000},exam,frame,label", ",a,1,polyp"),
    ],
    ids=["many columns", "label at the end", "long name", "many lines", "two bytes"],
)
def test_a_long_header_is_read(tmp_path: Path, header: str, row: str) -> None:
    assert len(header) > 2**15
    assert len(read_labels(write_text(tmp_path / "l.csv", header, row)).table) == 1


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("exam,frame,label," + ",".join(map(str, range(200_000))), "200,003 columns"),
        ('exam,frame,"label\n' + "a,1,polyp\n" * 900_000, "header"),
        ("x" * 9_000_000, "8,000,000"),
    ],
)
def test_a_header_that_is_too_long_is_refused_for_its_length(
    tmp_path: Path, content: str, match: str
) -> None:
    with pytest.raises(FileError, match=match):
        read_labels(write_text(tmp_path / "l.csv", content))
