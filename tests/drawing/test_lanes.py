from __future__ import annotations

from itertools import pairwise

import pytest

from ctxtree.drawing.lanes import WIDEST, lanes
from ctxtree.drawing.sides import sides
from ctxtree.model import Message, Node
from tests.drawing.test_outline import text
from tests.drawing.trees import chain, grown, random_tree, sketch


def test_a_straight_log_is_one_lane_newest_first() -> None:
    assert text(lanes(sketch(chain(3), {"main": 2}))) == (
        "● user: step 2  7t (main ← active)\n● assistant: step 1  7t\n● user: step 0  7t"
    )


def test_lanes_join_where_branches_part() -> None:
    nodes = grown([None, 0, 0, 1, 0])
    assert text(lanes(sketch(nodes, {"main": 3}, active=3))) == (
        "● assistant: step 3  7t (main ← active)\n"
        "● assistant: step 1  7t\n"
        "│ ● user: step 4  7t\n"
        "│ │ ● user: step 2  7t\n"
        "├─┴─╯\n"
        "● user: step 0  7t"
    )


def test_a_lane_between_is_crossed() -> None:
    nodes = grown([None, 0, 0, 1, 1])
    assert text(lanes(sketch(nodes, active=3))) == (
        "● assistant: step 3  7t\n"
        "│ ● user: step 4  7t\n"
        "├─╯\n"
        "● assistant: step 1  7t\n"
        "│ ● user: step 2  7t\n"
        "├─╯\n"
        "● user: step 0  7t"
    )


def test_a_merge_opens_a_lane_to_what_it_took_in() -> None:
    nodes = grown([None, 0, 0])
    nodes.append(Node.make(Message.of("note", "found"), (nodes[1].id, nodes[2].id)))
    assert text(lanes(sketch(nodes))) == (
        "● note: found  7t\n├─╮\n● │ assistant: step 1  7t\n│ ● user: step 2  7t\n├─╯\n● user: step 0  7t"
    )


@pytest.mark.parametrize("seed", range(10))
def test_every_node_once_and_after_all_nodes_below_it(seed: int) -> None:
    nodes = random_tree(seed, 400)
    order = [line.spot.id for line in lanes(sketch(nodes)).lines if line.spot]
    place = {identity: at for at, identity in enumerate(order)}
    assert len(order) == len(place) == len(nodes)
    assert all(place[node.id] < place[node.parent] for node in nodes if node.parent)


@pytest.mark.parametrize("seed", range(10))
def test_each_dot_stands_under_a_lane_that_leads_to_it(seed: int) -> None:
    lines = lanes(sketch(random_tree(seed, 40))).lines
    for above, below in pairwise(lines):
        for column, char in enumerate(below.art[: 2 * WIDEST]):
            over = above.art[column : column + 1].strip()
            if char in "│├┴╯┼":
                assert over in tuple("●│├┼╮"), (above.art, below.art)
            if over in ("│", "╮") or (over == "●" and below.spot is None and char.strip()):
                assert char in "●│├┴╯┼", (above.art, below.art)


def test_more_lanes_than_fit_are_told_by_number() -> None:
    nodes = grown([None, *[0] * 10_000])
    drawn = lanes(sketch(nodes, active=1))
    assert max(len(line.art) for line in drawn.lines) < 2 * WIDEST + 20
    assert sum(line.spot is not None for line in drawn.lines) == 10_001
    assert "… lane 9999 ●" in str(drawn)


def test_older_nodes_are_left_out_with_a_word() -> None:
    drawn = lanes(sketch(chain(10_000)), 50)
    assert len(drawn.lines) == 50
    assert drawn.left_out == "… 9,950 nodes before these; --limit 0 draws all"


def test_a_difference_shows_what_is_shared_and_both_sides() -> None:
    spots = sketch(grown([None, 0, 1, 0]), {"main": 2, "other": 3}).spots
    assert text(sides(spots[0], 1, spots[1:3], spots[3:], ("main", "other"))) == (
        "● user: step 0  7t\n"
        "├─ main: 2 nodes, 14t\n"
        "│  < assistant: step 1  7t\n"
        "│  < user: step 2  7t (main)\n"
        "╰─ other: 1 node, 7t\n"
        "   > assistant: step 3  7t (other ← active)"
    )


def test_a_long_side_shows_both_ends() -> None:
    spots = sketch(chain(10_000)).spots
    drawn = sides(spots[99], 100, spots[100:], (), ("a\nb", "c"), 4)
    assert text(drawn) == (
        "⋮ 99 nodes in common\n"
        "● assistant: step 99  7t\n"
        "├─ a b: 9,900 nodes, 69,300t\n"
        "│  < user: step 100  7t\n"
        "│  < assistant: step 101  7t\n"
        "│  ⋮ 9,896 nodes; --limit 0 draws all\n"
        "│  < user: step 9998  7t\n"
        "│  < assistant: step 9999  7t\n"
        "╰─ c: nothing more"
    )
    assert str(sides(None, 0, (), (), ("a", "b"))).startswith("○ nothing in common")
