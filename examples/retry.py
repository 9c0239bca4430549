"""A failed attempt, and what the second try is told of it: one line instead of the whole trace."""

import ctxtree
from ctxtree import ToolCall

with ctxtree.connect(":memory:") as store:
    tree = store.tree("lexer")
    tree.user("Fix the failing test.")
    tree.assistant(
        "Rewriting the lexer.", calls=[ToolCall(id="c1", name="pytest", arguments={"path": "tests"})]
    )
    trace = "\n".join(f"  File lexer.py, line {line}" for line in range(200))
    tree.tool("c1", f"{trace}\nImportError: no module named foo", error=True)

    before = tree.compile(budget=8_000)
    tree.retry(reason="the rewrite needs a package that is not there")
    after = tree.compile(budget=8_000)

    print(f"first try: {before.report.tokens} tokens, second try: {after.report.tokens} tokens")
    for message in after.payload["messages"]:
        print(f"{message['role']:>9}: {message['content']}")
