"""Progress, on a terminal and elsewhere."""

import sys

import pytest

from capsieve.cli import progress
from capsieve.engine.progress import Progress


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def far(done, *, total=1000, exam="exam", number=1, exams=1, resumed=0, flagged=0):
    return Progress(exam, number, exams, done, total, resumed, flagged)


def test_plain_lines_tell_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    with progress.frame_progress("Rendering", 4) as advance:
        advance(1)
        advance(2)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Rendering: 1 of 4 frames")
    assert lines[1].startswith("Rendering: 3 of 4 frames")


def test_quiet_says_nothing(capsys):
    with progress.frame_progress("Rendering", 4, quiet=True) as advance:
        advance(4)
    assert capsys.readouterr().err == ""


def test_a_line_shows_rate_time_left_and_flagged(capsys, clock):
    with progress.exam_progress() as listen:
        listen(far(0))
        clock.now += 10
        listen(far(200, flagged=7))
    assert capsys.readouterr().err == (
        "Exam exam: 200 of 1000 frames, 20 frames/s, 40 s left, 7 flagged\n"
    )


def test_long_times_are_told_in_minutes(capsys, clock):
    with progress.exam_progress() as listen:
        listen(far(0, total=50_000))
        clock.now += 10
        listen(far(2_000, total=50_000))
    assert "200 frames/s, 4 min 00 s left" in capsys.readouterr().err


def test_lines_come_every_few_seconds(capsys, clock):
    with progress.exam_progress() as listen:
        for done in range(0, 1000, 10):
            listen(far(done))
            clock.now += 0.5
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines[:3]] == [
        "Exam exam: 100 of 1000 frames",
        "Exam exam: 200 of 1000 frames",
        "Exam exam: 300 of 1000 frames",
    ]


def test_frames_of_an_earlier_run_do_not_count_for_the_rate(capsys, clock):
    with progress.exam_progress() as listen:
        # They are told segment by segment, like all others.
        for done in (300, 600, 800):
            listen(far(done, resumed=done, flagged=3))
        clock.now += 10
        listen(far(900, resumed=800, flagged=4))
    assert capsys.readouterr().err == (
        "Exam exam: 900 of 1000 frames, 10 frames/s, 10 s left, 4 flagged\n"
    )


def test_there_is_no_rate_before_there_is_work(capsys, clock):
    with progress.exam_progress() as listen:
        clock.now += 10
        listen(far(800, resumed=800))
        assert "frames/s" not in capsys.readouterr().err
        clock.now += 10
        listen(far(900, resumed=800))
    assert "frames/s" in capsys.readouterr().err


def test_every_exam_has_its_own_rate_and_its_number(capsys, clock):
    with progress.exam_progress() as listen:
        listen(far(0, exam="a", number=1, exams=2))
        clock.now += 10
        listen(far(1000, exam="a", number=1, exams=2))
        listen(far(0, exam="b", number=2, exams=2))
        clock.now += 10
        listen(far(50, exam="b", number=2, exams=2))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Exam 1 of 2 a: 1000 of 1000 frames, 100 frames/s, 0 s left")
    assert lines[1].startswith("Exam 2 of 2 b: 50 of 1000 frames, 5 frames/s, 3 min 10 s left")


def test_more_frames_than_expected_leave_no_time(capsys, clock):
    with progress.exam_progress() as listen:
        listen(far(0, total=10))
        clock.now += 10
        listen(far(20, total=10))
    assert "20 of 10 frames, 2 frames/s, 0 s left" in capsys.readouterr().err


def test_a_quiet_screening_says_nothing(capsys, clock):
    with progress.exam_progress(quiet=True) as listen:
        clock.now += 10
        listen(far(500))
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_terminal_has_a_bar_with_the_same_words(capsys, clock, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("TERM", "xterm")
    with progress.exam_progress() as listen:
        listen(far(0, exam="[an exam]"))
        clock.now += 10
        listen(far(200, exam="[an exam]", flagged=7))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Exam [an exam]" in captured.err
    assert "20 frames/s, 40 s left, 7 flagged" in captured.err
