"""A model in onnxruntime: pictures and values in, logits, probabilities and maps out."""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError, MissingExtraError
from capsieve.learned.model_file import read_content
from capsieve.learned.outputs import map_of, mask_of, score_of
from capsieve.learned.runtime_checks import check_fit
from capsieve.learned.runtime_words import load_failure, run_failure
from capsieve.learned.spec import ImageInput, ModelSpec

__all__ = ["BATCH", "Answers", "Runner", "model_input", "runner"]

BATCH = 16
"""Frames that are run at once; more gain nothing on one thread, and need more memory."""

_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}


class Answers(NamedTuple):
    """What a model says about frames.

    Attributes
    ----------
    scores
        One probability per frame; NaN where the model gave no number.
    logits
        The same on the scale of logits.
    maps
        Frames x rows x columns; None where the model draws none.
    """

    scores: NDArray[np.float64]
    logits: NDArray[np.float64]
    maps: NDArray[np.float32] | None


class Runner:
    """A model that is ready to run, on one thread.

    Parameters
    ----------
    content
        Of a file that :func:`capsieve.learned.model_file.read_model` found whole and harmless.
    spec
        How it is run; it is checked against the graph.
    name
        How messages call the model.

    Raises
    ------
    FileError
        onnxruntime cannot load it, or the description does not fit the graph.
    MissingExtraError
        onnxruntime is not installed.
    """

    def __init__(self, content: bytes, spec: ModelSpec, *, name: str = "the model") -> None:
        self.spec = spec
        self.name = name
        self._session = _session(content, name)
        inputs = {each.name: each for each in self._session.get_inputs()}
        outputs = {each.name: each for each in self._session.get_outputs()}
        check_fit(spec, inputs, outputs, name)
        self._types: dict[str, Any] = {name: _TYPES[each.type] for name, each in inputs.items()}
        self._one_by_one = any(each.shape[0] == 1 for each in inputs.values())
        self._open_size = _open_size(spec.image, inputs)

    def run(self, images: NDArray[np.uint8] | None, values: NDArray[np.float32] | None) -> Answers:
        """Return what the model says about frames.

        A graph may promise batches of any size and yet hold a step that takes one frame only.
        Then the frames go through one by one, as they do where the graph says so.

        Parameters
        ----------
        images
            Frames x size x size x 3 RGB bytes, see :func:`capsieve.learned.image_input.crop`;
            None where the model takes none.
        values
            Frames x features; None where the model takes none.
        """
        given = [each for each in (images, values) if each is not None]
        count = len(given[0])
        if count == 1 or self._one_by_one:
            return self._in_steps(images, values, count, 1)
        try:
            return self._in_steps(images, values, count, BATCH)
        except FileError:
            answers = self._in_steps(images, values, count, 1)  # what fails here too is told
            self._one_by_one = True
            return answers

    def _in_steps(
        self,
        images: NDArray[np.uint8] | None,
        values: NDArray[np.float32] | None,
        count: int,
        step: int,
    ) -> Answers:
        parts = [
            self._run(
                None if images is None else images[first : first + step],
                None if values is None else values[first : first + step],
            )
            for first in range(0, count, step)
        ]
        maps = [part.maps for part in parts if part.maps is not None]
        return Answers(
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.logits for part in parts]),
            np.concatenate(maps) if maps else None,
        )

    def try_out(self) -> None:
        """Run a black picture and values of 0, so that what fails on every frame is told now."""
        image, values = self.spec.image, self.spec.values
        self.run(
            None if image is None else np.zeros((1, image.size, image.size, 3), np.uint8),
            None if values is None else np.zeros((1, len(values.names)), np.float32),
        )

    def _run(
        self,
        images: NDArray[np.uint8] | None,
        values: NDArray[np.float32] | None,
    ) -> Answers:
        feed: dict[str, Any] = {}
        if self.spec.image is not None and images is not None:
            name = self.spec.image.input
            feed[name] = model_input(images, self.spec.image).astype(self._types[name], copy=False)
        if self.spec.values is not None and values is not None:
            name = self.spec.values.input
            feed[name] = np.ascontiguousarray(values, self._types[name])
        output = self.spec.output
        wanted = [output.name, output.map] if output.map else [output.name]
        try:
            answers = self._session.run(wanted, feed)
        except Exception as error:  # its exceptions have no common class but this
            words = run_failure(error, open_size=self._open_size)
            raise FileError(f"{self.name} failed on a frame: {words}") from error
        answers = [self._numbers(answer) for answer in answers]
        count = max(len(each) for each in feed.values())
        for output_name, answer in zip(wanted, answers, strict=True):
            if len(answer) != count:
                frames = "1 frame" if count == 1 else f"{count} frames"
                raise FileError(
                    f"{self.name}: the output {output_name!r} gave {len(answer)} answers for "
                    f"{frames}; its first axis must be that of the frames"
                )
        if output.kind == "mask":
            nhwc = self.spec.image is not None and self.spec.image.layout == "nhwc"
            masks = mask_of(answers[0], output, nhwc=nhwc, name=self.name)
            scores, logits = score_of(masks, output, name=self.name)
            return Answers(scores, logits, masks)
        scores, logits = score_of(answers[0], output, name=self.name)
        return Answers(scores, logits, map_of(answers[1]) if len(answers) > 1 else None)

    def _numbers(self, answer: Any) -> NDArray[Any]:
        """Return an answer as numbers: what a graph declares need not be what it gives."""
        array = np.asarray(answer)
        if array.ndim == 0 or array.size == 0 or array.dtype.kind not in "fiub":
            raise FileError(
                f"{self.name} gave an answer without numbers (shape {array.shape}, {array.dtype}); "
                "check the outputs that its description names"
            )
        return array


@lru_cache(maxsize=4)
def runner(path: Path, digest: str, spec: ModelSpec) -> Runner:
    """Return the model at a path, loaded once in each process.

    A detector travels to its workers as path and hash: megabytes with every task would be too
    heavy. So a worker must find the same file at the same path.

    Raises
    ------
    FileError
        The file is not there, or is another one than the detector was made with.
    """
    try:
        content = read_content(path)
    except FileError as error:
        raise FileError(
            f"{error}; every worker needs the model at the same path as where it was loaded"
        ) from error
    if sha256(content).hexdigest() != digest:
        raise FileError(
            f"{path} is another model than the one that was loaded (SHA-256 {digest[:12]}...); "
            "put the same file there on every machine, and do not change it during a run"
        )
    return Runner(content, spec, name=str(path))


def model_input(images: NDArray[np.uint8], spec: ImageInput) -> NDArray[np.float32]:
    """Return pictures as the model takes them: colour, scaling, order of the axes."""
    pixels = images.astype(np.float32)
    if spec.colour == "bgr":
        pixels = pixels[..., ::-1]
    elif spec.colour == "gray":  # the weights of ITU-R BT.601, as in most libraries
        pixels = pixels @ np.array([0.299, 0.587, 0.114], np.float32)[:, None]
    if (spec.scale, spec.mean, spec.std) != (1.0, 0.0, 1.0):
        mean, std = np.asarray(spec.mean, np.float64), np.asarray(spec.std, np.float64)
        pixels = pixels * np.float32(spec.scale / std) - np.float32(mean / std)
    if spec.layout == "nchw":
        pixels = pixels.transpose(0, 3, 1, 2)
    return np.ascontiguousarray(pixels, np.float32)


def _session(content: bytes, name: str) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise MissingExtraError(
            "learned detectors need the package onnxruntime; pip install 'capsieve[learned]'"
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # what matters is raised
    options.add_session_config_entry("session.load_model_format", "ONNX")
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions have no common class but this
        words = load_failure(error, onnxruntime.__version__)
        raise FileError(f"{name} cannot be loaded: {words}") from error


def _open_size(image: ImageInput | None, inputs: dict[str, Any]) -> int | None:
    """Return the picture's size where the graph takes any, as far as it says."""
    if image is None:
        return None
    axes = (2, 3) if image.layout == "nchw" else (1, 2)
    fixed = all(isinstance(inputs[image.input].shape[axis], int) for axis in axes)
    return None if fixed else image.size
