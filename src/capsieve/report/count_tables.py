"""Tables that count the frames of an evaluation: by exam, polyp, patient, finding and rule."""

from typing import Any

import numpy as np

from capsieve.frame_table import NORMAL, OTHER, POLYP, Integers, LabelledFrames, Mask, to_read
from capsieve.labels import LabelRows
from capsieve.plurals import number_of
from capsieve.result_table import Column, Table
from capsieve.statistics.breakdown import CLASSES, RULES, known_reasons, score_decides
from capsieve.statistics.frames import (
    exam_units,
    polyp_scores,
    split_findings,
    unnamed_note,
    unscored_note,
)
from capsieve.statistics.intervals import wilson
from capsieve.statistics.reading_effort import event_codes, first_of_events

_ORDER = {name: number for number, name in enumerate((*RULES, "score-low", "polyp"))}
_OTHER_RULE = len(_ORDER)
_ORDER["not scored"] = _OTHER_RULE + 1
_NO_FINDING = "(nothing named)"
_FRAME_COUNTS = (
    Column("exam", "Exam"),
    *(
        Column(key, label, "count")
        for key, label in {
            "found": "Frames found",
            "undecoded": "Not decoded",
            "unscorable": "Decoded, not scored",
            "scored": "Scored",
            "polyp": "Polyp",
            "normal": "Normal",
            "other": "Other finding",
            "unlabelled": "No label",
            "labelled_unscored": "Labelled, not scored",
            "label_rows": "Rows of labels",
            "repeated_rows": "Repeated rows",
            "rows_without_frame": "Rows without a frame",
        }.items()
    ),
)


def frame_counts_table(frames: LabelledFrames, rows: LabelRows) -> Table:
    """Return the counts of all frames and of all rows of the labels, per exam, in sums that add up.

    Rows that could not be read are not among them; they are in the list of problems.

    Parameters
    ----------
    frames
        All frames of the results.
    rows
        Counts of the rows of the labels, as matched.
    """
    exam, decoded = frames.exam, frames.decoded
    masks = (
        np.ones(len(frames), bool),
        ~decoded & ~frames.scored,
        decoded & ~frames.scored,
        frames.scored,
        frames.truth == POLYP,
        frames.truth == NORMAL,
        frames.truth == OTHER,
        ~frames.labelled,
        frames.labelled & ~frames.scored,
    )
    size = len(exam.names) + 1  # the last one for rows of no screened exam
    counts = np.stack(
        [np.bincount(exam.code[mask], minlength=size) for mask in masks]
        + [rows.rows, rows.repeated, rows.without_frame],
        axis=1,
    )
    lines = zip((*exam.names, "(exams that were not screened)"), counts.tolist(), strict=True)
    return Table(
        "frame-counts",
        "Frames and labels",
        _FRAME_COUNTS,
        tuple((name, *line) for name, line in lines if any(line)),
        "Frames found = not decoded + not scored + scored = polyp + normal + other + no label. "
        "Rows of labels = labelled frames + repeated + without a frame.",
        ("Total", *counts.sum(axis=0).tolist()),
    )


def sequences_table(frames: LabelledFrames, flagged: Mask) -> Table:
    """Return the paper's table of sequences: frames N_F and detection D of every polyp."""
    polyps = polyp_scores(frames)
    count, hit = len(polyps.score), flagged[polyps.shown]
    hits = np.bincount(polyps.polyp[hit], minlength=count)
    # The number of each frame in the sequence of its polyp, from 1.
    order = np.argsort(polyps.polyp, kind="stable")
    number = np.empty(len(order), np.int64)
    before = np.cumsum(polyps.frames) - polyps.frames
    number[order] = 1 + np.arange(len(order)) - np.repeat(before, polyps.frames)
    first = np.full(count, len(order) + 1)
    np.minimum.at(first, polyps.polyp[hit], number[hit])
    rows = tuple(
        (
            frames.polyp[polyps.first[i]],
            frames.patient[polyps.first[i]],
            int(polyps.frames[i]),
            int(hits[i]),
            bool(hits[i]),
            int(first[i]) if hits[i] else None,
            float(polyps.score[i]) if polyps.score[i] > -np.inf else None,
        )
        for i in range(count)
    )
    scores = polyps.score[polyps.score > -np.inf]
    digits = 3 if np.abs(scores).max(initial=0.0) <= 1 else 1  # a probability, or a radius
    word = frames.polyp_word
    caption = (
        f"N_F: number of frames of each {word}. D: at least one of them is flagged, which is true "
        f"for {np.count_nonzero(hits)} of {count}. {unnamed_note(frames)}"
    )
    return Table(
        "sequences",
        f"Frames and detection of every {word}",
        (
            Column("polyp", word.capitalize()),
            Column("patient", "Patient"),
            Column("frames", "N_F", "count"),
            Column("flagged", "Flagged frames", "count"),
            Column("detected", "D", "flag"),
            Column("first_flagged", "First flagged frame of the sequence", "count"),
            Column("best_score", "Best score", "number", digits),
        ),
        rows,
        caption.strip(),
        ("Total", None, int(polyps.frames.sum()), int(hits.sum()), None, None, None),
    )


def false_positives_table(frames: LabelledFrames, flagged: Mask) -> Table:
    """Return normal frames N_norm, false positives FPN and their rate FPR of every patient.

    Frames of unknown patients are counted by their group.
    """
    normal = np.flatnonzero(frames.normal_frames)
    patient, group = frames.patient.code[normal], frames.group.code[normal]
    # Patients first, then groups behind them: one code for both.
    names = [*frames.patient.names, *frames.group.names, "(unknown)"]
    behind = np.where(group >= 0, group, len(frames.group.names)) + len(frames.patient.names)
    code = np.where(patient >= 0, patient, behind)
    total = np.bincount(code, minlength=len(names))
    false = np.bincount(code[flagged[normal]], minlength=len(names))
    kind = "patient" if len(normal) and (patient >= 0).all() else frames.group_kind
    caption = (
        "N_norm: normal frames. FPN: false positives among them. FPR: false positive rate, with "
        "Wilson's interval, which treats frames as independent and is too narrow. "
        f"{unscored_note(frames, NORMAL)}"
    )
    return Table(
        "false-positives-per-patient",
        f"False positives per {kind}",
        (
            Column("patient", kind.capitalize()),
            Column("normal_frames", "N_norm", "count"),
            Column("false_positives", "FPN", "count"),
            Column("false_positive_rate", "FPR", "share"),
            Column("low", "from", "share"),
            Column("high", "to", "share"),
        ),
        tuple(
            (names[row], *_share_cells(int(false[row]), int(total[row])))
            for row in np.flatnonzero(total)
        ),
        caption.strip(),
        ("Total", *_share_cells(int(false.sum()), len(normal))),
    )


def effort_table(frames: LabelledFrames, flags: Mask, *, event: Integers | None = None) -> Table:
    """Return frames and events to read of each exam; arguments as for :func:`effort_metrics`."""
    event = event_codes(frames, flags) if event is None else event
    every = np.ones(len(frames), np.bool_)
    read = to_read(event, frames.score, frames.duplicate_of)
    masks = (every, read, *first_of_events(frames, event))
    exams = exam_units(frames)
    names = [*exams.names, "(unknown)"]
    code = np.where(exams.code < 0, len(exams.names), exams.code)
    counts = np.stack([np.bincount(code[mask], minlength=len(names)) for mask in masks], axis=1)

    def row(name: str, values: list[int]) -> tuple[Any, ...]:
        every, read, events, wrong = values
        return name, every, read, read / every if every else None, events, wrong

    return Table(
        "reading-effort",
        "Frames to read",
        (
            Column("exam", "Exam"),
            Column("frames", "Frames", "count"),
            Column("to_read", "To read", "count"),
            Column("share", "Share", "share"),
            Column("events", "Events", "count"),
            Column("false_events", "False events", "count"),
        ),
        tuple(
            row(name, values)
            for name, values in zip(names, counts.tolist(), strict=True)
            if values[0]
        ),
        "Flagged frames, labelled or not, without near-duplicates of a flagged frame of the same "
        "event. A false event has a normal frame and no polyp frame.",
        row("Total", counts.sum(axis=0).tolist()),
    )


def reasons_table(frames: LabelledFrames) -> Table | None:
    """Return how many frames of each class each rule of the detector decided, as screened.

    None if the reasons are not known, or only a score decided.
    """
    reason = known_reasons(frames)
    if reason is None or score_decides(reason):
        return None
    size = len(reason.names) + 1  # the code -1 is a frame that was not scored
    counts = np.stack(
        [
            np.bincount(reason.code[frames.truth == truth] % size, minlength=size)
            for truth in CLASSES.values()
        ],
        axis=1,
    )
    totals = counts.sum(axis=0).tolist()

    def row(name: str, values: list[int]) -> tuple[Any, ...]:
        shares = (n / total if total else None for n, total in zip(values, totals, strict=True))
        cells = zip(values, shares, strict=True)
        return name, *(cell for pair in cells for cell in pair)

    rows = zip((*reason.names, "not scored"), counts.tolist(), strict=True)
    rows = sorted(rows, key=lambda item: (_ORDER.get(item[0], _OTHER_RULE), item[0]))
    columns = [Column("reason", "Rule")]
    for word in CLASSES:
        columns += [
            Column(f"{word}_frames", f"{word.capitalize()} frames", "count"),
            Column(f"{word}_share", "Share", "share"),
        ]
    return Table(
        "reasons",
        "Deciding rule of each frame, as screened",
        tuple(columns),
        tuple(row(*each) for each in rows if any(each[1])),
        "Frames of each class by the rule that decided when the exams were screened. texture-low "
        "and texture-high are pre-selection; polyp are the flagged frames.",
        row("Total", totals),
    )


def causes_table(frames: LabelledFrames, flagged: Mask) -> Table:
    """Return how often each finding is flagged among scored frames without a polyp."""
    chosen = frames.normal_frames | frames.other_frames
    other, hit = frames.truth[chosen] == OTHER, flagged[chosen]
    # Frames are counted by the whole text of their findings first: there are few such texts.
    code = frames.finding.code[chosen].astype(np.int64) + 1
    texts = [(), *map(split_findings, frames.finding.names)]
    masks = (other, np.ones(len(code), np.bool_), hit)
    counted = [np.bincount(code[mask], minlength=len(texts)) for mask in masks]
    by_text = np.stack(counted, axis=1)
    counts: dict[str, Integers] = {}
    for words, line in zip(texts, by_text, strict=True):
        for word in {word for word in words if word.lower() != "normal"} or (_NO_FINDING,):
            counts[word] = counts.get(word, 0) + line
    plain = counts.pop(_NO_FINDING)
    rows: list[tuple[Any, ...]] = [
        (word, *_flag_cells(line)) for word, line in counts.items() if line[1]
    ]
    rows.sort(key=lambda row: (-row[3], -row[2], row[0]))
    if plain[1]:
        rows.append((_NO_FINDING, *_flag_cells(plain)))
    unscored = np.count_nonzero(np.isin(frames.truth, (NORMAL, OTHER)) & ~frames.scored)
    caption = (
        "Scored frames without a polyp by finding. A frame with several findings counts under each "
        "of them. Wilson's interval treats frames as independent and is too narrow."
    )
    if unscored:
        caption += f" {number_of(int(unscored), 'frame')} not scored: left out."
    return Table(
        "causes",
        "False positives by finding",
        (
            Column("finding", "Finding"),
            Column("other_frames", "Labelled other", "count"),
            Column("frames", "Frames", "count"),
            Column("flagged", "Flagged", "count"),
            Column("share", "Share flagged", "share"),
            Column("low", "from", "share"),
            Column("high", "to", "share"),
        ),
        tuple(rows),
        caption,
        ("All frames without a polyp", *_flag_cells(by_text.sum(axis=0))),
    )


def _flag_cells(line: Integers) -> tuple[Any, ...]:
    other, total, hits = line.tolist()
    return other, *_share_cells(hits, total)


def _share_cells(hits: int, total: int) -> tuple[int | float | None, ...]:
    """Return cells of a table: the total, the hits, their share and its Wilson interval."""
    return total, hits, hits / total if total else None, *(wilson(hits, total) or (None, None))
