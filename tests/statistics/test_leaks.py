"""Leaks are found, named, and stop the run unless overridden."""

from pathlib import Path

import numpy as np
import pytest

from capsieve.errors import LeakError
from capsieve.statistics.leaks import check_leaks, find_leaks
from capsieve.statistics.matching import match
from support.label_sets import label_set, split_set
from support.results import write_results

RNG = np.random.default_rng(0)
A, B, C, D = (RNG.bytes(32) for _ in range(4))


def nearly(phash, bits):
    """The same hash with so many bits changed."""
    changed = np.unpackbits(np.frombuffer(phash, np.uint8))
    changed[:: 256 // bits][:bits] ^= 1
    return np.packbits(changed).tobytes()


class Study:
    """Exams of one patient each, of which every frame has a label and a part."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.folders = folder, []
        self.labels, self.splits = [], []

    def exam(self, name, phashes, parts, *, pixel_hash=None, patient="", label="normal", **columns):
        pixel_hash = pixel_hash or [f"{name} {number}" for number in range(len(phashes))]
        self.folders.append(
            write_results(self.folder / name, phash=phashes, pixel_hash=pixel_hash, **columns)
        )
        for frame, part in enumerate(parts):
            row = {"exam": name, "head": 0, "frame": frame}
            if label:
                patient = name if patient == "" else patient
                self.labels.append(row | {"patient": patient, "label": label})
            if part:
                self.splits.append(row | {"part": part})
        return self

    def matched(self):
        splits = split_set(self.splits) if self.splits else None
        return match(self.folders, label_set(self.labels), splits=splits)

    def leaks(self):
        matched = self.matched()
        found = find_leaks(matched.judged, matched.folders, in_two_parts=matched.in_two_parts)
        return {leak.kind: leak for leak in found}


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path)


def test_a_clean_split_has_no_leaks(study):
    study.exam("a", [A, A], ["train"] * 2, pixel_hash=["1", "1"]).exam("b", [B, C], ["test"] * 2)
    assert study.leaks() == {}
    assert check_leaks(study.matched(), allow=False) == ((), ())


def test_a_patient_in_two_parts_is_named(study):
    study.exam("a", [A], ["train"], patient="Anna").exam("b", [B], ["test"], patient="Anna")
    study.exam("c", [C], ["test"], patient="Carl")
    leaks = study.leaks()
    assert set(leaks) == {"patient"}
    assert leaks["patient"].count == 1
    assert "Anna (test, train)" in leaks["patient"].text
    assert "Carl" not in leaks["patient"].text


def test_an_exam_of_unknown_patient_in_two_parts_is_a_group_in_two_parts(study):
    study.exam("a", [A, B], ["train", "test"], patient=None)
    leak = study.leaks()["group"]
    assert leak.stops
    assert "exam a (test, train)" in leak.text


def test_frames_without_a_patient_may_be_those_of_the_patient_beside_them(study):
    study.exam("a", [A, B], ["train", "test"], patient="Anna")
    study.labels[1]["patient"] = None
    leaks = study.leaks()
    assert set(leaks) == {"group"}
    assert leaks["group"].stops
    assert "exam a (test, train); not all frames name their patient" in leaks["group"].text


def test_frames_without_a_patient_in_no_part_stop_nobody(study):
    study.exam("a", [A, B, C], ["train", "test", None], patient="Anna")
    study.labels[1]["patient"] = "Bea"
    study.labels[2]["patient"] = None
    assert study.leaks() == {}


def test_a_polyp_in_two_parts_is_a_warning(study):
    study.exam("a", [A, B], ["train", "test"], label="polyp")
    for row, block in zip(study.labels, "xy", strict=True):
        row |= {"patient": None, "block": block, "polyp": "1"}
    leak = study.leaks()["polyp"]
    assert not leak.stops
    assert "1 polyp is in more than one part: 1 (test, train)." in leak.text


def test_a_frame_that_is_listed_in_two_parts_is_named(study):
    study.exam("a", [A], ["train"]).exam("b", [B, C], ["test", "test"])
    study.splits.append({"exam": "b", "head": 0, "frame": 1, "part": "train"})
    leak = study.leaks()["frame"]
    assert leak.count == 1
    assert "b frame 1" in leak.text


def test_equal_pixels_in_two_parts_are_named_once(study):
    study.exam("a", [A, B], ["train"] * 2, pixel_hash=["1", "2"])
    study.exam("b", [A, C], ["test"] * 2, pixel_hash=["1", "3"])
    leaks = study.leaks()
    assert set(leaks) == {"pixels"}
    assert leaks["pixels"].stops
    assert "a frame 0 (train) and b frame 0 (test)" in leaks["pixels"].text


def test_near_identical_images_across_parts_are_named(study):
    study.exam("a", [A, B], ["1"] * 2).exam("b", [C, nearly(A, 31)], ["2"] * 2)
    study.exam("c", [nearly(C, 3), D], ["3"] * 2)
    leaks = study.leaks()
    assert set(leaks) == {"near-identical"}
    assert leaks["near-identical"].count == 4
    assert "a frame 0 (1) and b frame 1 (2)" in leaks["near-identical"].text
    assert "b frame 0 (2) and c frame 0 (3)" in leaks["near-identical"].text


def test_images_that_differ_more_are_others(study):
    study.exam("a", [A], ["train"]).exam("b", [nearly(A, 32)], ["test"])
    assert study.leaks() == {}


def test_near_identical_images_within_one_part_are_no_leak(study):
    study.exam("a", [A, nearly(A, 4)], ["train"] * 2).exam("b", [nearly(A, 40)], ["train"])
    study.exam("c", [B, nearly(B, 4)], ["test"] * 2)
    assert study.leaks() == {}


def test_black_frames_in_two_parts_stop_nobody(study):
    study.exam("a", [None, A], ["train"] * 2, pixel_hash=["black", "1"])
    study.exam("b", [None, B], ["test"] * 2, pixel_hash=["black", "2"])
    leaks = study.leaks()
    assert {kind: leak.stops for kind, leak in leaks.items()} == {"twice": False}
    assert "no leak" in leaks["twice"].text


def test_only_labelled_frames_count(study):
    study.exam("a", [A, B], ["train"] * 2, pixel_hash=["1", "2"])
    study.exam("b", [A, nearly(B, 2)], ["test"] * 2, pixel_hash=["1", "3"], label=None)
    study.exam("c", [C], ["test"])
    assert study.leaks() == {}


def test_other_findings_count(study):
    study.exam("a", [A], ["train"]).exam("b", [nearly(A, 2)], ["test"], label="other")
    assert set(study.leaks()) == {"near-identical"}


def test_without_a_split_equal_pictures_of_two_exams_are_a_warning(study):
    study.exam("a", [A, A], [None] * 2, pixel_hash=["1", "1"]).exam(
        "b", [A], [None], pixel_hash=["1"]
    )
    study.exam("c", [nearly(A, 2)], [None])
    leaks = study.leaks()
    assert {kind: leak.stops for kind, leak in leaks.items()} == {"twice": False}
    leaked, warnings = check_leaks(study.matched(), allow=False)
    assert leaked == ()
    assert "a frame 0 and b frame 0" in warnings[0]


def test_equal_frames_of_one_exam_are_usual(study):
    study.exam("a", [A, A], [None] * 2, pixel_hash=["1", "1"]).exam("b", [B], [None])
    assert study.leaks() == {}


def test_leaks_stop_the_run_with_every_one_named_and_the_way_to_go_on(study):
    study.exam("a", [A, B], ["train"] * 2, patient="Anna")
    study.exam("b", [nearly(B, 9)], ["test"], patient="Anna")
    with pytest.raises(LeakError) as caught:
        check_leaks(study.matched(), allow=False)
    for words in ("Anna", "a frame 1 (train) and b frame 0 (test)", "--allow-leaks", "allow_leaks"):
        assert words in str(caught.value)


def test_leaks_that_are_allowed_are_told(study):
    study.exam("a", [A], ["train"], patient="Anna").exam("b", [B], ["test"], patient="Anna")
    leaked, warnings = check_leaks(study.matched(), allow=True)
    assert len(leaked) == 1
    assert "Anna" in leaked[0]
    assert warnings == ()


def test_files_are_named_by_their_names(study):
    study.exam("a", [A], ["train"], pixel_hash=["1"], file=["x/1.png"])
    study.exam("b", [A], ["test"], pixel_hash=["1"], file=["2.png"])
    assert "a/x/1.png (train) and b/2.png (test)" in study.leaks()["pixels"].text


def test_of_many_leaks_the_first_are_named_and_all_are_counted(study):
    phashes = [np.random.default_rng(seed).bytes(32) for seed in range(9)]
    study.exam("a", phashes, ["train"] * 9).exam(
        "b", [nearly(phash, 5) for phash in phashes], ["test"] * 9
    )
    leak = study.leaks()["near-identical"]
    assert leak.count == 18
    assert leak.text.count("(train)") == 3
    assert "and 6 more" in leak.text
