"""Plain export gives the recorded history back."""

from __future__ import annotations

from typing import Any

import pytest

from ctxtree.importers.wire import blocks, chat
from ctxtree.model import Message
from ctxtree.render import plain
from tests.render.saying import PIXEL, call, words

URL = f"data:image/png;base64,{PIXEL}"

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be terse."},
    {"role": "user", "name": "ann", "content": "hi"},
    {"role": "user", "content": ""},
    {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": URL, "detail": "low"}}]},
    {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}]},
    {"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{ "p": 1}'}},
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{broken"}},
            {"id": "c3", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "body"},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "a"}, {"type": "card", "data": {"t": 3}}]},
    {"role": "tool", "tool_call_id": "c3", "name": "sql", "content": ""},
    {"role": "assistant", "content": "yes", "annotations": [{"url": "x"}], "reasoning_content": "hm"},
    {"role": "assistant", "content": None, "refusal": "No."},
    {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
    {"role": "developer", "content": "answer BLUE"},
]  # fmt: skip

ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "SIG"},
            {"type": "redacted_thinking", "data": "OPAQUE"},
            {"type": "text", "text": ""},
            {"type": "text", "text": "I read."},
            {"type": "tool_use", "id": "c1", "name": "read", "input": {"p": 1}},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                ],
                "is_error": True,
            }
        ],
    },
    {"role": "user", "content": [{"type": "document", "source": {"type": "url", "url": "https://example.org/a"}, "title": "a"}]},
]  # fmt: skip


def messages(parsed: Any) -> list[Message]:
    return [one.message for _, one in parsed]


@pytest.mark.parametrize("record", CHAT, ids=str)
def test_a_chat_message_comes_back_as_it_was(record: dict[str, Any]) -> None:
    assert plain(messages(chat.parse([record])), "openai.chat") == [record]


@pytest.mark.parametrize("record", ANTHROPIC, ids=str)
def test_an_anthropic_message_comes_back_as_it_was(record: dict[str, Any]) -> None:
    assert plain(messages(blocks.parse([record])), "anthropic") == {"messages": [record]}


def test_what_is_written_reads_as_the_same_messages() -> None:
    from_chat, from_blocks = messages(chat.parse(CHAT)), messages(blocks.parse(ANTHROPIC))
    assert messages(chat.parse(plain(from_chat, "openai.chat"))) == from_chat  # type: ignore[arg-type]
    written = plain(from_blocks, "anthropic")
    assert messages(blocks.parse(written["messages"])) == from_blocks  # type: ignore[call-overload]


def test_anthropic_has_its_leading_system_text_apart() -> None:
    made = plain([words("system", "S."), words("user", "x"), words("system", "late")], "anthropic")
    assert made == {
        "system": "S.",
        "messages": [{"role": "user", "content": "x"}, {"role": "system", "content": "late"}],
    }


def test_state_patches_are_no_messages() -> None:
    assert plain([words("state", "{}"), words("user", "x")], "openai.chat") == [
        {"role": "user", "content": "x"}
    ]


def test_sound_in_an_answer_keeps_its_transcript_and_id() -> None:
    record = {"role": "assistant", "content": None, "audio": {"id": "audio_1", "transcript": "Lamp is on."}}
    heard = messages(chat.parse([record]))
    assert messages(chat.parse(plain(heard, "openai.chat"))) == heard  # type: ignore[arg-type]


def test_a_merged_note_and_odd_roles_are_user_words() -> None:
    said = Message(role="note", parts=(call("c1"),))
    assert [record["role"] for record in plain([said], "openai.chat")] == ["user"]  # type: ignore[index]
