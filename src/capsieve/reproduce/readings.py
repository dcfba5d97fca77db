"""What a study gives with each reading of the paper: evaluation, frames to show, robustness."""

from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from capsieve.evaluation.evaluate import evaluate
from capsieve.evaluation.gallery_images import gallery_images
from capsieve.evaluation.labelled_run import LabelledRun, draw_normals
from capsieve.evaluation.results import read_results
from capsieve.evaluation.robustness import Robustness, compare_changes, plan_changes
from capsieve.evaluation.settings import RobustnessSettings
from capsieve.frame_table import NORMAL, POLYP
from capsieve.parameters import PRESETS, Parameters
from capsieve.report.galleries import FrameImages
from capsieve.reproduce.paper_numbers import NORMALS_OF_ROBUSTNESS
from capsieve.reproduce.study import CHANGE, READINGS, Study, setting_name
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.results import Evaluation

_SHORT = 10


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Results of a study with one reading of the paper.

    Attributes
    ----------
    name
        As on the page: "As printed".
    parameters
        With the R_P that the training patient chose.
    evaluation, images
        At this R_P, and the images of its frames.
    robustness
        The changes by 10 %, at this R_P.
    """

    name: str
    parameters: Parameters
    evaluation: Evaluation
    images: FrameImages
    robustness: Robustness


def read_readings(study: Study, stack: ExitStack) -> list[Reading]:
    """Evaluate both screenings, each at the R_P that the training patient chooses for 90 %.

    `stack` closes the sources of the exams.
    """
    given = study.options
    options = EvaluationOptions(
        train_patients=(given.patient,),
        label_format=given.label_format,
        # Frames of two synthetic exams that look alike do so by chance; the page names them.
        allow_leaks=given.allow_leaks or study.is_phantom,
    )
    found = []
    for name, shown in READINGS.items():
        evaluation = evaluate(
            study.results[name], study.labels, options=options, regions=study.regions
        )
        point = evaluation.points[0]
        assert point.key == "chosen"
        assert point.rule is not None
        parameters = replace(PRESETS[name], radius_threshold=int(point.rule.value))
        read = read_results(study.results[name], study.labels, options)
        images = stack.enter_context(gallery_images(read, point.flagged))
        robustness = _robustness(study, name, parameters)
        found.append(Reading(shown, parameters, evaluation, images, robustness))
    return found


def _robustness(study: Study, name: str, parameters: Parameters) -> Robustness:
    """Compare the changes of a reading on all polyp frames and some of the normal ones."""
    truth, given = study.run.frames.truth, study.options
    normals = given.normals or NORMALS_OF_ROBUSTNESS // (_SHORT if given.short else 1)
    drawn = draw_normals(truth == NORMAL, count=normals, seed=given.seed)
    changes = plan_changes(parameters, percents=(CHANGE,))
    wanted = [setting_name(name), *(setting_name(name, c.name) for c in changes if c.parameters)]
    run = _part_of(study, np.flatnonzero((truth == POLYP) | drawn), wanted)
    settings = RobustnessSettings(normals=normals, seed=given.seed, parameters=parameters)
    return compare_changes(run, changes, settings=settings, labels=study.labels)


def _part_of(study: Study, rows: np.ndarray, settings: list[str]) -> LabelledRun:
    """Return some frames of the study with the scores of some settings."""
    run, names = study.run, list(study.settings)
    scores = run.scores[rows][:, [names.index(name) for name in settings]]
    frames = replace(run.frames.take(rows), score=scores[:, 0].astype(np.float64))
    return replace(run, frames=frames, scores=scores, pixel_hash=run.pixel_hash[rows])
