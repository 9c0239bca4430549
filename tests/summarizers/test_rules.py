from __future__ import annotations

import pytest

from ctxtree.plan import Counter, Entry
from ctxtree.summarizers import digest
from tests.summarizers.dialogues import CHINESE, ENGLISH, Dialogue, digester, request, roll


def user(node: str, text: str) -> Entry:
    return Entry(node, "user", text)


def assistant(node: str, text: str, *calls: str) -> Entry:
    return Entry(node, "assistant", text, calls=calls)


PADDING = [
    entry for turn in range(4)
    for entry in (user(f"p{turn}", f"Tell me about topic {turn} in some words."), assistant(f"q{turn}", "It is a wide field. " * 12))
]  # fmt: skip


@pytest.mark.parametrize("cap", [300, 400])
@pytest.mark.parametrize("dialogue", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_what_was_planted_in_ten_turns_stands_in_the_last_summary_of_sixty(
    dialogue: Dialogue, cap: int, counter: Counter
) -> None:
    last = roll(dialogue, digester(counter), cap)[-1]
    assert [kept for kept in dialogue.kept if kept not in last.text] == []
    assert last.tokens == counter(last.text) <= cap


def test_the_goal_and_the_rules_outlive_thirty_three_compactions_without_growth(counter: Counter) -> None:
    summaries = roll(ENGLISH, digester(counter), 300, every=9, turns=300)
    assert len(summaries) > 33
    assert all(summary.tokens <= 300 for summary in summaries)
    for kept in ENGLISH.kept[:6]:
        assert kept in summaries[-1].text
    assert summaries[-1].depth >= 2
    assert max(len(summary.lines) for summary in summaries) < 60


@pytest.mark.parametrize("cap", range(0, 160, 7))
@pytest.mark.parametrize("dialogue", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_no_summary_passes_its_room(dialogue: Dialogue, cap: int, counter: Counter) -> None:
    for summary in roll(dialogue, digester(counter), cap, turns=24):
        assert summary.tokens == counter(summary.text) <= cap
        assert bool(summary.text) == bool(summary.lines)


@pytest.mark.parametrize(
    ("said", "kept"),
    [("Please remember: the code name is 42.", "the code name is 42"), ("你好，项目代号是42，请记住。", "代号是42"),
     ("Hello my good friend, please remember that the code name is 42, thanks a lot for all of it", "the code name is 42"),
     ("Our code name is 42.", "code name is 42"), ("代号是42。请记住。", "代号是42")],
)  # fmt: skip
def test_a_fact_stands_in_thirty_tokens_after_two_overflows(said: str, kept: str, counter: Counter) -> None:
    first = digest(request([user("u", said), assistant("a", "Noted."), *PADDING], cap=30), counter)
    second = digest(request(PADDING, first, cap=30), counter)
    assert kept in first.text
    assert kept in second.text


def test_the_users_rules_stand_verbatim_and_a_relaxation_after_what_it_relaxes(counter: Counter) -> None:
    entries = [
        user("u1", "Refactor auth. Do NOT push to main, and 绝对不要删除 migrations 目录."), assistant("a1", "ok"), *PADDING,
        user("u3", "Pushing to branch fix/* is fine now."), assistant("a3", "You must never eat. Only use tabs."),
    ]  # fmt: skip
    text = digest(request(entries), counter).text
    rule, relaxed = (
        text.index("Do NOT push to main, and 绝对不要删除 migrations 目录"),
        text.index("Pushing to branch fix/*"),
    )
    assert text.index("User said (binding, verbatim):") < rule < relaxed
    assert "never eat" not in text


def test_rules_of_tools_and_assistants_bind_nobody(counter: Counter) -> None:
    entries = [user("u", "Read a.py."), assistant("a", "", "read(path=a.py)"), Entry("t", "tool", "You must never stop.", tool="read"),
               assistant("b", "Always call me."), *PADDING]  # fmt: skip
    assert not [line for line in digest(request(entries), counter).lines if line.kind == "constraint"]


def test_equal_failures_are_one_line_with_their_number_over_compactions(counter: Counter) -> None:
    def attempt(number: int) -> list[Entry]:
        return [assistant(f"a{number}", "", "gdocs(op=batchUpdate)"),
                Entry(f"t{number}", "tool", "403 insufficientPermissions", tool="gdocs", error=True)]  # fmt: skip

    first = digest(request([user("u", "publish the doc"), *attempt(1), *attempt(2), *PADDING]), counter)
    second = digest(request([*attempt(3), *PADDING], first), counter)
    assert "gdocs(op=batchUpdate) → 403 insufficientPermissions (2 times)" in first.text
    assert second.text.count("403 insufficientPermissions") == 1
    assert "(3 times)" in second.text


def test_a_given_up_attempt_is_told_with_its_reason(counter: Counter) -> None:
    entries = [
        user("u", "Fix it."),
        Entry("a", "assistant", "I rewrite it all.", failed="too slow by 3 s"),
        *PADDING,
    ]
    assert "I rewrite it all. → too slow by 3 s" in digest(request(entries), counter).text


def test_a_finished_request_is_quoted_with_its_outcome(counter: Counter) -> None:
    entries = [*PADDING, user("u1", "Deploy v1 to staging."), assistant("a1", "Deployed v1 to staging.")]
    text = digest(request(entries), counter).text
    assert '"Deploy v1 to staging." → done: Deployed v1 to staging.' in text
    assert "- Deploy v1" not in text


def test_the_first_request_is_quoted_too(counter: Counter) -> None:
    entries = [user("u1", "Deploy v1 to staging."), assistant("a1", "Deployed v1 to staging."), *PADDING]
    assert (
        '- "Deploy v1 to staging." → done: Deployed v1 to staging.' in digest(request(entries), counter).text
    )


def test_a_request_finds_its_outcome_in_the_next_compaction(counter: Counter) -> None:
    first = digest(request([*PADDING, user("u1", "Deploy v1 to staging.")]), counter)
    second = digest(request([assistant("a1", "Deployed v1 to staging."), *PADDING], first), counter)
    assert '"Deploy v1 to staging." (not answered within these messages)' in first.text
    assert '"Deploy v1 to staging." → done: Deployed v1 to staging.' in second.text
    assert "not answered" not in second.text


def test_an_answer_that_the_user_rejects_is_not_told_as_done(counter: Counter) -> None:
    entries = [
        *PADDING,
        user("u1", "Sort the list."),
        assistant("a1", "Sorted the list by name."),
        user("u2", "That's wrong."),
        *PADDING,
    ]
    text = digest(request(entries), counter).text
    assert '"Sort the list." → answered, and the user objected: Sorted the list by name.' in text


@pytest.mark.parametrize(
    ("early", "late"),
    [("The deadline is Friday.", "Actually, the deadline moved to Monday."), ("代号是42。", "代号改成43。")],
)
def test_the_later_of_two_statements_wins(early: str, late: str, counter: Counter) -> None:
    first = digest(request([user("u1", early), assistant("a1", "ok"), *PADDING]), counter)
    roomy = digest(request([user("u2", late), *PADDING], first, cap=400), counter)
    tight = digest(request([user("u2", late), *PADDING], first, cap=45), counter)
    assert late in tight.text
    assert early not in tight.text
    assert f"- {early}" not in roomy.text
    assert roomy.text.find(early) < roomy.text.index(late)


def test_a_short_answer_keeps_its_question(counter: Counter) -> None:
    entries = [
        user("u1", "Start the server."),
        assistant("a1", "Sure. Which port should I use?"),
        user("u2", "8080"),
        *PADDING,
    ]
    assert 'asked "Which port should I use?" the user said "8080"' in digest(request(entries), counter).text


def test_a_list_under_a_heading_takes_its_meaning(counter: Counter) -> None:
    entries = [
        user("u", "Remember the following:\n- the cat is Tom\n- the dog is Rex\nNow fix the parser."),
        assistant("a", "Fixed."),
        *PADDING,
    ]
    lines = digest(request(entries), counter).lines
    assert [line.text for line in lines if line.weight == 3.0] == ["the cat is Tom", "the dog is Rex"]


def test_what_is_left_out_is_counted_and_the_counts_add_up(counter: Counter) -> None:
    turns = [
        entry
        for turn in range(30)
        for entry in (
            user(f"u{turn}", f"Count item {turn}."),
            assistant(f"a{turn}", f"Counted {turn} of them all."),
        )
    ]
    first = digest(request(turns, cap=120), counter)
    second = digest(request([], first, cap=70), counter)
    told = sum(line.text.startswith('"') for line in first.lines)
    assert f"{30 - told} earlier finished requests" in first.text
    told = sum(line.text.startswith('"') for line in second.lines)
    assert f"{30 - told} earlier finished requests" in second.text


def test_a_summary_is_smaller_than_a_chat_that_holds_nothing(counter: Counter) -> None:
    summary = digest(request([user("u1", "hi"), assistant("a1", "hello")]), counter)
    assert summary.text == ""
    assert summary.tokens == 0


def test_equal_requests_give_equal_summaries(counter: Counter) -> None:
    assert roll(ENGLISH, digester(counter), 300, turns=24) == roll(ENGLISH, digester(counter), 300, turns=24)


def test_a_thousand_entries_fit_the_same_room(counter: Counter) -> None:
    entries = [entry for turn in ENGLISH.turns(250) for entry in turn]
    asked = request(entries)
    assert digest(asked, counter).tokens <= asked.max_tokens
