"""langchain-core `trim_messages` as its documentation shows: newest messages, the system message kept, starting at a user's.

It is given what each message costs, as with a perfect cache of its own.
"""

from langchain_core.messages import trim_messages
from langchain_messages import Langchain
from protocol import main


class Trim(Langchain):
    def ask(self):
        return trim_messages(
            self.history, max_tokens=self.budget, token_counter=self.tokens,
            strategy="last", include_system=True, start_on="human",
        )  # fmt: skip


if __name__ == "__main__":
    main(Trim, "langchain-core")
