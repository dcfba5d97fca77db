"""The classifiers that the paper names, on features of the frame: svm and forest.

Both are fitted by scikit-learn and exported by skl2onnx: the bare estimator, because wrappers for
calibration convert to wrong probabilities without an error. Platt's two numbers are in the spec of
the model.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frame_table import POLYP
from capsieve.learned.features import NAMES, VERSION
from capsieve.learned.runtime import ModelInput
from capsieve.learned.spec import ModelSpec, Output, ValuesInput
from capsieve.processes import ignored_warnings
from capsieve.training.data import FrameSet
from capsieve.training.folds import Platt, Rows, StepListener, balanced_weights

if TYPE_CHECKING:
    from onnx import ModelProto

_SVM_FRAMES = 3000
"""Frames that a support vector machine learns from at most: nearly all become support vectors."""
_SVM_BYTES = 2_500_000  # of the support vectors
_SVM_COST = 0.3  # low, because frames of few exams mislead
_LIMIT = 3.0  # scaled features are cut off at this number of standard deviations
_QUARTILES_APART = 1.3489795  # of a normal distribution with standard deviation 1
_TREES, _LEAF_SHARE, _FEATURE_SHARE = 200, 0.005, 0.3
_OPSET = {"": 18, "ai.onnx.ml": 3}
_TOLERANCE = 1e-4  # between the graph and the fitted model


@dataclass(frozen=True, slots=True, eq=False)
class ClassicalFits:
    """Fits on the same frames.

    The forest is made of extremely randomised trees [1]_; a leaf holds a share of the whole weight,
    so that no exam has a leaf of its own. The support vector machine [2]_ has radial basis
    functions on scaled features.

    Attributes
    ----------
    model
        "svm" or "forest".
    frames, values
        All frames, and their features.
    seed
        The same seed gives the same model.

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63,
       3-42, 2006.
    .. [2] C. Cortes, V. Vapnik, "Support-vector networks", Machine Learning 20, 273-297, 1995.
    """

    model: Literal["svm", "forest"]
    frames: FrameSet
    values: NDArray[np.float32]
    seed: int

    @property
    def description(self) -> str:
        """The settings, for the card."""
        if self.model == "svm":
            return f"SVC(C={_SVM_COST}, gamma=1/features), at most {_SVM_FRAMES} frames"
        return (
            f"ExtraTreesClassifier({_TREES}, min_weight_fraction_leaf={_LEAF_SHARE}, "
            f"max_features={_FEATURE_SHARE})"
        )

    @property
    def scorable(self) -> NDArray[np.bool_]:
        """Frames that could be measured."""
        return np.asarray(np.isfinite(self.values).all(axis=1))

    def model_input(self, row: int) -> ModelInput:
        """Return a frame as the graph takes it."""
        return ModelInput(None, self.values[row])

    def spec(self, threshold: float, calibration: Platt | None) -> ModelSpec:
        """Return how the graph is run."""
        kind = "logit" if self.model == "svm" else "probability"
        return ModelSpec(
            threshold=threshold,
            output=Output(name="scores", kind=kind, class_index=1, calibration=calibration),
            values=ValuesInput(input="values", names=NAMES, version=VERSION),
        )

    def fit(self, rows: Rows, progress: StepListener) -> "ModelProto":
        """Return the graph of a model that learned from the rows.

        The input is "values" (N x features). The output "scores" (N x 2) has the signed distance
        from the boundary (svm) or the mean share of polyps in the leaves (forest) in its second
        column.

        Raises
        ------
        FileError
            The graph gives other numbers than the fitted model.
        """
        from threadpoolctl import threadpool_limits

        progress("fitting", 0, 1)
        fit = self._svm if self.model == "svm" else self._forest
        # Sums that several threads share are rounded differently on another number of cores.
        outdated = ignored_warnings(category=FutureWarning)  # of skl2onnx with a new scikit-learn
        with threadpool_limits(limits=1), outdated:
            graph, expected = fit(rows)
        self._compare(graph, rows, expected)
        progress("fitting", 1, 1)
        return graph

    def _svm(self, rows: Rows) -> "tuple[ModelProto, NDArray[np.float64]]":
        from sklearn.svm import SVC

        centre, factor = _scaling(self.values[rows])
        drawn = self._drawn(rows)
        scaled = _scaled(self.values, centre, factor)
        gamma = 1 / max(int(np.count_nonzero(factor)), 1)
        model = SVC(C=_SVM_COST, gamma=gamma)  # pyright: ignore[reportArgumentType]
        weights = balanced_weights(self.frames, drawn)
        model.fit(scaled[drawn], self._polyp(drawn), sample_weight=weights)
        graph = _graph(model, self.values.shape[1], raw_scores=True)
        _prepend_scaling(graph, centre, factor)
        return graph, model.decision_function(scaled[rows])

    def _forest(self, rows: Rows) -> "tuple[ModelProto, NDArray[np.float64]]":
        from sklearn.ensemble import ExtraTreesClassifier

        model = ExtraTreesClassifier(
            n_estimators=_TREES,
            min_weight_fraction_leaf=_LEAF_SHARE,
            max_features=_FEATURE_SHARE,  # pyright: ignore[reportArgumentType]
            n_jobs=1,
            random_state=self.seed,
        )
        weights = balanced_weights(self.frames, rows)
        model.fit(self.values[rows], self._polyp(rows), sample_weight=weights)
        graph = _graph(model, self.values.shape[1], raw_scores=False)
        return graph, np.asarray(model.predict_proba(self.values[rows]))[:, 1]

    def _polyp(self, rows: Rows) -> NDArray[np.bool_]:
        return self.frames.truth[rows] == POLYP

    def _drawn(self, rows: Rows) -> Rows:
        """Return at most :data:`_SVM_FRAMES` rows, drawn by weight; polyps at most half of them."""
        most = min(_SVM_FRAMES, _SVM_BYTES // (4 * self.values.shape[1]))
        if len(rows) <= most:
            return rows
        weights, polyp = balanced_weights(self.frames, rows), self._polyp(rows)
        rng = np.random.default_rng(self.seed)
        polyps = min(int(polyp.sum()), most // 2)
        negatives = min(int((~polyp).sum()), most - polyps)
        polyps = min(int(polyp.sum()), most - negatives)
        drawn = [
            rng.choice(rows[kind], size, replace=False, p=weights[kind] / weights[kind].sum())
            for kind, size in ((polyp, polyps), (~polyp, negatives))
        ]
        return np.sort(np.concatenate(drawn))

    def _compare(self, graph: "ModelProto", rows: Rows, expected: NDArray[np.float64]) -> None:
        """Raise if the graph gives other numbers than the fitted model."""
        import onnxruntime

        session = onnxruntime.InferenceSession(
            graph.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        (scores,) = session.run(["scores"], {"values": self.values[rows]})
        worst = float(np.abs(np.asarray(scores)[:, 1] - expected).max())
        if not worst <= _TOLERANCE:
            raise FileError(
                f"the exported {self.model} differs from the fitted one by {worst:.3g}; use "
                "another version of skl2onnx"
            )


def _scaling(values: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the median of each feature, and 1 over its standard deviation from the quartiles.

    If the quartiles coincide, as for a feature that is 0 in most frames, the standard deviation
    itself is used. The factor of a constant feature is 0.
    """
    exact = values.astype(np.float64)
    low, centre, high = np.quantile(exact, [0.25, 0.5, 0.75], axis=0)
    spread = (high - low) / _QUARTILES_APART
    spread = np.where(spread > 0, spread, exact.std(axis=0))
    varies = spread > 1e-7 * np.abs(centre)  # rounding alone is not a spread
    factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=varies & (spread > 0))
    factor = np.minimum(factor, float(np.finfo(np.float32).max))
    return centre.astype(np.float32), factor.astype(np.float32)


def _scaled(
    values: NDArray[np.float32], centre: NDArray[np.float32], factor: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return scaled features, computed in single precision as the graph does it."""
    limit = np.float32(_LIMIT)
    return np.clip((values - centre) * factor, -limit, limit)


def _graph(model: Any, features: int, *, raw_scores: bool) -> "ModelProto":
    """Return the graph of an estimator, with the input "values" and the output "scores" alone."""
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    graph: Any = convert_sklearn(
        model,
        name="capsieve",  # otherwise it is random
        initial_types=[("values", FloatTensorType([None, features]))],
        options={id(model): {"raw_scores": raw_scores, "zipmap": False}},
        target_opset=_OPSET,
    )
    (scores,) = (each for each in graph.graph.output if each.name == "probabilities")
    for node in graph.graph.node:
        node.output[:] = ["scores" if name == scores.name else name for name in node.output]
    scores.name = "scores"
    kept = [each for each in graph.graph.output if each.name == "scores"]
    del graph.graph.output[:]  # the label: thresholds are not part of the graph
    graph.graph.output.extend(kept)
    return graph


def _prepend_scaling(
    model: "ModelProto", centre: NDArray[np.float32], factor: NDArray[np.float32]
) -> None:
    """Have the graph scale its input as :func:`_scaled` does."""
    from onnx import helper, numpy_helper

    graph = model.graph
    for node in graph.node:
        node.input[:] = ["scaled" if name == "values" else name for name in node.input]
    constants = {
        "centre": centre,
        "factor": factor,
        "low": np.array(-_LIMIT, np.float32),
        "high": np.array(_LIMIT, np.float32),
    }
    graph.initializer.extend(numpy_helper.from_array(of, name) for name, of in constants.items())
    nodes = [
        helper.make_node("Sub", ["values", "centre"], ["centred"]),
        helper.make_node("Mul", ["centred", "factor"], ["unlimited"]),
        helper.make_node("Clip", ["unlimited", "low", "high"], ["scaled"]),
        *graph.node,
    ]
    del graph.node[:]
    graph.node.extend(nodes)
