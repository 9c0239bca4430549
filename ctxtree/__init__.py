"""ctxtree: a conversation-tree context compiler.

    store = ctxtree.connect("chats.db")
    tree = store.tree("parser", system="You are a careful engineer.")
    tree.user("Rewrite the parser.")
    context = tree.compile(budget=Budget(window=8_000, reserve=1_000), target="openai.chat")

`context.payload` is the request body, `context.report` says what went in and why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ctxtree.errors import (
    AmbiguousBacktrack,
    AmbiguousRef,
    BudgetError,
    ConflictError,
    CtxtreeError,
    FormatError,
    NoBacktrack,
    NotFound,
    PolicyError,
    StoreError,
    TargetError,
)
from ctxtree.model import Mark, Media, Message, Node, Opaque, Reasoning, Text, ToolCall, ToolResult
from ctxtree.plan import Passage
from ctxtree.planner import Prices, WatermarkPlan
from ctxtree.policy import Budget, Policy, Weights
from ctxtree.report import Report

if TYPE_CHECKING:
    from ctxtree.api import Store, Tree
    from ctxtree.compiler import Context

__version__ = "0.1.0"

__all__ = [
    "AmbiguousBacktrack", "AmbiguousRef", "Budget", "BudgetError", "ConflictError", "Context", "CtxtreeError",
    "FormatError", "Mark", "Media", "Message", "NoBacktrack", "Node", "NotFound", "Opaque", "Passage", "Policy",
    "PolicyError", "Prices", "Reasoning", "Report", "Store", "StoreError", "TargetError", "Text", "ToolCall",
    "ToolResult", "Tree", "WatermarkPlan", "Weights", "compile_messages", "connect", "count", "recall_tool",
]  # fmt: skip


def connect(url: str | Path, sync: Literal["normal", "full"] = "normal") -> Store:
    """A store: a path, `":memory:"`, or a SQLAlchemy URL. See `ctxtree.api.connect`."""
    from ctxtree.api import connect as open_store

    return open_store(url, sync)


def compile_messages(
    messages: Sequence[Any],
    *,
    budget: Budget | int,
    target: str = "openai.chat",
    summarizer: Any = None,
    embedder: Any = None,
    format: str = "openai.chat",
    **ask: Any,
) -> Context:
    """A plain list in, a context out; no store. Takes what `tree.compile` takes."""
    from ctxtree.compiling import asked, compile_list

    return compile_list(messages, asked(budget=budget, target=target, **ask), summarizer, format, embedder)


def count(text_or_messages: Any, model: str | Callable[[str], int] | None = None) -> int:
    """Tokens of a text or of messages, by the tokenizer of `model` (o200k_base if none is given)."""
    from ctxtree.tokens import count as count_tokens

    return count_tokens(text_or_messages, model)


def recall_tool(target: str = "openai.chat") -> Mapping[str, Any]:
    """The schema of a tool with which a model can ask for the whole of what was condensed."""
    from ctxtree.recalltool import recall_tool as schema

    return schema(target)


def __getattr__(name: str) -> Any:
    if name in ("Store", "Tree"):
        from ctxtree import api

        return getattr(api, name)
    if name == "Context":
        from ctxtree.compiler import Context

        return Context
    raise AttributeError(f"module 'ctxtree' has no attribute {name!r}")
