"""Tool definitions and response formats in each provider's shape.

Any provider's shape is read; a definition already in the target's shape passes
verbatim. Built-in tools of a provider pass on its own API only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ctxtree.errors import FormatError
from ctxtree.plan import Counter, Settings
from ctxtree.tokens import format_tokens, tools_tokens

Shape = Literal["chat", "responses", "anthropic", "gemini"]

_DATED = re.compile(r"_\d{8}$")
_DECLARATIONS = ("functionDeclarations", "function_declarations")


@dataclass(frozen=True, slots=True)
class Tool:
    """One definition: what it says, and the shape it came in. `builtin`: a provider's own tool."""

    name: str
    description: str
    parameters: Any
    strict: bool | None
    shape: Shape | None
    raw: dict[str, Any]
    builtin: bool = False


def shaped(given: Sequence[Mapping[str, object]], shape: Shape) -> tuple[list[dict[str, Any]], bool]:
    """The tools in a target's shape, sorted by name, and whether some had to be left out."""
    read = sorted((tool for entry in given for tool in _read(dict(entry))), key=lambda tool: tool.name)
    usable = [tool for tool in read if tool.shape == shape or not tool.builtin]
    if shape != "gemini":
        return [_write(tool, shape) for tool in usable], len(usable) < len(read)
    declared = [_write(tool, shape) for tool in usable if not tool.builtin]
    own = [tool.raw for tool in usable if tool.builtin]
    return ([{"functionDeclarations": declared}] if declared else []) + own, len(usable) < len(read)


def _read(raw: dict[str, Any]) -> Iterator[Tool]:
    listed = next((key for key in _DECLARATIONS if key in raw), None)
    if listed:
        for declaration in _declared(raw[listed]):
            yield _tool(declaration, "gemini", declaration)
        raw = {key: value for key, value in raw.items() if key != listed}
        if not raw:
            return
    kind = raw.get("type")
    if kind == "function" and isinstance(raw.get("function"), Mapping):
        yield _tool(raw["function"], "chat", raw)
    elif kind == "function":
        yield _tool(raw, "responses", raw)
    elif "input_schema" in raw:
        yield _tool(raw, "anthropic", raw)
    elif isinstance(kind, str) and kind:
        yield _builtin(raw, kind)
    elif "name" in raw:
        yield _tool(raw, None, raw)
    else:
        name = next(iter(raw), "")
        yield Tool(name, "", {}, None, "gemini", raw, builtin=True)


def _declared(given: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(given, list | tuple) or not all(isinstance(one, Mapping) for one in given):
        raise FormatError("tools", 0, "function declarations that are no list of objects")
    return given


def _tool(body: Mapping[str, Any], shape: Shape | None, raw: Mapping[str, Any]) -> Tool:
    keys = ("parameters", "parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema")
    schema = next((body[key] for key in keys if body.get(key) is not None), None)
    schema = schema if isinstance(schema, Mapping) and schema else {"type": "object", "properties": {}}
    name, said = str(body.get("name", "")), str(body.get("description") or "")
    return Tool(name, said, schema, body.get("strict"), shape, dict(raw))


def _builtin(raw: dict[str, Any], kind: str) -> Tool:
    shape: Shape = "anthropic" if _DATED.search(kind) else "chat" if "custom" in raw else "responses"
    return Tool(str(raw.get("name") or kind), "", {}, None, shape, raw, builtin=True)


def _write(tool: Tool, shape: Shape) -> dict[str, Any]:
    if tool.shape == shape:
        return tool.raw
    said = {"description": tool.description} if tool.description else {}
    if shape == "anthropic":
        return {"name": tool.name, **said, "input_schema": tool.parameters}
    if shape == "gemini":
        return {"name": tool.name, **said, "parametersJsonSchema": tool.parameters}
    strict = {} if tool.strict is None else {"strict": tool.strict}
    body = {"name": tool.name, **said, "parameters": tool.parameters, **strict}
    return {"type": "function", "function": body} if shape == "chat" else {"type": "function", **body}


def extras_tokens(settings: Settings, shape: Shape, counter: Counter) -> int:
    """What tools and response format will cost in a target's shape."""
    tools, _ = shaped(settings.tools, shape)
    form = write_format(settings.response_format, shape) if settings.response_format else None
    return tools_tokens(tools, counter) + format_tokens(form, counter)


@dataclass(frozen=True, slots=True)
class Format:
    """A response format: free JSON (no schema), or JSON by a schema."""

    name: str
    schema: Any
    rest: dict[str, Any]


def read_format(given: Mapping[str, Any]) -> Format | None:
    """A response format of any shape, or a bare JSON Schema; None for plain text."""
    body = given.get("format", given)
    body = body if isinstance(body, Mapping) else given
    kind = body.get("type")
    if kind == "text":
        return None
    if kind == "json_object":
        return Format("", None, {})
    if kind != "json_schema":
        return Format("response", dict(body), {})
    inner = body.get("json_schema", body)
    if not isinstance(inner, Mapping):
        raise FormatError(
            "response_format", 0, f"a schema that is a {type(inner).__name__}; it must be an object"
        )
    rest = {key: inner[key] for key in ("description", "strict") if inner.get(key) is not None}
    return Format(str(inner.get("name") or "response"), inner.get("schema", {}), rest)


def write_format(given: Mapping[str, Any], shape: Shape) -> dict[str, Any] | None:
    """The format in a target's shape; None for plain text or where the target has none."""
    form = read_format(given)
    if form is None or shape == "anthropic":
        return None
    if shape == "gemini":
        schema = {} if form.schema is None else {"responseJsonSchema": form.schema}
        return {"responseMimeType": "application/json", **schema}
    if form.schema is None:
        return {"type": "json_object"}
    body = {"name": form.name, **form.rest, "schema": form.schema}
    return (
        {"type": "json_schema", "json_schema": body} if shape == "chat" else {"type": "json_schema", **body}
    )
