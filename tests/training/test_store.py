import numpy as np
import pytest

from capsieve.training.store import Joined, Store

NUMBERS = np.arange(12.0).reshape(4, 3)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, "things", {"seed": 1}, np.arange(3))


def test_an_array_is_read_as_it_was_written(store):
    store.write("a", NUMBERS)
    assert np.array_equal(store.read("a", np.float64, (4, 3)), NUMBERS)
    assert np.array_equal(store.read("a", np.float64), NUMBERS)
    store.write("none", np.zeros((0, 3)))
    assert store.read("none", np.float64, (0, 3)).shape == (0, 3)


def test_absent_arrays_and_others_than_wanted_are_not_read(store):
    assert store.read("a", np.float64) is None
    store.write("a", NUMBERS)
    assert store.read("a", np.float32) is None
    assert store.read("a", np.float64, (3, 4)) is None


def test_every_changed_or_missing_byte_is_noticed(store):
    store.write("a", NUMBERS)
    (path,) = store.folder.iterdir()
    content = path.read_bytes()
    for at in range(len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :])
        assert store.read("a", np.float64, (4, 3)) is None
    for damaged in (b"", content[:-1], content[:50], content + b"\0"):
        path.write_bytes(damaged)
        assert store.read("a", np.float64, (4, 3)) is None


def test_no_pickle_is_loaded(store):
    with pytest.raises(ValueError, match="pickle"):
        store.write("a", np.array([print], object))
    store.write("a", NUMBERS)
    (path,) = store.folder.iterdir()
    np.save(path, np.array([print], object))
    assert store.read("a", object) is None


def test_the_folder_depends_on_everything_that_determines_the_arrays(store, tmp_path):
    same = Store(tmp_path, "things", {"seed": 1}, np.arange(3))
    others = [
        Store(tmp_path, "things", {"seed": 2}, np.arange(3)),
        Store(tmp_path, "things", {"seed": 1}, np.arange(4)),
        Store(tmp_path, "others", {"seed": 1}, np.arange(3)),
    ]
    assert same.folder == store.folder
    assert len({store.folder, *(other.folder for other in others)}) == 4


def test_rows_of_several_arrays_are_one_sequence():
    joined = Joined([NUMBERS[:1], NUMBERS[1:1], NUMBERS[1:]])
    assert len(joined) == 4
    assert np.array_equal([joined[row] for row in range(4)], NUMBERS)
