"""Fits of one trainer: each fold by the others, and one on everything; done ones are kept."""

from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write, remove_leftovers
from capsieve.errors import FileError
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.folds import CrossFit
from capsieve.learned.training.trainer import Fitted, Tell, Trainer

__all__ = ["Fits", "OutOfFold"]

_KEPT = "scored.npz"
_MOST_PERMUTED = 600
"""Held-out frames of a fold on which features are permuted; the mean needs no more."""

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFold:
    """What the fits say of frames that they did not learn from.

    Attributes
    ----------
    fit
        A logit per example, and those of the nested fits where asked for.
    weighing
        For each value the mean absolute change of a held-out frame's logit when the value is that
        of another frame of its source; empty where the trainer looks at none.
    """

    fit: CrossFit
    weighing: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Fits of one trainer on the same examples, in a folder of their own.

    Attributes
    ----------
    trainer
        What is fitted.
    examples
        With crops where the trainer looks at images.
    part
        The fold of each example, 0 to K - 1.
    trained
        Which examples are of sources with polyps. Trainers learn from no others; the others are
        scored by the fit of their fold, so that each frame is scored once.
    seed
        The same seed gives the same fits.
    folder
        Named by all that decides about the fits: other settings have another folder.
    tell
        Called as the work goes on.
    """

    trainer: Trainer
    examples: Examples
    part: NDArray[np.int16]
    trained: NDArray[np.bool_]
    seed: int
    folder: Path
    tell: Tell

    def out_of_fold(self, *, nested: bool) -> OutOfFold:
        """Score every example by the fit that saw nothing of its fold.

        Parameters
        ----------
        nested
            Also fit without each pair of folds, see :mod:`capsieve.learned.training.folds`.
        """
        folds = int(self.part.max()) + 1
        pairs = [(low, high) for high in range(folds) for low in range(high)] if nested else []
        logits = np.full(len(self.part), np.nan)
        inner = np.full((len(self.part), folds), np.nan) if nested else None
        changes: list[Floats] = []
        for number, fold in enumerate(range(folds), 1):
            name = f"{self.trainer.name}, fold {number} of {folds}"
            held = np.flatnonzero(self.part == fold)
            logits[held], change = self._scored((fold,), name, held)
            changes.append(change)
        for number, (low, high) in enumerate(pairs, 1):
            name = f"{self.trainer.name}, pair of folds {number} of {len(pairs)}"
            held = np.flatnonzero(np.isin(self.part, (low, high)))
            scored, _ = self._scored((low, high), name, held)
            assert inner is not None
            for fold, other in ((low, high), (high, low)):
                here = self.part[held] == fold
                inner[held[here], other] = scored[here]
        return OutOfFold(CrossFit(logits, inner), np.mean(changes, axis=0))

    def on_everything(self) -> Fitted:
        """Return the model that learned from every frame that may be learned from."""
        return self._fit("all", f"{self.trainer.name}, all frames", np.arange(len(self.part)))

    def picture_weighing(self, logits: Floats) -> float:
        """Return the mean absolute change of a logit when the picture is that of another frame.

        Of another held-out frame of the same fold and source: models of two folds differ by more
        than the picture. For a trainer that looks at the picture alone, the logit of the other
        frame is what it would say.

        Parameters
        ----------
        logits
            Out of fold, one per example.
        """
        changes: list[float] = []
        for fold in range(int(self.part.max()) + 1):
            held = np.flatnonzero((self.part == fold) & self.trained)
            if len(held):
                rng = np.random.default_rng((self.seed, fold))
                other = held[_partners(self.examples.source[held], rng)]
                changes.append(float(np.abs(logits[held] - logits[other]).mean()))
        return float(np.mean(changes))

    def _scored(self, left_out: tuple[int, ...], name: str, held: Rows) -> tuple[Floats, Floats]:
        """Return logits of held-out frames, and for single folds how much each value weighs."""
        key = "without-" + "-".join(str(fold + 1) for fold in left_out)
        path = self.folder / key / _KEPT
        kept = _read(path, len(held))
        if kept is not None:
            self.tell(name, 1, 1)
            return kept
        chosen = np.flatnonzero(~np.isin(self.part, left_out))
        fitted = self._fit(key, name, chosen)
        logits = np.asarray(fitted.logits(self.examples, held), np.float64)
        if logits.shape != held.shape or not np.isfinite(logits).all():
            raise FileError(f"the fit of {name} gave no finite number for each frame")
        change = np.zeros(0)
        if len(left_out) == 1 and "values" in self.trainer.looks_at:
            change = self._weighing(fitted, held[self.trained[held]], left_out[0])
        with atomic_write(path) as temporary:
            np.savez(temporary, logits=logits, change=change)
        return logits, change

    def _fit(self, key: str, name: str, chosen: Rows) -> Fitted:
        folder = self.folder / key
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folder {folder}: {error.strerror}") from error
        remove_leftovers(folder)

        def tell(what: str, done: int, total: int) -> None:
            self.tell(f"{name}: {what}" if what else name, done, total)

        return self.trainer.fit(self.examples, chosen, seed=self.seed, folder=folder, tell=tell)

    def _weighing(self, fitted: Fitted, held: Rows, fold: int) -> Floats:
        """Return the mean absolute change of the logit for each value that is permuted."""
        rng = np.random.default_rng((self.seed, fold))
        if len(held) > _MOST_PERMUTED:
            held = np.sort(rng.choice(held, _MOST_PERMUTED, replace=False))
        source = self.examples.source[held]
        partner = _partners(source, rng)
        values = self.examples.values[held]
        # A small set of its own: crops are not copied, and all rows are its rows.
        some = replace(
            self.examples,
            truth=self.examples.truth[held],
            group=self.examples.group[held],
            source=source,
            polyp=self.examples.polyp[held],
            finding=self.examples.finding[held],
            values=values,
            crops=None if self.examples.crops is None else self.examples.crops[held],
        )
        rows = np.arange(len(held))
        usual = fitted.logits(some, rows)
        changes = np.zeros(values.shape[1])
        for column in range(values.shape[1]):
            permuted = values.copy()
            permuted[:, column] = values[partner, column]
            logits = fitted.logits(replace(some, values=permuted), rows)
            changes[column] = np.abs(logits - usual).mean()
        return changes


def _partners(source: NDArray[np.int32], rng: np.random.Generator) -> Rows:
    """Return for each frame another one, drawn from those of its source."""
    partner = np.arange(len(source))
    for code in np.unique(source):
        here = np.flatnonzero(source == code)
        partner[here] = rng.permutation(here)
    return partner


def _read(path: Path, count: int) -> tuple[Floats, Floats] | None:
    """Return what an earlier run kept; None where there is nothing, or something broken."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            logits, change = held["logits"], held["change"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    if logits.shape != (count,) or not np.isfinite(logits).all():
        return None
    return logits, change
