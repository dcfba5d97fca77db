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
from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from numpy.typing import NDArray
from torch.nn import functional  # pyright: ignore[reportMissingImports]

from capsieve.errors import FileError
from capsieve.frame_table import NORMAL, OTHER, POLYP
from capsieve.learned.runtime import ModelInput
from capsieve.learned.spec import ImageInput, ModelSpec, Output
from capsieve.training.augment import Augmentation, augment, mix_styles
from capsieve.training.data import FrameSet
from capsieve.training.folds import OTHER_SHARE, Platt, Rows, StepListener
from capsieve.training.inputs import FrameInputs
from capsieve.training.integers import CALIBRATION_FRAMES, in_integers
from capsieve.training.network import CHANNELS, EfficientNetLite0, export, folded, pretrained
from capsieve.training.store import Joined, Store
from capsieve.training.windows import Windows

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
    window_versions
        Augmented versions per window.
    steps, batch
        Steps of the optimiser, and frames in each; half of them show a polyp.
    windows
        Windows in each step, if there are any; half of them show a polyp.
    augmentation
        How much versions differ from frames and windows.
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
    integers
        Whether the written graph has weights and feature maps of 8 bits.
    threads
        Threads of torch. One thread gives the same bits on every number of cores.
    """

    blocks: int = 5
    polyp_versions: int = 16
    normal_versions: int = 4
    other_versions: int = 1
    window_versions: int = 2
    steps: int = 900
    batch: int = 32
    windows: int = 12
    augmentation: Augmentation = field(default_factory=Augmentation)
    rate: float = 6e-4
    warm_up: float = 0.15
    decay: float = 1e-2
    average: float = 0.99
    dropout: float = 0.3
    auxiliary: float = 0.9
    style: float = 0.5
    style_beta: float = 0.3
    integers: bool = True
    threads: int = 1


@dataclass(frozen=True, eq=False)
class NetworkFits:
    """Fits of the network on the same frames and windows.

    Rows are those of the frames, followed by those of the windows.

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
    windows
        Windows of other frames to learn from.
    """

    frames: FrameSet
    inputs: FrameInputs
    size: int
    seed: int
    folder: Path
    recipe: Recipe = field(default_factory=Recipe)
    windows: Windows | None = None

    @property
    def description(self) -> str:
        """The settings, for the card."""
        return repr(self.recipe)

    @property
    def scorable(self) -> NDArray[np.bool_]:
        """Frames that the network can take."""
        return self.inputs.cropped

    def model_input(self, row: int) -> ModelInput:
        """Return a frame or window as the graph takes it."""
        return ModelInput(self._crop(row), None)

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
        if self.recipe.integers:
            progress("8-bit integers", 0, 1)
            graph = in_integers(graph, self._calibration(rows))
            progress("8-bit integers", 1, 1)
        return graph

    def _calibration(self, rows: Rows) -> Iterator[NDArray[np.float32]]:
        """Yield frames and windows among the rows, at equal distances, as the graph takes them."""
        chosen = rows[:: max(1, len(rows) // CALIBRATION_FRAMES)][:CALIBRATION_FRAMES]
        for row in chosen.tolist():
            yield _images([self._crop(row)]).numpy()

    def _trained(self, rows: Rows, progress: StepListener) -> EfficientNetLite0:
        recipe, lower = self.recipe, self._lower(progress)
        targets = _targets(self.frames, rows, self.windows)
        network = pretrained(targets.shape[1])
        rng = np.random.default_rng([self.seed, 1])
        first = rng.normal(0, 0.01, (targets.shape[1], CHANNELS)).astype(np.float32)
        network.linear.weight.data.copy_(torch.from_numpy(first))
        trained = _upper_parameters(network, recipe.blocks)
        averaged = [parameter.detach().clone() for parameter in trained]
        optimiser = _optimiser(trained, recipe)
        groups = _groups(self.frames, rows, recipe, self.windows)
        for step in range(recipe.steps):
            # All random numbers of a step depend on its number only.
            rng = np.random.default_rng([self.seed, 2, step])
            drawn = _draw(groups, rng)
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
        """Versions of each row; sources without polyps have none."""
        frames, recipe = self.frames, self.recipe
        count = np.zeros(len(frames), np.int64)
        use = frames.trained & self.inputs.cropped
        count[use & (frames.truth == POLYP)] = recipe.polyp_versions
        count[use & (frames.truth == NORMAL)] = recipe.normal_versions
        count[use & (frames.truth == OTHER)] = recipe.other_versions
        windows = 0 if self.windows is None else len(self.windows)
        return np.append(count, np.full(windows, recipe.window_versions))

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        return np.cumsum(self._count) - self._count

    def _lower(self, progress: StepListener) -> Joined:
        """Return the feature maps of all versions; those that are not stored are computed."""
        network = folded(pretrained())
        store = self._store(network)
        rows = np.repeat(np.arange(len(self._count)), self._count)
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
            "windows": "" if self.windows is None else self.windows.key,
            "augmentation": repr(self.recipe.augmentation),
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
        return augment(self._crop(row), rng, self.recipe.augmentation)

    def _crop(self, row: int) -> NDArray[np.uint8]:
        if row < len(self.frames):
            return self.inputs.crops[row]
        assert self.windows is not None
        return self.windows.crops[row - len(self.frames)]

    def _compare(self, network: EfficientNetLite0, graph: "ModelProto", rows: Rows) -> None:
        """Raise if the exported graph gives other logits than the network."""
        import onnxruntime

        checked = rows[:: max(1, len(rows) // _CHECKED)][:_CHECKED]
        images = _images([self._crop(row) for row in checked.tolist()])
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


def _targets(frames: FrameSet, rows: Rows, windows: Windows | None) -> NDArray[np.float32]:
    """Return for every row whether it shows a polyp, and each other finding of the given rows.

    Other findings of windows are unknown; their zeros are not used.
    """
    findings = frames.labelled.finding.code
    words = [*(set(of) - {"polyp"} for of in frames.findings), set[str]()]  # the last is code -1
    known = np.unique(findings[rows[rows < len(frames)]])
    names = sorted(set[str]().union(*(words[code] for code in known)))
    table = np.array([[name in of for name in names] for of in words], np.float32)
    polyp = (frames.truth == POLYP).astype(np.float32)[:, None]
    targets = np.hstack([polyp, table.reshape(len(words), len(names))[findings]])
    if windows is None:
        return targets
    of_windows = np.zeros((len(windows), targets.shape[1]), np.float32)
    of_windows[:, 0] = windows.polyp
    return np.vstack([targets, of_windows])


class _Group(NamedTuple):
    """Rows of which a batch has `number`, drawn with these probabilities."""

    rows: Rows
    chances: NDArray[np.float64]
    number: int


def _groups(frames: FrameSet, rows: Rows, recipe: Recipe, windows: Windows | None) -> list[_Group]:
    """Return what a batch consists of: frames and then windows, first those with a polyp.

    A negative comes from a source as often as a polyp does, so the source is not a clue.
    """
    rows, of_windows = rows[rows < len(frames)], rows[rows >= len(frames)]
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
    groups = [
        _Group(polyps, np.full(len(polyps), 1 / len(polyps)), recipe.batch // 2),
        _Group(negatives, chances / chances.sum(), recipe.batch - recipe.batch // 2),
    ]
    if windows is not None:
        shown = windows.polyp[of_windows - len(frames)]
        for chosen in (of_windows[shown], of_windows[~shown]):
            chances = np.full(len(chosen), 1 / len(chosen))
            groups.append(_Group(chosen, chances, recipe.windows // 2))
    return groups


def _draw(groups: list[_Group], rng: np.random.Generator) -> Rows:
    return np.concatenate([rng.choice(rows, number, p=p) for rows, p, number in groups])


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
    if truth.shape[1] > 1:  # of frames only, which are the first in a batch
        frames = slice(recipe.batch)
        loss = loss + recipe.auxiliary * entropy(logits[frames, 1:], truth[frames, 1:])
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
