"""The tool by which a model asks for what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxtree.render import target as find_target

NAME = "recall"
DESCRIPTION = "Get the whole text of something that was condensed or left out, by the id in its notice."
PARAMETERS = {
    "type": "object",
    "properties": {"id": {"type": "string", "description": "the 12 hex digits after the word recall"}},
    "required": ["id"],
}


def recall_tool(target: str = "openai.chat") -> Mapping[str, Any]:
    """The schema in the target's shape; answer it with `tree.recall(id)`."""
    name = find_target(target).name
    if name == "anthropic":
        return {"name": NAME, "description": DESCRIPTION, "input_schema": PARAMETERS}
    if name == "gemini":
        return {
            "functionDeclarations": [{"name": NAME, "description": DESCRIPTION, "parameters": PARAMETERS}]
        }
    function = {"name": NAME, "description": DESCRIPTION, "parameters": PARAMETERS}
    if name == "openai.responses":
        return {"type": "function", **function}
    return {"type": "function", "function": function}
