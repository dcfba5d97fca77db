"""What was measured, on disk: a search that was stopped goes on where it was.

One file for each setting, named by what decides about its content. What is there is whole.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write, remove_leftovers
from capsieve.calibration.search_evidence import Evidence
from capsieve.engine.identity import differences
from capsieve.errors import FileError, OccupiedError
from capsieve.parameters import Parameters

__all__ = ["SearchCache"]

_IDENTITY = "search-identity.json"
_FOLDER = "measured"
_COLUMNS = ("levels", "midpass_max", "start", "level", "size", "eccentricity", "radius")


class SearchCache:
    """The folder of measurements of one search.

    Parameters
    ----------
    out
        The folder of the search; it is made.
    identity
        All that decides about measurements and results, as plain values.

    Raises
    ------
    OccupiedError
        The folder holds a search of other frames, labels or settings.
    FileError
        The folder cannot be written to.
    """

    def __init__(self, out: Path, identity: dict[str, Any]) -> None:
        self._folder = out / _FOLDER
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folder {out}: {error.strerror}") from error
        remove_leftovers(self._folder)
        self._check(out / _IDENTITY, json.loads(json.dumps(identity)))

    def holds(self, kind: str, setting: Parameters) -> bool:
        """Return whether there is a file; a damaged one shows only when it is read."""
        return self._path(kind, setting).exists()

    def evidence(self, setting: Parameters) -> Evidence | None:
        """Return what was kept of a geometry; None where nothing was."""
        found = self._read(self._path("geometry", setting), _COLUMNS)
        if found is None:
            return None
        return Evidence(tuple(found.pop("levels").tolist()), **found)

    def keep_evidence(self, setting: Parameters, evidence: Evidence) -> None:
        """Keep the evidence of a geometry."""
        columns = {name: np.asarray(getattr(evidence, name)) for name in _COLUMNS}
        self._write(self._path("geometry", setting), columns)

    def array(self, kind: str, setting: Parameters) -> NDArray[np.float64] | None:
        """Return one number per frame that was kept under a name; None where nothing was."""
        found = self._read(self._path(kind, setting), ("values",))
        return None if found is None else found["values"]

    def keep_array(self, kind: str, setting: Parameters, values: NDArray[np.float64]) -> None:
        """Keep one number per frame."""
        self._write(self._path(kind, setting), {"values": values})

    def _path(self, kind: str, setting: Parameters) -> Path:
        text = json.dumps(setting.to_dict(), sort_keys=True)
        return self._folder / f"{kind}-{sha256(text.encode()).hexdigest()[:20]}.npz"

    @staticmethod
    def _read(path: Path, names: tuple[str, ...]) -> dict[str, NDArray[Any]] | None:
        try:
            with path.open("rb") as file, np.load(file) as held:
                return {name: held[name] for name in names}
        except FileNotFoundError:
            return None
        except (OSError, KeyError, ValueError, BadZipFile):
            return None  # damaged: it is measured again

    @staticmethod
    def _write(path: Path, columns: dict[str, NDArray[Any]]) -> None:
        with atomic_write(path) as temporary:
            np.savez_compressed(temporary, **columns)  # pyright: ignore[reportArgumentType]

    @staticmethod
    def _check(path: Path, identity: dict[str, Any]) -> None:
        try:
            there = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            text = json.dumps(identity, indent=1, ensure_ascii=False)
            with atomic_write(path) as temporary:
                temporary.write_text(f"{text}\n", encoding="utf-8")
            return
        except (OSError, ValueError) as error:
            raise FileError(f"cannot read {path}: {error}; search into another folder") from error
        if there != identity:
            some = "; ".join(differences(there, identity)[:3])
            raise OccupiedError(
                f"{path.parent} holds a search with other frames, labels or settings ({some}); "
                "search into another folder, or remove this one"
            )
