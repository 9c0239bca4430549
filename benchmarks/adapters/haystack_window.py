"""haystack `SlidingWindowCompactor`, as its `CompactionHook` calls it before a model, told what each message costs.

It compacts from the budget to the budget: the most that it can keep. Its own note on what was omitted is counted
by its characters, 4 a token.
"""

from haystack.dataclasses import ChatMessage, ToolCall
from haystack.hooks.compaction import SlidingWindowCompactor
from protocol import Kept, arguments, call, main, said


class Window(Kept):
    def ask(self):
        kept = SlidingWindowCompactor().compact(self.history, self.budget, self)
        return self.history if kept is None else kept

    def count(self, messages, tools=None):  # noqa: ARG002 - haystack's own signature
        return self.tokens(messages)

    def tokens(self, messages):
        return sum(self._tokens.get(id(message)) or 4 + len(message.text) // 4 for message in messages)

    def read(self, message):
        role, text = message["role"], message.get("content") or ""
        if role == "tool":
            return ChatMessage.from_tool(text, origin=ToolCall("tool", {}, id=message["tool_call_id"]))
        if role != "assistant":
            return (ChatMessage.from_system if role == "system" else ChatMessage.from_user)(text)
        calls = [
            ToolCall(one["function"]["name"], arguments(one), id=one["id"])
            for one in message.get("tool_calls") or ()
        ]
        return ChatMessage.from_assistant(text or None, tool_calls=calls)

    def write(self, message):
        if message.tool_call_results:
            results = message.tool_call_results
            return [said("tool", one.result, tool_call_id=one.origin.id) for one in results]
        calls = [call(one.id, one.tool_name, one.arguments) for one in message.tool_calls]
        return [said(message.role.value, message.text, calls)]


if __name__ == "__main__":
    main(Window, "haystack-ai")
