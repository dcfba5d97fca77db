"""Connected components against SciPy's labelling."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

from capsieve.paper.segmentation import label_components
from reference import components as literal


def columnwise(segmentation):
    """Number 8-connected components column by column: SciPy numbers row by row."""
    labels = np.zeros(segmentation.T.shape, np.int32)
    count = ndimage.label(segmentation.T, np.ones((3, 3)), output=labels)
    return labels.T, count


@given(hnp.arrays(bool, st.tuples(st.integers(1, 24), st.integers(1, 24))))
def test_labels_are_numbered_column_by_column(segmentation):
    expected, count = columnwise(segmentation)
    found = label_components(segmentation)
    np.testing.assert_array_equal(found, expected)
    assert found.max(initial=0) == count
    np.testing.assert_array_equal(found, literal.connected_components(segmentation)[0])


def test_every_density_of_a_large_frame_is_labelled():
    rng = np.random.default_rng(0)
    for density in np.linspace(0, 1, 21):
        segmentation = rng.uniform(size=(256, 200)) < density
        np.testing.assert_array_equal(label_components(segmentation), columnwise(segmentation)[0])


def test_diagonal_neighbours_are_one_component():
    assert label_components(np.eye(9, dtype=bool)).max() == 1
