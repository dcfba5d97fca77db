"""The time at which something was written down."""

from datetime import UTC, datetime

__all__ = ["utc_now"]


def utc_now() -> str:
    """Return the time in UTC as ISO 8601 with milliseconds: 2026-03-01T12:00:00.000Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
