import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from capsieve.report.evaluation.metrics_file import write_metrics
from capsieve.statistics.curves import RocCurve
from capsieve.statistics.metric import Metric
from support.made_evaluation import made_evaluation


def refuse(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def written(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    write_metrics(made_evaluation(**changes), tmp_path / "metrics.json")
    return read(tmp_path / "metrics.json")


def test_every_number_has_value_counts_definition_and_intervals(tmp_path: Path) -> None:
    content = written(tmp_path)
    assert content["schema"] == 1
    found = {metric["key"]: metric for metric in content["metrics"]}
    per_polyp = found["polyps.all.sensitivity"]
    assert (per_polyp["numerator"], per_polyp["denominator"]) == (13, 16)
    assert per_polyp["value"] == 0.8125
    assert per_polyp["unit"] == "share"
    assert per_polyp["definition"]
    none, wilson = per_polyp["intervals"]
    assert none["low"] is None
    assert "too few" in none["why"]
    assert (wilson["method"], wilson["level"], wilson["units"]) == ("Wilson", 0.95, 16)
    # R, binom::binom.wilson(13, 16): 0.5699112, 0.9340842
    assert wilson["low"] == pytest.approx(0.5699112, abs=1e-6)
    assert wilson["high"] == pytest.approx(0.9340842, abs=1e-6)


def test_what_was_not_clear_is_named(tmp_path: Path) -> None:
    content = written(tmp_path, leaks=("patient 3 is in both parts",))
    assert content["leaks"] == ["patient 3 is in both parts"]
    assert content["problems"][0]["rows"] == 3
    assert content["points"][0]["threshold"] == 37.0
    assert content["warnings"]


def test_infinite_and_undefined_become_null(tmp_path: Path) -> None:
    metrics = (Metric("a", "A", float("nan"), "d"), Metric("b", "B", float("inf"), "d", "score"))
    settings = {"path": Path("x"), "size": np.float64("nan"), "list": (np.int64(3), {"b", "a"})}
    content = written(tmp_path, metrics=metrics, settings=settings)
    assert [metric["value"] for metric in content["metrics"]] == [None, None]
    assert content["settings"] == {"path": "x", "size": None, "list": [3, ["a", "b"]]}
    assert content["curves"]["roc_frames"]["points"]["thresholds"][0] is None


def test_the_same_evaluation_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_metrics(made_evaluation(), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_long_curve_is_thinned_and_says_so(tmp_path: Path) -> None:
    x = np.linspace(0, 1, 20_001)
    thresholds = np.concatenate([[np.inf], np.linspace(60, 1, 20_000)])
    content = written(tmp_path, roc_frames=RocCurve(thresholds, x, np.sqrt(x), 1000, 20_000))
    curve = content["curves"]["roc_frames"]
    assert curve["points_in_all"] == 20_001
    assert curve["points_shown"] <= 502  # 500 and two operating points
    assert curve["thinned"]
    points = curve["points"]
    assert len(points["thresholds"]) == curve["points_shown"]
    rate = np.interp(x, points["false_positive_rate"], points["true_positive_rate"])
    assert np.abs(rate - np.sqrt(x)).max() < 0.002
    last = max(t for t in points["thresholds"] if t is not None and t >= 37)
    at_37 = min(t for t in points["thresholds"] if t is not None and t >= 37)
    assert last >= at_37
    assert at_37 == min(t for t in thresholds if t >= 37)


def test_absent_parts_are_absent(tmp_path: Path) -> None:
    names = ("roc_frames", "roc_polyps", "effort", "alarms", "froc", "comparison")
    content = written(tmp_path, **dict.fromkeys(names), histograms=())
    assert content["curves"] == {}
    assert content["comparison"] is None


def test_texts_that_are_no_unicode_do_not_stop_it(tmp_path: Path) -> None:
    evaluation = replace(made_evaluation(), labels="caf\udce9.csv")
    write_metrics(evaluation, tmp_path / "metrics.json")
    assert read(tmp_path / "metrics.json")["labels"] == "caf?.csv"
