from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from capsieve.errors import FileError, ParameterError
from capsieve.frame_table import NORMAL, OTHER, POLYP, Coded
from capsieve.training.folds import (
    OTHER_SHARE,
    balanced_weights,
    calibrate_logits,
    check_rows,
    fit_platt,
    learnable,
    out_of_fold_logits,
)
from capsieve.training.store import Store
from support.made_frames import made_frames, silent

FRAMES = made_frames()
ALL = np.arange(len(FRAMES))
EVERY = np.ones(len(FRAMES), np.bool_)


def changed(**columns):
    return replace(FRAMES, labelled=replace(FRAMES.labelled, **columns))


def run(
    folder,
    *,
    frames=FRAMES,
    fit=lambda rows, progress: rows,
    score=None,
    scorable=EVERY,
    **options,
):
    """Cross-fit with the training rows as the model."""
    score = score or (lambda rows, held: held.astype(float))
    store = Store(folder, "fits", [])
    return out_of_fold_logits(frames, scorable, fit, score, store=store, progress=silent, **options)


def fold_file(folder, number):
    (path,) = folder.glob(f"fits-*/fold-{number}.npy")
    return path


def test_sources_without_polyps_are_not_learned_from():
    assert np.array_equal(learnable(FRAMES, ALL), FRAMES.source == 0)


def test_a_source_without_negatives_is_not_learned_from():
    polyps = ALL[FRAMES.truth == POLYP]
    assert not learnable(FRAMES, polyps).any()


def test_polyps_and_negatives_of_a_source_weigh_the_same():
    weights = balanced_weights(FRAMES, ALL)
    total = {code: weights[FRAMES.truth == code].sum() for code in (POLYP, NORMAL, OTHER)}
    assert total[POLYP] == pytest.approx(total[NORMAL] + total[OTHER])
    assert total[OTHER] == pytest.approx(OTHER_SHARE * total[POLYP])
    assert weights[FRAMES.source == 0].mean() == pytest.approx(1)
    assert not weights[FRAMES.source == 1].any()


def test_n_frames_of_a_polyp_weigh_the_square_root_of_n():
    weights = balanced_weights(FRAMES, ALL)
    by_polyp = np.bincount(
        FRAMES.labelled.polyp.code[FRAMES.labelled.polyp.code >= 0],
        weights[FRAMES.labelled.polyp.code >= 0],
    )
    assert by_polyp[1] == pytest.approx(np.sqrt(9) * by_polyp[0])


def test_a_source_with_other_findings_only_gives_them_all_the_weight():
    rows = ALL[(FRAMES.source == 0) & (FRAMES.truth != NORMAL)]
    weights, truth = balanced_weights(FRAMES, rows), FRAMES.truth[rows]
    assert weights[truth == OTHER].sum() == pytest.approx(weights[truth == POLYP].sum())


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (ALL[FRAMES.source == 1], "no source has both"),
        (ALL[FRAMES.labelled.group.code == 0], "40 frames"),
        (ALL[np.isin(FRAMES.labelled.group.code, (0, 1, 2))], "3 groups"),
    ],
)
def test_too_little_to_learn_from_is_refused(rows, words):
    with pytest.raises(ParameterError, match=words):
        check_rows(FRAMES, rows)


def test_no_fit_sees_a_group_that_it_scores(tmp_path):
    seen = []

    def score(rows, held):
        seen.append((rows, held))
        return np.zeros(len(held))

    # Even if the user allowed folds that share a group.
    fold = FRAMES.fold.copy()
    fold[(FRAMES.labelled.group.code == 1) & (FRAMES.labelled.frame == 39)] = 0
    run(tmp_path, frames=changed(part=Coded(FRAMES.labelled.part.names, fold)), score=score)
    assert len(seen) == 5
    for rows, held in seen:
        assert not set(FRAMES.labelled.group.code[rows]) & set(FRAMES.labelled.group.code[held])


def test_a_source_without_polyps_is_scored_but_never_learned_from(tmp_path):
    learned = []
    logits = run(tmp_path, fit=lambda rows, progress: learned.append(rows))
    assert np.isfinite(logits[FRAMES.source == 1]).all()
    assert all((FRAMES.source[rows] == 0).all() for rows in learned)


def test_finished_folds_are_not_fitted_again(tmp_path):
    first = run(tmp_path)
    fold_file(tmp_path, 2).unlink()
    fitted = []
    again = run(tmp_path, fit=lambda rows, progress: fitted.append(rows))
    assert len(fitted) == 1
    assert np.array_equal(first, again)


def test_a_damaged_fold_is_fitted_again(tmp_path):
    first, path = run(tmp_path), fold_file(tmp_path, 1)
    path.write_bytes(path.read_bytes()[:-40])
    assert np.array_equal(run(tmp_path), first)


def test_frames_that_cannot_be_scored_are_not_learned_from_and_get_no_logit(tmp_path):
    scorable = FRAMES.labelled.frame != 3
    learned = []
    logits = run(tmp_path, scorable=scorable, fit=lambda rows, progress: learned.append(rows))
    assert np.array_equal(np.isfinite(logits), scorable)
    assert all(scorable[rows].all() for rows in learned)


def test_a_model_without_a_number_is_refused(tmp_path):
    with pytest.raises(FileError, match="no number"):
        run(tmp_path, score=lambda rows, held: np.full(len(held), np.nan))
    assert not list(tmp_path.rglob("*.npy"))


def test_the_probabilities_of_a_fold_do_not_depend_on_its_own_labels():
    rng = np.random.default_rng(1)
    logits = rng.normal(size=len(FRAMES)) + (FRAMES.truth == POLYP)
    truth, here = FRAMES.truth.copy(), FRAMES.fold == 2
    swapped = np.where(truth == POLYP, NORMAL, np.where(truth == NORMAL, POLYP, truth))
    truth[here & (FRAMES.source == 0)] = swapped[here & (FRAMES.source == 0)]
    one = calibrate_logits(FRAMES, logits).probability
    other = calibrate_logits(changed(truth=truth), logits).probability
    assert np.array_equal(one[here], other[here])
    assert not np.array_equal(one[~here], other[~here])


def test_frames_without_a_logit_get_no_probability():
    logits = np.random.default_rng(1).normal(size=len(FRAMES))
    logits[::7] = np.nan
    found = calibrate_logits(FRAMES, logits)
    assert np.array_equal(np.isnan(found.probability), np.isnan(logits))
    assert found.probability[~np.isnan(logits)].min() > 0


def test_platt_recovers_the_curve_that_frames_were_drawn_from():
    rng = np.random.default_rng(0)
    logits = rng.normal(3, 5, 50_000)
    polyp = rng.random(50_000) < expit(0.7 * logits - 1.2)
    slope, intercept = fit_platt(logits, polyp)
    assert slope == pytest.approx(0.7, abs=0.03)
    assert intercept == pytest.approx(-1.2, abs=0.06)


def test_platt_is_at_the_minimum_of_its_loss():
    rng = np.random.default_rng(3)
    z, polyp, w = rng.normal(size=200), rng.random(200) < 0.4, rng.random(200)
    slope, intercept = fit_platt(z + 2.0 * polyp, polyp, w)
    z = z + 2.0 * polyp
    count = polyp.sum()
    targets = np.where(polyp, (count + 1) / (count + 2), 1 / (200 - count + 2))
    error = w * (expit(slope * z + intercept) - targets)
    assert abs(error.sum()) < 1e-5
    assert abs(error @ z) < 1e-5


def test_platt_keeps_the_order_of_frames_even_if_the_logits_are_wrong():
    logits = np.linspace(-1, 1, 100)
    assert fit_platt(logits, logits < 0).slope > 0


def test_platt_is_finite_if_the_classes_do_not_overlap_or_all_logits_are_equal():
    logits = np.linspace(-1, 1, 100)
    for given in (logits, np.zeros(100)):
        assert np.isfinite(fit_platt(given, logits > 0)).all()


@pytest.mark.parametrize(
    ("logits", "polyp"), [([0.0, 1.0], [True, True]), ([0.0, np.nan], [True, False])]
)
def test_platt_refuses_one_class_and_missing_logits(logits, polyp):
    with pytest.raises(ParameterError):
        fit_platt(logits, polyp)


def test_windows_are_scored_by_the_fit_that_saw_nothing_of_their_fold(tmp_path):
    window_fold = np.repeat(np.arange(5), 4)
    fitted = []

    def fit(rows, progress):
        fitted.append(rows)
        return rows

    def score(model, held):
        assert not np.isin(held, model).any()
        return held.astype(float)

    logits = run(tmp_path, fit=fit, score=score, window_fold=window_fold)
    assert np.array_equal(logits, np.arange(len(FRAMES) + 20))
    for code, rows in enumerate(fitted):
        of_windows = rows[rows >= len(FRAMES)] - len(FRAMES)
        assert np.array_equal(of_windows, np.flatnonzero(window_fold != code))
