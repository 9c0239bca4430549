"""strands-agents `SlidingWindowConversationManager`: a window of messages, which knows no tokens.

The budget is turned into a number of messages by the mean cost of those so far. The system prompt stands
outside of an agent's messages.
"""

import json
from types import SimpleNamespace

from protocol import arguments, call, main, said
from strands.agent.conversation_manager import SlidingWindowConversationManager


class Window:
    def __init__(self, budget):
        self.budget, self.system, self.agent = budget, [], SimpleNamespace(messages=[])
        self.held = self.cost = 0

    def put(self, message, tokens):
        role, text = message["role"], message.get("content") or ""
        if role == "system":
            self.system.append(message)
            return
        self.cost += tokens
        blocks = [{"text": text}] if text else []
        if role == "tool":
            result = {"toolUseId": message["tool_call_id"], "status": "success", "content": [{"text": text}]}
            role, blocks = "user", [{"toolResult": result}]
            if self.agent.messages and "toolResult" in self.agent.messages[-1]["content"][0]:
                self.agent.messages[-1]["content"] += blocks
                return
        for one in message.get("tool_calls") or ():
            use = {"toolUseId": one["id"], "name": one["function"]["name"], "input": arguments(one)}
            blocks.append({"toolUse": use})
        self.agent.messages.append({"role": role, "content": blocks})
        self.held += 1

    def ask(self):
        size = max(2, self.budget * self.held // (self.cost or 1))
        SlidingWindowConversationManager(window_size=size).apply_management(self.agent)
        return self.agent.messages

    def sent(self, context):
        return [*self.system, *(said for message in context for said in _said(message))]


def _said(message):
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    results = [block["toolResult"] for block in message["content"] if "toolResult" in block]
    if results:
        return [said("tool", one["content"][0]["text"], tool_call_id=one["toolUseId"]) for one in results]
    text = "".join(block.get("text", "") for block in message["content"])
    calls = [
        call(one["toolUseId"], one["name"], json.dumps(one["input"], ensure_ascii=False)) for one in uses
    ]
    return [said(message["role"], text, calls)]


if __name__ == "__main__":
    main(Window, "strands-agents")
