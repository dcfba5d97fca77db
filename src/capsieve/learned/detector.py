"""LearnedDetector: a model file behind the interface of all detectors."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.detector import ReferenceRange
from capsieve.errors import FileError, FrameError, ParameterError
from capsieve.frames import FieldOfView, FrameLike, Placement, checked_pixels
from capsieve.learned.evidence import map_on_frame, map_placement, peak
from capsieve.learned.image_input import crop, crop_placement
from capsieve.learned.model_file import read_model
from capsieve.learned.runtime import BATCH, Runner, runner
from capsieve.learned.spec import ModelSpec
from capsieve.paper.working_frame import working_grid
from capsieve.parameters import Parameters
from capsieve.results import Evidence, FrameResult

__all__ = ["SHIPPED", "LearnedDetector", "model_detector", "shipped_detector"]

SHIPPED = Path(str(files("capsieve.learned"))) / "shipped.onnx"
"""The model that ``--detector learned`` means."""

_SHIPPED_NAME = "learned"
_PAPER = Parameters()


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A frame as the model takes it, and what is known of it before the model has spoken.

    Attributes
    ----------
    image, values
        What the model takes; None where it does not.
    result
        The paper's, or an empty one.
    view
        The field of view.
    crop
        Where the picture lies on the frame.
    """

    image: NDArray[np.uint8] | None
    values: NDArray[np.float32] | None
    result: FrameResult
    view: FieldOfView | None
    crop: Placement | None


@dataclass(frozen=True, slots=True)
class LearnedDetector:
    """A model that scores frames with a probability.

    It is pickled as path and hash; see :func:`capsieve.learned.runtime.runner`. Make one with
    :func:`model_detector`.

    Attributes
    ----------
    name
        "learned" for the shipped model, else the absolute path: a worker that asks for it by name
        may run in another folder.
    path, sha256
        The file, and by what it is known again.
    spec
        How it is run.
    reference
        The range of inputs that it learned from; empty where nobody wrote it down.
    parameters
        Only `score_threshold` is read: it takes the place of the model's own threshold.
    """

    name: str
    path: Path
    sha256: str
    spec: ModelSpec
    reference: ReferenceRange
    parameters: Parameters = field(default_factory=Parameters)

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides about its scores and flags."""
        return {
            # The name alone: the same file in another folder is the same detector.
            "name": self.name if self.name == _SHIPPED_NAME else self.path.name,
            "model": self.sha256,
            "spec": sha256(self.spec.to_json().encode()).hexdigest(),
            "threshold": self.score_threshold,
            # The best pixel of a mask, or their share, is not the probability of a frame.
            "score": "mask" if self.spec.output.kind == "mask" else "probability",
        }

    @property
    def score_threshold(self) -> float:
        """The least probability at which a frame is flagged."""
        chosen = self.parameters.score_threshold
        return self.spec.threshold if chosen is None else chosen

    @property
    def value_names(self) -> tuple[str, ...]:
        """The features that the model takes."""
        return () if self.spec.values is None else self.spec.values.names

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the outcome for one frame."""
        (outcome,) = self.score_batch([frame], [field_of_view])
        if isinstance(outcome, FrameError):
            raise outcome
        return outcome

    def score_batch(
        self, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
    ) -> list[FrameResult | FrameError]:
        """Return for each frame what :meth:`score` returns, or the error that it raises."""
        outcomes: list[FrameResult | FrameError] = []
        pairs = list(zip(frames, fields_of_view, strict=True))
        for first in range(0, len(pairs), BATCH):
            outcomes += self._score_batch(pairs[first : first + BATCH])
        return outcomes

    def evidence(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> Evidence:
        """Return where on the frame the model sees a polyp."""
        prepared = self._prepare(frame, field_of_view)
        (evidence,) = self._maps([prepared])
        on_frame = None
        if evidence is not None and prepared.crop is not None:
            where = map_placement(prepared.crop, *evidence.shape)
            rows, cols = checked_pixels(frame).shape[:2]
            on_frame = map_on_frame(evidence, where, prepared.view, rows, cols)
        return Evidence(map=on_frame)

    def _runner(self) -> Runner:
        # The package of a worker may lie elsewhere; its hash still tells another model.
        path = SHIPPED if self.name == _SHIPPED_NAME else self.path
        return runner(path, self.sha256, self.spec)

    def _score_batch(
        self, pairs: Sequence[tuple[FrameLike, FieldOfView | None]]
    ) -> list[FrameResult | FrameError]:
        outcomes: list[FrameResult | FrameError | None] = []
        ready: list[_Prepared] = []
        for frame, view in pairs:
            try:
                ready.append(self._prepare(frame, view))
            except FrameError as error:
                outcomes.append(error)
            else:
                outcomes.append(None)
        results = iter(self._results(ready))
        return [next(results) if outcome is None else outcome for outcome in outcomes]

    def _results(self, ready: Sequence[_Prepared]) -> list[FrameResult | FrameError]:
        if not ready:
            return []
        answers = self._runner().run(*_stacked(ready))
        results: list[FrameResult | FrameError] = []
        for number, prepared in enumerate(ready):
            score = float(answers.scores[number])
            if np.isnan(score):
                results.append(FrameError("the model gives no number for this frame"))
                continue
            found = None
            if answers.maps is not None and prepared.crop is not None:
                evidence = answers.maps[number]
                where = map_placement(prepared.crop, *evidence.shape)
                found = peak(evidence, where, prepared.view)
            flagged = score >= self.score_threshold
            values = () if prepared.values is None else prepared.values.tolist()
            results.append(
                replace(
                    prepared.result,
                    label="polyp" if flagged else "normal",
                    reason="polyp" if flagged else "score-low",
                    score=score,
                    values=tuple(values),
                    found=found,
                )
            )
        return results

    def _maps(self, ready: Sequence[_Prepared]) -> Sequence[NDArray[np.float32] | None]:
        if self.spec.output.kind != "mask" and not self.spec.output.map:
            return [None] * len(ready)
        maps = self._runner().run(*_stacked(ready)).maps
        return [None] * len(ready) if maps is None else list(maps)

    def _prepare(self, frame: FrameLike, view: FieldOfView | None) -> _Prepared:
        pixels = checked_pixels(frame)
        rows, cols = pixels.shape[:2]
        where = working_grid(rows, cols, _PAPER.width, _PAPER.derived.smallest_side, view)
        result = FrameResult(
            label="normal",
            reason="score-low",
            score=0.0,
            texture_max=np.nan,
            radius_max=0,
            features=(),
            placement=where,
        )
        image = values = placed = None
        if self.spec.values is not None:
            from capsieve.learned.features.vector import frame_features

            measured = frame_features(pixels, view, value_range=(0, 255))
            values = measured.values[_places(self.spec.values.names)]
            result = measured.result
        if self.spec.image is not None:
            wanted = self.spec.image
            whole = wanted.crop == "frame"
            placed = crop_placement(rows, cols, view, wanted.size, whole=whole)
            image = crop(pixels, view, wanted.size, whole=whole, mask=wanted.mask)
        return _Prepared(image, values, result, view, placed)


def model_detector(path: str | Path, parameters: Parameters = _PAPER) -> LearnedDetector:
    """Return the detector in a model file; it is loaded once, so that what is wrong is told now.

    Parameters
    ----------
    path
        A file of capsieve's, or an ONNX file with a TOML file beside it.
    parameters
        Only `score_threshold` may differ from the paper's table.

    Raises
    ------
    FileError
        The file cannot be read, or is no model that can be run.
    ParameterError
        A parameter differs that the model does not read.
    MissingExtraError
        onnxruntime is not installed.
    """
    return _detector(str(Path(path).absolute()), Path(path), parameters)


def shipped_detector(parameters: Parameters = _PAPER) -> LearnedDetector:
    """Return the model that capsieve ships with. See :func:`model_detector`."""
    if not SHIPPED.exists():
        raise FileError(
            "this installation has no shipped model; install capsieve again, or give the path of "
            "a model file"
        )
    return _detector(_SHIPPED_NAME, SHIPPED, parameters)


def _detector(name: str, path: Path, parameters: Parameters) -> LearnedDetector:
    _check_parameters(parameters)
    model = read_model(path)
    unknown = ReferenceRange("nothing that is known: the model has no card", {})
    detector = LearnedDetector(
        name=name,
        path=model.path,
        sha256=model.sha256,
        spec=model.spec,
        reference=unknown if model.card is None else model.card.range,
        parameters=parameters,
    )
    loaded = runner(detector.path, detector.sha256, detector.spec)
    if model.card is None:  # nobody has run it here before
        loaded.try_out()
    return detector


def _check_parameters(parameters: Parameters) -> None:
    """A parameter that changes nothing must not look as if it did."""
    for each in fields(parameters):
        value = getattr(parameters, each.name)
        if each.name != "score_threshold" and value != getattr(_PAPER, each.name):
            raise ParameterError(
                each.name,
                f"a model does not read it (it is {value!r}); of all parameters a model takes "
                "score_threshold alone",
            )
    chosen = parameters.score_threshold
    if chosen is not None and not 0 < chosen <= 1:
        raise ParameterError(
            "score_threshold", f"must be above 0 and at most 1 for a model, not {chosen!r}"
        )


def _places(names: tuple[str, ...]) -> list[int]:
    from capsieve.learned.features.registry import NAMES

    return [NAMES.index(name) for name in names]


def _stacked(
    ready: Sequence[_Prepared],
) -> tuple[NDArray[np.uint8] | None, NDArray[np.float32] | None]:
    images = [each.image for each in ready if each.image is not None]
    values = [each.values for each in ready if each.values is not None]
    return np.stack(images) if images else None, np.stack(values) if values else None
