from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxtree.counter import counter_for
from ctxtree.model import Message, Text, ToolCall, ToolResult
from ctxtree.passes.score import Score, weighted
from ctxtree.plan import Form, Item, Plan
from ctxtree.policy import Budget, Policy, Weights

PARTS = {"recency", "kind", "reference", "asked", "importance", "relevance"}


def item(role: str, text: str, turn: int) -> Item:
    kind = "message" if role == "user" else "exchange"
    message = Message.model_validate({"role": role, "parts": ({"type": "text", "text": text},)})
    return Item(kind, (f"{turn}{role}",), (Form("full", (message,), 10),), turn=turn)


def step(call: str, result: str, turn: int) -> Item:
    asking = Message(role="assistant", parts=(ToolCall(id="c", name="run", arguments={"what": call}),))
    told = Message(role="tool", parts=(ToolResult(call_id="c", parts=(Text(text=result),)),))
    return Item(
        "exchange", (f"{turn}{call}", f"{turn}{call}r"), (Form("full", (asking, told), 10),), turn=turn
    )


def plan(*items: Item, query: str = "") -> Plan:
    return Plan(items, Budget(8_000), Policy(), counter_for("estimate"), query=query)


def chat(*texts: str) -> list[Item]:
    """User and assistant by turns."""
    return [item("assistant" if at % 2 else "user", text, at // 2) for at, text in enumerate(texts)]


def part(scored: Plan, name: str) -> list[float]:
    return [item.parts[name] for item in scored.items]


def test_every_part_and_the_score_lie_between_0_and_1() -> None:
    items = chat("Never touch prod. Remember this!", "Noted: prod.cfg", "what is in prod.cfg?", "port 8080")
    for scored in Score()(plan(*items, step("cat prod.cfg", "8080", 1), query="prod port")).items:
        assert set(scored.parts) >= PARTS
        assert all(0 <= figure <= 1 for figure in (*scored.parts.values(), scored.score))


def test_the_newer_of_two_equal_exchanges_scores_higher() -> None:
    scored = Score()(plan(*chat("hello", "hi", "hello", "hi", "hello", "hi")))
    assert scored.items[1].score < scored.items[3].score < scored.items[5].score


def test_recency_halves_in_eight_turns() -> None:
    scored = Score()(plan(*[item("user", "hello", turn) for turn in range(9)]))
    assert part(scored, "recency")[0] == pytest.approx(0.5)
    assert part(scored, "recency")[8] == 1.0


def test_the_steps_of_one_long_turn_age_too() -> None:
    ages = part(
        Score()(plan(item("user", "go", 0), *[step(f"c{at}", "ok", 0) for at in range(40)])), "recency"
    )
    assert ages == sorted(ages)
    assert ages[1] < 0.5 < ages[-1]


def test_a_tool_result_outranks_an_instruction_and_an_instruction_outranks_chat() -> None:
    talk = chat("Hello there.", "Hi.", "Never push to main.", "Fine.", "How is it going?", "Well.")
    kinds = part(Score()(plan(*talk, step("ls", "a.py", 2))), "kind")
    assert kinds[6] > kinds[2] > kinds[4] > kinds[5]
    assert kinds[2] == kinds[0], "the first words of a user are the task"


@pytest.mark.parametrize(
    "name",
    ["src/lexer.py", "parse_tree", "ParserError", "build-1742", '"blue heron"', "「蓝色苍鹭」", "the Nimbus"],
)
def test_what_is_named_first_here_and_used_later_is_a_reference(name: str) -> None:
    talk = chat("hello", f"there is {name} here", "something else", "yes", f"now open {name} please", "done")
    found = part(Score()(plan(*talk)), "reference")
    assert found[1] > 0
    assert found[0] == found[2] == found[3] == found[4] == found[5] == 0


def test_a_path_read_by_a_later_call_is_a_reference() -> None:
    found = part(Score()(plan(step("ls", "conf/app.toml", 0), step("conf/app.toml", "port", 0))), "reference")
    assert found[0] > found[1] == 0


def test_plain_words_that_come_again_are_no_reference() -> None:
    assert (
        part(Score()(plan(*chat("we talk about dogs", "dogs it is", "dogs again", "dogs"))), "reference")
        == [0] * 4
    )


def test_a_bare_request_to_remember_also_lifts_what_was_said_before_it() -> None:
    found = part(
        Score()(plan(*chat("what is the code?", "The code is 42.", "Remember this.", "ok"))), "asked"
    )
    assert found == [0.0, 0.6, 1.0, 0.0]


def test_a_request_with_its_own_content_lifts_itself_alone() -> None:
    talk = chat("hi", "hello", "Remember that the staging server listens on port 8080 behind nginx.", "ok")
    assert part(Score()(plan(*talk)), "asked") == [0.0, 0.0, 1.0, 0.0]


def test_only_a_user_can_ask_for_remembering() -> None:
    assert part(Score()(plan(*chat("hi", "Remember that the port is 8080 and open."))), "asked") == [0, 0]


def test_marks_and_other_inputs_stay_and_the_users_importance_counts() -> None:
    plain, marked = chat("hello", "hi")[0], chat("hello", "hi")[0]
    marked = replace(marked, parts={"importance": 1.0, "open": 1.0})
    scored = Score()(plan(plain, marked)).items
    assert scored[1].parts["open"] == 1.0
    assert scored[1].score > scored[0].score


@pytest.mark.parametrize("odd", [math.nan, math.inf, -3.0, 7.0])
def test_an_importance_out_of_range_keeps_the_score_in_range(odd: float) -> None:
    scored = Score()(plan(replace(chat("hello")[0], parts={"importance": odd})))
    assert 0 <= scored.items[0].score <= 1


def test_the_query_is_searched_for_in_any_form_of_its_words() -> None:
    talk = chat(
        "My dog ate the tickets", "oh", "The weather is fine", "yes", "数据库用什么", "用 SQLite 存储"
    )
    assert (
        max(range(6), key=part(Score()(plan(*talk, query="dogs eating ticket")), "relevance").__getitem__)
        == 0
    )
    assert max(range(6), key=part(Score()(plan(*talk, query="存储用什么")), "relevance").__getitem__) in (
        4,
        5,
    )


def test_given_relevance_is_taken_by_the_index_in_the_plan() -> None:
    system = Item("system", ("s",), (Form("full", (Message.of("system", "be kind"),), 3),), fixed=True)
    scored = Score(relevance={1: 0.25, 2: 2.0})(plan(system, *chat("a", "b", "c"), query="a"))
    assert [entry.parts.get("relevance") for entry in scored.items] == [None, 0.25, 1.0, 0.0]


def test_other_kinds_pass_through_untouched() -> None:
    facts = Item("facts", (), (Form("full", (Message.of("note", "likes tea"),), 3),), parts={"x": 1.0})
    assert Score()(plan(facts)).items == (facts,)


def test_weights_choose_what_counts_and_none_at_all_is_a_score_of_0() -> None:
    none = dict.fromkeys(PARTS, 0.0)
    alone = Weights(**{**none, "recency": 2.0})
    assert Score(alone)(plan(*chat("hello", "hi"))).items[1].score == 1.0
    assert weighted({"recency": 1.0}, Weights(**none)) == 0.0


def test_scoring_twice_gives_the_same_plan() -> None:
    before = plan(*chat("Remember src/a.py", "ok", "never src/a.py", "sure"), query="src/a.py")
    assert Score()(Score()(before)) == Score()(before)


@given(st.lists(st.text(max_size=60), max_size=8), st.text(max_size=30))
def test_any_texts_give_scores_in_range(texts: list[str], query: str) -> None:
    assert all(0 <= entry.score <= 1 for entry in Score()(plan(*chat(*texts), query=query)).items)
