"""The trainers on features by the names that ``capsieve train --model`` takes."""

from collections.abc import Callable

from capsieve.learned.training.boosting import BoostingTrainer
from capsieve.learned.training.forest import ForestTrainer
from capsieve.learned.training.linear import LinearTrainer
from capsieve.learned.training.svm import SvmTrainer
from capsieve.learned.training.trainer import Trainer

__all__ = ["DESCRIPTIONS", "TRAINERS"]

TRAINERS: dict[str, Callable[[], Trainer]] = {
    "linear": LinearTrainer,
    "svm": SvmTrainer,
    "forest": ForestTrainer,
    "boosting": BoostingTrainer,
}

DESCRIPTIONS: dict[str, str] = {
    "linear": "logistic regression on features of the frame",
    "svm": "a support vector machine on features of the frame",
    "forest": "a forest of random trees on features of the frame",
    "boosting": "boosted trees on features of the frame",
}
"""For help texts; one for each trainer."""
