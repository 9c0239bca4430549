"""Which turns stay together, at every budget: the nearest first, requests with their outcomes, reasoning before its message."""

import json
from typing import Any

import ctxtree
from ctxtree import Budget, BudgetError, Tree


def requests(tree: Tree, windows: range, target: str = "openai.chat") -> list[dict[str, Any]]:
    found = []
    for window in windows:
        try:
            found.append(tree.compile(budget=Budget(window), target=target, record=False).payload)
        except BudgetError:
            continue
    assert len(found) > 10
    return found


def test_an_older_exchange_never_comes_before_the_one_just_before_the_question() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("runner")
        tree.user("Tell me about the fast runner Ana.")
        tree.assistant("Ana runs fast.")
        tree.user("What did Bea decide?")
        tree.assistant("Bea accepted the offer at once.")
        tree.user("She is so fast!")
        for payload in requests(tree, range(12, 80)):
            said = [message["content"] for message in payload["messages"]]
            if "Ana runs fast." in said:
                assert said[-3:] == [
                    "What did Bea decide?",
                    "Bea accepted the offer at once.",
                    "She is so fast!",
                ]


def test_a_finished_request_is_told_with_its_outcome_or_not_at_all() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("deploy")
        tree.user("Deploy v1 to staging.")
        tree.assistant("Deployed v1 to staging.")
        tree.user("Compare the two plans. " * 200)
        tree.assistant("The first one is cheaper. " * 200)
        tree.user("Now write release notes.")
        for payload in requests(tree, range(60, 1_500, 20)):
            last = payload["messages"][-1]["content"]
            blocks = [last] if isinstance(last, str) else [block["text"] for block in last]
            assert blocks[-1] == "Now write release notes."
            words = json.dumps(payload, ensure_ascii=False)
            if "Deploy v1" in words:
                assert "Deployed v1 to staging." in words or '"Deploy v1 to staging.\\" →' in words


def test_reasoning_never_stands_without_its_message() -> None:
    items: list[dict[str, Any]] = [
        {"role": "user", "content": "q " * 30},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AAA"},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "a " * 30}]},
        {"role": "user", "content": "q2"},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "BBB"},
        {"role": "user", "content": "q3"},
    ]  # fmt: skip
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("reasoning")
        tree.extend(items, format="openai.responses")
        kept = []
        for payload in requests(tree, range(15, 150), "openai.responses"):
            kinds = [item.get("id") or item.get("role") for item in payload["input"]]
            assert "rs_2" not in kinds
            assert "msg_1" not in kinds  # an id would demand the reasoning
            if "rs_1" in kinds:
                assert kinds[kinds.index("rs_1") + 1] == "assistant"
            kept.append("rs_1" in kinds)
        assert set(kept) == {True, False}
