"""A study: its exams and labels, both screenings, and the scores of every other setting.

A folder STUDY has the folders phantom (unless the exams are the user's own), printed and inferred
(results of ``capsieve screen``) and scores (blocks of :mod:`capsieve.evaluation.labelled_run`).
Each of them is continued after a killed run.
"""

import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError, ParameterError, file_errors
from capsieve.evaluation.labelled_run import LabelledRun, score_labelled_frames
from capsieve.evaluation.robustness import plan_changes
from capsieve.evaluation.settings import LabelledRunSettings
from capsieve.frame_table import NORMAL, POLYP, LabelledFrames
from capsieve.labels import LabelSet, read_labels
from capsieve.parameters import PRESETS, Parameters
from capsieve.phantom.plan import PAPER, StudyPlan, plan_exam, plan_study
from capsieve.phantom.write import write_study
from capsieve.report.text import bytes_text
from capsieve.reproduce.options import Composition, ReproduceOptions
from capsieve.screening.screen import screen
from capsieve.screening.settings import Listener, Progress, ScreenSettings
from capsieve.statistics.operating_point import TRAIN, with_training_patients

READINGS = {"printed": "As printed", "inferred": "As inferred"}
"""The presets of the parameters, and their names on the page."""

CHANGE = 10.0
"""Percent, of each parameter of the robustness study."""

STAGES = {
    "rendering": 75.0,
    "scoring with every setting": 10.0,
    "screening as printed": 5.0,
    "screening as inferred": 5.0,
    "evaluating": 5.0,
}
"""The stages in their order with their usual parts of the time, for a progress bar."""

StageListener = Callable[[str, float], None]
"""Takes a stage and its finished fraction."""

_SHORT = 10  # one frame of so many
_BYTES_PER_FRAME = 40_000  # of 512 x 512: the video takes 25,000, results and thumbnails 9,000
_SPARE_BYTES = 100_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """Exams with labels, screened as printed and as inferred, and scored with other settings.

    Attributes
    ----------
    labels, regions
        The labels, and the path of the outlines or None.
    results
        The folders of the screenings, by the names in :data:`READINGS`.
    run
        Scores of all labelled frames with `settings`, in their order.
    settings
        By name: the readings and their variants, then the changes of each reading.
    """

    labels: LabelSet
    regions: Path | None
    results: dict[str, Path]
    run: LabelledRun
    settings: dict[str, Parameters]
    options: ReproduceOptions

    @property
    def is_phantom(self) -> bool:
        """Whether the exams are synthetic."""
        return self.options.exams is None


def make_study(out: Path, options: ReproduceOptions, progress: StageListener) -> Study:
    """Render the phantom unless there are exams, screen twice, and score with all settings."""
    exams, labels, regions = _exams(out, options, progress)
    label_set = read_labels(labels, label_format=options.label_format)
    settings, common = _settings(), {"workers": options.workers, "overwrite": options.overwrite}
    stage = "scoring with every setting"  # first, because it checks the labels
    run = score_labelled_frames(
        exams,
        label_set,
        list(settings.values()),
        out / "scores",
        settings=LabelledRunSettings(label_format=options.label_format, **common),
        check=partial(_check_frames, options.patient),
        progress=_listener(stage, progress),
    )
    progress(stage, 1.0)
    for name in READINGS:
        stage = f"screening as {name}"
        screening = ScreenSettings(parameters=PRESETS[name], **common)
        for exam in screen(
            exams, out / name, settings=screening, progress=_listener(stage, progress)
        ):
            if exam.error is not None:
                raise FileError(f"{exam.name} cannot be screened: {exam.error}") from exam.error
        progress(stage, 1.0)
    results = {name: out / name for name in READINGS}
    return Study(label_set, regions, results, run, settings, options)


def phantom_plan(options: ReproduceOptions) -> StudyPlan:
    """Return the paper's study, or a tenth of it with at least a frame of every polyp."""
    composition = _composition(options)
    if composition is PAPER:
        return plan_study("paper", seed=options.seed)
    one_each = plan_study(
        patients=len(composition), frames=1, polyps=0, seed=options.seed, size=options.size
    )
    exams = [
        replace(
            exam,
            plan=plan_exam(
                exam.plan.seed, sequence_lengths=lengths, normal_frames=normal, size=options.size
            ),
        )
        for exam, (normal, lengths) in zip(one_each.exams, composition, strict=True)
    ]
    return StudyPlan("paper, short", options.seed, tuple(exams))


def setting_name(reading: str, changed: str = "") -> str:
    """Return the name of a reading among the settings, or of the change of one parameter in it."""
    return f"{READINGS[reading]}, {changed} changed" if changed else READINGS[reading]


def variants(study: Study) -> dict[str, NDArray[np.float32]]:
    """Return the scores of the readings and their variants, without those of Table IV."""
    columns = zip(study.settings, study.run.scores.T, strict=True)
    return {name: scores for name, scores in columns if not name.endswith(" changed")}


def _composition(options: ReproduceOptions) -> Composition:
    if options.composition is not None:
        return options.composition
    if not options.short:
        return PAPER
    return tuple((_tenth(normal), tuple(map(_tenth, lengths))) for normal, lengths in PAPER)


def _tenth(frames: int) -> int:
    return math.ceil(frames / _SHORT)


def _exams(
    out: Path, options: ReproduceOptions, progress: StageListener
) -> tuple[Path, Path, Path | None]:
    """Return the exams, the labels and the outlines; render those of the phantom."""
    if options.exams is not None:
        assert options.labels is not None
        return options.exams, options.labels, options.regions
    frames = sum(normal + sum(lengths) for normal, lengths in _composition(options))
    advice = "" if options.short else ", or use --short"
    _check_space(out, frames * (options.size / 512) ** 2, advice)  # before the plan, which is slow
    folder, plan = out / "phantom", phantom_plan(options)
    done = 0

    def advance(_: object, count: int) -> None:
        nonlocal done
        done += count
        progress("rendering", done / frames)

    write_study(
        plan, folder, workers=options.workers, overwrite=options.overwrite, progress=advance
    )
    return folder / "exams", folder / "labels.csv", folder


def _check_space(out: Path, frames: float, advice: str) -> None:
    """Raise FileError unless there is space for the frames that are missing."""
    with file_errors("write", out):
        out.mkdir(parents=True, exist_ok=True)
        there = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
        free = shutil.disk_usage(out).free
    needed = round(_BYTES_PER_FRAME * frames) + _SPARE_BYTES - there
    if free < needed:
        raise FileError(
            f"cannot render the study in {out}: it needs about {bytes_text(needed)}, and "
            f"{bytes_text(free)} are free; free some space or choose another folder{advice}"
        )


def _listener(stage: str, progress: StageListener) -> Listener:
    """Return a listener of exams that reports the finished fraction of a stage."""
    parts: dict[str, float] = {}

    def listen(exam: Progress) -> None:
        parts[exam.exam] = exam.done / max(exam.total, 1)
        progress(stage, sum(parts.values()) / exam.exams)

    return listen


def _check_frames(patient: str, frames: LabelledFrames) -> None:
    """Raise an error unless there are frames of both classes, and normal ones of the patient."""
    for truth, word in ((POLYP, "polyp"), (NORMAL, "normal")):
        if not (frames.truth == truth).any():
            raise FileError(
                f"no frame of the exams is labelled {word}; the study needs both classes"
            )
    try:
        parts = with_training_patients(frames, (patient,)).part
    except ParameterError as error:
        raise ParameterError("train_patient", error.args[1]) from error
    if not (parts.isin([TRAIN]) & (frames.truth == NORMAL)).any():
        raise ParameterError("train_patient", f"{patient!r} has no frame labelled normal")


def _settings() -> dict[str, Parameters]:
    """Return the readings, their variants, and all changes of the robustness study."""
    printed, inferred = PRESETS["printed"], PRESETS["inferred"]
    settings = {
        setting_name("printed"): printed,
        setting_name("inferred"): inferred,
        "As printed, u masked: ball fitted in the component": replace(printed, ball_fit="feature"),
        "Hemisphere, filters cut at 1 \N{GREEK SMALL LETTER SIGMA}": replace(
            printed, ball_fit="hemisphere"
        ),
        "Printed ball, filters cut at 3 \N{GREEK SMALL LETTER SIGMA}": replace(
            printed, stencil=3.0
        ),
        "As printed, vignetting not corrected": replace(printed, vignetting=False),
        "As inferred, vignetting not corrected": replace(inferred, vignetting=False),
    }
    return settings | {
        setting_name(name, change.name): change.parameters
        for name in READINGS
        for change in plan_changes(PRESETS[name], percents=(CHANGE,))
        if change.parameters is not None
    }
