"""Scores of screened exams and of tables."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsieve.errors import FileError
from capsieve.evaluation.scores import read_scores
from support.results import write_results


def column(scored, name):
    return getattr(scored.frames, name).tolist()


# Results of capsieve screen.


def test_exams_are_joined_in_order(tmp_path):
    write_results(tmp_path / "out" / "exam-10", score=np.array([1.0, 2.0]))
    write_results(tmp_path / "out" / "exam-9", score=np.array([3.0]))
    scored = read_scores(tmp_path / "out")
    assert scored.frames.exam.names == ("exam-9", "exam-10")
    assert scored.frames.exam.code.tolist() == [0, 1, 1]
    assert column(scored, "score") == [3.0, 1.0, 2.0]
    assert [folder.name for folder in scored.folders] == ["exam-9", "exam-10"]
    assert scored.rules[0].kind == "threshold"


def test_one_exam_may_be_read_by_itself(tmp_path):
    write_results(tmp_path / "out" / "a", score=np.ones(2))
    write_results(tmp_path / "out" / "b", score=np.ones(3))
    assert len(read_scores(tmp_path / "out" / "b").path) == 3


def test_frames_that_a_rule_of_the_paper_rejected_have_the_lowest_score(tmp_path):
    reasons = ["polyp", "texture-low", "texture-high", "no-feature", "radius-low", None]
    score = [40.0, 0.0, 0.0, 0.0, 12.0, None]
    write_results(tmp_path / "a", 6, score=score, reason=reasons)
    expected = [40.0, -np.inf, -np.inf, -np.inf, 12.0, np.nan]
    np.testing.assert_array_equal(read_scores(tmp_path / "a").frames.score, expected)


def test_a_score_of_zero_of_another_detector_is_a_score(tmp_path):
    detector = {"name": "another"}
    write_results(
        tmp_path / "a", score=np.zeros(2), reason="score-low", record={"detector": detector}
    )
    assert column(read_scores(tmp_path / "a"), "score") == [0.0, 0.0]


def test_near_duplicates_refer_to_rows(tmp_path):
    write_results(tmp_path / "out" / "a", score=np.ones(2))
    write_results(
        tmp_path / "out" / "b",
        head=[0, 0, 1, 1, 1],
        frame=[0, 1, 0, 1, 2],
        score=np.ones(5),
        duplicate_of=[None, 0, None, 0, 0],
    )
    assert column(read_scores(tmp_path / "out"), "duplicate_of") == [-1, -1, -1, 2, -1, 4, 4]


def test_paths_of_images_begin_with_the_folder_of_the_source(tmp_path):
    write_results(tmp_path / "out" / "a", file=["1.png", "x/2.png"])
    record = read_scores(tmp_path / "out")
    assert record.path.to_pylist() == ["a/1.png", "a/x/2.png"]  # a video has no folder
    assert column(record, "file") == ["1.png", "x/2.png"]


def test_exams_of_different_scoring_versions_have_a_warning(tmp_path):
    for name, version in (("a", 1), ("b", 1), ("c", 2)):
        detector = {"name": "another", "scoring": version}
        write_results(tmp_path / name, score=np.ones(2), record={"detector": detector})
    (warning,) = read_scores(tmp_path).warnings
    assert "version 1 has a, b" in warning
    assert "version 2 has c" in warning
    assert read_scores(tmp_path / "c").warnings == ()


def test_exams_of_different_detectors_or_parameters_are_refused(tmp_path):
    for exam, threshold in (("a", 37), ("b", 38)):
        parameters = {"radius_threshold": threshold}
        write_results(tmp_path / exam, score=np.ones(2), record={"parameters": parameters})
    with pytest.raises(FileError, match=r"a and b .* different parameters"):
        read_scores(tmp_path)


def test_incomplete_exams_are_named(tmp_path):
    write_results(tmp_path / "a", score=np.ones(2), record={"complete": False})
    assert any(": a." in warning for warning in read_scores(tmp_path).warnings)


def test_an_exam_without_its_record_is_named(tmp_path):
    for exam in ("a", "b"):
        write_results(tmp_path / exam, score=np.ones(2))
    (tmp_path / "a" / "exam.json").unlink()
    assert any(": a." in warning for warning in read_scores(tmp_path).warnings)


@pytest.mark.parametrize("table", ["frames", "features"])
def test_a_table_of_another_screening_is_refused(tmp_path, table):
    folder = write_results(tmp_path / "out" / "a", score=np.ones(2))
    features = [{"head": 0, "frame": 0, "number": 0}]
    other = write_results(tmp_path / "other" / "a", score=np.zeros(2), features=features)
    (other / f"{table}.parquet").replace(folder / f"{table}.parquet")
    with pytest.raises(FileError, match=rf"{table}\.parquet is damaged"):
        read_scores(tmp_path / "out")


def test_perceptual_hashes_of_many_row_groups_are_read_in_order(tmp_path):
    numbers = np.arange(5000)
    content = [None if n % 7 == 0 else int(n).to_bytes(32, "little") for n in numbers]
    write_results(tmp_path / "a", phash=content, field_phash=content[::-1])
    write_results(tmp_path / "b", phash=[b"\1" * 32, None], field_phash=[b"\2" * 32, None])
    hashes: Any = read_scores(tmp_path).hashes
    for kind, order in enumerate((1, -1)):
        values = hashes.phash[:5000, kind, :2].astype(int) @ [1, 256]
        expected = np.where(numbers % 7 == 0, 0, numbers)[::order]
        np.testing.assert_array_equal(values, expected)
    assert hashes.featureless[-2:].tolist() == [False, True]
    assert (hashes.phash[-2] == [[1], [2]]).all()


# Tables.


def write_scores(path, text):
    path.write_text(text)
    return path


def test_a_table_is_sorted_by_exam_head_and_frame(tmp_path):
    text = "exam,head,frame,score\nb,0,1,5\nb,0,0,-3\na,1,0,2\na,0,7,\n"
    scored = read_scores(write_scores(tmp_path / "scores.csv", text))
    assert scored.frames.exam.names == ("b", "a")
    assert column(scored, "frame") == [0, 1, 7, 0]
    assert column(scored, "head") == [0, 0, 0, 1]
    np.testing.assert_array_equal(scored.frames.score, [-3, 5, np.nan, 2])
    assert scored.folders == ()
    assert scored.detector == {}


def test_a_score_of_zero_in_a_table_is_a_score(tmp_path):
    scored = read_scores(write_scores(tmp_path / "scores.csv", "exam,frame,score\na,0,0\na,1,-1\n"))
    assert column(scored, "score") == [0.0, -1.0]


def test_files_name_frames_without_numbers(tmp_path):
    text = "file,score\nx/b.png,1\nx/a.png,2\ny\\a.png,3\nc.png,4\n"
    scored = read_scores(write_scores(tmp_path / "scores.csv", text))
    assert scored.frames.exam.names == ("x", "y", ".")
    assert column(scored, "frame") == [0, 1, 0, 0]
    assert scored.path.to_pylist() == ["x/b.png", "x/a.png", "y/a.png", "c.png"]
    assert column(scored, "score") == [1, 2, 3, 4]


def test_files_with_an_exam_have_its_name_in_their_path(tmp_path):
    text = "exam,file,frame,score\ne,b.png,4,1\ne,a.png,3,2\n"
    scored = read_scores(write_scores(tmp_path / "scores.csv", text))
    assert scored.path.to_pylist() == ["e/a.png", "e/b.png"]
    assert column(scored, "frame") == [3, 4]


def test_optional_columns_are_read(tmp_path):
    text = "exam,frame,score,time_s,source,row,col\na,0,1,0.5,KID,10,12.5\na,1,1,,,,\n"
    scored = read_scores(write_scores(tmp_path / "scores.csv", text))
    np.testing.assert_array_equal(scored.frames.time, [0.5, np.nan])
    np.testing.assert_array_equal(scored.frames.row, [10, np.nan])
    np.testing.assert_array_equal(scored.frames.col, [12.5, np.nan])
    assert scored.source is not None
    assert scored.source.to_pylist() == ["KID", None]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("exam,frame,value\na,0,1\n", "score"),
        ("frame,score\n0,1\n", "exam"),
        ("exam,frame,score\na,0,high\n", "line 2"),
        ("exam,frame,score\na,0,1\na,1,inf\n", "line 3"),
        ("exam,frame,score\na,0,1\na,1,nan\n", "line 3"),
        ("exam;frame;score\na;0;0,5\n", "'0,5'.*decimal point"),
        ("exam,frame,score\na,-1,1\n", "frame"),
        ("exam,frame,score\na,0.5,1\n", "frame"),
        ("exam,frame,score\na,,1\n", "line 2"),
        ("exam,frame,score\n,0,1\n", "exam"),
        ("exam,frame,score\na,0,1\na,0,2\n", "line 3"),
        ("file,score\na/1.png,1\na/1.png,1\n", "line 3"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(tmp_path, text, named):
    with pytest.raises(FileError, match=named) as caught:
        read_scores(write_scores(tmp_path / "scores.csv", text))
    assert "scores.csv" in str(caught.value)


@pytest.mark.parametrize("name", ["exam", "frame", "score", "head", "time_s", "source", "row"])
def test_a_column_of_lists_is_refused_with_path_name_and_type(tmp_path, name):
    columns = {"exam": ["a", "a"], "frame": [0, 1], "score": [1, 2], name: [[1], [2]]}
    pq.write_table(pa.table(columns), tmp_path / "scores.parquet")
    with pytest.raises(FileError, match=rf"scores.parquet: .*'{name}'.*list<.*int64>"):
        read_scores(tmp_path / "scores.parquet")


def test_columns_have_the_other_names_that_labels_know(tmp_path):
    text = "video,filename,frame,score\ne,a.png,4,1\n"
    scored = read_scores(write_scores(tmp_path / "scores.csv", text))
    assert scored.frames.exam.names == ("e",)
    assert scored.path.to_pylist() == ["e/a.png"]


def test_numbers_from_1_are_shifted(tmp_path):
    path = write_scores(tmp_path / "scores.csv", "exam,frame,score\na,1,5\na,2,6\n")
    assert read_scores(path, first_frame=1).frames.frame.tolist() == [0, 1]
    path.write_text("exam,frame,score\na,1,5\na,0,6\n")
    with pytest.raises(FileError, match=r"line 3: .* from 1"):
        read_scores(path, first_frame=1)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(FileError, match="nowhere"):
        read_scores(tmp_path / "nowhere")


VALUES = {"exam": ["a", "a"], "frame": [1, 0], "score": [0.5, float("nan")]}


ARRAYS = {"exam": np.array([4, 4]), "frame": np.array([1.0, 0.0]), "score": VALUES["score"]}


@pytest.mark.parametrize("values", [VALUES, ARRAYS, pa.table(VALUES)])
def test_values_in_memory_are_read_as_a_table_is(values):
    scored = read_scores(values)
    assert scored.frames.exam.names[0] in ("a", "4")
    assert column(scored, "frame") == [0, 1]
    np.testing.assert_array_equal(scored.frames.score, [np.nan, 0.5])


def test_data_frames_are_read():
    class DataFrame:
        """Has what pandas, polars and others offer."""

        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(VALUES).__arrow_c_stream__(requested_schema)

    assert column(read_scores(DataFrame()), "frame") == [0, 1]


@pytest.mark.parametrize("values", [3, {"exam": ["a"], "frame": [0, 1], "score": [1]}, {}])
def test_other_values_are_refused(values):
    with pytest.raises(FileError):
        read_scores(values)
