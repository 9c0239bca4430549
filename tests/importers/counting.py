"""Counts of logs that owe nothing to the importers: raw JSON, walked as plainly as it goes.

`COUNTERS[format](raw)` gives what a log holds: messages and branches of each conversation, and defects.
Two formats with ids of many kinds are compared as trees of (name, parent, weight): weight 0 is spliced.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Json = dict[str, Any]
BOM = b"\xef\xbb\xbf"


@dataclass
class Count:
    """`messages` and `branches` of each conversation in its order; `defects` of the whole file by code."""

    messages: list[int] = field(default_factory=list)
    branches: list[int] = field(default_factory=list)
    defects: Counter[str] = field(default_factory=Counter)

    def tree(self, nodes: Mapping[str, tuple[str | None, int]]) -> None:
        """Note one conversation: its nodes' parents and weights, in the order of the file."""
        parents = self.repaired({name: parent for name, (parent, _) in nodes.items()})
        inner: set[str] = set()
        for name, (_, weight) in nodes.items():
            at = parents[name]
            while at is not None and not nodes[at][1]:
                at = parents[at]
            if weight and at is not None:
                inner.add(at)
        self.messages.append(sum(weight for _, weight in nodes.values()))
        self.branches.append(sum(1 for name, (_, weight) in nodes.items() if weight and name not in inner))

    def repaired(self, parents: dict[str, str | None]) -> dict[str, str | None]:
        """Parents that end at a root: those that are missing and circles are noted and made roots."""
        for name, parent in parents.items():
            if parent == name:
                self.defects["self_parent"] += 1
                parents[name] = None
            elif parent is not None and parent not in parents:
                self.defects["dangling_parent"] += 1
                parents[name] = None
        for name in parents:
            seen, at = {name}, parents[name]
            while at is not None and at not in seen:
                seen.add(at)
                at = parents[at]
            if at == name:
                self.defects["cycle"] += 1
                parents[name] = None
        return parents


def rows(raw: bytes, count: Count) -> list[Json]:
    """The objects of JSON lines, damaged lines noted."""
    found: list[Json] = []
    pieces = raw.removeprefix(BOM).split(b"\n")
    for number, line in enumerate(pieces):
        if not line.strip():
            continue
        if not line.strip(b"\0 \r"):
            count.defects["nul_bytes"] += 1
            continue
        try:
            found.append(json.loads(line))
        except ValueError:
            count.defects["truncated_line" if number == len(pieces) - 1 else "bad_line"] += 1
    return found


def listed(raw: bytes) -> list[Any]:
    """The entries of an array, or the one object of a file, or JSON lines."""
    try:
        value = json.loads(raw.removeprefix(BOM))
    except ValueError:
        return rows(raw, Count())
    return value if isinstance(value, list) else [value]


def claude_code(raw: bytes) -> Count:
    """Rows of one answer are one message; results of its calls stand in a line below it, however they hang."""
    count = Count()
    found: dict[str, Json] = {}
    for row in rows(raw, count):
        name = row.get("uuid")
        held = row.get("attachment") or {}
        if held.get("type") == "queued_command" and held.get("commandMode", "prompt") == "prompt":
            row = {**row, "type": "user", "message": {"content": row["attachment"]["prompt"]}}
        if row.get("type") in ("user", "assistant") and not isinstance(row.get("message"), dict) and not name:
            count.defects["bad_record"] += 1
        if not name:
            continue
        if name in found:
            same = found[name].get("message", {}).get("content") == row.get("message", {}).get("content")
            count.defects["duplicate_id"] += not same
            continue
        found[name] = row
    parents = {name: row.get("parentUuid") for name, row in found.items()}
    for name, row in found.items():
        if _summary(row) and parents[name] is None:
            parents[name] = row.get("logicalParentUuid")
    parents = _in_lanes(parents, found, count)
    units: dict[str, tuple[str | None, int]] = {}
    unit_of: dict[str, str] = {}
    for name, row in found.items():
        unit_of[name] = _unit(name, row, found, parents)
    for name, row in found.items():
        above = parents[name]
        unit = unit_of[name]
        while above is not None and unit_of[above] == unit:
            above = parents[above]
        weight = _weight(row)
        joined = row.get("type") == "assistant" and unit in units
        parent = unit_of[above] if above is not None else None
        old = units.get(unit)
        units[unit] = (old[0] if old else parent, (old[1] if old else 0) + (0 if joined else weight))
    count.tree(units)
    return count


def _in_lanes(
    parents: dict[str, str | None], found: Mapping[str, Json], count: Count
) -> dict[str, str | None]:
    """Rows whose parent is missing follow the one before them; answers and results never begin."""
    last: dict[bool, str] = {}
    unlinked = len(found) > 1 and not any(parents.values())
    count.defects["missing_parent"] += unlinked
    for name, row in found.items():
        lane = bool(row.get("isSidechain"))
        spoken = row.get("type") == "assistant" or _results(row)
        if parents[name] == name:
            count.defects["self_parent"] += 1
            parents[name] = None
        elif parents[name] is None and (
            unlinked or (spoken and lane in last and isinstance(row.get("message"), dict))
        ):
            count.defects["missing_parent"] += not unlinked
            parents[name] = last.get(lane)
        elif parents[name] is not None and parents[name] not in found:
            count.defects["dangling_parent"] += 1
            parents[name] = last.get(lane)
        last[lane] = name
    return count.repaired(parents)


def _summary(row: Json) -> bool:
    return bool(row.get("isCompactSummary")) or row.get("subtype") == "compact_boundary"


def _content(row: Json) -> list[Any]:
    content = (row.get("message") or {}).get("content")
    return content if isinstance(content, list) else []


def _results(row: Json) -> int:
    return sum(isinstance(block, dict) and block.get("type") == "tool_result" for block in _content(row))


def _weight(row: Json) -> int:
    if (
        row.get("type") not in ("user", "assistant")
        or not isinstance(row.get("message"), dict)
        or _summary(row)
    ):
        return 0
    results = _results(row)
    return 2 if 0 < results < len(_content(row)) and row["type"] == "user" else 1


def _unit(name: str, row: Json, found: Mapping[str, Json], parents: Mapping[str, str | None]) -> str:
    identity = (row.get("message") or {}).get("id")
    if row.get("type") == "assistant" and identity:
        return f"answer {identity}"
    at = parents[name]
    while _results(row) and at is not None and found[at].get("type") != "assistant":
        at = parents[at]
    if _results(row) and at is not None:
        return f"results {(found[at].get('message') or {}).get('id') or at}"
    return name


def chatgpt(raw: bytes) -> Count:
    count = Count()
    for entry in listed(raw):
        mapping = entry.get("mapping")
        if not mapping:
            count.defects["no_conversation"] += 1
            continue
        nodes: dict[str, tuple[str | None, int]] = {}
        for name, node in mapping.items():
            message = node.get("message")
            nodes[name] = (node.get("parent"), int(bool(message) and not _blank(message)))
        count.tree(nodes)
        count.defects["dangling_head"] += entry.get("current_node") not in mapping
        for node in mapping.values():
            count.defects["orphan_result"] += _unasked(node, mapping)
    return count


def _blank(message: Json) -> bool:
    content = message.get("content") or {}
    system = message["author"]["role"] == "system" and content.get("content_type", "text") == "text"
    return system and not any(content.get("parts") or [])


def _unasked(node: Json, mapping: Mapping[str, Json]) -> bool:
    """True for a tool's message with no call above it."""
    if (node.get("message") or {}).get("author", {}).get("role") != "tool":
        return False
    at = node.get("parent")
    while at in mapping:
        message = mapping[at].get("message") or {}
        if message.get("author", {}).get("role") == "assistant":
            return bool(message.get("recipient", "all") == "all")
        at = mapping[at].get("parent")
    return True


def claude_ai(raw: bytes) -> Count:
    count = Count()
    for entry in listed(raw):
        held = entry.get("chat_messages")
        if not held:
            count.defects["no_conversation"] += 1
            continue
        count.defects["missing_role"] += not any("sender" in one for one in held)
        nodes: dict[str, tuple[str | None, int]] = {}
        linked = any("parent_message_uuid" in one for one in held)
        before = None
        for place, one in enumerate(held):
            name = one.get("uuid") or f"message {place}"
            parent = one.get("parent_message_uuid") if linked else before
            nodes[name] = (
                None if str(parent).startswith("00000000-0000-4000") else parent,
                _pieces(one.get("content")),
            )
            before = name
        count.tree(nodes)
    return count


def _pieces(content: Any) -> int:
    """An answer is divided where calls and results take turns with words."""
    kinds = [block["type"] == "tool_result" for block in content or []]
    return 1 + sum(before != after for before, after in pairwise(kinds))


def codex(raw: bytes) -> Count:
    """Items in a line; those of one answer (reasoning, calls, one speech) are one message."""
    count = Count()
    kept: list[tuple[int, int, str]] = []  # (number, parent, kind)
    at, users, calls = -1, [], set()
    for row, said in _without_mirrors(rows(raw, count)):
        payload = row.get("payload") or {}
        kind = str(payload.get("type", "message"))
        if kind == "thread_rolled_back":
            at = kept[users[-payload["num_turns"]]][1]
            users = users[: -payload["num_turns"]]
            continue
        if row["type"] == "event_msg":
            role = "user" if kind == "user_message" else "assistant"
            payload = {"role": role}
            kind = "message"
        call = payload.get("call_id")
        if kind.endswith("_output"):
            count.defects["orphan_result"] += call not in calls and kind in (
                "function_call_output",
                "custom_tool_call_output",
            )
        elif call:
            calls.add(call)
        spoken = kind == "message" and payload.get("role") == "assistant"
        answer = spoken or (
            kind not in ("message",) and not kind.endswith("_output") and "role" not in payload
        )
        kept.append((len(kept), at, "speech" if spoken else "answer" if answer else "other"))
        at = len(kept) - 1
        if kind == "message" and payload.get("role") == "user" and not said.lstrip().startswith("<"):
            users.append(at)
    nodes: dict[str, tuple[str | None, int]] = {}
    unit: list[str] = []
    spoke = False
    for number, parent, kind in kept:
        joins = number > 0 and parent == number - 1 and kind != "other" and kept[number - 1][2] != "other"
        if joins and not (kind == "speech" and spoke):
            unit.append(unit[-1])
            spoke = spoke or kind == "speech"
            continue
        unit.append(str(number))
        spoke = kind == "speech"
        nodes[str(number)] = (unit[parent] if parent >= 0 else None, 1)
    count.tree(nodes)
    return count


EVENTS = {"user_message": "message", "agent_message": "message", "agent_reasoning": "text"}


def _without_mirrors(found: list[Json]) -> list[tuple[Json, str]]:
    """Items, rollbacks and those events that repeat no item at most four places away, each with its words."""
    talk: list[tuple[Json, str]] = []
    for row in found:
        payload = row.get("payload") or {}
        kind = payload.get("type")
        if row.get("type") == "event_msg" and kind in EVENTS:
            talk.append((row, str(payload.get(EVENTS[kind]))))
        elif row.get("type") == "event_msg" and kind == "thread_rolled_back":
            talk.append((row, ""))
        elif row.get("type") == "response_item" and kind not in ("ghost_snapshot", "compaction", "other"):
            parts = [*(payload.get("content") or []), *(payload.get("summary") or [])]
            texts = [
                part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
            ]
            talk.append((row, "\n".join(texts)))
    reasons = any(
        row["type"] == "response_item" and row["payload"].get("type") == "reasoning" for row, _ in talk
    )
    left = []
    for place, (row, said) in enumerate(talk):
        near = talk[max(0, place - 4) : place + 5]
        event = row["type"] == "event_msg" and row["payload"]["type"] in EVENTS
        mirrored = any(
            other["type"] == "response_item" and other["payload"].get("type") == "message" and text == said
            for other, text in near
        )
        if event and (mirrored or (reasons and row["payload"]["type"] == "agent_reasoning")):
            continue
        left.append((row, said))
    return left


def pi(raw: bytes) -> Count:
    count = Count()
    nodes: dict[str, tuple[str | None, int]] = {}
    before = None
    for number, row in enumerate(rows(raw, count), 1):
        if row["type"] == "session":
            continue
        name = row.get("id") or f"line {number}"
        parent = row.get("parentId", before)
        nodes[name] = (parent, int(row["type"] in ("message", "custom_message", "branch_summary")))
        before = name
    count.tree(nodes)
    return count


def gemini(raw: bytes) -> Count:
    """Messages by id; a rewind takes the path back, and what comes after hangs where it stands then."""
    count = Count()
    nodes: dict[str, tuple[str | None, int]] = {}
    path: list[str] = []
    for row in listed(raw):
        if "$rewindTo" in row:
            known = row["$rewindTo"] in path
            count.defects["dangling_head"] += not known
            path = path[: path.index(row["$rewindTo"])] if known else []
        for message in [row] if "type" in row else row.get("messages") or []:
            answered = any(call.get("result") is not None for call in message.get("toolCalls") or [])
            name = message["id"]
            parent = nodes[name][0] if name in path else path[-1] if path else None
            nodes[name] = (parent, 1 + answered)
            path += [name] if name not in path else []
    count.tree(nodes)
    return count


def open_webui(raw: bytes) -> Count:
    count = Count()
    for entry in listed(raw):
        chat = entry.get("chat", entry)
        held = (chat.get("history") or {}).get("messages")
        if not held:
            count.defects["no_conversation"] += 1
            continue
        count.defects["dangling_head"] += chat["history"].get("currentId") not in held
        count.tree({name: (one.get("parentId"), 1) for name, one in held.items()})
        count.defects["unknown_role"] += sum(
            one.get("role") not in ("user", "assistant") for one in held.values()
        )
    return count


def librechat(raw: bytes) -> Count:
    count = Count()
    for entry in listed(raw):
        nodes: dict[str, tuple[str | None, int]] = {}
        todo = [(one, None) for one in entry.get("messagesTree") or entry["messages"]]
        while todo:
            one, above = todo.pop(0)
            named = one.get("parentMessageId")
            parent = above or (None if str(named).startswith("00000000-") else named)
            nodes[one["messageId"]] = (parent, _answered(one))
            todo += [(child, one["messageId"]) for child in one.get("children") or []]
        count.tree(nodes)
    return count


def _answered(one: Json) -> int:
    """A call with its output inside is two messages more, if words follow, else one."""
    if one.get("isCreatedByUser"):
        return 1
    kinds: list[bool] = []
    for part in one.get("content") or []:
        call = part.get("tool_call") if isinstance(part, dict) else None
        kinds += [False, True] if isinstance(call, dict) and "output" in call else [False]
    return 1 + sum(before != after for before, after in pairwise(kinds))


def sharegpt(raw: bytes) -> Count:
    count = Count()
    for entry in listed(raw):
        turns = entry["conversations"]
        open_calls = 0
        for turn in turns:
            who = turn.get("from", turn.get("role"))
            if who == "function_call":
                try:
                    value = json.loads(turn["value"])
                    open_calls = len(value) if isinstance(value, list) else 1
                except ValueError:
                    open_calls = 0
            elif who == "observation":
                count.defects["orphan_result"] += not open_calls
                open_calls = max(0, open_calls - 1)
            else:
                open_calls = 0
                known = ("human", "user", "prompter", "gpt", "assistant", "system")
                count.defects["unknown_role"] += who not in known
        count.tree(_line(len(turns) + bool(entry.get("system"))))
    return count


def _line(length: int) -> dict[str, tuple[str | None, int]]:
    return {str(at): (str(at - 1) if at else None, 1) for at in range(length)}


def chat(raw: bytes) -> Count:
    """OpenAI and Anthropic messages: a user's message that holds results and words is two."""
    count = Count()
    value = json.loads(raw)
    holder = value if isinstance(value, dict) else {"messages": value}
    calls: set[str] = set()
    size = bool(holder.get("system"))
    for message in holder["messages"]:
        content = message["content"] if isinstance(message["content"], list) else []
        kinds = [block.get("type") for block in content]
        size += 1 + (message["role"] == "user" and "tool_result" in kinds and len(set(kinds)) > 1)
        calls |= {call["id"] for call in message.get("tool_calls") or []}
        if message["role"] == "tool":
            count.defects["orphan_result"] += message["tool_call_id"] not in calls
    count.tree(_line(size))
    return count


def responses(raw: bytes) -> Count:
    """Reasoning, calls and one speech in a row are one message; a reference is taken for a part of one."""
    count = Count()
    value = json.loads(raw)
    size, answering, spoke = bool(value.get("instructions")), False, False
    for item in value["input"]:
        kind = item.get("type", "message")
        answer = item.get("role") == "assistant" or (kind != "message" and not kind.endswith("_output"))
        speech = item.get("role") == "assistant"
        if not (answer and answering) or (speech and spoke):
            size += 1
            spoke = False
        answering, spoke = answer, spoke or speech
    count.tree(_line(size))
    return count


def langchain(raw: bytes) -> Count:
    """Lists are lines; of states the distinct (path, message) places."""
    count = Count()
    value = json.loads(raw)
    if "values" not in value[0]:
        kinds = [one.get("type") if "lc" not in one else one["kwargs"]["type"] for one in value]
        count.defects["unknown_role"] += kinds.count("chat")
        count.tree(_line(len(kinds) - kinds.count("remove")))
        return count
    nodes: dict[str, tuple[str | None, int]] = {}
    for state in value:
        above = None
        for message in state["values"]["messages"]:
            place = f"{above}/{message['id']}:{message['content']}"
            nodes[place] = (above, 1)
            above = place
    held = {state["config"]["configurable"]["checkpoint_id"] for state in value}
    named = [
        (state.get("parent_config") or {}).get("configurable", {}).get("checkpoint_id") for state in value
    ]
    count.defects["dangling_parent"] += sum(name is not None and name not in held for name in named)
    count.tree(nodes)
    return count


def swe_agent(raw: bytes) -> Count:
    count = Count()
    nodes: dict[str, tuple[str | None, int]] = {}
    value = json.loads(raw)
    for one in value.get("attempts") or [value]:
        above = None
        for item in one["history"]:
            place = f"{above}/{item['role']}:{item['content']}:{item.get('tool_calls')}"
            nodes[place] = (above, 1)
            above = place
    count.tree(nodes)
    return count


def mini_swe_agent(raw: bytes) -> Count:
    count = Count()
    count.tree(_line(len(json.loads(raw)["messages"])))
    return count


def inspect(raw: bytes) -> Count:
    """Of each sample the messages by id; a branch is an answer that no path goes on from."""
    count = Count()
    for sample in json.loads(raw)["samples"]:
        if "messages" not in sample:
            count.defects["no_conversation"] += 1
            continue
        nodes: dict[str, tuple[str | None, int]] = {}
        paths = [sample["messages"]]
        for event in sample.get("events") or []:
            if event["event"] == "model":
                pool = sample["events_data"]["messages"]
                asked = [
                    *event["input"],
                    *(one for a, b in event.get("input_refs") or [] for one in pool[a:b]),
                ]
                paths.append([*asked, event["output"]["choices"][0]["message"]])
        for path in paths:
            above = None
            for message in path:
                nodes[message["id"]] = (above, 1)
                above = message["id"]
        count.tree(nodes)
    return count


def nested(raw: bytes) -> Count:
    count = Count()
    for entry in listed(raw):
        nodes: dict[str, tuple[str | None, int]] = {}
        todo = [(entry.get("root") or entry["prompt"], None)]
        while todo:
            one, above = todo.pop()
            name = one.get("id") or one["message_id"]
            nodes[name] = (above, int(bool(one["text"])))
            todo += [(child, name) for child in one.get("children", one.get("replies"))]
        count.tree(nodes)
    return count


def sillytavern(raw: bytes) -> Count:
    count = Count()
    nodes: dict[str, tuple[str | None, int]] = {}
    above = None
    for number, row in enumerate(rows(raw, count)):
        if "mes" not in row:
            continue
        chosen = row.get("swipe_id", 0)
        for place in range(len(row.get("swipes") or [row["mes"]])):
            nodes[f"{number}.{place}"] = (above, 1)
        above = f"{number}.{chosen}"
    count.tree(nodes)
    return count


def llama_cpp(raw: bytes) -> Count:
    count = Count()
    found = listed(raw)
    first = found[0]
    messages = first["messages"] if "conv" in first else [row["message"] for row in found if "message" in row]
    pointer = first["conv"]["currNode"] if "conv" in first else first["currNode"]
    nodes = {
        str(one["id"]): (
            None if one["parent"] in ("", -1, None) else str(one["parent"]),
            int(one["type"] != "root"),
        )
        for one in messages
    }
    count.defects["dangling_head"] += str(pointer) not in nodes
    count.tree(nodes)
    return count


def aider(raw: bytes) -> Count:
    """Runs of lines of one speaker; inside a fence all lines are the model's."""
    count = Count()
    for session in raw.decode().split("# aider chat started at ")[1:]:
        speakers: list[str] = []
        fenced = False
        for line in session.split("\n")[1:]:
            who = "model"
            if not fenced and line.startswith("####"):
                who = "user"
            elif not fenced and line.startswith(">"):
                who = "program"
            if line.startswith("```"):
                fenced = not fenced
            if line.strip() and (not speakers or speakers[-1] != who):
                speakers.append(who)
        count.tree(_line(len(speakers)))
    return count


COUNTERS: Mapping[str, Callable[[bytes], Count]] = {
    "claude-code": claude_code, "chatgpt": chatgpt, "claude.ai": claude_ai, "codex": codex, "pi": pi,
    "gemini-cli": gemini, "open-webui": open_webui, "librechat": librechat, "sharegpt": sharegpt,
    "openai.chat": chat, "anthropic": chat, "openai.responses": responses, "langchain": langchain,
    "swe-agent": swe_agent, "mini-swe-agent": mini_swe_agent, "inspect": inspect, "loom": nested,
    "sillytavern": sillytavern, "llama.cpp": llama_cpp, "aider": aider,
}  # fmt: skip
