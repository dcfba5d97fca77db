"""Nouns and counts in texts."""


def plural(noun: str) -> str:
    """Return "patients" for "patient", "patients or blocks" for "patient or block"."""
    return " or ".join(f"{word}s" for word in noun.split(" or "))


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun: "1 frame", "2,000 frames"."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"
