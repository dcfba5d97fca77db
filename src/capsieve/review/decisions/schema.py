"""The tables of decisions, and the triggers that keep them append-only.

Numbers are given under one lock (see :mod:`~capsieve.review.decisions.database`), without holes:
whoever has seen number n and asks for what came after it misses nothing.
"""

import re
import secrets
from collections.abc import Iterable
from typing import Any

from capsieve.errors import FileError
from capsieve.review.decisions.sql import sa

__all__ = [
    "ENTRIES",
    "METADATA",
    "ROOM",
    "SCHEMA",
    "SCREENINGS",
    "SEEN",
    "create_missing",
    "is_complete",
    "stored_room",
    "stored_schema",
]

SCHEMA = 1
"""Version of the tables; it grows when a name changes its meaning."""

METADATA = sa.MetaData()

# SQLite makes a plain INTEGER key the row's own place; PostgreSQL needs the long kind.
_LONG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

_ABOUT = sa.Table(
    "capsieve_about",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)


def _log(name: str, *columns: sa.Column[Any]) -> sa.Table:
    """Return a table whose rows are only ever added: whose they are, and some columns more."""
    return sa.Table(
        name,
        METADATA,
        sa.Column("number", _LONG, primary_key=True, autoincrement=False),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("exam", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("reader", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("time", sa.Text, nullable=False),
        *columns,
        sa.Index(f"{name}_exam", "exam", "number"),
    )


ENTRIES = _log(
    "capsieve_entries",
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    # JSON as text, byte for byte as it was written: signatures are over these bytes.
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("undoes", _LONG, sa.ForeignKey("capsieve_entries.number")),
)
"""One row per action."""

sa.Index("capsieve_entries_kind", ENTRIES.c.exam, ENTRIES.c.kind)

SEEN = _log(
    "capsieve_seen",
    sa.Column("head", sa.Integer, nullable=False),
    sa.Column("frames", sa.Text, nullable=False),  # JSON: [[frame, milliseconds], ...]
)
"""One row per batch of frames that stood on the screen."""

ROOM = sa.Table(
    "capsieve_room",
    METADATA,
    sa.Column("number", _LONG, primary_key=True, autoincrement=False),
    sa.Column("time", sa.Text, nullable=False),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),  # JSON
)
"""One row per change of the room's settings; the last one counts."""

SCREENINGS = sa.Table(
    "capsieve_screenings",
    METADATA,
    sa.Column("number", _LONG, primary_key=True, autoincrement=False),
    sa.Column("exam", sa.Text, nullable=False),
    sa.Column("screening", sa.Text, nullable=False),
    sa.Column("entry", _LONG, sa.ForeignKey("capsieve_entries.number"), nullable=False),
    sa.Column("time", sa.Text, nullable=False),
    sa.Index("capsieve_screenings_exam", "exam", "number"),
)
"""One row for the first entry that was made on another screening of an exam than those before."""

_KEPT = {  # and whether the table has a key
    ENTRIES: True,
    SEEN: True,
    ROOM: False,
    SCREENINGS: False,
}


def stored_schema(connection: sa.Connection) -> int | None:
    """Return the version of the tables in a database; None where there are none.

    Raises
    ------
    FileError
        There are tables, and no version that can be read.
    """
    if not sa.inspect(connection).has_table(_ABOUT.name):
        return None
    value = connection.scalar(sa.select(_ABOUT.c.value).where(_ABOUT.c.name == "schema"))
    if not isinstance(value, str) or not re.fullmatch("[1-9][0-9]{0,5}", value):
        raise FileError(
            "the database does not say which version of decisions it holds; bring it back from a "
            "copy"
        )
    return int(value)


def stored_room(connection: sa.Connection) -> str | None:
    """Return the random name by which this database is told from all others."""
    return connection.scalar(sa.select(_ABOUT.c.value).where(_ABOUT.c.name == "room"))


def is_complete(connection: sa.Connection) -> bool:
    """Whether a database has all that this version keeps; older ones came without some of it."""
    return not _missing(connection) and stored_room(connection) is not None


def create_missing(connection: sa.Connection) -> None:
    """Create tables and triggers that are not there yet; the caller holds a lock."""
    missing = _missing(connection)
    METADATA.create_all(connection)
    kept = [table for table in _KEPT if table in missing]
    statements = _postgresql(kept) if connection.dialect.name == "postgresql" else _sqlite(kept)
    for statement in statements:
        connection.exec_driver_sql(statement)
    about = {"schema": str(SCHEMA), "room": secrets.token_hex(16)}
    known = set(connection.scalars(sa.select(_ABOUT.c.name)))
    for name in about.keys() - known:
        connection.execute(_ABOUT.insert().values(name=name, value=about[name]))


def _missing(connection: sa.Connection) -> list[sa.Table]:
    there = set(sa.inspect(connection).get_table_names())
    return [table for table in METADATA.sorted_tables if table.name not in there]


def _sqlite(tables: Iterable[sa.Table]) -> list[str]:
    statements: list[str] = []
    for table in tables:
        name, has_key = table.name, _KEPT[table]
        statements += [
            f"CREATE TRIGGER {name}_{action.lower()} BEFORE {action} ON {name} BEGIN "
            f"SELECT RAISE(ABORT, 'rows of {name} are never changed or removed'); END"
            for action in ("UPDATE", "DELETE")
        ]
        # INSERT OR REPLACE removes a row without asking the trigger above.
        key = f" OR EXISTS (SELECT 1 FROM {name} WHERE key = NEW.key)" if has_key else ""
        statements.append(
            f"CREATE TRIGGER {name}_insert BEFORE INSERT ON {name} "
            f"WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM {name}){key} BEGIN "
            f"SELECT RAISE(ABORT, 'rows of {name} are added at the end, and once'); END"
        )
    return statements


def _postgresql(tables: Iterable[sa.Table]) -> list[str]:
    statements = [
        "CREATE OR REPLACE FUNCTION capsieve_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN RAISE EXCEPTION USING MESSAGE = "
        "'rows of ' || TG_TABLE_NAME || ' are never changed or removed'; END $$",
    ]
    for table in tables:
        name = table.name
        statements += [
            f"CREATE TRIGGER {name}_kept BEFORE UPDATE OR DELETE ON {name} "
            "FOR EACH ROW EXECUTE FUNCTION capsieve_refuse()",
            f"CREATE TRIGGER {name}_whole BEFORE TRUNCATE ON {name} "
            "FOR EACH STATEMENT EXECUTE FUNCTION capsieve_refuse()",
        ]
    return statements
