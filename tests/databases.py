"""A PostgreSQL server for tests, on its own socket; they are skipped with a reason where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest
import sqlalchemy as sa

# fsync off: no data has to survive a power cut. Deadlocks are detected early.
SETTINGS = {"listen_addresses": "", "fsync": "off", "deadlock_timeout": "100ms", "max_connections": "50"}


def _programs() -> Path | None:
    """Folder of the server's programs: on the path, or the newest version of Debian."""
    initdb = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    folders = ([Path(initdb).resolve().parent] if initdb else []) + debian[::-1]
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


def _ordinary_user() -> str | None:
    """User to start the server as, since it refuses to run as root."""
    if os.name == "nt" or os.geteuid() != 0:
        return None
    import pwd  # there is none on Windows

    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


@pytest.fixture(scope="session")
def postgres_server():
    """The `folder` of a server's socket and how to `restart` it; it is started once, and ended with the tests."""
    programs = _programs()
    if programs is None:
        reason = "PostgreSQL's server is not here: apt-get install postgresql"
        if "postgres" in os.environ.get("RFF_TEST_REQUIRE", "").replace(",", " ").split():
            pytest.fail(reason)
        pytest.skip(reason)
    user = _ordinary_user()
    with tempfile.TemporaryDirectory(prefix="rff", ignore_cleanup_errors=True) as folder:  # a socket's path is short
        if user is not None:
            shutil.chown(folder, user)
        data = Path(folder) / "data"

        def do(program: str, *arguments) -> None:
            command = [programs / program, "-D", data, *arguments]
            # What it says goes to a file: the server would hold a pipe open.
            with (Path(folder) / "said.txt").open("a+") as said:
                ended = subprocess.run(
                    command, cwd=folder, user=user, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
                )
                said.seek(0)
                assert ended.returncode == 0, said.read()

        do("initdb", "-U", "rff", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        settings = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
        start = "-l", data / "log", "-o", f"-k {folder} {settings}"
        do("pg_ctl", "-w", *start, "start")
        try:
            yield SimpleNamespace(folder=folder, restart=lambda mode: do("pg_ctl", "-w", "-m", mode, *start, "restart"))
        finally:
            do("pg_ctl", "-w", "-m", "immediate", "stop")


@pytest.fixture
def postgres(postgres_server):
    """The URL of an empty database."""
    server = sa.create_engine(
        f"postgresql+psycopg://rff@/postgres?host={postgres_server.folder}",
        isolation_level="AUTOCOMMIT",
        poolclass=sa.NullPool,  # a test may restart the server
    )
    name = f"rff_{uuid4().hex}"
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield f"postgresql+psycopg://rff@/{name}?host={postgres_server.folder}"
    with server.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["SQLite", pytest.param("PostgreSQL", marks=pytest.mark.xdist_group("postgres"))])
def url(request, tmp_path):
    """URL of an empty database, of each supported kind."""
    if request.param == "PostgreSQL":
        return request.getfixturevalue("postgres")
    return f"sqlite:///{tmp_path / 'results.sqlite'}"
