"""What broke once is read as before, reported or refused."""

from pathlib import Path

import pytest

from corpus.cases import CASES
from soak.trials import intact_reading, run_trial


@pytest.mark.parametrize("name", CASES)
def test_what_broke_once(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    intact = intact_reading(case.subject, tmp_path)
    outcome = run_trial(case.subject, tmp_path, intact, case.damage)
    assert outcome.found == case.expected, outcome
    assert case.words in outcome.detail
