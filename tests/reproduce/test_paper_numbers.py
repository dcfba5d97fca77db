"""The numbers of the paper agree with each other."""

import pytest

from capsieve.evaluation.robustness import PARAMETERS
from capsieve.phantom.plan import PAPER
from capsieve.reproduce import paper_numbers as paper


def test_the_phantom_has_the_frames_of_the_paper():
    assert tuple(normal for normal, _ in PAPER) == tuple(row[0] for row in paper.FALSE_POSITIVES)
    assert tuple(length for _, lengths in PAPER for length in lengths) == paper.SEQUENCES


def test_the_sums_are_those_that_the_paper_prints():
    assert sum(paper.SEQUENCES) == 230
    assert sum(paper.SEQUENCES_FOUND) == 13
    assert sum(row[0] for row in paper.FALSE_POSITIVES) == 18738
    assert sum(row[1] for row in paper.FALSE_POSITIVES) == 1837


def test_the_rates_of_patients_are_cut_off():
    for normal, false, rate in paper.FALSE_POSITIVES:
        cut = 1000 * false // normal
        assert rate == f"{cut // 10}.{cut % 10} %"


def test_every_change_follows_from_the_printed_percentages():
    assert tuple(paper.CHANGED) == PARAMETERS
    for row in paper.CHANGED.values():
        for value, base, change in zip(row.shares, paper.BASE.shares, row.changes, strict=True):
            assert 100 * abs(value - base) / base == pytest.approx(change, abs=0.02)
