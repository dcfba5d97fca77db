"""The plan of a synthetic exam: all that its frames are made from."""

from dataclasses import dataclass
from functools import partial

from capsieve.errors import ParameterError
from capsieve.phantom.camera import FIELDS, Lens, make_lens
from capsieve.phantom.light import SURROUNDS
from capsieve.phantom.polyps import Polyp, draw_polyp
from capsieve.phantom.scene import make_anatomy
from capsieve.phantom.schedule import Piece, arrange, find_runs, plainly_sees, survey
from capsieve.phantom.truth import LabelRule

__all__ = ["LENGTH_MM", "ExamPlan", "plan_exam"]

LENGTH_MM = 1500
_MARGIN_MM = 90.0


@dataclass(frozen=True)
class ExamPlan:
    """All that a synthetic exam is made from; made by :func:`plan_exam`, small, safe to pickle.

    Attributes
    ----------
    seed, frames, heads
        The seed; the number of frames per head; 1 or 2 heads.
    size, field, surround, text
        Rows and columns; "circle" or "cut-square"; "black", "grey" or "blue"; burnt-in text.
    frame_rate
        Frames per second and head.
    rule
        When a frame is labelled "polyp".
    polyps
        Every polyp of the colon.
    pieces
        Which frame is taken where.
    bubbles, liquid, stool
        How much of each: 1 as usual, 0 none.
    """

    seed: int
    frames: int
    heads: int
    size: int
    field: str
    surround: str
    text: bool
    frame_rate: float
    rule: LabelRule
    polyps: tuple[Polyp, ...]
    pieces: tuple[Piece, ...]
    bubbles: float
    liquid: float
    stool: float


def plan_exam(
    seed: int,
    *,
    frames: int | None = None,
    polyps: int | None = None,
    heads: int = 1,
    size: int = 512,
    field: str = "circle",
    surround: str = "black",
    text: bool = False,
    frame_rate: float = 4.0,
    visible_part: float = 0.25,
    visible_pixels: float = 600.0,
    farthest_mm: float = 32.0,
    redness: float = 0.7,
    roughness: float = 0.5,
    bubbles: float = 1.0,
    liquid: float = 1.0,
    stool: float = 1.0,
    sequence_lengths: tuple[int, ...] = (),
    normal_frames: int = 0,
) -> ExamPlan:
    """Plan a synthetic exam.

    Parameters
    ----------
    seed
        The same seed and options give the same exam, byte for byte.
    frames, polyps
        How many; labels then fall as they fall. Left out where `sequence_lengths` says it.
    heads, size, field, surround, text, frame_rate, bubbles, liquid, stool
        See :class:`ExamPlan`.
    visible_part, visible_pixels, farthest_mm
        The rule for labels, see :class:`~capsieve.phantom.truth.LabelRule`.
    redness, roughness
        How much redder and more textured than the wall polyps are on average.
    sequence_lengths
        Polyp k is seen in exactly so many consecutive frames of the first head, by the rule.
    normal_frames
        How many other frames there are, all of them normal on the first head.

    Returns
    -------
    ExamPlan
        A small object; :func:`~capsieve.phantom.exam.render_frame` does the work.
    """
    rule = LabelRule(visible_part=visible_part, pixels=visible_pixels, farthest_mm=farthest_mm)
    lengths = tuple(sequence_lengths)
    exact = bool(lengths) or normal_frames > 0
    if exact:
        frames, polyps = sum(lengths) + normal_frames, len(lengths)
    if frames is None or polyps is None:
        raise ParameterError("frames", "say frames and polyps, or sequence_lengths")
    _check(frames, polyps, heads, size, field, surround, frame_rate, lengths)
    # Placed on all of the way, and not where the colon begins and ends.
    room = (LENGTH_MM - 2 * _MARGIN_MM) / max(polyps, 1)
    places = [_MARGIN_MM + (k + 0.5) * room for k in range(polyps)]
    drawn = tuple(
        draw_polyp(seed, k + 1, at, redness=redness, roughness=roughness)
        for k, at in enumerate(places)
    )
    pieces = (Piece(0, frames, 0.0, 1.0),)
    if exact:
        drawn, pieces = _place_exactly(
            seed,
            drawn,
            places,
            make_lens(size, field),
            rule,
            lengths,
            normal_frames,
            redness=redness,
            roughness=roughness,
        )
    return ExamPlan(
        seed=seed,
        frames=frames,
        heads=heads,
        size=size,
        field=field,
        surround=surround,
        text=text,
        frame_rate=frame_rate,
        rule=rule,
        polyps=drawn,
        pieces=pieces,
        bubbles=bubbles,
        liquid=liquid,
        stool=stool,
    )


def _check(
    frames: int,
    polyps: int,
    heads: int,
    size: int,
    field: str,
    surround: str,
    frame_rate: float,
    lengths: tuple[int, ...],
) -> None:
    if frames < 1:
        raise ParameterError("frames", f"is at least 1, not {frames}")
    if not 0 <= polyps <= 255:
        raise ParameterError("polyps", f"is 0 to 255, not {polyps}")
    if heads not in (1, 2):
        raise ParameterError("heads", f"is 1 or 2, not {heads}")
    if size < 64:
        raise ParameterError("size", f"is at least 64, not {size}")
    if field not in FIELDS:
        raise ParameterError("field", f"is one of {', '.join(FIELDS)}, not {field!r}")
    if surround not in SURROUNDS:
        raise ParameterError("surround", f"is one of {', '.join(SURROUNDS)}, not {surround!r}")
    if not frame_rate > 0:
        raise ParameterError("frame_rate", f"is above 0, not {frame_rate}")
    if any(length < 1 for length in lengths):
        raise ParameterError("sequence_lengths", "each is at least 1")


def _place_exactly(
    seed: int,
    drawn: tuple[Polyp, ...],
    places: list[float],
    lens: Lens,
    rule: LabelRule,
    lengths: tuple[int, ...],
    normal_frames: int,
    *,
    redness: float,
    roughness: float,
) -> tuple[tuple[Polyp, ...], tuple[Piece, ...]]:
    """Draw polyps anew until each is plainly seen somewhere on the way; then place the frames."""
    anatomy = make_anatomy(seed, LENGTH_MM)
    polyps = list(drawn)
    unseen: list[int] = []
    for again in range(1, 12):
        sight = survey(anatomy, tuple(polyps), lens, rule)
        unseen = [k for k in range(len(polyps)) if find_runs(sight, k) is None]
        if not unseen:
            chosen = tuple(polyps)
            is_seen = partial(plainly_sees, anatomy, chosen, lens, rule)
            return chosen, arrange(sight, lengths, normal_frames, is_seen)
        for k in unseen:
            polyps[k] = draw_polyp(
                seed, k + 1, places[k], redness=redness, roughness=roughness, again=again
            )
    raise ParameterError("sequence_lengths", f"no place for polyp {unseen[0] + 1}: take fewer")
