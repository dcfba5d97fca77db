"""Fits of one trainer: each fold by the others, and one on everything; done ones are kept."""

from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write, remove_leftovers
from capsieve.errors import FileError
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.folds import CrossFit
from capsieve.learned.training.trainer import Fitted, Tell, Trainer

__all__ = ["Fits"]

_KEPT = "scored.npz"

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


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
    seed: int
    folder: Path
    tell: Tell

    def out_of_fold(self, *, nested: bool) -> CrossFit:
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
        for number, fold in enumerate(range(folds), 1):
            name = f"{self.trainer.name}, fold {number} of {folds}"
            held = np.flatnonzero(self.part == fold)
            logits[held] = self._scored((fold,), name, held)
        for number, (low, high) in enumerate(pairs, 1):
            name = f"{self.trainer.name}, pair of folds {number} of {len(pairs)}"
            held = np.flatnonzero(np.isin(self.part, (low, high)))
            scored = self._scored((low, high), name, held)
            assert inner is not None
            for fold, other in ((low, high), (high, low)):
                here = self.part[held] == fold
                inner[held[here], other] = scored[here]
        return CrossFit(logits, inner)

    def on_everything(self) -> Fitted:
        """Return the model that learned from every frame that may be learned from."""
        return self._fit("all", f"{self.trainer.name}, all frames", np.arange(len(self.part)))

    def _scored(self, left_out: tuple[int, ...], name: str, held: Rows) -> Floats:
        """Return logits of held-out frames."""
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
        with atomic_write(path) as temporary:
            np.savez(temporary, logits=logits)
        return logits

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


def _read(path: Path, count: int) -> Floats | None:
    """Return what an earlier run kept; None where there is nothing, or something broken."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            logits = held["logits"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    if logits.shape != (count,) or not np.isfinite(logits).all():
        return None
    return logits
