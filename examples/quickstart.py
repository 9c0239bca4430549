"""The ten lines of the README: say things, compile, look at the figures."""

import ctxtree
from ctxtree import Budget, ToolCall

with ctxtree.connect(":memory:") as store:
    tree = store.tree("parser", system="You are a careful engineer.")
    tree.user("Rewrite the parser. Never touch prod.")
    tree.assistant("I will read it.", calls=[ToolCall(id="c1", name="read", arguments={"path": "a.py"})])
    tree.tool("c1", "def parse(text):\n    return text.split()\n" * 400)
    context = tree.compile(budget=Budget(window=1_000, reserve=200), input="What is slow in it?")

for message in context.payload["messages"]:
    print(f"{message['role']:>9}: {str(message.get('content') or message.get('tool_calls'))[:90]!r}")
print(f"{context.report.tokens} tokens of {context.report.budget.window - context.report.budget.reserve}")
