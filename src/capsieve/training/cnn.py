"""Fine-tuning of the network on augmented frames.

The lower blocks keep their ImageNet weights. Their feature maps of all augmented versions are
computed once and shared by all fits; a fit then trains the upper blocks and the last layer.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from numpy.typing import NDArray
from torch.nn import functional  # pyright: ignore[reportMissingImports]

from capsieve.errors import FileError
from capsieve.frame_table import NORMAL, OTHER, POLYP
from capsieve.learned.runtime import ModelInput
from capsieve.learned.spec import ImageInput, ModelSpec, Output
from capsieve.training.augment import augment, mix_styles
from capsieve.training.data import FrameSet
from capsieve.training.folds import OTHER_SHARE, Platt, Rows, StepListener
from capsieve.training.inputs import FrameInputs
from capsieve.training.network import CHANNELS, EfficientNetLite0, export, folded, pretrained
from capsieve.training.store import Joined, Store

if TYPE_CHECKING:
    from onnx import ModelProto

_FORMAT = 1  # raised if augmentation or lower blocks give other numbers for the same recipe
_LOWER_BATCH = 16
_LOWER_PART = 512  # versions in a file; whole batches, because a map depends on its batch
_CHECKED = 16  # frames on which the exported network is compared with the trained one
_TOLERANCE = 0.05  # of the logit; half precision of the weights changes it by about 0.005


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the network is trained.

    Attributes
    ----------
    blocks
        Number of lower bottlenecks, of 16, that are not trained.
    polyp_versions, normal_versions, other_versions
        Augmented versions per frame, in proportion to how often one is drawn.
    steps, batch
        Steps of the optimiser, and frames in each; half of them show a polyp.
    rate, warm_up
        Highest learning rate, and the share of the steps in which it rises.
    decay
        Weight decay of everything but offsets and factors.
    average
        Decay of the running mean of the weights, which is the result.
    dropout
        Share of the features that the last layer does not get.
    auxiliary
        Weight of the loss of other findings, which are further outputs during training.
    style, style_beta
        See :func:`~capsieve.training.augment.mix_styles`.
    threads
        Threads of torch. One thread gives the same bits on every number of cores.
    """

    blocks: int = 5
    polyp_versions: int = 16
    normal_versions: int = 4
    other_versions: int = 1
    steps: int = 900
    batch: int = 32
    rate: float = 6e-4
    warm_up: float = 0.15
    decay: float = 1e-2
    average: float = 0.99
    dropout: float = 0.3
    auxiliary: float = 0.9
    style: float = 0.5
    style_beta: float = 0.3
    threads: int = 1


@dataclass(frozen=True, eq=False)
class NetworkFits:
    """Fits of the network on the same frames.

    Attributes
    ----------
    frames, inputs
        All frames, and their crops.
    size
        Rows and columns of the crops.
    seed
        Seed of the first weights, the batches and the augmentation.
    folder
        Parent of the folders of feature maps.
    recipe
        How the network is trained.
    """

    frames: FrameSet
    inputs: FrameInputs
    size: int
    seed: int
    folder: Path
    recipe: Recipe = field(default_factory=Recipe)

    @property
    def description(self) -> str:
        """The settings, for the card."""
        return repr(self.recipe)

    @property
    def scorable(self) -> NDArray[np.bool_]:
        """Frames that the network can take."""
        return self.inputs.cropped

    def model_input(self, row: int) -> ModelInput:
        """Return a frame as the graph takes it."""
        return ModelInput(self.inputs.crops[row], None)

    def spec(self, threshold: float, calibration: Platt | None) -> ModelSpec:
        """Return how the graph is run."""
        return ModelSpec(
            threshold=threshold,
            output=Output(name="logit", kind="logit", map="map", calibration=calibration),
            image=ImageInput(input="image", size=self.size, colour="rgb", scale=1.0),
        )

    def fit(self, rows: Rows, progress: StepListener) -> "ModelProto":
        """Return the graph of a network that learned from the rows.

        Raises
        ------
        FileError
            The feature maps cannot be stored, or the exported graph differs from the network.
        """
        with _reproducible(self.recipe.threads):
            network = self._trained(rows, progress)
            graph = export(network, self.size)
            self._compare(network, graph, rows)
        return graph

    def _trained(self, rows: Rows, progress: StepListener) -> EfficientNetLite0:
        recipe, lower = self.recipe, self._lower(progress)
        targets = _targets(self.frames, rows)
        network = pretrained(targets.shape[1])
        rng = np.random.default_rng([self.seed, 1])
        first = rng.normal(0, 0.01, (targets.shape[1], CHANNELS)).astype(np.float32)
        network.linear.weight.data.copy_(torch.from_numpy(first))
        trained = _upper_parameters(network, recipe.blocks)
        averaged = [parameter.detach().clone() for parameter in trained]
        optimiser = _optimiser(trained, recipe)
        chances = _chances(self.frames, rows)
        for step in range(recipe.steps):
            # All random numbers of a step depend on its number only.
            rng = np.random.default_rng([self.seed, 2, step])
            drawn = _draw(chances, recipe.batch, rng)
            maps = self._versions(lower, drawn, rng)
            loss = _loss(network, maps, targets[drawn], recipe, rng)
            rate, momentum = one_cycle(step, recipe)
            for group in optimiser.param_groups:
                group["lr"], group["betas"] = rate, (momentum, 0.999)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            # A young mean forgets the untrained start sooner.
            weight = 1 - min(recipe.average, (step + 1) / (step + 10))
            with torch.no_grad():
                for mean, parameter in zip(averaged, trained, strict=True):
                    mean.lerp_(parameter, weight)
            progress("training steps", step + 1, recipe.steps)
        for mean, parameter in zip(averaged, trained, strict=True):
            parameter.data.copy_(mean)
        return network

    def _versions(self, lower: Joined, rows: Rows, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return the feature maps of a random version of each frame."""
        versions = self._first[rows] + rng.integers(self._count[rows])
        return np.stack([lower[version] for version in versions]).astype(np.float32)

    @cached_property
    def _count(self) -> NDArray[np.int64]:
        """Versions of each frame; sources without polyps have none."""
        frames, recipe = self.frames, self.recipe
        count = np.zeros(len(frames), np.int64)
        use = frames.trained & self.inputs.cropped
        count[use & (frames.truth == POLYP)] = recipe.polyp_versions
        count[use & (frames.truth == NORMAL)] = recipe.normal_versions
        count[use & (frames.truth == OTHER)] = recipe.other_versions
        return count

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        return np.cumsum(self._count) - self._count

    def _lower(self, progress: StepListener) -> Joined:
        """Return the feature maps of all versions; those that are not stored are computed."""
        network = folded(pretrained())
        store = self._store(network)
        rows = np.repeat(np.arange(len(self.frames)), self._count)
        number = np.arange(len(rows)) - self._first[rows]
        parts: list[NDArray[np.float16]] = []
        for start in range(0, len(rows), _LOWER_PART):
            end = min(start + _LOWER_PART, len(rows))
            part = store.read(f"part-{start // _LOWER_PART:05}", np.float16)
            if part is None or len(part) != end - start:
                maps = []
                for first in range(start, end, _LOWER_BATCH):
                    batch = range(first, min(first + _LOWER_BATCH, end))
                    maps.append(self._maps(network, rows[batch], number[batch]))
                    progress("augmented frames", batch.stop, len(rows))
                part = np.concatenate(maps)
                store.write(f"part-{start // _LOWER_PART:05}", part)
                stored = store.read(f"part-{start // _LOWER_PART:05}", np.float16, part.shape)
                part = part if stored is None else stored  # not in memory
            parts.append(part)
        return Joined(parts)

    def _store(self, network: EfficientNetLite0) -> Store:
        content = {
            "format": [_FORMAT, self.recipe.blocks, self.seed],
            "packages": [torch.__version__, cv2.__version__],
            "inputs": self.inputs.key,
        }
        weights = [parameter.numpy() for parameter in network.parameters()]
        return Store(self.folder, "lower", content, self._count, *weights)

    def _maps(
        self, network: EfficientNetLite0, rows: Rows, number: NDArray[np.int64]
    ) -> NDArray[np.float16]:
        """Return the feature maps of one version of each frame."""
        with _one_cv2_thread(), torch.no_grad():
            versions = map(self._version, rows.tolist(), number.tolist())
            maps = network.lower(_images(list(versions)), self.recipe.blocks)
        return np.ascontiguousarray(maps.numpy().astype(np.float16))

    def _version(self, row: int, number: int) -> NDArray[np.uint8]:
        rng = np.random.default_rng([self.seed, row, number])
        return augment(self.inputs.crops[row], rng)

    def _compare(self, network: EfficientNetLite0, graph: "ModelProto", rows: Rows) -> None:
        """Raise if the exported graph gives other logits than the network."""
        import onnxruntime

        checked = rows[:: max(1, len(rows) // _CHECKED)][:_CHECKED]
        images = _images([self.inputs.crops[row] for row in checked.tolist()])
        session = onnxruntime.InferenceSession(
            graph.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        (logits,) = session.run(["logit"], {"image": np.ascontiguousarray(images.numpy())})
        with torch.no_grad():
            expected = network(images)[0].numpy()
        worst = float(np.abs(np.asarray(logits) - expected).max())
        if not worst <= _TOLERANCE * max(1.0, float(np.abs(expected).max())):
            raise FileError(f"the exported network differs from the trained one by {worst:.3g}")


def _images(crops: list[NDArray[np.uint8]]) -> Any:
    """Return N x 3 x S x S numbers, channels last in memory: the fastest order on a processor."""
    images = torch.from_numpy(np.stack(crops).transpose(0, 3, 1, 2).astype(np.float32))
    return images.contiguous(memory_format=torch.channels_last)


def _targets(frames: FrameSet, rows: Rows) -> NDArray[np.float32]:
    """Return for every frame whether it shows a polyp, and each other finding of the rows."""
    words = [*(set(of) - {"polyp"} for of in frames.findings), set[str]()]  # the last is code -1
    names = sorted(
        set[str]().union(*(words[code] for code in np.unique(frames.labelled.finding.code[rows])))
    )
    table = np.array([[name in of for name in names] for of in words], np.float32)
    polyp = (frames.truth == POLYP).astype(np.float32)[:, None]
    return np.hstack([polyp, table.reshape(len(words), len(names))[frames.labelled.finding.code]])


def _chances(frames: FrameSet, rows: Rows) -> list[tuple[Rows, NDArray[np.float64]]]:
    """Return polyp frames and negatives with their probabilities in a batch.

    A negative comes from a source as often as a polyp does, so the source is not a clue.
    """
    polyps = rows[frames.truth[rows] == POLYP]
    negatives = rows[frames.truth[rows] != POLYP]
    chances = np.zeros(len(negatives))
    for code in np.unique(frames.source[polyps]):
        here = frames.source[negatives] == code
        other = frames.truth[negatives[here]] == OTHER
        share = np.full(len(other), 1 / len(other))
        if other.any() and not other.all():
            share = np.where(other, OTHER_SHARE / other.sum(), (1 - OTHER_SHARE) / (~other).sum())
        chances[here] = share * np.mean(frames.source[polyps] == code)
    return [
        (polyps, np.full(len(polyps), 1 / len(polyps))),
        (negatives, chances / chances.sum()),
    ]


def _draw(
    chances: list[tuple[Rows, NDArray[np.float64]]], batch: int, rng: np.random.Generator
) -> Rows:
    counts = batch // 2, batch - batch // 2
    return np.concatenate(
        [rng.choice(rows, n, p=p) for (rows, p), n in zip(chances, counts, strict=True)]
    )


def _upper_parameters(network: EfficientNetLite0, blocks: int) -> list[Any]:
    """Return the parameters to train; the others need no gradient."""
    network.requires_grad_(False)
    frozen = ("_conv_stem.", "_bn0.", *(f"_blocks.{number}." for number in range(blocks)))
    trained = [value for name, value in network.named_parameters() if not name.startswith(frozen)]
    for parameter in trained:
        parameter.requires_grad_(True)
    return trained


def _optimiser(trained: list[Any], recipe: Recipe) -> Any:
    decayed = [parameter for parameter in trained if parameter.ndim > 1]
    others = [parameter for parameter in trained if parameter.ndim <= 1]
    groups = [
        {"params": decayed, "weight_decay": recipe.decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.rate, fused=True)


def _loss(
    network: EfficientNetLite0,
    maps: NDArray[np.float32],
    targets: NDArray[np.float32],
    recipe: Recipe,
    rng: np.random.Generator,
) -> Any:
    maps = mix_styles(maps, rng, chance=recipe.style, beta=recipe.style_beta)
    x = torch.from_numpy(maps).contiguous(memory_format=torch.channels_last)
    pooled = network.upper(x, recipe.blocks).mean((2, 3))
    dropped = rng.random((len(maps), CHANNELS)) < recipe.dropout
    kept = np.where(dropped, 0, 1 / (1 - recipe.dropout)).astype(np.float32)
    logits = network.linear(pooled * torch.from_numpy(kept))
    truth = torch.from_numpy(targets)
    entropy = functional.binary_cross_entropy_with_logits
    loss = entropy(logits[:, 0], truth[:, 0])
    if truth.shape[1] > 1:
        loss = loss + recipe.auxiliary * entropy(logits[:, 1:], truth[:, 1:])
    return loss


def one_cycle(step: int, recipe: Recipe) -> tuple[float, float]:
    """Return the learning rate and the momentum (beta 1) of a step.

    The rate rises from 1/25 of the highest along half a cosine, and falls to 1/250,000 of it; the
    momentum falls from 0.95 to 0.85 and rises again (Smith and Topin, 2017, arXiv:1708.07120).
    """
    peak, last = recipe.warm_up * recipe.steps - 1, recipe.steps - 1
    low, end = recipe.rate / 25, recipe.rate / 25e4
    if step <= peak:
        share = _half_cosine(step / peak) if peak > 0 else 1.0
        return low + (recipe.rate - low) * share, 0.95 - 0.1 * share
    share = _half_cosine((step - peak) / (last - peak))
    return recipe.rate + (end - recipe.rate) * share, 0.85 + 0.1 * share


def _half_cosine(share: float) -> float:
    return (1 - math.cos(math.pi * share)) / 2


@contextmanager
def _reproducible(threads: int) -> Iterator[None]:
    """Use algorithms of torch that always give the same bits."""
    options: Any = torch.utils.deterministic
    before = (
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        options.fill_uninitialized_memory,
    )
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    options.fill_uninitialized_memory = False  # nothing here reads what it has not written
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.use_deterministic_algorithms(before[1])
        options.fill_uninitialized_memory = before[2]


@contextmanager
def _one_cv2_thread() -> Iterator[None]:
    """Keep OpenCV to one thread: on small images several only wait for each other."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)
