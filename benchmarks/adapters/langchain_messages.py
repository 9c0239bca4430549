"""Messages of langchain, from and to OpenAI Chat."""

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from protocol import Kept, arguments, call, said

ROLES = {"system": "system", "human": "user", "ai": "assistant"}


class Langchain(Kept):
    def read(self, message):
        role, text = message["role"], message.get("content") or ""
        if role == "assistant":
            calls = [
                {
                    "id": one["id"],
                    "name": one["function"]["name"],
                    "args": arguments(one),
                    "type": "tool_call",
                }
                for one in message.get("tool_calls") or ()
            ]
            return AIMessage(text, tool_calls=calls)
        if role == "tool":
            return ToolMessage(text, tool_call_id=message["tool_call_id"])
        return SystemMessage(text) if role == "system" else HumanMessage(text)

    def write(self, message):
        if message.type == "tool":
            return [said("tool", message.content, tool_call_id=message.tool_call_id)]
        calls = [call(one["id"], one["name"], one["args"]) for one in getattr(message, "tool_calls", ())]
        return [said(ROLES[message.type], message.content, calls)]
