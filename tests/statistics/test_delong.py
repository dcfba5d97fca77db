"""AUCs and their paired difference by formula."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from MLstatkit import Delong_test
from scipy.stats import norm

from capsieve.errors import ParameterError
from capsieve.statistics.delong import delong, delong_auc
from reference import delong as literal

# 43 patients with ovarian cancer: albumin, total protein, K-G score, and whether surgery helped
# (0: it did not); the data of DeLong et al. (1988) as printed in the SAS/STAT User's Guide, The
# LOGISTIC Procedure, "Comparing Receiver Operating Characteristic Curves".
OVARIAN = """
    3.0 5.8 10 0   3.2 6.3  5 1   3.9 6.8  3 1   2.8 4.8  6 0   3.2 5.8  3 1   0.9 4.0  5 0
    2.5 5.7  8 0   1.6 5.6  5 1   3.8 5.7  5 1   3.7 6.7  6 1   3.2 5.4  4 1   3.8 6.6  6 1
    4.1 6.6  5 1   3.6 5.7  5 1   4.3 7.0  4 1   3.6 6.7  4 0   2.3 4.4  6 1   4.2 7.6  4 0
    4.0 6.6  6 0   3.5 5.8  6 1   3.8 6.8  7 1   3.0 4.7  8 0   4.5 7.4  5 1   3.7 7.4  5 1
    3.1 6.6  6 1   4.1 8.2  6 1   4.3 7.0  5 1   4.3 6.5  4 1   3.2 5.1  5 1   2.6 4.7  6 1
    3.3 6.8  6 0   1.7 4.0  7 0   3.7 6.1  5 1   3.3 6.3  7 1   4.2 7.7  6 1   3.5 6.2  5 1
    2.9 5.7  9 0   2.1 4.8  7 1   2.8 6.2  8 0   4.0 7.0  7 1   3.3 5.7  6 1   3.7 6.9  5 1
    3.6 6.6  5 1
"""


@st.composite
def studies(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Two scores with ties, truth and groups; at least two groups with each class."""
    size = draw(st.integers(0, 20))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = np.r_[True, True, False, False, generator.random(size) < 0.4]
    groups = np.r_[0, 1, 1, 2, generator.integers(0, 6, size)]
    levels = draw(st.integers(1, 8))
    a = generator.integers(0, levels + 1, len(truth)).astype(float)
    b = generator.integers(0, levels + 1, len(truth)) + generator.choice([0.0, 0.5])
    return a, b, truth, groups


def grouped_study(generator: np.random.Generator, groups: int, size: int = 30):
    """Two scores of frames that resemble each other within a group; true areas are equal."""
    group = np.repeat(np.arange(groups), size)
    truth = generator.random(len(group)) < 0.3
    shared = generator.normal(size=(3, groups))[:, group]
    a, b = shared[0] + truth + generator.normal(size=(2, len(group))) + 0.5 * shared[1:]
    return a, b, truth, group


def test_the_published_example() -> None:
    albumin, protein, score, surgery = np.array(OVARIAN.split(), dtype=float).reshape(-1, 4).T
    truth = surgery == 1
    first = delong(albumin, 10 - score, truth)
    assert [first.first.value, first.second.value] == pytest.approx([0.7366, 0.7258], abs=5e-5)
    assert first.first.standard_error == pytest.approx(0.0927, abs=5e-5)
    assert first.second.standard_error == pytest.approx(0.1028, abs=5e-5)
    assert first.difference.z**2 == pytest.approx(0.0127, abs=5e-5)
    assert first.difference.p == pytest.approx(0.9102, abs=5e-5)
    second = delong(protein, 10 - score, truth).difference
    assert second.value == pytest.approx(-0.0780, abs=5e-5)
    assert second.standard_error == pytest.approx(0.1046, abs=5e-5)
    interval = second.interval()
    assert [interval.low, interval.high] == pytest.approx([-0.2830, 0.1271], abs=5e-5)
    assert second.p == pytest.approx(0.4561, abs=5e-5)


@pytest.mark.parametrize("seed", range(20))
def test_delong_agrees_with_another_implementation(seed) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 80)
    a, b = (np.round(rng.random(80) + gain * truth, 1) for gain in (0.3, 0.1))  # ties
    z, p, _, _, area_a, area_b, details = Delong_test(truth, a, b)
    assert details["method"] == "delong"
    found = delong(a, b, truth)
    assert [found.first.value, found.second.value] == pytest.approx([area_a, area_b], abs=1e-12)
    assert found.difference.z == pytest.approx(-z, abs=1e-9)  # theirs is b minus a
    assert found.difference.p == pytest.approx(p, abs=1e-12)


@given(studies())
def test_delong_agrees_with_the_formula_pair_by_pair(study) -> None:
    a, b, truth, _ = study
    areas, covariance = literal.delong([a, b], truth)
    found = delong(a, b, truth)
    assert [found.first.value, found.second.value] == pytest.approx(areas.tolist(), abs=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-12)
    contrast = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert found.difference.standard_error**2 == pytest.approx(contrast, abs=1e-12)


@given(studies())
def test_clusters_agree_with_the_formula_pair_by_pair(study) -> None:
    a, b, truth, groups = study
    areas, covariance = literal.obuchowski([a, b], truth, groups)
    found = delong(a, b, truth, groups)
    assert [found.first.value, found.second.value] == pytest.approx(areas.tolist(), abs=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-12)


@given(studies())
def test_clusters_of_one_frame_are_delong(study) -> None:
    a, b, truth, _ = study
    single = delong(a, b, truth, 7 * np.arange(len(a)))
    np.testing.assert_allclose(single.covariance, delong(a, b, truth).covariance, atol=1e-12)


@given(studies(), st.integers(2, 4))
def test_copies_within_a_cluster_do_not_change_the_variance(study, copies: int) -> None:
    a, b, truth, groups = study
    once = delong(a, b, truth, groups)
    often = delong(*(np.repeat(each, copies) for each in study))
    np.testing.assert_allclose(often.covariance, once.covariance, atol=1e-12)


@given(studies())
def test_one_area_is_the_first_of_two(study) -> None:
    a, b, truth, groups = study
    paired = delong(a, b, truth, groups)
    alone = delong_auc(b, truth, groups)
    assert alone.value == pytest.approx(paired.second.value)
    assert alone.standard_error == pytest.approx(paired.second.standard_error)
    assert delong_auc(a, truth).value == pytest.approx(paired.first.value)


def test_a_score_does_not_differ_from_itself() -> None:
    a, _, truth, group = grouped_study(np.random.default_rng(1), 12)
    difference = delong(a, a, truth, group).difference
    assert (difference.value, difference.z, difference.p) == (0.0, 0.0, 1.0)
    assert difference.interval().low is None


def test_the_p_value_is_two_sided() -> None:
    a, b, truth, group = grouped_study(np.random.default_rng(2), 40)
    forth, back = delong(a, b, truth, group), delong(b, a, truth, group)
    assert forth.difference.z == pytest.approx(-back.difference.z)
    assert forth.difference.p == pytest.approx(2 * norm.sf(abs(forth.difference.z)))


@pytest.mark.parametrize("truth", [[True, True], [False, False], []])
def test_without_a_class_there_is_no_area(truth: list[bool]) -> None:
    scores = np.arange(len(truth), dtype=float)
    found = delong(scores, scores, truth)
    assert math.isnan(found.first.value)
    assert math.isnan(found.difference.standard_error)
    assert found.first.interval().low is None


def test_a_class_in_a_single_cluster_has_no_standard_error() -> None:
    found = delong_auc([3.0, 1.0, 2.0, 0.0], [True, True, False, False], [1, 1, 2, 3])
    assert found.value == 0.75
    assert math.isnan(found.standard_error)


def test_few_clusters_give_no_interval() -> None:
    a, b, truth, group = grouped_study(np.random.default_rng(3), 9)
    interval = delong(a, b, truth, group, kind="exam").difference.interval()
    assert interval.low is None
    assert interval.why.startswith("only 9 exams")


def test_unscored_frames_and_other_lengths_are_refused() -> None:
    with pytest.raises(ParameterError, match="NaN"):
        delong([1.0, np.nan], [1.0, 2.0], [True, False])
    with pytest.raises(ParameterError, match="3 for 2"):
        delong([1.0, 2.0, 3.0], [1.0, 2.0], [True, False])
    with pytest.raises(ParameterError, match="one value per frame"):
        delong([1.0, 2.0], [1.0, 2.0], [True, False], [1])


@pytest.mark.slow
def test_clustered_intervals_contain_the_true_value_and_independent_ones_do_not() -> None:
    # Groups of one class each, whose frames share half of the variance: P(X > Y) is Phi(1 / 2).
    generator = np.random.default_rng(4)
    held = {"clustered": 0, "independent": 0}
    studies, groups, size = 1000, 60, 20
    group = np.repeat(np.arange(groups), size)
    truth = group % 2 == 0
    for _ in range(studies):
        score = truth + generator.normal(size=groups)[group] + generator.normal(size=len(group))
        for name, estimate in (
            ("clustered", delong_auc(score, truth, group)),
            ("independent", delong_auc(score, truth)),
        ):
            interval = estimate.interval()
            assert interval.low is not None
            assert interval.high is not None
            held[name] += bool(interval.low <= norm.cdf(0.5) <= interval.high)
    assert 0.92 < held["clustered"] / studies < 0.97
    assert held["independent"] / studies < 0.6


def test_paired_clustered_intervals_contain_the_true_value() -> None:
    generator = np.random.default_rng(5)
    studies = [grouped_study(generator, 40, 20) for _ in range(800)]
    held = sum(abs(delong(*study).difference.z) <= 1.96 for study in studies)
    assert 0.92 < held / len(studies) < 0.975
