"""After an erasure nothing of the words is left in any byte of the store's files, and the tree still verifies."""

from __future__ import annotations

import base64
import json
import random
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import ctxtree
from ctxtree import Budget, Policy, Store, ToolCall, Tree
from ctxtree.model import Media, Message, Node, Reasoning, Text

WORDS = "Zebra-9931"
CHINESE = "斑马九九三一号口令"
LARGE = (
    "".join(random.Random(5).choices("abcdefghijklmnopqrstuvwxyz      ", k=9_000))
    + f" the large text says {WORDS} too"
)
PICTURE = random.Random(9).randbytes(6_000)
DICTIONARY = files("ctxtree.store").joinpath("dictionary1.txt").read_bytes()


class Shapes:
    """An embedder whose vectors of the words can be told from all others."""

    name = "shapes"

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        return [
            [0.123456 if WORDS in text or CHINESE in text else len(text) % 7 + 1.0, 1.0, -0.5]
            for text in texts
        ]


def inflated(data: bytes) -> Iterator[bytes]:
    """What any run of the bytes says if it is read as the store compresses, from every single offset."""
    for start in range(len(data)):
        press = zlib.decompressobj(-15, zdict=DICTIONARY)
        try:
            yield press.decompress(data[start : start + 60_000], 200_000)
        except zlib.error:
            continue


def places(folder: Path, further: Sequence[bytes] = ()) -> list[str]:
    """In which form and file something of the words is found: as they are, escaped, as UTF-16, base64, or compressed."""
    forms = {
        f"{name} {word}": form
        for word in (WORDS, CHINESE)
        for name, form in {
            "plain": word.encode(), "escaped": json.dumps(word)[1:-1].encode(), "wide": word.encode("utf-16-le"),
            "base64": base64.b64encode(word.encode())[:-4], "hex": word.encode().hex().encode(),
        }.items()
    }  # fmt: skip
    forms |= {
        "large": LARGE[100:140].encode(),
        "picture": PICTURE[100:140],
        "picture as text": base64.b64encode(PICTURE)[100:140],
    }
    forms |= {f"further {number}": form for number, form in enumerate(further)}
    found = []
    for file in sorted(folder.iterdir()):
        data = file.read_bytes()
        found += [f"{name} in {file.name}" for name, form in forms.items() if form in data]
        whole = b"\0".join(inflated(data))
        found += [f"{name} compressed in {file.name}" for name, form in forms.items() if form in whole]
    return found


def lived(store: Store) -> tuple[Tree, list[Node]]:
    """A tree in which the words went everywhere that words go; with the nodes that say them."""
    tree = store.tree("talk", system="You are careful.")
    said = [tree.user(f"Always use the passphrase {WORDS}（{CHINESE}）for deploys. Never touch prod.")]
    call = ToolCall(id="c", name="login", arguments={"code": WORDS, "说": CHINESE})
    thought = Reasoning(text=f"{WORDS} it is", signature="s", origin="anthropic")
    said.append(tree.append(Message(role="assistant", parts=(thought, Text(text=f"I use {WORDS}."), call))))
    said.append(tree.tool("c", f"Error: {WORDS} was refused\n" + LARGE, error=True))
    tree.retry("it was refused")
    said.append(
        tree.append(
            Message(
                role="user",
                parts=(
                    Text(text=f"see {WORDS}"),
                    Media(data=base64.b64encode(PICTURE).decode(), mime="image/png"),
                ),
            )
        )
    )
    tree.assistant("Another way.")
    tree.fork("side", tree.path()[1])
    said.append(tree.user(f"Look at {WORDS}"))
    said.append(tree.assistant(f"The outcome is {WORDS}, {CHINESE}."))
    tree.switch("main.2")
    tree.merge("side")
    tree.label(said[0], f"the {WORDS} rule")
    tree.mark(said[0], status="failed", reason=f"{CHINESE} is wrong")
    tree.remember(f"passphrase {WORDS}")
    store.remember(f"{WORDS}（{CHINESE}）")
    said.append(tree.set_state(code=WORDS))
    for number in range(25):
        tree.user(f"Question {number}: " + "what about the cache and the index? " * 12)
        tree.assistant("It is fine. " * 30)
    return tree, said


def used(tree: Tree) -> None:
    """Compiled in many ways, so that summaries, epochs, turns, counts, vectors and condensed forms quote the words."""
    for policy in (Policy.hybrid(), Policy.stable(), Policy.agent()):
        for target in ("openai.chat", "anthropic"):
            made = tree.compile(
                budget=Budget(1_500),
                policy=policy,
                target=target,
                input=f"which passphrase is it, {WORDS}?",
                embedder=Shapes(),
            )
            assert WORDS in json.dumps(made.payload)
    tree.redacted(("email",)).compile(budget=Budget(1_500))
    tree.record_usage(tree.path()[-1], {"prompt_tokens": 10, "completion_tokens": 5, "note": "usage"})


def stored_vectors(file: Path) -> list[bytes]:
    with sqlite3.connect(file) as connection:
        rows = connection.execute("SELECT data FROM vectors").fetchall()
    connection.close()
    ours = {bytes(data) for (data,) in rows}
    assert len(ours) > 1
    return [data for data in ours if sum(bytes(row[0]) == data for row in rows) < 12]


def test_nothing_of_erased_words_is_left_in_any_byte(tmp_path: Path) -> None:
    file = tmp_path / "chats.db"
    with ctxtree.connect(file) as store:
        tree, said = lived(store)
        other = store.tree("other")
        other.user("An equal tree stays as it is.")
        used(tree)
        vectors = stored_vectors(file)
        assert {place.split(" in ")[0] for place in places(tmp_path, vectors)} >= {
            f"plain {WORDS}",
            f"further {len(vectors) - 1}",
            "picture",
        }
        assert any("compressed" in place for place in places(tmp_path))
        for node in said:
            store.purge(node.id, "asked for", "talk")
        assert places(tmp_path, vectors) == []
        assert {problem.code for problem in store.verify()} == {"erased"}
        kept = [node.id for node in tree.path()]
        made = tree.compile(budget=Budget(1_500), input="which passphrase is it?")
        assert WORDS not in json.dumps(made.payload, ensure_ascii=False)
        assert CHINESE not in json.dumps(made.payload, ensure_ascii=False)
    assert places(tmp_path, vectors) == []
    with ctxtree.connect(file) as store:
        assert [node.id for node in store.tree("talk").path()] == kept
        assert {problem.code for problem in store.verify()} == {"erased"}
        assert store.tree("other").path()[0].text == "An equal tree stays as it is."
    assert places(tmp_path, vectors) == []
