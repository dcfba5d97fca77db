"""Names of the parameters by their kind, and any valid parameters."""

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import strategies as st

from capsieve import ParameterError, Parameters

NAMES = [each.name for each in dataclasses.fields(Parameters)]
FROM_THE_WIDTH = ["energy_sigma", "size_low", "size_high"]
OPEN = [*FROM_THE_WIDTH, "score_threshold"]
WHOLE = ["width", "texture_iterations", "size_low", "size_high", "radius_threshold"]
SWITCHES = ["vignetting"]
CHOSEN = ["channel"]
REAL = [name for name in NAMES if name not in [*WHOLE, *SWITCHES, *CHOSEN]]

# Wide enough for the default filters: half a stencil of 30 pixels.
widths = st.integers(30, 4096)


@st.composite
def parameters(draw: st.DrawFn) -> Parameters:
    """Any valid parameters."""
    coarse = draw(st.floats(0.5, 200))
    texture_sigma = draw(st.just(0.0) | st.floats(0.01, 100))
    energy_sigma = draw(st.none() | st.just(0.0) | st.floats(0.01, 200))
    # The compiled filters take their taps in twos: an odd half needs one pixel more.
    odd = [math.ceil(energy_sigma or 0) + 1, math.ceil(coarse) + 1]
    stencils = [16, 2 * math.ceil(texture_sigma), *odd]
    low, high = sorted(draw(st.tuples(st.floats(0, 100), st.floats(0, 100))))
    threshold = draw(st.floats(1e-6, 10))
    sizes = draw(st.none() | st.tuples(st.integers(1, 10**6), st.integers(0, 10**6)))
    return Parameters(
        width=draw(st.integers(max(stencils), 4096)),
        mask_radius=draw(st.floats(0.125, 0.5)),
        texture_iterations=draw(st.integers(0, 100)),
        texture_sigma=texture_sigma,
        energy_sigma=energy_sigma,
        energy_power=draw(st.floats(0, 4, exclude_min=True)),
        texture_low=low,
        texture_high=high,
        midpass_fine=draw(st.floats(0.01, coarse, exclude_max=True)),
        midpass_coarse=coarse,
        threshold_low=threshold,
        threshold_high=threshold * draw(st.floats(1.001, 100)),
        size_low=None if sizes is None else sizes[0],
        size_high=None if sizes is None else sum(sizes),
        eccentricity_max=draw(st.floats(1, 1e6)),
        radius_threshold=draw(st.integers(1, 10**4)),
        channel=draw(st.sampled_from(["gray", "red", "lab-a"])),
        vignetting=draw(st.booleans()),
        extension_slope=draw(st.floats(-255, 255)),
        score_threshold=draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)),
    )


def refused(name: str, **values: Any) -> str:
    """Return what the error says, after its field's name."""
    with pytest.raises(ParameterError) as caught:
        Parameters(**values)
    assert caught.value.field == name
    field, _, message = str(caught.value).partition(": ")
    assert field == name
    return message
