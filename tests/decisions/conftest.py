"""Databases to write into: a SQLite file, and a private PostgreSQL server if it is installed."""

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from capsieve.decisions.database import Database, open_database

_NUMBERS = itertools.count(1)
BACK_ENDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]


def _absent(reason: str) -> None:
    # In CI the packages are installed: a skip there would hide that they are not.
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def postgresql_folder() -> Iterator[tuple[Path, str]]:
    """Start a server on a socket in a folder of its own; yield the folder and its user."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        _absent("PostgreSQL is not installed: apt-get install postgresql")
    try:
        import psycopg  # noqa: F401
    except ImportError:
        _absent("psycopg is not installed: pip install 'capsieve[postgresql]'")
    # The server refuses to run as root; the path of a socket must be short.
    root = os.getuid() == 0
    name = ("postgres" if _exists("postgres") else "nobody") if root else _own_name()
    user = name if root else None
    folder = Path(tempfile.mkdtemp(prefix="capsieve-pg-"))
    if root:
        shutil.chown(folder, name)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs[-1] / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(
            command,
            check=True,
            cwd=folder,
            user=user,
            stdout=subprocess.DEVNULL,  # a pipe would be inherited by the server, and never end
            stderr=subprocess.DEVNULL,
        )

    try:
        run("initdb", "-U", "capsieve", "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        run("pg_ctl", "-w", "-o", f"-k {folder} -c listen_addresses=''", "start")
        try:
            yield folder, "capsieve"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _own_name() -> str:
    return pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture(params=BACK_ENDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a new database may be made."""
    if request.param == "sqlite":
        return str(tmp_path / "decisions.sqlite")
    return request.getfixturevalue("postgresql_place")


@pytest.fixture
def new_postgresql(postgresql_folder: tuple[Path, str]) -> Callable[[], str]:
    """Return what creates an empty PostgreSQL database, and returns its address."""
    folder, user = postgresql_folder
    address = f"postgresql+psycopg://{user}@/{{}}?host={folder}"

    def create() -> str:
        name = f"room_{next(_NUMBERS)}"
        engine = sa.create_engine(address.format("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
        engine.dispose()
        return address.format(name)

    return create


@pytest.fixture
def postgresql_place(new_postgresql: Callable[[], str]) -> str:
    """Return the address of a new, empty PostgreSQL database."""
    return new_postgresql()


@pytest.fixture
def database(place: str) -> Iterator[Database]:
    """Return an open database without entries."""
    opened = open_database(place)
    yield opened
    opened.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Database]:
    """Return an open file of SQLite without entries, where the kind of database matters not."""
    opened = open_database(tmp_path / "decisions.sqlite")
    yield opened
    opened.close()
