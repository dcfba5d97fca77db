"""Leaks are found, named, and stop the evaluation unless they are allowed."""

import csv

import numpy as np
import pytest
from PIL import Image

from capsieve.errors import FileError, LeakError
from capsieve.evaluation.leaks import (
    LEAK_COLUMNS,
    allowed_earlier,
    check_leaks,
    find_leaks,
    read_training_phashes,
    training_leak,
)
from capsieve.field_of_view import find_field_of_view
from capsieve.frame_table import NORMAL, OTHER, POLYP, UNLABELLED
from capsieve.learned.detector import SHIPPED
from capsieve.learned.model_file import read_model, write_model
from capsieve.phash import PixelHashes, field_phash, match_near_duplicates, phash
from made_models import CARD, brightness_model, spec
from sample_frames import CAPSULE
from support.labelled_frames import labelled_frames

RNG = np.random.default_rng(0)
A, B, C, D = (RNG.bytes(32) for _ in range(4))


def rows_of(*phashes, field=()):
    """Return hashes of whole frames, and inside the field of view; 0 if there is none."""
    columns = (phashes, field or [None] * len(phashes))
    rows = [[list(each or bytes(32)) for each in column] for column in columns]
    return np.array(rows, np.uint8).transpose(1, 0, 2)


def nearly(phash, bits):
    """Return the hash with so many bits changed."""
    changed = np.unpackbits(np.frombuffer(phash, np.uint8))
    changed[:: 256 // bits][:bits] ^= 1
    return np.packbits(changed).tobytes()


class Study:
    """Exams of one patient each; every frame has a label and a part, unless it is None."""

    def __init__(self):
        self.rows = []

    def exam(self, name, phashes, parts, *, pixels=None, patient="", truth=NORMAL, **more):
        for frame, part in enumerate(parts):
            row = {"exam": name, "frame": frame, "part": part, "truth": truth, "file": None}
            row["patient"] = name if patient == "" else patient
            row["pixels"] = pixels[frame] if pixels else f"{name} {frame}"
            row |= {"phash": phashes[frame], "unit": name, "block": None, "polyp": None}
            row["field"] = None
            self.rows.append(row | {key: value[frame] for key, value in more.items()})
        return self

    def column(self, name):
        return [row[name] for row in self.rows]

    @property
    def frames(self):
        group = [
            row["patient"] or (f"block {row['block']}" if row["block"] else f"exam {row['unit']}")
            for row in self.rows
        ]
        names = ("exam", "frame", "file", "polyp", "patient", "unit", "part")
        columns = {name: self.column(name) for name in names}
        return labelled_frames(np.zeros(len(group)), self.column("truth"), group=group, **columns)

    @property
    def hashes(self):
        pixels = np.unique(self.column("pixels"), return_inverse=True)[1]
        return PixelHashes(pixels, rows_of(*self.column("phash"), field=self.column("field")))

    def checked(self, *, allow=False, file=None):
        leaks = find_leaks(self.frames, self.hashes)
        return check_leaks(leaks, self.frames, allow=allow, file=file)

    def leaks(self, **more):
        return {leak.kind: leak for leak in find_leaks(self.frames, self.hashes, **more)}


@pytest.fixture
def study():
    return Study()


def test_a_clean_split_has_no_leaks(study):
    study.exam("a", [A, A], ["train"] * 2, pixels=["1", "1"]).exam("b", [B, C], ["test"] * 2)
    assert study.leaks() == {}
    assert study.checked() == ((), ())


def test_a_patient_in_two_parts_is_named(study):
    study.exam("a", [A], ["train"], patient="Anna").exam("b", [B], ["test"], patient="Anna")
    study.exam("c", [C], ["test"], patient="Carl")
    leaks = study.leaks()
    assert set(leaks) == {"patient"}
    assert leaks["patient"].count == 1
    assert "Anna (train, test)" in leaks["patient"].text
    assert "Carl" not in leaks["patient"].text


def test_an_exam_of_unknown_patient_in_two_parts_is_a_leak(study):
    study.exam("a", [A, B], ["train", "test"], patient=None)
    leak = study.leaks()["group"]
    assert leak.stops
    assert "exam a (train, test)" in leak.text


def test_frames_without_a_patient_and_a_block_may_be_of_any_block_of_their_exam(study):
    study.exam("a", [A, B], ["train", "test"], patient=None, block=["x", None])
    assert set(study.leaks()) == {"group"}


def test_frames_without_a_patient_in_no_part_are_no_leak(study):
    study.exam("a", [A, B, C], ["train", "test", None], patient=None, block=["x", "y", None])
    assert study.leaks() == {}


def test_blocks_of_one_exam_may_be_in_different_parts(study):
    study.exam("a", [A, B], ["train", "test"], patient=None, block=["x", "y"])
    assert study.leaks() == {}


def test_a_polyp_in_two_parts_is_a_warning(study):
    study.exam("a", [A, B], ["train", "test"], patient=None, truth=POLYP, block=["x", "y"])
    for row in study.rows:
        row["polyp"] = "1"
    leak = study.leaks()["polyp"]
    assert not leak.stops
    assert leak.count == 1


def test_a_frame_that_is_listed_in_two_parts_is_named(study):
    study.exam("a", [A], ["train"]).exam("b", [B, C], ["test", None])
    leak = study.leaks(in_two_parts=[2])["frame"]
    assert leak.count == 1
    assert "b frame 1" in leak.text


def test_equal_pixels_in_two_parts_are_named_once(study):
    study.exam("a", [A, B], ["train"] * 2, pixels=["1", "2"])
    study.exam("b", [A, C], ["test"] * 2, pixels=["1", "3"])
    leaks = study.leaks()
    assert set(leaks) == {"pixels"}
    assert leaks["pixels"].stops
    assert "a frame 0 (train) and b frame 0 (test)" in leaks["pixels"].text


def test_near_duplicates_across_parts_are_named(study):
    study.exam("a", [A, B], ["1"] * 2).exam("b", [C, nearly(A, 31)], ["2"] * 2)
    study.exam("c", [nearly(C, 3), D], ["3"] * 2)
    leaks = study.leaks()
    assert set(leaks) == {"near-duplicate"}
    assert leaks["near-duplicate"].count == 4
    assert "a frame 0 (1) and b frame 1 (2)" in leaks["near-duplicate"].text
    assert "b frame 0 (2) and c frame 0 (3)" in leaks["near-duplicate"].text


def test_images_that_differ_in_more_bits_are_no_near_duplicates(study):
    study.exam("a", [A], ["train"]).exam("b", [nearly(A, 32)], ["test"])
    assert study.leaks() == {}


def test_near_duplicates_within_one_part_are_no_leak(study):
    study.exam("a", [A, nearly(A, 4)], ["train"] * 2).exam("b", [nearly(A, 40)], ["train"])
    study.exam("c", [B, nearly(B, 4)], ["test"] * 2)
    assert study.leaks() == {}


def test_black_frames_in_two_parts_are_no_leak(study):
    study.exam("a", [None, A], ["train"] * 2, pixels=["black", "1"])
    study.exam("b", [None, B], ["test"] * 2, pixels=["black", "2"])
    assert {kind: leak.stops for kind, leak in study.leaks().items()} == {"twice": False}


def test_only_labelled_frames_count(study):
    study.exam("a", [A, B], ["train"] * 2, pixels=["1", "2"])
    study.exam("b", [A, nearly(B, 2)], ["test"] * 2, pixels=["1", "3"], truth=UNLABELLED)
    study.exam("c", [C], ["test"])
    assert study.leaks() == {}


def test_other_findings_count(study):
    study.exam("a", [A], ["train"]).exam("b", [nearly(A, 2)], ["test"], truth=OTHER)
    assert set(study.leaks()) == {"near-duplicate"}


def test_without_a_split_equal_images_of_two_exams_are_a_warning(study):
    study.exam("a", [A, A], [None] * 2, pixels=["1", "1"]).exam("b", [A], [None], pixels=["1"])
    study.exam("c", [nearly(A, 2)], [None])
    allowed, warnings = study.checked()
    assert allowed == ()
    assert "a frame 0 and b frame 0" in warnings[0]


def test_equal_frames_of_one_exam_are_usual(study):
    study.exam("a", [A, A], [None] * 2, pixels=["1", "1"]).exam("b", [B], [None])
    assert study.leaks() == {}


def test_without_images_names_are_still_checked(study):
    study.exam("a", [A], ["train"], patient="Anna").exam("b", [A], ["test"], patient="Anna")
    assert [leak.kind for leak in find_leaks(study.frames)] == ["patient"]


def test_all_leaks_are_named_with_the_option_to_continue(study):
    study.exam("a", [A, B], ["train"] * 2, patient="Anna")
    study.exam("b", [nearly(B, 9)], ["test"], patient="Anna")
    with pytest.raises(LeakError) as caught:
        study.checked()
    for words in ("Anna", "a frame 1 (train) and b frame 0 (test)", "--allow-leaks", "allow_leaks"):
        assert words in str(caught.value)


def test_allowed_leaks_are_returned(study):
    study.exam("a", [A], ["train"], patient="Anna").exam("b", [B], ["test"], patient="Anna")
    allowed, warnings = study.checked(allow=True)
    assert len(allowed) == 1
    assert "Anna" in allowed[0]
    assert warnings == ()


def test_image_files_are_named_by_their_names(study):
    study.exam("a", [A], ["train"], pixels=["1"], file=["x/1.png"])
    study.exam("b", [A], ["test"], pixels=["1"], file=["2.png"])
    assert "a/x/1.png (train) and b/2.png (test)" in study.leaks()["pixels"].text


def test_of_many_leaks_the_first_are_named_and_all_are_counted(study):
    phashes = [np.random.default_rng(seed).bytes(32) for seed in range(9)]
    study.exam("a", phashes, ["train"] * 9)
    study.exam("b", [nearly(phash, 5) for phash in phashes], ["test"] * 9)
    leak = study.leaks()["near-duplicate"]
    assert leak.count == 18
    assert leak.text.count("(train)") == 3
    assert "and 6 more" in leak.text


def test_a_frame_on_another_canvas_is_a_near_duplicate(study):
    study.exam("a", [A], ["train"], field=[C]).exam("b", [B], ["test"], field=[nearly(C, 20)])
    leak = study.leaks()["near-duplicate"]
    assert leak.count == 2
    assert leak.shared == ["b frame 0 (test)", "a frame 0 (train)"]


def test_a_frame_that_is_featureless_on_its_canvas_only_is_a_leak(study):
    study.exam("a", [None], ["train"], pixels=["1"], field=[C])
    study.exam("b", [None], ["test"], pixels=["1"], field=[C])
    assert study.leaks()["pixels"].stops


def read_rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_all_frames_of_leaks_are_written_to_a_file(study, tmp_path):
    phashes = [np.random.default_rng(seed).bytes(32) for seed in range(9)]
    study.exam("a", phashes, ["train"] * 9, patient="Anna")
    study.exam("b", [nearly(phash, 5) for phash in phashes], ["test"] * 9, patient="Anna")
    path = tmp_path / "new" / "leaks.csv"
    with pytest.raises(LeakError, match=r"leaks\.csv"):
        study.checked(file=path)
    rows = read_rows(path)
    assert tuple(rows[0]) == LEAK_COLUMNS
    of_kind = [
        [row for row in rows if row["leak"] == kind] for kind in ("patient", "near-duplicate")
    ]
    assert [len(each) for each in of_kind] == [18, 18]
    assert {row["shared"] for row in of_kind[0]} == {"Anna"}
    last = of_kind[1][-1]
    assert (last["exam"], last["frame"], last["part"]) == ("b", "8", "test")
    assert last["shared"] == "a frame 8 (train)"


def test_equal_images_are_written_with_the_frame_of_the_other_part(study, tmp_path):
    study.exam("a", [A, A], ["train"] * 2, pixels=["1", "1"]).exam("b", [A], ["test"], pixels=["1"])
    study.checked(allow=True, file=tmp_path / "leaks.csv")
    rows = read_rows(tmp_path / "leaks.csv")
    assert [(row["exam"], row["frame"], row["shared"]) for row in rows] == [
        ("a", "0", "b frame 0 (test)"),
        ("a", "1", "b frame 0 (test)"),
        ("b", "0", "a frame 0 (train)"),
    ]


def test_without_leaks_an_earlier_file_is_removed_and_another_one_is_kept(study, tmp_path):
    own, other = tmp_path / "leaks.csv", tmp_path / "notes.csv"
    own.write_text(",".join(LEAK_COLUMNS) + "\n")
    other.write_text("of the user")
    study.exam("a", [A], ["train"]).exam("b", [B], ["test"])
    for path in (own, other):
        study.checked(file=path)
    assert not own.exists()
    assert other.read_text() == "of the user"


def test_a_file_of_the_user_is_not_replaced(study, tmp_path):
    (tmp_path / "leaks.csv").write_text("of the user")
    study.exam("a", [A], ["train"]).exam("b", [A], ["test"])
    with pytest.raises(FileError, match="not written by capsieve"):
        study.checked(allow=True, file=tmp_path / "leaks.csv")


# Frames that trained the model.


def test_frames_that_trained_the_model_are_a_leak(study):
    study.exam("a", [A, B, C], [None] * 3)
    hashes = study.hashes
    (leak,) = training_leak(study.frames, hashes, rows_of(D, nearly(B, 5)))
    assert leak is not None
    assert (leak.count, leak.stops) == (1, True)
    assert "a frame 1" in leak.text
    assert training_leak(study.frames, hashes, rows_of(D)) == []


def test_training_frames_are_recognised_by_the_hash_inside_the_field_of_view(study):
    study.exam("a", [A, B], [None] * 2, field=[None, nearly(C, 36)])
    (leak,) = training_leak(study.frames, study.hashes, rows_of(D, field=[C]))
    assert leak.rows.tolist() == [1]


def test_scores_carry_the_mark_of_leaks_that_were_allowed(study):
    study.exam("a", [A, B], [None] * 2).exam("b", [C], [None], truth=UNLABELLED)
    (leak,) = allowed_earlier(study.frames, [None, "near-duplicate", "patient"])
    assert (leak.rows.tolist(), leak.shared, leak.stops) == ([1], ["near-duplicate"], True)
    assert allowed_earlier(study.frames, [None] * 3) == []


def test_unlabelled_and_featureless_frames_are_no_training_leak(study):
    study.exam("a", [A, None], [None] * 2).exam("b", [B], [None], truth=UNLABELLED)
    hashes = study.hashes
    trained = rows_of(B, None)
    assert training_leak(study.frames, hashes, trained) == []


def write_trained(path, phashes=None):
    """Write a model and return the identity that exam.json has for it."""
    write_model(path, brightness_model(), spec(), CARD, phashes)
    return {"name": path.name, "model": read_model(path).sha256}


def test_the_hashes_of_training_frames_are_read_from_the_model_that_scored(tmp_path):
    detector = write_trained(tmp_path / "model.onnx", rows_of(A, B))
    trained, warning = read_training_phashes(detector, [tmp_path / "model.onnx"])
    assert warning == ""
    np.testing.assert_array_equal(trained, rows_of(A, B))
    # Another file of the same name is another model.
    trained, warning = read_training_phashes(
        detector | {"model": "0" * 64}, [tmp_path / "model.onnx"]
    )
    assert trained is None
    assert "raining data unknown" in warning


def test_a_model_without_hashes_gives_a_warning(tmp_path):
    detector = write_trained(tmp_path / "model.onnx")
    trained, warning = read_training_phashes(detector, [tmp_path / "model.onnx"])
    assert trained is None
    assert "raining data unknown" in warning


@pytest.mark.parametrize("detector", [{}, {"name": "paper"}, {"name": "curvature"}])
def test_detectors_without_a_model_need_no_hashes(detector):
    assert read_training_phashes(detector) == (None, "")


@pytest.mark.skipif(not CAPSULE.is_dir(), reason=f"the real frames are not in {CAPSULE}")
def test_training_frames_of_the_shipped_model_are_recognised_in_another_export():
    files = sorted((CAPSULE / "see-ai").iterdir())[::230]
    others = sorted((CAPSULE / "kvasir-capsule").iterdir())[::230]
    trained = read_model(SHIPPED).training_phashes

    def exported(path):
        larger = np.zeros((320, 320, 3), np.uint8)
        with Image.open(path) as image:
            larger[30:254, 70:294] = np.asarray(image.convert("RGB"))[:, ::-1]
        return larger

    for paths, share in ((files, 1.0), (others, 0.0)):
        images = [exported(path) for path in paths]
        field = find_field_of_view(images)
        hashes = rows_of(*map(phash, images), field=[field_phash(each, field) for each in images])
        match, _ = match_near_duplicates(hashes, trained)
        assert (match >= 0).mean() == share
