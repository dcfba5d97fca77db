import numpy as np
import pyarrow as pa
import pytest

from capsieve.errors import FileError
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED
from capsieve.statistics.labels.label_set import LABELS
from capsieve.statistics.matching import match, pixel_codes
from capsieve.store.reader import exam_folders
from reference.matching import frame_labels
from screened_exam import write_exam
from small_results import label_set, split_set, write_results

TRUTH = {"polyp": POLYP, "normal": NORMAL, "other": OTHER, None: UNLABELLED}


def problems_of(matched):
    return {problem.what: problem.rows for problem in matched.problems}


def examples_of(matched, words):
    (found,) = [problem for problem in matched.problems if words in problem.what]
    return found.examples


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
        label=["polyp", None, "normal"],
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


def test_frames_that_are_not_there_are_named(tmp_path):
    folder = write_results(tmp_path / "exam", 3)
    rows = [{"exam": "exam", "frame": frame} for frame in (2, 3, 4, 10**15)]
    rows += [{"exam": "exam", "frame": 0, "head": 1}]
    matched = match([folder], label_set(rows))
    assert problems_of(matched)["the exam has no such frame; they are numbered from 0"] == 4
    assert examples_of(matched, "no such frame")[0] == "exam frame 3"


def test_a_frame_number_never_reaches_into_the_next_exam(tmp_path):
    folders = [write_results(tmp_path / name, size) for name, size in (("a", 2), ("b", 5))]
    judged = match(folders, label_set([{"exam": "a", "frame": 3}])).judged
    assert (judged.truth == UNLABELLED).all()


def test_exams_on_one_side_alone_are_one_problem_each(tmp_path):
    folders = [write_results(tmp_path / name, 4) for name in ("a", "b", "c")]
    rows = [{"exam": "a", "frame": 0}, *({"exam": "z", "frame": n} for n in range(9))]
    matched = match(folders, label_set(rows))
    found = problems_of(matched)
    assert found["the exam is not among the results"] == 9
    assert found["no frame of the exam has a label"] == 8
    assert found["the frame has no label"] == 3
    assert examples_of(matched, "among the results") == ("z: 9 rows",)
    assert examples_of(matched, "no frame of the exam") == ("b: 4 frames", "c: 4 frames")


def test_two_labels_for_one_frame_contradict(tmp_path):
    folder = write_results(tmp_path / "exam", file=["a.png", "b.png"])
    rows = [
        {"exam": "exam", "frame": 0, "label": "polyp"},
        {"file": "a.png", "label": "normal"},
        {"exam": "exam", "frame": 1, "label": "other"},
        {"file": "exam/b.png", "label": "other"},
    ]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [UNLABELLED, OTHER]
    assert matched.contradicted.tolist() == [True, False]
    found = problems_of(matched)
    assert found["the frame has two labels or patients that contradict each other"] == 1
    assert found["the row repeats the label of another row for the same frame"] == 1
    assert "the frame has no label" not in found
    assert examples_of(matched, "contradict") == ("exam/a.png",)


def test_two_patients_for_one_frame_contradict(tmp_path):
    folder = write_results(tmp_path / "exam", file=["a.png", "b.png"])
    rows = [
        {"exam": "exam", "frame": 0, "patient": "1"},
        {"file": "a.png", "patient": "2"},
        {"exam": "exam", "frame": 1, "patient": "1"},
        {"file": "b.png"},
    ]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [UNLABELLED, NORMAL]
    assert matched.judged.patient.tolist() == [-1, 0]


def test_of_two_polyps_on_one_frame_none_is_guessed(tmp_path):
    folder = write_results(tmp_path / "exam", file=["a.png"])
    rows = [
        {"exam": "exam", "frame": 0, "label": "polyp", "polyp": "1"},
        {"file": "a.png", "label": "polyp", "polyp": "2"},
    ]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [POLYP]
    assert matched.judged.polyp.tolist() == [-1]
    assert any("different polyps" in what for what in problems_of(matched))


def test_labels_of_other_exams_do_not_stray(tmp_path):
    """Every exam has an image 000001.png; only one of five exams was screened."""
    folder = write_results(tmp_path / "patient-1", file=["000001.png", "000002.png"])
    rows = [
        {"exam": f"patient-{n}", "file": "000001.png", "label": "polyp"} for n in range(2, 6)
    ] + [{"exam": "patient-1", "file": "000002.png"}]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [UNLABELLED, NORMAL]
    assert problems_of(matched)["the exam is not among the results"] == 4


def test_a_folder_named_like_its_exam_does_not_stray(tmp_path):
    folder = write_results(tmp_path / "patient-1", file=["000001.png"])
    rows = [{"exam": "patient-2", "file": "patient-2/000001.png"}]
    matched = match([folder], label_set(rows))
    assert (matched.judged.truth == UNLABELLED).all()


def test_videos_of_a_folder_of_frames_are_no_exams_of_the_results(tmp_path):
    folder = write_results(tmp_path / "kvasir-capsule", file=["v1_10.jpg", "v2_10.jpg"])
    rows = [
        {"exam": video, "patient": video, "frame": 10, "file": f"Polyp/{video}_10.jpg"}
        for video in ("v1", "v2")
    ]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [NORMAL, NORMAL]
    assert matched.judged.patient.tolist() == [0, 1]
    (told,) = [problem for problem in matched.problems if "by the name of its file" in problem.what]
    assert (told.rows, told.used) == (2, True)


def test_a_frame_that_two_files_claim_by_name_alone_gets_no_label(tmp_path):
    folder = write_results(tmp_path / "exam", file=["1.jpg", "2.jpg"])
    rows = [
        {"file": "x/1.jpg"},
        {"file": "y/1.jpg"},
        {"file": "x/2.jpg"},
        {"file": "exam/2.jpg", "label": "polyp"},
    ]
    matched = match([folder], label_set(rows))
    assert matched.judged.truth.tolist() == [UNLABELLED, POLYP]
    found = problems_of(matched)
    assert found["several frames fit the file, or several rows the frame, equally well"] == 2
    assert any(
        count == 1 and what.startswith("only the file's name") for what, count in found.items()
    )


def test_ambiguous_files_are_not_used(tmp_path):
    folders = [write_results(tmp_path / name, file=["1.jpg"]) for name in ("a", "b")]
    matched = match(folders, label_set([{"file": "1.jpg"}, {"file": "b/1.jpg"}]))
    assert matched.judged.truth.tolist() == [UNLABELLED, NORMAL]
    assert examples_of(matched, "equally well") == ("file 1.jpg",)


def test_a_patient_whom_all_rows_name_has_the_whole_exam(tmp_path):
    folder = write_results(tmp_path / "exam", 5)
    rows = [{"exam": "exam", "frame": frame, "patient": "7"} for frame in (0, 3)]
    judged = match([folder], label_set(rows)).judged
    assert judged.patient.tolist() == [0] * 5
    assert judged.groups == ("patient 7",)


@pytest.mark.parametrize("other", ["8", None])
def test_patients_are_not_guessed(tmp_path, other):
    folder = write_results(tmp_path / "exam", 3)
    rows = [
        {"exam": "exam", "frame": 0, "patient": "7"},
        {"exam": "exam", "frame": 1, "patient": other},
    ]
    judged = match([folder], label_set(rows)).judged
    assert judged.patient.tolist() == [0, 1 if other else -1, -1]


def test_groups_are_patients_else_blocks_else_exams(tmp_path):
    folder = write_results(tmp_path / "7", 4)
    rows = [
        {"exam": "7", "frame": 0, "patient": "7"},
        {"exam": "7", "frame": 1, "block": "7"},
        {"exam": "7", "frame": 2, "block": "7", "patient": "7"},
        {"exam": "7", "frame": 3},
    ]
    judged = match([folder], label_set(rows)).judged
    assert [judged.groups[code] for code in judged.group] == [
        "patient 7", "block 7", "patient 7", "exam 7",
    ]  # fmt: skip
    assert judged.group_kind == "patient or block or exam"


def test_groups_are_called_after_what_labelled_frames_have(tmp_path):
    folder = write_results(tmp_path / "exam", 3)
    rows = [{"exam": "exam", "frame": n, "patient": str(n)} for n in range(2)]
    assert match([folder], label_set(rows)).judged.group_kind == "patient"


def test_two_exams_of_one_name_are_refused(tmp_path):
    folders = [write_results(tmp_path / place / "exam", 3) for place in ("a", "b")]
    with pytest.raises(FileError, match="two exams are named 'exam'"):
        match(folders, label_set([{"exam": "exam", "frame": 0}]))


def test_an_exam_without_frames_is_matched(tmp_path):
    folder = write_results(tmp_path / "exam", 0)
    matched = match([folder], label_set([{"exam": "exam", "frame": 0}]))
    assert len(matched.judged) == 0
    assert problems_of(matched) == {"the exam has no such frame; they are numbered from 0": 1}


def test_frames_that_are_not_sorted_are_refused(tmp_path):
    folder = write_results(tmp_path / "exam", frame=[1, 0])
    with pytest.raises(FileError, match="not sorted"):
        match([folder], label_set([{"exam": "exam", "frame": 0}]))


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


def test_a_split_of_the_same_rows_and_one_with_other_keys_agree(tmp_path):
    folders = [write_results(tmp_path / name, file=["1.png", "2.png"]) for name in ("a", "b")]
    rows = [{"exam": exam, "file": f"{n}.png"} for exam in ("a", "b") for n in (1, 2)]
    parts = ["x", "y", "y", "x"]
    same = [row | {"part": part} for row, part in zip(rows, parts, strict=True)]
    other = [
        {"file": f"{row['exam']}/{row['file']}", "part": row["part"]} for row in reversed(same)
    ]
    for split in (same, other):
        judged = match(folders, label_set(rows), splits=split_set(split)).judged
        assert [judged.parts[code] for code in judged.part] == parts


def test_a_split_says_the_parts(tmp_path):
    folder = write_results(tmp_path / "exam", 4)
    rows = [{"exam": "exam", "frame": frame} for frame in range(3)]
    parts = split_set([
        {"exam": "exam", "frame": 0, "part": "train", "group": "b1", "kind": "block"},
        {"exam": "exam", "frame": 1, "part": "test", "group": "b2", "kind": "block"},
        {"exam": "exam", "frame": 3, "part": "test"},
        {"exam": "exam", "frame": 9, "part": "test"},
    ])  # fmt: skip
    matched = match([folder], label_set(rows), splits=parts)
    judged = matched.judged
    assert [judged.parts[code] if code >= 0 else "" for code in judged.part] == [
        "train", "test", "", "test",
    ]  # fmt: skip
    assert [judged.groups[code] for code in judged.group] == [
        "block b1", "block b2", "exam exam", "exam exam",
    ]  # fmt: skip
    found = problems_of(matched)
    assert found["split: the exam has no such frame; they are numbered from 0"] == 1
    assert found["split: the labelled frame is in no part"] == 1
    assert found["split: the frame is in the split and has no label"] == 1


def test_a_frame_in_two_parts_is_in_none_and_named(tmp_path):
    folder = write_results(tmp_path / "exam", file=["a.png", "b.png"])
    rows = [{"exam": "exam", "frame": frame} for frame in range(2)]
    parts = split_set([
        {"exam": "exam", "frame": 0, "part": "train"},
        {"file": "a.png", "part": "test"},
        {"file": "b.png", "part": "test"},
        {"file": "exam/b.png", "part": "test"},
    ])  # fmt: skip
    matched = match([folder], label_set(rows), splits=parts)
    assert matched.in_two_parts.tolist() == [0]
    assert matched.judged.part.tolist()[0] == -1
    assert matched.judged.parts[matched.judged.part[1]] == "test"
    assert examples_of(matched, "in two parts") == ("exam/a.png",)


def test_equal_pixels_have_equal_codes(tmp_path):
    one = write_results(tmp_path / "a", sha1=["aa", "bb", None])
    two = write_results(tmp_path / "b", sha1=["bb", "cc"])
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
