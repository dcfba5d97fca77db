"""``capsieve train --model cnn``: a compact network, fine-tuned on labelled frames."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.learned.network.graph import LinearHead, network_graph, require_onnx
from capsieve.learned.network.running import Runner
from capsieve.learned.network.weights import Weights, digest, load_pretrained
from capsieve.learned.training.cnn_batches import Pools, auxiliary_targets, draw_rows, pools
from capsieve.learned.training.cnn_cache import LowerFeatures, fill_cache, plan_cache
from capsieve.learned.training.cnn_checkpoint import State, read_checkpoint, write_checkpoint
from capsieve.learned.training.cnn_learning import (
    HEAD_BIAS,
    HEAD_WEIGHT,
    Batch,
    initial_state,
    learn,
)
from capsieve.learned.training.cnn_settings import NetworkSettings
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.trainer import GraphPart, Tell
from capsieve.statistics.judged import POLYP

__all__ = ["FittedNetwork", "NetworkTrainer"]

_BATCH = 16  # frames in one run of a trained network


@dataclass(frozen=True, slots=True, eq=False)
class FittedNetwork:
    """A network after training.

    Attributes
    ----------
    weights, head
        All its weights.
    settings
        It was trained with.
    """

    weights: Weights
    head: LinearHead
    settings: NetworkSettings

    def logits(self, examples: Examples, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return one logit per chosen frame, as it is; not yet calibrated."""
        crops = _crops(examples, self.settings)
        run = Runner(self.graph("network."), threads=self.settings.threads)
        found = [outputs[0][:, 0] for outputs in run.batches(crops, chosen, batch=_BATCH)]
        return np.concatenate([np.zeros(0), *found]).astype(np.float64)

    def graph(self, prefix: str) -> GraphPart:
        """Return the network from ``image`` to the logit and the map."""
        return network_graph(self.weights, self.head, frozen=self.settings.frozen, prefix=prefix)


@dataclass(frozen=True, slots=True)
class NetworkTrainer:
    """Fine-tunes the upper blocks of EfficientNet-Lite0 on versions of the frames.

    Attributes
    ----------
    settings
        Every choice of the training.
    """

    settings: NetworkSettings = field(default_factory=NetworkSettings)

    FORMAT: ClassVar[int] = 3

    @property
    def name(self) -> str:
        """As in ``capsieve train --model``."""
        return "cnn"

    @property
    def looks_at(self) -> frozenset[str]:
        """The image alone."""
        return frozenset({"image"})

    def fit(
        self,
        examples: Examples,
        chosen: NDArray[np.int64],
        *,
        seed: int,
        folder: Path,
        tell: Tell,
    ) -> FittedNetwork:
        """Learn from the chosen frames.

        Parameters
        ----------
        examples
            All frames, with crops: the features of the frozen blocks are computed for all at once.
        chosen
            Rows to learn from.
        seed
            The same seed, examples, settings and threads give the same weights.
        folder
            For checkpoints. The features that all folds share stand beside it, in its parent.
        tell
            Called as the work goes on.

        Raises
        ------
        MissingExtraError
            torch, onnx, onnxruntime or the pretrained weights are not installed.
        ParameterError
            The examples have no crops, crops of another size, or lack a class.
        OccupiedError
            The folder holds a checkpoint of other work.
        """
        settings = self.settings
        _crops(examples, settings)
        drawn_from = pools(examples, chosen, settings)
        require_onnx()
        weights = load_pretrained()
        plan = plan_cache(examples, settings, weights)
        course = _Course(
            settings=settings,
            weights=weights,
            drawn_from=drawn_from,
            truth=_truth(examples, chosen, settings),
            features_key=plan.key,
            # Not before a step needs it, and once for all.
            lower=cache(
                lambda: fill_cache(
                    plan, examples, settings, weights, folder=folder.parent, tell=tell
                )
            ),
        )
        return _trained(course, seed=seed, folder=folder, tell=tell)


@dataclass(frozen=True, slots=True, eq=False)
class _Course:
    """What a network learns from.

    Attributes
    ----------
    settings, weights
        How, and from which weights on.
    drawn_from, truth
        Which frames batches are drawn from, and what each shows.
    features_key
        Digest of all that the features of the frozen blocks depend on.
    lower
        Returns these features; the first call may take minutes.
    """

    settings: NetworkSettings
    weights: Weights
    drawn_from: Pools
    truth: NDArray[np.float32]
    features_key: str
    lower: Callable[[], LowerFeatures]

    def batch(self, rng: np.random.Generator) -> Batch:
        rows = draw_rows(self.drawn_from, self.settings, rng)
        return Batch(self.lower().draw(rows, rng), self.truth[rows])

    def work(self, seed: int) -> str:
        """Return a digest of all that the trained weights depend on."""
        rows = {f"rows {kind}": rows for kind, rows in self.drawn_from.rows.items()}
        chances = {f"chances {kind}": of for kind, of in self.drawn_from.chances.items()}
        settings = self.settings.as_dict()
        del settings["checkpoint"]  # the weights do not depend on it
        content = {
            "settings": settings,
            "seed": seed,
            "features": self.features_key,
            "frames": digest({**rows, **chances, "truth": self.truth}),
            "weights": digest(self.weights),
        }
        return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _trained(course: _Course, *, seed: int, folder: Path, tell: Tell) -> FittedNetwork:
    """Return the network, trained from the last checkpoint in the folder on."""
    settings = course.settings
    work = course.work(seed)
    folder.mkdir(parents=True, exist_ok=True)
    state = read_checkpoint(folder, work=work)
    if state is None:
        state = initial_state(course.weights, course.truth.shape[1], settings, seed=seed)
    if state.step < settings.steps:
        course.lower()
        tell("steps of training", state.step, settings.steps)
        state = learn(
            state,
            course.weights,
            course.batch,
            settings,
            seed=seed,
            keep=lambda state: write_checkpoint(state, folder, work=work),
            tell=lambda step: tell("steps of training", step, settings.steps),
        )
    return _network(state, course.weights, settings)


def _crops(examples: Examples, settings: NetworkSettings) -> NDArray[np.uint8]:
    """Return the crops of examples that fit the settings."""
    crops, size = examples.crops, settings.size
    if crops is None:
        raise ParameterError("crops", "the examples have none; a network looks at images")
    if crops.shape != (len(examples), size, size, 3) or crops.dtype != np.uint8:
        raise ParameterError(
            "crops",
            f"must be {len(examples)} x {size} x {size} x 3 bytes, "
            f"not {' x '.join(map(str, crops.shape))} of {crops.dtype}",
        )
    return crops


def _truth(
    examples: Examples, chosen: NDArray[np.int64], settings: NetworkSettings
) -> NDArray[np.float32]:
    """Return a row per frame: whether it shows a polyp, then the other findings where asked for."""
    polyp = (examples.truth == POLYP).astype(np.float32)[:, None]
    if not settings.auxiliary:
        return polyp
    return np.hstack([polyp, auxiliary_targets(examples, chosen)[1]])


def _network(state: State, weights: Weights, settings: NetworkSettings) -> FittedNetwork:
    """Return the network of the averaged weights; what tells other findings apart is left out."""
    upper = dict(state.averaged)
    head = LinearHead(upper.pop(HEAD_WEIGHT)[0], float(upper.pop(HEAD_BIAS)[0]))
    return FittedNetwork({**weights, **upper}, head, settings)
