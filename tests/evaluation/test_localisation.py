"""Hit rates and FROC, counted by hand."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import capsieve
from capsieve.errors import FileError
from capsieve.evaluation.localisation import Marks, froc, localise, read_marks
from capsieve.frame_table import NORMAL, OTHER, POLYP, UNLABELLED
from capsieve.labels.outlines import Box, Outline, Outlines
from capsieve.statistics.intervals import wilson
from capsieve.statistics.options import EvaluationOptions
from support.labelled_frames import labelled_frames
from support.results import write_results

BOX, FAR = Box(10, 10, 20, 20), Box(60, 60, 80, 80)
IN, OUT = (15.0, 15.0), (50.0, 50.0)
NOWHERE = (np.nan, np.nan)
OPTIONS = EvaluationOptions(bootstrap_samples=100)


def frames_with(places, **given):
    """Return polyp frames of 100 x 100 pixels with these best places."""
    row, col = np.array(places, float).T
    count = len(row)
    given.setdefault("truth", [POLYP] * count)
    size = np.full(count, 100)
    score = given.pop("score", [50.0] * count)
    return labelled_frames(score, row=row, col=col, rows=size, cols=size, **given)


def outline(frame, shape=BOX, polyp=None, exam="exam"):
    return Outline(None, shape, exam=exam, frame=frame, polyp=polyp, where=f"frame {frame}")


def located(frames, *outlines, flagged=None) -> Any:
    flagged = frames.score >= 37 if flagged is None else flagged
    paths = pa.nulls(len(frames), pa.string())
    found = Outlines(outlines, (), "test", "outlines.json")
    return localise(found, frames, paths, flagged=flagged, options=OPTIONS)


def counts(found):
    return {m.key.split(".")[1]: (m.numerator, m.denominator) for m in found.metrics}


def on_frames(frames, *outlines):
    """Return the outlines in pixels of the frames."""
    size = pa.array(np.full(len(frames), 100))
    table = pa.table(
        {"exam": ["exam"] * len(frames), "head": frames.head, "frame": frames.frame}
        | {"path": pa.nulls(len(frames), pa.string()), "rows": size, "cols": size}
    )
    found = Outlines(outlines, (), "test", "test")
    return found.find(table, polyp_frames=frames.polyp_frames)[0]


def test_frames_flagged_frames_and_polyps_are_counted_separately():
    frames = frames_with(
        [IN, OUT, NOWHERE, IN, IN], score=[50, 50, -np.inf, 20, 60], polyp=[0, 0, 0, 1, 2]
    )
    found = located(frames, *(outline(frame) for frame in range(4)))
    assert counts(found) == {"frames": (2, 4), "flagged": (1, 2), "polyps": (1, 2)}
    assert found.table.rows == (("0", 3, 1, 2, 1, True), ("1", 1, 1, 0, 0, False))


def test_an_unscored_frame_is_no_hit():
    frames = frames_with([IN, IN], score=[50, np.nan], polyp=["a", "b"])
    found = located(frames, outline(0), outline(1))
    assert counts(found) == {"frames": (1, 2), "flagged": (1, 1), "polyps": (1, 2)}
    assert found.on_polyp.tolist() == [True, False]


def test_a_detector_without_places_has_no_hit_rate():
    found = located(frames_with([NOWHERE, NOWHERE], polyp=["a", "a"]), outline(0), outline(1))
    assert [metric.value for metric in found.metrics] == [None] * 3
    assert counts(found)["frames"] == (None, None)
    assert all("no places" in metric.note for metric in found.metrics)
    assert found.table.rows == (("a", 2, None, 2, None, None),)
    assert found.on_polyp is None


def test_the_rate_has_wilsons_interval_and_too_few_groups_for_a_bootstrap():
    metric = located(frames_with([IN, OUT, OUT]), *map(outline, range(3))).metrics[0]
    assert (metric.intervals[-1].low, metric.intervals[-1].high) == wilson(1, 3)
    assert metric.intervals[0].low is None
    assert metric.intervals[0].why


def test_intervals_of_hits_do_not_depend_on_the_numbering_of_patients():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(12), 4)
    places = [IN if hit else OUT for hit in rng.random(48) < 0.3 + 0.05 * patient]
    bounds = set()
    for names in (tuple(map(str, range(12))), tuple(map(str, reversed(range(12))))):
        frames = frames_with(places, patient=[names[code] for code in patient], exam="exam")
        interval = located(frames, *map(outline, range(48))).metrics[0].interval
        bounds.add((interval.low, interval.high))
    assert len(bounds) == 1


def test_a_polyp_is_hit_in_its_own_outline_only():
    frames = frames_with([IN], polyp=["near"])
    found = located(frames, outline(0, BOX, "near"), outline(0, FAR, "far"))
    assert counts(found) == {"frames": (1, 1), "flagged": (1, 1), "polyps": (1, 2)}


def test_nameless_outlines_of_one_frame_belong_to_no_polyp():
    frames = frames_with([IN, IN], polyp=["a", "a"])
    found = located(frames, outline(0), outline(0, FAR), outline(1))
    assert found.table.rows == (("a", 1, 1, 1, 1, True),)
    assert "2 outlines" in found.metrics[2].note


def test_names_that_the_labels_do_not_know_are_those_of_their_exam():
    frames = frames_with([IN, IN], exam=["a", "b"])
    found = located(frames, outline(0, BOX, "1", exam="a"), outline(0, BOX, "1", exam="b"))
    assert found.table.column("polyp") == ["a/1", "b/1"]


def test_two_outlines_of_a_polyp_on_one_frame_are_one_frame():
    frames = frames_with([IN], polyp=["p"])
    found = located(frames, outline(0, BOX, "p"), outline(0, FAR, "p"))
    assert found.table.rows == (("p", 1, 1, 1, 1, True),)


def test_outlines_without_a_frame_are_counted():
    found = located(frames_with([IN, IN]), outline(0), outline(7))
    assert [problem.rows for problem in found.problems] == [1]


def test_outlines_that_fit_no_polyp_frame_are_refused():
    frames = frames_with([IN], truth=[NORMAL])
    with pytest.raises(FileError, match=r"outlines\.json"):
        located(frames, outline(0))


def test_scores_without_places_are_refused():
    with pytest.raises(FileError, match="row and col"):
        located(labelled_frames([1.0], [POLYP]), outline(0))


def marks(*points):
    frame, place, score = zip(*points, strict=True)
    row, col = np.array(place).T
    return Marks(np.array(frame), row, col, np.array(score, float))


def test_the_froc_counts_what_a_hand_counts():
    frames = frames_with(
        [NOWHERE] * 6,
        score=[1, 1, 1, 1, 1, np.nan],
        truth=[POLYP, POLYP, NORMAL, OTHER, POLYP, NORMAL],
    )
    found = marks(
        (0, IN, 60),  # a hit
        (0, IN, 70),  # the same outline: the same hit
        (0, OUT, 65),  # outside
        (1, OUT, 40),
        (2, IN, 50),  # a normal frame
        (3, IN, 90),  # another finding does not count
        (4, IN, 95),  # a polyp frame without an outline does not count
    )
    curve: Any = froc(frames, on_frames(frames, outline(0), outline(1), outline(1, FAR)), found)
    assert curve.thresholds.tolist() == [np.inf, 70, 65, 50, 40]
    np.testing.assert_allclose(curve.sensitivity, [0, 1 / 3, 1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(curve.false_marks_per_frame, [0, 0, 1 / 3, 2 / 3, 1])
    assert (curve.outlines, curve.frames) == (3, 3)


def test_the_froc_counts_marks_with_negative_scores():
    frames = frames_with([NOWHERE] * 2, truth=[POLYP, NORMAL])
    curve: Any = froc(frames, on_frames(frames, outline(0)), marks((0, IN, -2.0), (1, IN, -3.0)))
    assert curve.sensitivity.tolist() == [0, 1, 1]
    assert curve.false_marks_per_frame.tolist() == [0, 0, 0.5]


def test_the_froc_grows_with_falling_thresholds():
    rng = np.random.default_rng(5)
    frames = frames_with([NOWHERE] * 50, truth=rng.choice([POLYP, NORMAL], 50))
    frame = np.sort(rng.integers(0, 50, 400))
    found = Marks(frame, rng.uniform(0, 99, 400), rng.uniform(0, 99, 400), rng.uniform(1, 9, 400))
    outlines = [outline(f, FAR) for f in np.flatnonzero(frames.truth == POLYP).tolist()]
    curve: Any = froc(frames, on_frames(frames, *outlines), found)
    assert (np.diff(curve.sensitivity) >= 0).all()
    assert (np.diff(curve.false_marks_per_frame) >= 0).all()
    inside = (found.row >= 60) & (found.row <= 80) & (found.col >= 60) & (found.col <= 80)
    outside = ~(inside & (frames.truth[frame] == POLYP))
    assert curve.false_marks_per_frame[-1] == pytest.approx(outside.sum() / 50)


def test_without_marks_there_is_no_froc():
    empty = np.empty(0)
    assert froc(frames_with([IN]), [], Marks(np.empty(0, int), empty, empty, empty)) is None


BALL = {"head": 0, "frame": 0, "number": 1, "rejected": "", "radius": 40}
BALL |= {"source_row": 15.0, "source_col": 16.0}


def test_marks_of_the_papers_detector_are_the_balls_that_passed(tmp_path):
    rows = [
        BALL | {"frame": 3},
        BALL | {"frame": 3, "radius": 0, "rejected": "eccentricity"},
        BALL | {"frame": 4, "radius": 41},
        BALL | {"frame": 5},
        BALL | {"frame": 9},
        BALL | {"frame": 3, "head": 1, "radius": 42},
    ]
    folder = write_results(tmp_path / "a", 10, features=rows)
    frames = labelled_frames(
        [50.0] * 4,
        [POLYP, NORMAL, UNLABELLED, NORMAL],
        exam="a",
        head=[0, 0, 0, 1],
        frame=[3, 4, 5, 3],
    )
    found = read_marks(frames, [folder])
    assert found.frame.tolist() == [0, 1, 3]
    assert found.score.tolist() == [40, 41, 42]
    assert (found.row[0], found.col[0]) == (15, 16)


def test_an_evaluation_has_hit_rates_and_froc(tmp_path):
    balls = [BALL | {"radius": 50}, BALL | {"frame": 1, "radius": 50, "source_row": 90.0}]
    results = write_results(
        tmp_path / "out" / "a",
        score=np.array([50.0, 50.0, 0.0]),
        row=[15.0, 90.0, None],
        col=[15.0, 15.0, None],
        rows=100,
        cols=100,
        features=balls,
    ).parent
    labels = {"exam": ["a"] * 3, "frame": range(3), "label": ["polyp", "polyp", "normal"]}
    labels |= {"polyp": ["p", "p", ""]}
    mask = np.zeros((100, 100), np.uint8)
    mask[10:20, 10:20] = 1
    from PIL import Image

    Image.fromarray(mask).save(tmp_path / "m.png")
    table = tmp_path / "masks.csv"
    table.write_text("exam,frame,file,mask\na,0,,m.png\na,1,,m.png\na,7,,m.png\n")
    evaluation: Any = capsieve.evaluate(results, labels, regions=table, options=OPTIONS)
    rates = {m.key: m.value for m in evaluation.metrics if m.key.startswith("localisation")}
    assert rates == {
        "localisation.frames": 0.5,
        "localisation.flagged": 0.5,
        "localisation.polyps": 1.0,
    }
    assert evaluation.froc.sensitivity[-1] == 0.5
    assert evaluation.froc.false_marks_per_frame[-1] == pytest.approx(1 / 3)


def test_scores_with_places_have_hit_rates_and_froc(tmp_path):
    scores = {"exam": ["a"] * 3, "frame": range(3), "score": [0.9, 0.8, 0.1]}
    scores |= {"row": [15, 90, 3], "col": [15, 15, 3]}
    labels = {"exam": ["a"] * 3, "frame": range(3), "label": ["polyp", "polyp", "normal"]}
    boxes = '{"images": [{"id": 1, "file_name": "a/000000.png", "width": 100, "height": 100}],'
    boxes += '"categories": [{"id": 1, "name": "polyp"}],'
    boxes += '"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 9, 9]}]}'
    (tmp_path / "boxes.json").write_text(boxes)
    files = [f"{number:06}.png" for number in range(3)]
    evaluation: Any = capsieve.evaluate(
        scores | {"file": files},
        labels | {"file": [f"a/{file}" for file in files]},
        regions=tmp_path / "boxes.json",
        threshold=0.5,
        options=OPTIONS,
    )
    assert evaluation.metric("localisation.flagged").numerator == 1
    assert evaluation.froc.thresholds.tolist() == [np.inf, 0.9, 0.1]
