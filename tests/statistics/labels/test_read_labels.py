"""Recognising layouts, and the rules that hold for all of them."""

import csv
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.errors import FileError, ParameterError
from capsieve.statistics.labels import LAYOUTS, read_labels
from capsieve.statistics.labels.draft import Draft, numbered
from capsieve.statistics.labels.settle import settle
from sample_frames import CAPSULE
from support.label_trees import VIDEO, make_files, write_text

FRAMES = "file,source,video,frame,findings,label,run"


def test_frames_of_two_sources_are_read(tmp_path: Path) -> None:
    path = write_text(
        tmp_path / "frames.csv",
        FRAMES,
        f"kvasir-capsule/{VIDEO}_887.jpg,kvasir-capsule,{VIDEO},887,ulcer,other,",
        "see-ai/image00018.jpg,see-ai,,18,erosion;polyp,polyp,run02160",
        "other/x.jpg,elsewhere,,1,normal,normal,",
    )
    labels = read_labels(path)
    assert [tuple(row.values()) for row in labels.table.to_pylist()] == [
        (None, None, 887, f"kvasir-capsule/{VIDEO}_887.jpg", "other", None, VIDEO, None, "ulcer"),
        (None, None, 18, "see-ai/image00018.jpg", "polyp", "run02160", None, None,
         "erosion;polyp"),
    ]  # fmt: skip
    assert labels.unit == "run"
    assert [len(labels.warnings), labels.problems[0].examples] == [
        3,
        ("line 4: source 'elsewhere'",),
    ]


@pytest.mark.skipif(not CAPSULE.is_dir(), reason="the real frames are not here")
def test_the_real_frames_are_counted() -> None:
    labels = read_labels(CAPSULE / "frames.csv")
    table = labels.table
    assert labels.problems == ()
    sources = [name.partition("/")[0] for name in table["file"].to_pylist()]
    assert Counter(zip(sources, table["label"].to_pylist(), strict=True)) == {
        ("see-ai", "polyp"): 699,
        ("see-ai", "normal"): 4035,
        ("see-ai", "other"): 4400,
        ("kvasir-capsule", "normal"): 6117,
        ("kvasir-capsule", "other"): 859,
    }
    assert len(set(table["polyp"].to_pylist()) - {None}) == 148
    assert len(set(table["patient"].to_pylist()) - {None}) == 20


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("blank.csv", b"\n\n\n"),
        ("headless.csv", b"patient-1,0,0,,normal,,1\n"),
        ("words.txt", b"nothing that could be a table"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("picture.csv", b"\xff\xd8\xff\xe0\0\x10JFIF"),
        ("wide.csv", "file,label\na,polyp\n".encode("utf-16")),
        ("table.xlsx", b"PK\3\4 and no more"),
        ("cut.parquet", b"PAR1 and no more"),
        ("other.csv", b"time,value\n1,2\n"),
    ],
)
def test_what_is_no_labels_gets_a_list_of_layouts(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError) as caught:
        read_labels(tmp_path / name)
    message = str(caught.value)
    assert name in message
    assert all(looks in message for looks in LAYOUTS.values())


def test_a_folder_of_nothing_known_gets_a_list_of_layouts(tmp_path: Path) -> None:
    folder = make_files(tmp_path, "holiday/beach.jpg", "Polyp.jpg")
    with pytest.raises(FileError, match=r"folder of another kind.*Kvasir-Capsule"):
        read_labels(folder)


def test_a_folder_with_labels_in_it_is_told(tmp_path: Path) -> None:
    write_text(tmp_path / "labels.csv", "file,label", "a,polyp")
    with pytest.raises(FileError, match=r"give the file labels\.csv"):
        read_labels(tmp_path)


def test_a_header_alone_holds_no_labels(tmp_path: Path) -> None:
    for name, content in (("a.csv", b"file,label\n"), ("b.csv", b"file,label")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileError, match="holds no labels"):
            read_labels(tmp_path / name)


@pytest.mark.parametrize("first", ["filename,label", "file,label"])
def test_labels_of_which_none_can_be_used_are_counted(tmp_path: Path, first: str) -> None:
    labels = read_labels(write_text(tmp_path / "l.csv", first, "a.jpg,?", "b.jpg,?"))
    assert len(labels.table) == 0
    assert sum(problem.rows for problem in labels.problems if not problem.used) == 2


def test_an_absent_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_labels(tmp_path / "absent.csv")


def test_a_layout_can_be_forced(tmp_path: Path) -> None:
    path = write_text(tmp_path / "both.csv", "filename,file,label", f"{VIDEO}_1.jpg,x.jpg,Polyp")
    assert read_labels(path).layout == "Kvasir-Capsule"
    assert read_labels(path, layout="capsieve").table["file"].to_pylist() == ["x.jpg"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_forced_layout_that_does_not_fit_is_refused(tmp_path: Path, layout: str) -> None:
    path = write_text(tmp_path / "other.csv", "time,value", "1,2")
    with pytest.raises(FileError, match=r"other\.csv"):
        read_labels(path, layout=layout)


def test_an_unknown_layout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"choose from .*kvasir-folder"):
        read_labels(tmp_path, layout="coco")


def test_reading_labels_brings_no_heavy_library_along() -> None:
    code = (
        "import sys, capsieve.statistics.labels; "
        "print({'cv2', 'numba', 'matplotlib', 'av', 'PIL'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


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


def literal_labels(rows: list[dict[str, str]]) -> tuple[dict[tuple, tuple], int]:
    """Read the rules aloud, one row after another: the label and polyp of each frame."""
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
    labels = settle(Draft(columns, numbered("row")), layout="", path="")
    expected, unused = literal_labels(rows)
    found = {}
    for row in labels.table.to_pylist():
        exam = row["exam"] or ""
        numbers = (exam, str(row["head"] or 0), str(row["frame"]))
        found[(exam, row["file"]) if row["file"] else numbers] = (row["label"], row["polyp"])
    assert found == expected
    assert len(labels.table) == len(expected)
    assert sum(problem.rows for problem in labels.problems if not problem.used) == unused
    assert all(problem.examples for problem in labels.problems)


def test_many_rows_are_read_as_one_by_one(tmp_path: Path) -> None:
    count = 200_000
    random = np.random.default_rng(5)
    words = random.choice(["polyp", "normal", "Other", "Polip"], count, p=[0.1, 0.8, 0.05, 0.05])
    frame = random.integers(0, 90_000, count)
    path = tmp_path / "labels.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["exam", "frame", "label", "patient"])
        exam = (np.arange(count) % 7).tolist()
        names = [f"exam-{number}" for number in exam]
        writer.writerows(zip(names, frame.tolist(), words.tolist(), exam, strict=True))
    labels = read_labels(path)
    said: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for name, number, word in zip(names, frame.tolist(), words.tolist(), strict=True):
        if word != "Polip":
            said[name, number].append(word.lower())
    expected = {key: some[0] for key, some in said.items() if len(set(some)) == 1}
    columns = (labels.table[name].to_pylist() for name in ("exam", "frame", "label"))
    assert {(name, number): word for name, number, word in zip(*columns, strict=True)} == expected
    counts = {problem.what.partition(";")[0]: problem.rows for problem in labels.problems}
    assert counts == {
        "the label is not one of polyp, normal, other": int((words == "Polip").sum()),
        "the frame has two different labels": sum(
            len(some) for some in said.values() if len(set(some)) > 1
        ),
        "the row stands there more than once, word for word": sum(
            len(some) - 1 for some in said.values() if len(set(some)) == 1
        ),
    }


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\n \n", "it is empty"),
        ("exam,frame,label\nM\u00fcller,0,normal\n".encode("latin-1"), "save it as CSV in UTF-8"),
        (b"exam,frame,class\na,0,normal\n", "'class'.*give a CSV or Parquet table with a column"),
        (b"PAR1 and no more", "a damaged Parquet file"),
    ],
)
def test_a_table_that_cannot_be_read_says_what_is_wrong(
    tmp_path: Path, content: bytes, told: str
) -> None:
    (tmp_path / "labels").write_bytes(content)
    with pytest.raises(FileError, match=told):
        read_labels(tmp_path / "labels")


def test_a_parquet_table_without_labels_says_which_columns_it_has(tmp_path: Path) -> None:
    pq.write_table(pa.table({"exam": ["a"], "Truth": ["polyp"]}), tmp_path / "labels.parquet")
    with pytest.raises(FileError, match="'exam', 'truth'"):
        read_labels(tmp_path / "labels.parquet")
