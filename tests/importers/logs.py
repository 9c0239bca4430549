"""Every log that the tests import: our own fixtures, and the shared corpus where it lies beside the project."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import ctxtree
from ctxtree import BudgetError, Store, TargetError
from ctxtree.importers.base import HARMLESS
from ctxtree.results import ImportReport
from tests.importers.counting import COUNTERS, Count
from tests.validity import violations

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "data" / "formats"
CORPUS = Path(os.environ.get("CTXTREE_CORPUS", ROOT.parent / "shared"))
TARGETS = ("openai.chat", "openai.responses", "anthropic", "gemini", "text")
WINDOWS = (2_000, 50_000)


def database(path: Path, name: str) -> Path:
    """A SQLite file from the text of its rows."""
    with closing(sqlite3.connect(path)) as made:
        made.executescript((FIXTURES / name).read_text(encoding="utf-8"))
    return path


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name, raw in members.items():
            made.writestr(name, raw)
    return path


def shards(path: Path) -> Path:
    """A ChatGPT export in two files, which hold the same conversation."""
    files = sorted((FIXTURES / "chatgpt_split").iterdir())
    return archive(path, {file.name: file.read_bytes() for file in files})


def evaluation(path: Path) -> Path:
    """The Inspect log as an archive with a file for each sample."""
    whole = json.loads((FIXTURES / "inspect.json").read_bytes())
    members = {"header.json": json.dumps({"eval": whole["eval"]}).encode()}
    for sample in whole["samples"]:
        members[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = json.dumps(sample).encode()
    return archive(path, members)


def as_counted(report: ImportReport) -> Count:
    """What an import told, in the form of an independent count: without codes that are only worth knowing."""
    defects = Counter(issue.code for issue in report.issues if issue.code not in HARMLESS)
    return Count(
        [one.messages for one in report.conversations],
        [one.branches for one in report.conversations],
        defects,
    )


def counted(path: Path, format: str) -> Count:
    found = COUNTERS[format](path.read_bytes())
    return Count(found.messages, found.branches, +found.defects)


def imported_twice(store: Store, path: Path) -> ImportReport:
    """The first import's report; the second must add nothing and see the same."""
    first, second = store.import_file(path), store.import_file(path)
    assert second.added == 0
    assert as_counted(first) == as_counted(second)
    assert all(problem.code == "erased" for problem in store.verify())
    return first


def compiled(store: Store) -> Iterator[str]:
    """What is wrong with the requests of each tree: all branches of few trees, all targets in turn of many.

    A path without a user's words has no request, and one whose system prompt alone is larger than the
    window none that fits; both are told by their errors and nothing else is.
    """
    names = store.trees()
    for number, name in enumerate(names):
        tree = store.tree(name)
        few = len(names) <= 20
        for branch in tree.branches() if few else tree.branches()[:1]:
            for target in TARGETS if few else (TARGETS[number % len(TARGETS)],):
                for window in WINDOWS:
                    yield from _wrong(tree, branch.name, target, window)


def _wrong(tree: ctxtree.Tree, branch: str, target: str, window: int) -> Iterator[str]:
    place = f"{tree.name} {branch} {target} {window}"
    path = tree.path(branch)
    try:
        context = tree.compile(branch, budget=window, target=target, record=False)
    except TargetError as error:
        marks = [tree.marks(node) for node in path]
        spoken = any(
            node.role == "user" and not held.get("hidden") for node, held in zip(path, marks, strict=True)
        )
        if error.code != "no_user_turn" or spoken:
            yield f"{place}: {error}"
        return
    except BudgetError as error:
        system = sum(ctxtree.count([node.message]) for node in path if node.role in ("system", "developer"))
        if system < window * 0.7:
            yield f"{place}: {error}"
        return
    yield from (f"{place}: {rule}" for rule in violations(target, context.payload))
    if context.report.tokens > window:
        yield f"{place}: {context.report.tokens} tokens"
