"""The exceptions of capsieve, drawn as a tree.

    CapsieveError
    |-- FrameError        (ValueError)   pixels that cannot be analysed: shape, values, size
    |-- ParameterError    (ValueError)   a parameter: unknown, of the wrong type or out of bounds
    |-- FileError         (OSError)      a file: absent, unreadable, broken or of an unknown kind
    |   `-- OccupiedError                a folder that another run is working in, or that holds
    |                                    results of other settings
    |-- LeakError         (ValueError)   training and test frames that are not independent
    |-- WorkerError       (RuntimeError) workers that died, or that do not fit
    `-- MissingExtraError (ImportError)  an optional dependency that the work at hand needs

Every message is one sentence that says what is wrong and, where it can, what to do.
"""

__all__ = [
    "CapsieveError",
    "FileError",
    "FrameError",
    "LeakError",
    "MissingExtraError",
    "OccupiedError",
    "ParameterError",
    "WorkerError",
]


class CapsieveError(Exception):
    """Whatever capsieve raises on purpose."""


class FrameError(CapsieveError, ValueError):
    """Pixels that cannot be analysed."""


class ParameterError(CapsieveError, ValueError):
    """A parameter that is unknown, of the wrong type or out of bounds.

    Attributes
    ----------
    field
        The name of the parameter.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)  # both, so that it survives the way between processes
        self.field = field

    def __str__(self) -> str:
        return ": ".join(self.args)


class FileError(CapsieveError, OSError):
    """A file that is absent, unreadable, broken or of an unknown kind."""


class OccupiedError(FileError):
    """A folder that another run is working in, or that holds results of other settings."""


class LeakError(CapsieveError, ValueError):
    """Frames that were tuned on and frames that are judged are not independent of each other."""


class WorkerError(CapsieveError, RuntimeError):
    """Workers that died, or that do not fit: another version, another detector."""


class MissingExtraError(CapsieveError, ImportError):
    """An optional dependency that the work at hand needs."""
