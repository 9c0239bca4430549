"""autogen-core `TokenLimitedChatCompletionContext`, with a client that is told what each message costs."""

from autogen_core import FunctionCall
from autogen_core.model_context import TokenLimitedChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    SystemMessage,
    UserMessage,
)
from protocol import Kept, call, main, run, said


class Limited(Kept):
    def ask(self):
        context = TokenLimitedChatCompletionContext(
            self, token_limit=self.budget, initial_messages=self.history
        )
        return run(context.get_messages())

    def count_tokens(self, messages, *, tools=()):  # noqa: ARG002 - the signature of a client
        return self.tokens(messages)

    def read(self, message):
        role, text = message["role"], message.get("content") or ""
        if role == "tool":
            result = FunctionExecutionResult(
                content=text, call_id=message["tool_call_id"], name="tool", is_error=False
            )
            return FunctionExecutionResultMessage(content=[result])
        if role != "assistant":
            return (
                SystemMessage(content=text) if role == "system" else UserMessage(content=text, source="user")
            )
        calls = [FunctionCall(id=one["id"], **one["function"]) for one in message.get("tool_calls") or ()]
        thought = text or None if calls else None
        return AssistantMessage(content=calls or text, thought=thought, source="assistant")

    def write(self, message):
        if isinstance(message, FunctionExecutionResultMessage):
            return [said("tool", one.content, tool_call_id=one.call_id) for one in message.content]
        if isinstance(message, AssistantMessage) and not isinstance(message.content, str):
            calls = [call(one.id, one.name, one.arguments) for one in message.content]
            return [said("assistant", message.thought, calls)]
        roles = {SystemMessage: "system", UserMessage: "user", AssistantMessage: "assistant"}
        return [said(roles[type(message)], message.content)]


if __name__ == "__main__":
    main(Limited, "autogen-core")
