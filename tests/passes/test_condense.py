"""The pass that offers shorter forms of what is long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxtree.counter import TextCounter, counter_for
from ctxtree.model import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ctxtree.passes.condense import STUB_FIDELITY, Condense
from ctxtree.passes.condensers.weigh import part_sizes
from ctxtree.plan import Form, Item, Plan
from ctxtree.policy import Budget, Policy
from ctxtree.tokens import message_tokens

LOG = "".join(f"[{n}] copied block {n * 7919 % 10_007} to volume {n % 7}\n" for n in range(400))
LAST = "[400] ERROR disk quota"
RESULT = LOG + LAST
SEALED = Reasoning(text="First I look, then I leap. " * 30, signature="s" * 400, origin="anthropic")


@pytest.fixture(scope="module")
def counter() -> TextCounter:
    return counter_for("o200k_base")


def item_of(
    kind: Any, messages: Sequence[Message], counter: TextCounter, first: int = 1, **changes: Any
) -> Item:
    tokens = sum(message_tokens(message, counter) for message in messages)
    nodes = tuple(f"{first + n:064x}"[::-1] for n in range(len(messages)))
    return Item(kind, nodes, (Form("full", tuple(messages), tokens),), full_tokens=tokens, **changes)


def call(text: str = "", thought: Reasoning | None = None, **arguments: Any) -> Message:
    parts: list[Part] = [thought] if thought else []
    parts += [Text(text=text)] if text else []
    return Message(role="assistant", parts=(*parts, ToolCall(id="call_1", name="bash", arguments=arguments)))


def answer(text: str = RESULT, **fields: Any) -> Message:
    parts = (Text(text=text),)
    return Message(role="tool", parts=(ToolResult(call_id="call_1", parts=parts, name="bash", **fields),))


def plan_of(items: Sequence[Item], counter: TextCounter, available: int = 100_000) -> Plan:
    return Plan(tuple(items), Budget(200_000), Policy(), counter, limit=available, available=available)


def offered(item: Item, counter: TextCounter, **options: Any) -> Item:
    return Condense(**options)(plan_of([item], counter)).items[0]


def form_of(item: Item, level: str) -> Form:
    return next(form for form in item.forms if form.level == level)


def result_text(form: Form, at: int = 1) -> str:
    return form.messages[at].results[0].text


def test_an_exchange_gets_a_condensed_form_and_a_stub(counter: TextCounter) -> None:
    exchange = item_of("exchange", [call("I will copy.", command="cp -r a b"), answer(error=True)], counter)
    shorter = offered(exchange, counter)
    assert [form.level for form in shorter.forms] == ["full", "condensed", "stub"]
    assert shorter.forms[0] is exchange.forms[0]
    assert shorter.chosen == 0
    full, condensed, stub = shorter.forms
    assert condensed.tokens <= full.tokens * 0.9
    assert stub.tokens <= condensed.tokens * 0.9
    assert full.fidelity > condensed.fidelity > stub.fidelity == STUB_FIDELITY
    for form in shorter.forms:
        assert len(form.messages) == len(shorter.nodes)
        assert form.tokens == sum(message_tokens(message, counter) for message in form.messages)
        assert form.messages[0].calls[0].id == form.messages[1].results[0].call_id == "call_1"
        assert form.messages[1].results[0].error
        assert form.messages[1].results[0].name == "bash"


def test_a_condensed_result_keeps_both_ends_and_says_how_much_and_where_the_whole_is(
    counter: TextCounter,
) -> None:
    exchange = item_of("exchange", [call(command="cp"), answer()], counter)
    text = result_text(form_of(offered(exchange, counter), "condensed"))
    body, notice = text.rsplit("\n", 1)
    assert body.startswith("[0] copied block 0")
    assert body.endswith(LAST)
    assert counter(body) <= 200
    shown, whole = counter(body), counter(RESULT)
    assert (
        notice == f"[condensed: {shown:,} of {whole:,} tokens shown; whole: recall {exchange.nodes[1][:12]}]"
    )


def test_without_recall_no_notice_names_an_id(counter: TextCounter) -> None:
    exchange = item_of("exchange", [call(command="cp"), answer()], counter)
    for form in offered(exchange, counter, recall=False).forms[1:]:
        text = result_text(form)
        assert "recall" not in text
        assert exchange.nodes[1][:12] not in text
        assert text.endswith("]")


def test_a_stub_tells_the_error_in_one_line_and_costs_little(counter: TextCounter) -> None:
    words = "I write the file now. Then I run the tests and see. " * 5
    exchange = item_of("exchange", [call(words, path="a.py", content="x = 1\n" * 900), answer()], counter)
    stub = form_of(offered(exchange, counter), "stub")
    line = result_text(stub)
    assert line.startswith("[tool output left out: ")
    assert "\n" not in line
    assert line.endswith(f"; {LAST}; recall {exchange.nodes[1][:12]}]")
    assert counter(line) <= 45
    assert stub.tokens <= 130
    assert stub.messages[0].text.startswith("I write the file now.")
    arguments = stub.messages[0].calls[0].object
    assert list(arguments) == ["path", "content"]
    assert arguments["path"] == "a.py"


def test_many_results_of_one_exchange_stay_paired(counter: TextCounter) -> None:
    ids = [f"c{n}" for n in range(5)]
    calls = tuple(ToolCall(id=name, name="read", arguments={"of": name}) for name in ids)
    results = [
        Message(role="tool", parts=(ToolResult(call_id=name, parts=(Text(text=RESULT),)),)) for name in ids
    ]
    exchange = item_of("exchange", [Message(role="assistant", parts=calls), *results], counter)
    shorter = offered(exchange, counter)
    for form in shorter.forms:
        assert [made.id for made in form.messages[0].calls] == ids
        assert [message.results[0].call_id for message in form.messages[1:]] == ids
    for message, node in zip(form_of(shorter, "stub").messages[1:], exchange.nodes[1:], strict=True):
        assert node[:12] in message.results[0].text


def test_long_arguments_are_cut_visibly_and_keep_their_keys(counter: TextCounter) -> None:
    written = call(path="src/a.py", content="value = compute(value)\n" * 500, mode="w")
    exchange = item_of("exchange", [written, answer("done")], counter)
    arguments = form_of(offered(exchange, counter), "condensed").messages[0].calls[0].object
    assert list(arguments) == ["path", "content", "mode"]
    assert (arguments["path"], arguments["mode"]) == ("src/a.py", "w")
    assert "characters left out]" in arguments["content"]
    assert counter(json.dumps(arguments)) <= 200


@pytest.mark.parametrize(
    "arguments", ["{broken " * 500, json.dumps({"content": "y = 2\n" * 900}), "[1]" * 900]
)
def test_arguments_that_came_as_text_become_an_object_when_cut(arguments: str, counter: TextCounter) -> None:
    made = Message(role="assistant", parts=(ToolCall(id="call_1", name="write", arguments=arguments),))
    shorter = offered(item_of("exchange", [made, answer()], counter), counter)
    assert len(shorter.forms) == 3
    for form in shorter.forms[1:]:
        cut = form.messages[0].calls[0]
        assert isinstance(cut.arguments, dict)
        assert cut.object == cut.arguments == json.loads(json.dumps(cut.arguments))


def test_shorter_forms_carry_nothing_over_from_the_whole(counter: TextCounter) -> None:
    written = call(path="a.py", content="x = 1\n" * 900)
    known = (written.hash, written.calls[0].object, answer().hash)  # worked out, hence kept beside the value
    for form in offered(item_of("exchange", [written, answer()], counter), counter).forms[1:]:
        for message in form.messages:
            assert message.hash not in known
            assert message.hash == Message(role=message.role, parts=message.parts).hash
        assert form.messages[0].calls[0].object == form.messages[0].calls[0].arguments


def test_in_an_open_tool_loop_calls_words_and_reasoning_stay_verbatim(counter: TextCounter) -> None:
    made = call("A long plan. " * 400, SEALED, path="a.py", content="z = 3\n" * 900)
    exchange = item_of("exchange", [made, answer()], counter, parts={"open": 1.0})
    shorter = offered(exchange, counter)
    assert len(shorter.forms) > 1
    for form in shorter.forms:
        assert form.messages[0] == made
    assert "[condensed: " in result_text(shorter.forms[1])


def test_reasoning_goes_as_a_whole_and_never_stands_beside_cut_arguments(counter: TextCounter) -> None:
    made = call("I write it.", SEALED, path="a.py", content="z = 3\n" * 900)
    shorter = offered(item_of("exchange", [made, answer()], counter), counter)
    assert len(shorter.forms) == 3
    for form in shorter.forms:
        kept = [part for part in form.messages[0].parts if isinstance(part, Reasoning)]
        assert kept in ([], [SEALED])
        assert not kept or form.messages[0].calls == made.calls


def test_a_message_of_reasoning_alone_is_not_emptied(counter: TextCounter) -> None:
    shorter = offered(item_of("message", [Message(role="assistant", parts=(SEALED,))], counter), counter)
    assert shorter.forms[-1].level == "condensed"
    assert shorter.forms[-1].messages[0].parts == (Text(text="[reasoning left out]"),)


def test_the_size_of_a_result_is_told_right_beside_reasoning_that_is_not_sent(counter: TextCounter) -> None:
    thought = Reasoning(text="I wonder about this. " * 2000, origin="anthropic")
    exchange = item_of("exchange", [call("", thought, command="cp"), answer()], counter)
    # What it costs at an API that does not take this reasoning back.
    sent = message_tokens(call(command="cp"), counter) + message_tokens(answer(), counter)
    exchange = replace(exchange, forms=(replace(exchange.forms[0], tokens=sent),))
    text = result_text(form_of(offered(exchange, counter), "condensed"))
    assert f" of {counter(RESULT):,} tokens shown" in text


def test_users_words_keep_a_thousand_tokens_and_both_ends(counter: TextCounter) -> None:
    text = "TASK: rename foo to bar. Never touch migrations/.\n" + LOG * 4 + "Please begin with the tests."
    message = item_of("message", [Message.of("user", text)], counter)
    shorter = offered(message, counter)
    assert [form.level for form in shorter.forms] == ["full", "condensed"]
    body, notice = shorter.forms[1].messages[0].text.rsplit("\n", 1)
    assert 1000 <= counter(body) <= 1150
    assert body.startswith("TASK: rename foo to bar. Never touch migrations/.")
    assert body.endswith("Please begin with the tests.")
    assert notice == f"[… truncated: {counter(text):,} tokens; whole: recall {message.nodes[0][:12]}]"


def test_users_words_of_a_thousand_tokens_and_pictures_stay(counter: TextCounter) -> None:
    picture = Media(mime="image/png", width=1024, height=768)
    message = item_of("message", [Message(role="user", parts=(Text(text="word " * 990), picture))], counter)
    assert offered(message, counter).forms == message.forms


def test_long_words_of_the_assistant_keep_both_ends(counter: TextCounter) -> None:
    text = (
        "The answer is yes. " + "It depends on many things that follow. " * 300 + "So begin with the lexer."
    )
    message = item_of("message", [Message.of("assistant", text)], counter)
    said = form_of(offered(message, counter), "condensed").messages[0].text
    assert said.startswith("The answer is yes.")
    assert "So begin with the lexer.\n[… truncated: " in said
    assert counter(said) <= 2 * 200 + 30


def test_pictures_in_old_results_become_a_line(counter: TextCounter) -> None:
    picture = Media(mime="image/png", width=1024, height=768, data="A" * 4_000_000)
    shot = Message(role="tool", parts=(ToolResult(call_id="call_1", parts=(Text(text="taken"), picture)),))
    exchange = item_of("exchange", [call(tab=1), shot], counter)
    line = f"[image image/png 1024x768, left out; recall {exchange.nodes[1][:12]}]"
    condensed = form_of(offered(exchange, counter), "condensed")
    assert condensed.messages[1].results[0].parts == (Text(text="taken"), Text(text=line))


def test_short_pinned_fixed_and_hidden_items_and_other_kinds_stay(counter: TextCounter) -> None:
    short = item_of("exchange", [call(a=1), answer("done")], counter)
    long = item_of("exchange", [call(a=1), answer()], counter)
    system = item_of("system", [Message.of("system", RESULT)], counter)
    hidden = long.hide("dropped", "gone")
    items = (short, replace(long, fixed=True), replace(long, pinned=True), hidden, system)
    assert Condense()(plan_of(items, counter)).items == items


def test_the_pass_twice_is_the_pass_once_and_equal_plans_give_equal_forms(counter: TextCounter) -> None:
    plan = plan_of([item_of("exchange", [call(a="b" * 900), answer()], counter, n) for n in (1, 9)], counter)
    once = Condense()(plan)
    assert len(once.items[0].forms) == 3
    assert Condense()(once) == once
    assert Condense()(plan) == once


def test_items_far_beyond_the_budget_are_offered_stubs_alone(counter: TextCounter) -> None:
    items = [item_of("exchange", [call(n=n), answer()], counter, 10 * n) for n in range(40)]
    plan = Condense()(plan_of(items, counter, available=300))
    assert [form.level for form in plan.items[-1].forms] == ["full", "condensed", "stub"]
    assert [form.level for form in plan.items[0].forms] == ["full", "stub"]
    whole = Condense(every=True)(plan_of(items, counter, available=300))
    assert all(len(item.forms) == 3 for item in whole.items)


def test_another_accounting_is_used_where_it_is_given(counter: TextCounter) -> None:
    exchange = item_of("exchange", [call(a=1), answer()], counter)
    assert offered(exchange, counter, cost=lambda message: 7 * len(message.parts)).forms[1].tokens == 14


def test_very_long_results_have_stubs(counter: TextCounter) -> None:
    lines = RESULT * 400
    items = [item_of("exchange", [call(n=n), answer(lines)], counter, 10 * n) for n in range(50)]
    plan = plan_of(items, counter, available=1)
    made = Condense()(plan)
    assert all(len(item.forms) > 1 for item in made.items)


TEXTS = st.sampled_from(["", "short", LOG, RESULT, "词语。" * 900, "x" * 9000])
PARTS = st.one_of(
    st.builds(Text, text=TEXTS),
    st.builds(Reasoning, text=st.sampled_from(["", LOG]), signature=st.sampled_from([None, "s" * 90])),
    st.builds(Media, width=st.just(800), height=st.just(600)),
    st.builds(
        Opaque, origin=st.just("gemini"), kind=st.just("odd"), data=st.sampled_from([None, {"a": LOG}])
    ),
    st.builds(
        ToolCall,
        id=st.sampled_from(["c1", "c2"]),
        name=st.just("run"),
        arguments=st.sampled_from([{}, {"a": LOG}, "no json", {"n": {"deep": [LOG] * 9}}, LOG]),
    ),
    st.builds(
        ToolResult,
        call_id=st.sampled_from(["c1", "c2"]),
        parts=st.lists(st.builds(Text, text=TEXTS) | st.builds(Media), max_size=3).map(tuple),
    ),
)
ROLES: list[Any] = ["user", "assistant", "tool"]
MESSAGES = st.lists(
    st.builds(Message, role=st.sampled_from(ROLES), parts=st.lists(PARTS, max_size=4).map(tuple)),
    min_size=1,
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(messages=MESSAGES, is_open=st.booleans(), tokens=st.sampled_from([20, 200]))
def test_every_form_keeps_roles_calls_and_results_and_gets_cheaper(
    counter: TextCounter, messages: list[Message], is_open: bool, tokens: int
) -> None:
    exchange = item_of("exchange", messages, counter, parts={"open": 1.0} if is_open else {})
    shorter = offered(exchange, counter, tool_tokens=tokens)
    costs = [form.tokens for form in shorter.forms]
    assert costs == sorted(costs, reverse=True)
    for form in shorter.forms:
        assert len(form.messages) == len(messages)
        for message, whole in zip(form.messages, messages, strict=True):
            assert message.role == whole.role
            assert [(one.id, one.name) for one in message.calls] == [
                (one.id, one.name) for one in whole.calls
            ]
            assert [one.call_id for one in message.results] == [one.call_id for one in whole.results]
            assert bool(message.parts) == bool(whole.parts)
        assert form.tokens == sum(message_tokens(message, counter) for message in form.messages)


@settings(max_examples=40, deadline=None)
@given(messages=MESSAGES)
def test_every_part_has_a_size_and_long_ones_are_not_taken_for_short(
    counter: TextCounter, messages: list[Message]
) -> None:
    total = sum(message_tokens(message, counter) for message in messages)
    for message, row in zip(messages, part_sizes(messages, total, counter), strict=True):
        for part, size in zip(message.parts, row, strict=True):
            assert size >= 0
            if isinstance(part, Text):
                assert counter(part.text) // 3 <= size <= counter(part.text) * 3
