"""Recognising label formats."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsieve.errors import FileError, ParameterError
from capsieve.labels import LABEL_FORMATS, read_labels
from support.label_sets import VIDEO, make_files, write_text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("blank.csv", b"\n \n"),
        ("headless.csv", b"patient-1,0,0,,normal,,1\n"),
        ("words.txt", b"nothing that could be a table\nat all"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("wide.csv", "file,label\na,polyp\n".encode("utf-16")),
        ("latin.csv", "exam,frame,label\nM\u00fcller,0,normal\n".encode("latin-1")),
        ("table.xlsx", b"PK\3\4 and no more"),
        ("cut.parquet", b"PAR1 and no more"),
        ("other.csv", b"exam,frame,class\na,0,normal\n"),
    ],
)
def test_an_unreadable_file_gets_a_short_message(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=name) as caught:
        read_labels(tmp_path / name)
    assert len(str(caught.value).split()) <= 40


def test_a_table_without_labels_is_described_by_its_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"exam": ["a"], "Truth": ["polyp"]}), tmp_path / "labels.parquet")
    with pytest.raises(FileError, match="'exam', 'truth'"):
        read_labels(tmp_path / "labels.parquet")


def test_a_folder_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="not Kvasir-Capsule"):
        read_labels(make_files(tmp_path, "holiday/beach.jpg", "Polyp.jpg"))


def test_a_label_file_inside_a_folder_is_suggested(tmp_path: Path) -> None:
    write_text(tmp_path / "labels.csv", "file,label", "a,polyp")
    with pytest.raises(FileError, match=r"give the file labels\.csv"):
        read_labels(tmp_path)


@pytest.mark.parametrize("first", ["filename,label", "file,label"])
def test_labels_of_which_none_can_be_used_are_counted(tmp_path: Path, first: str) -> None:
    labels = read_labels(write_text(tmp_path / "l.csv", first, "a.jpg,?", "b.jpg,?"))
    assert len(labels.table) == 0
    assert sum(problem.rows for problem in labels.problems if not problem.used) == 2


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_labels(tmp_path / "absent.csv")


def test_a_format_can_be_given(tmp_path: Path) -> None:
    path = write_text(tmp_path / "split.csv", "filename,label", f"{VIDEO}_1.jpg,Polyp")
    assert read_labels(path).label_format == "Kvasir-Capsule"
    own = read_labels(path, label_format="capsieve")
    assert own.label_format == "capsieve labels"
    assert own.table["patient"].to_pylist() == [None]


@pytest.mark.parametrize("label_format", [each.name for each in LABEL_FORMATS])
def test_a_given_format_that_does_not_fit_is_refused(tmp_path: Path, label_format: str) -> None:
    path = write_text(tmp_path / "other.csv", "time,value", "1,2")
    with pytest.raises(FileError, match=r"other\.csv"):
        read_labels(path, label_format=label_format)
    with pytest.raises(FileError):
        read_labels(tmp_path, label_format=label_format)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="label_format"):
        read_labels(tmp_path, label_format="coco")


def test_importing_labels_imports_no_heavy_library() -> None:
    code = (
        "import sys, capsieve.labels; "
        "print({'numba', 'matplotlib', 'av', 'PIL'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
