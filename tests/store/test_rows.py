"""Marks, facts, counts, summaries, epochs, turns, usage."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ctxtree.errors import NotFound, StoreError
from ctxtree.model import Mark, Message
from ctxtree.store import Database
from ctxtree.store.records import Draft

EARLY = datetime(2023, 1, 1, tzinfo=UTC)


@pytest.fixture
def ids(database: Database, tree: int) -> list[str]:
    drafts = [Draft(Message.of("user", str(turn))) for turn in range(1500)]
    return [node.id for node in database.append(tree, None, drafts, "main").nodes]


def test_marks_come_in_the_order_they_were_made(database: Database, tree: int, ids: list[str]) -> None:
    value = {"status": "failed", "reason": "a\0b"}
    database.add_marks(tree, [Mark(node=ids[2], name="status", value=value, at=EARLY)])
    database.add_marks(tree, [Mark(node=ids[1], name="pin"), Mark(node=ids[2], name="pin", value=False)])
    rows = database.marks(tree)
    assert [(row.node, row.name, row.value, row.at) for row in rows] == [
        (ids[2], "status", value, EARLY),
        (ids[1], "pin", True, None),
        (ids[2], "pin", False, None),
    ]
    assert database.marks(tree, after=rows[0].seq) == rows[1:]
    assert database.marks(tree, nodes=ids[2:]) == (rows[0], rows[2])
    assert database.marks(tree, nodes=[]) == ()
    with pytest.raises(NotFound):
        database.add_marks(tree, [Mark(node=ids[0], name="pin"), Mark(node="0" * 64, name="pin")])
    assert len(database.marks(tree)) == 3


def test_the_newest_label_holds_and_none_takes_it_away(database: Database, tree: int, ids: list[str]) -> None:
    def label(node: int, value: str | None) -> dict[str, str]:
        database.add_marks(tree, [Mark(node=ids[node], name="label", value=value)])
        return database.labels(tree)

    assert label(1, "A") == {"A": ids[1]}
    assert label(2, "A") == {"A": ids[2]}
    assert label(2, "B") == {"A": ids[1], "B": ids[2]}
    assert label(1, None) == {"B": ids[2]}


def test_the_newest_wording_of_a_fact_holds(database: Database, tree: int) -> None:
    database.put_fact(tree, "theme", "light", EARLY)
    database.put_fact(tree, "name", "Ada\0", EARLY)
    database.put_fact(tree, "theme", "dark", EARLY)
    database.put_fact(None, "theme", "everywhere", EARLY)
    assert [(row.key, row.text) for row in database.facts(tree)] == [("name", "Ada\0"), ("theme", "dark")]
    assert [row.text for row in database.facts(None)] == ["everywhere"]
    later = datetime(2025, 1, 1, tzinfo=UTC)
    database.touch_facts(tree, ["theme", "nothing"], later)
    assert [row.used_at for row in database.facts(tree)] == [EARLY, later]
    database.forget_fact(tree, "theme")
    database.forget_fact(tree, "nothing")
    assert [row.key for row in database.facts(tree)] == ["name"]
    database.put_fact(tree, "theme", "again")
    assert [row.text for row in database.facts(tree)] == ["Ada\0", "again"]


def test_a_fact_of_a_node_holds_on_paths_through_it_and_all_wordings_stay(
    database: Database, tree: int, ids: list[str]
) -> None:
    database.put_fact(tree, "units", "feet", EARLY)
    database.put_fact(tree, "units", "metres", EARLY, node=ids[1])
    database.put_fact(tree, "units", "miles", EARLY, node=ids[2])
    assert [row.text for row in database.facts(tree)] == ["feet"]
    assert [(row.text, row.node) for row in database.facts(tree, ids[:2])] == [
        ("feet", None),
        ("metres", ids[1]),
    ]
    assert [row.text for row in database.facts(tree, ids[:3])] == ["feet", "miles"]
    database.forget_fact(tree, "units", EARLY, node=ids[3])
    assert [row.text for row in database.facts(tree, ids[:4])] == ["feet"]
    assert [row.text for row in database.fact_rows(tree, "units")] == ["feet", "metres", "miles", None]
    with pytest.raises(NotFound):
        database.put_fact(tree, "units", "yards", EARLY, node="0" * 64)


def test_counts_are_kept_by_encoding_and_replaced(database: Database, tree: int, ids: list[str]) -> None:
    database.put_counts(tree, "o200k/1", {identity: place for place, identity in enumerate(ids)})
    database.put_counts(tree, "cl100k/1", {ids[3]: 33, "0" * 64: 1})
    database.put_counts(tree, "o200k/1", {ids[3]: 99})
    read = database.counts(tree, "o200k/1", [*ids, "0" * 64])
    assert read == {identity: 99 if place == 3 else place for place, identity in enumerate(ids)}
    assert database.counts(tree, "cl100k/1", ids) == {ids[3]: 33}
    assert database.counts(tree, "other", ids) == {}


def test_a_summary_is_found_by_its_key(database: Database, tree: int, ids: list[str]) -> None:
    database.put_summary(tree, "key", b"one\0", ids[0], ids[9])
    database.put_summary(tree, "key", b"two\0", ids[0], ids[9])
    assert database.summary(tree, "key") == b"two\0"
    assert database.summary(tree, "other") is None


def test_the_newest_epoch_on_the_path_is_the_one_used(database: Database, tree: int, ids: list[str]) -> None:
    for node, data in ((2, b"a"), (9, b"b"), (1400, b"c")):
        database.put_epoch(tree, ids[node], "policy", data)
    database.put_epoch(tree, ids[3], "else", b"d")
    assert [row.data for row in database.epochs(tree, "policy")] == [b"a", b"b", b"c"]
    assert (found := database.epoch_at(tree, "policy", ids[:1400])) is not None
    assert (found.node, found.key, found.data) == (ids[9], "policy", b"b")
    assert database.epoch_at(tree, "policy", ids[:2]) is None
    with pytest.raises(NotFound):
        database.put_epoch(tree, "0" * 64, "policy", b"")


def test_turns_are_listed_newest_first_and_read_whole_by_number(
    database: Database, tree: int, ids: list[str]
) -> None:
    for place in range(6):
        branch = "main" if place % 2 else "side"
        assert (
            database.put_turn(tree, branch, ids[place], EARLY, f"hash{place}", b"report" * place) == place + 1
        )
    database.put_turn(tree, "main", None, None, "", b"empty")
    assert [row.seq for row in database.turns(tree)] == [7, 6, 5, 4, 3, 2, 1]
    assert [row.seq for row in database.turns(tree, "main", limit=2, before=6)] == [4, 2]
    assert (row := database.turn(tree, 4)) is not None
    assert (row.branch, row.node, row.at, row.payload_hash) == ("main", ids[3], EARLY, "hash3")
    assert row.data == b"report" * 3
    assert database.turn(tree, 99) is None
    assert (last := database.last_turn(tree, ids[:5])) is not None
    assert (last.seq, last.data) == (5, b"report" * 4)
    assert database.last_turn(tree, ids[100:]) is None


def test_pruned_turns_are_gone_and_their_numbers_are_not_used_again(
    database: Database, tree: int, ids: list[str]
) -> None:
    other = database.create_tree("other").id
    for _ in range(5):
        database.put_turn(tree, "main", ids[0], None, "", b"x")
    database.put_turn(other, "main", None, None, "", b"x")
    assert database.prune_turns(keep=2) == 3
    assert [row.seq for row in database.turns(tree)] == [5, 4]
    assert len(database.turns(other)) == 1
    assert database.prune_turns(keep=0) == 3
    assert database.put_turn(tree, "main", None, None, "", b"x") == 6
    with pytest.raises(StoreError):
        database.prune_turns(keep=-1)


def test_usage_comes_back_as_it_was_billed(database: Database, tree: int, ids: list[str]) -> None:
    assert database.put_usage(tree, ids[1], 3, "model", b'{"input": 5}', EARLY) == 1
    assert database.put_usage(tree, None, None, "m", b"") == 2
    rows = database.usage(tree)
    assert (rows[0].node, rows[0].turn, rows[0].model, rows[0].data, rows[0].at) == (
        ids[1], 3, "model", b'{"input": 5}', EARLY,
    )  # fmt: skip
    assert (rows[1].node, rows[1].data) == (None, b"")
