"""The tables, one definition for SQLite and PostgreSQL.

Nodes have one number, `seq`, that only grows; it is the row's address and the order of creation.
A node is stored after its parents, so along every path `seq` increases too. In SQLite one counter for
all trees keeps rows in the order they were written: pages fill up, whichever trees grow side by side.
On PostgreSQL, where trees have writers of their own, each tree counts in a range of its own.

Text that users or models wrote stands in byte columns, because PostgreSQL's text refuses NUL.
Times are microseconds since 1970, UTC. Long ids are found by an index over their first bytes only:
they are random, so four bytes are enough to get down to a row or two, and the index costs half.

A node's row holds its content (`data`), unless an earlier node of the tree says the same; then
`same` is that node's number. `fingerprint` is 31 bits of the message hash, to find equal content; short
content has none, because finding it again would cost more than storing it twice.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    func,
    literal_column,
)

VERSION = 4
SHORT_ID = 4  # bytes of an id that its index holds

metadata = MetaData()
big = BigInteger().with_variant(Integer, "sqlite")

meta = Table(
    "meta",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", String(200), nullable=False),
    sqlite_with_rowid=False,
)

trees = Table(
    "trees",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", LargeBinary, nullable=False),
    Column("active", LargeBinary, nullable=False),
    Column("created", big),
    Index("trees_name", "name", unique=True),
)

nodes = Table(
    "nodes",
    metadata,
    Column("seq", big, primary_key=True, autoincrement=False),
    Column("tree", Integer, nullable=False),
    Column("id", LargeBinary, nullable=False),
    Column("parent", big),
    Column("depth", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("role", SmallInteger, nullable=False),
    Column("merged", SmallInteger, nullable=False),
    Column("created", big),
    Column("fingerprint", Integer),
    Column("same", big),
    Column("data", LargeBinary),
)
# The figures are literals and not bound parameters: only then does a query match the index.
short_id = func.substr(nodes.c.id, literal_column("1"), literal_column("4"))
Index("nodes_id", nodes.c.tree, short_id)
Index("nodes_parent", nodes.c.tree, nodes.c.parent)
has_fingerprint = nodes.c.fingerprint.is_not(None)
Index(
    "nodes_fingerprint",
    nodes.c.tree,
    nodes.c.fingerprint,
    sqlite_where=has_fingerprint,
    postgresql_where=has_fingerprint,
)

parents = Table(
    "parents",
    metadata,
    Column("node", big, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("parent", big, nullable=False),
    sqlite_with_rowid=False,
)

blobs = Table(
    "blobs",
    metadata,
    Column("tree", Integer, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

keys = Table(
    "keys",
    metadata,
    Column("tree", Integer, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, primary_key=True),
    Column("node", big, nullable=False),
    sqlite_with_rowid=False,
)

branches = Table(
    "branches",
    metadata,
    Column("tree", Integer, primary_key=True, autoincrement=False),
    Column("name", LargeBinary, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("head", big),
    Column("parent", LargeBinary),
    Column("fork", big),
    Column("status", LargeBinary, nullable=False),
    Column("updated", big),
    sqlite_with_rowid=False,
)

moves = Table(
    "moves",
    metadata,
    Column("tree", Integer, primary_key=True, autoincrement=False),
    Column("seq", big, primary_key=True, autoincrement=False),
    Column("branch", LargeBinary, nullable=False),
    Column("old", big),
    Column("new", big),
    Column("at", big),
    Column("reason", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

marks = Table(
    "marks",
    metadata,
    Column("seq", big, primary_key=True, autoincrement=False),
    Column("tree", Integer, nullable=False),
    Column("node", big, nullable=False),
    Column("name", String, nullable=False),
    Column("value", LargeBinary, nullable=False),
    Column("at", big),
    Index("marks_node", "tree", "node"),
)
is_label = marks.c.name == literal_column("'label'")
Index("marks_label", marks.c.tree, sqlite_where=is_label, postgresql_where=is_label)

counts = Table(
    "counts",
    metadata,
    Column("encoding", Integer, primary_key=True, autoincrement=False),
    Column("node", big, primary_key=True, autoincrement=False),
    Column("tokens", Integer, nullable=False),
    sqlite_with_rowid=False,
)

encodings = Table(
    "encodings",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", LargeBinary, nullable=False, unique=True),
)

vectors = Table(
    "vectors",
    metadata,
    Column("tree", Integer, primary_key=True, autoincrement=False),
    Column("encoding", Integer, primary_key=True, autoincrement=False),
    Column("node", big, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)

segments = Table(
    "segments",
    metadata,
    Column("tree", Integer, nullable=False),
    Column("node", big, primary_key=True, autoincrement=False),
    Column("above", big),
    Column("version", Integer, nullable=False),
    Column("outline", LargeBinary, nullable=False),
    Column("words", LargeBinary, nullable=False),
)

facts = Table(
    "facts",
    metadata,
    Column("tree", Integer, primary_key=True, autoincrement=False),
    Column("seq", big, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, nullable=False),
    Column("text", LargeBinary),
    Column("created", big),
    Column("used", big),
    Column("node", big),
)

summaries = Table(
    "summaries",
    metadata,
    Column("tree", Integer, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, primary_key=True),
    Column("first", big),
    Column("last", big),
    Column("data", LargeBinary, nullable=False),
)

epochs = Table(
    "epochs",
    metadata,
    Column("tree", Integer, primary_key=True, autoincrement=False),
    Column("seq", big, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, nullable=False),
    Column("node", big, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index("epochs_key", "tree", "key", "seq"),
)

turns = Table(
    "turns",
    metadata,
    Column("tree", Integer, primary_key=True, autoincrement=False),
    Column("seq", big, primary_key=True, autoincrement=False),
    Column("branch", LargeBinary, nullable=False),
    Column("node", big),
    Column("at", big),
    Column("payload_hash", LargeBinary, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

usage = Table(
    "usage",
    metadata,
    Column("tree", Integer, primary_key=True, autoincrement=False),
    Column("seq", big, primary_key=True, autoincrement=False),
    Column("node", big),
    Column("turn", big),
    Column("model", LargeBinary, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("at", big),
)
