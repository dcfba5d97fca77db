"""Leaks: what the parts of a split must not share, and frames that trained the model.

A patient, a frame or nearly the same image in training and test makes a detector look better than
it is. Every leak is named, and stops the evaluation unless it is allowed; a CSV lists all frames.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write, check_replaceable
from capsieve.errors import CapsieveError, LeakError, file_errors
from capsieve.frame_table import Coded, LabelledFrames
from capsieve.phash import (
    BITS,
    FIELD_NEAR_DUPLICATE_BITS,
    NEAR_DUPLICATE_BITS,
    PixelHashes,
    match_near_duplicates,
)
from capsieve.plurals import number_of

LEAKS_FILE = "leaks.csv"
LEAK_COLUMNS = ("leak", "exam", "head", "frame", "file", "part", "shared")

_EXAMPLES = 3
_FORWARD = (
    "Frames of the test must be new to the detector: {}, or continue with --allow-leaks (in Python "
    "allow_leaks=True); the report then names the leaks."
)


@dataclass(frozen=True, slots=True, eq=False)
class Leak:
    """Something that parts of a split share, or that is counted twice.

    Attributes
    ----------
    kind
        "patient", "group" (a block or exam of unknown patient), "frame" (listed in two parts),
        "pixels" (equal images), "near-duplicate", "training" (the model was trained on it) or
        "scores" (a leak that was allowed when the scores were made); and of warnings "polyp" (its
        frames are in two parts) or "twice" (an image in two exams, or a featureless one in two
        parts).
    text
        Message with the number of shared things and the first examples.
    count
        Number of patients, groups, polyps, images or frames that are shared.
    rows
        The frames concerned.
    shared
        For each of these frames what it shares: a name, or the frame that has the same image.
    stops
        Whether it stops the evaluation; otherwise it is a warning.
    """

    kind: str
    text: str
    count: int
    rows: NDArray[np.int64]
    shared: Sequence[str]
    stops: bool = True


def check_leaks(
    leaks: Iterable[Leak], frames: LabelledFrames, *, allow: bool, file: Path | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences of the leaks that were allowed, and those of warnings.

    The frames of all leaks that stop an evaluation are written to `file`; without such leaks, an
    earlier file is removed.

    Raises
    ------
    LeakError
        There are leaks, and they are not allowed; the message names all of them.
    FileError
        The file cannot be written, or was not written by capsieve.
    """
    leaks = tuple(leaks)
    stopping = tuple(leak for leak in leaks if leak.stops)
    texts = tuple(leak.text for leak in stopping)
    if file is not None:
        _write_leaks(file, stopping, frames)
    if stopping and not allow:
        kinds = {leak.kind for leak in stopping}
        advice = "make another split with capsieve splits"
        if kinds & {"training", "scores"}:
            advice = "evaluate other frames"
        listed = "" if file is None else f"{file} lists all of these frames. "
        raise LeakError(f"{' '.join(texts)} {listed}{_FORWARD.format(advice)}")
    return texts, tuple(leak.text for leak in leaks if not leak.stops)


def leak_kinds(leaks: Iterable[Leak], count: int) -> NDArray[np.object_]:
    """Return for each of the frames the kinds of leaks that stop an evaluation, or ""."""
    kinds: list[list[str]] = [[] for _ in range(count)]
    for leak in leaks:
        for row in np.unique(leak.rows).tolist() if leak.stops else ():
            kinds[row].append(leak.kind)
    return np.array([" ".join(each) for each in kinds], object)


def _write_leaks(file: Path, leaks: Sequence[Leak], frames: LabelledFrames) -> None:
    if not leaks:
        with file_errors("remove", file):
            if file.exists() and file.read_bytes().startswith(",".join(LEAK_COLUMNS).encode()):
                file.unlink()
        return
    check_replaceable(file, columns=LEAK_COLUMNS)
    with file_errors("create", file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
    with (
        atomic_write(file) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as opened,
    ):
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(LEAK_COLUMNS)
        for leak in leaks:
            for row, shared in zip(leak.rows.tolist(), leak.shared, strict=True):
                name = "" if frames.file is None else frames.file[row] or ""
                key = frames.exam[row], frames.head[row], frames.frame[row]
                writer.writerow([leak.kind, *key, name, frames.part[row] or "", shared])


def find_leaks(
    frames: LabelledFrames,
    hashes: PixelHashes | None = None,
    *,
    in_two_parts: NDArray[np.integer] | Sequence[int] = (),
) -> tuple[Leak, ...]:
    """Return everything that the parts of a split share, and images that are counted twice.

    Only labelled frames count. Without a split, only images in two exams are reported. Equal frames
    inside one exam are usual, because a capsule stands still; they are a leak only across parts.
    `in_two_parts` has the rows of frames that the split lists in two parts.
    """
    used = frames.labelled
    part = np.where(used, frames.part.code, -1)
    twice = np.asarray(in_two_parts, np.int64)
    leaks = [*_shared_names(frames, part), *_listed_twice(frames, twice[used[twice]])]
    if hashes is not None:
        pixels = np.where(used, hashes.pixels, -1)
        across = _in_several(pixels, part)
        leaks += _equal_pixels(frames, pixels, part, across, hashes.featureless)
        others = (part >= 0) & ~np.isin(pixels, across)  # images with equal pixels have been named
        leaks += _near_duplicates_across(frames, np.where(others, part, -1), hashes.phash)
    return tuple(leaks)


def training_leak(
    frames: LabelledFrames, hashes: PixelHashes, trained: NDArray[np.uint8]
) -> list[Leak]:
    """Return the labelled frames that a model was trained on, by the hashes of those."""
    labelled = np.flatnonzero(frames.labelled)
    match, _ = match_near_duplicates(hashes.phash[labelled], trained)
    rows = labelled[match >= 0]
    if not len(rows):
        return []
    text = (
        f"The model was trained on {len(rows):,} of the {len(labelled):,} labelled frames (or "
        f"near-duplicates of them): {_listed_frames(frames, rows)}."
    )
    return [Leak("training", text, len(rows), rows, [""] * len(rows))]


def allowed_earlier(frames: LabelledFrames, marks: Sequence[str | None]) -> list[Leak]:
    """Return the labelled frames whose scores carry the mark of a leak that was allowed."""
    marked = np.array([bool(mark) for mark in marks], bool)
    rows = np.flatnonzero(frames.labelled & marked)
    if not len(rows):
        return []
    text = (
        f"{number_of(len(rows), 'score')} {_is(len(rows))} marked as made with leaks that were "
        f"allowed: {_listed_frames(frames, rows)}."
    )
    return [Leak("scores", text, len(rows), rows, [marks[row] or "" for row in rows.tolist()])]


def read_training_phashes(
    detector: Mapping[str, Any], places: Iterable[str | Path] = ()
) -> tuple[NDArray[np.uint8] | None, str]:
    """Return the perceptual hashes of the frames that a detector was trained on.

    They are None if they are unknown or the detector was not trained; the text says why they are
    unknown. Of the `places` where its model file may be, the file is recognised by its SHA-256.
    """
    if "model" not in detector:
        return None, ""
    from capsieve.learned.detector import SHIPPED
    from capsieve.learned.model_file import read_model

    shipped = detector.get("name") == "learned"
    name = "the shipped model" if shipped else f"the model file {detector.get('name')}"
    why = f"{name} was not found"
    for path in [SHIPPED] if shipped else [Path(place) for place in places]:
        if not path.is_file():
            continue
        try:
            model = read_model(path)
        except CapsieveError as error:  # another file of this name, or onnx is not installed
            why = f"{name} cannot be read ({error})"
            continue
        if model.sha256 == detector["model"]:
            if len(model.training_phashes):
                return model.training_phashes, ""
            why = f"{name} does not contain hashes of its training frames"
    return None, (
        f"Training data unknown: {why}, so it cannot be checked whether the model was trained on "
        "these frames."
    )


def _shared_names(frames: LabelledFrames, part: NDArray[np.integer]) -> list[Leak]:
    """Return patients, and groups of unknown patients, in more than one part; as warnings, polyps.

    If a frame names neither patient nor block, its whole exam must be in one part.
    """
    unknown = (frames.patient.code < 0) & (part >= 0)
    is_exam = np.array([*(name.startswith("exam ") for name in frames.group.names), False], bool)
    by_exam = unknown & is_exam[frames.group.code]
    unit = frames.unit.code
    exam = np.where(np.isin(unit, unit[by_exam]), unit, -1)
    block = np.where(unknown & ~by_exam, frames.group.code, -1)
    exams = tuple(f"exam {name}" for name in frames.unit.names)
    return [
        *_shared(frames, part, "patient", frames.patient),
        *_shared(frames, part, "group", Coded(frames.group.names, block)),
        *_shared(frames, part, "group", Coded(exams, exam)),
        *_shared(frames, part, "polyp", frames.polyp, stops=False),
    ]


def _shared(
    frames: LabelledFrames,
    part: NDArray[np.integer],
    kind: str,
    names: Coded,
    *,
    stops: bool = True,
) -> list[Leak]:
    codes = _in_several(names.code, part)
    if not len(codes):
        return []
    examples: list[str] = []
    for code in codes[:_EXAMPLES].tolist():
        parts = np.unique(part[(names.code == code) & (part >= 0)])
        listed = ", ".join(frames.part.names[number] for number in parts)
        examples.append(f"{names.names[code]} ({listed})")
    count = len(codes)
    text = f"{number_of(count, kind)} {_is(count)} in more than one part"
    rows = np.flatnonzero(np.isin(names.code, codes) & (part >= 0))
    shared = [names.names[code] for code in names.code[rows].tolist()]
    return [Leak(kind, f"{text}: {_listed(examples, count)}.", count, rows, shared, stops)]


def _listed_twice(frames: LabelledFrames, rows: NDArray[np.int64]) -> list[Leak]:
    if not len(rows):
        return []
    text = f"{number_of(len(rows), 'frame')} {_is(len(rows))} listed in more than one part"
    names = _listed_frames(frames, rows)
    return [Leak("frame", f"{text}: {names}.", len(rows), rows, [""] * len(rows))]


def _equal_pixels(
    frames: LabelledFrames,
    pixels: NDArray[np.int64],
    part: NDArray[np.integer],
    across: NDArray[np.int64],
    featureless: NDArray[np.bool_],
) -> list[Leak]:
    """Return equal images in two parts; and as a warning, equal images in two exams.

    Black frames are equal in all exams of a kind of capsule and teach nothing: not a leak.
    """
    empty = np.unique(pixels[featureless & (pixels >= 0)])
    exam = np.where(pixels >= 0, frames.exam.code, -1)
    in_exams = np.setdiff1d(_in_several(pixels, exam), across)
    alike = "in more than one part"
    once_more = "in more than one exam, and count each time"
    black = f"{alike}, but featureless, which is not a leak"
    leaks: list[Leak] = []
    for kind, codes, label, where in (
        ("pixels", np.setdiff1d(across, empty), part, alike),
        ("twice", np.setdiff1d(in_exams, empty), exam, once_more),
        ("twice", np.intersect1d(across, empty), part, black),
    ):
        if not len(codes):
            continue
        rows = np.flatnonzero(np.isin(pixels, codes) & (label >= 0))
        rows = rows[np.argsort(pixels[rows], kind="stable")]
        # With each image: its first frame, and the first one in another part or exam.
        pairs: list[tuple[Any, Any]] = []
        shared: list[str] = []
        for same in np.split(rows, np.flatnonzero(np.diff(pixels[rows])) + 1):
            other = same[label[same] != label[same[0]]][0]
            pairs.append((same[0], other))
            names = _name(frames, same[0]), _name(frames, other)
            shared += [names[int(label[row] == label[same[0]])] for row in same]
        shown = [" and ".join(_name(frames, row) for row in pair) for pair in pairs[:_EXAMPLES]]
        images = f"{number_of(len(codes), 'image')} ({_listed(shown, len(codes))})"
        text = f"{images} {_is(len(codes))} {where}."
        leaks.append(Leak(kind, text, len(codes), rows, shared, stops=kind == "pixels"))
    return leaks


def _near_duplicates_across(
    frames: LabelledFrames, part: NDArray[np.integer], phash: NDArray[np.uint8]
) -> list[Leak]:
    partner = np.full(len(part), -1, np.int64)
    pairs: dict[int, int] = {}
    for code in np.unique(part[part >= 0])[:-1]:  # each with all later ones
        here, later = np.flatnonzero(part == code), np.flatnonzero(part > code)
        match, matched = match_near_duplicates(phash[here], phash[later])
        first, second = here[match >= 0], later[matched]
        pairs |= dict(zip(first.tolist(), later[match[match >= 0]].tolist(), strict=True))
        partner[first] = later[match[match >= 0]]
        back, _ = match_near_duplicates(phash[second], phash[first])
        partner[second[back >= 0]] = first[back[back >= 0]]
    rows = np.flatnonzero(partner >= 0)
    if not len(rows):
        return []
    examples = [
        " and ".join(_name(frames, row) for row in sorted((first, pairs[first])))
        for first in sorted(pairs)[:_EXAMPLES]
    ]
    text = (
        f"{len(rows):,} frames are near-duplicates of frames of another part (at most "
        f"{NEAR_DUPLICATE_BITS} of {BITS} bits differ, or {FIELD_NEAR_DUPLICATE_BITS} inside the "
        f"field of view in any orientation): {_listed(examples, len(pairs))}."
    )
    shared = [_name(frames, row) for row in partner[rows]]
    return [Leak("near-duplicate", text, len(rows), rows, shared)]


def _in_several(code: NDArray[np.integer], label: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the codes that occur with more than one label; -1 means none in both."""
    known = (code >= 0) & (label >= 0)
    span = int(label.max(initial=0)) + 1
    both = np.unique(code[known].astype(np.int64) * span + label[known]) // span
    return np.unique(both[1:][both[1:] == both[:-1]])


def _name(frames: LabelledFrames, row: Any) -> str:
    exam = frames.exam[row]
    file = None if frames.file is None else frames.file[row]
    head = f" head {frames.head[row]}" if frames.head[row] else ""
    name = f"{exam}/{file}" if file else f"{exam}{head} frame {frames.frame[row]}"
    part = frames.part[row]
    return f"{name} ({part})" if part else name


def _listed_frames(frames: LabelledFrames, rows: NDArray[np.int64]) -> str:
    return _listed([_name(frames, row) for row in rows[:_EXAMPLES]], len(rows))


def _listed(examples: Sequence[str], count: int) -> str:
    more = count - len(examples)
    return "; ".join(examples) + (f"; and {more:,} more" if more > 0 else "")


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
