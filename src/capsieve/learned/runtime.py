"""A model in onnxruntime: images and features in, scores and maps out."""

import logging
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp

from capsieve.errors import FileError, MissingExtraError, ParameterError, WorkerError
from capsieve.learned.model_file import read_content
from capsieve.learned.spec import ImageInput, ModelSpec, Output

BATCH = 16
"""Frames per batch on a graphics card, and frames that a detector prepares at a time."""

CPU_BATCH = 1
"""Frames per batch on the processor: larger batches leave its cache (EfficientNet-Lite0, 160 x 160
pixels: 2.0 ms per frame, 2.4 ms in batches of 16), and a score depends on its batch by rounding."""

_LOG = logging.getLogger(__name__)
_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}
_LONGEST = 300  # characters of a message of onnxruntime
_ROUNDING = 1e-3  # a probability may exceed 0..1 by this


class ModelInput(NamedTuple):
    """A frame as a model takes it: its crop and features; None if the model does not take them."""

    image: NDArray[np.uint8] | None
    values: NDArray[np.float32] | None


class Answer(NamedTuple):
    """The answer of a model for one frame.

    Attributes
    ----------
    score
        NaN if there is no score.
    map
        Rows x columns; None if the model has none.
    problem
        Why there is no score, or "".
    """

    score: float
    map: NDArray[np.float32] | None = None
    problem: str = ""


class Runner:
    """A model that is ready to run, on one thread; a trial batch showed that it does.

    Parameters
    ----------
    content
        Of a file that :func:`capsieve.learned.model_file.read_model` accepted.
    spec
        How it is run.
    name
        Its name in messages.
    provider
        Execution provider of onnxruntime, such as "cpu" or "cuda".

    Raises
    ------
    FileError
        onnxruntime cannot load it, or the description does not fit the graph.
    ParameterError
        onnxruntime does not have the provider.
    MissingExtraError
        onnxruntime is not installed.
    """

    def __init__(
        self, content: bytes, spec: ModelSpec, *, name: str = "the model", provider: str = "cpu"
    ) -> None:
        self.spec = spec
        self.name = name
        self._session = _session(content, name, provider)
        self._inputs: dict[str, Any] = {each.name: each for each in self._session.get_inputs()}
        with _errors_of(name):
            _check_names(spec, self._inputs, [each.name for each in self._session.get_outputs()])
            fits = self._trial()
        self._batch = min(fits, CPU_BATCH if provider.lower() == "cpu" else BATCH)

    def run(self, frames: Sequence[ModelInput]) -> list[Answer]:
        """Return an answer for each frame.

        If a batch fails, a message is logged and its frames are run one by one; a frame that fails
        alone has no score. The next frames are run in a batch again.

        Raises
        ------
        FileError
            The description does not fit the output.
        """
        answers: list[Answer] = []
        with _errors_of(self.name):
            for first in range(0, len(frames), self._batch):
                batch = frames[first : first + self._batch]
                try:
                    answers += self._run(batch)
                except _RunError as error:
                    if len(batch) > 1:
                        _LOG.warning(
                            "%s failed on %d frames at a time, which are now run one by one: %s",
                            self.name,
                            len(batch),
                            error,
                        )
                    answers += [self._run_alone(frame) for frame in batch]
        return answers

    def _run_alone(self, frame: ModelInput) -> Answer:
        try:
            return self._run([frame])[0]
        except _RunError as error:
            return Answer(np.nan, None, f"the model failed on this frame: {error}")

    def _trial(self) -> int:
        """Run noise; return the largest batch: 1 if the graph cannot take two frames."""
        rng, image, values = np.random.default_rng(0), self.spec.image, self.spec.values
        frame = ModelInput(
            None if image is None else rng.integers(0, 256, (image.size,) * 2 + (3,), np.uint8),
            None if values is None else np.zeros(len(values.names), np.float32),
        )
        problem: _RunError | None = None
        for count in (2, 1):
            try:
                self._run([frame] * count)
                return BATCH if count > 1 else 1
            except _RunError as error:
                problem = error
        shapes = ", ".join(
            f"{each.name!r}: {' x '.join('?' if n is None else str(n) for n in each.shape)}"
            for each in self._inputs.values()
        )
        raise ParameterError(
            "trial",
            f"it cannot be run as described: {problem}; the graph takes {shapes}: check size, "
            "layout and colour of the image, the names of the features, and the output",
        ) from problem

    def _run(self, frames: Sequence[ModelInput]) -> list[Answer]:
        spec, feed = self.spec, dict[str, Any]()
        if spec.image is not None:
            images = np.array([each.image for each in frames], np.uint8)
            feed[spec.image.input] = model_input(images, spec.image)
        if spec.values is not None:
            feed[spec.values.input] = np.array([each.values for each in frames])
        for name, array in feed.items():
            feed[name] = np.ascontiguousarray(array, _TYPES[self._inputs[name].type])
        wanted = [spec.output.name, spec.output.map] if spec.output.map else [spec.output.name]
        try:
            outputs = [np.asarray(each) for each in self._session.run(wanted, feed)]
        except Exception as error:  # the exceptions of onnxruntime have no other common class
            raise _RunError(_said(error)) from error
        for name, array in zip(wanted, outputs, strict=True):
            if array.shape[:1] != (len(frames),):
                count = "1 frame" if len(frames) == 1 else f"{len(frames)} frames"
                raise _RunError(f"the output {name!r} has the shape {array.shape} for {count}")
        return _answers(spec, *outputs)


class _RunError(Exception):
    """onnxruntime failed on a batch."""


@contextmanager
def _errors_of(name: str) -> Generator[None]:
    """Turn an error about an entry of the description into one that names the model."""
    try:
        yield
    except ParameterError as error:
        raise FileError(f"{name}: {error}") from error


def _check_names(spec: ModelSpec, inputs: dict[str, Any], outputs: list[str]) -> None:
    """Compare names, types and features with the graph; the trial batch shows the rest."""
    image, values, output = spec.image, spec.values, spec.output
    wanted = [
        ("image.input", image and image.input, list(inputs)),
        ("values.input", values and values.input, list(inputs)),
        ("output.name", output.name, outputs),
        ("output.map", output.map, outputs),
    ]
    for entry, name, known in wanted:
        if name and name not in known:
            names = ", ".join(repr(each) for each in known) or "none"
            raise ParameterError(entry, f"the graph has no {name!r}; it has {names}")
    described = [each.input for each in (image, values) if each is not None]
    for name, given in inputs.items():
        if name not in described:
            raise ParameterError(
                "inputs",
                f"the graph has an input {name!r} that is not described; capsieve can supply an "
                "image ([image]) and features of the frame ([values])",
            )
        if given.type not in _TYPES:
            raise ParameterError("inputs", f"the input {name!r} takes {given.type}, not numbers")
    if image and inputs[image.input].type == "tensor(uint8)" and not _is_plain(image):
        raise ParameterError(
            "image.scale", "the graph takes bytes: use scale = 1.0 without mean and std"
        )
    if values is not None:
        from capsieve.learned.features import NAMES, VERSION

        if values.version != VERSION:
            raise ParameterError(
                "values.version",
                f"the model takes features of version {values.version}, this capsieve has version "
                f"{VERSION}; train it again, or use the capsieve that wrote it",
            )
        for name in values.names:
            if name not in NAMES:
                raise ParameterError("values.names", f"there is no feature {name!r}")


def _answers(
    spec: ModelSpec, numbers: NDArray[Any], maps: NDArray[Any] | None = None
) -> list[Answer]:
    """Return scores and maps; the graph may declare other shapes than it gives."""
    output, mask = spec.output, spec.output.kind == "mask"
    if numbers.dtype.kind != "f" or numbers.size == 0:
        raise ParameterError(
            "output.name",
            f"{output.name!r} gives {numbers.dtype}; name an output with a probability or logit "
            "for each class, not the class itself",
        )
    shape, numbers = numbers.shape, numbers.astype(np.float64)
    if mask and numbers.ndim == 3:
        numbers = numbers[..., None]
    elif mask and numbers.ndim == 4 and spec.image and spec.image.layout == "nchw":
        numbers = np.moveaxis(numbers, 1, 3)
    elif not mask and all(side == 1 for side in shape[2:]):
        numbers = numbers.reshape(len(numbers), -1)
    if numbers.ndim != (4 if mask else 2):
        expected = "frames x rows x columns [x classes]" if mask else "frames x classes"
        raise ParameterError(
            "output.kind", f"a {output.kind} is {expected}, but {output.name!r} has {shape}"
        )
    scores = polyp_probability(numbers, output)
    if mask:
        maps = scores
        scores = _frame_scores(scores, output)
    elif maps is not None:
        maps = maps[:, 0] if maps.ndim == 4 and maps.shape[1] == 1 else maps
        if maps.ndim != 3:
            raise ParameterError(
                "output.map",
                f"a map is frames x rows x columns, but {output.map!r} has {maps.shape}",
            )
    return [
        Answer(score, None if maps is None else maps[number].astype(np.float32))
        if np.isfinite(score)
        else Answer(np.nan, None, "the model gives no number for this frame")
        for number, score in enumerate(scores.tolist())
    ]


def polyp_probability(numbers: NDArray[np.float64], output: Output) -> NDArray[np.float64]:
    """Return the probability of a polyp from numbers; their last axis has the classes.

    Scores of frames are calibrated; those of pixels are not.

    Raises
    ------
    ParameterError
        The description does not fit the numbers.
    """
    kind, classes, index = output.numbers, numbers.shape[-1], output.class_index
    if kind == "softmax" and classes == 1:
        raise ParameterError(
            "output.kind", 'the softmax of one class is always 1; use "logit" or "probability"'
        )
    if (index is None and classes != 1) or (index or 0) >= classes:
        raise ParameterError(
            "output.class_index",
            f"must be the number of the class of polyps, from 0 to {classes - 1}, not {index}",
        )
    chosen = numbers[..., index or 0]
    if kind == "softmax":
        with np.errstate(invalid="ignore"):  # NaN is reported for its frame
            others = np.delete(numbers, index or 0, axis=-1)
            chosen = chosen - np.asarray(logsumexp(others, axis=-1))
    elif kind == "probability":
        wrong = chosen[(chosen < -_ROUNDING) | (chosen > 1 + _ROUNDING)]
        if wrong.size:
            raise ParameterError(
                "output.pixels" if output.kind == "mask" else "output.kind",
                f"the model gives {wrong.flat[0]:.4g}, which is not a probability; is it a "
                '"logit" or one of the numbers of a "softmax"?',
            )
        chosen = np.clip(chosen, 0.0, 1.0)
    if output.calibration is not None and output.kind != "mask":
        return _calibrated(chosen if kind != "probability" else _logit(chosen), output)
    return chosen if kind == "probability" else expit(chosen)


def _frame_scores(pixels: NDArray[np.float64], output: Output) -> NDArray[np.float64]:
    flat = pixels.reshape(len(pixels), -1)
    if output.frame_score == "area":
        scores = np.where(np.isnan(flat).any(axis=1), np.nan, (flat > output.level).mean(axis=1))
    else:
        scores = flat.max(axis=1) if output.frame_score == "max" else flat.mean(axis=1)
    return scores if output.calibration is None else _calibrated(_logit(scores), output)


def _logit(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    return logit(np.clip(probability, 1e-7, 1 - 1e-7))


def _calibrated(logits: NDArray[np.float64], output: Output) -> NDArray[np.float64]:
    slope, intercept = output.calibration or (1.0, 0.0)
    return expit(slope * logits + intercept)


def model_input(images: NDArray[np.uint8], spec: ImageInput) -> NDArray[np.float32]:
    """Return images as the model takes them: order of colours, scale, order of the axes."""
    pixels = images.astype(np.float32)
    if spec.colour == "bgr":
        pixels = pixels[..., ::-1]
    elif spec.colour == "gray":  # the weights of ITU-R BT.601, as in most libraries
        pixels = pixels @ np.array([0.299, 0.587, 0.114], np.float32)[:, None]
    if not _is_plain(spec):
        std = np.asarray(spec.std)
        pixels = pixels * np.float32(spec.scale / std) - np.float32(np.asarray(spec.mean) / std)
    return pixels.transpose(0, 3, 1, 2) if spec.layout == "nchw" else pixels


def _is_plain(image: ImageInput) -> bool:
    return image.scale == 1.0 and set(image.mean) == {0.0} and set(image.std) == {1.0}


@lru_cache(maxsize=4)
def runner(path: Path, digest: str, spec: ModelSpec, provider: str = "cpu") -> Runner:
    """Return the model at a path, loaded once in each process.

    A detector is sent to workers as path and hash, because the model is megabytes. So each worker
    needs the same file at the same path.

    Raises
    ------
    WorkerError
        The file cannot be read here, or it is not the one that the detector was made with.
    """
    try:
        content = read_content(path)
    except FileError as error:
        raise WorkerError(f"{error}; every worker needs the model at the same path") from error
    present = sha256(content).hexdigest()
    if present != digest:
        raise WorkerError(
            f"{path} is another model (SHA-256 {present[:12]}...) than the one that was loaded "
            f"({digest[:12]}...); use the same file on every machine, and do not change it during "
            "a run"
        )
    return Runner(content, spec, name=str(path), provider=provider)


def _session(content: bytes, name: str, provider: str) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise MissingExtraError(
            "learned detectors need the package onnxruntime; pip install 'capsieve[learned]'"
        ) from None
    suffix = "ExecutionProvider"
    known = {
        each.removesuffix(suffix).lower(): each for each in onnxruntime.get_available_providers()
    }
    if provider.lower() not in known:
        raise ParameterError(
            "provider", f"onnxruntime here does not have {provider!r}; use {', '.join(known)}"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # errors are raised
    options.add_session_config_entry("session.load_model_format", "ONNX")
    try:
        providers = dict.fromkeys([known[provider.lower()], f"CPU{suffix}"])
        return onnxruntime.InferenceSession(
            content, options, providers=list(providers), enable_fallback=0
        )
    except Exception as error:  # the exceptions of onnxruntime have no other common class
        raise FileError(
            f"{name} cannot be loaded: {_said(error)}; export the model again, for an older opset "
            f"if necessary, or use a newer onnxruntime than {onnxruntime.__version__}"
        ) from error


def _said(error: Exception) -> str:
    """Return a message of onnxruntime without codes, source files and signatures."""
    text = " ".join(str(error).split())
    if text.startswith("[ONNXRuntimeError]"):
        text = text.split(" : ", 3)[-1]
    text = re.sub(r"(Status Message: )?/onnxruntime_src/[^(]*\([^)]*\)+( const)? ?", "", text)
    text = text.rstrip(". ")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
