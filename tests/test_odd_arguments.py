"""Whatever is given in place of a text, a list or a number: an error of ours that says so, or a valid request."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import ctxtree
from ctxtree import CtxtreeError, Store, Tree
from tests.importers.test_mutations import BLOCKS, CHAT, ITEMS, ODD, RESULT, WORK, mutated
from tests.test_fuzz import broken
from tests.validity import violations

TARGETS = ["openai.chat", "openai.responses", "anthropic", "gemini", "text"]
LISTS: dict[str, list[dict[str, Any]]] = {
    "openai.chat": CHAT,
    "openai.responses": ITEMS,
    "anthropic": [
        {"role": "user", "content": BLOCKS},
        {"role": "assistant", "content": WORK},
        {"role": "user", "content": [RESULT]},
    ],
}
SCHEMA = {"type": "object", "properties": {"p": {"type": "string", "enum": ["a", "b"]}}, "required": ["p"]}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "read", "description": "d", "parameters": SCHEMA}},
    {"name": "bash", "description": "x", "input_schema": SCHEMA},
    {"type": "function", "name": "list", "parameters": SCHEMA, "strict": True},
    {"functionDeclarations": [{"name": "get", "parameters": SCHEMA}]},
    {"type": "web_search"},
]
FORM = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
USAGE = {
    "prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 5}, "input_tokens": 7,
    "cost": {"total": 0.1}, "model": "m",
}  # fmt: skip

CALLS: dict[str, Callable[[Tree, Any], Any]] = {
    "user": lambda tree, odd: tree.user(odd),
    "assistant": lambda tree, odd: tree.assistant(odd),
    "tool": lambda tree, odd: tree.tool(odd, "x"),
    "tool, result": lambda tree, odd: tree.tool("c", odd),
    "append": lambda tree, odd: tree.append(odd),
    "append, key": lambda tree, odd: tree.user("x", key=odd),
    "extend": lambda tree, odd: tree.extend(odd),
    "sync": lambda tree, odd: tree.sync(odd),
    "node": lambda tree, odd: tree.node(odd),
    "fork": lambda tree, odd: tree.fork(odd),
    "switch": lambda tree, odd: tree.switch(odd),
    "edit": lambda tree, odd: tree.edit(tree.path()[0], odd),
    "merge": lambda tree, odd: tree.merge(odd),
    "diff": lambda tree, odd: tree.diff(odd, None),
    "back": lambda tree, odd: tree.backtrack(odd),
    "find": lambda tree, odd: tree.find(odd),
    "label": lambda tree, odd: tree.label(tree.path()[0], odd),
    "fail": lambda tree, odd: tree.fail(tree.path()[0], odd),
    "importance": lambda tree, odd: tree.mark(tree.path()[0], importance=odd),
    "state": lambda tree, odd: tree.set_state(a=odd),
    "remember": lambda tree, odd: tree.remember(odd),
    "forget": lambda tree, odd: tree.forget(odd),
    "recall": lambda tree, odd: tree.recall(odd),
    "export": lambda tree, odd: tree.export(odd),
    "usage": lambda tree, odd: tree.record_usage(tree.path()[0], odd),
    "budget": lambda tree, odd: tree.compile(budget=odd),
    "target": lambda tree, odd: tree.compile(budget=500, target=odd),
    "dialect": lambda tree, odd: tree.compile(budget=500, dialect=odd),
    "counter": lambda tree, odd: tree.compile(budget=500, counter=odd),
    "input": lambda tree, odd: tree.compile(budget=500, input=odd),
    "retrieved": lambda tree, odd: tree.compile(budget=500, retrieved=odd),
    "retrieved text": lambda tree, odd: tree.compile(budget=500, retrieved=[odd]),
    "tools": lambda tree, odd: tree.compile(budget=500, tools=odd),
    "response format": lambda tree, odd: tree.compile(budget=500, response_format=odd),
}


def checked(tree: Tree, target: str, **ask: Any) -> None:
    made = tree.compile(target=target, **ask)
    assert not violations(target, made.payload)
    assert not broken(made.report)
    json.dumps(made.payload, ensure_ascii=False, allow_nan=False).encode()


@pytest.fixture
def store() -> Any:
    with ctxtree.connect(":memory:") as opened:
        yield opened


@pytest.mark.parametrize("name", CALLS)
def test_an_odd_argument_is_an_error_of_ours_or_does_no_harm(name: str, store: Store) -> None:
    for number, odd in enumerate([*ODD, b"bytes", object(), ("a", 1), {1: 2}]):
        tree = store.tree(f"{name} {number}")
        tree.user("Hello.")
        try:
            CALLS[name](tree, odd)
        except CtxtreeError as error:
            assert str(error)
        checked(tree, TARGETS[number % 5], budget=2_000, input="Go on.")
        tree.branches()
        tree.export("markdown")
    assert store.verify() == ()


@pytest.mark.parametrize("form", LISTS)
def test_mutated_lists_of_an_api_are_read_or_refused(form: str, store: Store) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(60):
        rng = random.Random(f"{form} {seed}")
        given = mutated(LISTS[form], rng)
        try:
            tree = store.tree(f"{seed}")
            tree.extend(given, format=form)
            checked(tree, TARGETS[seed % 5], budget=rng.choice([300, 50_000]), input="Go on.")
            tree.sync(given, format=form)
            outcomes["read"] += 1
        except CtxtreeError as error:
            outcomes[type(error).__name__] += 1
    assert outcomes["read"] >= 15, outcomes
    assert set(outcomes) <= {"read", "FormatError", "BudgetError"}


def test_mutated_tools_formats_and_usage_are_taken_or_refused(store: Store) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(80):
        rng = random.Random(seed)
        try:
            tree = store.tree(f"{seed}")
            tree.user("Hello.")
            checked(
                tree, TARGETS[seed % 5], budget=50_000, tools=mutated(TOOLS, rng),
                response_format=mutated([FORM], rng)[0],
            )  # fmt: skip
            tree.record_usage(tree.assistant("Hi."), mutated([USAGE], rng)[0])
            tree.branches()
            outcomes["taken"] += 1
        except CtxtreeError as error:
            outcomes[type(error).__name__] += 1
    assert outcomes["taken"] >= 40, outcomes
    assert set(outcomes) <= {"taken", "FormatError"}
