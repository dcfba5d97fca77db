"""Kvasir-Capsule: its published findings, and what the names of its pictures tell.

References
----------
P. H. Smedsrud et al., "Kvasir-Capsule, a video capsule endoscopy dataset", Scientific Data 8, 142,
2021; the list of labels is that of its repository.
"""

import re

from capsieve.statistics.labels.findings import meaning

__all__ = ["FINDINGS", "LAYOUT", "SPLIT_FINDINGS", "WARNINGS", "picture_name", "video_and_frame"]

LAYOUT = "Kvasir-Capsule"

FINDINGS = meaning(
    [
        "Ampulla of Vater",
        "Angiectasia",
        "Blood - fresh",
        "Blood - hematin",
        "Erosion",
        "Erythema",
        "Foreign body",
        "Ileocecal valve",
        "Lymphangiectasia",
        "Normal clean mucosa",
        "Polyp",
        "Pylorus",
        "Reduced mucosal view",
        "Ulcer",
    ],
    polyp="Polyp",
    normal="Normal clean mucosa",
)
"""Landmarks and a reduced view are no polyps, yet no plain normal mucosa either: other."""

SPLIT_FINDINGS = FINDINGS | {
    "blood": FINDINGS["blood - fresh"],  # hematin was too rare for the splits
    "erythematous": FINDINGS["erythema"],
    "foreign bodies": FINDINGS["foreign body"],
    "ileo-cecal valve": FINDINGS["ileocecal valve"],
    "normal": FINDINGS["normal clean mucosa"],
}
"""The official split files call five findings otherwise than the list of labels does."""

WARNINGS = (
    "Kvasir-Capsule does not tell its polyps apart: nothing can be said per polyp",
    "each video is taken for one patient; seven videos stand in both official folds, which hold no "
    "polyps, so split by patient instead",
)

_NAME = re.compile(r"([0-9a-f]{16})_([0-9]{1,18})\.(?:jpe?g|png)", re.IGNORECASE)


def picture_name(path: str) -> str:
    r"""Return the last part of a path, with / or \ between its parts."""
    return path.replace("\\", "/").rpartition("/")[2]


def video_and_frame(name: str) -> tuple[str, int] | None:
    """Return the video's id and the frame's number; None where the name does not show them.

    Examples
    --------
    >>> video_and_frame("04a78ef00c5245e0_887.jpg")
    ('04a78ef00c5245e0', 887)
    """
    match = _NAME.fullmatch(name)
    return (match[1].lower(), int(match[2])) if match else None
