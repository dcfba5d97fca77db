"""Tables of frames as columns, and flagged columns as tables."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from capsieve.errors import FileError
from capsieve.store.frame_columns import event_table, frame_columns, with_flags
from capsieve.store.schema import EVENTS, FRAMES
from capsieve.store.tables import number_frames
from support.segment_rows import row, scored, segment


def frames_of(*heads):
    return number_frames({number: [segment(rows)] for number, rows in enumerate(heads)})[0]


def changed(table, name, values):
    place = table.schema.get_field_index(name)
    return table.set_column(place, FRAMES.field(name), pa.array(values, FRAMES.field(name).type))


def test_near_duplicates_refer_to_rows_of_their_exam_and_head():
    table = changed(frames_of([scored()] * 2, [scored()] * 2), "duplicate_of", [None, 0, None, 0])
    columns = frame_columns({"a": table, "b": table})
    assert columns.duplicate_of.tolist() == [-1, 0, -1, 2, -1, 4, -1, 6]
    assert [columns.exam[n] for n in (0, 4)] == ["a", "b"]


def test_rejected_frames_have_the_lowest_score_and_unscored_ones_none():
    table = frames_of([scored("texture-low"), row(), scored("score-low", score=0.0)])
    np.testing.assert_array_equal(frame_columns({"a": table}).score, [-np.inf, np.nan, 0.0])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("frame", [1, 0]),
        ("frame", [0, 0]),
        ("duplicate_of", [None, 5]),
        ("duplicate_of", [1, None]),
        ("duplicate_of", [None, 1]),
        ("score", [1.0, float("inf")]),
    ],
)
def test_damaged_tables_are_refused_by_the_name_of_the_exam(name, values):
    table = changed(frames_of([scored("polyp", score=1.0)] * 2), name, values)
    with pytest.raises(FileError, match=r"patient-7.*--overwrite"):
        frame_columns({"patient-7": table})


def test_the_flags_of_columns_are_written_into_the_table():
    table = frames_of([scored("polyp", score=3.0), scored("no-feature")])
    columns = frame_columns({"a": table})
    columns = replace(columns, flagged=np.array([True, False]), event=np.array([1, -1]))
    written = with_flags(table, columns)
    assert written.schema.equals(FRAMES)
    assert written["flagged"].to_pylist() == [True, False]
    assert written["event"].to_pylist() == [1, None]
    assert written["reason"].to_pylist() == ["polyp", "no-feature"]
    np.testing.assert_array_equal(frame_columns({"a": written}).event, [1, -1])


def test_values_that_an_event_lacks_are_null():
    columns = frame_columns({"a": frames_of([scored("polyp", score=3.0, row=None, time_s=None)])})
    events = event_table(replace(columns, event=np.array([1])), np.array([True]))
    assert events.schema.equals(EVENTS)
    [event] = events.to_pylist()
    assert (event["score"], event["frames"], event["to_read"]) == (3.0, 1, 1)
    assert (event["row"], event["best_time_s"], event["best_file"]) == (None, None, None)
