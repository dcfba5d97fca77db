import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from capsieve.report.label_places import label_places

positions = st.tuples(st.floats(0, 199), st.floats(0, 299))


def overlap(one, other, box):
    return abs(one[0] - other[0]) < box[0] - 1e-6 and abs(one[1] - other[1]) < box[1] - 1e-6


@given(st.lists(positions, min_size=1, max_size=20))
def test_labels_never_cover_each_other_nor_leave_the_frame(anchors):
    box = (12.0, 40.0)
    found = label_places(anchors, [box] * len(anchors), np.zeros((200, 300), bool))
    places = [place for place in found if place is not None]
    for n, place in enumerate(places):
        assert 6 <= place[0] <= 194
        assert 20 <= place[1] <= 280
        assert not any(overlap(place, other, box) for other in places[:n])


def test_a_label_keeps_off_the_occupied_pixels():
    occupied = np.zeros((200, 200), bool)
    occupied[80:120, 60:140] = True
    (place,) = label_places([(100.0, 100.0)], [(10.0, 20.0)], occupied)
    assert place is not None
    top, left = int(place[0] - 5), int(place[1] - 10)
    assert not occupied[top : top + 10, left : left + 20].any()


def test_without_room_there_is_no_place():
    occupied = np.zeros((20, 20), bool)
    assert label_places([(10.0, 10.0)], [(30.0, 30.0)], occupied) == [None]
