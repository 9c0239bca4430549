"""The last resort for what must be sent and does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxtree.counter import TextCounter, counter_for
from ctxtree.model import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from ctxtree.passes.degrade import degrade
from ctxtree.plan import Form
from ctxtree.tokens import message_tokens

LOG = "".join(f"[{n}] copied block {n * 7919 % 10_007} to volume {n % 7}\n" for n in range(400))
LAST = "[400] ERROR disk quota"
RESULT = LOG + LAST
SEALED = Reasoning(text="First I look, then I leap. " * 30, signature="s" * 400, origin="anthropic")
NODES = tuple(f"{n}" * 64 for n in range(1, 7))


@pytest.fixture(scope="module")
def counter() -> TextCounter:
    return counter_for("o200k_base")


def call(text: str = "", thought: Reasoning | None = None, **arguments: Any) -> Message:
    parts: list[Part] = [thought] if thought else []
    parts += [Text(text=text)] if text else []
    return Message(role="assistant", parts=(*parts, ToolCall(id="call_1", name="bash", arguments=arguments)))


def answer(text: str = RESULT) -> Message:
    return Message(role="tool", parts=(ToolResult(call_id="call_1", parts=(Text(text=text),)),))


def cost(messages: Sequence[Message], counter: TextCounter) -> int:
    return sum(message_tokens(message, counter) for message in messages)


def whole(messages: Sequence[Message], counter: TextCounter) -> Form:
    return Form("full", tuple(messages), cost(messages, counter))


def shortened(messages: Sequence[Message], limit: int, counter: TextCounter, **options: Any) -> Form | None:
    return degrade(whole(messages, counter), limit, counter, NODES[: len(messages)], **options)


def fitting(messages: Sequence[Message], limit: int, counter: TextCounter) -> Form:
    form = shortened(messages, limit, counter)
    assert form is not None
    assert form.tokens == cost(form.messages, counter) <= limit
    return form


def test_what_fits_is_left_alone(counter: TextCounter) -> None:
    form = whole([call(a=1), answer()], counter)
    assert degrade(form, form.tokens, counter, NODES[:2]) is form


@pytest.mark.parametrize("limit", [3000, 1000, 300, 160, 100, 75])
def test_results_are_condensed_harder_until_they_fit(limit: int, counter: TextCounter) -> None:
    made = call("I copy it.", command="cp -r a b")
    form = fitting([made, answer()], limit, counter)
    assert form.messages[0] == made
    assert LAST in form.messages[1].results[0].text
    assert NODES[1][:12] in form.messages[1].results[0].text
    assert form.messages[1].results[0].call_id == "call_1"


def test_the_mildest_step_that_fits_is_taken(counter: TextCounter) -> None:
    roomy, tight = (fitting([call(a=1), answer()], limit, counter) for limit in (400, 120))
    assert roomy.tokens > 2 * 100 > tight.tokens
    assert "[condensed: " in roomy.messages[1].results[0].text


def test_without_recall_no_notice_names_an_id(counter: TextCounter) -> None:
    for limit in (300, 75):
        form = shortened([call(a=1), answer()], limit, counter, recall=False)
        assert form is not None
        assert "recall" not in form.messages[1].results[0].text


def test_a_result_of_482_000_tokens_fits_with_its_last_line(counter: TextCounter) -> None:
    lines = [f"[{n}] copied block {n * 7919 % 100_003} to volume {n % 7}" for n in range(32_000)]
    form = fitting(
        [call(command="cat big.log"), answer("\n".join([*lines, "ERROR disk quota"]))], 400, counter
    )
    assert "ERROR disk quota" in form.messages[1].results[0].text


@pytest.mark.parametrize("limit", [4000, 2000, 1200])
def test_users_words_are_cut_in_the_middle_and_keep_a_thousand_tokens(
    limit: int, counter: TextCounter
) -> None:
    text = "TASK: rename foo to bar.\n" + LOG * 5 + "Never touch migrations/."
    said = fitting([Message.of("user", text)], limit, counter).messages[0].text
    assert counter(said) >= 1000
    assert said.startswith("TASK: rename foo to bar.")
    assert "Never touch migrations/." in said
    assert said.endswith(f"; whole: recall {NODES[0][:12]}]")


def test_users_words_are_never_cut_below_a_thousand_tokens(counter: TextCounter) -> None:
    long = Message.of("user", LOG * 5)
    assert shortened([long], 900, counter) is None
    best = shortened([long], 900, counter, best=True)
    assert best is not None
    assert 1000 <= best.tokens <= 1250
    short = Message.of("user", "word " * 900)
    assert shortened([short], 500, counter) is None
    assert shortened([short], 500, counter, best=True) is None


def test_the_largest_text_is_cut_first(counter: TextCounter) -> None:
    short, long = Message.of("assistant", "brief words here"), Message.of("assistant", "Many words. " * 900)
    form = fitting([short, long], 600, counter)
    assert form.messages[0] == short
    assert form.messages[1].text.startswith("Many words.")


def test_reasoning_and_calls_are_never_touched(counter: TextCounter) -> None:
    made = call("Many words. " * 300, SEALED, content="z = 3\n" * 50)
    form = fitting([made, answer()], 900, counter)
    assert form.messages[0].calls == made.calls
    assert SEALED in form.messages[0].parts
    assert shortened([made, answer()], 300, counter) is None


def test_pictures_of_the_user_go_last(counter: TextCounter) -> None:
    parts = (Text(text="What is wrong here?"), Media(mime="image/png", width=1024, height=1024))
    form = fitting([Message(role="user", parts=parts)], 60, counter)
    assert form.messages[0].text.startswith("What is wrong here?\n[image image/png 1024x1024, left out")


def test_another_accounting_is_used_where_it_is_given(counter: TextCounter) -> None:
    def double(message: Message) -> int:
        return 2 * message_tokens(message, counter)

    messages = (call(a=1), answer())
    form = degrade(Form("full", messages, sum(map(double, messages))), 400, counter, NODES[:2], cost=double)
    assert form is not None
    assert form.tokens == 2 * cost(form.messages, counter) <= 400


TEXTS = st.sampled_from(["", "short", LOG, RESULT, "词语。" * 900, "x" * 9000, "word " * 1500])
PARTS = st.one_of(
    st.builds(Text, text=TEXTS),
    st.builds(Reasoning, text=st.sampled_from(["", LOG]), signature=st.sampled_from([None, "s" * 90])),
    st.builds(Media, width=st.just(800), height=st.just(600)),
    st.builds(ToolCall, name=st.just("run"), arguments=st.sampled_from([{}, {"a": LOG}, "no json"])),
    st.builds(
        ToolResult, parts=st.lists(st.builds(Text, text=TEXTS) | st.builds(Media), max_size=3).map(tuple)
    ),
)
ROLES: list[Any] = ["user", "assistant", "tool"]
MESSAGES = st.lists(
    st.builds(Message, role=st.sampled_from(ROLES), parts=st.lists(PARTS, max_size=4).map(tuple)),
    min_size=1,
    max_size=4,
)


@settings(max_examples=80, deadline=None)
@given(messages=MESSAGES, share=st.floats(0.01, 1.0))
def test_a_degraded_form_fits_or_is_none_and_keeps_calls(
    counter: TextCounter, messages: list[Message], share: float
) -> None:
    full = cost(messages, counter)
    limit = max(1, int(full * share))
    form, best = (shortened(messages, limit, counter, best=best) for best in (False, True))
    if form is None:
        assert best is None or limit < best.tokens < full
        return
    assert form == best
    assert form.tokens == cost(form.messages, counter) <= limit
    for message, given_message in zip(form.messages, messages, strict=True):
        assert message.role == given_message.role
        assert message.calls == given_message.calls
        kept = [part for part in message.parts if isinstance(part, Reasoning)]
        assert kept == [part for part in given_message.parts if isinstance(part, Reasoning)]
