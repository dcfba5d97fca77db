"""Names of the subsets that figures are given for."""

__all__ = ["named"]

_WORDS = {
    "all": "",
    "train": " (training part)",
    "test": " (test part)",
    "cross-fitted": " (folds, each with the threshold of the others)",
}


def named(name: str, subset: str) -> str:
    """Return a metric's name with the subset that it is of: nothing added for "all"."""
    return name + _WORDS.get(subset, f" (part {subset})")
