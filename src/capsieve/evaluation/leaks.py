"""Leaks: what the parts of a split must not share, and frames that trained the model.

A patient, a frame or nearly the same image in training and test makes a detector look better than
it is. Every leak is named, and stops the evaluation unless it is allowed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import CapsieveError, LeakError
from capsieve.frame_table import Coded, LabelledFrames
from capsieve.phash import BITS, NEAR_DUPLICATE_BITS
from capsieve.plurals import number_of

__all__ = [
    "Leak",
    "PixelHashes",
    "check_leaks",
    "find_leaks",
    "near_duplicates",
    "read_training_phashes",
    "training_leak",
]

_EXAMPLES = 3
_FORWARD = (
    "Frames of the test must be new to the detector: {}, or continue with --allow-leaks (in Python "
    "allow_leaks=True); the report then names the leaks."
)


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that parts of a split share, or that is counted twice; `stops` or a warning.

    `kind` is "patient", "group" (a block or exam of unknown patient), "frame" (listed in two
    parts), "pixels" (equal images), "near-duplicate" or "training" (the model was trained on it);
    and of warnings "polyp" (its frames are in two parts) or "twice" (an image in two exams, or a
    featureless one in two parts).
    """

    kind: str
    text: str
    count: int
    stops: bool = True


class PixelHashes(NamedTuple):
    """Hashes of the images of all frames.

    `pixels` is a code per frame, equal for equal frame hashes, -1 if the frame was not decoded.
    `phash` has rows of 32 bytes; frames that were not decoded and featureless ones have none.
    """

    pixels: NDArray[np.int64]
    phash: NDArray[np.uint8]
    has_phash: NDArray[np.bool_]


def check_leaks(leaks: Iterable[Leak], *, allow: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences of the leaks that were allowed, and those of warnings.

    Raises
    ------
    LeakError
        There are leaks, and they are not allowed; the message names all of them.
    """
    leaks = tuple(leaks)
    stopping = tuple(leak.text for leak in leaks if leak.stops)
    if stopping and not allow:
        trained = any(leak.kind == "training" for leak in leaks)
        advice = "evaluate other frames" if trained else "make another split with capsieve splits"
        raise LeakError(f"{' '.join(stopping)} {_FORWARD.format(advice)}")
    return stopping, tuple(leak.text for leak in leaks if not leak.stops)


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
    found = [*_shared_names(frames, part), *_listed_twice(frames, twice[used[twice]])]
    if hashes is not None:
        pixels = np.where(used, hashes.pixels, -1)
        across = _in_several(pixels, part)
        found += _equal_pixels(frames, pixels, part, across, ~hashes.has_phash)
        # Images with equal pixels have been named.
        others = (part >= 0) & hashes.has_phash & ~np.isin(pixels, across)
        found += _near_duplicates_across(frames, np.where(others, part, -1), hashes.phash)
    return tuple(found)


def training_leak(
    frames: LabelledFrames, hashes: PixelHashes, trained: NDArray[np.uint8]
) -> list[Leak]:
    """Return the labelled frames that a model was trained on, by the hashes of those."""
    rows = np.flatnonzero(frames.labelled & hashes.has_phash)
    match, _ = near_duplicates(hashes.phash[rows], trained)
    known = rows[match >= 0]
    if not len(known):
        return []
    text = (
        f"The model was trained on {len(known):,} of the {int(frames.labelled.sum()):,} labelled "
        f"frames (or near-duplicates of them): {_listed_frames(frames, known)}."
    )
    return [Leak("training", text, len(known))]


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


def near_duplicates(
    a: NDArray[np.uint8], b: NDArray[np.uint8], *, limit: int = NEAR_DUPLICATE_BITS
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Compare every perceptual hash of `a` with every one of `b`.

    50,000 against 50,000 take about a second.

    Returns
    -------
    match
        For each row of `a` the first row of `b` that differs in at most `limit` bits, or -1.
    matched
        For each row of `b` whether a row of `a` matches.
    """
    for hashes in (a, b):
        if hashes.ndim != 2 or hashes.shape[1] != BITS // 8 or hashes.dtype != np.uint8:
            raise ValueError(
                f"hashes are rows of {BITS // 8} bytes, not {hashes.dtype} {hashes.shape}"
            )
    if not len(a) or not len(b):
        return np.full(len(a), -1, np.int64), np.zeros(len(b), np.bool_)
    words = [np.ascontiguousarray(hashes).view(np.uint64) for hashes in (a, b)]
    return _compiled_comparison()(*words, np.uint64(limit))


@cache
def _compiled_comparison() -> Callable[..., Any]:
    from capsieve.compiling import compiled  # here, because numba is slow to import

    return compiled(_compare_all)


def _compare_all(a, b, limit):
    match = np.full(len(a), -1, np.int64)
    matched = np.zeros(len(b), np.bool_)
    one, two, four, top = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
    pairs, nibbles = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    octets, sums = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    for i in range(len(a)):
        for j in range(len(b)):
            differing = np.uint64(0)
            for k in (0, 2):  # the first two words are nearly always enough
                for word in (a[i, k] ^ b[j, k], a[i, k + 1] ^ b[j, k + 1]):
                    # LLVM recognises this as one instruction that counts bits (popcnt).
                    bits = word - ((word >> one) & pairs)
                    bits = (bits & nibbles) + ((bits >> two) & nibbles)
                    bits = (bits + (bits >> four)) & octets
                    differing += (bits * sums) >> top
                if differing > limit:
                    break
            if differing <= limit:
                matched[j] = True
                if match[i] < 0:
                    match[i] = j
    return match, matched


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
    shared = _in_several(names.code, part)
    if not len(shared):
        return []
    examples: list[str] = []
    for code in shared[:_EXAMPLES].tolist():
        parts = np.unique(part[(names.code == code) & (part >= 0)])
        listed = ", ".join(frames.part.names[place] for place in parts)
        examples.append(f"{names.names[code]} ({listed})")
    count = len(shared)
    what = f"{number_of(count, kind)} {_is(count)} in more than one part"
    return [Leak(kind, f"{what}: {_listed(examples, count)}.", count, stops)]


def _listed_twice(frames: LabelledFrames, rows: NDArray[np.int64]) -> list[Leak]:
    if not len(rows):
        return []
    what = f"{number_of(len(rows), 'frame')} {_is(len(rows))} listed in more than one part"
    return [Leak("frame", f"{what}: {_listed_frames(frames, rows)}.", len(rows))]


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
    found: list[Leak] = []
    for kind, codes, label, where in (
        ("pixels", np.setdiff1d(across, empty), part, alike),
        ("twice", np.setdiff1d(in_exams, empty), exam, once_more),
        ("twice", np.intersect1d(across, empty), part, black),
    ):
        shown = []
        for code in codes[:_EXAMPLES]:  # the first frame with each of the first two labels
            rows = np.flatnonzero((pixels == code) & (label >= 0))
            _, places = np.unique(label[rows], return_index=True)
            shown.append(" and ".join(_name(frames, row) for row in rows[np.sort(places)[:2]]))
        if shown:
            what = f"{number_of(len(codes), 'image')} ({_listed(shown, len(codes))})"
            text = f"{what} {_is(len(codes))} {where}."
            found.append(Leak(kind, text, len(codes), stops=kind == "pixels"))
    return found


def _near_duplicates_across(
    frames: LabelledFrames, part: NDArray[np.integer], phash: NDArray[np.uint8]
) -> list[Leak]:
    first, second = np.empty(0, np.int64), np.empty(0, np.int64)
    concerned = np.zeros(len(part), bool)
    for one in np.unique(part[part >= 0])[:-1]:  # each with all later ones
        here, later = np.flatnonzero(part == one), np.flatnonzero(part > one)
        match, matched = near_duplicates(phash[here], phash[later])
        found = match >= 0
        concerned[here[found]] = concerned[later[matched]] = True
        first = np.concatenate([first, here[found]])
        second = np.concatenate([second, later[match[found]]])
    if not len(first):
        return []
    rows, shown = np.unique(first, return_index=True)
    examples = [
        " and ".join(_name(frames, row) for row in sorted((first[place], second[place])))
        for place in shown[:_EXAMPLES]
    ]
    count = int(concerned.sum())
    text = (
        f"{count:,} frames are near-duplicates of frames of another part (at most "
        f"{NEAR_DUPLICATE_BITS} of {BITS} bits differ): {_listed(examples, len(rows))}."
    )
    return [Leak("near-duplicate", text, count)]


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
