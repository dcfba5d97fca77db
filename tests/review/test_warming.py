"""Detectors are made ready in the background, and nobody is held up by it."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from capsieve.review import evidence_view, warming
from capsieve.review.catalogue import Catalogue
from capsieve.review.warming import Warming, exam_of_each_kind, go_through
from review_exam import write_small_exam

WAIT = 60.0


@pytest.fixture
def begun(monkeypatch):
    """Return what is begun, with each step noted."""
    steps = []
    monkeypatch.setattr(warming, "_REST", 0.0)
    monkeypatch.setattr(warming, "go_through", lambda folders: steps.append("gone through"))

    def begin(*, compiled, seconds=0):
        def process(folders):
            steps.append("compiled")
            return subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"])

        monkeypatch.setattr(warming, "_is_compiled", lambda: compiled)
        monkeypatch.setattr(warming, "_process", process)
        made = Warming()
        made.begin(lambda: [Path("exam")])
        return made, steps

    return begin


def test_compiled_code_is_loaded_and_other_code_compiled_elsewhere_first(begun):
    made, steps = begun(compiled=True)
    assert made.wait(lambda: True)
    assert steps == ["gone through"]
    made, steps = begun(compiled=False)
    assert made.wait(lambda: True)
    assert steps == ["gone through", "compiled", "gone through"]


def test_who_has_gone_does_not_wait(begun):
    made, _ = begun(compiled=False, seconds=1000)
    assert not made.wait(lambda: False)
    made.close()


def test_the_end_does_not_wait_for_it(begun):
    made, steps = begun(compiled=False, seconds=1000)
    while not steps:
        time.sleep(0.01)
    made.close()
    end = time.monotonic() + WAIT
    assert made.wait(lambda: time.monotonic() < end)
    assert steps == ["compiled"]


def test_nobody_waits_where_nothing_was_begun():
    assert Warming().wait(lambda: False)


def test_what_goes_wrong_is_not_told(results, tmp_path, monkeypatch, capfd):
    def fail(*given):
        raise RuntimeError("not to be seen")

    monkeypatch.setattr(evidence_view, "evidence_view", fail)
    go_through([results / "small", tmp_path / "no exam"])
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_afterwards_no_loop_is_compiled_for_a_frame(results):
    """In a process of its own: here other tests have compiled everything."""
    script = """
import sys
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from capsieve.review.evidence_detector import screening_detector
from capsieve import FieldOfView, Parameters, phantom
from capsieve.review.evidence_view import evidence_view
from capsieve.review.warming import go_through
from capsieve.store.recall import Recalled
from capsieve.store.record import read_record

exam = Path(sys.argv[1])
frame = phantom.polyp_frame(size=320)
view = FieldOfView(shape="circle", row=160.0, col=160.0, radius=150.0, confidence=1.0)
go_through([exam])
compile = Dispatcher.compile
def told(self, signature):
    print(self.py_func.__name__, signature)
    return compile(self, signature)
Dispatcher.compile = told
recalled = Recalled(frame, view, Parameters(), {}, "")
assert evidence_view(recalled, screening_detector(exam, read_record(exam))).message.balls
"""
    command = [sys.executable, "-c", script, str(results / "small")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_one_exam_of_each_detector_is_chosen(tmp_path):
    for name in ("a", "b"):
        write_small_exam(tmp_path / "out", tmp_path / f"source {name}", exam=name)
    (tmp_path / "out" / "c").mkdir()
    (tmp_path / "out" / "c" / "exam.json").write_text("{}")
    assert exam_of_each_kind(Catalogue(tmp_path / "out").exams()) == [tmp_path / "out" / "a"]
