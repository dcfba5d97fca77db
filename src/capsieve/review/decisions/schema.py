"""The tables of decisions, and the triggers that keep them append-only.

Numbers are given under one lock (see :mod:`~capsieve.review.decisions.database`), without holes:
whoever has seen number n and asks for what came after it misses nothing.
"""

from capsieve.review.decisions.sql import sa

__all__ = ["ENTRIES", "METADATA", "ROOM", "SCHEMA", "SEEN", "create_tables", "stored_schema"]

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

ENTRIES = sa.Table(
    "capsieve_entries",
    METADATA,
    sa.Column("number", _LONG, primary_key=True, autoincrement=False),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("exam", sa.Text, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    # JSON as text, byte for byte as it was written: signatures are over these bytes.
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("undoes", _LONG, sa.ForeignKey("capsieve_entries.number")),
    sa.Index("capsieve_entries_exam", "exam", "number"),
    sa.Index("capsieve_entries_kind", "exam", "kind"),
)
"""One row per action."""

SEEN = sa.Table(
    "capsieve_seen",
    METADATA,
    sa.Column("number", _LONG, primary_key=True, autoincrement=False),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("exam", sa.Text, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),
    sa.Column("head", sa.Integer, nullable=False),
    sa.Column("frames", sa.Text, nullable=False),  # JSON: [[frame, milliseconds], ...]
    sa.Index("capsieve_seen_exam", "exam", "number"),
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

_KEPT = {ENTRIES: True, SEEN: True, ROOM: False}  # and whether the table has a key


def stored_schema(connection: sa.Connection) -> int | None:
    """Return the version of the tables in a database; None where there are none."""
    if not sa.inspect(connection).has_table(_ABOUT.name):
        return None
    value = connection.scalar(sa.select(_ABOUT.c.value).where(_ABOUT.c.name == "schema"))
    return int(value) if value is not None and value.isdecimal() else None


def create_tables(connection: sa.Connection) -> None:
    """Create tables and triggers; the caller holds a lock, and nothing is there yet."""
    METADATA.create_all(connection)
    statements = _postgresql() if connection.dialect.name == "postgresql" else _sqlite()
    for statement in statements:
        connection.exec_driver_sql(statement)
    connection.execute(_ABOUT.insert().values(name="schema", value=str(SCHEMA)))


def _sqlite() -> list[str]:
    statements: list[str] = []
    for table, has_key in _KEPT.items():
        name = table.name
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


def _postgresql() -> list[str]:
    statements = [
        "CREATE OR REPLACE FUNCTION capsieve_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN RAISE EXCEPTION USING MESSAGE = "
        "'rows of ' || TG_TABLE_NAME || ' are never changed or removed'; END $$",
    ]
    for table in _KEPT:
        name = table.name
        statements += [
            f"CREATE TRIGGER {name}_kept BEFORE UPDATE OR DELETE ON {name} "
            "FOR EACH ROW EXECUTE FUNCTION capsieve_refuse()",
            f"CREATE TRIGGER {name}_whole BEFORE TRUNCATE ON {name} "
            "FOR EACH STATEMENT EXECUTE FUNCTION capsieve_refuse()",
        ]
    return statements
