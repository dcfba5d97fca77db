"""What decides about the results: two runs with the same identity give the same tables."""

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from capsieve._version import __version__
from capsieve.detector import Detector
from capsieve.sources.source import Place, Survey
from capsieve.store.schema import SCHEMA

__all__ = [
    "differences",
    "identity",
    "is_out_of_fold",
    "same_detector",
    "screens_with",
    "versions",
]

_KNOWN_BY = ("model", "spec", "fits", "nested", "constants")
"""Hashes and constants in a detector's identity that decide about its scores."""


def identity(
    detector: Detector, sources: Sequence[tuple[Place, Survey]], settings: dict[str, Any]
) -> dict[str, Any]:
    """Return all that decides about an exam's tables, as plain numbers and texts."""
    return {
        "schema": SCHEMA,
        "capsieve": __version__,
        "detector": detector.identity,
        "source": {
            f"head {place.head}": {
                "sha256": survey.sha256,
                "kind": place.kind,
                "stream": place.stream,
                "names": place.names,
            }
            for place, survey in sources
        },
        "settings": settings,
    }


def differences(there: dict[str, Any], here: dict[str, Any], path: str = "") -> list[str]:
    """Return one text per entry in which two identities differ, such as ``size_low: 1 and 2``."""
    found: list[str] = []
    for name in sorted(there.keys() | here.keys()):
        one, other = there.get(name), here.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            found += differences(one, other, f"{path}{name} ")
        elif one != other:
            found.append(f"{path}{name}: {_brief(one)} there, {_brief(other)} now")
    return found


def same_detector(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two identities of detectors are of the same one, parameters aside.

    A model is known by the hash of its file, under whatever name. Names decide where a hash is not
    known of both.
    """
    known = [key for key in _KNOWN_BY if key in one and key in other]
    alike = all(one[key] == other[key] for key in known)
    return alike and ("model" in known or one.get("name") == other.get("name"))


def is_out_of_fold(detector: Mapping[str, Any]) -> bool:
    """Return whether scores are those of the fits of a training, none of which can be run."""
    return detector.get("out of fold") is True


def screens_with(detector: Mapping[str, Any], results: Path) -> str:
    """Return what to give to ``capsieve screen --detector`` for more scores of this scale.

    For out-of-fold results it is the file of the model that was trained with them, which stands
    beside the folder that they are in.

    Parameters
    ----------
    detector
        Its identity in the record.
    results
        Where the record was found: OUT, or OUT/EXAM.
    """
    if not is_out_of_fold(detector):
        return str(detector.get("name", "unknown"))
    name = str(detector.get("trained model", "MODEL.onnx"))
    beside = (folder / name for folder in results.absolute().parents[:3])
    return next((str(path) for path in beside if path.is_file()), name)


def versions() -> dict[str, str]:
    """Return the versions of what computes, for the record."""
    import av

    libraries = {
        name: ".".join(str(part) for part in numbers)
        for name, numbers in av.library_versions.items()
        if name in ("libavcodec", "libavformat", "libswscale")
    }
    packages = ("av", "numba", "numpy", "opencv-python-headless", "pillow", "pyarrow")
    return {
        "capsieve": __version__,
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        **{name: version(name) for name in packages},
        **_installed("onnxruntime"),
        **libraries,
    }


def _installed(name: str) -> dict[str, str]:
    """Return the version of a package that users may do without."""
    try:
        return {name: version(name)}
    except PackageNotFoundError:
        return {}


def _brief(value: object) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:16]}..."
