import numpy as np
import pyarrow as pa
import pytest

from capsieve.errors import FileError
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED
from capsieve.statistics.labels.label_set import LABELS
from capsieve.statistics.matching import match, pixel_codes
from capsieve.store.exam import exam_folders
from reference.matching import frame_labels
from support.label_sets import label_set
from support.matched_problems import examples_of, problems_of
from support.results import write_results
from support.screened_exam import write_exam

TRUTH = {"polyp": POLYP, "normal": NORMAL, "other": OTHER, None: UNLABELLED}


def test_a_frame_gets_what_its_row_says(tmp_path):
    folder = write_results(tmp_path / "exam", 4)
    row = {"exam": "exam", "frame": 2, "label": "polyp", "polyp": "p", "patient": "4"}
    judged = match([folder], label_set([row | {"finding": "flat"}])).judged
    assert judged.truth.tolist() == [UNLABELLED, UNLABELLED, POLYP, UNLABELLED]
    assert judged.polyp.tolist() == [-1, -1, 0, -1]
    assert (judged.polyps, judged.patients, judged.findings) == (("p",), ("4",), ("flat",))


def test_the_columns_of_the_results_arrive(tmp_path):
    folder = write_results(
        tmp_path / "exam",
        score=[40.0, None, 0.0],
        flagged=[True, False, False],
        reason=["polyp", None, "texture-low"],
        status=["decoded", "undecodable", "decoded"],
        time_s=[0.5, None, 1.5],
        rows=[512, None, 512],
        cols=[500, None, 500],
        radius_max=[40, None, 0],
        texture_max=[4.0, None, 2.0],
        row=[10.0, None, None],
    )
    matched = match([folder], label_set([{"exam": "exam", "frame": 0}]))
    judged = matched.judged
    np.testing.assert_array_equal(judged.score, [40, np.nan, 0])
    np.testing.assert_array_equal(judged.time, [0.5, np.nan, 1.5])
    np.testing.assert_array_equal(judged.radius_max, [40, np.nan, 0])
    np.testing.assert_array_equal(judged.texture_max, [4, np.nan, 2])
    np.testing.assert_array_equal(judged.row, [10, np.nan, np.nan])
    assert judged.flagged.tolist() == [True, False, False]
    assert [judged.reasons[code] if code >= 0 else None for code in judged.reason] == [
        "polyp", None, "texture-low",
    ]  # fmt: skip
    assert judged.rows.tolist() == [512, 0, 512]
    assert judged.cols.tolist() == [500, 0, 500]
    assert matched.decoded.tolist() == [True, False, True]
    assert judged.file is None


def test_types_are_those_of_the_contract(tmp_path):
    folder = write_results(tmp_path / "exam", file=["a.jpg", "b.jpg"])
    judged = match([folder], label_set([{"file": "a.jpg"}])).judged
    for name, kind in {
        "exam": np.int32, "head": np.int16, "frame": np.int64, "score": np.float64,
        "flagged": np.bool_, "reason": np.int16, "truth": np.int8, "polyp": np.int32,
        "patient": np.int32, "group": np.int32, "finding": np.int32, "part": np.int16,
        "rows": np.int32, "file": np.object_,
    }.items():  # fmt: skip
        assert getattr(judged, name).dtype == kind, name


def test_the_number_counts_in_a_video_and_the_file_in_a_folder(tmp_path):
    video = write_results(tmp_path / "video", 3)
    folder = write_results(tmp_path / "folder", file=["a_7.png", "a_8.png", "a_9.png"])
    rows = [
        {"exam": exam, "frame": 0, "file": "a_9.png", "label": "polyp"}
        for exam in ("video", "folder")
    ]
    judged = match([folder, video], label_set(rows)).judged
    assert judged.exams == ("folder", "video")
    assert np.flatnonzero(judged.truth == POLYP).tolist() == [2, 3]


def test_numbers_find_frames_of_folders_where_no_file_is_named(tmp_path):
    folder = write_results(tmp_path / "folder", file=["a_7.png", "a_8.png"])
    judged = match([folder], label_set([{"exam": "folder", "frame": 1}])).judged
    assert judged.truth.tolist() == [UNLABELLED, NORMAL]


def test_a_file_alone_says_nothing_in_a_video(tmp_path):
    matched = match(
        [write_results(tmp_path / "video", 3)], label_set([{"exam": "video", "file": "a.png"}])
    )
    assert "the row names no frame number, and the exam's frames are not files" in problems_of(
        matched
    )


def test_one_exam_needs_no_name(tmp_path):
    folder = write_results(tmp_path / "exam", 3)
    judged = match([folder], label_set([{"frame": 1}])).judged
    assert judged.truth.tolist() == [UNLABELLED, NORMAL, UNLABELLED]


def test_several_exams_need_names(tmp_path):
    folders = [write_results(tmp_path / name, 3) for name in ("a", "b")]
    with pytest.raises(FileError, match=r"1 rows with a frame number and no exam.*add the column"):
        match(folders, label_set([{"frame": 1}]))


def test_a_row_without_head_means_the_only_one(tmp_path):
    one = write_results(tmp_path / "one", head=[1, 1], frame=[0, 1])
    two = write_results(tmp_path / "two", head=[0, 0, 1, 1], frame=[0, 1, 0, 1])
    rows = [
        {"exam": "one", "frame": 1},
        {"exam": "two", "frame": 1},
        {"exam": "two", "frame": 1, "head": 1},
    ]
    matched = match([one, two], label_set(rows))
    assert np.flatnonzero(matched.judged.truth == NORMAL).tolist() == [1, 5]
    assert problems_of(matched)["the exam has two heads and the row names none"] == 1
    assert examples_of(matched, "two heads") == ("two frame 1",)


def test_an_exam_without_frames_is_matched(tmp_path):
    folder = write_results(tmp_path / "exam", 0)
    matched = match([folder], label_set([{"exam": "exam", "frame": 0}]))
    assert len(matched.judged) == 0
    assert problems_of(matched) == {"the exam has no such frame; they are numbered from 0": 1}


def test_a_screened_exam_is_read(tmp_path):
    write_exam(tmp_path / "exam", frames=40, heads=2, events=0, files=True, undecodable=(3, 5))
    rows = [{"exam": "exam", "head": 1, "frame": 7, "label": "polyp"}]
    matched = match(exam_folders(tmp_path), label_set(rows))
    judged = matched.judged
    assert judged.head.tolist() == [0] * 40 + [1] * 40
    assert judged.frame.tolist() == [*range(40), *range(40)]
    assert np.flatnonzero(judged.truth == POLYP).tolist() == [47]
    assert np.flatnonzero(np.isnan(judged.score)).tolist() == [3, 4, 5]
    assert np.flatnonzero(~matched.decoded).tolist() == [3, 4, 5]
    assert judged.file is not None
    assert judged.file[7] == "frame_00007.jpg"


def test_equal_pixels_have_equal_codes(tmp_path):
    one = write_results(tmp_path / "a", pixel_hash=["aa", "bb", None])
    two = write_results(tmp_path / "b", pixel_hash=["bb", "cc"])
    codes = pixel_codes([one, two]).tolist()
    assert codes[1] == codes[3]
    assert codes[2] == -1
    assert len({codes[0], codes[1], codes[4]}) == 3


def test_the_papers_study_has_the_papers_counts(tmp_path):
    normal = {"1": 422, "2": 1008, "3": 4666, "4": 8567, "5": 4075}
    lengths = [18, 57, 10, 7, 11, 11, 2, 3, 17, 32, 12, 15, 4, 7, 9, 15]
    folders, rows = [], []
    for place, (patient, count) in enumerate(normal.items()):
        own = lengths[place::5]
        frames = count + sum(own)
        folders.append(write_results(tmp_path / f"exam-{patient}", frames))
        shown = [f"{patient}/{n}" for n, length in enumerate(own) for _ in range(length)]
        rows += [
            {"exam": f"exam-{patient}", "frame": frame, "patient": patient}
            | ({"label": "polyp", "polyp": shown[frame]} if frame < len(shown) else {})
            for frame in range(frames)
        ]
    matched = match(folders, label_set(rows))
    judged = matched.judged
    assert len(judged) == 18968
    assert (judged.truth == NORMAL).sum() == 18738
    assert (judged.truth == POLYP).sum() == 230
    assert sorted(np.bincount(judged.polyp[judged.polyp >= 0])) == sorted(lengths)
    per_patient = np.bincount(judged.patient[judged.truth == NORMAL])
    assert dict(zip(judged.patients, per_patient.tolist(), strict=True)) == normal
    assert judged.group_kind == "patient"
    assert matched.problems == ()


@pytest.mark.slow
def test_many_rows_are_matched_as_one_by_one(tmp_path):
    rng = np.random.default_rng(5)
    sizes = {"a": ((0, 60_000), (1, 50_000)), "b": ((0, 90_000),), "c": ((1, 100_000),)}
    frames: list[tuple[str, int, int]] = []
    folders = []
    for exam, heads in sizes.items():
        head = np.repeat([number for number, _ in heads], [count for _, count in heads])
        frame = np.concatenate([np.sort(rng.choice(2 * n, n, replace=False)) for _, n in heads])
        folders.append(write_results(tmp_path / exam, head=head, frame=frame))
        frames += zip([exam] * len(head), head.tolist(), frame.tolist(), strict=True)
    count = 300_000
    columns = {
        "exam": np.array(["a", "b", "c", "z"])[rng.integers(0, 4, count)].tolist(),
        "head": [None if h == 2 else h for h in rng.integers(0, 3, count).tolist()],
        "frame": rng.integers(0, 200_000, count).tolist(),
        "label": np.array(["polyp", "normal", "other"])[rng.integers(0, 3, count)].tolist(),
    }
    table = pa.table(
        [pa.array(columns.get(f.name, [None] * count), f.type) for f in LABELS], schema=LABELS
    )
    matched = match(folders, label_set(table))
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    labels, lost, repeated, contrary = frame_labels(frames, rows)
    assert matched.judged.truth.tolist() == [TRUTH[word] for word in labels]
    counts = matched.label_rows
    assert counts.without_frame.sum() == lost > 0
    assert counts.repeated.sum() == repeated > 0
    assert counts.contradicting.sum() == contrary > 0
