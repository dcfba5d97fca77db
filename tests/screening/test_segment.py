"""The work on one segment: every frame has its row."""

import io
import pickle
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

import capsieve
from capsieve import FieldOfView, FileError, FrameError
from capsieve.detector import demo_range
from capsieve.frames import pixel_hash
from capsieve.paper.detector import PaperDetector
from capsieve.phash import field_phash, phash
from capsieve.screening import segment as segment_module
from capsieve.screening.segment import (
    SegmentTask,
    map_frames,
    score_frames,
    score_segment,
    unscreened_rows,
)
from capsieve.sources.base import Place, SourceFrame, open_source
from capsieve.store.schema import SEGMENT
from support.fake_detector import FakeDetector
from support.polyp_frames import polyp_frame
from support.stored_images import write_files

POLYP = polyp_frame(size=96)
SMOOTH = np.full((96, 96, 3), 90, np.uint8)
FIELD = FieldOfView("circle", 47.5, 47.5, 44)
FIELDS = {(96, 96): FIELD}
RESULT = ("reason", "score", "texture_max", "radius_max", "midpass_max")


@dataclass(frozen=True)
class Recorder:
    """A detector that records its frames and refuses those of one value."""

    seen: list[Any] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    error: type[Exception] = FrameError

    name = "recorder"
    score_threshold = 37.0
    value_names = ()
    reference = demo_range()

    @property
    def identity(self):
        return {"name": self.name}

    def score(self, frame, field_of_view=None):
        self.seen.append((np.shape(frame)[:2], field_of_view))
        if np.ptp(frame) == 0:
            raise self.error("all of one value")
        return capsieve.analyze(frame)

    def score_batch(self, frames, fields_of_view):
        self.batches.append(len(frames))
        return [self.score(*pair) for pair in zip(frames, fields_of_view, strict=True)]


def png(pixels):
    with io.BytesIO() as file:
        Image.fromarray(pixels).save(file, "PNG")
        return file.getvalue()


@pytest.fixture
def task(tmp_path):
    """Make images the first segment of a folder."""

    def make(*contents, detector=None, fields=FIELDS, function=None):
        files = {
            f"{number}.png": content if isinstance(content, bytes) else png(content)
            for number, content in enumerate(contents)
        }
        place = Place("folder", str(write_files(tmp_path / "exam", files)), head=1)
        (segment,) = open_source(place).survey().segments
        function = function or partial(score_frames, detector or PaperDetector())
        return SegmentTask("exam 7", place, segment, fields, function)

    return make


@pytest.fixture
def screened(task):
    """Screen images as one segment; return its rows."""

    def screen(*contents, **options):
        table = pq.read_table(io.BytesIO(score_segment(task(*contents, **options))))
        assert table.schema.equals(SEGMENT)
        return table.to_pylist()

    return screen


def test_rows_are_in_the_order_of_the_frames(screened):
    rows = screened(POLYP, b"broken", SMOOTH)
    assert [row["file"] for row in rows] == ["0.png", "1.png", "2.png"]
    assert [row["status"] for row in rows] == ["decoded", "undecodable", "decoded"]
    assert rows[1]["problem"]


def test_a_row_has_the_result_of_analyze(screened):
    for row, pixels in zip(screened(POLYP, SMOOTH), (POLYP, SMOOTH), strict=True):
        expected = capsieve.analyze(pixels, field_of_view=FIELD)
        for name in (*RESULT, "segmentation_threshold"):
            assert row[name] == getattr(expected, name)
        assert row["pixel_hash"] == pixel_hash(pixels)
        assert (row["rows"], row["cols"], row["problem"]) == (96, 96, None)


def test_the_ball_and_the_features_are_in_pixels_of_the_source(screened):
    (row,) = screened(POLYP)
    expected = capsieve.analyze(POLYP, field_of_view=FIELD)
    best = expected.best
    assert best is not None
    ball = expected.placement.to_source(best.ball_row, best.ball_col)
    assert (row["row"], row["col"]) == ball
    assert row["radius"] == expected.placement.length_to_source(best.radius)
    assert len(row["features"]) == len(expected.features)
    (found,) = [one for one in row["features"] if one["number"] == best.number]
    assert (found["source_row"], found["source_col"]) == ball
    assert found["source_radius"] == row["radius"]
    assert {name: found[name] for name in best._fields} == best._asdict()


def test_a_frame_without_a_ball_has_no_place(screened):
    (row,) = screened(SMOOTH)
    assert row["row"] is row["col"] is row["radius"] is None
    assert row["features"] == []


def test_decoded_frames_have_a_perceptual_hash_unless_they_show_nothing(screened):
    polyp, smooth, broken = screened(POLYP, SMOOTH, b"broken")
    assert polyp["phash"] == phash(POLYP)
    assert polyp["field_phash"] == field_phash(POLYP, FIELD)
    assert smooth["phash"] is broken["phash"] is None


# Colour and sharpness


def test_the_mean_colour_is_that_of_the_field_of_view(screened):
    row, col = np.mgrid[:96, :96]
    inside = (row - 47.5) ** 2 + (col - 47.5) ** 2 <= 44**2
    inside_colour = np.where(inside[..., None], np.array([200, 100, 50], np.uint8), np.uint8(0))
    (found,) = screened(inside_colour, detector=FakeDetector())
    assert [found[name] for name in ("red", "green", "blue")] == [200, 100, 50]


@pytest.mark.parametrize("factor", [1, 257])
def test_grey_frames_of_8_and_16_bits_have_the_same_colour_and_sharpness(screened, factor):
    grey = POLYP.mean(axis=2).astype(np.uint8)
    pixels = grey.astype(np.uint16) * factor if factor > 1 else grey
    (row,) = screened(pixels)
    (expected,) = screened(grey)
    assert row["red"] == row["green"] == row["blue"] == pytest.approx(expected["red"])
    assert row["sharpness"] == expected["sharpness"] > 0
    assert row["score"] == expected["score"] > 0


def test_a_blurred_frame_is_less_sharp_whatever_its_size(screened):
    image = Image.fromarray(polyp_frame(size=512))
    sharp = np.asarray(image)
    blurred = np.asarray(image.resize((64, 64)).resize((512, 512), Image.Resampling.BICUBIC))
    first, second, smooth = screened(sharp, blurred, SMOOTH)
    assert first["sharpness"] > 2 * second["sharpness"] > 0
    assert smooth["sharpness"] == 0


# Frames that cannot be scored


@pytest.mark.parametrize("error", [FrameError, RuntimeError, ZeroDivisionError])
def test_a_frame_on_which_the_detector_fails_keeps_the_reason(screened, error):
    refused, taken = screened(SMOOTH, POLYP, detector=Recorder(error=error))
    assert refused["status"] == "decoded"
    assert "all of one value" in refused["problem"]
    assert refused["pixel_hash"] == pixel_hash(SMOOTH)
    assert all(refused[name] is None for name in (*RESULT, "red", "features", "sharpness"))
    assert taken["reason"] == "polyp"


def test_a_missing_model_is_not_a_problem_of_a_frame(task):
    with pytest.raises(FileError):
        score_segment(task(SMOOTH, detector=Recorder(error=FileError)))


def test_a_tiny_frame_is_unscorable(screened):
    (row,) = screened(np.zeros((5, 5, 3), np.uint8))
    assert (row["status"], row["score"]) == ("decoded", None)
    assert "too small" in row["problem"]


def test_a_field_of_view_outside_the_frame_makes_it_unscorable(screened):
    (row,) = screened(POLYP, fields={(96, 96): FieldOfView("circle", 10, 10, 400)})
    assert row["score"] is None
    assert row["problem"]


def test_frames_of_an_unknown_size_are_analysed_whole(screened):
    detector = Recorder()
    screened(POLYP, polyp_frame(size=128), detector=detector)
    assert detector.seen == [((96, 96), FIELD), ((128, 128), None)]


def test_frames_of_a_lost_segment_keep_their_names_and_times():
    frame = SourceFrame(None, packet=9, time=0.5, file="9.png")
    (row,) = unscreened_rows(iter([frame]), "the worker died").to_pylist()
    found = {name: value for name, value in row.items() if value is not None}
    assert found == {
        "file": "9.png",
        "packet": 9,
        "time_s": 0.5,
        "status": "unscreened",
        "problem": "the worker died",
    }


# Tasks


def test_the_same_segment_gives_the_same_bytes_also_after_pickling(task):
    same = task(POLYP, b"broken", SMOOTH)
    assert score_segment(same) == score_segment(pickle.loads(pickle.dumps(same)))


def test_a_task_has_a_name_for_messages(task):
    assert str(task(SMOOTH)) == "segment 0 of head 1 of exam 7"


class Unbatched(FakeDetector):
    """A detector whose batches always fail."""

    def score_batch(self, frames, fields_of_view):
        raise RuntimeError("no batches here")


def test_frames_whose_batch_alone_failed_are_scored_and_marked(screened):
    rows = screened(POLYP, SMOOTH, b"broken", detector=Unbatched())
    assert [row["score"] is None for row in rows] == [False, False, True]
    assert ["no batches here" in (row["batch_error"] or "") for row in rows] == [True, True, False]
    assert [row["problem"] is None for row in rows] == [True, True, False]


def test_a_batch_that_failed_because_of_a_frame_is_not_marked(screened):
    rows = screened(SMOOTH, POLYP, detector=Recorder())
    assert [row["batch_error"] for row in rows] == [None, None]
    assert rows[0]["problem"]


def test_frames_are_scored_in_batches_of_16(screened):
    detector = Recorder()
    frames = [SMOOTH if number % 5 else POLYP for number in range(35)]
    rows = screened(*frames, b"broken", detector=detector)
    assert detector.batches == [16, 16, 3]
    assert [row["problem"] is None for row in rows] == [n % 5 == 0 for n in range(35)] + [False]


def test_large_frames_are_scored_in_smaller_batches(screened, monkeypatch):
    monkeypatch.setattr(segment_module, "_BATCH_BYTES", 3 * POLYP.nbytes)
    detector = Recorder()
    screened(*[POLYP] * 7, detector=detector)
    assert detector.batches == [3, 3, 1]


def _brightness(frames, fields):
    return [
        (frame.file, None if frame.pixels is None else int(frame.pixels[0, 0, 0]), field)
        for frame, field in zip(frames, fields, strict=True)
    ]


def test_a_function_is_applied_to_every_frame(task):
    images = [np.full((96, 96, 3), 10 * number, np.uint8) for number in range(20)]
    found = map_frames(task(*images, function=_brightness))
    assert found == [(f"{n}.png", 10 * n, FIELD) for n in range(20)]


# Detectors other than the paper's


def test_values_of_another_detector_are_stored_and_the_papers_columns_are_null(screened):
    (row,) = screened(SMOOTH, detector=FakeDetector())
    assert row["values"] == [90.0, 0.0]
    assert row["texture_max"] is row["radius_max"] is None
    assert row["reason"] == "score-low"


def test_the_place_is_the_one_of_the_detector(screened):
    pixels = SMOOTH.copy()
    pixels[20, 30] = 255
    (row,) = screened(pixels, detector=FakeDetector())
    assert (row["row"], row["col"], row["radius"]) == (20.0, 30.0, 16.0)
