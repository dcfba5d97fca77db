"""LearnedDetector: a model file behind the interface of all detectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from capsieve.detector import ReferenceRange
from capsieve.errors import FileError, FrameError
from capsieve.frames import FieldOfView, FrameLike, Placement, checked_pixels
from capsieve.learned.crop import crop, crop_placement
from capsieve.learned.evidence import map_on_frame, map_placement, peak
from capsieve.learned.model_file import read_model
from capsieve.learned.runtime import BATCH, Answer, ModelInput, Runner, runner
from capsieve.learned.spec import ModelSpec
from capsieve.learned.trial import try_model
from capsieve.results import Evidence, FrameResult, Property, Spot

SHIPPED = Path(__file__).with_name("shipped.onnx")
"""The model of ``--detector learned``."""

SCORING_VERSION = 1
"""Raised with any change of crops, features or their use that changes scores."""

_SHIPPED_NAME = "learned"


@dataclass(frozen=True, slots=True)
class LearnedDetector:
    """A model that scores frames with a probability; make one with :func:`model_detector`.

    It is pickled as path and hash, see :func:`capsieve.learned.runtime.runner`.

    Attributes
    ----------
    name
        "learned" for the shipped model, otherwise the absolute path: a worker that loads it by
        name may run in another folder.
    path, sha256
        Path of the model file, and the hash of its content.
    spec
        How the model is run.
    reference
        The range of inputs that it was trained on; empty if it is unknown.
    usual_values
        Ranges of features on frames without a polyp, see :class:`~capsieve.learned.card.ModelCard`.
    provider
        Execution provider of onnxruntime; scores of different ones differ by rounding.
    default_read
        The reading list if the user chooses neither a list nor a threshold: the ranking of a model
        carries over to other exams, its threshold does not.
    """

    name: str
    path: Path
    sha256: str
    spec: ModelSpec
    reference: ReferenceRange
    usual_values: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    provider: str = "cpu"

    default_read = "10%"

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that determines its scores."""
        spec = self.spec.model_copy(update={"threshold": 1.0})
        return {
            # Not the path: the same file in another folder is the same detector.
            "name": self.name if self.name == _SHIPPED_NAME else self.path.name,
            "scoring": SCORING_VERSION,
            "model": self.sha256,
            "spec": sha256(spec.to_json().encode()).hexdigest(),
            # The largest pixel of a mask is not the probability of the frame.
            "score": "mask" if self.spec.output.kind == "mask" else "probability",
        }

    @property
    def score_threshold(self) -> float:
        """The threshold in the model's file."""
        return self.spec.threshold

    @property
    def value_names(self) -> tuple[str, ...]:
        """The features that the model takes."""
        return () if self.spec.values is None else self.spec.values.names

    def score(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> FrameResult:
        """Return the result for one frame."""
        (outcome,) = self.score_batch([frame], [field_of_view])
        if isinstance(outcome, FrameError):
            raise outcome
        return outcome

    def score_batch(
        self, frames: Sequence[FrameLike], fields_of_view: Sequence[FieldOfView | None]
    ) -> list[FrameResult | FrameError]:
        """Return for each frame the result of :meth:`score`, or the error that it raises."""
        outcomes: list[FrameResult | FrameError] = []
        pairs = list(zip(frames, fields_of_view, strict=True))
        for first in range(0, len(pairs), BATCH):  # few crops in memory at a time
            outcomes += self._score_batch(pairs[first : first + BATCH])
        return outcomes

    def evidence(self, frame: FrameLike, field_of_view: FieldOfView | None = None) -> Evidence:
        """Return where on the frame the model sees a polyp, and a description of the frame."""
        prepared = self._prepare(frame, field_of_view)
        (answer,) = self._runner().run([prepared.inputs])
        on_frame = None
        if answer.map is not None and prepared.crop is not None:
            place = map_placement(prepared.crop, *answer.map.shape)
            rows, cols = checked_pixels(frame).shape[:2]
            on_frame = map_on_frame(answer.map, place, field_of_view, rows, cols)
        return Evidence(
            map=on_frame,
            place=prepared.place(answer),
            properties=_properties(frame, field_of_view, self.usual_values),
        )

    def _runner(self) -> Runner:
        # The package may be in another folder on a worker; the hash detects another model.
        path = SHIPPED if self.name == _SHIPPED_NAME else self.path
        return runner(path, self.sha256, self.spec, self.provider)

    def _score_batch(
        self, pairs: Sequence[tuple[FrameLike, FieldOfView | None]]
    ) -> list[FrameResult | FrameError]:
        prepared: list[_Prepared | FrameError] = []
        for frame, field_of_view in pairs:
            try:
                prepared.append(self._prepare(frame, field_of_view))
            except FrameError as error:
                prepared.append(error)
        inputs = [each.inputs for each in prepared if not isinstance(each, FrameError)]
        answers = iter(self._runner().run(inputs))
        return [
            each if isinstance(each, FrameError) else self._result(each, next(answers))
            for each in prepared
        ]

    def _result(self, prepared: "_Prepared", answer: Answer) -> FrameResult | FrameError:
        if answer.problem:
            return FrameError(answer.problem)
        flagged = answer.score >= self.score_threshold
        values = prepared.inputs.values
        return replace(
            prepared.result,
            label="polyp" if flagged else "normal",
            reason="polyp" if flagged else "score-low",
            score=answer.score,
            values=() if values is None else tuple(values.tolist()),
            found=prepared.place(answer),
        )

    def _prepare(self, frame: FrameLike, field_of_view: FieldOfView | None) -> "_Prepared":
        pixels = checked_pixels(frame)
        rows, cols = pixels.shape[:2]
        image = values = placement = result = None
        if self.spec.image is not None:
            size, whole = self.spec.image.size, self.spec.image.crop == "frame"
            placement = crop_placement(rows, cols, field_of_view, size, whole=whole)
            image = crop(pixels, field_of_view, size, whole=whole, mask=self.spec.image.mask)
            result = FrameResult(
                label="normal",
                reason="score-low",
                score=0.0,
                texture_max=np.nan,
                radius_max=0,
                features=(),
                placement=placement,
            )
        if self.spec.values is not None:
            from capsieve.learned.features import NAMES, frame_features

            measured = frame_features(pixels, field_of_view, value_range=(0, 255))
            values = measured.values[[NAMES.index(name) for name in self.spec.values.names]]
            result = measured.result
        assert result is not None  # a spec has at least one of the inputs
        return _Prepared(ModelInput(image, values), result, field_of_view, placement)


class _Prepared(NamedTuple):
    """A frame as the model takes it, the paper's result or an empty one, and the crop's place."""

    inputs: ModelInput
    result: FrameResult
    field_of_view: FieldOfView | None
    crop: Placement | None

    def place(self, answer: Answer) -> Spot | None:
        """Return the disc to which the model's map points."""
        if answer.map is None or self.crop is None:
            return None
        return peak(answer.map, map_placement(self.crop, *answer.map.shape), self.field_of_view)


def _properties(
    frame: FrameLike,
    field_of_view: FieldOfView | None,
    usual_values: Mapping[str, tuple[float, float]],
) -> tuple[Property, ...]:
    """Measure the features whose usual range is known; none if the frame is too small."""
    if not usual_values:
        return ()
    from capsieve.learned.features import DESCRIPTIONS, frame_features

    try:
        values = frame_features(frame, field_of_view).values.tolist()
    except FrameError:
        return ()
    return tuple(
        Property(each.name, each.description, each.unit, value, *usual_values[each.name])
        for each, value in zip(DESCRIPTIONS, values, strict=True)
        if each.name in usual_values
    )


def model_detector(path: str | Path, *, provider: str = "cpu") -> LearnedDetector:
    """Return the detector in a model file. It is loaded and tried, so errors appear at once.

    Parameters
    ----------
    path
        A model file of capsieve, or an ONNX file with a TOML file next to it.
    provider
        Execution provider of onnxruntime, such as "cpu" or "cuda".

    Raises
    ------
    FileError
        The file cannot be read, or it is not a model that can be run.
    ParameterError
        onnxruntime does not have the provider.
    MissingExtraError
        onnx or onnxruntime is not installed.
    """
    return _detector(str(Path(path).absolute()), Path(path), provider)


def shipped_detector(*, provider: str = "cpu") -> LearnedDetector:
    """Return the model that is part of capsieve. See :func:`model_detector`."""
    if not SHIPPED.exists():
        raise FileError(
            "this installation has no shipped model; install capsieve again, or give the path of "
            "a model file"
        )
    return _detector(_SHIPPED_NAME, SHIPPED, provider)


def _detector(name: str, path: Path, provider: str) -> LearnedDetector:
    model = read_model(path)
    card = model.card
    detector = LearnedDetector(
        name=name,
        path=model.path,
        sha256=model.sha256,
        spec=model.spec,
        reference=ReferenceRange("unknown: the model has no card", {}) if not card else card.range,
        usual_values={} if not card else card.usual_values,
        provider=provider,
    )
    if name != _SHIPPED_NAME:
        try_model(detector.path, detector.sha256, detector.spec)
    runner(detector.path, detector.sha256, detector.spec, provider)
    return detector
