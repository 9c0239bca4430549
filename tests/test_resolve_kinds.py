"""Each kind of rule by which words are told to ask for a move, and to which place."""

from __future__ import annotations

import pytest

from ctxtree.resolve import resolve
from ctxtree.resolve.asking import order
from ctxtree.resolve.counts import number
from ctxtree.resolve.glossary import english
from ctxtree.resolve.match import coverage, sought
from ctxtree.resolve.scene import scene_of
from ctxtree.resolve.wish import read
from tests.test_resolve import ask, grow, landing

SHOP = grow(
    ("user", "The cart is lost on reload."),
    ("assistant", "I propose to keep it in localStorage, or in a cookie."),
    ("user", "Cookie then."),
    ("call", "edit cart.ts"),
    ("result", "ok"),
    ("assistant", "The cart lives in a cookie now."),
    ("user", "Compress it."),
    ("call", "npm test"),
    ("error", "cookie too large"),
    ("assistant", "The compression did not help, since the cookie is too large."),
    ("user", "Add dark colors."),
    ("assistant", "The page is dark."),
)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("The sailor wants to go back to the cookie.", id="somebody else's move"),
        pytest.param("Please get back to me about the cookie", id="back to a person"),
        pytest.param("我要回到公司", id="back to a place in the world"),
        pytest.param("I'd like to return to Houston", id="a wish about the world"),
        pytest.param("go back to the cookie if the tests fail", id="condition after the verb"),
        pytest.param("等测试跑完再回到 cookie", id="condition before the verb"),
        pytest.param("I'll go back to the cookie tomorrow", id="another day"),
        pytest.param("go back to where we left off", id="going on is not going back"),
        pytest.param("To undo the last step, press Ctrl+Z", id="infinitive"),
        pytest.param("undo buttons are hard", id="noun"),
        pytest.param("写一个撤销按钮", id="noun in Chinese"),
        pytest.param("回滚之前要先备份", id="a sentence about the move"),
        pytest.param("git reset --hard HEAD~1", id="command"),
        pytest.param("state.rollback(step=2)", id="code"),
        pytest.param("2026-01-10 12:00 reverting to the cookie", id="log"),
        pytest.param("回到 cookie 的好处是什么", id="question without its mark"),
        pytest.param("把货款退回原账户", id="giving something back"),
        pytest.param("the cart should go back to zero", id="what a program does"),
        pytest.param("My boss thinks we should go back to the cookie", id="what others think"),
        pytest.param("the board wants the chart back", id="no verb of a move"),
        pytest.param("Before the reload the cart was full", id="narration"),
    ],
)
def test_what_only_sounds_like_a_request_is_none(words: str) -> None:
    assert not ask(words, SHOP).request


@pytest.mark.parametrize(
    ("words", "place"),
    [
        pytest.param("let's use localStorage instead", 1, id="a choice without a plan's name"),
        pytest.param("还是用 localStorage 吧", 1, id="the same in Chinese"),
        pytest.param("this is too slow, use localStorage", 1, id="a choice after a complaint"),
        pytest.param("localStorage was better, go back to that", 1, id="what a pronoun points at"),
        pytest.param("undo the compression", 5, id="undoing by name goes before the order"),
        pytest.param("the compression was a mistake, undo it", 5, id="undoing what was blamed"),
        pytest.param("压缩这步不要了，退回去", 5, id="undoing what is not wanted"),
        pytest.param("把压缩撤掉", 5, id="undoing an object before the verb"),
        pytest.param("go back to before the compression", 5, id="before an event"),
        pytest.param("the version without compression", 5, id="without"),
        pytest.param("before the cookie got too large", 7, id="before an error"),
        pytest.param("回到压缩之前", 5, id="a term of the glossary"),
        pytest.param("undo the last step", 9, id="a step is a whole turn"),
        pytest.param("go back two steps", 5, id="two steps"),
        pytest.param("退回三轮", 1, id="three turns"),
        pytest.param("take that back", 9, id="taking back"),
        pytest.param("undo the last step because the page is ugly", 9, id="a reason is no place"),
        pytest.param("Could you please go back to before the compression?", 5, id="a polite question"),
        pytest.param("forget the colors and go back to before the compression", 5, id="two orders"),
        pytest.param("scrap it all and start from scratch", -1, id="from the start"),
        pytest.param("推倒重来", -1, id="from the start in Chinese"),
    ],
)
def test_each_way_of_naming_a_place_leads_there(words: str, place: int) -> None:
    assert landing(words, SHOP) == place


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("let's use dark colors instead", id="it stands in the newest turn"),
        pytest.param("let's use sockets instead", id="nobody proposed it"),
        pytest.param("就用现在这个方案", id="it is in use"),
        pytest.param("use localStorage instead, or what do you think?", id="it is asked about"),
        pytest.param("use localStorage instead " + "and mind all the rest " * 5, id="it is an aside"),
    ],
)
def test_a_choice_of_what_was_not_left_is_no_move(words: str) -> None:
    assert not ask(words, SHOP).request


@pytest.mark.parametrize(
    "words",
    ["go back to the encrypted cookie with signatures", "before the cookie was signed and encrypted"],
)
def test_words_that_fit_by_half_ask_instead_of_moving(words: str) -> None:
    found = ask(words, SHOP)
    assert found.request
    assert found.winner is None
    assert found.candidates


def test_a_plan_that_fits_by_half_asks() -> None:
    nodes = grow(
        ("user", "How?"), ("assistant", "Plan A: a Redis list."), ("user", "Go on."), ("assistant", "Done.")
    )
    found = ask("go back to the encrypted Redis plan", nodes)
    assert found.winner is None
    assert found.candidates[0].node == nodes[1].id


def test_a_plan_that_nobody_laid_out_is_a_question_with_those_that_were() -> None:
    nodes = grow(
        ("user", "How?"), ("assistant", "Plan A: a list."), ("user", "Go on."), ("assistant", "Done.")
    )
    found = ask("go back to the quantum plan", nodes)
    assert found.winner is None
    assert [candidate.node for candidate in found.candidates] == [nodes[1].id]


PLANS = grow(
    ("user", "How?"),
    ("assistant", "Option 1: a list."),
    ("user", "Else?"),
    ("assistant", "Option 2: a table."),
    ("user", "Use option 2."),
    ("assistant", "The table is made."),
    ("user", "Fill it."),
    ("assistant", "Filled."),
)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        pytest.param("option 2 does not work, use the other one", 1, id="the other one"),
        pytest.param("go back to the other option", 1, id="other than the one in use"),
        pytest.param("回到第二种办法", 3, id="by number, whatever it was called"),
        pytest.param("before the second option", 1, id="before a plan"),
        pytest.param("before we chose option 2", 3, id="before a plan was taken up"),
        pytest.param("I changed my mind, option 1 please", 1, id="a bare name at the end"),
    ],
)
def test_plans_are_found_by_order_and_use(words: str, place: int) -> None:
    assert landing(words, PLANS) == place


def test_what_somebody_proposed_is_found_by_the_name() -> None:
    nodes = grow(
        ("user", "Alice suggests the train."),
        ("assistant", "It costs 40."),
        ("user", "And the bus?"),
        ("assistant", "20."),
    )
    assert landing("let's do what Alice suggested after all", nodes) == 0
    assert landing("就听 Alice 的吧", nodes) == 0


def test_an_original_is_what_stood_before_its_change() -> None:
    nodes = grow(
        ("user", "Write a poem."),
        ("assistant", "A sea poem."),
        ("user", "Change the title."),
        ("assistant", "Done."),
        ("user", "Longer."),
        ("assistant", "More verses."),
    )
    assert landing("go back to the original title", nodes) == 1
    assert landing("go back to the first version", nodes) == 1
    assert landing("回到上一版", nodes) == 3


def test_a_step_of_an_answer_under_way_is_one_call() -> None:
    nodes = [
        *grow(("user", "Fix it."), ("assistant", "Fixed."), ("user", "Test it.")),
    ]
    nodes += grow(
        ("call", "pytest"), ("error", "boom"), ("call", "ls"), ("result", "a.py"), parent=(nodes[-1].id,)
    )
    assert landing("undo the last step", nodes) == 4
    assert landing("undo the last two steps", nodes) == 1


def test_a_request_on_another_branch_lands_there() -> None:
    trunk = grow(
        ("user", "Explain."), ("assistant", "In long words."), ("user", "Shorter."), ("assistant", "Short.")
    )
    other = grow(("assistant", "With a kettle as an example."), parent=(trunk[0].id,))
    found = resolve("switch to the answer with the kettle", trunk, {}, trunk[-1].id, other)
    assert found.winner is not None
    assert found.winner.node == other[0].id
    assert found.winner.why.endswith("(on another branch)")


def test_a_candidate_tells_how_far_back_it_stands() -> None:
    winner = ask("go back to option 1", PLANS).winner
    assert winner is not None
    assert winner.why.endswith("(3 turns back)")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("two", 2),
        ("a couple of", 2),
        ("三", 3),
        ("十", 10),
        ("二十五", 25),
        ("四十", 40),
        ("12", 12),
        ("last", -1),
    ],
)
def test_numbers_in_words(word: str, value: int) -> None:
    assert number(word) == value


def test_terms_of_the_glossary_are_told_in_english() -> None:
    assert english("回到重构数据库之前").split() == ["回到", "refactor", "database", "之前"]
    assert english("the cleanup") == english("the clean up")
    assert english("plain words") == "plain words"


def test_coverage_is_the_share_of_what_is_named() -> None:
    scene = scene_of(grow(("user", "爬香山"), ("assistant", "The train costs 40.")), {}, ())
    assert coverage(sought("香山"), scene, [0]) == 1
    assert coverage(sought("香山 and the train"), scene, [0]) == 0.5
    assert coverage(sought("香山 and the train"), scene, [0, 1]) == 1
    assert coverage(sought("the"), scene, [0]) == 1


def test_of_several_orders_the_last_counts_and_a_retraction_none() -> None:
    assert order("go back to step 1. No, go back to step 2").phrase.strip() == "step 2"
    assert order("go back to step 1, never mind").style == ""


def test_a_reason_and_a_further_order_are_no_part_of_the_place() -> None:
    assert read("go back to the cookie because it works").phrase == "the cookie"
    assert read("回到重构之前然后重新部署").phrase == "重构"
