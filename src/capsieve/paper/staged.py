"""One frame under many settings: what a changed parameter does not touch is computed once.

Algorithm 1 as stages. :data:`STAGES` says which parameters each of them reads; the memory of a
stage is keyed by just these and by those of the stages before it. :func:`capsieve.analyze` and
:func:`capsieve.explain` go the same way, with a single setting.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FrameError, ParameterError
from capsieve.frames import FieldOfView, FrameLike, Placement, checked_pixels
from capsieve.paper.decision import decide, preselection
from capsieve.paper.disc import Disc, disc
from capsieve.paper.geometry import Components
from capsieve.paper.midpass import midpass, smooth_inside
from capsieve.paper.placing import check_room, place
from capsieve.paper.preprocessing import preprocess
from capsieve.paper.scratch import borrow, hand_back, scratch
from capsieve.paper.segmentation import threshold
from capsieve.paper.texture import cartoon_texture, texture_energy
from capsieve.parameters import Derived, Parameters
from capsieve.results import Feature, FrameResult

__all__ = ["STAGES", "Geometry", "Stage", "Stages", "analyze_each", "fields_read"]

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the algorithm.

    Attributes
    ----------
    reads
        The fields of :class:`~capsieve.Parameters` that it reads itself.
    after
        The stages whose results it reads.
    keeps
        How many results of it are remembered; 0 where none is worth it.
    """

    reads: tuple[str, ...]
    after: tuple[str, ...] = ()
    keeps: int = 0


STAGES = {
    "placement": Stage(("width",), keeps=1),
    "pre-processing": Stage(
        ("mask_radius", "channel", "vignetting", "extension_slope"), ("placement",), keeps=1
    ),
    "texture": Stage(
        ("texture_iterations", "texture_sigma", "energy_sigma", "energy_power"),
        ("pre-processing",),
        keeps=1024,  # plain numbers
    ),
    "pre-selection": Stage(("texture_low", "texture_high"), ("texture",)),
    "coarse": Stage(("midpass_coarse",), ("pre-processing",), keeps=4),
    "fine": Stage(("midpass_fine",), ("pre-processing",), keeps=8),
    "mid-pass": Stage((), ("coarse", "fine"), keeps=1),
    "segmentation": Stage(("threshold_low", "threshold_high"), ("mid-pass",), keeps=8),
    "features": Stage(("size_low", "size_high", "eccentricity_max"), ("segmentation",)),
    "decision": Stage(("radius_threshold",), ("pre-selection", "features")),
}
"""All stages, each after those that it needs."""


def fields_read(stage: str) -> tuple[str, ...]:
    """Return the fields that a stage's result depends on, its own and those before it."""
    before = [name for earlier in STAGES[stage].after for name in fields_read(earlier)]
    return tuple(dict.fromkeys([*before, *STAGES[stage].reads]))


def analyze_each(
    frame: FrameLike,
    settings: Sequence[Parameters],
    field_of_view: FieldOfView | None = None,
    value_range: tuple[float, float] | None = None,
) -> list[FrameResult]:
    """Run Algorithm 1 on one frame under each of many settings.

    The results are those of :func:`capsieve.analyze`, one for each setting, in their order. They
    cost less the more the settings have in common: hand over all that are wanted of a frame at
    once.

    Parameters
    ----------
    frame, field_of_view, value_range
        See :func:`capsieve.analyze`.
    settings
        Any number of them, repeats allowed.

    Raises
    ------
    FrameError
        The frame cannot be analysed under one of the settings.

    Examples
    --------
    >>> import capsieve
    >>> from capsieve.paper.staged import analyze_each
    >>> settings = [capsieve.Parameters(radius_threshold=r) for r in (20, 37, 85)]
    >>> [result.label for result in analyze_each(capsieve.phantom.polyp_frame(), settings)]
    ['polyp', 'polyp', 'normal']
    """
    if not settings:
        return []
    for parameters in settings:
        _check_kind(parameters)
    results: dict[int, FrameResult] = {}
    several = len(settings) > 1 and len(set(map(_KEYS["mid-pass"], settings))) > 1
    with Stages(frame, field_of_view, value_range, keep_smoothed=several) as stages:
        for parameters in settings:
            stages.check(parameters)
        for number in _neighbours_together(settings):
            results[number] = stages.result(settings[number])
    return [results[number] for number in range(len(settings))]


class Geometry(NamedTuple):
    """What steps 3 to 5 find.

    Attributes
    ----------
    features
        Every connected component, with its ball where it passes the rules.
    midpass_max, threshold
        max u and Theta.
    """

    features: tuple[Feature, ...]
    midpass_max: float
    threshold: float


class Stages:
    """One frame on its way through the algorithm, with a memory for each stage.

    The memory is bounded: two dozen planes of the working frame's size at most. Settings that
    share their early stages should come one after the other, as :func:`analyze_each` sees to.

    Parameters
    ----------
    frame, field_of_view, value_range
        See :func:`capsieve.analyze`.
    keep_smoothed
        Whether to remember the frame as each Gaussian of the mid-pass filter leaves it. It is of no
        use where all settings have the same two, and then the fewer planes the faster.
    images
        Where to keep every intermediate image, for a single setting; None keeps none.
    """

    def __init__(
        self,
        frame: FrameLike,
        field_of_view: FieldOfView | None = None,
        value_range: tuple[float, float] | None = None,
        *,
        keep_smoothed: bool = True,
        images: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(field_of_view, FieldOfView | None):
            kind = type(field_of_view).__name__
            raise FrameError(f"field_of_view must be a FieldOfView or None, not {kind}")
        self.pixels = checked_pixels(frame, value_range=value_range)
        self._field_of_view = field_of_view
        self._keep_smoothed = keep_smoothed
        self._images = images
        self._memory: dict[str, dict[Any, Any]] = {stage: {} for stage in STAGES}

    def __enter__(self) -> "Stages":
        return self

    def __exit__(self, *_: object) -> None:
        """Forget everything, and hand the planes back for the next frame."""
        for stage in ("fine", "coarse"):
            for plane in self._memory[stage].values():
                hand_back(plane)
        for stage in ("mid-pass", "pre-processing"):
            for plane, _ in self._memory[stage].values():
                hand_back(plane)
        for known in self._memory.values():
            known.clear()

    def check(self, parameters: Parameters) -> None:
        """Raise a FrameError where the frame cannot be analysed under a setting."""
        _check_kind(parameters)
        rows, cols = self.pixels.shape[:2]
        check_room(rows, cols, self.placement(parameters), _derived(parameters).smallest_side)

    def result(self, parameters: Parameters) -> FrameResult:
        """Return what :func:`capsieve.analyze` returns under a setting."""
        texture_max = self.texture_max(parameters)
        placement = self.placement(parameters)
        failed = preselection(texture_max, parameters)
        if failed:
            return FrameResult(
                label="normal",
                reason=failed,
                score=0.0,
                texture_max=texture_max,
                radius_max=0,
                features=(),
                placement=placement,
            )
        found = self.geometry(parameters)
        label, reason, radius_max = decide(found.features, parameters)
        return FrameResult(
            label=label,
            reason=reason,
            score=float(radius_max),
            texture_max=texture_max,
            radius_max=radius_max,
            features=found.features,
            placement=placement,
            midpass_max=found.midpass_max,
            threshold=found.threshold,
        )

    def placement(self, parameters: Parameters) -> Placement:
        """Return where the working frame lies on the source."""
        rows, cols = self.pixels.shape[:2]
        key = _KEYS["placement"](parameters)
        return self._recall(
            "placement",
            key,
            lambda: place(rows, cols, parameters.width, self._field_of_view),
        )

    def preprocessed(self, parameters: Parameters) -> tuple[NDArray[np.float32], Disc]:
        """Return f and the mask (step 1)."""
        key = _KEYS["pre-processing"](parameters)
        return self._recall("pre-processing", key, lambda: self._preprocess(parameters))

    def texture_max(self, parameters: Parameters) -> float:
        """Return T_max (step 2)."""
        key = _KEYS["texture"](parameters)
        return self._recall("texture", key, lambda: self._texture(parameters))

    def geometry(self, parameters: Parameters) -> Geometry:
        """Return features and balls, whatever pre-selection says (steps 3 to 5)."""
        key = _KEYS["mid-pass"](parameters)
        u, midpass_max = self._recall("mid-pass", key, lambda: self._midpass(parameters))
        low, high = parameters.threshold_low, parameters.threshold_high
        theta = threshold(midpass_max, low=low, high=high)
        derived = _derived(parameters)
        # M_L and M_U count through Theta alone, and on many frames it is the same for many.
        components = self._recall(
            "segmentation", (key, theta), lambda: self._segment(u, theta, derived.radius_search)
        )
        features = components.features(
            size_low=derived.size_low,
            size_high=derived.size_high,
            eccentricity_max=parameters.eccentricity_max,
        )
        return Geometry(features, midpass_max, theta)

    def _preprocess(self, parameters: Parameters) -> tuple[NDArray[np.float32], Disc]:
        placement = self.placement(parameters)
        mask = disc(placement.rows, placement.cols, _derived(parameters).mask_radius)
        out = borrow((mask.rows, mask.cols))
        preprocess(self.pixels, placement, mask, parameters, out=out, images=self._images)
        return out, mask

    def _texture(self, parameters: Parameters) -> float:
        frame, mask = self.preprocessed(parameters)
        sigma, iterations = parameters.texture_sigma, parameters.texture_iterations
        energy, texture_max = texture_energy(
            frame,
            mask,
            texture_sigma=sigma,
            iterations=iterations,
            energy_sigma=_derived(parameters).energy_sigma,
            power=parameters.energy_power,
            out=scratch("energy", frame.shape),
        )
        if self._images is not None:
            split = cartoon_texture(frame, sigma=sigma, iterations=iterations)
            self._images |= {"cartoon": split.cartoon, "texture": split.texture}
            self._images["energy"] = energy.copy()
        return texture_max

    def _midpass(self, parameters: Parameters) -> tuple[NDArray[np.float32], float]:
        frame, mask = self.preprocessed(parameters)

        def smoothed(stage: str, sigma: float) -> NDArray[np.float32]:
            if not self._keep_smoothed:
                out = scratch(_WORK[stage], frame.shape)
                return smooth_inside(frame, mask, sigma=sigma, out=out)
            return self._recall(
                stage,
                _KEYS[stage](parameters),
                lambda: smooth_inside(frame, mask, sigma=sigma, out=borrow(frame.shape)),
            )

        fine = smoothed("fine", parameters.midpass_fine)
        coarse = smoothed("coarse", parameters.midpass_coarse)
        found = midpass(fine, coarse, mask, out=borrow(frame.shape))
        if self._images is not None:
            self._images["midpass"] = found[0].copy()
        return found

    def _segment(self, u: NDArray[np.float32], theta: float, radius_search: int) -> Components:
        labels = np.zeros((0, 0) if self._images is None else u.shape, np.int32)
        found = Components(u, theta, radius_search=radius_search, labels=labels)
        if self._images is not None:
            self._images |= {"labels": labels, "segmentation": labels > 0}
        return found

    def _recall(self, stage: str, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return a stage's result, from memory where it is the same."""
        known = self._memory[stage]
        if key in known:
            value = known.pop(key)
        else:
            value = make()
            if len(known) >= STAGES[stage].keeps:
                del known[next(iter(known))]
        known[key] = value  # the last one used is the last to be forgotten
        return value


_KEYS: dict[str, Callable[[Parameters], Hashable]] = {
    stage: attrgetter(*fields_read(stage)) for stage in STAGES
}
"""What tells two results of a stage apart."""

_WORK = {"fine": "work 1", "coarse": "work 2"}
"""Scratch buffers for smoothed frames that are not remembered."""

_GROUPING = ("pre-processing", "coarse", "mid-pass", "segmentation")
"""Settings that share the earlier of these come together, and among them those that share more."""


def _neighbours_together(settings: Sequence[Parameters]) -> Sequence[int]:
    """Return the order of work in which the memory of each stage serves best."""
    if len(settings) == 1:
        return (0,)
    ranks: list[list[int]] = []
    for stage in _GROUPING:
        first: dict[Hashable, int] = {}
        ranks.append([first.setdefault(_KEYS[stage](each), len(first)) for each in settings])
    return sorted(range(len(settings)), key=lambda number: [rank[number] for rank in ranks])


@lru_cache(maxsize=1024)
def _derived(parameters: Parameters) -> Derived:
    return parameters.derived


def _check_kind(parameters: object) -> None:
    if not isinstance(parameters, Parameters):
        kind = type(parameters).__name__
        raise ParameterError("parameters", f"must be Parameters, not {kind}")
