import json

import pytest

from capsieve import ParameterError
from capsieve.statistics.settings import Settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("target_specificity", 0.0),
        ("target_specificity", 90),
        ("threshold", 0.0),
        ("threshold", float("inf")),
        ("rounds", 99),
        ("seed", -1),
        ("reading_speed", 0.0),
        ("within", -1.0),
        ("gap", float("nan")),
        ("shortest", float("inf")),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=name):
        Settings(**{name: value})


def test_settings_are_written_as_plain_json():
    content = json.loads(json.dumps(Settings(train_patients=("4",)).to_dict()))
    assert content["train_patients"] == ["4"]
    assert content["target_specificity"] == 0.9
