"""What a worker must be: of the same version, with the same detector."""

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from capsieve._version import __version__
from capsieve.engine.executors.attempt import attempt
from capsieve.errors import CapsieveError, WorkerError

if TYPE_CHECKING:
    from capsieve.detector import Detector

__all__ = ["Greeting", "check", "checked_attempt", "greeting_for"]

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Greeting:
    """What a worker compares itself with before it works.

    Attributes
    ----------
    capsieve
        Version of the package.
    detector
        How the detector is asked for: its name in :func:`capsieve.detectors.load_detector`.
    parameters
        Its parameters, as :meth:`capsieve.Parameters.to_dict` gives them.
    identity
        The detector's identity here; a worker that asks in the same way must find the same.
    """

    capsieve: str
    detector: str
    parameters: dict[str, Any] = field(hash=False)
    identity: dict[str, Any] = field(hash=False)


def greeting_for(detector: "Detector") -> Greeting:
    """Return what workers of a run with this detector must be."""
    return Greeting(
        capsieve=__version__,
        detector=detector.name,
        parameters=detector.parameters.to_dict(),
        identity=detector.identity,
    )


def check(greeting: Greeting) -> None:
    """Make sure that this process is what a run needs.

    Raises
    ------
    WorkerError
        It has another version of the package, or another detector.
    """
    here = f"the worker {platform.node()}:{os.getpid()}"
    if greeting.capsieve != __version__:
        raise WorkerError(
            f"{here} has capsieve {__version__}, and this run needs {greeting.capsieve}: "
            "install the same version there"
        )
    from capsieve.detectors import load_detector
    from capsieve.parameters import Parameters

    name = greeting.detector
    try:
        detector = load_detector(name, parameters=Parameters.from_dict(greeting.parameters))
    except CapsieveError as error:
        raise WorkerError(f"{here} cannot load the detector {name}: {error}") from error
    found, wanted = _differences(detector.identity, greeting.identity)
    if found != wanted:
        raise WorkerError(
            f"{here} has another detector {name}, with {found}, and this run needs {wanted}: "
            "install the same detector there"
        )


def checked_attempt(
    greeting: Greeting, work: Callable[[TaskT], ResultT], task: TaskT
) -> tuple[ResultT | None, Exception | None]:
    """Attempt a task in a process that fits: it may have come long after the run began.

    What the work raises is returned; what is raised here is about the worker.
    """
    import cv2

    check(greeting)
    cv2.setNumThreads(1)  # the cluster decides how many tasks run at once
    return attempt(work, task)


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> tuple[str, str]:
    """Return both sides of what differs between two identities, as texts."""
    nothing = object()
    keys = [
        key
        for key in sorted(found.keys() | wanted.keys())
        if found.get(key, nothing) != wanted.get(key, nothing)
    ]
    return tuple(  # pyright: ignore[reportReturnType]
        ", ".join(f"{key} {side.get(key, 'missing')}" for key in keys) for side in (found, wanted)
    )
