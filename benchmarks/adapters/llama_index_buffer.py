"""llama-index `ChatSummaryMemoryBuffer` without a model: what does not fit is dropped.

It takes a tokenizer of texts only, so it counts by itself: words of messages, neither structure nor calls.
"""

import tiktoken
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import ChatSummaryMemoryBuffer
from protocol import main, said

ENCODING = tiktoken.get_encoding("o200k_base")
KEPT = ("tool_calls", "tool_call_id")


class Buffer:
    def __init__(self, budget):
        self.memory = ChatSummaryMemoryBuffer.from_defaults(
            token_limit=budget, tokenizer_fn=ENCODING.encode_ordinary
        )

    def put(self, message, _tokens):
        more = {name: message[name] for name in KEPT if name in message}
        role, content = MessageRole(message["role"]), message.get("content") or ""
        self.memory.put(ChatMessage(role=role, content=content, additional_kwargs=more))

    def ask(self):
        return self.memory.get()

    def sent(self, context):
        return [_said(message) for message in context]


def _said(message):
    more = {name: message.additional_kwargs[name] for name in KEPT if name in message.additional_kwargs}
    return said(message.role.value, message.content, more.pop("tool_calls", ()), **more)


if __name__ == "__main__":
    main(Buffer, "llama-index-core")
