"""Rows of Kvasir-Capsule, however they came: a picture's name and a finding."""

from collections.abc import Iterable, Mapping, Sequence

from capsieve.statistics.labels.delimited import EXAMPLES
from capsieve.statistics.labels.findings import Found, findings_draft
from capsieve.statistics.labels.kvasir import (
    FINDINGS,
    LAYOUT,
    WARNINGS,
    picture_name,
    video_and_frame,
)
from capsieve.statistics.labels.label_set import LabelProblem, LabelSet
from capsieve.statistics.labels.settle import settle

__all__ = ["kvasir_labels"]


def kvasir_labels(
    rows: Iterable[tuple[str, str, str]],
    *,
    path: str,
    findings: Mapping[str, tuple[str, str]] = FINDINGS,
    problems: Sequence[LabelProblem] = (),
    warnings: Sequence[str] = (),
) -> LabelSet:
    """Return the labels of Kvasir-Capsule.

    The exam is the video's id, and so is the patient; the frame is the number in the name.

    Parameters
    ----------
    rows
        Where each stands ("line 12"), the picture's file, the finding. Pictures of one
        name are of one frame, whatever their folders.
    path
        Where they were read.
    findings
        What each finding means, from :func:`~capsieve.statistics.labels.findings.meaning`.
    problems, warnings
        What is known already.
    """
    found: list[Found] = []
    nameless: list[str] = []
    strange: list[str] = []
    for where, file, finding in rows:
        name = picture_name(file)
        if not name:
            nameless.append(f"{where}: finding {finding!r}")
            continue
        told = video_and_frame(name)
        if told is None:
            strange.append(f"{where}: {file!r}")
            found.append(Found(where, finding, name, file))
        else:
            video, frame = told
            found.append(Found(where, finding, name, file, video, str(frame), video))
    noted = list(problems)
    if nameless:
        what = "the row names no picture"
        noted.append(LabelProblem(what, len(nameless), tuple(nameless[:EXAMPLES])))
    if strange:
        what = "the name is not VIDEO_FRAME.jpg, so its exam and patient are not known"
        noted.append(LabelProblem(what, len(strange), tuple(strange[:EXAMPLES]), used=True))
    draft = findings_draft(found, findings, problems=noted)
    return settle(draft, layout=LAYOUT, path=path, warnings=(*WARNINGS, *warnings))
