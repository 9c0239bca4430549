"""Anthropic: blocks, thinking as it was signed, break points, results first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ctxtree.model import Media, Message, Opaque, Reasoning, Text
from ctxtree.plan import Said
from tests.render.saying import PIXEL, call, codes, note, rendered, result, says, spoken, thought, words

U = words("user", "x")


def turns(*said: Said | Message) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rendered("anthropic", said).payload["messages"]  # type: ignore[assignment]
    return found


def kinds(turn: dict[str, Any]) -> list[str]:
    return [block["type"] for block in turn["content"]]


def test_an_exchange_is_written_as_blocks() -> None:
    made = rendered(
        "anthropic",
        [
            words("system", "A."),
            words("system", "B."),
            U,
            says("I read.", call("c1", arguments='{"p":1}')),
            result("c1", "no", error=True),
        ],
        reserve=500,
    )
    assert made.payload == {
        "system": [{"type": "text", "text": "A."}, {"type": "text", "text": "B."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "x"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I read."},
                    {"type": "tool_use", "id": "c1", "name": "read", "input": {"p": 1}},
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}],
            },
        ],
        "max_tokens": 500,
    }


def test_results_stand_first_and_everything_else_after_them() -> None:
    made = turns(
        U,
        says(call("c1"), call("c2")),
        result("c1", "r1", Media(mime="image/png", data=PIXEL)),
        words("system", "reminder"),
        result("c2", "r2"),
        note("dead end"),
        words("user", "and now?"),
    )
    assert kinds(made[2]) == ["tool_result", "tool_result", "text", "text", "text"]
    assert [block["type"] for block in made[2]["content"][0]["content"]] == ["text", "image"]


def test_thinking_goes_back_verbatim_and_in_place() -> None:
    sealed = Reasoning(encrypted="OPAQUE", origin="anthropic")
    made = turns(
        U, says(thought(" long \n"), "I read.", call("c1")), result("c1", "r"), says(sealed, "done"), U
    )
    assert made[1]["content"][0] == {"type": "thinking", "thinking": " long \n", "signature": "SIG"}
    assert kinds(made[1]) == ["thinking", "text", "tool_use"]
    assert made[3]["content"][0] == {"type": "redacted_thinking", "data": "OPAQUE"}


def test_thinking_without_signature_or_of_others_is_a_loss() -> None:
    for part in (thought(signature=None), Reasoning(encrypted="X", origin="openai.responses")):
        made = rendered("anthropic", [U, says(part, "a"), U])
        assert "reasoning_dropped" in codes(made)


def test_a_loop_that_did_not_start_with_thinking_has_none() -> None:
    made = turns(U, says(call("c1")), result("c1", "r"), says(thought(), call("c2")), result("c2", "r"))
    assert [kinds(turn) for turn in made if turn["role"] == "assistant"] == [["tool_use"], ["tool_use"]]
    ended = turns(U, says(call("c1")), result("c1", "r"), says("done"), U, says(thought(), "yes"), U)
    assert kinds(ended[-2]) == ["thinking", "text"]


def test_appending_never_takes_thinking_away() -> None:
    said = [
        U,
        says(thought(), call("c1")),
        result("c1", "r"),
        says(thought(), call("c2")),
        result("c2", "r"),
        says("end"),
        U,
    ]
    whole = turns(*said)
    for end in (3, 5, 7):
        assert turns(*said[:end]) == whole[:end]


def test_break_points_stand_only_where_asked_and_at_most_four() -> None:
    said = [words("system", "s"), U, says(thought(), "a"), *(words("user", f"u{n}") for n in range(5))]
    marked = [replace(entry, cut=True) for entry in spoken(*said)]
    made = rendered("anthropic", marked)
    system: list[dict[str, Any]] = made.payload["system"]  # type: ignore[assignment]
    blocks = [*system, *(block for turn in made.payload["messages"] for block in turn["content"])]  # type: ignore[attr-defined]
    cut = [block["text"] for block in blocks if "cache_control" in block]
    assert cut == ["s", "u2", "u3", "u4"]
    assert "cut_dropped" in codes(made)


def test_a_break_point_is_never_on_a_blank_or_thinking_block() -> None:
    parts = (Text(text="words"), Text(text=" "), thought())
    made = turns(U, Said(Message(role="assistant", parts=parts), 1, "n", cut=True), U)
    assert made[1]["content"][0] == {"type": "text", "text": "words", "cache_control": {"type": "ephemeral"}}


def test_documents_and_pictures_have_sources() -> None:
    parts = (
        Media(url="https://example.org/a.png"),
        Media(kind="file", mime="application/pdf", data="JVBERi0=", name="a"),
        Media(kind="file", file_id="file_1", origin="anthropic"),
        Media(mime="image/tiff", data="AAAA"),
    )
    assert turns(Message(role="user", parts=parts))[0]["content"] == [
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
            "title": "a",
        },
        {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
        {"type": "text", "text": "[image: image/tiff, not supported here]"},
    ]


def test_server_blocks_go_back_whole_and_fields_do_not() -> None:
    block = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    own = Opaque(origin="anthropic", kind="server_tool_use", data=block)
    extra = Opaque(origin="anthropic", kind="fields", data={"odd": 1})
    assert turns(U, says(own, "found", extra), U)[1]["content"] == [block, {"type": "text", "text": "found"}]


def test_fixed_words_begin_and_end_a_request_that_lacks_a_user() -> None:
    made = rendered("anthropic", [says("hello"), U, says("bye")])
    first, *_, last = made.payload["messages"]  # type: ignore[misc]
    assert first["content"] == [{"type": "text", "text": "(conversation begins)"}]
    assert last["content"] == [{"type": "text", "text": "(continue)"}]
    assert set(made.spans) == {0, 1, 2}
