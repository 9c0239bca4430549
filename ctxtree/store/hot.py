"""The statements of the hot path, worked out once for a database and run on the driver's own cursor.

Building a SQLAlchemy statement costs ten times what SQLite takes to run it, and an append needs ten.
They are still written in SQLAlchemy's terms, so they hold for every dialect.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, Connection, Dialect, bindparam, func, insert, select, update

from ctxtree.store.schema import branches, keys, meta, moves, nodes, short_id, trees

_tree: BindParameter[Any] = bindparam("in_tree")
_in_tree = nodes.c.tree == _tree
_branch = (branches.c.tree == _tree) & (branches.c.name == bindparam("branch"))

STATEMENTS: dict[str, Any] = {
    "tree": select(trees.c.id).where(trees.c.id == _tree),
    "node": select(nodes.c.seq, nodes.c.depth).where(
        _in_tree, short_id == bindparam("short"), nodes.c.id == bindparam("id")
    ),
    "last": select(func.max(nodes.c.seq)).where(
        nodes.c.seq > bindparam("low"), nodes.c.seq < bindparam("high")
    ),
    "alike": select(nodes.c.seq, nodes.c.data).where(
        _in_tree, nodes.c.fingerprint == bindparam("fingerprint"), nodes.c.same.is_(None)
    ),
    "key": select(keys.c.node).where(keys.c.tree == _tree, keys.c.key == bindparam("key")),
    "head": select(branches.c.head).where(_branch),
    "set_head": update(branches).where(_branch).values(head=bindparam("node"), updated=bindparam("now")),
    "last_move": select(moves.c.seq, moves.c.branch, moves.c.new, moves.c.reason)
    .where(moves.c.tree == _tree)
    .order_by(moves.c.seq.desc())
    .limit(1),
    "longer_move": update(moves)
    .where(moves.c.tree == _tree, moves.c.seq == bindparam("number"))
    .values(new=bindparam("node"), at=bindparam("now")),
    "last_tree": select(meta.c.value).where(meta.c.name == "last_tree"),
    "free_last_tree": select(meta.c.value)
    .where(meta.c.name == "last_tree")
    .with_for_update(skip_locked=True),
    "set_last_tree": update(meta).where(meta.c.name == "last_tree").values(value=bindparam("number")),
    "add_node": insert(nodes),
    "add_key": insert(keys),
    "add_move": insert(moves),
}


class Compiled:
    """A statement as the driver takes it."""

    __slots__ = ("fixed", "names", "text")

    def __init__(self, statement: Any, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self.text = str(compiled)
        self.names: tuple[str, ...] | None = tuple(compiled.positiontup) if compiled.positional else None
        self.fixed: dict[str, Any] = {
            name: value for name, value in compiled.params.items() if value is not None
        }

    def arguments(self, given: dict[str, Any]) -> Any:
        """The values in the driver's own form: by position or by name."""
        values = {**self.fixed, **given}
        return values if self.names is None else tuple(values[name] for name in self.names)


class Hot:
    """Runs the statements by name inside one transaction."""

    __slots__ = ("_compiled", "_cursor", "_dialect")

    def __init__(self, connection: Connection, compiled: dict[str, Compiled]) -> None:
        self._cursor = connection.connection.cursor()
        self._dialect = connection.dialect
        self._compiled = compiled

    def row(self, name: str, /, **values: Any) -> Any:
        """The first row, or None."""
        self.run(name, values)
        return self._cursor.fetchone()

    def rows(self, name: str, /, **values: Any) -> list[Any]:
        self.run(name, values)
        return list(self._cursor.fetchall())

    def run(self, name: str, values: dict[str, Any]) -> None:
        compiled = self._compiled.get(name)
        if compiled is None:
            compiled = self._compiled[name] = Compiled(STATEMENTS[name], self._dialect)
        self._cursor.execute(compiled.text, compiled.arguments(values))
