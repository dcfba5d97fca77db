import json
from typing import Any

import pytest

from capsieve.errors import ParameterError
from capsieve.learned.training.cnn_settings import NetworkSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("size", 100), ("size", 32), ("frozen", 17), ("frozen", -1), ("steps", 0), ("rate", -1.0),
        ("rate", float("nan")), ("dropout", 1.0), ("polyps", 0.0), ("warm_up", 1.0),
        ("others", -0.1), ("others", 1.1), ("members", 0), ("polyp_versions", 0),
        ("threads", 0), ("augmentation_seed", -1), ("second_look", float("nan")),
        ("style", 1.5), ("style", float("nan")), ("style_beta", 0.0),
    ],
)  # fmt: skip
def test_values_out_of_bounds_are_named(name: str, value: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        NetworkSettings(**{name: value})
    assert caught.value.field == name


@pytest.mark.parametrize("shares", [{"polyps": 0.5, "foreign": 0.5}, {"polyps": 0.01}])
def test_a_batch_has_room_for_both_classes(shares: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="room for a polyp and for a negative"):
        NetworkSettings(batch=8, **shares)  # pyright: ignore[reportArgumentType]


def test_counts_fill_the_batch() -> None:
    counts = NetworkSettings(batch=30, polyps=0.4, foreign=0.1).counts()
    assert counts == {"polyps": 12, "negatives": 15, "foreign": 3}


def test_settings_are_plain_values() -> None:
    content = NetworkSettings(size=96).as_dict()
    assert json.loads(json.dumps(content))["size"] == 96
