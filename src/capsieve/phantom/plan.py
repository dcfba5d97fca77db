"""Plans: the position of every frame of an exam, and the exams of a study."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.phantom.camera import FIELDS, Lens, make_lens
from capsieve.phantom.colon import LENGTH_MM
from capsieve.phantom.light import SURROUNDS
from capsieve.phantom.motion import make_motion
from capsieve.phantom.polyps import Polyp, draw_polyp
from capsieve.phantom.scene import FARTHEST_MM, is_visible, scene_at, sight_of
from capsieve.phantom.spoilers import cleanest_place, make_spoilers

FRAME_RATE = 4  # frames per second and head

PAPER = (
    (422, (18,)),
    (1008, (57, 10)),
    (4666, (7, 11, 11, 2)),
    (8567, (3, 17, 32, 12, 15)),
    (4075, (4, 7, 9, 15)),
)
"""Composition of the paper's data set: per patient the number of normal frames (Table III) and the
lengths of the polyp sequences (Table II). It does not state which patient had which polyp."""

DEMO = (
    (110, (9, 6, 8)),
    (110, (12, 5, 7)),
    (110, (7, 10, 4, 6)),
    (110, (8, 11, 5)),
    (110, (6, 9, 7)),
)
"""Five patients and 16 polyps, small enough for a demonstration."""

_NAMED = {"demo": DEMO, "paper": PAPER}
_MARGIN_MM = 90.0  # without polyps, at both ends of the colon
_REACH = 0.45  # of the distance between polyps: how far one is moved
_ATTEMPTS, _OTHER_PLACES = 11, 9  # to draw a polyp that is clearly visible
_SAMPLES = 96 * 16  # of the progress, to find the frames that show a polyp
_PROGRESS = np.arange(_SAMPLES + 1) / _SAMPLES
_CENTRAL = math.radians(50)
_CLEARLY = 1.35  # by this factor thresholds are met or missed, so that no frame is borderline


@dataclass(frozen=True)
class Piece:
    """`count` equidistant frames between two values of progress; `first` is the first number."""

    first: int
    count: int
    start: float
    stop: float


@dataclass(frozen=True, kw_only=True)
class ExamPlan:
    """Everything that determines a synthetic exam; small, hashable and picklable."""

    seed: int
    frames: int  # per head
    heads: int = 1  # or 2
    size: int = 512  # rows and columns
    field: str = "circle"  # or "cut-square"
    surround: str = "black"  # or "grey" or "blue"
    text: bool = False  # burnt into the surround
    polyps: tuple[Polyp, ...] = ()  # all polyps of the colon
    pieces: tuple[Piece, ...] = ()  # position of the frames
    # Planned number of frames of each polyp on the first head; None if not planned.
    sequence_lengths: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name, valid, expected in (
            ("frames", self.frames >= 1, "at least 1"),
            ("sequence_lengths", min(self.sequence_lengths or (1,)) >= 1, "at least 1 each"),
            ("heads", self.heads in (1, 2), "1 or 2"),
            ("size", self.size >= 64, "at least 64"),
            ("field", self.field in FIELDS, f"one of {', '.join(FIELDS)}"),
            ("surround", self.surround in SURROUNDS, f"one of {', '.join(SURROUNDS)}"),
        ):
            if not valid:
                raise ParameterError(name, f"must be {expected}, not {getattr(self, name)!r}")

    def progress(self, number: int) -> tuple[float, float]:
        """Return the progress of a frame, and its distance to the next frame."""
        for piece in self.pieces:
            if number < piece.first + piece.count:
                step = (piece.stop - piece.start) / piece.count
                return piece.start + (number - piece.first + 0.5) * step, step
        raise IndexError(number)


def plan_exam(
    seed: int,
    *,
    frames: int | None = None,
    polyps: int | None = None,
    sequence_lengths: Sequence[int] | None = None,
    normal_frames: int = 0,
    **options: Any,
) -> ExamPlan:
    """Plan a synthetic exam.

    Parameters
    ----------
    seed
        The same seed and options give the same exam.
    frames, polyps
        Number of frames and of polyps; a polyp is then seen in any number of frames, or in none.
    sequence_lengths, normal_frames
        Instead of `frames` and `polyps`: polyp k is visible in exactly that many consecutive
        frames of the first head, and `normal_frames` frames show none.
    **options
        heads, size, field, surround and text of :class:`ExamPlan`.

    Raises
    ------
    ParameterError
        An option is missing or out of bounds.
    """
    lengths = None if sequence_lengths is None else tuple(sequence_lengths)
    if lengths is not None:
        frames, polyps = sum(lengths) + normal_frames, len(lengths)
    if frames is None or polyps is None:
        raise ParameterError("frames", "give frames and polyps, or sequence_lengths")
    if not 0 <= polyps <= 255:
        raise ParameterError("polyps", f"must be 0 to 255, not {polyps}")
    room = (LENGTH_MM - 2 * _MARGIN_MM) / max(polyps, 1)
    places = [_MARGIN_MM + (k + 0.5) * room for k in range(polyps)]
    others = [_REACH * room * np.linspace(-1, 1, _OTHER_PLACES) + place for place in places]
    if lengths is not None:
        # A reader recognises polyps when the colon is clean.
        spoilers, reach = make_spoilers(seed), _REACH * room
        places = [cleanest_place(spoilers, place - reach, place + reach) for place in places]
    plan = ExamPlan(
        seed=seed,
        frames=frames,
        polyps=tuple(draw_polyp(seed, k + 1, place) for k, place in enumerate(places)),
        pieces=(Piece(0, frames, 0.0, 1.0),),
        sequence_lengths=lengths,
        **options,
    )
    return plan if lengths is None else _scheduled(plan, places, others, lengths, normal_frames)


def _scheduled(
    plan: ExamPlan,
    places: list[float],
    others: list[NDArray[np.float64]],
    lengths: tuple[int, ...],
    normal_frames: int,
) -> ExamPlan:
    """Replace polyps that are never clearly visible, then place the frames.

    A polyp is drawn again at its place first, then at the others, because folds may hide a place.
    """
    polyps = list(plan.polyps)
    tumbling = np.array([make_motion(plan.seed).at(p).kind == "tumble" for p in _PROGRESS])
    missing: list[int] = []
    for attempt in range(1, _ATTEMPTS + _OTHER_PLACES + 1):
        visible, hidden = _survey(plan.seed, tuple(polyps), make_lens(plan.size, plan.field))
        runs = [
            _stretches(visible[k] & np.delete(hidden, k, axis=0).all(axis=0) & ~tumbling)
            for k in range(len(polyps))
        ]
        missing = [k for k, found in enumerate(runs) if not found]
        if not missing:
            longest = [max(found, key=lambda run: run[1] - run[0]) for found in runs]
            stretches = [(*run, count) for run, count in zip(longest, lengths, strict=True)]
            stretches += _normal(np.asarray(hidden.all(axis=0)), tumbling, normal_frames)
            return replace(plan, polyps=tuple(polyps), pieces=_pieces(stretches))
        for k in missing:
            place = (
                places[k]
                if attempt < _ATTEMPTS
                else others[k][(attempt - _ATTEMPTS) % _OTHER_PLACES]
            )
            polyps[k] = draw_polyp(plan.seed, k + 1, place, attempt=attempt)
    raise ParameterError(
        "sequence_lengths", f"polyp {missing[0] + 1} is never clearly visible; use another seed"
    )


def _survey(
    seed: int, polyps: tuple[Polyp, ...], lens: Lens
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return per polyp and sample of the progress: clearly visible, and clearly not visible."""
    visible = np.zeros((len(polyps), _SAMPLES + 1), bool)
    hidden = np.ones((len(polyps), _SAMPLES + 1), bool)
    reach = _CLEARLY * FARTHEST_MM
    motion = make_motion(seed)
    for sample, progress in enumerate(_PROGRESS):
        s = motion.at(progress).s_mm
        # In a bend, the distance along the centreline is at most twice the straight distance.
        if all(abs(polyp.position_mm - s) > 2 * reach for polyp in polyps):
            continue
        scene = scene_at(seed, polyps, progress)
        for index, polyp in enumerate(scene.polyps):
            towards = scene.surfaces.solids[index, :3] - scene.pose.position
            distance = float(np.linalg.norm(towards))
            if distance > reach:
                continue
            sight = sight_of(scene, index, lens)
            # A reader would choose frames that do not show the polyp at the edge of the field.
            central = towards @ scene.pose.rotation[:, 2] > math.cos(_CENTRAL) * distance
            k = polyp.id - 1
            visible[k, sample] = central and is_visible(sight, lens.size, margin=_CLEARLY)
            hidden[k, sample] = not is_visible(sight, lens.size, margin=1 / _CLEARLY)
    return visible, hidden


def _normal(
    empty: NDArray[np.bool_], tumbling: NDArray[np.bool_], count: int
) -> Iterator[tuple[int, int, int]]:
    """Distribute the normal frames over the stretches without a visible polyp."""
    # A tumbling capsule may see a polyp between two samples: use all of a tumble or nothing.
    for first, last in _stretches(tumbling):
        empty[first : last + 1] &= empty[max(first - 1, 0) : last + 2].all()
    # No frame is next to a sample that may show a polyp.
    empty = empty & np.append(empty[1:], True) & np.append(True, empty[:-1])
    found = _stretches(empty)
    total = sum(last - first for first, last in found)
    if count and not total:
        raise ParameterError("normal_frames", "a polyp is visible everywhere; give fewer polyps")
    done = 0
    for first, last in found:
        before, done = done, done + last - first
        yield first, last, round(count * done / total) - round(count * before / total)


def _pieces(stretches: list[tuple[int, int, int]]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    number = 0
    for first, last, count in sorted(stretches):
        if count:
            pieces.append(Piece(number, count, first / _SAMPLES, last / _SAMPLES))
            number += count
    return tuple(pieces)


def _stretches(good: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last sample of every run of at least two."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], good.astype(np.int8), [0]])))
    runs = zip(edges[::2], edges[1::2] - 1, strict=True)
    return [(int(first), int(last)) for first, last in runs if last > first]


@dataclass(frozen=True, slots=True)
class StudyExam:
    """Name, patient and plan of an exam of a study."""

    name: str
    patient: str
    plan: ExamPlan


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """Plan of a study: "demo", "paper" or "custom"; its seed; one exam per patient."""

    name: str
    seed: int
    exams: tuple[StudyExam, ...]


def plan_study(
    name: str = "custom",
    *,
    patients: int | None = None,
    frames: int | None = None,
    polyps: int | None = None,
    seed: int = 0,
    **options: Any,
) -> StudyPlan:
    """Plan a study.

    Parameters
    ----------
    name
        "demo" and "paper" have a fixed composition, see :data:`DEMO` and :data:`PAPER`.
    patients, frames, polyps
        Of a "custom" study: number of patients, frames per patient, polyps per patient.
    seed
        The same seed gives the same study.
    **options
        Options of :func:`plan_exam`: size, heads, field and so on.

    Raises
    ------
    ParameterError
        The name is unknown, or an option is missing, not allowed or out of bounds.
    """
    given = {"patients": patients, "frames": frames, "polyps": polyps}
    if name in _NAMED:
        for option, value in given.items():
            if value is not None:
                raise ParameterError(option, f"is fixed in the {name} study; leave it out")
        contents = [
            {"normal_frames": normal, "sequence_lengths": lengths}
            for normal, lengths in _NAMED[name]
        ]
    elif name == "custom":
        for option, value in given.items():
            least = 0 if option == "polyps" else 1
            if value is None or value < least:
                raise ParameterError(option, f"must be at least {least}, not {value}")
        contents = [{"frames": frames, "polyps": polyps}] * (patients or 0)
    else:
        raise ParameterError("study", f"must be one of {', '.join(_NAMED)}, custom, not {name!r}")
    exams = []
    for number, content in enumerate(contents, 1):
        exam_seed = crc32(f"capsieve study {seed} patient {number}".encode())
        plan = plan_exam(exam_seed, **content, **options)
        exams.append(StudyExam(f"patient-{number}", str(number), plan))
    return StudyPlan(name, seed, tuple(exams))
