from __future__ import annotations

import math
import re

import pytest

from ctxtree.drawing import Choice, Sketch
from ctxtree.drawing.outline import outline
from ctxtree.errors import NotFound
from tests.drawing.trees import chain, grown, random_tree, sketch


def text(drawn: object) -> str:
    """The drawing with ids left out."""
    return re.sub(r"\b[0-9a-f]{8} ", "", str(drawn))


def test_ten_nodes_are_all_drawn() -> None:
    nodes = grown([None, 0, 1, 2, 1, 4])
    drawn = outline(
        sketch(nodes, {"main": 5, "side": 3}, n4={"label": "plan A"}, n3={"status": {"status": "failed", "reason": "it\nbroke"}}),
        Choice(),
    )  # fmt: skip
    assert text(drawn) == (
        "● user: step 0  7t\n"
        "● assistant: step 1  7t\n"
        "├─● user: step 2  7t\n"
        "│ ● assistant: step 3  7t failed: it broke (side)\n"
        "● user: step 4  7t [plan A]\n"
        "● assistant: step 5  7t (main ← active)"
    )
    assert drawn.left_out == ""


def test_long_runs_are_folded_and_the_newest_nodes_are_not() -> None:
    drawn = outline(sketch(chain(10_000), {"main": -1}), Choice())
    assert text(drawn).splitlines()[:2] == ["● user: step 0  7t", "⋮ 9,995 nodes, 69,965t"]
    assert len(drawn.lines) == 6


def test_a_run_of_one_is_drawn_for_it_takes_no_more_room() -> None:
    nodes = chain(60)
    drawn = outline(sketch(nodes, {}, n3={"label": "a"}, n5={"label": "b"}), Choice())
    assert "step 4" in str(drawn)
    assert "⋮ 2 nodes" in str(drawn)


@pytest.mark.parametrize("seed", range(12))
def test_every_node_is_drawn_or_folded_exactly_once(seed: int) -> None:
    nodes = random_tree(seed, 700)
    whole = outline(sketch(nodes), Choice(fold=False))
    assert sorted(line.spot.id for line in whole.lines if line.spot) == sorted(node.id for node in nodes)
    folded = outline(sketch(nodes), Choice())
    hidden = sum(int(line.words.split()[0].replace(",", "")) for line in folded.lines if not line.spot)
    assert hidden + sum(line.spot is not None for line in folded.lines) == len(nodes)


@pytest.mark.parametrize("seed", range(6))
def test_nesting_grows_with_the_logarithm_of_the_tree(seed: int) -> None:
    nodes = random_tree(seed, 3_000)
    drawn = outline(sketch(nodes), Choice(fold=False))
    assert max(line.art.count("│") for line in drawn.lines) <= math.log2(len(nodes)) + 1


def test_a_comb_of_ten_thousand_nodes_needs_no_deep_stack() -> None:
    parents: list[int | None] = [None]
    for place in range(1, 10_000):
        parents.append(max(0, place - 2) if place % 2 else place - 2 if place > 1 else 0)
    drawn = outline(sketch(grown(parents)), Choice(fold=False))
    assert len(drawn.lines) == 10_000
    assert max(len(line.art) for line in drawn.lines) < 10


def test_pages_hold_every_line_once_and_tell_what_is_on_the_others() -> None:
    there = sketch(random_tree(3, 300))
    whole = outline(there, Choice(fold=False))
    pages = [outline(there, Choice(fold=False), 50, page) for page in range(1, 7)]
    assert [line for page in pages for line in page.lines] == list(whole.lines)
    assert pages[0].left_out.startswith(
        "… page 1 of 6; 250 lines with 250 nodes are on the others: --page 2 goes on"
    )
    assert "goes on" not in pages[-1].left_out
    with pytest.raises(NotFound, match="no page 7; the drawing has 6"):
        outline(there, Choice(fold=False), 50, 7)


def test_only_one_branch_one_kind_one_status() -> None:
    nodes = grown([None, 0, 1, 2, 1, 4])
    there = sketch(nodes, {"main": 5, "side": 3}, n3={"status": {"status": "abandoned"}})
    assert text(outline(there, Choice(branches=("side",)))).count("●") == 4
    users = outline(there, Choice(kinds=("user",)))
    assert [line.spot.node.text for line in users.lines if line.spot] == ["step 0", "step 2", "step 4"]
    assert users.left_out == "… 3 nodes of other kinds or statuses"
    assert text(outline(there, Choice(statuses=("abandoned",)))).startswith(
        "● assistant: step 3  7t abandoned (side)"
    )


def test_what_is_not_there_is_named() -> None:
    there = sketch(chain(3), {"main": 2})
    with pytest.raises(NotFound, match="no branch 'nope'"):
        outline(there, Choice(branches=("nope",)))
    with pytest.raises(NotFound, match="no kind 'robot' of node; there are system"):
        Choice(kinds=("robot",))
    with pytest.raises(NotFound, match="no status 'bad'"):
        Choice(statuses=("bad",))


def test_two_roots_stand_apart_and_an_empty_tree_draws_nothing() -> None:
    assert text(outline(sketch(grown([None, None, 0])), Choice())) == (
        "● user: step 0  7t\n● user: step 2  7t\n\n● assistant: step 1  7t"
    )
    assert str(outline(Sketch(()), Choice())) == ""
