"""Labels matched with frames one by one, with lists and dictionaries."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["file_place", "frame_labels"]


def file_place(path: str, exam: str | None, frames: Sequence[tuple[str, str]]) -> int | None:
    """Return the one frame (exam, file) that a path fits best; None for none or several."""
    wanted = path.split("/")
    rights: dict[int, int] = {}
    for place, (its_exam, file) in enumerate(frames):
        if exam is not None and its_exam != exam:
            continue
        inner = file.split("/")
        whole = [its_exam, *inner]
        is_ending = (
            wanted == whole[len(whole) - len(wanted) :] if len(wanted) <= len(whole) else False
        )
        has_ending = (
            inner == wanted[len(wanted) - len(inner) :] if len(inner) <= len(wanted) else False
        )
        if is_ending or has_ending:
            agreeing = 0
            for one, other in zip(reversed(wanted), reversed(whole), strict=False):
                if one != other:
                    break
                agreeing += 1
            rights[place] = agreeing
    best = [place for place, right in rights.items() if right == max(rights.values())]
    return best[0] if len(best) == 1 else None


def frame_labels(
    frames: Sequence[tuple[str, int, int]], rows: Sequence[Mapping[str, Any]]
) -> tuple[list[str | None], int, int, int]:
    """Return each frame's label, and how many rows fit no frame, repeat, contradict."""
    heads: dict[str, set[int]] = {}
    for exam, head, _ in frames:
        heads.setdefault(exam, set()).add(head)
    told: dict[tuple[str, int | None, int], list[str]] = {key: [] for key in frames}
    lost = 0
    for row in rows:
        head = row["head"]
        if head is None and len(heads.get(row["exam"], ())) == 1:
            (head,) = heads[row["exam"]]
        key = (row["exam"], head, row["frame"])
        if key in told:
            told[key].append(row["label"])
        else:
            lost += 1
    labels = [words[0] if len(set(words)) == 1 else None for words in told.values()]
    repeated = sum(len(words) - 1 for words in told.values() if len(set(words)) == 1)
    contrary = sum(len(words) for words in told.values() if len(set(words)) > 1)
    return labels, lost, repeated, contrary
