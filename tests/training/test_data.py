import csv

import numpy as np
import pytest

from capsieve.errors import FileError, LeakError, ParameterError
from capsieve.screening.screen import screen
from capsieve.training.data import NORMAL, OTHER, POLYP, read_frames
from support.training_study import FRAMES, PATIENTS, SHOWN, write_study_labels


def read(study, tmp_path, *, labels=None, **options):
    options = {"folds": 4, "planned": tmp_path / "folds.csv"} | options
    return read_frames(study.results, labels or study.labels, **options)


def changed(study, path, change):
    """Write the labels, each row changed by a function; None leaves the row out."""
    with study.labels.open(newline="") as file:
        rows = [change(row) for row in csv.DictReader(file)]
    kept = [row for row in rows if row is not None]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, kept[0])
        writer.writeheader()
        writer.writerows(kept)
    return path


def test_every_labelled_frame_is_in_one_fold_with_its_whole_patient(study, tmp_path):
    frames = read(study, tmp_path)
    assert len(frames) == PATIENTS * FRAMES
    assert (frames.truth == POLYP).sum() == PATIENTS * SHOWN
    assert np.array_equal(np.unique(frames.fold), range(4))
    for group in range(PATIENTS):
        assert len(np.unique(frames.fold[frames.group == group])) == 1
    assert frames.group_kind == "patient"
    assert frames.splits.read_text().startswith("exam,")


def test_frames_carry_what_training_needs_of_the_screened_exam(study, tmp_path):
    frames = read(study, tmp_path)
    assert all(len(text) == 32 for text in frames.pixel_hash)
    assert frames.phash.shape == (len(frames), 32)
    assert frames.has_phash.all()
    assert frames.file[0] == "frame0.png"
    assert len(frames.labels_hash) == 64


def test_unlabelled_frames_are_left_out(study, tmp_path):
    labels = changed(
        study, tmp_path / "labels.csv", lambda row: None if row["file"] == "frame7.png" else row
    )
    frames = read(study, tmp_path, labels=labels)
    assert len(frames) == PATIENTS * (FRAMES - 1)
    assert "frame7.png" not in frames.file


def test_the_same_seed_gives_the_same_folds(study, tmp_path):
    one, same = read(study, tmp_path).fold, read(study, tmp_path).fold
    assert np.array_equal(one, same)
    others = [read(study, tmp_path, seed=seed).fold for seed in range(1, 4)]
    assert any(not np.array_equal(one, other) for other in others)


def test_findings_are_split_at_every_usual_separator(study, tmp_path):
    texts = {"frame6.png": "Ulcer;erosion", "frame7.png": "ulcer|Erosion", "frame8.png": "ulcer, x"}

    def change(row):
        found = texts.get(row["file"])
        return row | {"finding": found or "", "label": "other" if found else row["label"]}

    frames = read(study, tmp_path, labels=changed(study, tmp_path / "labels.csv", change))
    words = {frames.findings[code] for code in np.unique(frames.finding[frames.truth == OTHER])}
    assert words == {frozenset({"ulcer", "erosion"}), frozenset({"ulcer", "x"})}


def test_folders_of_the_labelled_files_are_sources(study, tmp_path):
    """One source has no polyps: it is not trained."""
    parent = screen(study.exams, tmp_path / "results", workers=1)[0].folder.parent
    patients = PATIENTS // 2

    def change(row):
        number = int(row["exam"].removeprefix("exam"))
        if number >= patients and row["label"] == "polyp":
            return None
        return row | {"file": f"{row['exam']}/{row['file']}", "exam": ""}

    labels = changed(study, tmp_path / "labels.csv", change)
    frames = read_frames(parent, labels, folds=4, planned=tmp_path / "folds.csv")
    assert len(frames.sources) == PATIENTS
    without = [f"exam{number}" for number in range(patients, PATIENTS)]
    assert {frames.sources[code] for code in np.unique(frames.source[~frames.trained])} == set(
        without
    )


def test_folders_with_polyp_frames_only_are_not_sources(study, tmp_path):
    def change(row):
        number = int(row["exam"].removeprefix("exam"))
        other = "normal" if number else "polyp"
        label = other if row["label"] == "normal" else row["label"]
        return row | {"file": f"{row['exam']}/{row['file']}", "exam": "", "label": label}

    frames = read(study, tmp_path, labels=changed(study, tmp_path / "labels.csv", change))
    assert frames.sources == ("all frames",)
    assert any("one source" in text for text in frames.warnings)


@pytest.mark.parametrize(
    ("classes", "word"), [("normal normal", "polyp"), ("polyp other", "normal")]
)
def test_labels_of_one_class_are_refused(study, tmp_path, classes, word):
    labels = write_study_labels(tmp_path / "labels.csv", classes=classes)
    with pytest.raises(FileError, match=f"no frame as {word}"):
        read(study, tmp_path, labels=labels)


def test_labels_of_one_exam_without_patients_are_refused(study, tmp_path):
    labels = changed(
        study,
        tmp_path / "labels.csv",
        lambda row: row | {"patient": ""} if row["exam"] == "exam0" else None,
    )
    with pytest.raises(FileError, match=r"belong together|only"):
        read(study, tmp_path, labels=labels)


def folds_file(study, path, part):
    return changed(
        study,
        path,
        lambda row: {"exam": row["exam"], "file": row["file"], "part": part(row)},
    )


def test_a_split_into_train_and_test_is_refused(study, tmp_path):
    splits = folds_file(
        study, tmp_path / "s.csv", lambda row: "train" if row["exam"] < "exam4" else "test"
    )
    with pytest.raises(ParameterError, match="needs folds"):
        read(study, tmp_path, splits=splits)


def test_folds_that_share_a_patient_are_a_leak(study, tmp_path):
    splits = folds_file(
        study, tmp_path / "s.csv", lambda row: "1" if row["file"] < "frame2" else "2"
    )
    with pytest.raises(LeakError):
        read(study, tmp_path, splits=splits)
    assert read(study, tmp_path, splits=splits, allow_leaks=True).leaks


def test_folds_with_all_polyps_in_one_of_them_are_refused(study, tmp_path):
    def change(row):
        far = int(row["exam"].removeprefix("exam")) > 3
        return row | {"label": "normal", "polyp": ""} if far else row

    labels = changed(study, tmp_path / "labels.csv", change)
    splits = folds_file(
        study, tmp_path / "s.csv", lambda row: "1" if row["exam"] < "exam4" else "2"
    )
    with pytest.raises(ParameterError, match="all polyp frames are in one fold"):
        read(study, tmp_path, labels=labels, splits=splits)


def test_some_of_the_frames_keep_their_names(study, tmp_path):
    frames = read(study, tmp_path)
    some = frames.take(frames.truth == NORMAL)
    assert len(some) == PATIENTS * (FRAMES - SHOWN)
    assert some.groups == frames.groups
