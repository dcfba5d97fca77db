"""Why an action of a reader is refused, or cannot be written down just now.

CapsieveError
|-- EntryError      (ValueError)   the action makes no sense as it stands
|-- ForbiddenError                 this reader may not do it, now or ever
|-- ConflictError   (RuntimeError) it does not fit what stands already: signed, undone, changed
`-- FileError
    `-- UnreachableError           nothing is wrong with it: the decisions or the exam cannot be
                                   reached now, and the same action can be tried again
"""

from capsieve.errors import CapsieveError, FileError

__all__ = ["ConflictError", "EntryError", "ForbiddenError", "UnreachableError"]


class EntryError(CapsieveError, ValueError):
    """An action that makes no sense as it stands."""


class ForbiddenError(CapsieveError):
    """An action that is not this reader's."""


class ConflictError(CapsieveError, RuntimeError):
    """An action that does not fit what stands already."""


class UnreachableError(FileError):
    """Decisions or an exam that cannot be reached just now: busy, full, gone."""
