from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.statistics.matching.by_file import rows_by_file
from capsieve.statistics.matching.screened import Screened, read_screened
from reference.matching import file_place
from support.results import write_results


def screened_files(frames: list[tuple[str, str]]) -> Screened:
    """Frames (exam, file), sorted by exam, without the way over the disk."""
    exams = tuple(dict.fromkeys(exam for exam, _ in frames))
    size = len(frames)
    none = np.zeros(size, dtype=bool)
    return Screened(
        folders=(),
        exams=exams,
        exam=np.array([exams.index(exam) for exam, _ in frames], dtype=np.int32),
        heads=((0,),) * len(exams),
        columns={},
        reasons=(),
        reason=np.full(size, -1, dtype=np.int16),
        flagged=none,
        decoded=none,
        file=pa.array([file for _, file in frames], pa.string()),
        has_files=np.ones(len(exams), dtype=bool),
    )


def found(frames, *paths, exam=-1):
    places = rows_by_file(
        screened_files(frames), pa.array(paths, pa.string()), np.full(len(paths), exam)
    )
    return places.row.tolist()


@pytest.mark.parametrize(
    "path",
    ["a_1.jpg", "kvasir-capsule/a_1.jpg", "labelled_images/Polyp/a_1.jpg", "./a_1.jpg",
     "/data//kvasir-capsule/./a_1.jpg"],
)  # fmt: skip
def test_a_path_fits_with_any_folders_before_it(path):
    assert found([("kvasir-capsule", "a_0.jpg"), ("kvasir-capsule", "a_1.jpg")], path) == [1]


def test_components_are_compared_whole():
    assert found([("exam", "a_1.jpg")], "ba_1.jpg", "_1.jpg", "a_1.jpg/", "x/a_1.jp") == [-1] * 4


def test_the_exam_is_the_folder():
    frames = [("Normal", "1.jpg"), ("Polyp", "1.jpg")]
    assert found(frames, "Polyp/1.jpg", "data/Normal/1.jpg", "Other/1.jpg", "1.jpg") == [
        1,
        0,
        -1,
        -1,
    ]


def test_an_exam_narrows_the_search():
    frames = [("a", "1.jpg"), ("b", "1.jpg")]
    assert found(frames, "1.jpg", "folder/1.jpg", exam=1) == [1, 1]


def test_folders_inside_an_exam_tell_apart():
    frames = [("exam", "head-0/1.jpg"), ("exam", "head-1/1.jpg")]
    assert found(frames, "head-1/1.jpg", "exam/head-0/1.jpg", "1.jpg", "x/1.jpg") == [1, 0, -1, -1]


def test_what_is_ambiguous_is_told_from_what_is_not_there():
    frames = [("a", "1.jpg"), ("b", "1.jpg")]
    places = rows_by_file(screened_files(frames), pa.array(["1.jpg", "2.jpg"]), np.array([-1, -1]))
    assert places.ambiguous.tolist() == [True, False]


def test_what_agrees_is_told():
    paths = pa.array(["1.jpg", "exam/1.jpg", "x/1.jpg"])
    places = rows_by_file(screened_files([("exam", "1.jpg")]), paths, np.full(3, -1))
    assert places.folder_agrees.tolist() == [False, True, False]
    assert places.wholly.tolist() == [True, True, False]


names = st.sampled_from(["a", "b", "c.jpg", "d.jpg"])
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
files = st.lists(names, min_size=1, max_size=2).map("/".join)


@settings(max_examples=100, deadline=None)
@given(
    frames=st.lists(
        st.tuples(st.sampled_from(["a", "b", "e"]), files),
        min_size=1, max_size=8, unique=True,
    ),
    wanted=st.lists(st.tuples(paths, st.sampled_from(["a", "b", None])), min_size=1, max_size=6),
)  # fmt: skip
def test_files_are_found_as_one_by_one(frames, wanted):
    frames = sorted(frames)
    screened = screened_files(frames)
    exam = [screened.exams.index(e) if e in screened.exams else -1 for _, e in wanted]
    places = rows_by_file(screened, pa.array([path for path, _ in wanted]), np.array(exam))
    literal = [file_place(path, e if e in screened.exams else None, frames) for path, e in wanted]
    assert places.row.tolist() == [-1 if place is None else place for place in literal]


def test_videos_have_no_files(tmp_path):
    screened = read_screened([write_results(tmp_path / "exam", 3)])
    assert rows_by_file(screened, pa.array(["1.jpg"]), np.array([-1])).row.tolist() == [-1]


def test_the_folders_around_an_exam_tell_files_of_the_same_name_apart():
    frames = [("Polyp-KID", "x.jpg"), ("Ulcer-KID", "x.jpg")]
    known = replace(
        screened_files(frames), roots=("Dataset/training/Polyp/KID", "Dataset/training/Ulcer/KID")
    )
    paths = ["training/Ulcer/KID/x.jpg", "/data/Dataset/training/Polyp/KID/x.jpg", "KID/x.jpg"]
    places = rows_by_file(known, pa.array(paths), np.full(3, -1))
    assert places.row.tolist() == [1, 0, -1]
    assert places.ambiguous.tolist() == [False, False, True]
    assert places.folder_agrees[:2].all()
