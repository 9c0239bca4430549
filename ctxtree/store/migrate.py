"""Opening: a new store is created, an older one is migrated, a newer one is refused.

The version stands in `meta`, so that an up-to-date store opens with one small query and Alembic is
imported for a migration only. Revision `0007` of the migrations makes version 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import DBAPIError

from ctxtree.errors import StoreError
from ctxtree.store import dialects
from ctxtree.store.schema import VERSION, meta, metadata

MIGRATIONS = Path(__file__).parent / "migrations"


@dataclass(frozen=True, slots=True)
class Target:
    """The version that the tables must have, and the folder of the steps that lead there."""

    version: int = VERSION
    migrations: Path = MIGRATIONS


def prepare(engine: Engine, place: str, target: Target) -> None:
    """Brings the tables to `target`. Raises StoreError for a newer store or a foreign database."""
    with engine.connect() as connection:
        dialects.begin_reading(connection)
        found = _version(connection, place)
    if found == target.version:
        return
    _refuse_newer(found, target, place)
    with engine.connect() as connection:
        dialects.begin_building(connection)
        found = _version(connection, place)  # another process may have been faster
        _refuse_newer(found, target, place)
        if found is None:
            metadata.create_all(connection)
            found = VERSION
            rows = {"application": "ctxtree", "schema": str(found)}
            connection.execute(insert(meta), [{"name": name, "value": rows[name]} for name in rows])
        if found < target.version:
            _migrate(connection, found, target)
            _stamp(connection, target.version)
        connection.commit()


def _version(connection: Connection, place: str) -> int | None:
    """The version found; None for an empty database."""
    if not dialects.tables(connection):
        return None
    foreign = StoreError(f"{place} is a database, but not one of ctxtree")
    try:
        held = connection.execute(select(meta.c.name, meta.c.value)).all()
    except DBAPIError as error:
        if dialects.is_busy(error.orig):
            raise
        raise foreign from None
    rows = {str(name): str(value) for name, value in held}
    if rows.get("application") != "ctxtree" or not rows.get("schema", "").isdecimal():
        raise foreign
    return int(rows["schema"])


def _refuse_newer(found: int | None, target: Target, place: str) -> None:
    if found is not None and found > target.version:
        raise StoreError(
            f"{place} has schema version {found}; this library knows version {target.version}: "
            "upgrade ctxtree to open it"
        )


def _stamp(connection: Connection, version: int) -> None:
    connection.execute(update(meta).where(meta.c.name == "schema").values(value=str(version)))


def _migrate(connection: Connection, found: int, target: Target) -> None:
    """Runs the steps between two versions in the caller's transaction: all of them or none."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(target.migrations).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    command.stamp(config, f"{found:04d}" if found else "base", purge=True)  # `meta` is what holds
    command.upgrade(config, f"{target.version:04d}")
