from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxtree.bm25 import SIZE, Groups, Index, Segment, Sittings, ideal, joined, relevance, scored, smooth

UNITS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=12)
QUERY = st.lists(st.sampled_from("abcdefg"), max_size=4)


def test_the_unit_that_holds_the_rarer_term_scores_higher() -> None:
    found = Index([["cat", "dog"], ["cat", "fox"], ["cat", "dog"]]).scores(["cat", "fox"])
    assert max(found, key=lambda unit: found[unit]) == 1
    assert found[0] == found[2]


def test_scores_are_those_of_the_formula() -> None:
    found = Index([["a", "b"], ["b", "b", "c", "c"], ["c"]]).scores(["a"])
    # idf ln(1 + 2.5 / 1.5); count 1, length 2 of a mean of 7 / 3, k1 1.2, b .75
    assert found == {0: pytest.approx(0.9808293 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (7 / 3))))}


def test_an_empty_index_and_an_empty_query_score_nothing() -> None:
    assert Index().scores(["a"]) == {}
    assert Index([["a"]]).scores([]) == {}
    assert Index([[]]).scores(["a"]) == {}
    assert Index().ideal(["a"]) == 0.0


def both(index: Index, query: list[str], groups: Groups) -> tuple[dict[int, float], float]:
    hits = index.hits(query, groups)
    return scored(hits, groups.lengths, groups.total), ideal(hits, len(groups.lengths))


def grouped(numbers: list[int], index: Index) -> Groups:
    groups = Groups()
    for number, length in zip(numbers, index.lengths, strict=False):
        groups.add(number, length)
    return groups


@given(UNITS, UNITS, QUERY)
def test_a_prefix_scores_as_if_nothing_had_followed(
    first: list[list[str]], more: list[list[str]], query: list[str]
) -> None:
    grown, alone = Index([*first, *more]), Index(first)
    each = grouped(list(range(len(first))), grown)
    assert both(grown, query, each) == (alone.scores(query), alone.ideal(query))
    numbers = [unit // 3 for unit in range(len(first))]
    threes = grouped(numbers, grown)
    assert both(grown, query, threes) == both(alone, query, threes)
    assert joined(grown.hits(query, each), numbers) == grown.hits(query, threes)


def test_a_unit_of_no_group_is_as_if_it_were_not_there() -> None:
    with_it, without = Index([["a"], ["a", "b", "c"], ["b"]]), Index([["a"], ["b"]])
    groups = grouped([0, -1, 1], with_it)
    assert both(with_it, ["a", "b"], groups) == (without.scores(["a", "b"]), without.ideal(["a", "b"]))


def test_closed_segments_answer_as_one_open_index_would() -> None:
    units = [
        [f"w{unit % 7}", f"w{unit % 11}", f"only{unit}"] * (1 + unit % 3) for unit in range(2 * SIZE + 9)
    ]
    whole = Index(units)
    assert len(whole.segments) == 2
    taken = Index()
    for number in range(2):
        taken.take(Segment.of(units[number * SIZE : (number + 1) * SIZE]))
    for unit in units[2 * SIZE :]:
        taken.add(unit)
    for query in (["w3", "w5"], ["only300"], [f"only{2 * SIZE + 3}"], ["nothing"]):
        assert taken.scores(query) == whole.scores(query)
        assert taken.ideal(query) == whole.ideal(query)
    hits = [unit for unit in range(len(units)) if unit % 7 == 3 or unit % 11 == 3]
    assert sorted(whole.scores(["w3"])) == hits


def test_a_segment_begins_where_another_ends() -> None:
    with pytest.raises(ValueError, match="begins where"):
        Index([["a"]]).take(Segment.of([["a"]] * SIZE))
    with pytest.raises(ValueError):
        Segment.of([["a"]])


@given(UNITS, QUERY)
def test_only_units_that_hold_a_term_score_and_they_score_above_zero(
    units: list[list[str]], query: list[str]
) -> None:
    found = Index(units).scores(query)
    assert set(found) == {at for at, unit in enumerate(units) if set(unit) & set(query)}
    assert all(score > 0 for score in found.values())


def test_groups_of_one_unit_score_as_the_units_do() -> None:
    index = Index([["a", "b"], ["b"], ["a", "a", "c"]])
    assert both(index, ["a", "b"], grouped([0, 1, 2], index))[0] == pytest.approx(index.scores(["a", "b"]))


def test_a_neighbour_and_the_whole_group_get_a_share() -> None:
    found = smooth({2: 1.0}, 5, (0.5, 0.25), [0, 0, 0, 0, 1], {0: 2.0}, group=0.1)
    assert found == pytest.approx({0: 0.45, 1: 0.7, 2: 1.2, 3: 0.7, 4: 0.25})


def test_smoothing_never_reaches_past_the_ends() -> None:
    assert set(smooth({0: 1.0}, 2)) == {0, 1}


def test_relevance_is_a_share_of_the_best_but_one_common_word_is_not_all_of_it() -> None:
    assert relevance({0: 4.0, 1: 2.0}, ideal=5.0) == {0: 1.0, 1: 0.5}
    assert relevance({0: 1.0}, ideal=10.0) == {0: 0.2}
    assert relevance({}, ideal=0.0) == {}


def test_a_sitting_ends_with_an_hour_of_silence() -> None:
    assert Sittings([0.0, 3_000.0, None, 10_800.0, 7_200.0]).numbers == [0, 0, 0, 1, 1]
