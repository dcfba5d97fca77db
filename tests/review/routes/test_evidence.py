"""Evidence over HTTP."""

import io
import json
import shutil

import pytest
from PIL import Image

from capsieve.frames import pixel_hash
from capsieve.review import evidence_desk
from capsieve.review.evidence_view import evidence_view
from capsieve.store.record import RECORD
from room_client import RoomClient
from support.small_exam import SIZE, small_frame, write_small_exam

EVIDENCE = "/api/exams/small/evidence/0"


def test_evidence_comes_with_its_maps(client):
    evidence = client.get(f"{EVIDENCE}/0").json()
    assert evidence["words"]
    for name in evidence["maps"]:
        answer = client.get(f"{EVIDENCE}/0/{name}.png")
        assert answer.headers["content-type"] == "image/png"
        assert Image.open(io.BytesIO(answer.content)).size == (SIZE, SIZE)


def test_what_is_not_there_is_one_sentence(client):
    for address in (f"{EVIDENCE}/99", "/api/exams/small/evidence/3/0", f"{EVIDENCE}/0/none.png"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert answer.json()["detail"].endswith(".")


@pytest.fixture
def own_exam(tmp_path):
    """An exam that a test may spoil."""
    return write_small_exam(tmp_path / "own" / "out", tmp_path / "own" / "source")


def screened_with(exam, detector):
    """Let an exam's record say that another detector screened it."""
    record = json.loads((exam / RECORD).read_text())
    (exam / RECORD).write_text(json.dumps(record | {"detector": detector}))


def refusal(open_a_room, exam, frame=0):
    answer = RoomClient(open_a_room(out=exam.parent)).get(f"{EVIDENCE}/{frame}")
    assert answer.status_code == 404
    return answer.json()["detail"]


def test_evidence_is_told_of_the_very_frame_that_was_scored(client, monkeypatch):
    asked = []
    monkeypatch.setattr(
        evidence_desk,
        "evidence_view",
        lambda *given: asked.append(given[0]) or evidence_view(*given),
    )
    client.get(f"{EVIDENCE}/7")
    (recalled,) = asked
    assert pixel_hash(recalled.pixels) == pixel_hash(small_frame(7)) == recalled.row["sha1"]
    assert recalled.row["frame"] == 7


def test_a_frame_that_has_changed_since_has_no_evidence(open_a_room, own_exam):
    source = own_exam.parents[1] / "source"
    shutil.copy(source / "frame4.png", source / "frame3.png")
    assert "not what was screened" in refusal(open_a_room, own_exam, frame=3)


def test_there_is_no_evidence_where_the_model_is_gone(open_a_room, own_exam):
    screened_with(own_exam, {"name": "own.onnx", "model": "a" * 64, "threshold": 0.5})
    assert refusal(open_a_room, own_exam) == (
        "The exam small was screened with the model own.onnx, which is not here; put it beside the "
        "results to see why frames were flagged."
    )


def test_there_is_no_evidence_of_another_model_under_the_same_name(open_a_room, own_exam):
    pytest.importorskip("onnxruntime")
    from capsieve.learned.detector import SHIPPED

    shutil.copy(SHIPPED, own_exam.parents[1] / "own.onnx")
    screened_with(own_exam, {"name": "own.onnx", "model": "a" * 64, "threshold": 0.5})
    assert "its evidence would not be that of the flags" in refusal(open_a_room, own_exam)


def test_there_is_no_evidence_of_the_fits_of_a_training(open_a_room, own_exam):
    screened_with(own_exam, {"name": "svm", "out of fold": True, "model": "a" * 64})
    assert "out-of-fold" in refusal(open_a_room, own_exam)


@pytest.mark.slow
def test_a_model_beside_the_results_is_found_by_its_name(open_a_room, own_exam):
    pytest.importorskip("onnxruntime")
    from capsieve.detectors import load_detector
    from capsieve.learned.detector import SHIPPED

    path = shutil.copy(SHIPPED, own_exam.parents[1] / "own.onnx")
    screened_with(own_exam, load_detector(path).identity)
    evidence = RoomClient(open_a_room(out=own_exam.parent)).get(f"{EVIDENCE}/0").json()
    assert "probability of a polyp" in evidence["words"][0]
