"""Tool definitions and response formats of any provider, in each target's shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ctxtree.plan import Settings
from ctxtree.render import TARGETS
from tests.render.saying import codes, counter, rendered, words

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
SHAPES: Mapping[str, dict[str, Any]] = {
    "openai.chat": {
        "type": "function",
        "function": {"name": "read", "description": "Reads.", "parameters": SCHEMA},
    },
    "openai.responses": {"type": "function", "name": "read", "description": "Reads.", "parameters": SCHEMA},
    "anthropic": {"name": "read", "description": "Reads.", "input_schema": SCHEMA},
    "gemini": {
        "functionDeclarations": [{"name": "read", "description": "Reads.", "parametersJsonSchema": SCHEMA}]
    },
}
ANY = {**SHAPES, "mcp": {"name": "read", "description": "Reads.", "inputSchema": SCHEMA}}
U = words("user", "x")


@pytest.mark.parametrize("shape", ANY)
@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_written_in_every_targets_shape(shape: str, name: str) -> None:
    made = rendered(name, [U], tools=(ANY[shape],))
    assert made.payload["tools"] == [SHAPES[name]]
    assert made.losses == ()
    assert made.tools == TARGETS[name].extras(Settings(tools=(ANY[shape],)), counter()) > 0


@pytest.mark.parametrize("name", SHAPES)
def test_tools_are_sorted_by_name_whatever_their_order(name: str) -> None:
    tools = tuple({"name": word, "input_schema": SCHEMA} for word in ("zip", "awk", "ls"))
    one = rendered(name, [U], tools=tools).payload
    assert one == rendered(name, [U], tools=tools[::-1]).payload
    text = str(one["tools"])
    assert text.index("awk") < text.index("'ls'") < text.index("zip")


@pytest.mark.parametrize(
    ("own", "builtin"),
    [
        ("openai.responses", {"type": "web_search"}),
        ("anthropic", {"type": "bash_20250124", "name": "bash"}),
        ("gemini", {"googleSearch": {}}),
        ("openai.chat", {"type": "custom", "custom": {"name": "sql"}}),
    ],
)
def test_a_providers_own_tool_goes_to_that_provider_alone(own: str, builtin: dict[str, Any]) -> None:
    for name in SHAPES:
        made = rendered(name, [U], tools=(builtin,))
        assert made.payload.get("tools") == ([builtin] if name == own else None)
        assert codes(made) == (set() if name == own else {"tools_dropped"})


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    made = rendered("anthropic", [U], tools=({"type": "function", "function": {"name": "now"}},))
    assert made.payload["tools"] == [{"name": "now", "input_schema": {"type": "object", "properties": {}}}]


FORMATS: list[dict[str, Any]] = [
    {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}},
    {"type": "json_schema", "name": "answer", "strict": True, "schema": SCHEMA},
    {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": SCHEMA}},
]


@pytest.mark.parametrize("given", FORMATS)
def test_a_response_format_of_any_shape_is_written_in_the_targets(given: dict[str, Any]) -> None:
    payloads = {name: rendered(name, [U], response_format=given).payload for name in TARGETS}
    body = {"name": "answer", "strict": True, "schema": SCHEMA}
    assert payloads["openai.chat"]["response_format"] == {"type": "json_schema", "json_schema": body}
    assert payloads["openai.responses"]["text"] == {"format": {"type": "json_schema", **body}}
    assert payloads["gemini"]["generationConfig"] == {
        "responseMimeType": "application/json", "responseJsonSchema": SCHEMA,
    }  # fmt: skip
    assert "response_format_dropped" in codes(rendered("anthropic", [U], response_format=given))


def test_free_json_and_plain_text_are_understood() -> None:
    free = rendered("openai.chat", [U], response_format={"type": "json_object"})
    assert free.payload["response_format"] == {"type": "json_object"}
    assert free.tools > 0
    assert "response_format" not in rendered("openai.chat", [U], response_format={"type": "text"}).payload
