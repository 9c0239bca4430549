"""Whatever a tree holds and whatever the budget: a valid request within it, or a typed error."""

import hashlib
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import ctxtree
from ctxtree import Budget, BudgetError, Policy, Report, TargetError
from ctxtree.render import TARGETS
from ctxtree.tokens import counter_for
from tests.trees import grow, text
from tests.validity import violations

POLICIES = [Policy.hybrid(), Policy.agent(), Policy.trim(), Policy.window(3), Policy.stable(recall=False)]
TARGET_NAMES = ["openai.chat", "openai.responses", "anthropic", "gemini", "text"]


def one(seed: int) -> tuple[str, str]:
    """One generated case: what came of it, and its request. Raises AssertionError with the seed if a promise is broken."""
    rng = random.Random(seed)
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("fuzz", system=rng.choice([None, "Be brief.", text(rng)]))
        grow(tree, rng, rng.choice([1, 3, 8, 20, 40]))
        target = rng.choice(TARGET_NAMES)
        ask = {
            "target": target,
            "policy": rng.choice(POLICIES),
            "budget": Budget(
                rng.choice([rng.randint(1, 300), rng.randint(300, 3_000), rng.randint(3_000, 200_000)])
            ),
            "input": rng.choice([None, None, "go on", text(rng)]),
            "retrieved": [text(rng)] if rng.random() < 0.2 else [],
        }
        if rng.random() < 0.2:
            tree.remember("prefers dark theme")
        try:
            made = tree.compile(**ask)
        except BudgetError as error:
            assert error.needed > error.available, seed
            enough = tree.compile(**{**ask, "budget": Budget(error.needed)})
            assert enough.report.tokens <= error.needed, seed
            return "BudgetError", str(error.needed)
        except TargetError as error:
            assert error.code == "no_user_turn", seed
            return "no_user_turn", ""
        faults = [*broken(made.report), *violations(target, made.payload)]
        counter = counter_for(None, target)
        if TARGETS[target].weigh(made.payload, counter) != made.report.tokens:
            faults.append("another count")
        if tree.compile(**ask).payload != made.payload:
            faults.append("other bytes")
        assert not faults, (seed, target, faults)
        return "ok", json.dumps(made.payload)


def broken(report: Report) -> list[str]:
    """Promises of the report that do not hold."""
    found = []
    if report.tokens > report.budget.window - report.budget.reserve:
        found.append("over budget")
    if sum(item.tokens for item in report.items) + report.budget.overhead != report.tokens:
        found.append("items do not add up")
    shared = ("facts", "retrieved", "dead_ends", "summary", "history", "recall", "overhead", "free")
    if report.budget.available != sum(getattr(report.budget, name) for name in shared):
        found.append("shares do not add up")
    seen = Counter(node for item in report.items if item.kind != "recall" for node in item.nodes)
    if any(seen[node] != 1 for node in report.path.nodes):
        found.append("a node is not in exactly one item")
    return found


@pytest.mark.parametrize("block", range(20))
def test_two_thousand_generated_cases_keep_every_promise(block: int) -> None:
    outcomes = Counter(one(seed)[0] for seed in range(block * 100, block * 100 + 100))
    assert outcomes["ok"] >= 30, outcomes


@pytest.mark.parametrize("seed", [100512, 119646])
def test_cases_that_once_broke_a_promise(seed: int) -> None:
    assert one(seed)[0] == "ok"


def test_the_same_requests_under_another_hash_seed() -> None:
    printed = [
        subprocess.run(
            [sys.executable, "-m", "tests.test_fuzz", "2000", "150"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert "ok" in printed[0]


def outcomes_of(first: int, count: int) -> tuple[Counter[str], str]:
    """How many of `count` cases from seed `first` on came to what, and a digest of all requests; faults are printed."""
    outcomes: Counter[str] = Counter()
    requests = hashlib.sha256()
    for seed in range(first, first + count):
        try:
            outcome, request = one(seed)
        except (AssertionError, BudgetError) as fault:
            outcome, request = "fault", ""
            print(seed, str(fault).partition("\n")[0], flush=True)
        outcomes[outcome] += 1
        requests.update(request.encode())
    return outcomes, requests.hexdigest()


if __name__ == "__main__":
    found, whole = outcomes_of(int(sys.argv[1]), int(sys.argv[2]))
    print(dict(sorted(found.items())), whole)
