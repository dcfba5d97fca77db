"""Progress of a command."""

import re
import sys

import pytest

from capsieve import Progress
from capsieve.cli import progress as progress_module
from capsieve.cli.progress import Bar, exam_listener, exam_progress, progress_bar


@pytest.fixture
def clock(monkeypatch):
    """Return a list with the time; a test may change it."""
    now = [0.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def shown():
    return []


@pytest.fixture
def bar(shown):
    made = Bar({"One": 1, "Two": 3}, lambda *what: shown.append(what))
    made.start("One")
    return made


def test_the_bar_goes_over_all_stages_and_never_back(bar, shown):
    bar.update(0.5)
    bar.update(1.0)
    bar.start("Two")
    bar.update(0.5)
    assert [fraction for _, fraction, _ in shown] == [0, 0.125, 0.25, 0.25, 0.625]
    assert shown[-1][0] == "Two"


def test_the_bar_goes_over_all_exams(bar, shown, clock):
    listen = exam_listener(bar)
    for number, done in ((1, 0), (1, 50), (2, 50), (1, 100), (2, 100)):
        clock[0] += 1
        listen(Progress(f"exam {number}", number, 2, done, 100, 0))
    fractions = [4 * fraction for _, fraction, _ in shown[1:]]
    assert fractions == [0, 0.25, 0.5, 0.75, 1]
    assert "150 frames" in shown[-2][2]


def test_the_rate_is_that_since_the_first_frames_without_those_of_an_earlier_run(bar, shown, clock):
    listen = exam_listener(bar)
    for time, done in ((0, 40), (100, 50), (110, 70)):
        clock[0] = time
        listen(Progress("exam", 1, 1, done, 100, 40))
    words = [words for _, _, words in shown[1:]]
    assert "frames/s" not in words[0] + words[1]
    assert "2 frames/s, 15 s left" in words[2]


def test_a_terminal_shows_a_bar_from_the_start(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with exam_progress("Screening"):
        pass
    assert "Screening" in capsys.readouterr().err


def test_elsewhere_there_are_lines_after_some_seconds(capsys, clock):
    with progress_bar({"Screening": 1}) as bar:
        bar.start("Screening")
        clock[0] = progress_module.EVERY_S
        bar.update(0.25, "10 frames")
        bar.update(0.5, "20 frames")
    assert capsys.readouterr().err == "Screening: 25 %, 10 frames\n"


def test_a_quiet_command_shows_nothing(capsys, monkeypatch, clock):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar({"Screening": 1}, quiet=True) as bar:
        bar.start("Screening")
        clock[0] = 100
        bar.update(0.5)
    assert not re.search(r"\S", capsys.readouterr().err)
