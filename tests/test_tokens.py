"""What messages, tools and formats cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

import ctxtree
from ctxtree import vocab
from ctxtree.counter import counter_for
from ctxtree.errors import CtxtreeError
from ctxtree.model import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from ctxtree.tokens import (
    CALL_TOKENS,
    MESSAGE_TOKENS,
    NAME_TOKENS,
    REPLY_TOKENS,
    RESULT_TOKENS,
    arguments_text,
    count,
    format_tokens,
    message_tokens,
    messages_tokens,
    part_tokens,
    tools_tokens,
)


def true_count(text: str, name: str = "o200k_base") -> int:
    return len(vocab.encoding(name).encode_ordinary(text))


@pytest.fixture
def tokens() -> Any:
    return counter_for("o200k_base")


def test_an_assistant_message_without_content_costs_its_call(tokens: Any) -> None:
    call = ToolCall(id="call_1", name="read_file", arguments={"path": "src/lexer.py"})
    message = Message(role="assistant", parts=(call,))
    arguments = '{"path":"src/lexer.py"}'
    assert message_tokens(message, tokens) == (
        MESSAGE_TOKENS + CALL_TOKENS + tokens("call_1") + tokens("read_file") + tokens(arguments)
    )
    assert message_tokens(Message(role="assistant"), tokens) == MESSAGE_TOKENS


def test_a_message_is_its_structure_its_name_and_the_sum_of_its_parts(tokens: Any) -> None:
    parts = (
        Text(text="hello"),
        Reasoning(text="hm", summary=("short",), signature="s" * 100),
        Opaque(origin="x", kind="y", data={"a": 1}),
    )
    message = Message(role="assistant", parts=parts, name="ada")
    assert message_tokens(message, tokens) == (
        MESSAGE_TOKENS + NAME_TOKENS + tokens("ada") + sum(part_tokens(part, tokens) for part in parts)
    )
    assert part_tokens(parts[1], tokens) == tokens("hm") + tokens("short") + 20
    assert part_tokens(parts[2], tokens) == tokens('{"a":1}')


def test_each_result_is_a_message_of_its_own_at_openai_alone(tokens: Any) -> None:
    results = tuple(ToolResult(call_id=f"c{n}", parts=(Text(text="done"),)) for n in range(3))
    message = Message(role="user", parts=(*results, Text(text="go on")))
    held = sum(part_tokens(part, tokens) for part in message.parts)
    assert part_tokens(results[0], tokens) == RESULT_TOKENS + tokens("c0") + tokens("done")
    assert message_tokens(message, tokens) == 4 * MESSAGE_TOKENS + held
    assert message_tokens(message, tokens, "anthropic") == MESSAGE_TOKENS + held


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"b": 1, "a": "ü"}, '{"b":1,"a":"ü"}'),
        ('{"b": 1,  "a": 2}', '{"b": 1,  "a": 2}'),
        ("", "{}"),
        ("{}", "{}"),
        ('["x"]', '{"_raw":["x"]}'),
        ("not json", '{"_raw":"not json"}'),
        ('{"a": 1', '{"_raw":"{\\"a\\": 1"}'),
        ({"x": float("nan")}, '{"x":"NaN"}'),
        ('{"x": NaN}', '{"x":"NaN"}'),
        ('{"x": -Infinity}', '{"x":"-Infinity"}'),
        ("[" * 50_000, json.dumps({"_raw": "[" * 50_000}, separators=(",", ":"))),
    ],
)
def test_arguments_go_out_as_the_json_of_an_object(given: Any, sent: str) -> None:
    assert arguments_text(ToolCall(name="f", arguments=given)) == sent


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather in a given location.",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA."},
                "unit": {
                    "type": "string",
                    "description": "The unit.",
                    "enum": ["celsius", "fahrenheit", "kelvin"],
                },
            },
            "required": ["location"],
        },
    },
}
BARE = {
    "type": "function",
    "function": {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}}},
}


def cookbook(tools: list[Mapping[str, Any]]) -> int:
    """The OpenAI cookbook's formula for gpt-4o, in its own order."""
    total = 12
    for tool in tools:
        function = tool["function"]
        total += 7 + true_count(f"{function['name']}:{function.get('description', '').removesuffix('.')}")
        properties = function["parameters"]["properties"]
        total += 3 if properties else 0
        for name, field in properties.items():
            total += 3
            if "enum" in field:
                total += -3 + sum(3 + true_count(item) for item in field["enum"])
            total += true_count(f"{name}:{field['type']}:{field.get('description', '').removesuffix('.')}")
    return total


def many_enums() -> dict[str, Any]:
    function: Any = WEATHER["function"]
    values = [f"value{n}" for n in range(60)]
    properties = {"pick": {"type": "string", "description": "One.", "enum": values}}
    return {
        "type": "function",
        "function": {**function, "parameters": {"type": "object", "properties": properties}},
    }


@pytest.mark.parametrize("tools", [[WEATHER], [BARE], [WEATHER, BARE] * 20, [many_enums()]])
def test_tools_never_cost_less_than_the_cookbook_says(tools: list[Any], tokens: Any) -> None:
    assert cookbook(tools) <= tools_tokens(tools, tokens)


def test_no_tools_and_no_format_cost_nothing(tokens: Any) -> None:
    assert tools_tokens((), tokens) == 0
    assert format_tokens(None, tokens) == 0
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    assert format_tokens(schema, tokens) > tokens(json.dumps(schema, separators=(",", ":")))


# --- count


def test_count_takes_a_text_a_message_or_a_list() -> None:
    text = "Rewrite the parser. Never touch prod."
    message = Message.of("user", text)
    assert ctxtree.count(text) == true_count(text)
    assert ctxtree.count(message) == true_count(text) + MESSAGE_TOKENS
    assert ctxtree.count([message]) == true_count(text) + MESSAGE_TOKENS + REPLY_TOKENS
    assert ctxtree.count([{"role": "user", "content": text}]) == ctxtree.count([message])
    assert ctxtree.count([]) == REPLY_TOKENS
    assert ctxtree.count(message for _ in range(2)) == ctxtree.count([message, message])


def test_dicts_in_the_form_of_openai_cost_what_the_messages_cost(tokens: Any) -> None:
    wire = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "ada", "content": [{"type": "text", "text": "look"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "read", "arguments": '{"path": "a.py"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "x = 1"},
        {"role": "assistant", "content": None, "refusal": "I cannot."},
    ]
    messages = [
        Message.of("system", "Be brief."),
        Message(role="user", parts=(Text(text="look"),), name="ada"),
        Message(role="assistant", parts=(ToolCall(id="c1", name="read", arguments='{"path": "a.py"}'),)),
        Message(role="tool", parts=(ToolResult(call_id="c1", parts=(Text(text="x = 1"),)),)),
        Message.of("assistant", "I cannot."),
    ]
    assert count(wire) == messages_tokens(messages, tokens)


def test_blocks_in_the_form_of_anthropic_and_gemini_are_counted() -> None:
    blocks = [
        {"type": "thinking", "thinking": "let me see", "signature": "s" * 50},
        {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.py"}},
    ]
    answer = [
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "word " * 100}]}
    ]
    assert count({"role": "assistant", "content": blocks}) >= 10 + CALL_TOKENS + 4
    assert count({"role": "user", "content": answer}) >= 100
    assert count({"role": "user", "parts": [{"text": "word " * 100}]}) >= 100


def test_claude_is_charged_more_and_never_less_than_the_raw_count() -> None:
    text = "word " * 1000
    raw = true_count(text)
    assert raw * 1.3 <= count(text, "claude-sonnet-4-5") <= raw * 1.3 + 1
    assert count("a", "claude-sonnet-4-5") == 2


@pytest.mark.parametrize("given", [7, None, [7], [None], [["nested"]]])
def test_what_is_no_message_is_refused(given: Any) -> None:
    with pytest.raises(CtxtreeError, match="cannot count"):
        count(given)


@pytest.mark.parametrize(
    "odd",
    [
        {}, {"content": 5}, {"content": [5, None, "x"]}, {"tool_calls": [None, "x", {"function": 3}]},
        {"role": "tool", "tool_call_id": 3, "content": {}}, {"content": [{"type": "text", "text": None}]},
        {"content": [{"type": "image_url"}]}, {"function_call": {"name": "f", "arguments": "{}"}},
        {"content": [{"type": "tool_use", "input": "x"}, {"type": "tool_result", "content": 3}]},
        {"content": [{"type": ["list"]}]}, {"tool_calls": {"a": 1}}, {"name": 4, "content": "x"},
    ],
)  # fmt: skip
def test_odd_messages_are_counted_all_the_same(odd: dict[str, Any]) -> None:
    assert count(odd) >= MESSAGE_TOKENS


def test_a_picture_in_a_result_costs_its_size_and_not_its_base64(tokens: Any) -> None:
    shot = Media(kind="image", mime="image/png", data="A" * 4_000_000, width=1024, height=1024)
    result = ToolResult(call_id="c1", parts=(shot, Text(text="done")))
    assert part_tokens(result, tokens) == RESULT_TOKENS + tokens("c1") + 765 + tokens("done")
