from __future__ import annotations

import base64
import random
import sqlite3
import zlib
from pathlib import Path

import pytest
import sqlalchemy

from ctxtree.errors import NotFound, StoreError
from ctxtree.model import Mark, Media, Message, Opaque, Text, ToolCall
from ctxtree.store import Database, connect, dialects
from ctxtree.store.records import Draft

from .conftest import schema

SECRET = "the launch code is 7Q-Zebra-9931"
# Bytes that compression leaves alone, so that a search of the files would find them.
NOISE = base64.b64encode(random.Random(9).randbytes(30_000)).decode()


def files(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


def holds(folder: Path, database: Database, words: str) -> bool:
    """True if the files have the words, as they are or as the store writes them."""
    packed = database._codec.pack(words.encode())[1:]
    raw = base64.b64decode(NOISE)[5000:5040]
    found = files(folder)
    return any(form in found for form in (words.encode(), packed, raw, zlib.compress(words.encode())))


def fill(database: Database) -> tuple[int, list[str]]:
    tree = database.create_tree("talk").id
    secret = Message(role="user", parts=(Text(text=SECRET), Media(data=NOISE, mime="image/png")))
    said = [Message.of("system", "s"), Message.of("user", SECRET), secret, Message.of("assistant", "ok")]
    ids = [
        node.id for node in database.append(tree, None, [Draft(message) for message in said], "main").nodes
    ]
    database.add_marks(tree, [Mark(node=ids[1], name="label", value=SECRET)])
    database.put_summary(tree, "k", SECRET.encode(), ids[0], ids[2])
    database.put_epoch(tree, ids[3], "p", SECRET.encode())
    database.put_turn(tree, "main", ids[3], None, "h", SECRET.encode())
    database.put_counts(tree, "o200k", dict.fromkeys(ids, 7))
    return tree, ids


def test_erased_words_are_in_no_file_any_more(file_database: Database, tmp_path: Path) -> None:
    tree, ids = fill(file_database)
    assert holds(tmp_path, file_database, SECRET)
    for identity in ids[1:3]:
        file_database.purge(tree, identity, "asked for")
    assert not holds(tmp_path, file_database, SECRET)
    file_database.close()
    assert not holds(tmp_path, file_database, SECRET)


def tables_of(url: str) -> bytes:
    """The bytes of all tables of a PostgreSQL server as they lie on the disk; its own log apart."""
    engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("CHECKPOINT")
        folder = Path(str(connection.exec_driver_sql("SHOW data_directory").scalar_one())) / "base"
    engine.dispose()
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def test_erased_words_are_in_no_table_of_a_server_any_more(server: str) -> None:
    with schema(server) as url, connect(url) as database:
        words = "".join(random.Random(11).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=40))
        forms = [words.encode(), database._codec.pack(words.encode())[1:]]
        tree = database.create_tree("talk").id
        said = [Draft(Message.of("user", text)) for text in ("before", words, f"{words} again", "after")]
        ids = [node.id for node in database.append(tree, None, said, "main").nodes]
        database.add_marks(tree, [Mark(node=ids[1], name="label", value=words)])
        database.put_summary(tree, "k", words.encode(), ids[0], ids[2])
        database.put_fact(tree, "f", words)
        assert any(form in tables_of(url) for form in forms)
        database.purge(tree, ids[1], "asked for", below=True)
        held = tables_of(url)
        assert not any(form in held for form in forms)
        assert {problem.code for problem in database.verify()} == {"erased"}


def test_facts_drawn_from_the_words_go_with_them(database: Database) -> None:
    tree, ids = fill(database)
    database.put_fact(tree, "code", "The launch code  is 7Q-Zebra-9931")
    database.put_fact(None, "code", "launch code is 7Q-Zebra-9931")
    database.put_fact(tree, "theme", "dark")
    database.purge(tree, ids[1], "asked for")
    assert [fact.key for fact in database.facts(tree)] == ["theme"]
    assert database.facts(None) == ()


def test_notes_of_merges_that_quote_the_words_go_with_them(database: Database) -> None:
    tree, ids = fill(database)

    def note(text: str) -> str:
        draft = Draft(Message.of("note", text), merged=(ids[2],))
        return database.append(tree, ids[3], [draft], None).nodes[0].id

    quoting = note(f"[found on branch x, 1 messages: history, not instructions]\noutcome: {SECRET}")
    told = "[found on branch x, 1 messages: history, not instructions]\nasked: what else?"
    other = note(told)
    database.purge(tree, ids[1], "asked for")
    assert [node.text for one in (quoting, other) if (node := database.node(tree, one))] == ["", told]
    assert {problem.node for problem in database.verify()} == {ids[1], quoting}


def test_facts_drawn_from_a_call_go_with_it(database: Database) -> None:
    tree = database.create_tree("talk").id
    call = ToolCall(id="c", name="login", arguments={"code": SECRET})
    (node,) = database.append(tree, None, [Draft(Message(role="assistant", parts=(call,)))], "main").nodes
    database.put_fact(tree, "code", SECRET)
    database.purge(tree, node.id, "asked for")
    assert database.facts(tree) == ()


def test_a_tombstone_keeps_its_place_and_its_id(database: Database) -> None:
    tree, ids = fill(database)
    database.purge(tree, ids[1], "asked for")
    path = database.path(tree, ids[3])
    assert [node.id for node in path] == ids
    assert path[1].message.parts == (Opaque(origin="ctxtree", kind="erased"),)
    assert path[1].text == ""
    assert path[1].role == "user"
    assert [(problem.code, problem.node) for problem in database.verify()] == [("erased", ids[1])]
    assert [(row.name, row.value) for row in database.marks(tree)] == [("erased", {"reason": "asked for"})]
    assert database.labels(tree) == {}
    assert database.summary(tree, "k") is None
    assert database.epochs(tree, "p") == database.turns(tree) == ()
    assert database.counts(tree, "o200k", ids) == dict.fromkeys([ids[0], *ids[2:]], 7)


def test_erasing_twice_or_what_is_not_there(database: Database) -> None:
    tree, ids = fill(database)
    database.purge(tree, ids[1], "one")
    database.purge(tree, ids[1], "two")
    assert [row.value for row in database.marks(tree)] == [{"reason": "one"}, {"reason": "two"}]
    assert len(database.verify()) == 1
    with pytest.raises(NotFound):
        database.purge(tree, "0" * 64, "x")


def test_the_same_words_after_an_erasure_are_the_next_attempt(database: Database) -> None:
    tree, ids = fill(database)
    database.purge(tree, ids[1], "asked for")
    again = database.append(tree, ids[0], [Draft(Message.of("user", SECRET))], None).nodes[0]
    assert again.attempt == 1
    assert again.id != ids[1]
    original = next(node for node in database.all_nodes(tree) if node.id == again.id)
    assert original.text == SECRET


def test_content_that_other_nodes_share_stays_with_them(database: Database) -> None:
    tree = database.create_tree("talk").id
    words = "".join(random.Random(4).choices("abcdefghijklmnopqrstuvwxyz ", k=3000))
    shared = [Message.of("user", words)] * 3
    media = [Message(role="user", parts=(Text(text=str(n)), Media(data=NOISE))) for n in range(2)]
    made = database.append(tree, None, [Draft(message) for message in (*shared, *media)], "main").nodes
    for gone in (0, 1, 3):
        database.purge(tree, made[gone].id, "x")
    path = database.path(tree, made[-1].id)
    assert [node.message for node in path if node.text] == [shared[0], media[1]]
    assert {problem.code for problem in database.verify()} == {"erased"}


def test_an_import_does_not_bring_erased_words_back(database: Database) -> None:
    tree, ids = fill(database)
    log = database.path(tree, ids[3])
    database.purge(tree, ids[1], "asked for")
    assert database.insert(tree, log) == 0
    assert (node := database.node(tree, ids[1])) is not None
    assert node.text == ""


def test_a_reader_that_holds_the_old_pages_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "BUSY_MS", 200)
    with connect(tmp_path / "chats.db") as database:
        tree, ids = fill(database)
        reader = sqlite3.connect(tmp_path / "chats.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM nodes").fetchall()
        with pytest.raises(StoreError, match="erased, but"):
            database.purge(tree, ids[1], "asked for")
        reader.close()
        assert (node := database.node(tree, ids[1])) is not None
        assert node.text == ""
        database.purge(tree, ids[1], "again")
        database.purge(tree, ids[2], "this too")
        assert not holds(tmp_path, database, SECRET)


def chain(length: int, start: int = 0) -> list[Draft]:
    return [Draft(Message.of("user", f"{SECRET} number {start + n}")) for n in range(length)]


def test_erasing_a_subtree_leaves_what_is_above_and_beside_it(database: Database) -> None:
    tree = database.create_tree("talk").id
    words = "".join(random.Random(4).choices("abcdefghijklmnopqrstuvwxyz ", k=3000))
    shared = Draft(Message.of("user", words))
    above = database.append(tree, None, [*chain(3), shared], "main").nodes
    gone = database.append(tree, above[-1].id, [*chain(1_200, 3), shared], "main").nodes
    fork = database.append(tree, gone[600].id, chain(2, 9_000), None).nodes
    beside = database.append(tree, above[-1].id, [*chain(2, 20_000), shared], None).nodes
    database.add_marks(tree, [Mark(node=gone[5].id, name="label", value=SECRET)])
    database.add_marks(tree, [Mark(node=beside[0].id, name="label", value="stays")])
    database.put_counts(tree, "o200k", {gone[3].id: 4, beside[0].id: 4})
    database.purge(tree, gone[0].id, "asked for", below=True)
    doomed = {node.id for node in (*gone, *fork)}
    told = database.verify()
    assert {problem.code for problem in told} == {"erased"}
    assert {problem.node for problem in told} == doomed
    assert len(told) == len(doomed)
    assert [node.message for node in database.path(tree, beside[-1].id)] == [
        node.message for node in (*above, *beside)
    ]
    assert not any(node.text for node in database.path(tree, gone[-1].id)[4:])
    assert database.labels(tree) == {"stays": beside[0].id}
    assert database.counts(tree, "o200k", [gone[3].id, beside[0].id]) == {beside[0].id: 4}


def test_erasing_the_root_with_all_below_leaves_no_word_in_any_file(
    file_database: Database, tmp_path: Path
) -> None:
    tree, ids = fill(file_database)
    assert holds(tmp_path, file_database, SECRET)
    file_database.purge(tree, ids[0], "asked for", below=True)
    file_database.close()
    assert not holds(tmp_path, file_database, SECRET)


def test_content_that_only_erased_nodes_share_is_gone_and_a_holder_passes_it_on(database: Database) -> None:
    tree = database.create_tree("talk").id
    words = "".join(random.Random(4).choices("abcdefghijklmnopqrstuvwxyz ", k=3000))
    root = database.append(tree, None, [Draft(Message.of("user", "root"))], "main").nodes[0].id
    same = [Draft(Message.of("user", words))] * 3
    first = database.append(tree, root, same, None).nodes
    second = database.append(tree, root, [Draft(Message.of("user", "x")), *same], None).nodes
    database.purge(tree, first[0].id, "asked for", below=True)
    assert [node.text for node in database.path(tree, second[-1].id)] == ["root", "x", *[words] * 3]
    database.purge(tree, second[0].id, "asked for", below=True)
    assert {problem.code for problem in database.verify()} == {"erased"}
    assert len(database.verify()) == 7


def test_a_note_of_a_merge_goes_with_the_words_that_it_quotes(database: Database) -> None:
    tree = database.create_tree("talk").id
    root = database.append(tree, None, [Draft(Message.of("user", "root"))], "main").nodes[0].id
    long = (
        "It turned out that the customer Anna Example of Sample Street 5 cancelled her order on Friday. ok."
    )
    side = database.append(tree, root, [Draft(Message.of("assistant", long))], None).nodes[0].id
    other = database.append(tree, root, [Draft(Message.of("assistant", "ok"))], None).nodes[0].id
    quoting = Draft(Message.of("note", f"found on a branch: {long[:70]}…"), merged=(side,))
    plain = Draft(Message.of("note", "found on a branch: the index is missing, all is ok"), merged=(other,))
    notes = database.append(tree, root, [quoting, plain], "main").nodes
    database.purge(tree, other, "short words quote nothing")
    assert [node.text for node in database.path(tree, notes[1].id)[1:]] == [note.text for note in notes]
    database.purge(tree, side, "asked for")
    assert [node.text for node in database.path(tree, notes[1].id)[1:]] == ["", notes[1].text]
    assert {problem.node for problem in database.verify()} == {side, other, notes[0].id}
