"""Hit rates and FROC, counted by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from capsieve.statistics.intervals import wilson
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED, Judged
from capsieve.statistics.regions.froc import froc
from capsieve.statistics.regions.hits import hit_metrics, hit_table
from capsieve.statistics.regions.localisation import localise
from capsieve.statistics.regions.marks import Marks, read_marks
from capsieve.statistics.regions.placing import place_regions
from capsieve.statistics.regions.pointing import Pointed, point_at
from capsieve.statistics.regions.region import Box, MaskFile, Region, RegionSet
from support.results import COLUMNS, exam_record, frame_counts, write_table
from support.small_judged import small_judged

BOX, FAR = Box(10, 10, 20, 20), Box(60, 60, 80, 80)
IN, OUT = (15.0, 15.0), (50.0, 50.0)
NOWHERE = (np.nan, np.nan)


def region(frame: int, shape: Any = BOX, polyp: str | None = None) -> Region:
    return Region("0", 0, frame, None, shape, polyp, where=f"frame {frame}")


def judged_frames_with(balls: list[tuple[float, float]], **given: Any) -> Judged:
    row, col = np.array(balls, float).T
    given.setdefault("truth", [POLYP] * len(balls))
    return small_judged(given.pop("score", [50.0] * len(balls)), row=row, col=col, **given)


def pointed_at(judged: Judged, *regions: Region, marks: Marks | None = None) -> Pointed:
    return point_at(judged, place_regions(RegionSet(regions, (), "test", "test"), judged), marks)


def rates(judged: Judged, pointed: Pointed) -> dict[str, tuple[int | None, int | None]]:
    metrics = hit_metrics(judged, pointed, threshold=37.0)
    return {m.key.split(".")[1]: (m.numerator, m.denominator) for m in metrics}


def test_frames_flagged_frames_and_polyps_are_counted_apart() -> None:
    judged = judged_frames_with(
        [IN, OUT, NOWHERE, IN, IN], score=[50, 50, 0, 20, 60], polyp=[0, 0, 0, 1, 2]
    )
    pointed = pointed_at(judged, *(region(frame) for frame in range(4)))
    assert rates(judged, pointed) == {"frames": (2, 4), "flagged": (1, 2), "polyps": (1, 2)}
    table = hit_table(judged, pointed, threshold=37.0)
    assert table.rows == (("0", 3, 1, 2, 1, True), ("1", 1, 1, 0, 0, False))


def test_the_rate_carries_wilsons_interval() -> None:
    judged = judged_frames_with([IN, OUT, OUT])
    metric = hit_metrics(judged, pointed_at(judged, *map(region, range(3))), threshold=37.0)[0]
    interval = metric.intervals[-1]
    assert (interval.low, interval.high) == wilson(1, 3)
    assert metric.intervals[0].low is None  # one exam is too few for a bootstrap


def test_a_polyp_is_hit_in_its_own_outline_only() -> None:
    judged = judged_frames_with([IN], polyp=[1], polyps=("near", "far"))
    pointed = pointed_at(judged, region(0, BOX, "near"), region(0, FAR, "far"))
    assert rates(judged, pointed) == {"frames": (1, 1), "flagged": (1, 1), "polyps": (1, 2)}


def test_nameless_outlines_of_one_frame_belong_to_no_polyp() -> None:
    judged = judged_frames_with([IN, IN], polyp=[0, 0])
    pointed = pointed_at(judged, region(0), region(0, FAR), region(1))
    assert pointed.polyp == (None, None, "0")
    assert "2 outlines of no named polyp" in hit_metrics(judged, pointed, threshold=37.0)[2].note


def test_names_that_the_labels_do_not_know_are_counted_anew_in_each_exam() -> None:
    judged = judged_frames_with([IN, IN], exam=[0, 1], frame=[0, 0])
    regions = [region(0, BOX, "1"), Region("1", 0, 0, None, BOX, "1")]
    assert pointed_at(judged, *regions).polyp == ("0/1", "1/1")


def test_a_frame_with_a_broken_mask_is_left_out(tmp_path: Path) -> None:
    judged = judged_frames_with([IN, IN, NOWHERE])
    broken = MaskFile(str(tmp_path / "absent.png"))
    pointed = pointed_at(judged, region(0, broken), region(0), region(1), region(2, broken))
    assert pointed.frame.tolist() == [1]
    assert [problem.rows for problem in pointed.problems] == [2, 1]
    assert pointed.problems[0].examples == ("frame 0", "frame 2")


def test_masks_are_looked_into(tmp_path: Path) -> None:
    pixels = np.zeros((100, 100), np.uint8)
    pixels[10:20, 10:20], pixels[40:60, 40:60] = 1, 2
    Image.fromarray(pixels).save(tmp_path / "m.png")
    mask = str(tmp_path / "m.png")
    judged = judged_frames_with([IN, OUT, (80.0, 80.0)])
    regions = [region(f, MaskFile(mask, value), f"{value}") for f in range(3) for value in (1, 2)]
    pointed = pointed_at(judged, *regions)
    assert pointed.hit.tolist() == [True, False, False, True, False, False]


def test_without_outlines_there_is_no_rate() -> None:
    judged = judged_frames_with([IN])
    pointed = pointed_at(judged)
    assert [m.value for m in hit_metrics(judged, pointed, threshold=37.0)] == [None] * 3
    assert hit_table(judged, pointed, threshold=37.0).rows == ()
    assert froc(judged, pointed) is None


def marks(*points: tuple[int, tuple[float, float], float]) -> Marks:
    frame, place, score = zip(*points, strict=True)
    row, col = np.array(place).T
    return Marks(np.array(frame), row, col, np.array(score, float))


def test_the_froc_counts_what_a_hand_counts() -> None:
    judged = judged_frames_with(
        [NOWHERE] * 6,
        score=[1, 1, 1, 1, 1, np.nan],
        truth=[POLYP, POLYP, NORMAL, OTHER, POLYP, NORMAL],
    )
    found = marks(
        (0, IN, 60),  # a hit
        (0, IN, 70),  # the same outline: the same hit
        (0, OUT, 65),  # beside it
        (1, OUT, 40),
        (2, IN, 50),  # a normal frame
        (3, IN, 90),  # another finding: not looked at
        (4, IN, 95),  # a polyp frame without an outline: not looked at
    )
    curve = froc(judged, pointed_at(judged, region(0), region(1), region(1, FAR), marks=found))
    assert curve is not None
    assert curve.thresholds.tolist() == [np.inf, 70, 65, 50, 40]
    np.testing.assert_allclose(curve.hit_rate, [0, 1 / 3, 1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(curve.marks, [0, 0, 1 / 3, 2 / 3, 1])
    assert (curve.outlines, curve.frames) == (3, 3)


def test_the_froc_grows_with_falling_thresholds() -> None:
    rng = np.random.default_rng(5)
    judged = judged_frames_with([NOWHERE] * 50, truth=rng.choice([POLYP, NORMAL], 50))
    frame = np.sort(rng.integers(0, 50, 400))
    found = Marks(frame, rng.uniform(0, 99, 400), rng.uniform(0, 99, 400), rng.uniform(1, 9, 400))
    outlines = [region(f, FAR) for f in np.flatnonzero(judged.truth == POLYP).tolist()]
    curve = froc(judged, pointed_at(judged, *outlines, marks=found))
    assert curve is not None
    assert (np.diff(curve.hit_rate) >= 0).all()
    assert (np.diff(curve.marks) >= 0).all()
    inside = (found.row >= 60) & (found.row <= 80) & (found.col >= 60) & (found.col <= 80)
    beside = ~(inside & (judged.truth[frame] == POLYP))
    assert curve.marks[-1] == pytest.approx(beside.sum() / 50)


def write_features(folder: Path, rows: list[dict[str, Any]]) -> None:
    folder.mkdir()
    blank = {name: "" if name == "rejected" else 0 for name in COLUMNS["features"]}
    write_table(folder, "features", [blank | row for row in rows])
    record = exam_record(folder.name, [frame_counts(10)])
    (folder / "exam.json").write_text(json.dumps(record), encoding="utf-8")


def test_marks_are_the_balls_that_passed(tmp_path: Path) -> None:
    ball = {"frame": 3, "radius": 40, "source_row": 15.0, "source_col": 16.0}
    write_features(
        tmp_path / "0",
        [
            ball,
            ball | {"radius": 0, "rejected": "eccentricity"},
            ball | {"frame": 4, "radius": 41},
            ball | {"frame": 5},
            ball | {"frame": 9},
            ball | {"head": 1, "radius": 42},
        ],
    )
    judged = small_judged(
        [50.0] * 4,
        head=[0, 0, 0, 1],
        frame=[3, 4, 5, 3],
        truth=[POLYP, NORMAL, UNLABELLED, NORMAL],
    )
    found = read_marks(judged, {"0": tmp_path / "0"})
    assert found.frame.tolist() == [0, 1, 3]
    assert found.score.tolist() == [40, 41, 42]
    assert (found.row[0], found.col[0]) == (15, 16)


def test_all_of_it_together(tmp_path: Path) -> None:
    ball = {"radius": 50, "source_row": 15.0, "source_col": 15.0}
    write_features(tmp_path / "0", [ball, ball | {"frame": 1, "source_row": 90.0}])
    judged = judged_frames_with([IN, (90.0, 15.0)], polyp=[0, 0])
    regions = RegionSet((region(0), region(1), region(7)), (), "test", "test")
    found = localise(regions, judged, folders={"0": tmp_path / "0"}, threshold=37.0)
    assert [metric.value for metric in found.metrics] == [0.5, 0.5, 1.0]
    assert found.froc is not None
    assert (found.froc.hit_rate[-1], found.froc.marks[-1]) == (0.5, 0.5)
    assert [problem.rows for problem in found.problems] == [1]
