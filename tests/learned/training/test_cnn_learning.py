from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.learned.network.architecture import layers_of, upper_blocks
from capsieve.learned.network.lite import feature_map, pooled_logits
from capsieve.learned.training.cnn_checkpoint import State
from capsieve.learned.training.cnn_learning import (
    HEAD_BIAS,
    HEAD_WEIGHT,
    Batch,
    initial_state,
    learn,
    one_cycle,
)
from capsieve.learned.training.cnn_settings import NetworkSettings

torch = pytest.importorskip("torch")

Weights = dict[str, NDArray[np.float32]]
SHAPES = {
    "14.expand": (1152, 192, 1, 1),
    "14.depthwise": (1152, 1, 5, 5),
    "14.project": (192, 1152, 1, 1),
    "15.expand": (1152, 192, 1, 1),
    "15.depthwise": (1152, 1, 3, 3),
    "15.project": (320, 1152, 1, 1),
    "head": (1280, 320, 1, 1),
}
SETTINGS = NetworkSettings(
    size=64, frozen=14, steps=6, batch=8, checkpoint=2, threads=1, average=0.5
)  # fmt: skip


def weights() -> Weights:
    """Return drawn weights of the last bottlenecks and the head."""
    assert [layer.name for layer in layers_of(upper_blocks(14))] == list(SHAPES)
    rng = np.random.default_rng(0)
    found: dict[str, NDArray[np.float64]] = {}
    for name, shape in SHAPES.items():
        found[f"{name}.weight"] = rng.normal(0, 1.4 / np.sqrt(np.prod(shape[1:])), shape)
        found[f"{name}.gamma"] = found[f"{name}.deviation"] = np.ones(shape[0])
        found[f"{name}.beta"] = found[f"{name}.mean"] = np.zeros(shape[0])
    return {name: array.astype(np.float32) for name, array in found.items()}


WEIGHTS = weights()


def batch(rng: np.random.Generator) -> Batch:
    """Draw features that are higher in the polyps."""
    truth = np.repeat([1.0, 0.0], 4).astype(np.float32)[:, None]
    features = rng.normal(size=(8, 192, 2, 2)) + truth[:, :, None, None]
    return Batch(features.astype(np.float32), truth)


def run(
    settings: NetworkSettings = SETTINGS, *, start: State | None = None, seed: int = 0
) -> tuple[State, list[State], list[int]]:
    kept: list[State] = []
    told: list[int] = []
    start = start or initial_state(WEIGHTS, 1, settings, seed=seed)
    last = learn(
        start, WEIGHTS, batch, settings, seed=seed, keep=kept.append, tell=told.append
    )  # fmt: skip
    return last, kept, told


def same(one: State, two: State) -> bool:
    return all(
        np.array_equal(getattr(one, kind)[name], getattr(two, kind)[name])
        for kind in ("trained", "averaged")
        for name in one.trained
    )


def test_the_cycle_is_that_of_torch() -> None:
    settings = NetworkSettings(steps=60, rate=0.02, warm_up=0.15)
    optimiser = torch.optim.AdamW([torch.zeros(1, requires_grad=True)], lr=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.02, total_steps=60, pct_start=0.15)
    for step in range(60):
        (group,) = optimiser.param_groups
        rate, momentum = one_cycle(step, settings)
        assert rate == pytest.approx(group["lr"], rel=1e-9)
        assert momentum == pytest.approx(group["betas"][0], rel=1e-9)
        optimiser.step()
        if step < 59:
            schedule.step()


@pytest.mark.parametrize("steps", [1, 2, 3, 7])
def test_short_cycles_stay_between_their_bounds(steps: int) -> None:
    settings = NetworkSettings(steps=steps)
    rates = [one_cycle(step, settings)[0] for step in range(steps)]
    assert all(0 < rate <= settings.rate for rate in rates)


def test_the_same_seed_gives_the_same_weights() -> None:
    assert same(run()[0], run()[0])
    assert not same(run()[0], run(seed=1)[0])


@pytest.mark.parametrize(
    "settings",
    [SETTINGS, replace(SETTINGS, drop_path=0.5, mixup=0.4, smoothing=0.05, style=0.9)],
    ids=["plain", "with all chance"],
)
def test_a_run_that_goes_on_ends_at_the_same_bits(settings: NetworkSettings) -> None:
    whole, kept, _ = run(settings)
    assert [state.step for state in kept] == [2, 4, 6]
    for state in kept[:2]:
        assert same(run(settings, start=state)[0], whole)


def test_progress_counts_every_step() -> None:
    _, kept, told = run()
    assert told == [1, 2, 3, 4, 5, 6]
    assert run(start=kept[1])[2] == [5, 6]


def test_the_mean_of_the_weights_lags_behind_them() -> None:
    settings = NetworkSettings(
        size=64, frozen=14, steps=1, batch=8, threads=1, average=0.99, rate=1e-2
    )
    start = initial_state(WEIGHTS, 1, settings, seed=0)
    last = run(settings)[0]
    # The first step keeps a tenth of what was before.
    name = "head.weight"
    expected = 0.1 * start.trained[name] + 0.9 * last.trained[name]
    np.testing.assert_allclose(last.averaged[name], expected, atol=1e-6)
    assert not np.array_equal(last.trained[name], start.trained[name])


def test_all_trained_weights_move_and_statistics_stay_out() -> None:
    start = initial_state(WEIGHTS, 1, SETTINGS, seed=0)
    last = run()[0]
    kinds = {name.rpartition(".")[2] for name in start.trained}
    assert kinds == {"weight", "gamma", "beta", "bias"}
    for name, array in start.trained.items():
        assert not np.array_equal(array, last.trained[name]), name


def test_starting_arrays_are_left_alone() -> None:
    start = initial_state(WEIGHTS, 1, SETTINGS, seed=0)
    before = {name: array.copy() for name, array in start.trained.items()}
    run(start=start)
    assert all(np.array_equal(start.trained[name], before[name]) for name in before)


def test_loss_over_other_findings_moves_their_outputs() -> None:
    def two(rng: np.random.Generator) -> Batch:
        one = batch(rng)
        return Batch(one.features, np.hstack([one.truth, 1 - one.truth]))

    settings = NetworkSettings(
        size=64, frozen=14, steps=2, batch=8, threads=1, auxiliary=1.0, decay=0.0
    )
    start = initial_state(WEIGHTS, 2, settings, seed=0)
    last = learn(start, WEIGHTS, two, settings, seed=0, keep=lambda _: None, tell=lambda _: None)
    # The second is the opposite of the first, and is learned as such.
    first, second = last.trained[HEAD_WEIGHT] - start.trained[HEAD_WEIGHT]
    assert first @ second < -0.5 * np.linalg.norm(first) * np.linalg.norm(second)


def separation(state: State) -> float:
    """Return how much higher the polyps of a new batch come out than the rest."""
    new = batch(np.random.default_rng(99))
    trained = {name: torch.tensor(array) for name, array in (WEIGHTS | state.trained).items()}
    with torch.no_grad():
        features = feature_map(torch.tensor(new.features), upper_blocks(14), trained)
        logits = pooled_logits(features, trained[HEAD_WEIGHT], trained[HEAD_BIAS]).numpy()[:, 0]
    return float(logits[new.truth[:, 0] == 1].mean() - logits[new.truth[:, 0] == 0].mean())


def test_frames_that_swap_their_looks_teach_less_of_the_look() -> None:
    # The classes of `batch` differ in their means alone.
    settings = replace(SETTINGS, steps=12, style_beta=1e-3)
    plain, swapped = (separation(run(replace(settings, style=style))[0]) for style in (0, 1))
    assert swapped < 0.5 * plain


def test_torch_is_left_as_it_was() -> None:
    def options() -> tuple[int, bool, bool]:
        return (
            torch.get_num_threads(),
            torch.are_deterministic_algorithms_enabled(),
            torch.utils.deterministic.fill_uninitialized_memory,
        )

    before, state = options(), torch.random.get_rng_state()
    run()
    assert options() == before
    assert torch.equal(torch.random.get_rng_state(), state)
