"""Evidence on a page."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from capsieve.engine.evidence import small_map, strongest
from capsieve.report.evidence_parts import map_address, weight_bars
from capsieve.report.score_words import score_text
from capsieve.results import Weight


def test_the_veil_covers_what_is_high_and_leaves_the_rest_clear():
    values = np.zeros((64, 48), np.float32)
    values[:16, :12] = 5.0
    address = map_address(small_map(values))
    png = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    veil = np.asarray(Image.open(io.BytesIO(png)))
    assert veil.shape == (32, 24, 4)
    assert veil[:8, :6, 3].min() > 100
    assert veil[8:, :, 3].max() == veil[:, 6:, 3].max() == 0


def test_a_flat_map_is_clear():
    assert np.asarray(Image.open(io.BytesIO(small_map(np.ones((9, 9), np.float32))))).max() == 0


def test_bars_are_the_strongest_first_and_turn_with_their_sign():
    weights = (Weight("a", 1, 2, 0.1), Weight("b", 3, 4, -0.4), Weight("c", 5, 6, 0.0))
    bars = weight_bars(strongest(weights), {"b": "<b> & more"})
    assert [bar.name for bar in bars] == ["<b> & more", "a"]
    assert 'class="against" x="0.0" y="1" width="50.0"' in bars[0].drawing
    assert 'class="for" x="50.0" y="1" width="12.5"' in bars[1].drawing


@pytest.mark.parametrize(
    ("score", "bounds", "text"),
    [(0.5, (), "50.0 %"), (0.39996, (0.4,), "39.996 %"), (0.4, (0.4,), "40.0 %")],
)
def test_a_probability_never_contradicts_its_threshold(score, bounds, text):
    assert score_text(score, *bounds, probability=True) == text
