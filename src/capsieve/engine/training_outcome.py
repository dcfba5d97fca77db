"""What a training found."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsieve.engine.training_figures import SourceFigures
from capsieve.engine.training_table import figures_table
from capsieve.learned.card import ModelCard
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.table import Table

__all__ = ["OUTCOME_SCHEMA", "TrainingOutcome"]

OUTCOME_SCHEMA = 1
"""Version of the JSON object; it grows when a name in it changes its meaning."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingOutcome:
    """A trained model, and how good it is.

    Attributes
    ----------
    path
        The model file.
    model
        What was trained.
    card
        As it stands in the file.
    threshold
        The least probability at which a frame is flagged.
    target_specificity
        For which it was chosen, a share of 1.
    figures
        Out of fold, by source; those with polyps first.
    out_of_fold
        Where the out-of-fold probabilities are: a folder of results, for ``capsieve evaluate``.
    splits
        The folds, for ``capsieve evaluate --splits``.
    problems, warnings, leaks
        What was not clear, and what a careful reader must know.
    """

    path: Path
    model: str
    card: ModelCard
    threshold: float
    target_specificity: float
    figures: tuple[SourceFigures, ...]
    out_of_fold: Path
    splits: Path
    problems: tuple[LabelProblem, ...]
    warnings: tuple[str, ...]
    leaks: tuple[str, ...]

    def table(self) -> Table:
        """Return the figures for people."""
        return figures_table(
            self.figures,
            target_specificity=self.target_specificity,
            title=f"{self.card.name}: {self.model}, out of fold",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "schema": OUTCOME_SCHEMA,
            "path": str(self.path),
            "model": self.model,
            "threshold": self.threshold,
            "target_specificity": self.target_specificity,
            "out_of_fold": str(self.out_of_fold),
            "splits": str(self.splits),
            "card": self.card.to_dict(),
            "warnings": list(self.warnings),
            "leaks": list(self.leaks),
            "problems": [
                {
                    "what": problem.what,
                    "rows": problem.rows,
                    "examples": list(problem.examples),
                    "used": problem.used,
                }
                for problem in self.problems
            ],
        }
