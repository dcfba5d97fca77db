"""Types of the results."""

import string

import pytest

from capsieve.errors import ParameterError
from capsieve.result_table import Table
from capsieve.statistics.definitions import DEFINITIONS
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.results import Evaluation, make_metric
from support.labelled_frames import labelled_frames


def evaluation(metrics=(), tables=()):
    return Evaluation(
        results="",
        labels="",
        options=EvaluationOptions(),
        settings={},
        detector={},
        parameters={},
        frames=labelled_frames([1.0] * 50_000),
        points=(),
        metrics=metrics,
        tables=tables,
    )


@pytest.mark.parametrize("key", DEFINITIONS)
def test_every_definition_is_filled_with_the_words_of_the_evaluation(key):
    frames = labelled_frames([], [], polyp_word="run")
    metric = make_metric(key, 0.5, frames, EvaluationOptions(specificity=92.5))
    for text in (metric.name, metric.text):
        assert text
        assert "{" not in text
        assert text[0] in string.ascii_uppercase
    assert "polyps" not in metric.name
    assert metric.unit in ("share", "area", "frames", "events")


def test_the_target_is_named_in_percent():
    metric = make_metric(
        "frames.sensitivity_at_target",
        0.5,
        labelled_frames([]),
        EvaluationOptions(specificity=92.5),
    )
    assert "92.5 %" in metric.name


@pytest.mark.parametrize("percent", [90, 92.3, 99.9, 7, 100])
def test_the_target_share_has_the_decimals_of_the_percentage(percent):
    expected = {90: 0.9, 92.3: 0.923, 99.9: 0.999, 7: 0.07, 100: 1.0}
    assert EvaluationOptions(specificity=percent).target == expected[percent]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("specificity", 0),
        ("specificity", 0.9),  # a proportion is not accepted as percent
        ("train_patients", "12"),
        ("specificity", 101),
        ("threshold", float("nan")),
        ("bootstrap_samples", 99),
        ("bootstrap_samples", 10**9),
        ("seed", -1),
        ("read", "200%"),
        ("read", "0"),
        ("read", "0.1"),
        ("read", "0%"),
        ("read", "ten"),
    ],
)
def test_options_out_of_bounds_are_refused_by_name(field, value):
    with pytest.raises(ParameterError) as error:
        EvaluationOptions(**{field: value})
    assert error.value.field == field


def test_a_threshold_and_a_reading_list_exclude_each_other():
    with pytest.raises(ParameterError, match="read"):
        EvaluationOptions(read="10%", threshold=1.0)


def test_an_unknown_metric_or_table_is_named_with_those_that_exist():
    metric = make_metric("frames.auc", 0.5, labelled_frames([]), EvaluationOptions())
    found = evaluation((metric,), (Table("sequences", "", (), ()),))
    assert found.metric("frames.auc").value == 0.5
    with pytest.raises(KeyError, match=r"no metric 'auc'.*frames\.auc"):
        found.metric("auc")
    with pytest.raises(KeyError, match=r"no table 'roc'.*sequences"):
        found.table("roc")


def test_the_text_of_an_evaluation_is_short():
    assert len(repr(evaluation())) < 200
