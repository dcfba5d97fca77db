"""Exams are prepared in the background, and whoever asks learns how far that is."""

import threading
import time

import pytest

from capsieve.errors import FileError
from capsieve.review import frame_desk
from capsieve.review.catalogue import Catalogue
from capsieve.review.frame_desk import FrameDesk
from capsieve.review.frames import ExamFrames

WAIT = 60.0


@pytest.fixture
def facts(results):
    return Catalogue(results).find("small")


def ended(ask):
    """Ask until an exam is prepared or has failed."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        found = ask()
        if found.state in ("ready", "failed"):
            return found
        time.sleep(0.01)
    raise AssertionError("it is still at work")


@pytest.fixture
def broken(monkeypatch, facts):
    """Let every exam fail, and count how often it is tried."""
    tries = []

    def fail(self, *, progress=None):
        tries.append(1)
        raise FileError(f"cannot write {facts.folder}/review: the disk is full")

    monkeypatch.setattr(ExamFrames, "prepare", fail)
    return tries


def test_an_exam_becomes_ready(facts):
    desk = FrameDesk()
    assert ended(lambda: desk.prepare(facts)).state == "ready"
    desk.close()


def test_a_failure_is_told_to_all_who_ask_and_once_on_the_terminal(facts, broken, monkeypatch):
    said = []
    desk = FrameDesk(say=said.append)
    for _ in range(3):
        found = ended(lambda: desk.prepare(facts))
        assert found.words == "Cannot write small/review: the disk is full."
    assert len(broken) == 1
    monkeypatch.setattr(frame_desk, "_FAILED_FOR", 0.0)
    assert desk.prepare(facts).state == "waiting"
    while len(broken) == 1:
        time.sleep(0.01)
    desk.close()
    (sentence,) = said
    assert sentence.startswith("small could not be prepared: cannot write /")


def test_after_a_failure_it_is_tried_again(facts, broken, monkeypatch):
    desk = FrameDesk()
    assert ended(lambda: desk.prepare(facts)).state == "failed"
    monkeypatch.undo()
    monkeypatch.setattr(frame_desk, "_FAILED_FOR", 0.0)
    assert ended(lambda: desk.prepare(facts)).state == "ready"
    desk.close()


def test_the_page_learns_why_an_exam_failed(client, broken):
    found = ended(lambda: _Told(client.get("/api/exams/small/preparing").json()))
    assert found.words.endswith("the disk is full.")
    assert client.get("/api/exams/small/frames/0/3").status_code == 200


class _Told:
    def __init__(self, message):
        self.state, self.words = message["state"], message["words"]


def test_the_end_of_the_server_ends_the_work(facts, monkeypatch):
    begun, gone_on = threading.Event(), threading.Event()

    def prepare(self, *, progress=None):
        begun.set()
        assert progress is not None
        while True:
            progress("working", 0, 1)
            gone_on.wait(0.01)

    monkeypatch.setattr(ExamFrames, "prepare", prepare)
    desk = FrameDesk()
    desk.prepare(facts)
    assert begun.wait(WAIT)
    (working,) = [each for each in threading.enumerate() if each.name == "prepare small"]
    desk.close()
    working.join(WAIT)
    assert not working.is_alive()
