"""Which label belongs to which frame, and what frames are grouped by."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.errors import FileError
from capsieve.frame_table import NORMAL, OTHER, POLYP, UNLABELLED
from capsieve.labels import LABELS, LabelSet, Matched, match, read_labels
from capsieve.labels.keys import FrameKeys, find_frames
from support.label_sets import (
    OTHER_VIDEO,
    VIDEO,
    frame_table,
    label_set,
    make_files,
    problem_rows,
    split_set,
    write_text,
)

TRUTH = {"polyp": POLYP, "normal": NORMAL, "other": OTHER, None: UNLABELLED}


def matched(exams: dict[str, Any], *rows: dict[str, Any], **about: Any) -> Matched:
    return match(frame_table(exams), label_set(rows, **about))


def names(column: Any) -> list[str | None]:
    return [column[row] for row in range(len(column.code))]


def examples(found: Matched, words: str) -> tuple[str, ...]:
    (problem,) = [problem for problem in found.problems if words in problem.what]
    return problem.examples


def files_found(paths: list[str], *wanted: str, exam: str | None = None) -> list[int]:
    """Return the frames of labels' files among frames with these paths, each its own exam."""
    frames = frame_table({f"exam {place}": [path] for place, path in enumerate(paths)})
    keys = pa.table(
        {
            "exam": pa.array([exam] * len(wanted), pa.string()),
            "head": pa.nulls(len(wanted), pa.int16()),
            "frame": pa.nulls(len(wanted), pa.int64()),
            "file": pa.array(wanted, pa.string()),
        }
    )
    return find_frames(FrameKeys(frames), keys, read_from="labels.csv").row.tolist()


# Keys


def test_a_frame_gets_what_its_row_says() -> None:
    row = {"exam": "exam", "frame": 2, "label": "polyp", "polyp": "p", "patient": "4"}
    found = matched({"exam": 4}, row | {"finding": "flat", "source": "pillcam"})
    assert found.labels.truth.tolist() == [UNLABELLED, UNLABELLED, POLYP, UNLABELLED]
    assert names(found.labels.polyp) == [None, None, "p", None]
    assert names(found.labels.finding) == [None, None, "flat", None]
    assert (found.labels.patient[2], found.labels.source[2], found.labels.unit[2]) == (
        "4",
        "pillcam",
        "exam",
    )


def test_the_number_counts_in_a_video_and_the_file_in_a_folder() -> None:
    frames = {"folder": ["f/a_7.png", "f/a_8.png", "f/a_9.png"], "video": 3}
    rows = [
        {"exam": exam, "frame": 0, "file": "a_9.png", "label": "polyp"}
        for exam in ("video", "folder")
    ]
    assert np.flatnonzero(matched(frames, *rows).labels.truth == POLYP).tolist() == [2, 3]


def test_numbers_find_images_if_no_file_is_named() -> None:
    found = matched({"folder": ["a_7.png", "a_8.png"]}, {"exam": "folder", "frame": 1})
    assert found.labels.truth.tolist() == [UNLABELLED, NORMAL]


def test_a_file_alone_finds_nothing_in_a_video() -> None:
    found = matched({"video": 3}, {"exam": "video", "file": "a.png"})
    assert problem_rows(found.problems, "the exam is a video") == 1


def test_one_exam_needs_no_name_and_several_do() -> None:
    found = matched({"exam": 3}, {"frame": 1})
    assert found.labels.truth.tolist() == [UNLABELLED, NORMAL, UNLABELLED]
    with pytest.raises(FileError, match=r"1 rows with a frame number and no exam.*add the column"):
        matched({"a": 3, "b": 3}, {"frame": 1})


def test_a_row_without_a_head_means_the_only_one() -> None:
    frames = {"one": [(1, 0), (1, 1)], "two": [(0, 0), (0, 1), (1, 0), (1, 1)]}
    found = matched(
        frames,
        {"exam": "one", "frame": 1},
        {"exam": "two", "frame": 1},
        {"exam": "two", "frame": 1, "head": 1},
    )
    assert np.flatnonzero(found.labels.truth == NORMAL).tolist() == [1, 5]
    assert examples(found, "two heads") == ("two frame 1",)


def test_an_exam_without_frames_is_matched() -> None:
    found = matched({}, {"exam": "exam", "frame": 0})
    assert len(found.labels.truth) == 0
    assert problem_rows(found.problems, "not among the results") == 1


def test_labels_without_a_usable_row_are_matched() -> None:
    found = matched({"exam": 2})
    assert found.labels.truth.tolist() == [UNLABELLED] * 2
    assert problem_rows(found.problems, "no frame of the exam has a label") == 2


def test_frames_that_do_not_exist_are_named() -> None:
    rows = [{"exam": "exam", "frame": frame} for frame in (2, 3, 4, 10**15)]
    found = matched({"exam": 3}, *rows, {"exam": "exam", "frame": 0, "head": 1})
    assert problem_rows(found.problems, "no such frame") == 4
    assert examples(found, "no such frame")[0] == "exam frame 3"


def test_a_frame_number_never_reaches_into_the_next_exam() -> None:
    found = matched({"a": 2, "b": 5}, {"exam": "a", "frame": 3})
    assert (found.labels.truth == UNLABELLED).all()


def test_huge_frame_numbers_do_not_overflow() -> None:
    frames = {f"e{n}": [(0, 10**18 - 1), (0, 10**18)] for n in range(20)}
    found = matched(frames, {"exam": "e19", "frame": 10**18})
    assert np.flatnonzero(found.labels.truth == NORMAL).tolist() == [39]


# Paths


@pytest.mark.parametrize(
    "path",
    ["a_1.jpg", "capsule/a_1.jpg", "./a_1.jpg", "data/capsule//./a_1.jpg", r"x\capsule\a_1.jpg"],
)
def test_an_ending_of_the_path_or_file_and_folder_fit(path: str) -> None:
    assert files_found(["/data/capsule/a_0.jpg", "/data/capsule/a_1.jpg"], path) == [1]


def test_another_folder_does_not_fit() -> None:
    assert files_found(["data/capsule/a_1.jpg"], "Polyp/a_1.jpg", "data/a_1.jpg") == [-1, -1]


def test_components_are_compared_whole() -> None:
    assert files_found(["exam/a_1.jpg"], "ba_1.jpg", "_1.jpg", "am/a_1.jpg", "a_1.jp") == [-1] * 4


def test_the_longest_match_wins_and_ties_are_ambiguous() -> None:
    paths = ["Dataset/training/Polyp/KID/x.jpg", "Dataset/training/Ulcer/KID/x.jpg"]
    wanted = ["training/Ulcer/KID/x.jpg", "/d/Dataset/training/Polyp/KID/x.jpg", "KID/x.jpg"]
    assert files_found(paths, *wanted) == [1, 0, -1]
    found = matched({"a": ["a/1.jpg"], "b": ["b/1.jpg"]}, {"file": "1.jpg"}, {"file": "b/1.jpg"})
    assert found.labels.truth.tolist() == [UNLABELLED, NORMAL]
    assert examples(found, "several frames") == ("file 1.jpg",)


def test_a_screened_exam_narrows_the_search() -> None:
    assert files_found(["x/1.jpg", "y/1.jpg"], "1.jpg", exam="exam 1") == [1]


def test_folders_inside_an_exam_distinguish_frames() -> None:
    frames = {"exam": ["exam/head-0/1.jpg", "exam/head-1/1.jpg"]}
    found = matched(
        frames, {"file": "head-1/1.jpg", "label": "polyp"}, {"file": "exam/head-0/1.jpg"}
    )
    assert found.labels.truth.tolist() == [NORMAL, POLYP]


FOLDERS = st.sampled_from(["a", "b", "c.jpg", "d.jpg"])
PATHS = st.lists(FOLDERS, min_size=1, max_size=4).map("/".join)


@settings(max_examples=150, deadline=None)
@given(
    paths=st.lists(PATHS, min_size=1, max_size=8, unique=True),
    wanted=st.lists(PATHS, min_size=1, max_size=6, unique=True),
)
def test_files_are_found_as_one_by_one(paths: list[str], wanted: list[str]) -> None:
    frames = frame_table({"exam": paths})
    keys = label_set([{"file": path} for path in wanted]).table
    found = find_frames(FrameKeys(frames), keys, read_from="").row.tolist()
    claims: dict[int, list[tuple[int, bool]]] = {}
    for number, path in enumerate(wanted):
        rights: dict[int, int] = {}
        for place, other in enumerate(paths):
            one, two = path.split("/"), other.split("/")
            pairs = list(zip(reversed(one), reversed(two), strict=False))
            equal = [a == b for a, b in pairs]
            agreeing = equal.index(False) if False in equal else len(equal)
            if agreeing == len(one) or agreeing >= 2:
                rights[place] = agreeing
        best = [place for place, right in rights.items() if right == max(rights.values())]
        if len(best) == 1:
            full = rights[best[0]] == len(path.split("/"))
            claims.setdefault(best[0], []).append((number, full))
    expected = [-1] * len(wanted)
    for place, rows in claims.items():
        strong = [number for number, full in rows if full]
        for number in strong or ([rows[0][0]] if len(rows) == 1 else []):
            expected[number] = place
    assert found == expected


# Exams of the labels and exams of the results


def test_labels_of_other_exams_do_not_stray() -> None:
    """Every exam has an image 000001.png; only one of five exams was screened."""
    frames = {"patient-1": ["patient-1/000001.png", "patient-1/000002.png"]}
    rows = [{"exam": f"patient-{n}", "file": "000001.png", "label": "polyp"} for n in range(2, 6)]
    found = matched(frames, *rows, {"exam": "patient-1", "file": "000002.png"})
    assert found.labels.truth.tolist() == [UNLABELLED, NORMAL]
    assert problem_rows(found.problems, "not among the results") == 4
    assert (matched(frames, *rows).labels.truth == UNLABELLED).all()  # four rows for one frame


def test_the_exam_of_the_labels_need_not_be_the_screened_folder() -> None:
    frames = {"kvasir-capsule": ["data/kvasir-capsule/v1_10.jpg", "data/kvasir-capsule/v2_10.jpg"]}
    rows = [{"exam": video, "frame": 10, "file": f"{video}_10.jpg"} for video in ("v1", "v2")]
    found = matched(frames, *rows)
    assert names(found.labels.unit) == ["v1", "v2"]
    assert names(found.labels.group) == ["exam v1", "exam v2"]
    assert found.problems == ()


@pytest.mark.parametrize("name", ["0002.png", "2.png", "x2_1.png", "22_1.png"])
def test_short_names_of_other_exams_do_not_stray(name: str) -> None:
    frames = {"3": [f"study/3/{name}", "study/3/z.png"]}
    rows = [{"exam": "2", "file": name, "label": "polyp"}, {"exam": "3", "file": "z.png"}]
    assert matched(frames, *rows).labels.truth.tolist() == [UNLABELLED, NORMAL]


def test_folders_that_all_exams_have_do_not_make_a_match() -> None:
    frames = {"a": ["study/a/images/1.png", "study/a/images/2.png"]}
    rows = [
        {"exam": "b", "file": "images/1.png", "label": "polyp"},
        {"exam": "a", "file": "images/2.png"},
    ]
    assert matched(frames, *rows).labels.truth.tolist() == [UNLABELLED, NORMAL]


def test_labels_whose_exams_are_not_exams_give_no_units() -> None:
    rows = [{"exam": "class", "file": f"{n}.jpg"} for n in range(3)]
    found = matched({"folder": [f"{n}.jpg" for n in range(3)]}, *rows, names_exams=False)
    assert found.labels.unit.code.tolist() == [-1] * 3
    assert found.labels.group_kind == "block"


def test_a_row_that_is_found_by_its_file_alone_is_reported() -> None:
    found = matched({"folder": ["folder/1.jpg"]}, {"exam": "video", "file": "1.jpg"})
    assert found.labels.truth.tolist() == [NORMAL]
    assert problem_rows(found.problems, "by its file alone") == 1


def test_weak_matches_give_way_and_do_not_contradict() -> None:
    frames = {"exam": ["d/x/1.jpg", "d/x/2.jpg", "d/x/3.jpg"]}
    found = matched(
        frames,
        {"file": "e/x/1.jpg"},
        {"file": "f/x/1.jpg"},  # as good as the one before
        {"file": "e/x/2.jpg"},
        {"file": "x/2.jpg", "label": "polyp"},  # better
        {"file": "e/x/3.jpg"},
    )
    assert found.labels.truth.tolist() == [UNLABELLED, POLYP, NORMAL]
    assert problem_rows(found.problems, "several rows fit the frame") == 2
    assert problem_rows(found.problems, "another row fits the frame better") == 1
    assert problem_rows(found.problems, "folders above differ") == 1


def test_exams_on_one_side_alone_are_one_problem_each() -> None:
    rows = [{"exam": "a", "frame": 0}, *({"exam": "z", "frame": n} for n in range(9))]
    found = matched({"a": 4, "b": 4, "c": 4}, *rows)
    assert problem_rows(found.problems, "the exam is not among the results") == 9
    assert problem_rows(found.problems, "the frame has no label") == 3
    assert examples(found, "among the results") == ("z: 9 rows",)
    assert examples(found, "no frame of the exam") == ("b: 4 frames", "c: 4 frames")


# Several rows for one frame


def test_two_labels_for_one_frame_stop() -> None:
    with pytest.raises(FileError, match=r"polyp \(exam frame 0\).*normal \(file a\.png\)"):
        matched(
            {"exam": ["exam/a.png", "exam/b.png"]},
            {"exam": "exam", "frame": 0, "label": "polyp"},
            {"file": "a.png", "label": "normal"},
        )


def test_rows_of_one_frame_with_different_keys_complete_each_other() -> None:
    found = matched(
        {"exam": ["exam/a.png", "exam/b.png"]},
        {"exam": "exam", "frame": 0, "label": "other", "finding": "ulcer"},
        {"exam": "exam", "frame": 1, "label": "normal"},
        {"file": "exam/a.png", "label": "other", "finding": "erosion", "patient": "7"},
    )
    assert found.labels.truth.tolist() == [OTHER, NORMAL]
    assert found.labels.finding[0] == "ulcer;erosion"
    assert found.labels.patient[0] == "7"
    assert problem_rows(found.problems, "its rows are joined") == 1
    rows = found.rows
    assert [rows.rows[0], rows.first[0], rows.repeated[0]] == [3, 2, 1]


def test_the_exam_of_a_frame_may_be_in_its_second_row() -> None:
    found = matched(
        {"exam": ["exam/a.png"]},
        {"file": "exam/a.png", "label": "normal"},
        {"exam": "exam", "frame": 0, "label": "normal"},
    )
    assert names(found.labels.unit) == ["exam"]
    assert names(found.labels.group) == ["exam exam"]


def test_of_two_polyps_on_one_frame_none_is_chosen() -> None:
    found = matched(
        {"exam": ["a.png"]},
        {"exam": "exam", "frame": 0, "label": "polyp", "polyp": "1"},
        {"file": "a.png", "label": "polyp", "polyp": "2"},
    )
    assert found.labels.truth.tolist() == [POLYP]
    assert names(found.labels.polyp) == [None]
    assert problem_rows(found.problems, "shows more than one polyp") == 1


def test_two_patients_for_one_frame_stop() -> None:
    with pytest.raises(FileError, match=r"has the patients '1' .* and '2'"):
        matched(
            {"exam": ["a.png"]},
            {"exam": "exam", "frame": 0, "patient": "1"},
            {"file": "a.png", "patient": "2"},
        )


def test_many_rows_are_matched_as_one_by_one() -> None:
    rng = np.random.default_rng(5)
    sizes = {"a": ((0, 6000), (1, 5000)), "b": ((0, 9000),), "c": ((1, 10_000),)}
    exams: dict[str, Any] = {
        exam: [
            (head, int(frame))
            for head, count in heads
            for frame in np.sort(rng.choice(2 * count, count, replace=False))
        ]
        for exam, heads in sizes.items()
    }
    count = 30_000
    columns: dict[str, list[Any]] = {
        "exam": np.array(["a", "b", "c", "z"])[rng.integers(0, 4, count)].tolist(),
        "head": [None if head == 2 else head for head in rng.integers(0, 3, count).tolist()],
        "frame": rng.integers(0, 20_000, count).tolist(),
    }
    columns["label"] = [("polyp", "normal", "other")[frame % 3] for frame in columns["frame"]]
    table = pa.table(
        [pa.array(columns.get(f.name, [None] * count), f.type) for f in LABELS], schema=LABELS
    )
    found = match(frame_table(exams), label_set(table))
    said: dict[tuple[Any, ...], list[str]] = {
        (exam, head, frame): [] for exam, some in exams.items() for head, frame in some
    }
    lost = 0
    for exam, head, frame, label in zip(*columns.values(), strict=True):
        if head is None and exam in ("b", "c"):
            head = {"b": 0, "c": 1}[exam]  # noqa: PLW2901
        if (exam, head, frame) in said:
            said[exam, head, frame].append(label)
        else:
            lost += 1
    labels = [words[0] if words else None for words in said.values()]
    assert found.labels.truth.tolist() == [TRUTH[word] for word in labels]
    rows = found.rows
    assert rows.without_frame.sum() == lost > 0
    assert rows.repeated.sum() == sum(max(0, len(words) - 1) for words in said.values()) > 0
    assert (rows.rows == rows.first + rows.repeated + rows.without_frame).all()


# Patients, units and groups


def test_what_all_labelled_frames_name_holds_for_the_whole_exam() -> None:
    rows = [{"exam": "exam", "frame": frame, "patient": "7", "source": "s"} for frame in (0, 3)]
    found = matched({"exam": 5}, *rows)
    assert names(found.labels.patient) == ["7"] * 5
    assert names(found.labels.unit) == ["exam"] * 5
    assert names(found.labels.source) == ["s"] * 5
    assert names(found.labels.group) == ["patient 7"] * 5


@pytest.mark.parametrize("other", ["8", None])
def test_patients_are_not_guessed(other: str | None) -> None:
    found = matched(
        {"folder": ["f/1.jpg", "f/2.jpg", "f/3.jpg"]},
        {"exam": "x", "file": "f/1.jpg", "patient": "7"},
        {"exam": "y", "file": "f/2.jpg", "patient": other},
    )
    assert names(found.labels.patient) == ["7", other, None]
    assert names(found.labels.unit) == ["x", "y", None]


def test_groups_are_patients_else_blocks_else_named_exams_else_cut_blocks() -> None:
    rows = [
        {"exam": "7", "frame": 0, "patient": "7"},
        {"exam": "7", "frame": 1, "block": "7"},
        {"exam": "7", "frame": 2, "block": "7", "patient": "7"},
        {"exam": "7", "frame": 3},
    ]
    found = matched({"7": 4}, *rows)
    assert names(found.labels.group) == ["patient 7", "block 7", "patient 7", "exam 7"]
    assert found.labels.group_kind == "patient or block or exam"
    cut = matched({"x": [f"x/{n:04}.jpg" for n in range(900)]},
                  *({"file": f"x/{n:04}.jpg"} for n in range(900)))  # fmt: skip
    assert cut.labels.group_kind == "block"
    assert len(cut.labels.group.names) == 3
    assert (np.diff(cut.labels.group.code) >= 0).all()


def test_videos_without_patients_are_never_cut() -> None:
    """Labels with `exam` and without `patient` used to be cut into blocks."""
    rows = [{"exam": f"video {n}", "frame": frame} for n in range(3) for frame in range(2000)]
    found = matched({f"video {n}": 2000 for n in range(3)}, *rows)
    assert set(found.labels.group.names) == {"exam video 0", "exam video 1", "exam video 2"}
    assert found.labels.group_kind == "exam"


def test_groups_are_called_after_what_labelled_frames_have() -> None:
    rows = [{"exam": "exam", "frame": n, "patient": str(n)} for n in range(2)]
    assert matched({"exam": 3}, *rows).labels.group_kind == "patient"


def test_without_exam_and_patient_there_is_no_unit() -> None:
    frames = {"Polyp": ["Polyp/1.jpg"], "Normal": ["Normal/1.jpg"]}
    found = matched(frames, {"file": "Polyp/1.jpg", "label": "polyp"}, {"file": "Normal/1.jpg"})
    assert found.labels.truth.tolist() == [POLYP, NORMAL]
    assert found.labels.unit.code.tolist() == [-1, -1]


def test_the_patient_is_the_unit_if_no_exam_is_named() -> None:
    rows = [{"file": "1.jpg", "patient": "p"}, {"file": "2.jpg", "patient": "q"}]
    found = matched({"a": ["1.jpg", "2.jpg"]}, *rows)
    assert names(found.labels.unit) == ["patient p", "patient q"]


# Splits


def test_a_split_of_the_same_rows_and_one_with_other_keys_agree() -> None:
    frames = frame_table({name: [f"{name}/1.png", f"{name}/2.png"] for name in ("a", "b")})
    rows = [{"exam": exam, "file": f"{n}.png"} for exam in ("a", "b") for n in (1, 2)]
    parts = ["x", "y", "y", "x"]
    same = [row | {"part": part} for row, part in zip(rows, parts, strict=True)]
    other = [{"file": f"{row['exam']}/{row['file']}", "part": row["part"]} for row in same[::-1]]
    for split in (same, other):
        found = match(frames, label_set(rows), split_set(split))
        assert names(found.labels.part) == parts


def test_a_split_gives_parts_and_replaces_blocks_that_would_be_cut() -> None:
    files = [f"x/{n}.png" for n in range(4)]
    rows = [{"file": file} for file in files[:3]]
    parts = split_set([
        {"file": files[0], "part": "train", "group": "b1", "kind": "block"},
        {"file": files[1], "part": "test", "group": "b2", "kind": "block"},
        {"file": files[3], "part": "test"},
        {"file": "x/9.png", "part": "test"},
    ])  # fmt: skip
    found = match(frame_table({"exam": files}), label_set(rows), parts)
    assert names(found.labels.part) == ["train", "test", None, "test"]
    assert names(found.labels.group)[:2] == ["block b1", "block b2"]
    for words in ("split: no screened frame", "split: the labelled frame", "split: the frame has"):
        assert problem_rows(found.problems, words) == 1


def test_a_frame_in_two_parts_is_in_none_and_named() -> None:
    rows = [{"exam": "exam", "frame": frame} for frame in range(2)]
    parts = split_set([
        {"exam": "exam", "frame": 0, "part": "train"},
        {"file": "a.png", "part": "test"},
        {"file": "b.png", "part": "test"},
        {"file": "exam/b.png", "part": "test"},
    ])  # fmt: skip
    found = match(frame_table({"exam": ["exam/a.png", "exam/b.png"]}), label_set(rows), parts)
    assert found.in_two_parts.tolist() == [0]
    assert names(found.labels.part) == [None, "test"]
    assert examples(found, "in two parts") == ("exam/a.png",)


# Data sets as downloaded


def screened(folder: Path, pattern: str) -> pa.Table:
    """Return the frames of all folders of a pattern, each screened as an exam."""
    exams = {
        one.relative_to(folder).as_posix().replace("/", "-"): sorted(
            file.as_posix() for file in one.iterdir()
        )
        for one in sorted(folder.glob(pattern))
    }
    return frame_table(exams)


def kvasir_files() -> list[str]:
    files = [
        f"labelled_images/{finding}/{video}_{number}.jpg"
        for video in (VIDEO, OTHER_VIDEO)
        for start, finding in enumerate(["Normal clean mucosa", "Polyp", "Foreign body"])
        for number in range(100 * start, 100 * start + 20)
    ]
    return [*files, f"labelled_images/Polyp/{VIDEO}_203.jpg"]  # also in Foreign body


def check_units(found: Matched, labels: LabelSet) -> None:
    """Every row found its frame, and units are videos, never class folders."""
    assert found.rows.without_frame.sum() == 0
    assert (found.labels.truth >= 0).sum() == len(labels.table)
    assert set(found.labels.unit.names) == {VIDEO, OTHER_VIDEO}
    labelled = found.labels.truth >= 0
    assert (found.labels.unit.code[labelled] >= 0).all()
    assert set(found.labels.group.code[labelled]) == {
        found.labels.group.names.index(f"patient {video}") for video in (VIDEO, OTHER_VIDEO)
    }


@pytest.mark.parametrize("labels_from", ["folder", "metadata", "split"])
def test_kvasir_capsule_as_downloaded_matches_row_by_row(tmp_path: Path, labels_from: str) -> None:
    files = kvasir_files()
    make_files(tmp_path, *files)
    rows = [(Path(file).name, Path(file).parent.name) for file in files]
    lines = [
        f"{name};{name[:16]};{name[17:-4]};Luminal;{finding}"
        + (";1;2;3;4;5;6;7;8" if finding == "Polyp" else ";;;;;;;")
        for name, finding in rows
    ]
    header = "filename;video_id;frame_number;finding_category;finding_class"
    metadata = tmp_path / "metadata.csv"
    write_text(metadata, header + ";x1;y1;x2;y2;x3;y3;x4;y4", *lines)
    split = tmp_path / "split_0.csv"
    write_text(split, "filename,label", *(f"{name},{finding}" for name, finding in rows))
    source = {"folder": tmp_path, "metadata": metadata, "split": split}[labels_from]
    labels = read_labels(source)
    assert len(labels.table) == 120  # of 121 files, because one frame has two findings
    found = match(screened(tmp_path, "labelled_images/*"), labels)
    check_units(found, labels)
    assert (found.labels.truth == POLYP).sum() == 41
    # The images in one folder, as other programs leave them.
    flat = frame_table({"all": sorted({f"all/{name}" for name, _ in rows})})
    check_units(match(flat, labels), labels)


def test_kvasir_capsule_as_videos_matches_by_number(tmp_path: Path) -> None:
    labels = read_labels(make_files(tmp_path, *kvasir_files()))
    check_units(match(frame_table({VIDEO: 300, OTHER_VIDEO: 300}), labels), labels)


def test_capsule_vision_as_downloaded_matches_row_by_row(tmp_path: Path) -> None:
    files = [
        f"Dataset/{part}/{finding}/KVASIR/{video}_{number}.jpg"
        for video in (VIDEO, OTHER_VIDEO)
        for part, start in (("training", 0), ("validation", 50))
        for place, finding in enumerate(["Normal", "Polyp", "Ulcer"])
        for number in range(start + 10 * place, start + 10 * place + 5)
    ]
    make_files(tmp_path, *files, f"Dataset/validation/Polyp/KVASIR/{VIDEO}_20.jpg")
    labels = read_labels(tmp_path / "Dataset")
    assert len(labels.table) == len(files)
    check_units(match(screened(tmp_path / "Dataset", "*/*/*"), labels), labels)


def test_names_that_repeat_in_several_sources_stay_apart(tmp_path: Path) -> None:
    files = [
        "training/Polyp/KID/1.jpg",
        "training/Normal/KID/1.jpg",
        "validation/Polyp/AIIMS/1.jpg",
    ]
    labels = read_labels(make_files(tmp_path / "Dataset", *files))
    frames = screened(tmp_path / "Dataset", "*/*/*")
    found = match(frames, labels)
    assert found.rows.without_frame.sum() == 0
    truth = dict(zip(frames["exam"].to_pylist(), found.labels.truth.tolist(), strict=True))
    assert truth == {
        "training-Normal-KID": NORMAL, "training-Polyp-KID": POLYP, "validation-Polyp-AIIMS": POLYP,
    }  # fmt: skip
    assert found.labels.unit.code.tolist() == [-1] * 3
