"""Folders of screened exams with plausible synthetic content, for tests of what reads them."""

import io
from dataclasses import asdict
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from capsieve import Parameters, phantom
from capsieve.detectors import PaperDetector
from capsieve.store.record import Ledger, Record, Stretch, write_record
from capsieve.store.schema import EVENTS, FEATURES, FRAMES, SCHEMA, described

__all__ = ["SIZE", "record_of", "write_exam"]

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
        How many flagged frames each event has, of which the fourth is a near copy; by default one
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
    schemas = {"frames": FRAMES, "features": FEATURES, "events": EVENTS}
    for name, schema in schemas.items():
        table = pa.Table.from_pylist(rows[name], described(schema, name, folder.name))
        pq.write_table(table, folder / f"{name}.parquet")
    ledgers = [_ledger(table) for table in tables]
    write_record(_record(folder.name, ledgers, files, undecodable, size) | changes, folder)  # pyright: ignore[reportArgumentType]
    return {
        (row["head"], row["frame"]): shown[row["event"] % len(shown)][2]
        for row in rows["frames"]
        if row.get("event") and row.get("repeats") is None
    }


def record_of(exam: str, *, frames: int, flagged: int) -> Record:
    """Return the record of an exam that was screened without a problem."""
    table = {"frames": [{"status": "decoded", "reason": "no-feature"}], "events": []}
    ledger = _ledger(table)
    for name in ("declared", "found", "decoded", "scored"):
        ledger[name] = frames
    for name in ("flagged", "to_read", "events"):
        ledger[name] = flagged
    ledger["rejected"] = {"no-feature": frames - flagged}
    return _record(exam, [ledger], False, None, SIZE)


def _picture(seed: int, size: int) -> tuple[dict[str, Any], dict[str, Any], bytes] | None:
    """What a frame's row and feature say, and its thumbnail; None where there is no ball."""
    from PIL import Image

    pixels = phantom.polyp_frame(seed=seed, size=size)
    result = PaperDetector(Parameters(texture_low=0.0, texture_high=100.0)).score(pixels)
    best = result.best
    if best is None:
        return None
    row, col = result.placement.to_source(best.ball_row, best.ball_col)
    radius = result.placement.length_to_source(best.radius)
    feature = asdict(best)
    feature["feature"] = feature.pop("number")
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
            row |= {"label": "normal", "reason": reason, "score": score, "rows": size, "cols": size}
            row |= {"texture_max": 5.0, "radius_max": int(score), "sha1": f"{frame:040x}"}
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
            rows[first + i] |= {"label": "polyp", "reason": "polyp", "event": rank, **ball}
            rows[first + i] |= {"score": score - i, "repeats": first if i == 3 else None}
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


def _ledger(table: dict[str, list[dict[str, Any]]]) -> Ledger:
    rows = table["frames"]
    reasons = [row.get("reason") for row in rows]
    flagged = reasons.count("polyp")
    repeats = sum(row.get("repeats") is not None for row in rows)
    decoded = sum(row["status"] == "decoded" for row in rows)
    return Ledger(
        declared=len(rows),
        missing=0,
        found=len(rows),
        decoded=decoded,
        undecodable=len(rows) - decoded,
        unscreened=0,
        damaged=0,
        unscorable=0,
        scored=decoded,
        rejected={reason: reasons.count(reason) for reason in REASONS},
        flagged=flagged,
        repeats=repeats,
        to_read=flagged - repeats,
        events=len(table["events"]),
    )


def _whole(ledgers: list[Ledger]) -> Ledger:
    whole: dict[str, Any] = dict(ledgers[0]) | {"rejected": dict(ledgers[0]["rejected"])}
    for ledger in ledgers[1:]:
        for name, value in ledger.items():
            if name == "rejected":
                whole[name] = {key: whole[name][key] + ledger["rejected"][key] for key in REASONS}
            else:
                whole[name] += value
    return whole  # pyright: ignore[reportReturnType]


def _record(
    exam: str, ledgers: list[Ledger], files: bool, undecodable: tuple[int, int] | None, size: int
) -> Record:
    parameters = Parameters().to_dict()
    problems: list[Stretch] = []
    if undecodable is not None:
        first, last = undecodable
        problems.append(
            Stretch(
                what="the data is broken",
                head=0,
                frames=last - first + 1,
                first_frame=first,
                last_frame=last,
                first_time_s=None,
                last_time_s=None,
                file=None,
            )
        )
    measure = {"below": 0.01, "above": 0.02, "warning": ""}
    kind = "folder" if files else "video"
    return Record(
        schema=SCHEMA,
        exam=exam,
        complete=not problems,
        ledger=_whole(ledgers),
        heads={str(head): ledger for head, ledger in enumerate(ledgers)},
        problems=problems,
        range={
            "reference": "a synthetic study",
            "measures": {
                "texture": {"low": 1.2, "high": 9.5, "median": 4.4, **measure},
                "brightness": {"low": 40.0, "high": 170.0, "median": 101.0, **measure},
                "redness": {"low": 0.41, "high": 0.58, "median": 0.47, **measure},
            },
        },
        warnings=[],
        detector={"name": "paper", "parameters": parameters},
        parameters=parameters,
        versions={"capsieve": "0.1.0", "python": "3.11.2", "numpy": "2.3.0"},
        sources=[
            {
                "head": head,
                "kind": kind,
                "path": f"/data/{exam}",
                "relative": f"../{exam}",
                "stream": 0,
                "names": "",
                "sha256": "5b" * 32,
                "bytes": 123_456_789,
                "declared": ledger["declared"],
                "description": {
                    "codec": "h264",
                    "rows": size,
                    "cols": size,
                    "colour": "BT.601, limited range, to full-range RGB",
                },
            }
            for head, ledger in enumerate(ledgers)
        ],
        views=[
            {
                "head": head,
                "rows": size,
                "cols": size,
                "shape": "circle",
                "row": size / 2,
                "col": size / 2,
                "radius": 0.48 * size,
                "confidence": 0.97,
                "found_by": "search",
            }
            for head in range(len(ledgers))
        ],
        tables={},
        settings={"field_of_view": "auto"},
        identity={"schema": SCHEMA},
        run={
            "started": "2026-01-02T10:00:00+00:00",
            "executor": "processes",
            "workers": 2,
            "seconds": 12.5,
        },
    )
