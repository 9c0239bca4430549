"""Logs into a store: in batches, again without effect, whole after a break."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ctxtree
from ctxtree import FormatError, Store
from ctxtree.importing import BATCH_NODES, import_file

MEGABYTE = 1_000_000


def said(number: int, words: str) -> dict[str, Any]:
    return {"role": ("user", "assistant")[number % 2], "content": f"{number} {words}"}


def linked(number: int, words: str) -> dict[str, Any]:
    parent = f"n{number - 1}" if number else None
    return {"type": "message", "id": f"n{number}", "parentId": parent, "message": said(number, words)}


def log(path: Path, record: Callable[[int, str], dict[str, Any]], count: int, words: str) -> Path:
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(record(number, words)) + "\n" for number in range(count))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with ctxtree.connect(tmp_path / "store.db") as opened:
        yield opened


@pytest.mark.parametrize("record", [said, linked])
@pytest.mark.parametrize(("count", "size"), [(20_000, 2_000), (20, 2 * MEGABYTE)])
def test_a_log_of_40_mb_is_never_in_memory_as_a_whole(
    tmp_path: Path, store: Store, record: Callable[[int, str], dict[str, Any]], count: int, size: int
) -> None:
    path = log(tmp_path / "log.jsonl", record, count, "word " * (size // 5))
    assert path.stat().st_size > 40 * MEGABYTE
    store.tree("warm").user("hi")
    tracemalloc.start()
    try:
        report = store.import_file(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (report.added, report.skipped) == (count, 0)
    assert peak < 30 * MEGABYTE  # a log held whole would be 40 and more


def test_an_import_that_broke_off_is_completed_by_the_next_one(tmp_path: Path, store: Store) -> None:
    path = log(tmp_path / "log.jsonl", linked, 2 * BATCH_NODES + 10, "words")

    def stop(_name: str, stored: int) -> None:
        if stored >= BATCH_NODES:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_file(store._database, path, "auto", "log", False, stop)
    report = store.import_file(path, name="log")
    assert report.added == BATCH_NODES + 10
    assert len(store.tree("log").path()) == 2 * BATCH_NODES + 10
    assert store.import_file(path, name="log").added == 0
    assert not store.verify()


def test_a_strict_import_of_a_broken_log_stores_nothing(tmp_path: Path, store: Store) -> None:
    path = log(tmp_path / "log.jsonl", said, BATCH_NODES + 5, "words")
    with path.open("a") as out:
        out.write('{"role": "user", "content": \n')
    with pytest.raises(FormatError):
        store.import_file(path, strict=True)
    assert store.trees() == ()


def test_a_stream_is_read_from_where_it_stands(tmp_path: Path, store: Store) -> None:
    path = log(tmp_path / "log.jsonl", said, 4, "words")
    with path.open("rb") as stream:
        report = store.import_file(stream, name="streamed")
    assert report.added == 4
    assert store.import_file(io.BytesIO(path.read_bytes()), name="streamed").added == 0


@pytest.mark.parametrize("record", [said, linked])
def test_a_log_that_has_grown_takes_its_branch_along(
    tmp_path: Path, store: Store, record: Callable[[int, str], dict[str, Any]]
) -> None:
    for count in (4, 10, 11):
        store.import_file(log(tmp_path / "log.jsonl", record, count, "words"), name="grown")
        tree = store.tree("grown")
        assert [(row.name, row.nodes) for row in tree.branches()] == [("main", count)]
    store.tree("grown").user("said here, not in the log")
    store.import_file(log(tmp_path / "log.jsonl", record, 14, "words"), name="grown")
    tree = store.tree("grown")
    assert [(row.name, row.nodes) for row in tree.branches()] == [("main", 12), ("main.2", 14)]
    assert tree.path()[-1].text == "said here, not in the log"
    assert store.verify() == ()


@pytest.mark.parametrize(
    "name", ["", " ", "\n", "x" * 301, "x" * 5_000, "y" * 300, "../a", "HEAD", "deadbeef00"]
)
def test_whatever_a_conversation_is_called_its_tree_can_be_opened(
    tmp_path: Path, store: Store, name: str
) -> None:
    messages = [{"uuid": "u", "sender": "human", "text": "hi"}]
    exported = [
        {"uuid": one, "chat_messages": messages} for one in (name, f"{name}z" if len(name) > 300 else "z")
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(exported))
    report = store.import_file(path)
    trees = [made.tree for made in report.conversations]
    assert len(set(trees)) == len(store.trees()) == 2
    for tree in trees:
        assert [node.text for node in store.tree(tree, create=False).path()] == ["hi"]
    assert store.import_file(path).added == 0
