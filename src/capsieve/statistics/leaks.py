"""Leaks: what the parts of a split must not share, or the test is no test.

A patient, a frame, a picture or nearly the same picture on both sides of a split lets a sieve look
better than it is. Every leak is named, and stops the evaluation unless it is overridden aloud.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import LeakError
from capsieve.phash import BITS, NEAR_DUPLICATE_BITS
from capsieve.statistics.judged import UNLABELLED, Judged
from capsieve.statistics.matching import Matched
from capsieve.statistics.matching.pixels import pixel_codes
from capsieve.statistics.near_identical import near_pairs
from capsieve.statistics.phashes import read_phashes

__all__ = ["Leak", "LeakKind", "check_leaks", "find_leaks"]

LeakKind = Literal["patient", "group", "frame", "pixels", "near-identical", "polyp", "twice"]

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that parts of a split share, or that is counted twice.

    Attributes
    ----------
    kind
        "patient", "group" (a block or exam of unknown patient), "frame" (listed in two parts),
        "pixels" (the same picture), "near-identical"; and for warnings "polyp" (its frames are in
        two parts) and "twice" (the same picture in two exams, or a featureless one in two parts).
    text
        One sentence with the count and the first examples.
    count
        How many patients, groups, pictures or frames it concerns.
    stops
        Whether it stops the evaluation; else it is only worth a warning.
    """

    kind: LeakKind
    text: str
    count: int
    stops: bool = True


def check_leaks(matched: Matched, *, allow: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences of leaks that were overridden, and of what is only worth a warning.

    Parameters
    ----------
    matched
        From :func:`capsieve.statistics.matching.match`; its judged frames have parts where there
        is a split.
    allow
        Go on all the same.

    Raises
    ------
    LeakError
        The parts share something, and it is not allowed; the message names all of it.
    """
    leaks = find_leaks(matched.judged, matched.folders, in_two_parts=matched.in_two_parts)
    stopping = tuple(leak.text for leak in leaks if leak.stops)
    if stopping and not allow:
        raise LeakError(
            f"{' '.join(stopping)} What is tested on must be new to what was tuned: make another "
            "split with capsieve splits, or go on all the same with --allow-leaks (in Python "
            "allow_leaks=True), and the report will say so."
        )
    return stopping, tuple(leak.text for leak in leaks if not leak.stops)


def find_leaks(
    judged: Judged,
    folders: Sequence[Path],
    *,
    in_two_parts: NDArray[np.integer] | Sequence[int] = (),
) -> tuple[Leak, ...]:
    """Return all that the parts of a split share, and pictures that are counted twice.

    Only labelled frames count; without a split only what is counted twice is told. Equal frames
    inside one exam are usual (a capsule stands still) and no leak as long as they are in one part.

    Parameters
    ----------
    judged
        All frames of the exams, with their parts.
    folders
        Of the exams, in the order of ``judged.exams``.
    in_two_parts
        Places of frames that the split lists in two parts.
    """
    used = judged.truth != UNLABELLED
    twice = np.asarray(in_two_parts, dtype=np.int64)
    found = [*_shared_groups(judged, used), *_listed_twice(judged, twice[used[twice]])]
    parted = used & (judged.part >= 0)
    split = len(np.unique(judged.part[parted])) > 1
    if not split and len(judged.exams) < 2:
        return tuple(found)
    pixels = np.where(used, pixel_codes(folders), -1).astype(np.int64)
    across = _in_several(pixels, np.where(parted, judged.part, -1))
    exams = np.setdiff1d(_in_several(pixels, judged.exam), across)
    if not (split or len(exams)):
        return tuple(found)
    hashes = read_phashes(folders)
    found += _same_pixels(judged, pixels, across, exams, ~hashes.there)
    if split:
        # Pictures that are the same pixel for pixel have been named.
        others = parted & hashes.there & ~np.isin(pixels, across)
        found += _near_identical(judged, others, hashes.phash)
    return tuple(found)


def _shared_groups(judged: Judged, used: NDArray[np.bool_]) -> list[Leak]:
    """Patients, and groups of frames whose patient is unknown, in more than one part; and polyps.

    Frames that name neither patient nor block may be of whomever the other frames of their exam
    are: the whole exam must then be in one part.
    """
    unknown = judged.patient < 0
    by_exam = np.array([name.startswith("exam ") for name in judged.groups], bool)[judged.group]
    open_ = np.unique(judged.exam[used & unknown & by_exam & (judged.part >= 0)])
    exam = np.where(np.isin(judged.exam, open_), judged.exam, -1)
    exams = [f"exam {name}" for name in judged.exams]
    block = np.where(unknown & ~by_exam, judged.group, -1)
    nobody = "; not all frames name their patient"
    return [
        *_shared(judged, used, "patient", judged.patients, judged.patient),
        *_shared(judged, used, "group", judged.groups, block),
        *_shared(judged, used, "group", exams, exam, more=nobody),
        *_shared(judged, used, "polyp", judged.polyps, judged.polyp, stops=False),
    ]


def _shared(
    judged: Judged,
    used: NDArray[np.bool_],
    kind: LeakKind,
    names: Sequence[str],
    code: NDArray[np.integer],
    *,
    more: str = "",
    stops: bool = True,
) -> list[Leak]:
    part = np.where(used, judged.part, -1)
    shared = _in_several(code, part)
    if not len(shared):
        return []
    told: list[str] = []
    for one in shared[:_EXAMPLES].tolist():
        parts = np.unique(part[(code == one) & (part >= 0)])
        told.append(f"{names[one]} ({', '.join(judged.parts[place] for place in parts)})")
    what = f"{_counted(len(shared), kind)} {_is(len(shared))} in more than one part"
    return [Leak(kind, f"{what}: {_listed(told, len(shared))}{more}.", len(shared), stops)]


def _listed_twice(judged: Judged, places: NDArray[np.int64]) -> list[Leak]:
    if not len(places):
        return []
    told = _listed([_name(judged, int(place)) for place in places[:_EXAMPLES]], len(places))
    what = f"{_counted(len(places), 'frame')} {_is(len(places))} listed in more than one part"
    return [Leak("frame", f"{what}: {told}.", len(places))]


def _same_pixels(
    judged: Judged,
    pixels: NDArray[np.int64],
    across: NDArray[np.int64],
    exams: NDArray[np.int64],
    featureless: NDArray[np.bool_],
) -> list[Leak]:
    """The same picture in two parts; and in two exams, which is only counted twice.

    Black frames are equal in all exams of a kind of capsule, and teach nothing: they stop nobody.
    """
    empty = np.unique(pixels[featureless & (pixels >= 0)])
    shared, alike = np.setdiff1d(across, empty), np.intersect1d(across, empty)
    found: list[Leak] = []
    if len(shared):
        text = _pictures(judged, pixels, shared, judged.part)
        found.append(Leak("pixels", f"{text} in more than one part.", len(shared)))
    for codes, label, where in (
        (np.setdiff1d(exams, empty), judged.exam, "in more than one exam, and count each time"),
        (alike, judged.part, "in more than one part, but show next to nothing, which is no leak"),
    ):
        if len(codes):
            text = f"{_pictures(judged, pixels, codes, label)} {where}."
            found.append(Leak("twice", text, len(codes), stops=False))
    return found


def _pictures(
    judged: Judged,
    pixels: NDArray[np.int64],
    codes: NDArray[np.int64],
    label: NDArray[np.integer],
) -> str:
    """Return ``2 pictures (a frame 1 and b frame 7; ...) are, pixel for pixel,``."""
    frames = np.flatnonzero(np.isin(pixels, codes[:_EXAMPLES]) & (label >= 0))
    told = [_twins(judged, frames[pixels[frames] == code], label) for code in codes[:_EXAMPLES]]
    examples = _listed(told, len(codes))
    return f"{_counted(len(codes), 'picture')} ({examples}) {_is(len(codes))}, pixel for pixel,"


def _near_identical(
    judged: Judged, chosen: NDArray[np.bool_], phashes: NDArray[np.uint8]
) -> list[Leak]:
    """Pictures in two parts that look nearly the same."""
    first, second = np.empty(0, np.int64), np.empty(0, np.int64)
    complete = True
    for part in np.unique(judged.part[chosen])[:-1]:  # each with all that come after it
        one = np.flatnonzero(chosen & (judged.part == part))
        other = np.flatnonzero(chosen & (judged.part > part))
        pairs = near_pairs(phashes[one], phashes[other], limit=NEAR_DUPLICATE_BITS)
        first = np.concatenate([first, one[pairs.a]])
        second = np.concatenate([second, other[pairs.b]])
        complete = complete and pairs.complete
    if not len(first):
        return []
    frames = len(np.union1d(first, second))
    # One example per frame: a capsule that stands still would fill them all.
    different, shown = np.unique(first, return_index=True)
    told = [
        " and ".join(_name(judged, int(frame)) for frame in sorted((first[place], second[place])))
        for place in shown[:_EXAMPLES]
    ]
    text = (
        f"{'' if complete else 'At least '}{frames} frames look nearly the same as frames of "
        f"another part (at most {NEAR_DUPLICATE_BITS} of {BITS} bits differ): "
        f"{_listed(told, len(different))}."
    )
    return [Leak("near-identical", text, frames)]


def _in_several(code: NDArray[np.integer], label: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the codes that stand beside more than one label; -1 counts as none in both."""
    known = (code >= 0) & (label >= 0)
    span = int(label.max(initial=0)) + 1
    both = np.unique(code[known].astype(np.int64) * span + label[known]) // span
    return np.unique(both[1:][both[1:] == both[:-1]])


def _twins(judged: Judged, frames: NDArray[np.int64], label: NDArray[np.integer]) -> str:
    """Name the first frame under each of the first two labels."""
    _, places = np.unique(label[frames], return_index=True)
    return " and ".join(_name(judged, int(place)) for place in frames[np.sort(places)[:2]])


def _name(judged: Judged, place: int) -> str:
    exam, file = judged.exams[judged.exam[place]], None
    if judged.file is not None:
        file = judged.file[place]
    head = f" head {judged.head[place]}" if judged.head[place] else ""
    name = f"{exam}/{file}" if file else f"{exam}{head} frame {judged.frame[place]}"
    part = judged.part[place]
    return f"{name} ({judged.parts[part]})" if part >= 0 else name


def _listed(examples: Sequence[str], count: int) -> str:
    more = count - len(examples)
    return "; ".join(examples) + (f"; and {more} more" if more > 0 else "")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
