"""The card inside a model file."""

import json

import pytest

from capsieve.errors import ParameterError
from capsieve.learned.card import CARD_SCHEMA, ModelCard
from made_models import CARD


def test_a_card_reads_back():
    assert ModelCard.from_json(CARD.to_json()) == CARD


def test_its_json_is_plain_and_carries_a_version():
    assert json.loads(CARD.to_json())["schema"] == CARD_SCHEMA


def test_its_range_is_what_the_detector_compares_with():
    assert CARD.range.reference == "frames of the phantom"
    assert CARD.range.quantiles["texture"] == (2.0, 9.0)


def test_every_card_says_that_it_is_no_medical_device():
    card = ModelCard(name="a", kind="svm", created="", capsieve="", seed=0)
    assert any("not a medical device" in limit for limit in card.limits)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seed": "3"}, "seed"),
        ({"seed": True}, "seed"),
        ({"data": {}}, "data"),
        ({"data": [{"name": "a"}]}, "data[0].licence"),
        ({"metrics": [{"source": "a", "what": "b", "value": "high"}]}, "metrics[0].value"),
        ({"settings": {"a": [1]}}, "settings.a"),
        ({"quantiles": {"taste": [0, 1]}}, "quantiles.taste"),
        ({"quantiles": {"texture": [2, 1]}}, "quantiles.texture"),
        ({"quantiles": {"texture": [2]}}, "quantiles.texture"),
        ({"hashes": 3}, "hashes"),
        ({"schema": CARD_SCHEMA + 1}, "schema"),
        ({"author": "me"}, "author"),
    ],
)
def test_a_wrong_card_is_named_in_a_sentence(change, field):
    with pytest.raises(ParameterError) as caught:
        ModelCard.from_dict(CARD.to_dict() | change)
    assert caught.value.field == field


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "[" * 5000])
def test_what_is_no_card_is_told(text):
    with pytest.raises(ParameterError):
        ModelCard.from_json(text)
