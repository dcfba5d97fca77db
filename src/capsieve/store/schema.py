"""Columns and types of the tables of a screened exam."""

from typing import get_type_hints

import pyarrow as pa

from capsieve.results import Feature

SCHEMA = 2
"""Version of the tables and of exam.json. It grows when a name or its meaning changes."""

SCREEN_AGAIN = "screen the exam again with --overwrite"
"""Advice in messages about tables and records that cannot be used."""

_KEY = [("head", pa.int16()), ("frame", pa.int64())]

_TYPES = {int: pa.int32(), float: pa.float64()}

_FEATURE = [
    *((name, _TYPES.get(kind, pa.string())) for name, kind in get_type_hints(Feature).items()),
    ("source_row", pa.float64()),  # the ball in pixels of the source
    ("source_col", pa.float64()),
    ("source_radius", pa.float64()),
]

FRAMES = pa.schema(
    [
        *_KEY,
        ("file", pa.string()),  # null for videos
        ("packet", pa.int64()),  # number in stored order; null for images
        ("time_s", pa.float64()),  # null if unknown
        ("pixel_hash", pa.string()),  # see capsieve.frames.pixel_hash
        ("phash", pa.binary(32)),  # see capsieve.phash; null if the frame shows too little
        ("field_phash", pa.binary(32)),  # the same inside the field of view
        ("duplicate_of", pa.int64()),  # the earlier near-identical frame of the head, or null
        ("status", pa.string()),  # decoded | undecodable | unscreened
        ("problem", pa.string()),  # damage, or why there is no score; null if there is none
        ("rows", pa.int32()),
        ("cols", pa.int32()),
        ("flagged", pa.bool_()),  # never null
        ("event", pa.int32()),  # null if the frame is not flagged
        ("reason", pa.string()),  # null if the frame could not be scored; so are all that follow
        ("score", pa.float64()),
        ("texture_max", pa.float64()),  # these four: null for detectors without the paper's steps
        ("radius_max", pa.int32()),
        ("segmentation_threshold", pa.float64()),
        ("midpass_max", pa.float64()),
        ("row", pa.float64()),  # best ball or place in pixels of the source; null if there is none
        ("col", pa.float64()),
        ("radius", pa.float64()),
        ("red", pa.float32()),  # mean colour inside the field of view, 0 to 255
        ("green", pa.float32()),
        ("blue", pa.float32()),
        ("sharpness", pa.float32()),  # variance of the Laplacian of the grey image, working size
        ("values", pa.list_(pa.float32())),  # named by value_names in exam.json; null for the paper
    ]
)
"""One row per frame, sorted by head and frame."""

FEATURES = pa.schema([*_KEY, *_FEATURE])
"""One row per feature, sorted by head, frame and number. See :class:`capsieve.results.Feature`."""

EVENTS = pa.schema(
    [
        ("event", pa.int32()),  # rank, from 1
        ("head", pa.int16()),
        ("first_frame", pa.int64()),
        ("last_frame", pa.int64()),
        ("best_frame", pa.int64()),
        ("score", pa.float64()),  # of the best frame
        ("frames", pa.int32()),  # flagged frames of the event
        ("to_read", pa.int32()),  # the same without near-duplicates
        ("first_time_s", pa.float64()),
        ("last_time_s", pa.float64()),
        ("best_time_s", pa.float64()),
        ("best_file", pa.string()),
        ("row", pa.float64()),  # ball of the best frame, pixels of the source
        ("col", pa.float64()),
        ("radius", pa.float64()),
    ]
)
"""One row per event (candidate polyp), best first."""

PACKETS = pa.schema(
    [
        ("head", pa.int16()),
        ("pts", pa.int64()),  # null if the packet has none
        ("dts", pa.int64()),
        ("size", pa.int64()),
        ("crc32", pa.uint32()),
        ("key", pa.bool_()),
        ("hidden", pa.bool_()),
    ]
)
"""One row per packet, in stored order. See :class:`capsieve.sources.base.PacketTable`."""

THUMBNAILS = pa.schema(
    [
        *_KEY,
        ("thumbnail", pa.binary()),  # JPEG
        ("evidence", pa.binary()),  # small grey PNG of the evidence map, or null
    ]
)
"""Thumbnails of flagged frames, sorted by head and frame."""

TABLES = {
    "frames": FRAMES,
    "features": FEATURES,
    "events": EVENTS,
    "packets": PACKETS,
    "thumbnails": THUMBNAILS,
}
"""The tables of an exam by name; each is a file NAME.parquet."""

NEVER_NULL = {
    *(("frames", name) for name in ("head", "frame", "status", "flagged")),
    *(("features", name) for name in ("head", "frame", "radius", "rejected")),
    *(("packets", name) for name in ("head", "size", "crc32", "key", "hidden")),
    *(("thumbnails", name) for name in ("head", "frame", "thumbnail")),
    *(
        ("events", name)
        for name in ("event", "head", "first_frame", "last_frame", "best_frame", "score")
    ),
    *(("events", name) for name in ("frames", "to_read")),
}
"""Columns of tables that have a value in each row."""

_WHOLE_EXAM = {"head", "frame", "duplicate_of", "flagged", "event"}

SEGMENT = pa.schema(
    [
        *(field for field in FRAMES if field.name not in _WHOLE_EXAM),
        pa.field("features", pa.list_(pa.struct(_FEATURE))),
        # Why score_batch failed for the batch of the frame, which was then scored alone; or null.
        pa.field("batch_error", pa.string()),
    ]
)
"""What a worker returns: the frames of a segment, without what depends on the whole exam."""
