from pathlib import Path

import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.learned.training.evidence import EvidenceTrainer
from learned.made_examples import made_examples
from learned.training.running import run_part

EXAMPLES = made_examples()
ALL = np.arange(len(EXAMPLES))


def quiet(what: str, done: int, of: int) -> None:
    pass


def test_evidence_keeps_the_order_of_its_column(tmp_path: Path) -> None:
    model = EvidenceTrainer("value_1").fit(EXAMPLES, ALL, seed=0, folder=tmp_path, tell=quiet)
    logits = model.logits(EXAMPLES, ALL)
    order = np.argsort(EXAMPLES.values[:, 1])
    assert (np.diff(logits[order]) >= 0).all()
    np.testing.assert_allclose(run_part(model.graph("e_"), EXAMPLES.values), logits, atol=1e-5)


def test_an_unknown_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="radius_max"):
        EvidenceTrainer("radius_max").fit(EXAMPLES, ALL, seed=0, folder=tmp_path, tell=quiet)
