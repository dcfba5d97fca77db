"""The evidence for a frame over HTTP."""

import io
import json
import shutil
import subprocess
import threading

import pytest
from PIL import Image

import capsieve
from capsieve.review.errors import CancelledRequestError
from capsieve.review.evidence import EvidenceService
from support.contents import note
from support.models import shipped_model
from support.small_exam import SIZE, small_frame, write_small_exam

EVIDENCE = "/api/exams/small/evidence/0"


def test_every_map_is_an_image_of_the_size_of_the_frame(client):
    evidence = client.get(f"{EVIDENCE}/0").json()
    assert evidence["words"]
    assert evidence["maps"]
    for name in evidence["maps"]:
        answer = client.get(f"{EVIDENCE}/0/{name}.png")
        assert answer.headers["content-type"] == "image/png"
        assert Image.open(io.BytesIO(answer.content)).size == (SIZE, SIZE)


@pytest.mark.parametrize(
    "address", [f"{EVIDENCE}/99", "/api/exams/small/evidence/3/0", f"{EVIDENCE}/0/none.png"]
)
def test_a_missing_frame_head_or_map_is_not_found(client, address):
    answer = client.get(address)
    assert answer.status_code == 404
    assert answer.json()["detail"]


def test_the_evidence_is_computed_from_the_frame_of_that_number(client):
    radii = []
    for number in (0, 7):
        values = client.get(f"{EVIDENCE}/{number}").json()["values"]
        (radius,) = (each["value"] for each in values if each["name"] == "R_max")
        best = capsieve.explain(small_frame(number)).best
        assert best is not None
        assert radius == best.radius
        radii.append(radius)
    assert radii[0] != radii[1]


@pytest.fixture
def own_exam(tmp_path):
    """An exam that a test may change."""
    return write_small_exam(tmp_path / "own" / "out", tmp_path / "own" / "source")


def set_detector(exam, detector):
    """Record that another detector screened an exam."""
    record = json.loads((exam / "exam.json").read_text())
    (exam / "exam.json").write_text(json.dumps(record | {"detector": detector}))


def evidence(open_app, exam, frame=0):
    return open_app(exam.parent).client().get(f"{EVIDENCE}/{frame}")


def test_a_frame_that_changed_after_screening_has_no_evidence(open_app, own_exam):
    source = own_exam.parents[1] / "source"
    shutil.copy(source / "frame4.png", source / "frame3.png")
    assert evidence(open_app, own_exam, frame=3).status_code == 404
    assert evidence(open_app, own_exam, frame=4).status_code == 200


def test_a_missing_model_is_named(open_app, own_exam):
    set_detector(own_exam, {"name": "own.onnx", "model": "a" * 64, "threshold": 0.5})
    answer = evidence(open_app, own_exam)
    assert answer.status_code == 404
    assert "own.onnx" in answer.json()["detail"]


def test_another_model_of_the_same_name_is_not_used(open_app, own_exam):
    pytest.importorskip("onnxruntime")
    shutil.copy(shipped_model(), own_exam.parents[1] / "own.onnx")
    set_detector(own_exam, {"name": "own.onnx", "model": "a" * 64, "threshold": 0.5})
    answer = evidence(open_app, own_exam)
    assert answer.status_code == 404
    assert "own.onnx" in answer.json()["detail"]


@pytest.mark.slow
def test_a_model_next_to_the_results_is_found_by_its_name(open_app, own_exam):
    pytest.importorskip("onnxruntime")
    path = shutil.copy(shipped_model(), own_exam.parents[1] / "own.onnx")
    set_detector(own_exam, capsieve.load_detector(path).identity)
    answer = evidence(open_app, own_exam)
    assert answer.status_code == 200
    assert answer.json()["values"][0]["name"] == "score"


def test_waiting_for_evidence_delays_no_frame_and_no_decision(client, monkeypatch):
    released = threading.Event()

    def slow(*_):
        released.wait(60)
        raise CancelledRequestError

    monkeypatch.setattr(EvidenceService, "_evidence", slow)
    waiting = [threading.Thread(target=client.get, args=(f"{EVIDENCE}/0",)) for _ in range(60)]
    for thread in waiting:
        thread.start()
    try:
        assert client.get("/api/exams/small/frames/0/0").status_code == 200
        assert client.act(note("x")).status_code == 200
    finally:
        released.set()
        for thread in waiting:
            thread.join()


@pytest.mark.slow
def test_loops_that_are_not_cached_are_compiled_in_a_process_of_their_own(client, monkeypatch):
    processes = []

    class Process(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            processes.append(self)

    monkeypatch.setattr("capsieve.review.evidence.is_compiled", lambda work: bool(processes))
    monkeypatch.setattr("capsieve.review.evidence.subprocess.Popen", Process)
    for frame in (0, 1):
        assert client.get(f"{EVIDENCE}/{frame}").status_code == 200
    (process,) = processes
    assert process.returncode == 0
