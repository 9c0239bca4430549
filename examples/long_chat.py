"""Sixty turns in a window of 1,200 tokens: what was said in the first turns is still there at the end."""

import ctxtree
from ctxtree import Budget

FACTS = {
    0: "My name is Ada Okafor and the code name is 42.",
    1: "Never push to the main branch.",
    2: "We decided to use PostgreSQL 16.",
    3: "The config file is at config/settings.toml.",
}

with ctxtree.connect(":memory:") as store:
    tree = store.tree("long", system="You are a helpful colleague.")
    for turn in range(60):
        tree.user(FACTS.get(turn, f"Question {turn}: how does step {turn} of the migration work in detail?"))
        context = tree.compile(budget=Budget(window=1_200, reserve=200))
        if context.report.compaction is not None:
            print(f"turn {turn:2}: {context.report.compaction.line}")
        tree.assistant(f"Step {turn} copies the rows of table {turn}, checks their number and goes on. " * 3)
    context = tree.compile(budget=Budget(window=1_200, reserve=200), input="What is the code name?")

text = str(context.payload)
for fact in FACTS.values():
    print("kept" if fact in text else "lost", "-", fact)
print(f"{context.report.tokens} tokens for {context.report.path.tokens} tokens of history")
