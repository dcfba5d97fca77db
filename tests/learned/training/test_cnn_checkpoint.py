from pathlib import Path
from typing import Any

import numpy as np
import pytest

from capsieve.errors import FileError, OccupiedError
from capsieve.learned.training.cnn_checkpoint import (
    CHECKPOINT,
    State,
    read_checkpoint,
    write_checkpoint,
)


def state(step: int = 3) -> State:
    arrays = {"a.weight": np.arange(4, dtype=np.float32).reshape(2, 2)}
    moments = {"a.weight": np.full((2, 2), 1e-30, np.float32)}
    return State(step, arrays, {"a.weight": arrays["a.weight"] + 1}, moments, moments)


def test_a_state_survives_the_way_over_the_disk(tmp_path: Path) -> None:
    write_checkpoint(state(), tmp_path, work="w")
    found = read_checkpoint(tmp_path, work="w")
    assert found is not None
    assert found.step == 3
    for kind in ("trained", "averaged", "first", "second"):
        (array,), (expected,) = getattr(found, kind).values(), getattr(state(), kind).values()
        assert array.dtype == np.float32
        assert np.array_equal(array, expected)


def test_a_later_state_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    write_checkpoint(state(3), tmp_path, work="w")
    write_checkpoint(state(6), tmp_path, work="w")
    found = read_checkpoint(tmp_path, work="w")
    assert found is not None
    assert found.step == 6
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT]


def test_without_a_checkpoint_there_is_no_state(tmp_path: Path) -> None:
    assert read_checkpoint(tmp_path, work="w") is None


def test_a_checkpoint_of_other_work_is_refused(tmp_path: Path) -> None:
    write_checkpoint(state(), tmp_path, work="w")
    with pytest.raises(OccupiedError, match="of other frames or settings"):
        read_checkpoint(tmp_path, work="v")


@pytest.mark.parametrize("kept", [0, 10, 300])
def test_a_truncated_checkpoint_is_told(tmp_path: Path, kept: int) -> None:
    write_checkpoint(state(), tmp_path, work="w")
    path = tmp_path / CHECKPOINT
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(FileError, match=r"is broken .*; remove it"):
        read_checkpoint(tmp_path, work="w")


def test_objects_in_a_checkpoint_are_not_loaded(tmp_path: Path) -> None:
    content = np.empty(1, object)
    content[0] = {"runs": "code"}
    arrays: dict[str, Any] = {"trained/a": content}
    np.savez(tmp_path / CHECKPOINT, step=1, work="w", **arrays)
    with pytest.raises(FileError, match="is broken"):
        read_checkpoint(tmp_path, work="w")
