"""Targets: messages in, a request body out, with what was repaired and what was lost.

A target knows no plan and no store. Adding one takes a file and a line in `TARGETS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxtree.errors import TargetError
from ctxtree.plan import Counter, Rendered, Said, Settings
from ctxtree.render import anthropic, gemini, openai_chat, openai_responses, text
from ctxtree.render.plain import plain

__all__ = ["TARGETS", "Target", "plain", "target"]


@dataclass(frozen=True, slots=True)
class Target:
    """One API. Called with messages, settings and a counter it gives the request.

    `weigh` counts a finished payload anew; it equals `Rendered.tokens`. `extras` is what tools and
    response format will cost, before anything is rendered (dialects may add to it).
    """

    name: str
    render: Callable[[Sequence[Said], Settings, Counter], Rendered]
    weigh: Callable[[Mapping[str, Any], Counter], int]
    extras: Callable[[Settings, Counter], int]

    def __call__(self, said: Sequence[Said], settings: Settings, counter: Counter) -> Rendered:
        return self.render(said, settings, counter)


TARGETS = {
    "openai.chat": Target("openai.chat", openai_chat.render, openai_chat.weigh, openai_chat.foreseen),
    "openai.responses": Target(
        "openai.responses", openai_responses.render, openai_responses.weigh, openai_responses.foreseen
    ),
    "anthropic": Target("anthropic", anthropic.render, anthropic.weigh, anthropic.foreseen),
    "gemini": Target("gemini", gemini.render, gemini.weigh, gemini.foreseen),
    "text": Target("text", text.render, text.weigh, text.foreseen),
}
ALIASES = {"openai": "openai.chat"}


def target(name: str) -> Target:
    """The target of that name, or of its alias. Raises `TargetError` (`unknown_target`)."""
    found = TARGETS.get(ALIASES.get(name, name)) if isinstance(name, str) else None
    if found is None:
        raise TargetError(
            "unknown_target", f"target {str(name)[:40]!r} is not known; there are: {', '.join(TARGETS)}"
        )
    return found
