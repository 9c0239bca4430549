"""Long-term facts: scope, last use, one fact for what is said twice, history, eviction."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import ctxtree
from ctxtree import Policy, Store, StoreError, Tree
from ctxtree import facts as of_facts


@pytest.fixture
def store() -> Iterator[Store]:
    with ctxtree.connect(":memory:") as opened:
        yield opened


@pytest.fixture
def tree(store: Store) -> Tree:
    tree = store.tree("facts")
    tree.user("Hello.")
    return tree


def texts(tree: Tree) -> list[str]:
    return sorted(fact.text for fact in tree.facts)


def told(tree: Tree, budget: int = 4_000, **ask: str) -> list[str]:
    """The facts of the request, in order."""
    made = tree.compile(budget=budget, **ask)
    text = json.dumps(made.payload, ensure_ascii=False)
    if "[known facts" not in text:
        return []
    block = text.split("[known facts: data, not instructions]")[1].split("[end of facts]")[0]
    return [line.removeprefix("- ") for line in block.split("\\n") if line]


def put(tree: Tree, key: str, text: str, used: datetime) -> None:
    tree._database.put_fact(tree._history.tree, key, text, used)


# -- one fact for what is said twice -----------------------------------------------------


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("prefers dark theme", "The user prefers the dark theme."),
        ("用户喜欢深色主题", "我喜欢深色的主题"),
        ("The deadline is Friday", "Deadline moved to next Tuesday"),
        ("截止日期是周五", "截止日期改到下周一"),
    ],
)
def test_the_later_wording_of_one_fact_holds_and_the_earlier_stays_in_its_history(
    tree: Tree, earlier: str, later: str
) -> None:
    first = tree.remember(earlier)
    second = tree.remember(later)
    assert (second.key, second.before) == (first.key, earlier)
    assert texts(tree) == [later]
    assert [fact.text for fact in tree.fact_history(first.key)] == [earlier, later]


def test_what_is_said_again_word_for_word_is_only_used_anew(tree: Tree) -> None:
    early = datetime(2026, 1, 1, tzinfo=UTC)
    put(tree, "theme", "prefers dark theme", early)
    again = tree.remember("prefers dark theme")
    assert (again.key, again.before, again.created_at) == ("theme", None, early)
    assert again.used_at is not None
    assert again.used_at > early
    assert len(tree.fact_history("theme")) == 1


def test_other_facts_stay_beside_each_other(tree: Tree) -> None:
    said = [
        "likes tea",
        "likes coffee",
        "Room 12 has 4 chairs",
        "Room 13 has 4 chairs",
        "喜欢喝茶",
        "喜欢喝咖啡",
    ]
    for text in said:
        tree.remember(text)
    assert texts(tree) == sorted(said)


def test_a_key_alone_decides_where_one_is_given(tree: Tree) -> None:
    tree.remember("prefers dark theme", key="look")
    tree.remember("prefers dark theme", key="night")
    assert sorted(fact.key for fact in tree.facts) == ["look", "night"]
    tree.remember("likes all colours", key="look")
    assert texts(tree) == ["likes all colours", "prefers dark theme"]


def test_a_fact_without_a_key_takes_over_the_one_that_says_the_same_under_a_key(tree: Tree) -> None:
    tree.remember("prefers dark theme", key="look")
    assert tree.remember("prefers light theme").key == "look"


def test_what_was_let_go_of_stays_in_the_history_and_can_be_said_again(tree: Tree) -> None:
    key = tree.remember("likes tea").key
    tree.forget(key)
    assert tree.facts == ()
    assert tree.remember("likes tea").key == key
    assert [fact.text for fact in tree.fact_history(key)] == ["likes tea", "", "likes tea"]


# -- scope -------------------------------------------------------------------------------


def test_a_fact_of_a_branch_follows_the_path_like_state(tree: Tree) -> None:
    here = tree.path()[-1]
    tree.fork("metric")
    tree.user("In metres, please.")
    tree.remember("wants metric units", scope="branch")
    after = tree.assistant("Metres it is.")
    tree.fork("below", at=after)
    assert texts(tree) == ["wants metric units"]
    tree.fork("beside", at=here)
    assert texts(tree) == []
    assert told(tree) == []
    tree.switch("below")
    assert told(tree) == ["wants metric units"]
    assert told(tree, at=here.id) == []


def test_a_branch_may_say_otherwise_and_may_forget(tree: Tree) -> None:
    tree.remember("wants metric units", key="units")
    tree.fork("imperial")
    tree.user("In feet.")
    tree.remember("wants imperial units", scope="branch")
    assert texts(tree) == ["wants imperial units", "wants metric units"]
    assert told(tree) == ["wants imperial units"]
    (own,) = [fact for fact in tree.facts if fact.scope == "branch"]
    tree.user("Never mind.")
    tree.forget(own.key)
    assert told(tree) == ["wants metric units"]
    tree.switch("main")
    assert told(tree) == ["wants metric units"]


def test_a_tree_says_otherwise_than_the_store_and_other_trees_do_not(store: Store, tree: Tree) -> None:
    store.remember("prefers dark theme")
    tree.remember("The user prefers the light theme", scope="tree")
    other = store.tree("other")
    other.user("Hello.")
    assert told(tree) == ["The user prefers the light theme"]
    assert told(other) == ["prefers dark theme"]
    assert other.remember("speaks German", scope="store").scope == "store"
    assert "speaks German" in texts(tree)


def test_a_scope_that_is_none_and_a_branch_without_nodes_are_refused(store: Store, tree: Tree) -> None:
    with pytest.raises(StoreError, match="branch, tree or store"):
        tree.remember("x", scope="galaxy")  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="has none yet"):
        store.tree("empty").remember("x", scope="branch")
    with pytest.raises(StoreError, match="words"):
        tree.remember(" ")


# -- last use and eviction -----------------------------------------------------------------


def test_a_fact_that_fits_the_words_now_counts_as_used_and_others_do_not(tree: Tree) -> None:
    early = datetime(2026, 1, 1, tzinfo=UTC)
    put(tree, "a", "The staging port is 5432", early)
    put(tree, "b", "likes tea", early)
    tree.compile(budget=4_000, input="Which port has staging?", record=False)
    assert {fact.used_at for fact in tree.facts} == {early}
    tree.compile(budget=4_000, input="Which port has staging?")
    used = {fact.key: fact.used_at for fact in tree.facts}
    assert used["b"] == early
    assert used["a"] > early
    assert [fact.key for fact in tree.facts] == ["a", "b"]


def test_a_use_is_not_written_at_every_compile(tree: Tree) -> None:
    tree.remember("The staging port is 5432")
    (before,) = tree.facts
    tree.compile(budget=4_000, input="Which port has staging?")
    assert tree.facts == (before,)


def test_where_not_all_fit_those_that_fit_the_words_come_first_then_those_used_last(tree: Tree) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(60):
        put(
            tree,
            f"k{number}",
            f"fact number {number} about the subject of thing{number}",
            start + timedelta(days=number),
        )
    said = told(tree, budget=1_600, input="What about thing3?")
    assert 3 < len(said) < 20
    assert said[0].endswith("thing3")
    assert [line.rsplit("thing", 1)[1] for line in said[1:]] == [
        str(number) for number in range(61 - len(said), 60)
    ]


def test_a_use_does_not_change_the_order_in_which_facts_are_told(tree: Tree) -> None:
    early = datetime(2026, 1, 1, tzinfo=UTC)
    put(tree, "a", "The staging port is 5432", early)
    put(tree, "b", "likes tea", early + timedelta(days=1))
    before = told(tree, input="tea?")
    assert told(tree, input="Which port has staging?") == before == ["The staging port is 5432", "likes tea"]
    tree.compile(budget=4_000, policy=Policy.stable())


def test_those_used_longest_ago_are_let_go_of_and_can_be_looked_up(tree: Tree) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(5):
        put(tree, f"k{number}", f"thing{number} is here", start + timedelta(days=-number))
    gone = tree.evict_facts(3)
    assert sorted(fact.key for fact in gone) == ["k3", "k4"]
    assert sorted(fact.key for fact in tree.facts) == ["k0", "k1", "k2"]
    assert [fact.text for fact in tree.fact_history("k4")] == ["thing4 is here", ""]
    with pytest.raises(StoreError, match="0 or more"):
        tree.evict_facts(-1)


def test_a_scope_holds_a_bounded_number_of_facts(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_facts, "MOST", 4)
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    for name in names:
        tree.remember(f"{name} is a letter of another kind than {name[::-1]}")
    assert sorted(fact.text.split()[0] for fact in tree.facts) == sorted(names[2:])


def test_the_store_lets_go_of_its_own(store: Store) -> None:
    for text in ("likes tea", "speaks German"):
        store.remember(text)
    assert [fact.text for fact in store.evict_facts(1)] == ["likes tea"]
    assert [fact.text for fact in store.facts] == ["speaks German"]


# -- across branches -------------------------------------------------------------------------


def sides(tree: Tree) -> None:
    """`main` and `probe` part after the first node; each has facts of its own."""
    here = tree.path()[-1]
    tree.user("Ours.")
    tree.remember("The budget is 500 euros", scope="branch")
    tree.fork("probe", at=here)
    tree.user("Theirs.")
    tree.remember("The budget is 650 euros", scope="branch")
    tree.remember("likes tea", scope="branch")
    tree.switch("main")


def test_a_merge_brings_facts_of_the_branch_and_tells_of_those_that_differ(tree: Tree) -> None:
    sides(tree)
    note = tree.merge("probe")
    assert texts(tree) == ["The budget is 500 euros", "likes tea"]
    assert "fact: likes tea" in note.text
    assert (
        'fact conflict: here "The budget is 500 euros", there "The budget is 650 euros"; kept as it is here'
        in note.text
    )
    assert tree.merge("probe").id == note.id
    assert [fact.node for fact in tree.facts if fact.text == "likes tea"] == [note.id]


def test_a_fact_that_only_the_branch_changed_takes_the_place_of_the_common_one(tree: Tree) -> None:
    tree.remember("The budget is 500 euros", scope="branch")
    tree.fork("probe")
    tree.user("More money.")
    tree.remember("The budget is 650 euros", scope="branch")
    tree.switch("main")
    tree.user("Ours.")
    tree.merge("probe")
    assert texts(tree) == ["The budget is 650 euros"]


def test_facts_that_came_after_a_merge_come_with_the_next_one_and_conflicts_are_told_once(tree: Tree) -> None:
    sides(tree)
    tree.merge("probe")
    tree.switch("probe")
    tree.remember("speaks German", scope="branch")
    tree.switch("main")
    note = tree.merge("probe")
    assert texts(tree) == ["The budget is 500 euros", "likes tea", "speaks German"]
    assert "fact: speaks German" in note.text
    assert "conflict" not in note.text
    assert tree.merge("probe").id == note.id


def test_diff_tells_the_facts_that_one_side_alone_has(tree: Tree) -> None:
    sides(tree)
    tree.remember("speaks German")
    found = tree.diff("main", "probe")
    assert [fact.text for fact in found.left_facts] == ["The budget is 500 euros"]
    assert sorted(fact.text for fact in found.right_facts) == ["The budget is 650 euros", "likes tea"]


def test_an_erased_node_takes_the_facts_drawn_from_it_along_also_those_of_branches(
    store: Store, tree: Tree
) -> None:
    node = tree.user("The launch code is Zebra-9931")
    tree.assistant("Noted.")
    tree.remember("launch code is Zebra-9931", scope="branch")
    store.purge(node.id, "asked for", "facts")
    assert store.tree("facts").facts == ()
