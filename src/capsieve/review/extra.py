"""The packages that the reading room needs, and nothing else of capsieve does."""

from importlib.util import find_spec

from capsieve.errors import MissingExtraError

__all__ = ["require_review"]

_PACKAGES = ("fastapi", "pydantic", "sqlalchemy", "uvicorn")


def require_review() -> None:
    """Raise MissingExtraError where a package is not installed."""
    absent = [name for name in _PACKAGES if find_spec(name) is None]
    if absent:
        raise MissingExtraError(
            f"the reading room needs the package {' and '.join(absent)}; pip install "
            "'capsieve[review]'"
        )
