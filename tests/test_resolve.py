from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxtree.model import Message, Node, Text, ToolCall, ToolResult
from ctxtree.resolve import CLEAR, LEAST, Resolution, resolve
from ctxtree.resolve.keys import plan_keys
from ctxtree.resolve.wish import read

Said = tuple[str, str]


def grow(*said: Said, parent: tuple[str, ...] = ()) -> list[Node]:
    """A path: roles as in a message, `call` for an assistant's call, `error` for a failed result."""
    nodes: list[Node] = []
    for role, text in said:
        if role == "call":
            message = Message(role="assistant", parts=(ToolCall(id="c", name=text, arguments={}),))
        elif role in ("error", "result"):
            result = ToolResult(call_id="c", parts=(Text(text=text),), error=role == "error")
            message = Message(role="tool", parts=(result,))
        else:
            message = Message.model_validate({"role": role, "parts": ({"type": "text", "text": text},)})
        nodes.append(Node.make(message, parent))
        parent = (nodes[-1].id,)
    return nodes


QUEUE = grow(
    ("user", "How do we pass jobs to the workers?"),
    ("assistant", "Plan A: a Redis list."),
    ("user", "What else is there?"),
    ("assistant", "Plan B: a PostgreSQL table."),
    ("user", "Do B."),
    ("assistant", "Plan B: made jobs.sql, but the tests fail with a deadlock."),
)
WORK = grow(
    ("system", "You are careful."),
    ("user", "Make it faster."),
    ("assistant", "I suggest we cache the tokens in a dict."),
    ("user", "Fine. Then tidy the lexer, a real refactor please."),
    ("assistant", "The refactor of lexer.py is done."),
    ("user", "Run the tests."),
    ("call", "pytest"),
    ("error", "ImportError: no module lexer"),
    ("call", "ls"),
    ("result", "lexer.py"),
    ("call", "pytest"),
    ("error", "AssertionError in test_cache"),
)


def ask(words: str, nodes: list[Node], marks: dict[str, dict[str, Any]] | None = None) -> Resolution:
    return resolve(words, nodes, marks or {}, nodes[-1].id)


def landing(words: str, nodes: list[Node], marks: dict[str, dict[str, Any]] | None = None) -> int | None:
    """The place in the path where one goes on; -1 stands for before the first node."""
    found = ask(words, nodes, marks)
    assert found.request
    if found.winner is None:
        return None
    if found.winner.target is None:
        return -1
    return [node.id for node in nodes].index(found.winner.target)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("go back to plan A", 1),
        ("plan A", 1),
        ("Please go back to plan A.", 1),
        ("Can we go back to option A?", 1),
        ("let's use plan A instead", 1),
        ("don't use plan B, go back to plan A", 1),
        ("Don't go back to plan B, go back to plan A", 1),
        ("forget plan B, use plan A", 1),
        ("I said go back to plan A!", 1),
        ('go back to "plan A"', 1),
        ("go back to plan B", 3),
        ("the Redis plan", 1),
        ("return to the design with PostgreSQL", 3),
        ("go back to the plan before this one", 1),
        ("go back to the previous plan", 1),
        ("the first plan", 1),
        ("back to the original plan", 1),
        ("before plan B", 1),
        ("undo plan B", 1),
        ("before the tests failed", 4),
        ("go back to the start", -1),
        ("回到方案 A", 1),
        ("回到 Redis 那个方案", 1),
        ("别用 B 了，还是用方案 A 吧", 1),
        ("方案B不行，用方案A吧", 1),
        ("能回到方案A吗？", 1),
        ("不如回到方案A", 1),
        ("退回到上一个方案", 1),
        ("回到第二个方案吧", 3),
        ("请回到最初的方案", 1),
        ("undo the last step", 3),
        ("撤销最后两步", 1),
        ("undo", 3),
        ("undo the last two steps", 1),
        ("go back one turn", 3),
        ("go back 2 messages", 3),
        ("回退一步", 3),
    ],
)
def test_words_lead_to_the_node_that_they_mean(words: str, place: int) -> None:
    assert landing(words, QUEUE) == place


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("before the tests failed", 6),
        ("回到测试失败之前", 6),
        ("before the last error", 10),
        ("before the AssertionError", 10),
        ("the version before the refactor", 2),
        ("go back to before you tidied the lexer", 2),
        ("回到 refactor 之前的版本", 2),
        ("go back to that plan", 2),
        ("回到刚才那个方案", 2),
        ("go back to where we discussed the cache", 2),
        ("undo the last two steps", 7),
        ("undo the last turn", 4),
        ("go back to the beginning", 0),
    ],
)
def test_events_steps_and_the_only_plan_of_a_tool_loop_are_found(words: str, place: int) -> None:
    assert landing(words, WORK) == place


@pytest.mark.parametrize(
    "words", ["go back to that plan", "go back to the plan", "回到刚才那个方案", "算了，还是回到之前的方案吧"]
)
def test_two_plans_and_words_that_fit_both_are_a_question_back(words: str) -> None:
    found = ask(words, QUEUE)
    assert found.request
    assert found.winner is None
    assert {candidate.node for candidate in found.candidates} == {QUEUE[1].id, QUEUE[3].id}


def test_a_plan_on_another_branch_is_a_candidate_too() -> None:
    other = grow(("assistant", "Plan B: a PostgreSQL table."), parent=(QUEUE[0].id,))
    found = resolve("go back to that plan", QUEUE[:2], {}, QUEUE[1].id, other)
    assert found.winner is None
    assert {candidate.node for candidate in found.candidates} == {QUEUE[1].id, other[0].id}
    named = resolve("go back to the PostgreSQL plan", QUEUE[:2], {}, QUEUE[1].id, other)
    assert named.winner is not None
    assert named.winner.node == other[0].id


@pytest.mark.parametrize(
    "words",
    [
        "don't go back to that plan",
        "Never go back to plan A",
        "I don't want to go back to plan A",
        "I don't think we should go back to plan A",
        "let's not go back to plan A",
        "no need to undo the last step",
        "there is no need to go back to the plan",
        "go back to plan A... no, never mind",
        "不要回到方案 A",
        "别回到那个方案",
        "没必要回到方案A",
        "不想回到刚才那个方案",
        "我们先不回到方案A",
        "别撤回刚才的修改",
    ],
)
def test_a_denial_is_no_request(words: str) -> None:
    found = ask(words, QUEUE)
    assert not found.request
    assert found.winner is None


@pytest.mark.parametrize(
    "words",
    [
        'What does "go back to plan A" mean in git?',
        "How do I go back to plan A?",
        "Should we go back to plan A?",
        "Did we go back to plan A?",
        "Why did you go back to plan A?",
        "what if we go back to plan A?",
        "What was plan A?",
        "要不要回到方案A？",
        "为什么要回到方案A？",
        "什么叫回到刚才那个方案",
    ],
)
def test_a_question_about_going_back_is_no_request(words: str) -> None:
    assert not ask(words, QUEUE).request


@pytest.mark.parametrize(
    "words",
    [
        "He said go back to plan A",
        "we went back to plan A yesterday",
        "If the tests fail, go back to plan A",
        "when we go back to plan A, mind the lock",
        "maybe we go back to plan A later",
        "Going back to plan A would be a mistake",
        "The button says go back to plan A",
        '"go back to plan A" is what was typed',
        "I was about to go back to plan A",
        "Tell me about plan A",
        "plan A is great",
        "I like the Redis plan",
        "continue with plan B",
        "implement undo",
        "The undo stack has two steps",
        "return a list of plans",
        "drop the table users",
        "用户说“回到方案A”",
        "如果失败了就回到方案A",
        "以后再回到方案A",
        "他说要回到方案A",
        "还是用中文回答吧",
        "",
        "🔥",
    ],
)
def test_a_mention_a_condition_or_another_task_is_no_request(words: str) -> None:
    assert not ask(words, QUEUE).request


def test_a_candidate_says_why_and_quotes_what_matched() -> None:
    winner = ask("go back to the Redis plan", QUEUE).winner
    assert winner is not None
    assert "Redis" in winner.why
    assert '"Plan A: a Redis list."' in winner.why
    assert 0 < winner.score <= 1


def test_a_count_says_its_unit() -> None:
    winner = ask("undo the last two steps", QUEUE).winner
    assert winner is not None
    assert winner.why.startswith("2 exchanges back")
    assert winner.at == "before"


@pytest.mark.parametrize(
    "words", ["undo the last nine steps", "go back to the zebra", "before the earthquake"]
)
def test_what_is_not_there_has_no_candidates(words: str) -> None:
    found = ask(words, QUEUE)
    assert found.request
    assert found.candidates == ()


@pytest.mark.parametrize(
    "words", ["go back to green light", "green light", "go back to the label “green light”"]
)
def test_a_label_wins_over_everything(words: str) -> None:
    marks = {QUEUE[2].id: {"label": "Green light"}, QUEUE[4].id: {"label": "light"}}
    assert landing(words, QUEUE, marks) == 2


def test_before_a_label_is_its_parent() -> None:
    assert landing("go back to before release", QUEUE, {QUEUE[3].id: {"label": "release"}}) == 2


@pytest.mark.parametrize("status", [{"status": "failed", "reason": "deadlock"}, "abandoned"])
def test_of_two_nodes_that_fit_the_one_not_given_up_wins(status: object) -> None:
    nodes = grow(
        ("user", "one"),
        ("assistant", "I suggest a cache of tokens."),
        ("user", "two"),
        ("assistant", "I suggest a cache of tokens, again."),
        ("user", "three"),
    )
    assert landing("go back to the cache idea", nodes) is None
    assert landing("go back to the cache idea", nodes, {nodes[3].id: {"status": status}}) == 1


def test_a_request_stored_already_is_not_what_it_asks_for() -> None:
    nodes = [*QUEUE, *grow(("user", "undo the last step"), parent=(QUEUE[-1].id,))]
    assert landing("undo the last step", nodes) == 3


def test_a_winner_is_clearly_ahead() -> None:
    for words in ("go back to plan B", "the tests", "go back to the table", "go back to the plan"):
        found = ask(words, QUEUE)
        scores = [candidate.score for candidate in found.candidates]
        assert scores == sorted(scores, reverse=True)
        if found.winner:
            assert found.winner == found.candidates[0]
            assert found.winner.score >= LEAST
            assert all(found.winner.score >= CLEAR * score - 1e-3 for score in scores[1:])


def test_no_node_is_a_candidate_twice() -> None:
    for words in ("undo plan B", "before the refactor", "go back to plan B"):
        nodes = [candidate.node for candidate in ask(words, QUEUE).candidates]
        assert len(nodes) == len(set(nodes))


def test_nothing_is_found_where_nothing_was_said() -> None:
    found = resolve("go back to that plan", [], {}, None)
    assert found.request
    assert found.candidates == ()


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Plan A or option 2?", ["a", "2"]),
        ("方案 A，方案二，甲方案", ["a", "2", "甲"]),
        ("B方案", ["b"]),
        ("we plan a trip", []),
        ("the plan I propose", []),
        ("version 2", ["version 2"]),
        ("planned", []),
    ],
)
def test_plans_are_known_by_their_names(text: str, keys: list[str]) -> None:
    assert plan_keys(text) == keys


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=120))
def test_any_words_are_read_without_error(words: str) -> None:
    found = ask(words, QUEUE)
    assert found.request == read(words).request
    assert found.request or found.winner is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant", "error", "call"]), st.text(max_size=40)), max_size=8
    )
)
def test_any_path_is_searched_without_error(said: list[Said]) -> None:
    nodes = grow(*said)
    for words in ("go back to that plan", "undo", "before it failed", "plan A", "回到之前的方案"):
        found = resolve(words, nodes, {}, nodes[-1].id if nodes else None)
        assert {candidate.node for candidate in found.candidates} <= {node.id for node in nodes}
