"""Folders of screened exams with plausible synthetic content, for tests of what reads them."""

import io
import json
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from capsieve import Parameters
from capsieve.paper.detector import PaperDetector
from support.polyp_frames import polyp_frame
from support.results import exam_record, frame_counts, write_table

__all__ = ["SIZE", "write_exam"]

SIZE = 128
"""Rows and columns of the frames."""

REASONS = ("texture-low", "texture-high", "no-feature", "radius-low")


def write_exam(
    folder: Path,
    *,
    frames: int = 300,
    heads: int = 1,
    events: int = 5,
    timed: bool = True,
    files: bool = False,
    undecodable: tuple[int, int] | None = None,
    start: float = 0.0,
    size: int = SIZE,
    pictures: int = 4,
    length: int | None = None,
    **changes: Any,
) -> dict[tuple[int, int], bytes]:
    """Write an exam and return the thumbnails of all its frames to read.

    Parameters
    ----------
    folder
        The exam's folder; it is made. Its name is the exam's, unless `changes` say otherwise.
    frames, events
        How many each head has.
    timed, start
        Whether times are known, and the first one. Every third of the exam is slower.
    files
        Whether frames are image files.
    undecodable
        First and last frame of a stretch of head 0.
    size, pictures
        Rows and columns of the frames, and how many different ones there are.
    length
        Flagged frames of each event, of which the fourth is a near-duplicate; by default one
        to four.
    changes
        Entries of the record to be replaced.
    """
    folder.mkdir(parents=True)
    drawn = (_picture(seed, size) for seed in count())
    shown = list(islice(filter(None, drawn), pictures if events else 0))
    tables = [
        _head(head, frames, events, timed, files, undecodable, start, size, shown, heads, length)
        for head in range(heads)
    ]
    rows = {name: [row for table in tables for row in table[name]] for name in tables[0]}
    rows["events"].sort(key=lambda row: row["event"])
    for name in ("frames", "features", "events"):
        write_table(folder, name, rows[name])
    record = exam_record(
        folder.name,
        [_counts(table) for table in tables],
        kind="folder" if files else "video",
        size=size,
    )
    record |= {"problems": _problems(undecodable), "complete": undecodable is None}
    (folder / "exam.json").write_text(json.dumps(record | changes), encoding="utf-8")
    return {
        (row["head"], row["frame"]): shown[row["event"] % len(shown)][2]
        for row in rows["frames"]
        if row.get("event") and row.get("duplicate_of") is None
    }


def _picture(seed: int, size: int) -> tuple[dict[str, Any], dict[str, Any], bytes] | None:
    """What a frame's row and feature say, and its thumbnail; None where there is no ball."""
    from PIL import Image

    pixels = polyp_frame(seed=seed, size=size)
    result = PaperDetector(Parameters(texture_low=0.0, texture_high=100.0)).score(pixels)
    best = result.best
    if best is None:
        return None
    row, col = result.placement.to_source(best.ball_row, best.ball_col)
    radius = result.placement.length_to_source(best.radius)
    feature = best._asdict()
    feature |= {"source_row": row, "source_col": col, "source_radius": radius}
    ball = {"row": row, "col": col, "radius": radius}
    with io.BytesIO() as file:
        Image.fromarray(pixels).resize((min(size, 192), min(size, 192))).save(
            file, "JPEG", quality=85
        )
        return ball, feature, file.getvalue()


def _head(
    head: int,
    frames: int,
    events: int,
    timed: bool,
    files: bool,
    undecodable: tuple[int, int] | None,
    start: float,
    size: int,
    shown: list[tuple[dict[str, Any], dict[str, Any], bytes]],
    heads: int,
    flagged: int | None,
) -> dict[str, list[dict[str, Any]]]:
    rng = np.random.default_rng(head)
    steps = np.where(np.arange(frames) // max(1, frames // 9) % 3 == 2, 0.25, 1 / 35)
    times = start + np.cumsum(steps) - steps[:1]
    wander = np.sin(np.arange(frames) / max(1, frames) * 19 + head) + rng.normal(0, 0.5, frames)
    rows: list[dict[str, Any]] = []
    for frame in range(frames):
        lost = head == 0 and undecodable is not None and undecodable[0] <= frame <= undecodable[1]
        row: dict[str, Any] = {"head": head, "frame": frame, "status": "decoded"}
        row["time_s"] = float(times[frame]) if timed else None
        row["file"] = f"frame_{frame:05d}.jpg" if files else None
        if lost:
            row |= {"status": "undecodable", "problem": "the data is broken"}
        else:
            reason = REASONS[
                0 if wander[frame] < -1 else 1 if wander[frame] > 1.2 else 2 + frame % 2
            ]
            score = 20.0 + frame % 15 if reason == "radius-low" else 0.0
            tone = 150 + 40 * np.sin(frame / max(1, frames) * 9)
            row |= {"flagged": False, "reason": reason, "score": score, "rows": size, "cols": size}
            row |= {"texture_max": 5.0, "radius_max": int(score), "pixel_hash": f"{frame:040x}"}
            row |= {"red": tone, "green": tone * 0.6, "blue": tone * 0.42}
        rows.append(row)
    found, features = [], []
    places = rng.permutation(events)
    for k in range(events):
        rank = k * heads + head + 1
        length = flagged or 1 + k % 4
        first = int((places[k] + 0.5) * (frames - length) / events)
        first = next(
            (
                f
                for f in [*range(first, frames - length), *range(frames - length)]
                if all(
                    rows[f + i]["status"] == "decoded" and not rows[f + i].get("event")
                    for i in range(length)
                )
            ),
        )
        ball, feature, _ = shown[rank % len(shown)]
        score = round(80 - 40 * k / max(events, 1), 2)
        for i in range(length):
            rows[first + i] |= {"flagged": True, "reason": "polyp", "event": rank, **ball}
            rows[first + i] |= {"score": score - i, "duplicate_of": first if i == 3 else None}
            features.append({"head": head, "frame": first + i, **feature})
        member = rows[first]
        found.append(
            {
                "event": rank,
                "head": head,
                "first_frame": first,
                "last_frame": first + length - 1,
                "best_frame": first,
                "score": score,
                "frames": length,
                "to_read": length - (length >= 4),
                "first_time_s": member["time_s"],
                "last_time_s": rows[first + length - 1]["time_s"],
                "best_time_s": member["time_s"],
                "best_file": member["file"],
                **ball,
            }
        )
    features.sort(key=lambda row: row["frame"])
    return {"frames": rows, "features": features, "events": found}


def _counts(table: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    rows = table["frames"]
    reasons = [row.get("reason") for row in rows]
    flagged = reasons.count("polyp")
    near_duplicates = sum(row.get("duplicate_of") is not None for row in rows)
    decoded = sum(row["status"] == "decoded" for row in rows)
    return frame_counts(
        len(rows),
        decoded=decoded,
        undecodable=len(rows) - decoded,
        scored=decoded,
        rejected={reason: reasons.count(reason) for reason in REASONS},
        flagged=flagged,
        near_duplicates=near_duplicates,
        to_read=flagged - near_duplicates,
        events=len(table["events"]),
    )


def _problems(undecodable: tuple[int, int] | None) -> list[dict[str, Any]]:
    if undecodable is None:
        return []
    first, last = undecodable
    return [
        {
            "what": "the data is broken",
            "head": 0,
            "frames": last - first + 1,
            "first_frame": first,
            "last_frame": last,
            "first_time_s": None,
            "last_time_s": None,
            "file": None,
        }
    ]
