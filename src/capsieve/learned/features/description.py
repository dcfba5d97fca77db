"""What a feature is called, and what it means."""

from dataclasses import dataclass

__all__ = ["FeatureDescription", "described"]


@dataclass(frozen=True, slots=True)
class FeatureDescription:
    """One feature of a frame.

    Attributes
    ----------
    name
        ``group.what``, the same in every table.
    group
        What it looks at.
    unit
        Of its values. "log" is the natural logarithm of a ratio: 0.1 is about 10 %.
    words
        One sentence for a doctor.
    """

    name: str
    group: str
    unit: str
    words: str


def described(group: str, *entries: tuple[str, str, str]) -> tuple[FeatureDescription, ...]:
    """Return the descriptions of a group from (what, unit, words)."""
    return tuple(
        FeatureDescription(f"{group}.{what}", group, unit, words) for what, unit, words in entries
    )
