"""Fixtures for the tests of the detector."""

import numpy as np
import pytest
from numpy.typing import NDArray

from sample_frames import golden_frame


@pytest.fixture
def polyp() -> NDArray[np.uint8]:
    """A golden frame that is flagged."""
    return golden_frame("polyp_and_fold")[0]
