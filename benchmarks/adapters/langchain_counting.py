"""langchain-core `trim_messages` with a counter of tokens as users have it: each message tokenized at each call."""

import json

import tiktoken
from langchain_given import Trim
from protocol import main

ENCODING = tiktoken.get_encoding("o200k_base")


class Counting(Trim):
    def tokens(self, messages):
        return sum(map(_tokens, messages))


def _tokens(message):
    """Words and structure, as the judge counts them: 4 a message, 8 a call, 4 a result."""
    result = getattr(message, "tool_call_id", "")
    calls = getattr(message, "tool_calls", ())
    texts = [message.content, result]
    for one in calls:
        texts += [one["id"], one["name"], json.dumps(one["args"], ensure_ascii=False)]
    structure = 4 + 8 * len(calls) + 4 * bool(result)
    return structure + sum(len(ENCODING.encode_ordinary(text)) for text in texts)


if __name__ == "__main__":
    main(Counting, "langchain-core")
