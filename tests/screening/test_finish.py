"""Flags of a whole exam, and thumbnails of the frames to read."""

import io

import numpy as np
import pytest
from PIL import Image

from capsieve import FileError
from capsieve.frame_table import FlagRule
from capsieve.paper.detector import PaperDetector
from capsieve.screening.flags import flag_exam
from capsieve.screening.thumbnails import ThumbnailTask, read_thumbnails, thumbnail_tasks
from capsieve.store.tables import number_frames
from support.fake_detector import FakeDetector
from support.segment_rows import row, scored, segment

THRESHOLD = FlagRule("threshold", 37)
TWO = FlagRule("count", 2)
PAPER_DETECTOR, OTHER = PaperDetector().identity, FakeDetector().identity


def frames_of(*heads):
    """Return the table of frames of heads with these rows."""
    return number_frames({number: [segment(rows)] for number, rows in enumerate(heads)})[0]


def ball(score, **values):
    return scored("radius-low", score=score, radius_max=int(score), **values)


def flagged_by(rule, *heads, detector=PAPER_DETECTOR, threshold: float | None = 37.0):
    return flag_exam(
        "an exam", frames_of(*heads), rule, detector=detector, score_threshold=threshold
    )


def column(found, name):
    return found.frames[name].to_pylist()


PAPER = [scored("texture-low"), ball(50.0), ball(20.0), row(problem="too small"), ball(37.0)]


def test_the_papers_threshold_gives_the_reason_radius_low():
    found = flagged_by(THRESHOLD, PAPER)
    assert column(found, "reason") == ["texture-low", "polyp", "radius-low", None, "polyp"]
    assert column(found, "flagged") == [False, True, False, False, True]
    assert found.flagging["share_above_threshold"] == 0.5


def test_a_list_gives_the_reason_score_low_and_keeps_rules_of_the_paper():
    found = flagged_by(FlagRule("count", 1), PAPER)
    assert column(found, "reason") == ["texture-low", "polyp", "score-low", None, "score-low"]
    assert found.flagging == {
        "rule": "count",
        "value": 1.0,
        "frames": 1,
        "last_score": 50.0,
        "score_threshold": 37.0,
        "share_above_threshold": 0.5,
    }


def test_rejected_frames_are_never_flagged():
    found = flagged_by(FlagRule("share", 1.0), [scored("no-feature"), scored("texture-high")])
    assert column(found, "reason") == ["no-feature", "texture-high"]
    assert found.flagging["frames"] == 0
    assert found.flagging["last_score"] is None
    assert found.shown == []


def test_other_detectors_have_the_reason_score_low():
    rows = [scored("polyp", score=0.9), scored("score-low", score=0.2)]
    found = flagged_by(FlagRule("threshold", 0.95), rows, detector=OTHER, threshold=None)
    assert column(found, "reason") == ["score-low", "score-low"]
    assert found.flagging["share_above_threshold"] is None


def test_flags_can_be_changed_and_changed_back():
    once = flagged_by(THRESHOLD, PAPER)
    listed = flag_exam("an exam", once.frames, TWO, detector=PAPER_DETECTOR, score_threshold=37.0)
    again = flag_exam(
        "an exam", listed.frames, THRESHOLD, detector=PAPER_DETECTOR, score_threshold=37.0
    )
    assert again.frames.equals(once.frames)
    assert again.events.equals(once.events)
    assert again.flagging == once.flagging


def test_ties_go_to_the_lower_head_and_then_to_the_lower_frame():
    found = flagged_by(TWO, [ball(40.0), ball(50.0)], [ball(50.0), ball(50.0)])
    assert column(found, "flagged") == [False, True, True, False]


def test_near_duplicates_are_numbered_within_their_head():
    same, other = bytes(32), bytes([255] * 32)
    one = [ball(40.0, phash=other), ball(41.0, phash=same), ball(42.0, phash=same)]
    found = flagged_by(THRESHOLD, one, one)
    assert column(found, "duplicate_of") == [None, None, 1] * 2


def test_frames_to_read_start_with_the_best_frames_of_the_events():
    rows = [ball(40.0 + n % 3, time_s=100.0 * (n // 3)) for n in range(3)]
    gap = [scored("texture-low")] * 5
    found = flagged_by(THRESHOLD, [*rows, *gap, ball(60.0), ball(59.0)])
    assert found.shown[:2] == [(0, 8), (0, 2)] == found.explained
    assert sorted(found.shown) == [(0, n) for n in (0, 1, 2, 8, 9)]


@pytest.mark.parametrize("rule", [FlagRule("count", 3), FlagRule("share", 0.6)])
def test_a_list_longer_than_what_can_be_listed_has_a_warning(rule):
    # Two of five scored frames can be listed, because pre-selection rejects the others.
    rejected = [scored("texture-low")] * 3
    found = flagged_by(rule, [*rejected, ball(50.0), ball(20.0)])
    [warning] = found.warnings()
    assert f"({rule.option}, 3 frames)" in warning
    assert list(flagged_by(TWO, [*rejected, ball(50.0), ball(20.0)]).warnings()) == []
    assert list(flagged_by(THRESHOLD, [*rejected, ball(50.0)]).warnings()) == []


def test_near_duplicates_of_a_flagged_frame_are_not_listed():
    same, other = bytes(32), bytes([255] * 32)
    rows = [ball(40.0, phash=same), ball(50.0, phash=same), ball(45.0, phash=other)]
    found = flagged_by(FlagRule("count", 1), rows)
    assert column(found, "flagged") == [True, True, False]
    assert (found.flagging["frames"], found.flagging["last_score"]) == (1, 50.0)


def test_an_exam_without_frames_has_no_flags():
    found = flagged_by(TWO, [])
    assert found.frames.num_rows == found.events.num_rows == 0
    assert found.flagging["share_above_threshold"] is None


# Thumbnails


class Reader:
    """A reader of frames in memory; some of them have changed."""

    def __init__(self, frames, changed=()):
        self._frames = frames
        self._changed = changed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def in_stored_order(self, frames):
        return sorted(frames)

    def pixels(self, frame):
        if frame in self._changed:
            raise FileError(f"frame {frame} has changed")
        return self._frames[frame]


def thumbnails_of(frames, explained=(), detector=None, changed=()):
    def open_reader():
        return Reader(frames, changed)

    return read_thumbnails(task_of(range(len(frames)), open_reader, explained, detector))


def task_of(frames, open_reader=None, explained=(), detector=None):
    return ThumbnailTask("exam", 1, open_reader, {}, frames, explained, detector)  # pyright: ignore


def opened(content):
    return Image.open(io.BytesIO(content))


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((512, 512), (192, 192)),
        ((300, 600), (192, 96)),
        ((50, 100), (100, 50)),
        ((1, 2000), (192, 1)),
    ],
)
def test_a_thumbnail_is_the_whole_frame_and_never_larger(shape, size):
    found, _ = thumbnails_of([np.zeros((*shape, 3), np.uint8)])
    image = opened(found[1, 0][0])
    assert (image.format, image.size) == ("JPEG", size)


def test_thumbnails_keep_colours_of_every_kind_of_frame():
    colour = np.full((64, 64, 3), (200, 100, 50), np.uint8)
    grey = np.full((64, 64), 100 * 257, np.uint16)
    found, _ = thumbnails_of([colour, grey])
    np.testing.assert_allclose(np.asarray(opened(found[1, 0][0]))[32, 32], (200, 100, 50), atol=4)
    image = opened(found[1, 1][0])
    assert image.mode == "L"
    assert abs(float(np.asarray(image)[32, 32]) - 100) <= 2


def test_explained_frames_have_a_small_evidence_map():
    bright = np.full((96, 96, 3), 120, np.uint8)
    bright[:48] = 200
    found, _ = thumbnails_of([bright, bright], explained={1}, detector=FakeDetector())
    assert found[1, 0][1] is None
    levels = np.asarray(opened(found[1, 1][1]))
    assert levels.shape == (32, 32)
    assert (levels[:15].min(), levels[17:].max()) == (255, 0)


def test_a_frame_that_has_changed_has_no_thumbnail():
    frames = [np.zeros((8, 8, 3), np.uint8)] * 3
    found, problem = thumbnails_of(frames, changed={1})
    assert sorted(found) == [(1, 0), (1, 2)]
    assert "frame 1" in problem


def test_an_evidence_map_that_fails_does_not_lose_the_thumbnail():
    class Failing(FakeDetector):
        def evidence(self, frame, field_of_view=None):
            raise RuntimeError("no map")

    found, problem = thumbnails_of(
        [np.zeros((8, 8, 3), np.uint8)], explained={0}, detector=Failing()
    )
    assert found[1, 0][1] is None
    assert "no map" in problem


def test_a_missing_source_leaves_no_thumbnails():
    def open_reader():
        raise FileError("the source is missing")

    found = read_thumbnails(task_of([1, 2], open_reader))
    assert found == ({}, "the source is missing")


@pytest.mark.parametrize(("frames", "workers", "parts"), [(0, 2, 0), (20, 8, 1), (1000, 2, 4)])
def test_the_tasks_of_a_head_have_every_frame_once(frames, workers, parts):
    of_head = [(1, 3 * number) for number in reversed(range(frames))]
    shown = [*of_head, (0, 5)]
    found = thumbnail_tasks(
        *("exam", 1, Reader, {}),  # pyright: ignore
        frames=shown,
        explained=[(0, 5), *of_head[:1]],
        detector=None,
        workers=workers,
    )
    assert len(found) == parts
    assert [frame for part in found for frame in part.frames] == [3 * n for n in range(frames)]
    assert all(part.explained == {3 * (frames - 1)} for part in found)
