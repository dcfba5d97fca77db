"""From segments to tables: numbers, features, events, the same bytes however it was cut."""

import json
from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.store import tables
from capsieve.store.schema import EVENTS, FEATURES, FRAMES, SCHEMA
from capsieve.store.tables import MEASURED, first_pass, write_tables
from support.segment_rows import any_row, feature, row, scored, served

NAMES = ("frames", "features", "events")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write the tables of segments; returns the folder and the thumbnails."""

    def write(heads, *, pictures=200):
        folder = tmp_path_factory.mktemp("tables")
        segments, rows = served(heads)
        known = first_pass(segments, rows)
        return folder, write_tables(folder, "an exam", segments, rows, known, pictures=pictures)

    return write


def rows_of(folder, name):
    return pq.read_table(folder / f"{name}.parquet").to_pylist()


def bytes_of(folder):
    return [(folder / f"{name}.parquet").read_bytes() for name in NAMES]


def cut(rows, places):
    """Cut rows at places; the same place twice makes an empty segment."""
    bounds = [0, *sorted(min(place, len(rows)) for place in places), len(rows)]
    return [rows[start:stop] for start, stop in pairwise(bounds)]


SEVERAL = st.lists(any_row(), max_size=30)
PLACES = st.lists(st.integers(0, 30), max_size=6)


def test_numbers_go_on_over_segments_and_start_again_with_every_head(written):
    frames = [scored("no-feature")] * 2
    folder, _ = written({1: [frames, [], frames], 0: [frames, frames[:1]]})
    numbers = [(one["head"], one["frame"]) for one in rows_of(folder, "frames")]
    assert numbers == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3)]


def test_rows_keep_what_the_worker_said(written):
    one = scored("radius-low", file="a.png", pts=7, time_s=0.5, sha1="ab", rows=96, cols=97)
    folder, _ = written({0: [[one, row(status="undecodable", problem="cut off")]]})
    first, second = rows_of(folder, "frames")
    for name in set(FRAMES.names) - {"head", "frame", "event", "repeats"}:
        assert first[name] == one[name]
    assert (second["status"], second["problem"]) == ("undecodable", "cut off")
    assert second["label"] is None


def test_features_belong_to_their_frames(written):
    with_some = scored("no-feature", features=[feature(1), feature(2)])
    with_one = scored("no-feature", features=[feature(3)])
    without = scored("texture-low", features=[])
    lost = row(status="undecodable", problem="cut off")  # its features are null
    heads = {0: [[without, lost], [], [lost, with_some, without], [with_one]], 1: [[with_one]]}
    folder, _ = written(heads)
    found = [(f["head"], f["frame"], f["feature"]) for f in rows_of(folder, "features")]
    assert found == [(0, 3, 1), (0, 3, 2), (0, 5, 3), (1, 0, 3)]
    assert [f["size"] for f in rows_of(folder, "features")] == [301, 302, 303, 303]


@settings(max_examples=30)
@given(left=SEVERAL, right=SEVERAL, places=PLACES)
def test_every_feature_is_found_again_at_its_frame(written, left, right, places):
    folder, _ = written({0: cut(left, places), 1: cut(right, places)})
    expected = [
        (head, number, one["feature"])
        for head, rows in enumerate((left, right))
        for number, frame in enumerate(rows)
        for one in frame["features"] or []
    ]
    found = [(f["head"], f["frame"], f["feature"]) for f in rows_of(folder, "features")]
    assert found == expected


@settings(max_examples=30)
@given(rows=SEVERAL, one=PLACES, other=PLACES, group=st.integers(1, 12))
def test_the_bytes_do_not_depend_on_the_cuts(written, rows, one, other, group):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_ROW_GROUP", group)
        first, _ = written({0: cut(rows, one)})
        second, _ = written({0: cut(rows, other)})
    assert bytes_of(first) == bytes_of(second)


@pytest.mark.parametrize("length", [1, 7, 10, 25])
def test_row_groups_are_full_but_for_the_last(written, monkeypatch, length):
    monkeypatch.setattr(tables, "_ROW_GROUP", 10)
    rows = [scored("no-feature")] * 25
    folder, _ = written({0: [rows[at : at + length] for at in range(0, 25, length)]})
    stored = pq.ParquetFile(folder / "frames.parquet").metadata
    groups = [stored.row_group(n).num_rows for n in range(stored.num_row_groups)]
    assert groups == [10, 10, 5]


@settings(max_examples=30)
@given(left=SEVERAL, right=SEVERAL, places=PLACES)
def test_events_agree_with_the_frames(written, left, right, places):
    folder, _ = written({0: cut(left, places), 1: cut(right, places)})
    frames, events = rows_of(folder, "frames"), rows_of(folder, "events")
    assert [event["event"] for event in events] == list(range(1, len(events) + 1))
    assert all((one["event"] is not None) == (one["label"] == "polyp") for one in frames)
    for event in events:
        members = [one for one in frames if one["event"] == event["event"]]
        best = max(members, key=lambda one: (one["score"], -one["frame"]))
        assert {one["head"] for one in members} == {event["head"]}
        assert event["frames"] == len(members)
        assert event["to_read"] == sum(one["repeats"] is None for one in members)
        assert (event["first_frame"], event["last_frame"]) == (
            members[0]["frame"],
            members[-1]["frame"],
        )
        assert event["best_frame"] == best["frame"]
        for name in ("score", "row", "col", "radius"):
            assert event[name] == best[name]


@settings(max_examples=30)
@given(rows=SEVERAL, places=PLACES)
def test_a_repeat_points_to_a_shown_frame_of_its_event_that_scores_no_less(written, rows, places):
    folder, _ = written({0: cut(rows, places)})
    frames = rows_of(folder, "frames")
    for one in frames:
        if one["repeats"] is not None:
            shown = frames[one["repeats"]]
            assert shown["score"] >= one["score"]
            assert (shown["label"], shown["repeats"]) == ("polyp", None)
            assert shown["event"] == one["event"]


def test_a_capsule_that_stands_still_over_a_cut_is_still_a_repeat(written):
    still = scored("polyp", signature=bytes(256))
    folder, _ = written({0: [[still], [still, still]]})
    assert [one["repeats"] for one in rows_of(folder, "frames")] == [None, 0, 0]


def test_thumbnails_are_those_of_the_first_events_best_frames(written):
    def flagged(score, thumbnail):
        return scored("polyp", score=score, thumbnail=thumbnail, file=f"{score}.png")

    gap = [scored("no-feature")] * 9
    rows = [flagged(50.0, b"fair"), *gap, flagged(60.0, b"good"), flagged(70.0, b"best"), *gap]
    heads = {0: [rows, [flagged(40.0, b"weak")]]}
    folder, thumbnails = written(heads, pictures=2)
    assert thumbnails == {(0, 11): b"best", (0, 0): b"fair"}
    files = [event["best_file"] for event in rows_of(folder, "events")]
    assert files == ["70.0.png", "50.0.png", "40.0.png"]


@pytest.mark.parametrize("heads", [{0: []}, {0: [[]]}, {0: [[scored("texture-low")]], 1: [[]]}])
def test_an_exam_without_anything_flagged_has_whole_tables(written, heads):
    folder, thumbnails = written(heads)
    assert thumbnails == {}
    assert rows_of(folder, "events") == rows_of(folder, "features") == []
    assert len(rows_of(folder, "frames")) == sum(len(part) for part in heads[0])


def test_tables_have_their_columns_and_say_what_they_are(written):
    folder, _ = written({0: [[scored("polyp")]]})
    for name, schema in zip(NAMES, (FRAMES, FEATURES, EVENTS), strict=True):
        stored = pq.read_schema(folder / f"{name}.parquet")
        assert stored.equals(schema)
        content = json.loads(stored.metadata[b"capsieve"])
        assert content == {"schema": SCHEMA, "table": name, "exam": "an exam"}


def test_what_is_measured_is_that_of_scored_frames_of_all_heads():
    lost = row(status="undecodable", problem="cut off")
    heads = {
        0: [[scored("polyp", red=200.0), lost], [lost]],
        1: [[scored("no-feature", red=100.0, texture_max=2.5)]],
    }
    known = first_pass(*served(heads))
    assert set(known.measured) == set(MEASURED)
    np.testing.assert_array_equal(known.measured["red"], [200.0, 100.0])
    np.testing.assert_array_equal(known.measured["texture_max"], [5.0, 2.5])
    assert all(values.dtype == np.float64 for values in known.measured.values())


def test_every_head_has_its_tally():
    known = first_pass(*served({1: [[scored("polyp")] * 2], 0: [[], [scored("polyp")]]}))
    assert {head: tally.found for head, tally in known.tallies.items()} == {0: 1, 1: 2}


def test_a_failure_while_writing_is_not_hidden(written, tmp_path):
    segments, rows = served({0: [[scored("polyp")], [scored("polyp")]]})
    known = first_pass(segments, rows)

    def failing(head, number, columns):
        if number == 1:
            raise ZeroDivisionError
        return rows(head, number, columns)

    with pytest.raises(ZeroDivisionError):
        write_tables(tmp_path, "an exam", segments, failing, known, pictures=1)
    assert not (tmp_path / "events.parquet").exists()
