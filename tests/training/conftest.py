from pathlib import Path
from typing import NamedTuple

import pytest

from capsieve.screening.screen import screen
from support.training_study import write_study, write_study_labels


class Study(NamedTuple):
    """A study of eight patients, screened with the paper's detector."""

    exams: Path
    results: Path
    labels: Path


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("study")
    exams = write_study(folder / "exams")
    screen(exams, folder / "results", workers=1)
    return Study(exams, folder / "results", write_study_labels(folder / "labels.csv"))
