"""From segments to tables: numbers, events, counts, and bytes that depend on the rows alone."""

import json
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.errors import FileError
from capsieve.frame_table import group_events, to_read
from capsieve.results import REJECTED
from capsieve.sources.base import NO_STAMP, PacketTable
from capsieve.store import tables
from capsieve.store.frame_columns import event_table, frame_columns, with_flags
from capsieve.store.schema import FRAMES, PACKETS, SCHEMA, TABLES, THUMBNAILS
from capsieve.store.tables import (
    frame_counts,
    number_frames,
    packet_table,
    problem_records,
    table_damage,
    write_tables,
)
from support.segment_rows import any_row, feature, row, scored, segment

SEVERAL = st.lists(any_row(), max_size=30)
CUTS = st.lists(st.integers(0, 30), max_size=6)
LINKS = st.lists(st.booleans(), min_size=30, max_size=30)


def cut(rows, places):
    """Cut rows into segments; the same place twice makes an empty one."""
    bounds = [0, *sorted(min(place, len(rows)) for place in places), len(rows)]
    return [segment(rows[start:stop]) for start, stop in pairwise(bounds)]


def read_of(table):
    """Return which frames of a table, or of columns, are to be read."""
    columns = frame_columns({"an exam": table}) if isinstance(table, pa.Table) else table
    return to_read(columns.event, columns.score, columns.duplicate_of)


def near_duplicates(table):
    return table["flagged"].to_numpy() & ~read_of(table)


def counts_of(table, *more):
    return frame_counts(table, read_of(table), *more)


def joined(heads, links=(), *, threshold=40.0):
    """Return all tables of an exam; `links` tells which frames repeat their predecessor."""
    frames, features = number_frames(heads)
    score = frames["score"].fill_null(-1).to_numpy()
    number = frames["frame"].to_numpy()
    first = np.full(len(number), -1)
    for place, linked in enumerate(np.resize([*links, False], len(number))):
        if linked and number[place] > 0:
            first[place] = first[place - 1] if first[place - 1] >= 0 else number[place - 1]
    allowed = ~np.isin(np.array(frames["reason"].to_pylist(), object), REJECTED)
    places = {field: frames.schema.get_field_index(field) for field in ("flagged", "duplicate_of")}
    frames = frames.set_column(places["flagged"], "flagged", [allowed & (score >= threshold)])
    duplicate_of = pa.array(first, pa.int64(), mask=first < 0)
    frames = frames.set_column(places["duplicate_of"], FRAMES.field("duplicate_of"), [duplicate_of])
    columns = frame_columns({"an exam": frames.cast(FRAMES)})
    event = group_events(columns, columns.flagged)
    columns = replace(columns, event=np.where(event < 0, -1, event + 1))
    events = event_table(columns, read_of(columns))
    return {
        "frames": with_flags(frames.cast(FRAMES), columns),
        "features": features,
        "events": events,
        "packets": PACKETS.empty_table(),
        "thumbnails": THUMBNAILS.empty_table(),
    }


def test_numbers_continue_over_segments_and_start_again_with_every_head():
    two = segment([scored()] * 2)
    frames, _ = number_frames({1: [two, segment([]), two], 0: [two, segment([scored()])]})
    numbers = list(zip(frames["head"].to_pylist(), frames["frame"].to_pylist(), strict=True))
    assert numbers == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3)]


def test_frames_keep_what_the_worker_returned():
    one = scored("radius-low", file="a.png", packet=7, time_s=0.5, phash=bytes(32), values=[1, 2])
    frames, _ = number_frames({0: [segment([one, row(status="undecodable", problem="bad")])]})
    assert frames.schema.equals(FRAMES)
    first, second = frames.to_pylist()
    assert {name: first[name] for name in one if name != "features"} == {
        name: value for name, value in one.items() if name != "features"
    }
    assert (second["status"], second["problem"], second["reason"]) == ("undecodable", "bad", None)
    assert [first["flagged"], second["flagged"]] == [False, False]


@settings(max_examples=30)
@given(left=SEVERAL, right=SEVERAL, places=CUTS)
def test_every_feature_belongs_to_its_frame(left, right, places):
    _, features = number_frames({0: cut(left, places), 1: cut(right, places)})
    expected = [
        (head, number, one["number"], one["size"])
        for head, rows in enumerate((left, right))
        for number, frame in enumerate(rows)
        for one in frame.get("features") or []
    ]
    columns = features.select(["head", "frame", "number", "size"]).to_pylist()
    assert [tuple(one.values()) for one in columns] == expected


@settings(max_examples=60)
@given(left=SEVERAL, right=SEVERAL, places=CUTS, links=LINKS)
def test_every_frame_is_counted_once(left, right, places, links):
    frames = joined({0: cut(left, places), 1: cut(right, places)}, links)["frames"]
    total, heads = counts_of(frames, {0: 20, 1: None})
    assert [heads["0"]["found"], heads["1"]["found"]] == [len(left), len(right)]
    for counts in (total, *heads.values()):
        assert counts["found"] == sum(
            counts[name] for name in ("decoded", "undecodable", "unscreened")
        )
        assert counts["decoded"] == counts["unscorable"] + counts["scored"]
        assert counts["scored"] == counts["flagged"] + sum(counts["rejected"].values())
        assert counts["flagged"] == counts["to_read"] + counts["near_duplicates"]
    for name in ("found", "damaged", "flagged", "near_duplicates", "events", "missing"):
        assert total[name] == heads["0"][name] + heads["1"][name]
    assert total["declared"] is None
    assert total["missing"] == max(0, 20 - len(left))


def test_reasons_are_counted_even_if_no_frame_has_them():
    frames = joined({0: [segment([scored("no-feature"), scored("brand-new")])]})["frames"]
    total, _ = counts_of(frames, {0: None}, ["texture-low", "no-feature"])
    assert total["rejected"] == {"texture-low": 0, "no-feature": 1, "brand-new": 1}


def test_a_head_without_frames_is_counted():
    total, heads = counts_of(joined({0: [segment([scored()])], 1: []})["frames"], {0: 1, 1: 9})
    assert (heads["1"]["found"], heads["1"]["missing"]) == (0, 9)
    assert (total["declared"], total["missing"]) == (10, 9)


@settings(max_examples=60)
@given(left=SEVERAL, right=SEVERAL, links=LINKS)
def test_a_near_duplicate_leads_to_a_frame_of_its_event_that_is_read(left, right, links):
    frames = joined({0: cut(left, []), 1: cut(right, [])}, links)["frames"]
    found = near_duplicates(frames)
    rows = frames.to_pylist()
    by_number = {(one["head"], one["frame"]): n for n, one in enumerate(rows)}
    for number, one in enumerate(rows):
        if found[number]:
            read = by_number[one["head"], one["duplicate_of"]]
            assert one["flagged"]
            assert rows[read]["flagged"]
            assert rows[read]["event"] == one["event"]
            assert not found[read]


def test_a_capsule_that_stands_still_is_read_once():
    still = scored("polyp", score=50.0)
    frames = joined({0: [segment([still]), segment([still] * 3)]}, [False, True, True, True])
    assert near_duplicates(frames["frames"]).tolist() == [False, True, True, True]
    assert frames["events"]["to_read"].to_pylist() == [1]


def test_the_best_frame_is_read_even_if_it_repeats_an_earlier_one():
    rows = [scored("polyp", score=score) for score in (50.0, 70.0, 60.0)]
    frames = joined({0: [segment(rows)]}, [False, True, True])["frames"]
    assert near_duplicates(frames).tolist() == [False, False, True]


def test_a_repeated_frame_that_is_not_flagged_is_no_reason_to_skip_its_successors():
    rows = [scored(score=1.0), scored(score=50.0), scored(score=50.0)]
    frames = joined({0: [segment(rows)]}, [False, True, True])["frames"]
    assert not near_duplicates(frames).any()


@settings(max_examples=30)
@given(left=SEVERAL, right=SEVERAL, places=CUTS, links=LINKS)
def test_events_agree_with_the_frames(left, right, places, links):
    exam = joined({0: cut(left, places), 1: cut(right, places)}, links)
    frames, events = exam["frames"].to_pylist(), exam["events"].to_pylist()
    duplicates = near_duplicates(exam["frames"])
    assert [event["event"] for event in events] == list(range(1, len(events) + 1))
    assert all((one["event"] is not None) == one["flagged"] for one in frames)
    for event in events:
        places = [n for n, one in enumerate(frames) if one["event"] == event["event"]]
        members = [frames[n] for n in places]
        best = max(members, key=lambda one: (one["score"], -one["frame"]))
        assert {one["head"] for one in members} == {event["head"]}
        assert event["frames"] == len(members)
        assert event["to_read"] == len(members) - duplicates[places].sum()
        assert event["first_frame"] == members[0]["frame"]
        assert event["last_frame"] == members[-1]["frame"]
        assert event["best_frame"] == best["frame"]
        assert event["best_file"] == best["file"]
        for name in ("score", "row", "col", "radius"):
            assert event[name] == best[name]


def test_consecutive_frames_with_the_same_problem_are_one_record():
    good = scored(time_s=0.0)
    bad = [row(status="undecodable", problem="truncated", time_s=n, file=f"{n}") for n in range(3)]
    other = scored(problem="damaged", time_s=3.0)
    frames, _ = number_frames({0: [segment([good, *bad[:2]]), segment([bad[2], other, good])]})
    frames = pa.concat_tables([frames, number_frames({1: [segment(bad[:1])]})[0]])
    found = problem_records(frames)
    assert [
        (one["what"], one["head"], one["frames"], one["first_frame"], one["last_frame"])
        for one in found
    ] == [("truncated", 0, 3, 1, 3), ("damaged", 0, 1, 4, 4), ("truncated", 1, 1, 0, 0)]
    assert (found[0]["first_time_s"], found[0]["last_time_s"], found[0]["file"]) == (0.0, 2.0, "0")


def test_packets_of_videos_are_kept_and_images_have_none():
    packets = PacketTable(
        pts=np.array([NO_STAMP, 2]),
        dts=np.array([0, 1]),
        size=np.array([10, 20]),
        crc32=np.array([2**32 - 1, 5], np.uint32),
        key=np.array([True, False]),
        hidden=np.array([False, True]),
    )
    table = packet_table({1: packets, 0: None})
    assert table.schema.equals(PACKETS)
    assert table["head"].to_pylist() == [1, 1]
    again = PacketTable.from_arrow(table)
    np.testing.assert_array_equal(again.pts, packets.pts)
    np.testing.assert_array_equal(again.crc32, packets.crc32)
    assert packet_table({0: None}).num_rows == 0


@settings(max_examples=30)
@given(rows=SEVERAL, one=CUTS, other=CUTS, group=st.integers(1, 12), links=LINKS)
def test_bytes_do_not_depend_on_the_cuts(tmp_path_factory, rows, one, other, group, links):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_ROW_GROUP", group)
        folder = tmp_path_factory.mktemp("tables")
        first = write_tables(folder, "an exam", joined({0: cut(rows, one)}, links))
        assert write_tables(folder, "an exam", joined({0: cut(rows, other)}, links)) == first


def test_row_groups_are_full_except_the_last(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_ROW_GROUP", 10)
    write_tables(tmp_path, "an exam", joined({0: cut([scored()] * 25, [7, 14])}))
    stored = pq.ParquetFile(tmp_path / "frames.parquet").metadata
    groups = [stored.row_group(n).num_rows for n in range(stored.num_row_groups)]
    assert groups == [10, 10, 5]


@pytest.mark.parametrize("heads", [{0: []}, {0: [segment([scored(features=[feature(1)])])], 1: []}])
def test_all_tables_are_written_with_their_columns_and_schema_version(tmp_path, heads):
    exam = joined(heads)
    write_tables(tmp_path, "an exam", exam)
    for name, schema in TABLES.items():
        stored = pq.read_table(tmp_path / f"{name}.parquet")
        assert stored.schema.equals(schema)
        assert stored.equals(exam[name])
        content = json.loads(stored.schema.metadata[b"capsieve"])
        assert content == {"schema": SCHEMA, "table": name, "exam": "an exam"}


def test_the_hashes_are_those_of_the_files(tmp_path):
    hashes = write_tables(tmp_path, "an exam", joined({0: cut([scored()] * 9000, [7])}))
    for name, digest in hashes.items():
        assert sha256((tmp_path / name).read_bytes()).hexdigest() == digest


def test_changed_or_missing_tables_are_not_intact(tmp_path):
    hashes = write_tables(tmp_path, "an exam", joined({0: [segment([scored()])]}))
    assert not table_damage(tmp_path, hashes)
    assert table_damage(tmp_path, {})
    with (tmp_path / "events.parquet").open("ab") as file:
        file.write(b" ")
    assert table_damage(tmp_path, hashes)
    (tmp_path / "events.parquet").unlink()
    assert table_damage(tmp_path, hashes)


def test_a_table_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(FileError, match=r"cannot write .*frames\.parquet"):
        write_tables(tmp_path / "absent", "an exam", joined({0: []}))
