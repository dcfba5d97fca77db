"""Times, transit and numbers of a reading."""

from dataclasses import replace

import numpy as np
import pytest

from capsieve.report.bins import scale_of
from capsieve.report.exam_tables import read_events, read_heads
from capsieve.report.reading_bar import colour_bar
from capsieve.report.reading_moments import Moments, when
from capsieve.report.reading_pictures import FramePicture, pointer
from capsieve.report.reading_rows import verdict_counts, written
from capsieve.report.reading_words import transit
from capsieve.review.decisions.reading import Finding, Landmark, Reading, Verdict
from capsieve.review.decisions.subjects import event_subject, frame_subject
from screened_exam import write_exam


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "exam"
    write_exam(path, frames=60, heads=2, events=2, start=100.0)
    return path


@pytest.fixture(scope="module")
def moments(folder):
    heads = read_heads(folder)
    return Moments(heads, scale_of(heads))


def marked(**places):
    return Reading(
        landmarks={
            name.replace("_", "-"): Landmark(head, frame, "anna", "2026-03-01T12:00:00Z", 1)
            for name, (head, frame) in places.items()
        }
    )


def said(verdict, confirmed=None):
    time = "2026-03-01T12:00:00Z"
    return Verdict(verdict, None, None, None, "anna", "reader", time, 1, confirmed)


def test_times_count_from_the_first_frame(moments):
    assert moments.seconds(0, 0) == 0.0
    time = moments.heads[1].time
    assert moments.seconds(1, 30) == pytest.approx(time[30] - min(h.time[0] for h in moments.heads))


@pytest.mark.parametrize(("head", "frame"), [(0, 60), (2, 0), (0, -1)])
def test_a_frame_that_the_exam_lacks_has_no_time(moments, head, frame):
    assert moments.seconds(head, frame) is None
    assert moments.position(head, frame) is None


def test_transit_is_the_time_between_the_ends_of_the_colon(moments):
    first, last = moments.heads[0].time[5], moments.heads[1].time[50]
    told = transit(marked(first_colon=(0, 5), last_colon=(1, 50)), moments)
    seconds = int(last - first)
    assert told == f"0:{seconds // 60:02}:{seconds % 60:02} (h:mm:ss)"


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ({}, "not both marked"),
        ({"first_colon": (0, 5)}, "not both marked"),
        ({"first_colon": (0, 50), "last_colon": (0, 5)}, "marked before the first"),
        ({"first_colon": (0, 5), "last_colon": (0, 600)}, "unknown"),
    ],
)
def test_transit_that_is_not_known_says_why(moments, places, words):
    told = transit(marked(**places), moments)
    assert told.startswith("not known")
    assert words in told


def test_times_that_make_no_sense_are_not_told(moments):
    heads = [replace(head, time=head.time[::-1]) for head in moments.heads]
    backwards = Moments(heads, scale_of(heads))
    told = transit(marked(first_colon=(0, 50), last_colon=(0, 5)), backwards)
    assert "run backwards" in told
    assert backwards.seconds(0, 3) is None


def test_times_that_nobody_knows_are_not_told(moments):
    heads = [replace(head, time=np.full(head.time.size, np.nan)) for head in moments.heads]
    unknown = Moments(heads, scale_of(heads))
    assert unknown.text(0, 3) == "\N{EN DASH}"
    assert unknown.position(0, 3) == 3


def test_every_event_is_counted_once(folder):
    events = read_events(folder)
    subjects = [event_subject(each.head, each.first_frame, each.last_frame) for each in events]
    verdicts = {
        subjects[0]: said("accept", True),
        subjects[1]: said("unsure"),
        frame_subject(0, 3): said("reject", False),
        event_subject(0, 900, 905): said("accept"),
    }
    counts = verdict_counts(Reading(verdicts=verdicts), events)
    assert counts.events == len(events)
    assert (counts.accepted, counts.rejected, counts.unsure) == (1, 0, 1)
    assert counts.undecided == len(events) - 2
    assert (counts.frames, counts.elsewhere) == (1, 1)
    assert (counts.confirmed, counts.refused) == (1, 1)


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ("2026-03-01T12:00:07.123Z", "1 March 2026, 12:00:07 UTC"),
        ("2026-03-01T00:30:00+01:00", "28 February 2026, 23:30:00 UTC"),
        ("2026-03-01T12:00:07", "2026-03-01T12:00:07"),
        ("yesterday", "yesterday"),
    ],
)
def test_moments_are_told_in_one_zone(time, words):
    assert when(time) == words


def test_lines_of_a_note_stay_lines():
    assert written(" one\r\ntwo\x1b[31m\n") == "one\ntwo\N{REPLACEMENT CHARACTER}[31m"


def test_the_bar_marks_each_finding_once_and_on_its_own_head(moments):
    findings = [
        Finding(name, {"head": head, "best_frame": frame}, "anna", "reader", "", 1)
        for name, head, frame in (("a", 0, 3), ("b", 1, 30), ("c", 1, 999))
    ]
    drawn = str(colour_bar(marked(caecum=(0, 10)), findings, moments))
    assert drawn.count('font-weight="bold"') == 2
    assert drawn.index(">1</text>") < drawn.index(">Head 1<") < drawn.index(">2</text>")
    assert drawn.count(">caecum</text>") == 1
    assert drawn.count("<image ") == 2


def test_the_pointer_is_centred_on_the_pixel():
    picture = FramePicture("data:", rows=100, cols=200)
    assert 'cx="20.5" cy="10.5"' in pointer(picture, 10, 20)
    assert pointer(picture, 100, 20) == ""
