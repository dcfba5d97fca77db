"""The state of a training on disk: plain arrays, from which a killed run goes on."""

from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write, remove_leftovers
from capsieve.errors import FileError, OccupiedError

__all__ = ["CHECKPOINT", "State", "read_checkpoint", "write_checkpoint"]

CHECKPOINT = "network.npz"

Arrays = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A training after so many steps.

    Attributes
    ----------
    step
        Steps done.
    trained, averaged
        Weights by name, and their running mean.
    first, second
        Moments of AdamW by the same names; empty once all steps are done.
    """

    step: int
    trained: Arrays
    averaged: Arrays
    first: Arrays = field(default_factory=dict[str, NDArray[np.float32]])
    second: Arrays = field(default_factory=dict[str, NDArray[np.float32]])


_KINDS = ("trained", "averaged", "first", "second")


def write_checkpoint(state: State, folder: Path, *, work: str) -> None:
    """Write a state; `work` is a digest of all that the training depends on."""
    arrays = {
        f"{kind}/{name}": array for kind in _KINDS for name, array in getattr(state, kind).items()
    }
    with atomic_write(folder / CHECKPOINT, durable=True) as temporary:
        np.savez(temporary, allow_pickle=False, step=state.step, work=work, **arrays)


def read_checkpoint(folder: Path, *, work: str) -> State | None:
    """Return the state that an earlier run left; None where there is none.

    Raises
    ------
    OccupiedError
        It is of other work.
    FileError
        It is broken.
    """
    remove_leftovers(folder)
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    parts: dict[str, Arrays] = {kind: {} for kind in _KINDS}
    try:
        # Opened here: of a broken file NumPy would leave its own handle open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            found, step = str(stored["work"]), int(stored["step"])
            if found == work:
                for key in stored.files:
                    kind, slash, name = key.partition("/")
                    if slash:
                        parts[kind][name] = stored[key]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise FileError(f"the checkpoint {path} is broken ({error}); remove it") from error
    if found != work:
        raise OccupiedError(
            f"the checkpoint {path} is of other frames or settings; remove it, or choose another "
            "folder"
        )
    return State(step, **parts)
