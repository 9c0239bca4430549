from __future__ import annotations

import base64
import json
import random
from pathlib import Path

import sqlalchemy

import ctxtree
from ctxtree.model import Media, Message, Text
from ctxtree.store import Database, connect
from ctxtree.store.dialects import parse
from ctxtree.store.records import Draft

SLACK = {"sqlite": 1.3, "postgresql": 2.6}
"""Bytes of the store for each byte of what is said in 200 characters a message; PostgreSQL's rows have heads of their own."""


def engine_of(url: str) -> str:
    return parse(url).get_backend_name()


def size(url: str) -> int:
    """Bytes of the store: SQLite's files, or PostgreSQL's tables with their indexes, rewritten without dead rows."""
    if engine_of(url) == "sqlite":
        return sum(file.stat().st_size for file in Path(url).parent.iterdir())
    engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("VACUUM FULL nodes, branches, moves")
        total = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
        ours = f"{total} AND relnamespace = current_schema()::regnamespace"
        held = int(connection.exec_driver_sql(ours).scalar_one())
    engine.dispose()
    return held


def prose(chance: random.Random, length: int) -> str:
    words: list[str] = []
    while sum(map(len, words)) + len(words) < length:
        words.append(
            "".join(chance.choices("etaoinshrdlucmfwypvbgkjqxz", range(26, 0, -1), k=chance.randint(2, 9)))
        )
    return " ".join(words)[:length]


def test_an_image_in_two_hundred_steps_is_stored_once_and_forks_cost_nothing(shared_url: str) -> None:
    chance = random.Random(15)
    image = base64.b64encode(chance.randbytes(750_000)).decode()
    spoken = 0
    with connect(shared_url) as database:
        tree = database.create_tree("talk").id
        head, branch, ids = None, "main", []
        for step in range(2000):
            text = prose(chance, 200)
            spoken += len(text)
            message = Message.of("user", text)
            if step % 10 == 0:
                message = Message(role="user", parts=(Text(text=text), Media(data=image, mime="image/png")))
            if step % 40 == 39:
                branch = f"fork {step}"
                database.create_branch(tree, branch, head, parent="main", fork=head)
            head = database.append(tree, head, [Draft(message)], branch).nodes[-1].id
            ids.append(head)
    assert size(shared_url) <= len(image) + SLACK[engine_of(shared_url)] * spoken
    with connect(shared_url) as database:
        path = database.path(tree, ids[-1])
        assert [node.id for node in path] == ids
        assert {part.data for node in path for part in node.message.parts if isinstance(part, Media)} == {
            image
        }
        assert len(database.branches(tree)) == 51
        before = size(shared_url)
        assert database.insert(tree, path) == 0
    assert size(shared_url) <= before


def test_five_thousand_messages_take_little_more_than_their_text(shared_url: str) -> None:
    chance = random.Random(3)
    texts = [prose(chance, 200) for _ in range(5000)]
    connect(shared_url).close()
    empty = size(shared_url)
    with connect(shared_url) as database:
        tree, head = database.create_tree("talk").id, None
        for text in texts:
            head = database.append(tree, head, [Draft(Message.of("user", text))], "main").nodes[0].id
    assert size(shared_url) - empty <= SLACK[engine_of(shared_url)] * sum(map(len, texts))


def test_a_long_text_said_again_is_stored_once(database: Database) -> None:
    tree = database.create_tree("talk").id
    words = prose(random.Random(1), 3000)
    first = database.append(tree, None, [Draft(Message.of("user", words))], "main").nodes[0]
    database.insert(tree, [])
    made = database.append(tree, first.id, [Draft(Message.of("user", words)) for _ in range(200)], "main")
    with database._engine.connect() as connection:
        held = connection.exec_driver_sql("SELECT count(*) FROM nodes WHERE data IS NOT NULL").scalar()
    assert held == 1
    assert {node.text for node in database.path(tree, made.nodes[-1].id)} == {words}


def test_a_fork_adds_one_row_and_no_nodes(shared_url: str) -> None:
    with connect(shared_url) as database:
        tree = database.create_tree("talk").id
        drafts = [Draft(Message.of("user", f"step {step}")) for step in range(1000)]
        head = database.append(tree, None, drafts, "main").nodes[-1].id
    before = size(shared_url)
    with connect(shared_url) as database:
        for fork in range(50):
            database.create_branch(tree, f"fork {fork}", head, fork=head)
        assert len(database.links(tree)) == 1000
    assert size(shared_url) < before + 20_000


def log(path: Path, image: str, steps: int, forks: int) -> int:
    """A log of a coding agent with one image in every tenth row and rows written twice; the bytes of its unique content."""
    chance = random.Random(15)
    unique = len(image)
    above: list[str | None] = [None]
    with path.open("w") as out:
        for step in range(steps):
            words = prose(chance, 200)
            unique += len(words)
            parent = (
                above[-1] if step % (steps // forks) or not step else above[chance.randrange(1, len(above))]
            )
            source = {"type": "base64", "media_type": "image/png", "data": image}
            blocks = [
                {"type": "text", "text": words},
                *([{"type": "image", "source": source}] if step % 10 == 0 else []),
            ]
            role = "user" if step % 10 == 0 else ("assistant", "user")[step % 2]
            message = {"role": role, "content": blocks}
            row = json.dumps({"uuid": f"n{step}", "parentUuid": parent, "type": role, "message": message})
            above.append(f"n{step}")
            out.write((row + "\n") * (2 if step % 100 == 50 else 1))
    return unique


def test_a_log_of_two_thousand_steps_and_fifty_forks_grows_by_nothing_when_it_is_read_again(
    shared_url: str, tmp_path: Path
) -> None:
    """Read with `import_file`, the image in 200 rows; kept once, and no row that stands twice makes two nodes."""
    image = base64.b64encode(random.Random(15).randbytes(300_000)).decode()
    (tmp_path / "logs").mkdir()
    unique = log(tmp_path / "logs" / "log.jsonl", image, 2_000, 50)
    with ctxtree.connect(shared_url) as store:
        report = store.import_file(tmp_path / "logs" / "log.jsonl", name="talk")
        assert (report.added, report.skipped) == (2_000, 0)
        tree = store.tree("talk")
        assert len(tree.branches()) > 30
        told = sum(len(tree.marks(node)["source"]) > 0 for node in tree.path())
        assert told == len(tree.path())
    once = size(shared_url)
    assert once <= 2 * SLACK[engine_of(shared_url)] * unique
    with ctxtree.connect(shared_url) as store:
        assert store.import_file(tmp_path / "logs" / "log.jsonl", name="talk").added == 0
        assert store.verify() == ()
    assert size(shared_url) <= once
