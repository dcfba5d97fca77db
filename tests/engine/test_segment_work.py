"""The work on one segment: every frame has its row."""

import io
import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

import capsieve
from capsieve import FieldOfView, Parameters
from capsieve.detector import demo_range, score_each
from capsieve.engine import segment_work
from capsieve.engine.segment_work import (
    SegmentTask,
    View,
    row_of_lost,
    screen_segment,
    segment_file,
)
from capsieve.errors import FrameError
from capsieve.frames import pixel_hash
from capsieve.paper.detector import PaperDetector
from capsieve.phash import phash
from capsieve.sources.source import Place, SourceFrame, open_source
from capsieve.store.schema import SEGMENT
from support.fake_detector import FakeDetector
from support.polyp_frames import polyp_frame
from support.stored_images import write_files

POLYP = polyp_frame(size=96)
SMOOTH = np.full((96, 96, 3), 90, np.uint8)
FIELD = FieldOfView("circle", 47.5, 47.5, 44)
VIEWS = (View(96, 96, FIELD),)
RESULT = ("label", "reason", "score", "texture_max", "radius_max", "midpass_max")


@dataclass(frozen=True)
class Recorder:
    """A detector that notes what it is given, and refuses what is all of one value."""

    seen: list[Any]
    batches: list[int] = field(default_factory=list)

    name = "recorder"
    score_threshold = 37.0
    value_names = ()
    parameters = Parameters()
    reference = demo_range()

    @property
    def identity(self):
        return {"name": self.name}

    def score(self, frame, field_of_view=None):
        self.seen.append((np.shape(frame)[:2], field_of_view))
        if np.ptp(frame) == 0:
            raise FrameError("all of one value; give a frame")
        return capsieve.analyze(frame)

    def score_batch(self, frames, fields_of_view):
        self.batches.append(len(frames))
        return score_each(self, frames, fields_of_view)


def png(pixels):
    with io.BytesIO() as file:
        Image.fromarray(pixels).save(file, "PNG")
        return file.getvalue()


@pytest.fixture
def task(tmp_path):
    """Make images the first segment of a folder."""

    def make(*contents, detector=None, views=VIEWS):
        files = {
            f"{number}.png": content if isinstance(content, bytes) else png(content)
            for number, content in enumerate(contents)
        }
        place = Place("folder", str(write_files(tmp_path / "exam", files)), head=1)
        (segment,) = open_source(place).survey().segments
        return SegmentTask("exam 7", place, segment, detector or PaperDetector(), views)

    return make


@pytest.fixture
def screened(task):
    """Screen images as one segment; return its rows."""

    def screen(*contents, **options):
        return pq.read_table(io.BytesIO(screen_segment(task(*contents, **options))))

    return screen


def test_a_segment_has_the_columns_of_the_schema(screened):
    assert screened(POLYP).schema.equals(SEGMENT)


def test_rows_come_in_the_order_of_the_frames(screened):
    rows = screened(POLYP, b"broken", SMOOTH).to_pylist()
    assert [row["file"] for row in rows] == ["0.png", "1.png", "2.png"]
    assert [row["status"] for row in rows] == ["decoded", "undecodable", "decoded"]


def test_a_row_is_what_analyze_says(screened):
    for row, pixels in zip(screened(POLYP, SMOOTH).to_pylist(), (POLYP, SMOOTH), strict=True):
        expected = capsieve.analyze(pixels, field_of_view=FIELD)
        assert {name: row[name] for name in RESULT} == {
            name: getattr(expected, name) for name in RESULT
        }
        assert row["threshold"] == expected.segmentation_threshold
        assert row["sha1"] == pixel_hash(pixels)
        assert (row["rows"], row["cols"]) == (96, 96)
        assert row["problem"] is None


def test_the_ball_and_the_features_are_told_in_the_pixels_of_the_source(screened):
    (row,) = screened(POLYP).to_pylist()
    expected = capsieve.analyze(POLYP, field_of_view=FIELD)
    best = expected.best
    assert best is not None
    ball = expected.placement.to_source(best.ball_row, best.ball_col)
    assert (row["row"], row["col"]) == ball
    assert row["radius"] == expected.placement.length_to_source(best.radius)
    assert len(row["features"]) == len(expected.features)
    (found,) = [one for one in row["features"] if one["feature"] == best.number]
    assert (found["source_row"], found["source_col"]) == ball
    assert found["source_radius"] == row["radius"]
    for name in ("size", "eccentricity", "row", "col", "ball_row", "radius", "moment_rc"):
        assert found[name] == getattr(best, name)


def test_only_flagged_frames_have_pictures(screened):
    polyp, smooth = screened(POLYP, SMOOTH).to_pylist()
    assert (polyp["label"], smooth["label"]) == ("polyp", "normal")
    assert len(polyp["signature"]) == 256
    assert polyp["thumbnail"].startswith(b"\xff\xd8")
    assert smooth["signature"] is smooth["thumbnail"] is None


def test_scored_frames_have_their_mean_colour(screened):
    _, smooth = screened(POLYP, SMOOTH).to_pylist()
    assert [smooth[name] for name in ("red", "green", "blue")] == [90.0, 90.0, 90.0]


def test_decoded_frames_have_their_look_unless_there_is_nothing_to_be_seen(screened):
    polyp, smooth, broken = screened(POLYP, SMOOTH, b"broken").to_pylist()
    assert polyp["look"] == phash(POLYP)
    assert len(polyp["look"]) == 32
    assert smooth["look"] is broken["look"] is None


def test_a_frame_without_a_ball_points_nowhere(screened):
    (row,) = screened(SMOOTH).to_pylist()
    assert row["row"] is row["col"] is row["radius"] is None
    assert row["features"] == []


def test_a_frame_that_the_detector_cannot_take_says_why(screened):
    (refused, taken) = screened(SMOOTH, POLYP, detector=Recorder([])).to_pylist()
    assert refused["status"] == "decoded"
    assert refused["problem"] == "all of one value; give a frame"
    assert refused["sha1"] == pixel_hash(SMOOTH)
    assert all(refused[name] is None for name in (*RESULT, "red", "features", "thumbnail"))
    assert taken["label"] == "polyp"


def test_a_tiny_frame_is_unscorable(screened):
    (row,) = screened(np.zeros((5, 5, 3), np.uint8)).to_pylist()
    assert (row["status"], row["label"]) == ("decoded", None)
    assert "too small" in row["problem"]


def test_a_circle_that_does_not_fit_makes_a_frame_unscorable(screened):
    (row,) = screened(POLYP, views=(View(96, 96, FieldOfView("circle", 10, 10, 400)),)).to_pylist()
    assert row["label"] is None
    assert row["problem"]


def test_frames_of_another_size_are_taken_whole(screened):
    seen = []
    screened(POLYP, polyp_frame(size=128), detector=Recorder(seen))
    assert seen == [((96, 96), FIELD), ((128, 128), None)]


def test_every_size_has_its_own_field(screened):
    other, seen = FieldOfView("circle", 63.5, 63.5, 50), []
    views = (*VIEWS, View(128, 128, other))
    screened(polyp_frame(size=128), POLYP, detector=Recorder(seen), views=views)
    assert seen == [((128, 128), other), ((96, 96), FIELD)]


def test_grey_and_deep_frames_are_scored(screened):
    grey = POLYP.mean(axis=2)
    rows = screened(grey.astype(np.uint8), (grey * 257).astype(np.uint16)).to_pylist()
    assert [row["label"] for row in rows] == ["polyp", "polyp"]
    assert all(row["red"] == row["blue"] > 0 for row in rows)


def test_the_same_segment_gives_the_same_bytes(task):
    same = task(POLYP, b"broken", SMOOTH)
    assert screen_segment(same) == screen_segment(same)


def test_a_task_does_its_work_after_pickling(task):
    same = task(POLYP, SMOOTH)
    assert screen_segment(pickle.loads(pickle.dumps(same))) == screen_segment(same)


def test_a_lost_frame_keeps_its_name_and_its_time():
    row = row_of_lost(SourceFrame(None, pts=9, time=0.5, file="9.png"), "cut off")
    assert row == {
        "file": "9.png",
        "pts": 9,
        "time_s": 0.5,
        "status": "unscreened",
        "problem": "cut off",
    }


def test_a_segment_without_rows_is_a_whole_file():
    table = pq.read_table(io.BytesIO(segment_file(iter([]))))
    assert table.num_rows == 0
    assert table.schema.equals(SEGMENT)


def test_a_task_has_a_name_for_messages(task):
    assert str(task(SMOOTH)) == "segment 0 of head 1 of exam 7"


# Detectors other than the paper's


def test_frames_are_scored_sixteen_at_a_time_and_nothing_else_changes(screened):
    detector = Recorder([])
    frames = [SMOOTH if number % 5 else POLYP for number in range(35)]
    rows = screened(*frames, b"broken", detector=detector).to_pylist()
    assert detector.batches == [16, 16, 3]
    assert [row["problem"] is None for row in rows] == [n % 5 == 0 for n in range(35)] + [False]


def test_large_frames_are_scored_fewer_at_a_time(screened, monkeypatch):
    monkeypatch.setattr(segment_work, "_TOGETHER_BYTES", 3 * POLYP.nbytes)
    detector = Recorder([])
    screened(*[POLYP] * 7, detector=detector)
    assert detector.batches == [3, 3, 1]


def test_what_another_detector_looked_at_is_kept_and_the_papers_numbers_are_null(screened):
    (row,) = screened(SMOOTH, detector=FakeDetector()).to_pylist()
    assert row["values"] == [90.0, 0.0]
    assert row["texture_max"] is row["radius_max"] is None
    assert (row["label"], row["reason"]) == ("normal", "score-low")


def test_the_place_is_where_another_detector_points(screened):
    pixels = SMOOTH.copy()
    pixels[20, 30] = 255
    (row,) = screened(pixels, detector=FakeDetector()).to_pylist()
    assert (row["row"], row["col"], row["radius"]) == (20.0, 30.0, 16.0)


def test_flagged_frames_carry_a_small_map(screened):
    bright = np.full((96, 96, 3), 120, np.uint8)
    bright[:48] = 200
    flagged, other = screened(bright, SMOOTH, detector=FakeDetector()).to_pylist()
    levels = np.asarray(Image.open(io.BytesIO(flagged["evidence"])))
    assert levels.shape == (32, 32)
    assert (levels[:15].min(), levels[17:].max()) == (255, 0)
    assert other["evidence"] is None


def test_the_paper_needs_no_other_evidence_than_its_features(screened):
    (row,) = screened(POLYP).to_pylist()
    assert row["evidence"] is row["values"] is None
