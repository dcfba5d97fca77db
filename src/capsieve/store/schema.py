"""The tables of a screened exam: columns, types, version."""

import json

import pyarrow as pa

__all__ = ["EVENTS", "FEATURES", "FRAMES", "SCHEMA", "SEGMENT", "described"]

SCHEMA = 1
"""Version of the tables and of exam.json; it grows when a name changes its meaning."""

_FEATURE = [
    ("feature", pa.int32()),  # k, counted from 1
    ("size", pa.int32()),
    ("eccentricity", pa.float64()),  # infinite for a line of pixels
    ("row", pa.float64()),  # centre of mass, working pixels
    ("col", pa.float64()),
    ("ball_row", pa.float64()),
    ("ball_col", pa.float64()),
    ("radius", pa.int32()),
    ("rejected", pa.string()),
    ("moment_rr", pa.float64()),
    ("moment_rc", pa.float64()),
    ("moment_cc", pa.float64()),
    ("source_row", pa.float64()),  # the ball in the source's pixels
    ("source_col", pa.float64()),
    ("source_radius", pa.float64()),
]

_DECODED = [
    ("file", pa.string()),  # null for videos
    ("pts", pa.int64()),  # in the stream's units; null for image files
    ("time_s", pa.float64()),  # null where unknown
    ("sha1", pa.string()),  # of the decoded pixels, row by row
    ("look", pa.binary(32)),  # see capsieve.phash; null where there is too little to be seen
    ("status", pa.string()),  # decoded | undecodable | unscreened: its worker died
    ("problem", pa.string()),  # null where all is well
    ("rows", pa.int32()),
    ("cols", pa.int32()),
]

_RESULT = [
    ("label", pa.string()),  # null where the frame could not be scored; so are all that follow
    ("reason", pa.string()),
    ("score", pa.float64()),
    ("texture_max", pa.float64()),  # null for detectors that do not take the paper's steps
    ("radius_max", pa.int32()),  # likewise
    ("row", pa.float64()),  # best ball, or spot, in the source's pixels; null where there is none
    ("col", pa.float64()),
    ("radius", pa.float64()),
    ("midpass_max", pa.float64()),
    ("threshold", pa.float64()),
    ("red", pa.float32()),  # mean colour inside the field of view, 0..255
    ("green", pa.float32()),
    ("blue", pa.float32()),
    # What the detector looked at, named by "value_names" in exam.json; null for the paper's. Older
    # results are without this column.
    ("values", pa.list_(pa.float32())),
]

_NUMBERED = [("head", pa.int16()), ("frame", pa.int64())]

FRAMES = pa.schema(
    _NUMBERED
    + _DECODED
    + _RESULT
    + [
        ("event", pa.int32()),  # null where the frame is not flagged
        ("repeats", pa.int64()),  # the flagged frame of which this one is nearly a copy, or null
    ]
)
"""One row per frame, sorted by head and frame."""

FEATURES = pa.schema(_NUMBERED + _FEATURE)
"""One row per feature, sorted by head, frame and feature."""

EVENTS = pa.schema(
    [
        ("event", pa.int32()),  # the rank, from 1
        ("head", pa.int16()),
        ("first_frame", pa.int64()),
        ("last_frame", pa.int64()),
        ("best_frame", pa.int64()),
        ("score", pa.float64()),  # of the best frame
        ("frames", pa.int32()),  # flagged frames of the event
        ("to_read", pa.int32()),  # the same without near copies
        ("first_time_s", pa.float64()),
        ("last_time_s", pa.float64()),
        ("best_time_s", pa.float64()),
        ("best_file", pa.string()),
        ("row", pa.float64()),  # the best frame's ball, in the source's pixels
        ("col", pa.float64()),
        ("radius", pa.float64()),
    ]
)
"""One row per candidate polyp, best first."""

SEGMENT = pa.schema(
    _DECODED
    + _RESULT
    + [
        ("features", pa.list_(pa.struct(_FEATURE))),
        ("signature", pa.binary()),  # a tiny grey picture of a flagged frame, to find near copies
        ("thumbnail", pa.binary()),  # JPEG of a flagged frame, for the report
        ("evidence", pa.binary()),  # small grey PNG of a flagged frame's evidence map, or null
    ]
)
"""What a worker hands over: the rows of one segment in order, not yet numbered."""


def described(schema: pa.Schema, table: str, exam: str) -> pa.Schema:
    """Return the schema with the version, the table's name and the exam in its metadata."""
    content = {"schema": SCHEMA, "table": table, "exam": exam}
    return schema.with_metadata({b"capsieve": json.dumps(content).encode()})
