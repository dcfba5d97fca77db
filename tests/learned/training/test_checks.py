from dataclasses import replace

import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.learned.training.checks import check_examples
from capsieve.statistics.judged import NORMAL, POLYP
from learned.made_examples import made_examples

EXAMPLES = made_examples()
ALL = np.arange(len(EXAMPLES))


def test_good_examples_pass_as_indices() -> None:
    mask = EXAMPLES.group < 6
    np.testing.assert_array_equal(check_examples(EXAMPLES, mask), np.flatnonzero(mask))


def test_frames_without_polyps_are_refused() -> None:
    with pytest.raises(ParameterError, match="no frame shows a polyp"):
        check_examples(EXAMPLES, EXAMPLES.truth != POLYP)


def test_frames_with_polyps_only_are_refused() -> None:
    with pytest.raises(ParameterError, match="every frame shows a polyp"):
        check_examples(EXAMPLES, EXAMPLES.truth == POLYP)


def test_missing_groups_are_refused() -> None:
    group = EXAMPLES.group.copy()
    group[:3] = -1
    with pytest.raises(ParameterError, match="3 of 400 frames name no exam"):
        check_examples(replace(EXAMPLES, group=group), ALL)


def test_polyps_and_negatives_of_different_sources_are_refused() -> None:
    apart = (EXAMPLES.truth == POLYP) | (EXAMPLES.source == 1)
    with pytest.raises(ParameterError, match="no source has both"):
        check_examples(EXAMPLES, apart)


def test_few_frames_are_refused() -> None:
    few = (EXAMPLES.source == 0) & (ALL % 4 == 0)
    with pytest.raises(ParameterError, match=r"80 frames .* at least 100"):
        check_examples(EXAMPLES, few)


def test_few_polyps_are_refused() -> None:
    few = (EXAMPLES.truth == NORMAL) | (EXAMPLES.group < 2)
    with pytest.raises(ParameterError, match=r"4 polyps .* at least 5"):
        check_examples(EXAMPLES, few)


def test_few_groups_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"3 groups .* at least 4"):
        check_examples(EXAMPLES, EXAMPLES.group < 3)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_values_that_are_not_numbers_are_named(wrong: float) -> None:
    values = EXAMPLES.values.copy()
    values[5, 2] = wrong
    with pytest.raises(ParameterError, match=r"value_2$"):
        check_examples(replace(EXAMPLES, values=values), ALL)
