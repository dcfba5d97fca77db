"""Checks of the frames and events that an action names."""

import shutil

import pytest

from capsieve.decisions.exam import Event
from capsieve.review.action_checks import event_of_frame
from capsieve.sources.base import Place
from support.contents import decision, finding, landmark, note
from support.screened_source import write_screened_source
from support.small_exam import EVENTS_OF_SMALL, write_small_exam
from support.stored_images import numbered, write_files

FIRST = f"event:0:{EVENTS_OF_SMALL[0][0]}"


def test_a_frame_between_the_frames_of_an_event_belongs_to_the_shortest_event_around_it():
    wide, inner = Event(0, 2, (2, 9)), Event(0, 4, (4, 6))
    other = Event(1, 0, (0, 20))
    found = {n: event_of_frame([wide, other, inner], 0, n) for n in range(11)}
    assert found == {
        **dict.fromkeys((0, 1, 10)),
        **dict.fromkeys((2, 3, 7, 8, 9), wide),
        **dict.fromkeys((4, 5, 6), inner),
    }


CONTENTS = [
    decision("frame:0:2", "reject", frame=2),
    finding("a", [2]),
    finding("a", [1, 2, 3], size="small", size_on={"head": 0, "frame": 2})
    | {"best": {"head": 0, "frame": 1}},
    landmark("caecum", 2),
    note("x", "frame:0:2"),
]


@pytest.mark.parametrize("content", CONTENTS)
def test_nothing_is_stored_about_a_frame_that_could_not_be_decoded(content, tmp_path, open_app):
    folder = write_files(tmp_path / "images", numbered(4) | {"frame2.png": b"no image"})
    write_screened_source(tmp_path / "out" / "small", [Place("folder", str(folder))])
    client = open_app(tmp_path / "out").client()
    answer = client.act(content)
    assert answer.status_code == 422
    assert client.get("/api/exams/small/entries").json() == []
    assert client.act(note("x", "frame:0:3")).status_code == 200


def test_a_decision_waits_while_its_frame_cannot_be_read(tmp_path, open_app):
    write_small_exam(tmp_path / "out", tmp_path / "source")
    shutil.move(tmp_path / "source", tmp_path / "elsewhere")
    client = open_app(tmp_path / "out").client()
    assert client.act(decision(FIRST, "reject")).status_code == 503
    assert client.get("/api/exams/small/entries").json() == []
    shutil.move(tmp_path / "elsewhere", tmp_path / "source")
    assert client.act(decision(FIRST, "reject")).status_code == 200
