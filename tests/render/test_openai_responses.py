"""Responses: items, reasoning that keeps its place, and no ids of the server."""

from __future__ import annotations

from typing import Any

from ctxtree.model import Media, Message, Opaque, Reasoning, Text
from ctxtree.plan import Said
from tests.render.saying import PIXEL, call, codes, rendered, result, says, thought, words

U = words("user", "q")


def sealed(identity: str = "rs_1", data: str | None = "AAA") -> Reasoning:
    return Reasoning(id=identity, encrypted=data, summary=("short",), origin="openai.responses")


def items(*said: Said | Message) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rendered("openai.responses", said).payload["input"]  # type: ignore[assignment]
    return found


def kinds(made: list[dict[str, Any]]) -> list[str]:
    return [item.get("role", item["type"]) for item in made]


def test_the_first_system_message_is_the_instructions() -> None:
    made = rendered("openai.responses", [words("system", "Be terse."), words("system", "{state}"), U])
    assert made.payload["instructions"] == "Be terse."
    assert made.payload["input"] == [
        {"type": "message", "role": "system", "content": "{state}"},
        {"type": "message", "role": "user", "content": "q"},
    ]


def test_reasoning_stands_before_the_output_that_it_led_to() -> None:
    made = items(U, says(sealed(), "a", sealed("rs_2"), call("c1")), result("c1", "r"))
    assert kinds(made) == [
        "user",
        "reasoning",
        "assistant",
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    assert made[1] == {
        "type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "short"}],
        "encrypted_content": "AAA",
    }  # fmt: skip


def test_reasoning_of_a_message_of_its_own_leads_the_next_one() -> None:
    assert kinds(items(U, says(sealed()), says("a"))) == ["user", "reasoning", "assistant"]


def test_reasoning_with_nothing_after_it_is_not_sent() -> None:
    for last in (
        (says(sealed()), words("user", "q2")),
        (says("a", sealed()), words("user", "q2")),
        (says("a", sealed()),),
    ):
        made = rendered("openai.responses", [U, *last])
        assert "reasoning_dropped" in codes(made)
        assert "reasoning" not in kinds(made.payload["input"])  # type: ignore[arg-type]


def test_reasoning_of_others_or_without_its_content_is_not_sent() -> None:
    for part in (thought(), sealed(data=None), Reasoning(encrypted="X", origin="anthropic")):
        assert kinds(items(U, says(part, "a"))) == ["user", "assistant"]


def test_a_reasoning_id_is_sent_once() -> None:
    assert kinds(items(U, says(sealed(), "a"), says(sealed(), "b"))) == [
        "user",
        "reasoning",
        "assistant",
        "assistant",
    ]


def test_items_of_its_own_go_back_verbatim() -> None:
    search = Opaque(
        origin="openai.responses", kind="web_search_call", data={"type": "web_search_call", "id": "ws_1"}
    )
    assert items(U, says(search, "found"))[1] == {"type": "web_search_call", "id": "ws_1"}


def test_what_depended_on_reasoning_that_is_not_sent_loses_its_id() -> None:
    search = Opaque(
        origin="openai.responses", kind="web_search_call", data={"type": "web_search_call", "id": "ws_1"}
    )
    assert items(U, says(sealed(), search, "found"))[1] == {"type": "web_search_call"}


def test_outputs_that_nobody_here_knows_stay_items() -> None:
    asked = Opaque(
        origin="openai.responses", kind="computer_call", data={"type": "computer_call", "call_id": "x"}
    )
    output = {"type": "computer_call_output", "call_id": "x", "output": {}}
    answered = Opaque(origin="openai.responses", kind="computer_call_output", data=output)
    made = items(U, says(asked), Message(role="tool", parts=(answered,)), words("user", "and?"))
    assert kinds(made) == ["user", "computer_call", "computer_call_output", "user"]


def test_pictures_stay_inside_their_result() -> None:
    made = items(U, says(call("c1")), result("c1", "see", Media(mime="image/png", data=PIXEL)))
    assert [part["type"] for part in made[2]["output"]] == ["input_text", "input_image"]


def test_files_go_by_data_address_or_id() -> None:
    parts = (
        Text(text="see"),
        Media(kind="file", mime="application/pdf", data="JVBERi0="),
        Media(kind="file", url="https://example.org/a.pdf"),
        Media(kind="file", file_id="file-1", origin="openai.responses"),
        Media(url="https://example.org/a.png", detail="low"),
    )
    assert items(Message(role="user", parts=parts))[0]["content"] == [
        {"type": "input_text", "text": "see"},
        {"type": "input_file", "filename": "file.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
        {"type": "input_file", "file_url": "https://example.org/a.pdf"},
        {"type": "input_file", "file_id": "file-1"},
        {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "low"},
    ]
