"""The card in a model file."""

import json

import pytest

from capsieve.errors import ParameterError
from capsieve.learned.card import ModelCard
from made_models import CARD


def test_json_round_trip():
    assert ModelCard.from_json(CARD.to_json()) == CARD


def test_its_range_is_what_exams_are_compared_with():
    assert CARD.range.reference == "frames of the phantom"
    assert CARD.range.quantiles["texture"] == (2.0, 9.0)


def test_every_card_says_that_it_is_not_a_medical_device():
    card = ModelCard(name="a", kind="svm", created="", capsieve="", seed=0)
    assert any("not a medical device" in limit for limit in card.limits)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seed": "3"}, "seed"),
        ({"data": [{"name": "a"}]}, "data[0].licence"),
        ({"metrics": [{"source": "a", "what": "b", "value": "high"}]}, "metrics[0].value"),
        ({"quantiles": {"taste": [0, 1]}}, "quantiles.taste"),
        ({"quantiles": {"texture": [2, 1]}}, "quantiles.texture"),
        ({"schema_version": 99, "author": "me"}, "schema_version"),
        ({"author": "me"}, "author"),
    ],
)
def test_an_error_names_its_entry(change, field):
    with pytest.raises(ParameterError) as caught:
        ModelCard.from_json(json.dumps(CARD.to_dict() | change))
    assert caught.value.field == field


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "[" * 5000])
def test_other_texts_are_refused(text):
    with pytest.raises(ParameterError):
        ModelCard.from_json(text)
