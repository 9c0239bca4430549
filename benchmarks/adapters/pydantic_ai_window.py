"""pydantic-ai with the history processor `SlidingWindowProcessor` of summarization-pydantic-ai, told what each message costs.

pydantic-ai itself has the hook for processors and no window. The system prompt is kept, as its documentation shows.
"""

from protocol import Kept, call, main, run, said
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai_summarization import SlidingWindowProcessor


class Window(Kept):
    def ask(self):
        limit = ("tokens", self.budget)
        led = self.history and isinstance(self.history[0].parts[0], SystemPromptPart)
        window = SlidingWindowProcessor(
            trigger=limit, keep=limit, keep_head=("messages", 1) if led else None, token_counter=self.tokens
        )
        return run(window(self.history))

    def read(self, message):
        role, text = message["role"], message.get("content") or ""
        if role == "tool":
            return ModelRequest(parts=[ToolReturnPart("tool", text, tool_call_id=message["tool_call_id"])])
        if role != "assistant":
            return ModelRequest(parts=[(SystemPromptPart if role == "system" else UserPromptPart)(text)])
        calls = [
            ToolCallPart(one["function"]["name"], one["function"]["arguments"], tool_call_id=one["id"])
            for one in message.get("tool_calls") or ()
        ]
        return ModelResponse(parts=[*([TextPart(text)] if text else []), *calls])

    def write(self, message):
        if isinstance(message, ModelResponse):
            text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
            calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
            return [
                said("assistant", text, [call(one.tool_call_id, one.tool_name, one.args) for one in calls])
            ]
        return [_said(part) for part in message.parts]


def _said(part):
    if isinstance(part, ToolReturnPart):
        return said("tool", part.content, tool_call_id=part.tool_call_id)
    return said("system" if isinstance(part, SystemPromptPart) else "user", part.content)


if __name__ == "__main__":
    main(Window, "pydantic-ai-slim", "summarization-pydantic-ai")
