import pyarrow.parquet as pq
import pytest

from capsieve.errors import FileError
from capsieve.statistics.splits import SPLITS, SPLITS_SCHEMA, read_splits, write_splits
from support.label_sets import split_set

ROWS = [
    {"exam": "a, b", "head": 0, "frame": 3, "group": "007", "kind": "patient", "part": "train"},
    {"file": 'x/"é".png', "group": "s #1", "kind": "block", "part": "test"},
]
for row in ROWS:
    row["schema"] = SPLITS_SCHEMA


@pytest.mark.parametrize("name", ["splits.csv", "splits.parquet", "splits"])
def test_a_split_comes_back_as_it_was_written(tmp_path, name):
    written = split_set(ROWS)
    write_splits(written, tmp_path / name)
    read = read_splits(tmp_path / name)
    assert read.table.equals(written.table)
    assert read.parts == ("train", "test")
    assert read.problems == ()


def test_the_first_line_names_the_columns(tmp_path):
    write_splits(split_set(ROWS), tmp_path / "splits.csv")
    first, *rest = (tmp_path / "splits.csv").read_text(encoding="utf-8").splitlines()
    assert first == "exam,head,frame,file,group,kind,part,schema"
    assert rest[0] == '"a, b",0,3,,007,patient,train,1'


def test_every_row_carries_the_schema(tmp_path):
    write_splits(split_set(ROWS), tmp_path / "splits.parquet")
    assert pq.read_table(tmp_path / "splits.parquet")["schema"].to_pylist() == [1, 1]


@pytest.mark.parametrize(
    "text", ["file,part\na.png,train\nb.png,test\n", "Part;File\ntrain;a.png\ntest;b.png\n"]
)
def test_a_split_by_hand_needs_little(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    table = read_splits(path).table
    assert table.schema == SPLITS
    assert table["file"].to_pylist() == ["a.png", "b.png"]
    assert table["part"].to_pylist() == ["train", "test"]


def test_frames_that_stand_there_twice_are_kept_and_named(tmp_path):
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
        ("file,part\na.png,train\nb.png,\n", "row 2 .* has no part"),
        ("exam,frame,part\na,one,train\n", "column frame .* no whole number"),
        ("file,part,kind\na.png,train,frame\n", "kind 'frame'"),
        ("file,part,schema\na.png,train,9\n", "has the schema 9"),
        ("file,part\n", "has no row"),
        ("file,part\na.png,train,more\n", "cannot read the split"),
        ("", "is no split"),
        ("\0\1", "is no split"),
    ],
)
def test_what_is_no_split_is_refused(tmp_path, text, words):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=words):
        read_splits(path)


def test_an_absent_or_broken_file_is_refused(tmp_path):
    with pytest.raises(FileError, match="there is no file"):
        read_splits(tmp_path / "absent.csv")
    with pytest.raises(FileError, match="cannot read the split"):
        read_splits(tmp_path)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileError, match="cannot read the split"):
        read_splits(tmp_path / "broken.parquet")


def test_train_and_test_are_known_however_they_are_written(tmp_path):
    (tmp_path / "splits.csv").write_text("file,part\na.png,TRAIN\nb.png, Test\nc.png,Fold A\n")
    assert read_splits(tmp_path / "splits.csv").parts == ("train", "test", "Fold A")
