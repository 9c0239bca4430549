from __future__ import annotations

import base64
import os
import random
from pathlib import Path

from ctxtree.model import Media, Message, Text
from ctxtree.store import Database, connect
from ctxtree.store.records import Draft


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def prose(chance: random.Random, length: int) -> str:
    words: list[str] = []
    while sum(map(len, words)) + len(words) < length:
        words.append(
            "".join(chance.choices("etaoinshrdlucmfwypvbgkjqxz", range(26, 0, -1), k=chance.randint(2, 9)))
        )
    return " ".join(words)[:length]


def test_an_image_in_two_hundred_steps_is_stored_once_and_forks_cost_nothing(tmp_path: Path) -> None:
    chance = random.Random(15)
    image = base64.b64encode(chance.randbytes(3_750_000)).decode()
    unique = len(image)
    with connect(tmp_path / "chats.db") as database:
        tree = database.create_tree("talk").id
        head, branch, ids = None, "main", []
        for step in range(2000):
            text = prose(chance, 200)
            unique += len(text)
            message = Message.of("user", text)
            if step % 10 == 0:
                message = Message(role="user", parts=(Text(text=text), Media(data=image, mime="image/png")))
            if step % 40 == 39:
                branch = f"fork {step}"
                database.create_branch(tree, branch, head, parent="main", fork=head)
            head = database.append(tree, head, [Draft(message)], branch).nodes[-1].id
            ids.append(head)
    assert size(tmp_path) <= 1.3 * unique
    with connect(tmp_path / "chats.db") as database:
        path = database.path(tree, ids[-1])
        assert [node.id for node in path] == ids
        assert {part.data for node in path for part in node.message.parts if isinstance(part, Media)} == {
            image
        }
        assert len(database.branches(tree)) == 51
        before = size(tmp_path)
        assert database.insert(tree, path) == 0
    assert size(tmp_path) <= before


def test_five_thousand_messages_take_little_more_than_their_text(tmp_path: Path) -> None:
    chance = random.Random(3)
    texts = [prose(chance, 200) for _ in range(5000)]
    (tmp_path / "empty").mkdir()
    with connect(tmp_path / "chats.db") as database:
        tree, head = database.create_tree("talk").id, None
        for text in texts:
            head = database.append(tree, head, [Draft(Message.of("user", text))], "main").nodes[0].id
    connect(tmp_path / "empty" / "chats.db").close()
    assert size(tmp_path) - size(tmp_path / "empty") <= 1.3 * sum(map(len, texts))


def test_a_long_text_said_again_is_stored_once(file_database: Database, tmp_path: Path) -> None:
    tree = file_database.create_tree("talk").id
    words = prose(random.Random(1), 3000)
    first = file_database.append(tree, None, [Draft(Message.of("user", words))], "main").nodes[0]
    file_database.insert(tree, [])
    made = file_database.append(
        tree, first.id, [Draft(Message.of("user", words)) for _ in range(200)], "main"
    )
    with file_database._engine.connect() as connection:
        held = connection.exec_driver_sql("SELECT count(*) FROM nodes WHERE data IS NOT NULL").scalar()
    assert held == 1
    assert {node.text for node in file_database.path(tree, made.nodes[-1].id)} == {words}


def test_a_fork_adds_one_row_and_no_nodes(file_database: Database, tmp_path: Path) -> None:
    tree = file_database.create_tree("talk").id
    drafts = [Draft(Message.of("user", f"step {step}")) for step in range(1000)]
    head = file_database.append(tree, None, drafts, "main").nodes[-1].id
    before = size(tmp_path)
    for fork in range(50):
        file_database.create_branch(tree, f"fork {fork}", head, fork=head)
    assert len(file_database.links(tree)) == 1000
    file_database.close()
    assert size(tmp_path) < before + 20_000
    assert os.listdir(tmp_path) == ["chats.db"]
