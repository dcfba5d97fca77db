import numpy as np
import onnx
import pytest

from capsieve.errors import FileError
from capsieve.frame_table import NORMAL, POLYP
from capsieve.learned.runtime import Runner
from capsieve.training import classical
from capsieve.training.classical import ClassicalFits
from capsieve.training.folds import Platt, check_rows
from support.made_frames import made_frames, made_values, silent

pytest.importorskip("sklearn", reason="training needs the extra train")
pytest.importorskip("skl2onnx", reason="training needs the extra train")

FRAMES = made_frames()
VALUES = made_values(FRAMES)
ROWS = check_rows(FRAMES, np.arange(len(FRAMES)))
NEW = made_values(FRAMES, seed=1)


def scores(fitted, values, calibration=None):
    fits, graph = fitted
    runner = Runner(graph.SerializeToString(), fits.spec(0.5, calibration))
    inputs = [ClassicalFits(fits.model, FRAMES, values, 0).model_input(row) for row in ROWS]
    return np.array([answer.score for answer in runner.run(inputs)])


@pytest.fixture(scope="module", params=["svm", "forest"])
def fitted(request):
    fits = ClassicalFits(request.param, FRAMES, VALUES, 0)
    return fits, fits.fit(ROWS, silent)


def test_a_model_separates_new_frames_with_and_without_a_polyp(fitted):
    found = scores(fitted, NEW)
    truth = FRAMES.truth[ROWS]
    polyps, normal = found[truth == POLYP], found[truth == NORMAL]
    assert (polyps[:, None] > normal).mean() > 0.8


def test_the_calibration_is_part_of_the_spec(fitted):
    raw = scores(fitted, NEW)
    calibrated = scores(fitted, NEW, calibration=Platt(2.0, 1.0))
    inner = (raw > 1e-4) & (raw < 1 - 1e-4)
    logit = np.log(raw / (1 - raw))[inner]
    assert np.allclose(calibrated[inner], 1 / (1 + np.exp(-(2 * logit + 1))), atol=1e-5)


def test_the_same_frames_and_seed_give_the_same_graph(fitted):
    fits, graph = fitted
    again = fits.fit(ROWS, silent)
    assert again.SerializeToString(deterministic=True) == graph.SerializeToString(
        deterministic=True
    )


def test_the_graph_has_standard_operators_and_one_output(fitted):
    _, graph = fitted
    onnx.checker.check_model(graph)
    assert [each.name for each in graph.graph.input] == ["values"]
    assert [each.name for each in graph.graph.output] == ["scores"]
    assert {node.domain for node in graph.graph.node} <= {"", "ai.onnx.ml"}


def test_a_graph_that_differs_from_the_fitted_model_is_refused(monkeypatch):
    original = classical._prepend_scaling
    monkeypatch.setattr(
        classical,
        "_prepend_scaling",
        lambda model, centre, factor: original(model, centre + 1, factor),
    )
    with pytest.raises(FileError, match="differs"):
        ClassicalFits("svm", FRAMES, VALUES, 0).fit(ROWS, silent)


def test_many_frames_are_drawn_by_weight_and_polyps_are_at_most_half(monkeypatch):
    monkeypatch.setattr(classical, "_SVM_FRAMES", 100)
    drawn = ClassicalFits("svm", FRAMES, VALUES, 0)._drawn(ROWS)
    assert len(drawn) == len(np.unique(drawn)) == 100
    assert (FRAMES.truth[drawn] == POLYP).sum() == 50
    assert (FRAMES.source[drawn] == 0).all()


def test_scaling_ignores_outliers_and_constant_features():
    values = np.random.default_rng(0).normal(5, 2, (1000, 3)).astype(np.float32)
    values[0, 0] = 1e9
    values[:, 1] = 4.0
    values[:, 2] = values[:, 2] > 8
    centre, factor = classical._scaling(values)
    assert centre[0] == pytest.approx(5, abs=0.3)
    assert 1 / factor[0] == pytest.approx(2, abs=0.3)
    assert factor[1] == 0
    assert 1 / factor[2] == pytest.approx(values[:, 2].std(), rel=1e-3)
    assert np.abs(classical._scaled(values, centre, factor)).max() == 3


def test_frames_without_features_are_not_scorable():
    values = VALUES.copy()
    values[4, 2] = np.nan
    assert np.array_equal(np.flatnonzero(~ClassicalFits("svm", FRAMES, values, 0).scorable), [4])
