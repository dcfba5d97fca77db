"""Fits: what each one sees, what it scores, and what is kept of it."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from capsieve.engine.training_folds import Fits
from capsieve.learned.training.examples import Examples

FOLDS = 4


def made_examples(count=80, seed=0):
    rng = np.random.default_rng(seed)
    truth = (np.arange(count) % 4 == 0).astype(np.int8)
    group = np.arange(count) // 5
    return Examples(
        truth=truth,
        groups=tuple(f"patient {code}" for code in range(group.max() + 1)),
        group=group.astype(np.int32),
        sources=("a", "b"),
        source=(group >= 12).astype(np.int32),
        polyps=(),
        polyp=np.full(count, -1, np.int32),
        findings=(),
        finding=np.full(count, -1, np.int32),
        value_names=("heavy", "light", "idle"),
        values=rng.normal(size=(count, 3)).astype(np.float32),
    )


@dataclass
class Recorder:
    """Learns nothing, and notes what it was shown and asked."""

    shown: list = field(default_factory=list)
    fail_at: int = -1
    name: str = "recorder"
    looks_at: frozenset = frozenset({"values"})

    def fit(self, examples, chosen, *, seed, folder, tell):
        if len(self.shown) == self.fail_at:
            raise KeyboardInterrupt
        self.shown.append((folder.name, np.unique(examples.group[chosen])))
        tell("fitting", 1, 1)
        return Weighted(float(len(chosen)))

    def __repr__(self):
        return "Recorder()"


@dataclass
class Weighted:
    offset: float

    def logits(self, examples, chosen):
        return examples.values[chosen] @ np.array([10.0, 1.0, 0.0]) + self.offset


@pytest.fixture
def made(tmp_path):
    def make(trainer):
        examples = made_examples()
        return Fits(
            trainer=trainer,
            examples=examples,
            part=(examples.group % FOLDS).astype(np.int16),
            seed=0,
            folder=tmp_path / "fits",
            tell=lambda what, done, total: None,
        )

    return make


@pytest.mark.parametrize("nested", [False, True])
def test_no_frame_is_scored_by_a_fit_that_saw_its_group(made, nested):
    trainer = Recorder()
    fits = made(trainer)
    fit = fits.out_of_fold(nested=nested)
    seen = dict(trainer.shown)
    for fold in range(FOLDS):
        left_out = np.unique(fits.examples.group[fits.part == fold])
        assert not np.isin(left_out, seen[f"without-{fold + 1}"]).any()
    assert len(seen) == FOLDS + (FOLDS * (FOLDS - 1) // 2 if nested else 0)
    assert np.isfinite(fit.logits).all()


def test_nested_logits_come_from_fits_without_both_folds(made):
    trainer = Recorder()
    fits = made(trainer)
    inner = fits.out_of_fold(nested=True).inner
    values = fits.examples.values @ np.array([10.0, 1.0, 0.0])
    for fold in range(FOLDS):
        own = fits.part == fold
        assert np.isnan(inner[own, fold]).all()
        for other in set(range(FOLDS)) - {fold}:
            count = np.count_nonzero(~np.isin(fits.part, (fold, other)))
            assert np.allclose(inner[own, other] - values[own], count)


@pytest.mark.parametrize("stop", range(FOLDS))
def test_a_stopped_run_goes_on_with_what_is_missing(made, stop):
    whole = made(Recorder())
    expected = whole.out_of_fold(nested=False)
    for path in whole.folder.rglob("*.npz"):
        path.unlink()
    with pytest.raises(KeyboardInterrupt):
        made(Recorder(fail_at=stop)).out_of_fold(nested=False)
    trainer = Recorder()
    found = made(trainer).out_of_fold(nested=False)
    assert len(trainer.shown) == FOLDS - stop
    assert np.array_equal(found.logits, expected.logits)


def test_what_was_damaged_is_fitted_again(made):
    fits = made(Recorder())
    expected = fits.out_of_fold(nested=False)
    first, *_ = sorted(fits.folder.rglob("*.npz"))
    first.write_bytes(first.read_bytes()[:50])
    trainer = Recorder()
    found = made(trainer).out_of_fold(nested=False)
    assert len(trainer.shown) == 1
    assert np.array_equal(found.logits, expected.logits)
