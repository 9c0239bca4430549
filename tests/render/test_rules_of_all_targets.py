"""Histories with faults that public trackers report, on every target and dialect."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ctxtree.errors import TargetError
from ctxtree.model import Media, Message, Opaque, Text, ToolResult
from ctxtree.plan import Rendered, Said, Settings
from ctxtree.render import TARGETS, target
from tests.render.saying import (
    PIXEL,
    PLACES,
    call,
    codes,
    counter,
    everything,
    fields,
    note,
    rendered,
    result,
    says,
    spoken,
    thought,
    words,
)

U = words("user", "go")


def strings(value: Any) -> Iterator[str]:
    """Every string in a payload."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


@pytest.fixture(params=PLACES, ids=lambda place: "+".join(filter(None, place)))
def place(request: pytest.FixtureRequest) -> tuple[str, str | None]:
    found: tuple[str, str | None] = request.param
    return found


def at(place: tuple[str, str | None], *said: Said | Message) -> Rendered:
    return rendered(place[0], said, place[1])


def test_a_plain_exchange_needs_no_repair(place: tuple[str, str | None]) -> None:
    made = at(
        place,
        words("system", "Be terse."),
        U,
        says("Reading.", call("c1aaaaaaa")),
        result("c1aaaaaaa", "body"),
    )
    assert codes(made) - {"tools_declared"} == set()
    assert "body" in everything(made)


def test_an_unanswered_call_gets_a_result_of_unknown_outcome(place: tuple[str, str | None]) -> None:
    made = at(place, U, says(call("c1"), call("c2")), result("c1", "3 failed"), words("user", "go on"))
    assert "unanswered_call" in codes(made)
    assert "(no result recorded here; it may have run)" in everything(made)
    assert "3 failed" in everything(made)


def test_calls_at_the_end_are_told_in_words(place: tuple[str, str | None]) -> None:
    waiting = says(
        "I will read it.", call("c1", "read", {"path": "a.py"}), call("c2", "read", '{"path":"b.py"}')
    )
    made = at(place, U, waiting)
    assert "pending_call" in codes(made)
    assert "call read(a.py) awaits its result" in everything(made)
    assert "call read(b.py) awaits its result" in everything(made)
    assert "I will read it." in everything(made)
    assert "no result recorded" not in everything(made)


def test_a_pending_call_without_words_joins_the_user_message(place: tuple[str, str | None]) -> None:
    made = at(place, U, says(call("c1")), note("a dead end"))
    assert "pending_call" in codes(made)
    assert (
        everything(made).index("go")
        < everything(made).index("awaits its result")
        < everything(made).index("dead end")
    )


def test_a_pending_call_with_huge_arguments_stays_short(place: tuple[str, str | None]) -> None:
    huge = {f"key{number}": "x" * 10_000 for number in range(1000)}
    made = at(place, U, says(call("c1", "write", huge)))
    assert len(everything(made)) < 700


def test_a_result_without_its_call_is_quoted(place: tuple[str, str | None]) -> None:
    made = at(place, result("gone", "lost body"), U)
    assert "(result of a call that is not on this path) lost body" in everything(made)
    assert "orphan_result" in codes(made)


def test_a_second_result_for_a_call_is_quoted(place: tuple[str, str | None]) -> None:
    made = at(place, U, says(call("c1")), result("c1", "first"), result("c1", "second"), words("user", "so?"))
    assert "(result of a call that is not on this path) second" in everything(made)


def test_words_between_call_and_result_come_after_the_result(place: tuple[str, str | None]) -> None:
    made = at(
        place,
        U,
        says(call("c1")),
        words("user", "(also check README)"),
        result("c1", "built ok"),
        says("all done"),
    )
    text = everything(made)
    order = [text.index(word) for word in ("built ok", "also check README", "all done")]
    assert order == sorted(order)
    assert "result_moved" in codes(made)


def test_results_inside_a_user_message_leave_its_words_there(place: tuple[str, str | None]) -> None:
    mixed = Message(
        role="user",
        parts=(Text(text="IMPORTANT: stay on v2"), ToolResult(call_id="c1", parts=(Text(text="file"),))),
    )
    made = at(place, U, says(call("c1")), mixed, says("ok"))
    text = everything(made)
    assert text.count("stay on v2") == 1
    assert text.index("file") < text.index("stay on v2")


def test_equal_ids_are_paired_by_position_in_their_round(place: tuple[str, str | None]) -> None:
    made = at(
        place,
        U,
        says(call("grep:0", "grep", '{"q":"X"}'), call("grep:0", "grep", '{"q":"Y"}')),
        result("grep:0", "hitX"),
        result("grep:0", "hitY"),
        says(call("grep:0", "grep", '{"q":"Z"}'), call("", "ls")),
        result("grep:0", "hitZ"),
        result("", "files"),
        words("user", "?"),
    )
    text = everything(made)
    order = [text.index(word) for word in ("hitX", "hitY", "hitZ", "files")]
    assert order == sorted(order)
    assert "unanswered_call" not in codes(made)


def test_two_rounds_before_their_results_both_keep_them(place: tuple[str, str | None]) -> None:
    made = at(
        place,
        U,
        says(call("a1")),
        says(call("b1")),
        result("a1", "ra"),
        result("b1", "rb"),
        words("user", "?"),
    )
    assert not codes(made) & {"unanswered_call", "orphan_result"}
    assert "ra" in everything(made)
    assert "rb" in everything(made)


def test_an_id_repeated_every_round_never_loses_a_result(place: tuple[str, str | None]) -> None:
    rounds = [
        one for number in range(20) for one in (says(call("call_0")), result("call_0", f"result {number}."))
    ]
    made = at(place, U, *rounds)
    assert all(f"result {number}." in everything(made) for number in range(20))


def test_an_unanswered_round_does_not_take_the_next_rounds_result(place: tuple[str, str | None]) -> None:
    made = at(
        place, U, says(call("call_0")), words("user", "again"), says(call("call_0")), result("call_0", "late")
    )
    text = everything(made)
    assert text.index("no result recorded") < text.index("again") < text.index("late")


def test_arguments_that_are_no_object_are_wrapped(place: tuple[str, str | None]) -> None:
    bad = ("[1,2]", "{broken", '"text"', "NaN", '{"x": NaN}', "")
    made = at(
        place, U, says(*(call(f"c{i}", arguments=text) for i, text in enumerate(bad))), result("c0", "r")
    )
    assert "arguments_wrapped" in codes(made)


@pytest.mark.parametrize(
    "odd", [r'{"p": ["\ud800"]}', r'{"\udc00": 1}', '{"p": 1e400}', '{"p": -Infinity}', {"p": float("nan")}]
)
def test_arguments_that_json_cannot_hold_are_repaired(place: tuple[str, str | None], odd: Any) -> None:
    made = at(place, U, says(call("c1", arguments=odd)), result("c1", "r"))
    assert "arguments_repaired" in codes(made)
    json.dumps(made.payload, ensure_ascii=False, allow_nan=False).encode()
    for text in strings(made.payload):
        if text.startswith("{"):
            held = json.loads(text, parse_constant=pytest.fail)
            json.dumps(held, ensure_ascii=False, allow_nan=False).encode()


def test_arguments_that_every_reader_takes_alike_go_out_as_they_came(place: tuple[str, str | None]) -> None:
    plain = r'{ "p" : [1.50, 12345678901234567890, "\u00e9\ud83d\ude00", "NaN"] }'
    made = at(place, U, says(call("c1", arguments=plain)), result("c1", "r"))
    assert not {"arguments_repaired", "arguments_wrapped"} & codes(made)
    assert place[0].startswith("openai") <= (plain in list(strings(made.payload)))


@pytest.mark.parametrize(
    "data",
    [
        {"type": "text"}, {"type": "text", "text": 7}, {"type": "tool_use", "id": "x"}, {"type": "image_url", "image_url": {}},
        {"type": "thinking", "thinking": None}, {"type": "image", "source": 5}, {"type": ["text"]}, {"type": "reasoning", "id": 1},
        {"type": "document", "source": {"type": "base64"}}, {"type": "input_text"}, {"type": "tool_result"},
    ],
    ids=str,
)  # fmt: skip
def test_a_block_of_a_known_type_without_its_fields_never_goes_out(
    place: tuple[str, str | None], data: dict[str, Any]
) -> None:
    for origin in ("openai.chat", "openai.responses", "anthropic", "gemini"):
        kind = data["type"] if isinstance(data["type"], str) else "unknown"
        broken = Opaque(origin=origin, kind=kind, data=data)
        made = at(
            place,
            Message(role="user", parts=(Text(text="see"), broken)),
            says(call("c1")),
            result("c1", broken),
        )
        assert json.dumps(data) not in json.dumps(made.payload)
        assert "opaque_part" in codes(made)


def test_blank_contents_get_markers_or_go(place: tuple[str, str | None]) -> None:
    made = at(
        place,
        words("user", "   \n"),
        says("", call("c1")),
        result("c1", ""),
        says("  "),
        Message(role="user"),
        says(),
        words("user", "still there?"),
    )
    assert "(no output)" in everything(made)
    assert everything(made).count("(empty message)") == 2
    assert "empty_content" in codes(made)


def test_a_late_system_message_stays_at_its_place_as_a_note(place: tuple[str, str | None]) -> None:
    made = at(
        place,
        words("system", "Be terse."),
        words("user", "hi"),
        says("hello"),
        words("developer", "From now on answer only BLUE."),
        words("user", "colour?"),
    )
    text = everything(made)
    order = [
        text.index(word) for word in ("hi", "hello", "[system note] From now on answer only BLUE.", "colour?")
    ]
    assert order == sorted(order)
    assert "system_folded" in codes(made)


def test_a_system_message_within_a_batch_stands_after_the_results(place: tuple[str, str | None]) -> None:
    made = at(
        place,
        U,
        says(call("c1"), call("c2")),
        result("c1", "r1"),
        words("system", "reminder: 80%"),
        result("c2", "r2"),
    )
    text = everything(made)
    assert text.index("r1") < text.index("r2") < text.index("reminder: 80%")


def test_a_note_leads_the_user_message_after_it(place: tuple[str, str | None]) -> None:
    made = at(place, words("user", "a"), says("b"), note("the summary"), words("user", "e?"))
    text = everything(made)
    assert text.index("the summary") < text.index("e?")
    if place[0] == "openai.chat":
        assert len(made.payload["messages"]) == 3  # type: ignore[arg-type]


def test_a_note_never_separates_a_call_from_its_result(place: tuple[str, str | None]) -> None:
    made = at(
        place, U, says(call("c1")), note("in between"), result("c1", "body"), note("after"), says("done")
    )
    text = everything(made)
    assert text.index("body") < text.index("in between") < text.index("after") < text.index("done")


def test_a_leading_assistant_message_never_opens_a_request(place: tuple[str, str | None]) -> None:
    made = at(place, words("system", "s"), says(call("c1")), result("c1", "r"), words("user", "new"))
    assert ("conversation_begins" in codes(made)) == (place[0] != "text")


def test_a_trailing_assistant_message_is_followed_where_it_must_be(place: tuple[str, str | None]) -> None:
    made = at(place, U, says("done"))
    follows = place[0] in ("anthropic", "gemini") or place[1] in ("mistral", "bedrock")
    assert ("continue" in codes(made)) == follows


def test_pictures_go_where_they_can_and_are_told_elsewhere(place: tuple[str, str | None]) -> None:
    picture = Media(mime="image/png", data=PIXEL)
    made = at(
        place,
        Message(role="user", parts=(Text(text="see"), picture)),
        says(call("c1")),
        result("c1", picture),
    )
    told = place[0] == "text" or place[1] in ("strict", "no_system", "mistral")
    assert everything(made).count(PIXEL) == (0 if told else 2)
    assert ("unsupported_media" in codes(made)) == told


def test_sound_without_data_is_told_by_its_transcript(place: tuple[str, str | None]) -> None:
    asked = Media(kind="audio", transcript="turn on the lamp")
    answer = Media(kind="audio", file_id="audio_1", origin="openai.chat", transcript="Lamp is on.")
    made = at(
        place,
        Message(role="user", parts=(asked,)),
        says(answer),
        Message(role="user", parts=(Media(kind="audio"),)),
    )
    text = everything(made)
    assert "turn on the lamp" in text
    assert "Lamp is on." in text
    assert "audio_1" not in text
    assert "[audio, not supported here]" in text


def test_unknown_parts_of_another_api_are_told_by_type(place: tuple[str, str | None]) -> None:
    card = Opaque(origin="somewhere", kind="weather_card", data={"temp": 3})
    made = at(
        place,
        Message(role="user", parts=(Text(text="see"), card)),
        says(call("c1")),
        result("c1", "ok", card),
    )
    assert everything(made).count("[weather_card]") == 2
    assert "temp" not in everything(made)
    assert "opaque_part" in codes(made)


def test_fields_of_another_api_are_left_out_but_a_refusal_is_kept_as_words(
    place: tuple[str, str | None],
) -> None:
    made = at(place, U, says(fields("somewhere", refusal="I will not.", odd=1)), words("user", "why?"))
    assert "I will not." in everything(made)
    assert "odd" not in everything(made)


def test_reasoning_without_a_home_is_a_loss(place: tuple[str, str | None]) -> None:
    made = at(place, U, says(thought(signature=None), "answer"), words("user", "?"))
    assert "reasoning_dropped" in codes(made)


def test_an_assistant_message_of_reasoning_alone_is_left_out(place: tuple[str, str | None]) -> None:
    made = at(place, U, says(thought()), words("user", "?"))
    assert "reasoning_dropped" in codes(made)
    assert "SIG" not in everything(made)


def test_calls_in_a_user_message_are_told(place: tuple[str, str | None]) -> None:
    made = at(place, Message(role="user", parts=(Text(text="like so:"), call("c1", "read", {"path": "a"}))))
    assert "read(path=a)" in everything(made)
    assert "role_mismatch" in codes(made)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [words("system", "sys")],
        [says(call("c1")), result("c1", "r")],
        [result("c1", "r")],
        [says("hello")],
        [words("user", "  ")],
        [words("note", "merged")],
        [Message(role="user", parts=(ToolResult(call_id="c1"),))],
    ],
)
def test_without_a_users_words_every_target_says_so(messages: list[Message]) -> None:
    for name, dialect in PLACES:
        with pytest.raises(TargetError) as caught:
            target(name)(spoken(*messages), Settings(dialect=dialect), counter())
        assert caught.value.code == "no_user_turn"


def test_a_blank_user_message_beside_an_answer_is_enough() -> None:
    for name in TARGETS:
        assert "(empty message)" in everything(rendered(name, [words("user", " "), says("hello")]))


def test_unknown_targets_and_dialects_are_named() -> None:
    with pytest.raises(
        TargetError, match=r"openai.chat, openai.responses, anthropic, gemini, text"
    ) as caught:
        target("opnai")
    assert caught.value.code == "unknown_target"
    assert target("openai") is TARGETS["openai.chat"]
    for name in TARGETS:
        with pytest.raises(TargetError) as caught:
            TARGETS[name](spoken(U), Settings(dialect="klingon"), counter())
        assert caught.value.code == "unknown_dialect"


def test_signals_name_each_node_once_and_one_code_once() -> None:
    made = rendered(
        "openai.chat",
        [U, says("", thought(), thought(), call("")), result("", ""), says(call("")), result("", "")],
    )
    assert len({signal.code for signal in made.repairs}) == len(made.repairs)
    (loss,) = made.losses
    assert (loss.code, loss.nodes) == ("reasoning_dropped", ("n1",))
