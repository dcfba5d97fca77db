import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.learned.training.balance import balanced_weights, polyp_weights, usable
from capsieve.statistics.judged import NORMAL, OTHER, POLYP
from learned.made_examples import made_examples

EXAMPLES = made_examples()
ALL = np.arange(len(EXAMPLES))


def test_polyps_and_negatives_weigh_the_same() -> None:
    weights = balanced_weights(EXAMPLES, ALL)
    polyps = weights[EXAMPLES.truth == POLYP].sum()
    assert polyps == pytest.approx(weights[EXAMPLES.truth != POLYP].sum())


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_other_findings_have_their_share(share: float) -> None:
    weights = balanced_weights(EXAMPLES, ALL, other_share=share)
    negatives = weights[EXAMPLES.truth != POLYP].sum()
    assert weights[EXAMPLES.truth == OTHER].sum() == pytest.approx(share * negatives)


def test_without_other_findings_normal_frames_have_all() -> None:
    rows = ALL[EXAMPLES.truth != OTHER]
    weights = balanced_weights(EXAMPLES, rows)
    truth = EXAMPLES.truth[rows]
    assert weights[truth == NORMAL].sum() == pytest.approx(weights[truth == POLYP].sum())


def test_a_polyp_counts_the_root_of_its_frames() -> None:
    weights = polyp_weights(EXAMPLES, ALL)
    single, many = EXAMPLES.polyp == 0, EXAMPLES.polyp == 1
    assert many.sum() == 9
    assert weights[many].sum() == pytest.approx(3 * weights[single].sum())


def test_frames_of_one_polyp_are_counted_among_the_chosen_only() -> None:
    rows = np.flatnonzero(EXAMPLES.polyp == 1)[:4]
    np.testing.assert_allclose(polyp_weights(EXAMPLES, rows), 0.5)


def test_a_source_without_polyps_is_left_out() -> None:
    weights = balanced_weights(EXAMPLES, ALL)
    square = EXAMPLES.source == 1
    assert not weights[square].any()
    assert weights[~square].all()
    np.testing.assert_array_equal(usable(EXAMPLES, ALL), ~square)


def test_weights_have_the_mean_one() -> None:
    weights = balanced_weights(EXAMPLES, ALL)
    assert weights[weights > 0].mean() == pytest.approx(1)


def test_a_mask_chooses_as_indices_do() -> None:
    mask = EXAMPLES.group < 5
    np.testing.assert_array_equal(
        balanced_weights(EXAMPLES, mask), balanced_weights(EXAMPLES, np.flatnonzero(mask))
    )


def test_polyps_without_negatives_of_their_source_are_refused() -> None:
    rows = ALL[(EXAMPLES.truth == POLYP) | (EXAMPLES.source == 1)]
    with pytest.raises(ParameterError, match="no source has both"):
        balanced_weights(EXAMPLES, rows)
