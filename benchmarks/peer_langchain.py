"""langchain-core `trim_messages` before every model call; runs in an environment of its own.

Configured as its documentation shows: newest messages, the system message kept, starting at a user message.
Tokens of each message are given, as with a perfect cache.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, trim_messages


def read(said):
    role, text = said["role"], said.get("content") or ""
    if role == "assistant":
        calls = [
            {
                "id": one["id"],
                "name": one["function"]["name"],
                "args": json.loads(one["function"]["arguments"]),
                "type": "tool_call",
            }
            for one in said.get("tool_calls") or ()
        ]
        return AIMessage(text, tool_calls=calls)
    if role == "tool":
        return ToolMessage(text, tool_call_id=said["tool_call_id"])
    return SystemMessage(text) if role == "system" else HumanMessage(text)


def main(path, budget):
    history, tokens, times = [], {}, []
    for one in json.loads(Path(path).read_text()):
        message = read(one["message"])
        if message.type == "ai":
            start = perf_counter()
            trim_messages(
                history, max_tokens=budget, token_counter=lambda some: sum(tokens[id(m)] for m in some),
                strategy="last", include_system=True, start_on="human",
            )  # fmt: skip
            times.append(perf_counter() - start)
        tokens[id(message)] = one["tokens"]
        history.append(message)
    print(json.dumps({"times": times, "version": version("langchain-core")}))


main(sys.argv[1], int(sys.argv[2]))
