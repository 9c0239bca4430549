"""What providers refuse, as a check of finished requests: `violations(target, payload)` is empty if valid."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

Json = Mapping[str, Any]

LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
NINE = re.compile(r"[A-Za-z0-9]{9}")


def violations(target: str, payload: Json, dialect: str | None = None) -> list[str]:
    """The rules of the target that the request breaks."""
    json.dumps(payload, allow_nan=False)
    found = list(CHECKS[target](payload))
    return found + (list(_dialect(payload["messages"], dialect)) if dialect else [])


def text_of(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if part.get("type") == "text")


def _is_object(arguments: Any) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (TypeError, ValueError):
        return False


def _chat(payload: Json) -> Iterator[str]:
    messages = payload["messages"]
    roles = [message["role"] for message in messages]
    if "user" not in roles:
        yield "no user turn"
    spoken = [role for role in roles if role not in ("system", "developer")]
    if spoken and roles[len(roles) - len(spoken) :] != spoken:
        yield "system not leading"
    if spoken and spoken[0] != "user":
        yield "first message not user"
    for message in messages:
        yield from _chat_message(message)
    yield from _chat_rounds(messages)


def _chat_message(message: Json) -> Iterator[str]:
    role, content = message["role"], message["content"]
    if role not in ("system", "developer", "user", "assistant", "tool"):
        yield f"role {role}"
    listed = isinstance(content, list) and bool(content)
    if role != "assistant" and not text_of(content).strip() and not listed:
        yield f"empty {role}"
    if isinstance(content, list) and any(
        part["type"] == "text" and not part["text"].strip() for part in content
    ):
        yield "blank text part"
    said = message.get("tool_calls") or message.get("refusal") or text_of(content).strip() or listed
    if role == "assistant" and not said:
        yield "empty assistant"
    for call in message.get("tool_calls", ()):
        if not 1 <= len(call["id"]) <= 40:
            yield "call id length"
        if not LEGAL_ID.fullmatch(call["function"]["name"]):
            yield "function name"
        if not _is_object(call["function"]["arguments"]):
            yield "arguments not a JSON object"


def _chat_rounds(messages: Sequence[Json]) -> Iterator[str]:
    seen: set[str] = set()
    open_ids: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_ids:
                yield "orphan tool result"
            else:
                open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            yield "unanswered call"
        open_ids = [call["id"] for call in message.get("tool_calls", ())]
        if len(set(open_ids)) != len(open_ids) or seen & set(open_ids):
            yield "duplicate call id"
        seen |= set(open_ids)
    if open_ids:
        yield "unanswered call at the end"


def _responses(payload: Json) -> Iterator[str]:
    items = payload["input"]
    if not any(item.get("role") == "user" for item in items):
        yield "no user turn"
    calls: list[str] = []
    outputs: list[str] = []
    for index, item in enumerate(items):
        match item.get("type"):
            case "function_call":
                calls.append(item["call_id"])
                if not 1 <= len(item["call_id"]) <= 64:
                    yield "call id length"
                if not _is_object(item["arguments"]):
                    yield "arguments not a JSON object"
                if "id" in item:
                    yield "server id of a call"
            case "function_call_output":
                outputs.append(item["call_id"])
                if item["call_id"] not in calls:
                    yield "output without earlier call"
            case "reasoning":
                after = items[index + 1] if index + 1 < len(items) else {}
                if (
                    after.get("type") not in ("function_call", "reasoning")
                    and after.get("role") != "assistant"
                ):
                    yield "reasoning without following output item"
                if "summary" not in item:
                    yield "reasoning without summary"
        content = item.get("content")
        if item.get("role") and not text_of(content).strip() and not (isinstance(content, list) and content):
            yield "empty message"
    if len(set(calls)) != len(calls):
        yield "duplicate call id"
    if sorted(calls) != sorted(outputs):
        yield "calls and outputs differ"


def _anthropic(payload: Json) -> Iterator[str]:
    messages = payload["messages"]
    ids: set[str] = set()
    if not messages or messages[0]["role"] != "user":
        yield "first message not user"
    elif messages[-1]["role"] != "user":
        yield "last message not user"
    uses: list[str] = []
    for index, message in enumerate(messages):
        if index and messages[index - 1]["role"] == message["role"]:
            yield "roles do not alternate"
        content = message["content"]
        if not isinstance(content, list) or not content:
            yield "content is no list of blocks"
            return
        kinds = [block["type"] for block in content]
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if kinds[: len(results)] != ["tool_result"] * len(results):
            yield "tool_result not in the leading run"
        if sorted(results) != sorted(uses):
            yield "tool_use and tool_result differ"
        uses = [block["id"] for block in content if block["type"] == "tool_use"]
        if len(set(uses)) != len(uses) or ids & set(uses):
            yield "duplicate tool_use id"
        ids |= set(uses)
        for block in content:
            yield from _block(block, message["role"])
    if uses:
        yield "unanswered tool_use at the end"
    yield from _cuts(payload)
    yield from _loops(messages)


def _block(block: Json, role: str) -> Iterator[str]:
    kind = block["type"]
    if kind == "text" and not block["text"].strip():
        yield "blank text block"
    if kind in ("thinking", "redacted_thinking", "tool_use") and role != "assistant":
        yield f"{kind} in a {role} message"
    if kind == "tool_use" and not LEGAL_ID.fullmatch(block["id"]):
        yield "illegal tool_use id"
    if kind == "tool_use" and not isinstance(block["input"], dict):
        yield "input not an object"
    if kind == "tool_result" and not block["content"]:
        yield "empty tool_result"
    if kind == "thinking" and not block["signature"]:
        yield "thinking without signature"


def _cuts(payload: Json) -> Iterator[str]:
    blocks = [block for message in payload["messages"] for block in message["content"]]
    cut = [block for block in [*payload.get("system", ()), *blocks] if "cache_control" in block]
    if len(cut) > 4:
        yield "more than 4 break points"
    if any(block["type"] in ("thinking", "redacted_thinking") for block in cut):
        yield "break point on thinking"


def _loops(messages: Sequence[Json]) -> Iterator[str]:
    """Thinking anywhere in a tool loop means that the loop's first message starts with it."""
    thinking = False
    for index, message in enumerate(messages):
        kinds = [block["type"] for block in message["content"]]
        if message["role"] == "user":
            continue
        if not any(block["type"] == "tool_result" for block in messages[index - 1]["content"]):
            thinking = "thinking" in kinds[0]
        if any("thinking" in kind for kind in kinds) and not thinking:
            yield "thinking in a loop that did not start with it"


def _gemini(payload: Json) -> Iterator[str]:
    contents = payload["contents"]
    if not contents or contents[0]["role"] != "user":
        yield "first turn not user"
    elif contents[-1]["role"] != "user":
        yield "last turn not user"
    calls: list[str] = []
    for index, content in enumerate(contents):
        if index and contents[index - 1]["role"] == content["role"]:
            yield "roles do not alternate"
        if not content["parts"]:
            yield "empty turn"
        answers = [
            part["functionResponse"]["name"] for part in content["parts"] if "functionResponse" in part
        ]
        if answers != calls:
            yield "function calls and responses differ"
        calls = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
        if calls and content["role"] != "model":
            yield "function call outside a model turn"
        if any("text" in part and not part["text"].strip() for part in content["parts"]):
            yield "blank text part"
        if any(
            "functionResponse" in part and not part["functionResponse"]["response"]
            for part in content["parts"]
        ):
            yield "empty response"
    if calls:
        yield "unanswered function call at the end"


def _text(payload: Json) -> Iterator[str]:
    if list(payload) != ["text"] or not payload["text"].strip():
        yield "no text"


def _dialect(messages: Sequence[Json], dialect: str) -> Iterator[str]:
    if dialect == "deepseek":
        return
    roles = [message["role"] for message in messages]
    heads = [role for role in roles if role in ("system", "developer")]
    strings = dialect != "bedrock"
    if strings and heads not in ([], ["system"]):
        yield "more than one system message"
    if dialect == "no_system" and heads:
        yield "a system message"
    if strings and not all(isinstance(message["content"], str) for message in messages):
        yield "content is no string"
    if dialect in ("mistral", "bedrock") and roles[-1] not in ("user", "tool"):
        yield "last message is the assistant's"
    spoken = [m["role"] for m in messages if m["role"] in ("user", "assistant") and not m.get("tool_calls")]
    if strings and any(one == other for one, other in pairwise(spoken)):
        yield "user and assistant do not alternate"
    if any(one == "tool" and other == "user" for one, other in pairwise(roles)):
        yield "user directly after a result"
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    if dialect == "mistral" and not all(NINE.fullmatch(call["id"]) for call in calls):
        yield "id is not nine letters or digits"


CHECKS = {
    "openai.chat": _chat,
    "openai.responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "text": _text,
}
