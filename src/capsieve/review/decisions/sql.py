"""SQLAlchemy, or a sentence that says how to get it."""

from capsieve.errors import MissingExtraError

try:
    import sqlalchemy as sa
    from sqlalchemy import event, exc
except ImportError:
    raise MissingExtraError(
        "the decisions of readers need the package sqlalchemy; pip install 'capsieve[review]'"
    ) from None

__all__ = ["event", "exc", "sa"]
