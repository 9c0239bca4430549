"""Two states that grew from one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxtree.states import StateChange, changes, taken_over
from ctxtree.tree import merge_patch

VALUES = st.recursive(
    st.booleans() | st.integers(0, 3) | st.text("ab", max_size=2) | st.lists(st.integers(0, 2), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)
STATES = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)


def merged(base: Any, left: Any, right: Any) -> tuple[Any, tuple[StateChange, ...]]:
    patch, conflicts = taken_over(changes(base, left, right))
    return merge_patch(left, patch), conflicts


@given(STATES, STATES)
def test_where_only_one_side_changed_the_merge_is_that_side(base: Any, changed: Any) -> None:
    assert merged(base, base, changed) == (changed, ())
    assert merged(base, changed, base) == (changed, ())
    assert merged(base, changed, changed) == (changed, ())


@given(STATES, STATES, STATES)
def test_a_conflict_stays_as_it_is_here_and_both_directions_agree_on_what_conflicts(
    base: Any, left: Any, right: Any
) -> None:
    result, conflicts = merged(base, left, right)
    for change in conflicts:
        held = result
        for name in change.field:
            held = held.get(name) if isinstance(held, dict) else None
        assert held == change.left
    assert {change.field for change in conflicts} == {change.field for change in merged(base, right, left)[1]}


@given(STATES, STATES, STATES)
def test_after_a_merge_the_other_side_has_nothing_new(base: Any, left: Any, right: Any) -> None:
    result, conflicts = merged(base, left, right)
    again, still = merged(right, result, right)
    assert (again, still) == (result, ())
    assert not conflicts or result != right


def test_fields_are_named_by_their_place() -> None:
    base = {"step": 1, "slots": {"city": "Oslo", "date": "May"}, "old": True}
    left = {"step": 2, "slots": {"city": "Oslo", "date": "June"}, "old": True}
    right = {"step": 3, "slots": {"city": "Rome", "date": "May"}}
    found = changes(base, left, right)
    assert [(change.name, change.left, change.right) for change in found] == [
        ("old", True, None),
        ("slots.city", "Oslo", "Rome"),
        ("slots.date", "June", "May"),
        ("step", 2, 3),
    ]
    assert taken_over(found) == ({"old": None, "slots": {"city": "Rome"}}, (found[3],))
