"""Plan A, plan B, and "go back to that plan": nothing is overwritten, and the model is told why B was left."""

import ctxtree
from ctxtree import AmbiguousBacktrack

with ctxtree.connect(":memory:") as store:
    tree = store.tree("sessions")
    tree.user("How should we store sessions?")
    tree.label(tree.assistant("Plan A: SQLite with WAL."), "plan A")
    tree.user("And the alternative?")
    tree.assistant("Plan B: JSONL files.")
    tree.user("Try plan B.")
    tree.assistant("Plan B: wrote store.py; the tests fail with lock errors.")

    try:
        tree.backtrack("go back to the plan")
    except AmbiguousBacktrack as unclear:
        print("unclear:", unclear)

    found = tree.backtrack("go back to plan A", reason="lock errors in the tests")
    print(f"went back to {found.node.text!r} on branch {found.branch!r}: {found.why}")
    context = tree.compile(budget=1_000, input="Carry on with it.")
    for message in context.payload["messages"]:
        print(f"{message['role']:>9}: {message['content']}")
