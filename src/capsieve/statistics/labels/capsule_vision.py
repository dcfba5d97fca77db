"""Capsule Vision 2024: its classes and sources, and what they tell of a picture.

The challenge's training and validation data gather pictures of Kvasir-Capsule, SEE-AI, KID and
AIIMS.

References
----------
P. Handa et al., "Training and Validation Dataset of Capsule Vision 2024 Challenge", Figshare, 2024,
doi:10.6084/m9.figshare.26403469.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from capsieve.statistics.labels.delimited import EXAMPLES
from capsieve.statistics.labels.findings import Found, findings_draft, meaning
from capsieve.statistics.labels.kvasir import video_and_frame
from capsieve.statistics.labels.label_set import LabelProblem, LabelSet
from capsieve.statistics.labels.settle import settle

__all__ = ["CLASSES", "SOURCES", "capsule_vision_labels"]

CLASSES = (
    "Angioectasia",
    "Bleeding",
    "Erosion",
    "Erythema",
    "Foreign Body",
    "Lymphangiectasia",
    "Normal",
    "Polyp",
    "Ulcer",
    "Worms",
)
SOURCES = ("KID", "KVASIR", "SEE-AI", "AIIMS")

_MEANINGS = meaning(CLASSES, polyp="Polyp", normal="Normal")
_SEE_AI = re.compile(r"image([0-9]{1,18})\.(?:jpe?g|png)", re.IGNORECASE)
_WARNINGS = (
    "the validation part of Capsule Vision 2024 shares exams with its training part: split by "
    "patient and by blocks instead",
    "only Kvasir's pictures tell their exam; split SEE-AI by blocks of the running number, which "
    "is no timeline, and never at random",
    "Capsule Vision 2024 does not tell its polyps apart: nothing can be said per polyp",
)


def capsule_vision_labels(
    pictures: Iterable[tuple[str, str, str]],
    *,
    path: str,
    problems: Sequence[LabelProblem] = (),
) -> LabelSet:
    """Return the labels of Capsule Vision 2024.

    Parameters
    ----------
    pictures
        Where each stands ("row 12"), its path (training/CLASS/SOURCE/NAME.jpg), its class.
    path
        Where they were read.
    problems
        What was not clear already.
    """
    found: list[Found] = []
    strange: list[str] = []
    parts: defaultdict[str, set[str]] = defaultdict(set)
    for where, file, finding in pictures:
        pieces = file.split("/")
        if len(pieces) < 4 or pieces[-2] not in SOURCES:
            strange.append(f"{where}: {file!r}")
            continue
        row = _found(where, file, finding)
        found.append(row)
        if row.same != file:
            parts[str(row.same)].add(pieces[-4])
    noted = list(problems)
    if strange:
        what = f"the path is not PART/CLASS/SOURCE/NAME.jpg with a source of {', '.join(SOURCES)}"
        noted.append(LabelProblem(what, len(strange), tuple(strange[:EXAMPLES])))
    both = [same for same, names in parts.items() if len(names) > 1]
    if both:
        what = "the frame stands in the training and in the validation part"
        noted.append(LabelProblem(what, len(both), tuple(both[:EXAMPLES]), used=True))
    draft = findings_draft(found, _MEANINGS, problems=noted)
    return settle(draft, layout="Capsule Vision 2024", path=path, warnings=_WARNINGS)


def _found(where: str, file: str, finding: str) -> Found:
    """Return what a path tells; nothing is read into names that do not show it for certain."""
    source, name = file.split("/")[-2:]
    # Names of KID and AIIMS are not known to be unique: each of their files is its own frame.
    if source == "KVASIR" and (told := video_and_frame(name)) is not None:
        video, frame = told
        return Found(where, finding, f"{source}/{name}", file, None, str(frame), video)
    if source == "SEE-AI" and (number := _SEE_AI.fullmatch(name)) is not None:
        return Found(where, finding, f"{source}/{name}", file, None, str(int(number[1])))
    return Found(where, finding, file, file)
