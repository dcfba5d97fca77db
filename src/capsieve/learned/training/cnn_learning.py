"""Steps of the optimiser over the upper blocks and the head."""

import ctypes
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.network.architecture import BLOCKS, FEATURES, layers_of, upper_blocks
from capsieve.learned.network.lite import feature_map, pooled_logits
from capsieve.learned.network.weights import TRAINED, Weights, require_torch
from capsieve.learned.training.cnn_checkpoint import Arrays, State
from capsieve.learned.training.cnn_settings import NetworkSettings
from capsieve.learned.training.cnn_style import mix_styles

__all__ = ["HEAD_BIAS", "HEAD_WEIGHT", "Batch", "initial_state", "learn", "one_cycle"]

HEAD_WEIGHT, HEAD_BIAS = "linear.weight", "linear.bias"

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # mallopt(3) of the GNU C library
_LARGEST_KEPT, _MOST_KEPT = 32 << 20, 1 << 30  # bytes of one piece (no more is allowed), and in all


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Lower features (N x C x H x W) and truth (N x K, the polyp first, 0..1)."""

    features: NDArray[np.float32]
    truth: NDArray[np.float32]


def initial_state(weights: Weights, outputs: int, settings: NetworkSettings, *, seed: int) -> State:
    """Return the pretrained upper blocks with a new head."""
    rng = np.random.default_rng([seed, 1])
    trained: Arrays = {
        f"{layer.name}.{kind}": weights[f"{layer.name}.{kind}"]
        for layer in layers_of(upper_blocks(settings.frozen))
        for kind in TRAINED
    }
    trained[HEAD_WEIGHT] = rng.normal(0, 0.01, (outputs, FEATURES)).astype(np.float32)
    trained[HEAD_BIAS] = np.zeros(outputs, np.float32)
    empty = {name: np.zeros_like(array) for name, array in trained.items()}
    return State(0, trained, trained, empty, empty)


def learn(
    state: State,
    weights: Weights,
    batch: Callable[[np.random.Generator], Batch],
    settings: NetworkSettings,
    *,
    seed: int,
    keep: Callable[[State], None],
    tell: Callable[[int], None],
) -> State:
    """Go on from a state to the last step.

    All chance of a step comes from a generator of the seed and the step's number, none from torch:
    a run that goes on from a checkpoint draws what it would have drawn.

    Parameters
    ----------
    state
        Of :func:`initial_state`, or of a checkpoint.
    weights
        Pretrained: the statistics of the batch norms are taken from here.
    batch
        Draws a batch.
    keep, tell
        Called with the state at every checkpoint and at the end; with the step after each.
    """
    torch = require_torch()
    _keep_freed_memory()
    with _reproducible(torch, settings.threads):
        # Copies: torch aligns its own memory, and arrays of the caller stay as they are.
        trained = {name: torch.tensor(array) for name, array in state.trained.items()}
        averaged = {name: torch.tensor(array) for name, array in state.averaged.items()}
        fixed = {
            f"{layer.name}.{kind}": torch.tensor(weights[f"{layer.name}.{kind}"])
            for layer in layers_of(upper_blocks(settings.frozen))
            for kind in ("mean", "deviation")
        }
        optimiser = _optimiser(torch, trained, state, settings)
        for step in range(state.step, settings.steps):
            rng = np.random.default_rng([seed, 2, step])
            loss = _loss(torch, fixed | trained, batch(rng), settings, rng)
            rate, momentum = one_cycle(step, settings)
            for group in optimiser.param_groups:
                group["lr"], group["betas"] = rate, (momentum, 0.999)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            # Young means forget the untrained beginning sooner.
            weight = 1 - min(settings.average, (step + 1) / (step + 10))
            with torch.no_grad():
                for name, mean in averaged.items():
                    mean.lerp_(trained[name], weight)
            done = step + 1
            if done == settings.steps or done % settings.checkpoint == 0:
                state = _state(done, trained, averaged, optimiser, last=done == settings.steps)
                keep(state)
            tell(done)
    return state


def one_cycle(step: int, settings: NetworkSettings) -> tuple[float, float]:
    """Return the learning rate and the momentum (beta 1) of a step.

    The rate rises from 1/25 of the highest along half a cosine, and falls to 1/250000 of it; the
    momentum falls from 0.95 to 0.85 and rises again (Smith and Topin, 2017, arXiv:1708.07120).
    """
    peak = settings.warm_up * settings.steps - 1
    last = settings.steps - 1
    low, end = settings.rate / 25, settings.rate / 25e4
    if step <= peak:
        way = _half_cosine(step / peak) if peak > 0 else 1.0
        return low + (settings.rate - low) * way, 0.95 - 0.1 * way
    way = _half_cosine((step - peak) / (last - peak))
    return settings.rate + (end - settings.rate) * way, 0.85 + 0.1 * way


def _half_cosine(share: float) -> float:
    return (1 - math.cos(math.pi * share)) / 2


def _loss(
    torch: Any,
    weights: dict[str, Any],
    batch: Batch,
    settings: NetworkSettings,
    rng: np.random.Generator,
) -> Any:
    x, y = batch.features, batch.truth
    if settings.style:
        x = mix_styles(x, rng, chance=settings.style, beta=settings.style_beta)
    if settings.mixup:
        share, order = np.float32(rng.beta(settings.mixup, settings.mixup)), rng.permutation(len(x))
        x, y = share * x + (1 - share) * x[order], share * y + (1 - share) * y[order]
    # Channels last: the layout in which torch filters fastest on a processor.
    x = torch.from_numpy(x).contiguous(memory_format=torch.channels_last)
    target = torch.from_numpy(y)
    upper = upper_blocks(settings.frozen)
    features = feature_map(x, upper, weights, kept=_kept_blocks(torch, len(x), settings, rng))
    dropped = rng.random((len(x), FEATURES)) < settings.dropout
    kept = torch.from_numpy(np.where(dropped, 0, 1 / (1 - settings.dropout)).astype(np.float32))
    logits = pooled_logits(features, weights[HEAD_WEIGHT], weights[HEAD_BIAS], kept=kept)
    entropy = torch.nn.functional.binary_cross_entropy_with_logits
    truth = target[:, 0] * (1 - 2 * settings.smoothing) + settings.smoothing
    loss = entropy(logits[:, 0], truth)
    if target.shape[1] > 1:
        loss = loss + settings.auxiliary * entropy(logits[:, 1:], target[:, 1:])
    return loss


def _kept_blocks(
    torch: Any, frames: int, settings: NetworkSettings, rng: np.random.Generator
) -> dict[int, Any]:
    """Return the factors of stochastic depth, by the number of the block among the upper ones."""
    kept: dict[int, Any] = {}
    if settings.drop_path:
        for number in range(len(BLOCKS) - settings.frozen):
            chance = settings.drop_path * (settings.frozen + number + 1) / len(BLOCKS)
            factor = np.where(rng.random((frames, 1, 1, 1)) < chance, 0, 1 / (1 - chance))
            kept[number] = torch.from_numpy(factor.astype(np.float32))
    return kept


def _optimiser(torch: Any, trained: dict[str, Any], state: State, settings: NetworkSettings) -> Any:
    """Return AdamW (Loshchilov and Hutter, 2019, arXiv:1711.05101) as it was at the state."""
    for tensor in trained.values():
        tensor.requires_grad_(True)
    decayed = [tensor for tensor in trained.values() if tensor.ndim > 1]
    free = [tensor for tensor in trained.values() if tensor.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": settings.decay},
            {"params": free, "weight_decay": 0.0},
        ],
        lr=settings.rate,
        fused=True,
    )
    if state.step:
        for name, tensor in trained.items():
            optimiser.state[tensor] = {
                "step": torch.tensor(float(state.step)),
                "exp_avg": torch.tensor(state.first[name]),
                "exp_avg_sq": torch.tensor(state.second[name]),
            }
    return optimiser


def _state(
    step: int, trained: dict[str, Any], averaged: dict[str, Any], optimiser: Any, *, last: bool
) -> State:
    """Return copies of all tensors as arrays."""

    def arrays(tensors: dict[str, Any]) -> Arrays:
        return {name: tensor.detach().numpy().copy() for name, tensor in tensors.items()}

    if last:
        return State(step, arrays(trained), arrays(averaged))
    moments = {name: optimiser.state[tensor] for name, tensor in trained.items()}
    return State(
        step,
        arrays(trained),
        arrays(averaged),
        arrays({name: of["exp_avg"] for name, of in moments.items()}),
        arrays({name: of["exp_avg_sq"] for name, of in moments.items()}),
    )


def _keep_freed_memory() -> None:
    """Have the C library hand out freed memory again instead of returning it to the system.

    Every step frees and takes the same few hundred megabytes; to have the system clear them anew
    costs a tenth of the time. It holds for the process, as long as that lives. Where the C library
    is another one, nothing happens.
    """
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    if adjust is not None:
        adjust(_MMAP_THRESHOLD, _LARGEST_KEPT)
        adjust(_TRIM_THRESHOLD, _MOST_KEPT)


@contextmanager
def _reproducible(torch: Any, threads: int) -> Iterator[None]:
    """Hold torch to algorithms that always give the same bits; leave it as it was."""
    options = torch.utils.deterministic
    before = (
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        options.fill_uninitialized_memory,
    )
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    # It would write every tensor twice, for code that reads what it never wrote: not this.
    options.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.use_deterministic_algorithms(before[1])
        options.fill_uninitialized_memory = before[2]
