"""Studies: several synthetic exams with a composition that is known beforehand."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from zlib import crc32

from capsieve.errors import ParameterError
from capsieve.phantom.plan import ExamPlan, plan_exam

__all__ = ["DEMO", "PAPER", "Composition", "StudyExam", "StudyPlan", "plan_study"]


@dataclass(frozen=True, slots=True)
class Composition:
    """What one patient's exam holds: normal frames, and the length of each polyp's sequence."""

    normal_frames: int
    sequence_lengths: tuple[int, ...]


PAPER = (
    Composition(422, (18,)),
    Composition(1008, (57, 10)),
    Composition(4666, (7, 11, 11, 2)),
    Composition(8567, (3, 17, 32, 12, 15)),
    Composition(4075, (4, 7, 9, 15)),
)
"""The paper's data set: normal frames per patient (Table III) and the lengths of the 16 sequences,
in the order of Table II. Which patient had which polyp is not told; this split is our own."""

DEMO = (
    Composition(110, (9, 6, 8)),
    Composition(110, (12, 5, 7)),
    Composition(110, (7, 10, 4, 6)),
    Composition(110, (8, 11, 5)),
    Composition(110, (6, 9, 7)),
)
"""Five patients and 16 polyps, small enough for a demonstration."""

_NAMED = {"demo": DEMO, "paper": PAPER}


@dataclass(frozen=True, slots=True)
class StudyExam:
    """One exam of a study: its name, whose it is, its plan, and what it must hold if set."""

    name: str
    patient: str
    plan: ExamPlan
    composition: Composition | None = None


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """A study before it is rendered.

    Attributes
    ----------
    name
        "demo", "paper" or "custom".
    seed
        What everything was drawn from.
    exams
        One per patient.
    """

    name: str
    seed: int
    exams: tuple[StudyExam, ...]


def plan_study(
    name: str = "custom",
    *,
    patients: int | None = None,
    frames: int | None = None,
    polyps: int | None = None,
    seed: int = 0,
    **options: Any,
) -> StudyPlan:
    """Plan a study.

    Parameters
    ----------
    name
        "demo" and "paper" have a fixed composition, see :data:`DEMO` and :data:`PAPER`. For
        "custom", say how many.
    patients, frames, polyps
        Of a custom study: patients, frames per patient, polyps per patient. A polyp may then be
        seen in many frames, in part, or not at all.
    seed
        The same seed gives the same study.
    **options
        Passed on to :func:`~capsieve.phantom.exam.plan_exam`: size, heads, field and so on.

    Raises
    ------
    ParameterError
        An unknown name, or numbers that do not go together.
    """
    given = {"patients": patients, "frames": frames, "polyps": polyps}
    if name in _NAMED:
        for field, value in given.items():
            if value is not None:
                raise ParameterError(field, f"the {name} study has its own; leave it out")
        return _plan(name, seed, _NAMED[name], options)
    if name != "custom":
        raise ParameterError("study", f"must be one of {', '.join(_NAMED)}, custom, not {name!r}")
    for field, value in given.items():
        least = 0 if field == "polyps" else 1
        if value is None or value < least:
            raise ParameterError(field, f"must be {least} or more, not {value}")
    options |= {"frames": frames, "polyps": polyps}
    return _plan(name, seed, [None] * (patients or 0), options)


def _plan(
    name: str, seed: int, contents: Sequence[Composition | None], options: dict[str, Any]
) -> StudyPlan:
    exams = []
    for number, composition in enumerate(contents, 1):
        exam_seed = crc32(f"capsieve study {seed} patient {number}".encode())
        exact = {} if composition is None else asdict(composition)
        plan = plan_exam(exam_seed, **exact, **options)
        exams.append(StudyExam(f"patient-{number}", str(number), plan, composition))
    return StudyPlan(name, seed, tuple(exams))
