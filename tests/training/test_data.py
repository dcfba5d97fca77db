import csv
from typing import Any

import numpy as np
import pytest

from capsieve.errors import FileError, LeakError, ParameterError
from capsieve.frame_table import NORMAL, OTHER, POLYP
from capsieve.training.data import read_frames
from support.training_study import FRAMES, PATIENTS, SHOWN, write_study_labels


def read(study, *, labels=None, **options):
    given: dict[str, Any] = {"folds": 4} | options
    return read_frames(study.results, labels or study.labels, **given)


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
    frames = read(study)
    assert len(frames) == PATIENTS * FRAMES
    assert (frames.truth == POLYP).sum() == PATIENTS * SHOWN
    assert np.array_equal(np.unique(frames.fold), range(4))
    for group in range(PATIENTS):
        assert len(np.unique(frames.fold[frames.labelled.group.code == group])) == 1
    assert frames.labelled.group_kind == "patient"
    assert frames.planned is not None
    assert frames.planned.table.num_rows == len(frames)


def test_frames_carry_what_training_needs_of_the_screened_exam(study, tmp_path):
    frames = read(study)
    assert all(len(text) == 32 for text in frames.pixel_hash)
    assert frames.phash.shape == (len(frames), 2, 32)
    assert frames.phash.any(axis=2).all()
    assert frames.path[0].endswith("exam0/frame0.png")
    assert len(frames.labels_hash) == 64


def test_unlabelled_frames_are_left_out(study, tmp_path):
    labels = changed(
        study, tmp_path / "labels.csv", lambda row: None if row["file"] == "frame7.png" else row
    )
    frames = read(study, labels=labels)
    assert len(frames) == PATIENTS * (FRAMES - 1)
    assert not any(path.endswith("frame7.png") for path in frames.path)


def test_the_same_seed_gives_the_same_folds(study, tmp_path):
    one, same = read(study).fold, read(study).fold
    assert np.array_equal(one, same)
    others = [read(study, seed=seed).fold for seed in range(1, 4)]
    assert any(not np.array_equal(one, other) for other in others)


def test_findings_are_split_at_semicolons_only(study, tmp_path):
    texts = {"frame6.png": "Ulcer;erosion", "frame7.png": "ulcer, flat"}

    def change(row):
        found = texts.get(row["file"])
        return row | {"finding": found or "", "label": "other" if found else row["label"]}

    frames = read(study, labels=changed(study, tmp_path / "labels.csv", change))
    codes = np.unique(frames.labelled.finding.code[frames.truth == OTHER])
    words = {frames.findings[code] for code in codes}
    assert words == {frozenset({"ulcer", "erosion"}), frozenset({"ulcer, flat"})}


def test_a_source_without_polyps_is_not_trained(study, tmp_path):
    def change(row):
        with_polyps = int(row["exam"].removeprefix("exam")) < PATIENTS // 2
        if not with_polyps and row["label"] == "polyp":
            return None
        return row | {"source": "one" if with_polyps else "two"}

    frames = read(study, labels=changed(study, tmp_path / "labels.csv", change))
    names = frames.labelled.source.names
    assert {names[code] for code in np.unique(frames.source[~frames.trained])} == {"two"}


def test_sources_with_polyp_frames_only_are_joined_with_the_others(study, tmp_path):
    def change(row):
        first = row["exam"] == "exam0"
        label = "polyp" if first and row["label"] == "normal" else row["label"]
        return row | {"source": "one" if first else "two", "label": label}

    frames = read(study, labels=changed(study, tmp_path / "labels.csv", change))
    assert frames.labelled.source.names == ("all frames",)
    assert any("one source" in text for text in frames.warnings)


@pytest.mark.parametrize(
    ("classes", "word"), [("normal normal", "polyp"), ("polyp other", "normal")]
)
def test_labels_of_one_class_are_refused(study, tmp_path, classes, word):
    labels = write_study_labels(tmp_path / "labels.csv", classes=classes)
    with pytest.raises(FileError, match=f"no frame as {word}"):
        read(study, labels=labels)


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
        read(study, splits=splits)


def test_folds_that_share_a_patient_are_a_leak(study, tmp_path):
    splits = folds_file(
        study, tmp_path / "s.csv", lambda row: "1" if row["file"] < "frame2" else "2"
    )
    with pytest.raises(LeakError):
        read(study, splits=splits)
    assert read(study, splits=splits, allow_leaks=True).leaks


def test_folds_with_all_polyps_in_one_of_them_are_refused(study, tmp_path):
    def change(row):
        far = int(row["exam"].removeprefix("exam")) > 3
        return row | {"label": "normal", "polyp": ""} if far else row

    labels = changed(study, tmp_path / "labels.csv", change)
    splits = folds_file(
        study, tmp_path / "s.csv", lambda row: "1" if row["exam"] < "exam4" else "2"
    )
    with pytest.raises(ParameterError, match="all polyp frames are in one fold"):
        read(study, labels=labels, splits=splits)


def test_some_of_the_frames_keep_their_names(study, tmp_path):
    frames = read(study)
    some = frames.take(frames.truth == NORMAL)
    assert len(some) == PATIENTS * (FRAMES - SHOWN)
    assert some.labelled.group.names == frames.labelled.group.names
