"""Why an action of a reader is refused.

CapsieveError
|-- EntryError      (ValueError)   the action makes no sense as it stands
|-- ForbiddenError                 this reader may not do it, now or ever
`-- ConflictError   (RuntimeError) it does not fit what stands already: signed, undone, changed
"""

from capsieve.errors import CapsieveError

__all__ = ["ConflictError", "EntryError", "ForbiddenError"]


class EntryError(CapsieveError, ValueError):
    """An action that makes no sense as it stands."""


class ForbiddenError(CapsieveError):
    """An action that is not this reader's."""


class ConflictError(CapsieveError, RuntimeError):
    """An action that does not fit what stands already."""
