"""Summaries by a model behind HTTP: any OpenAI-compatible server, or Anthropic. Needs `httpx`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ctxtree.plan import Summary, SummaryRequest
from ctxtree.summarizers.prompt import pieces, prompt

MOST = 60_000
"""Characters of messages in one call: some 15,000 tokens of English, up to 60,000 of Chinese."""


@dataclass(frozen=True, slots=True)
class HttpSummarizer:
    """Callable: a summary request in, a model's text out; nothing is kept between calls.

    What takes more than `most` characters is sent in several POSTs, each with the notes made so far, so that a
    long conversation seen for the first time does not pass the model's window. A single longer entry is sent alone.

    Raises what `httpx` raises (status, timeout, connection) and `ValueError` for an answer of another shape;
    `fill` turns both into a rejected summary. `extra` is merged into the body; None takes a field out.
    """

    name: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any]
    timeout: float = 60.0
    most: int = MOST

    def __call__(self, request: SummaryRequest) -> str:
        said = ""
        for entries in pieces(request, self.most):
            said = self._ask(replace(request, entries=entries, previous=_notes(said, request)))
        return said

    def _ask(self, request: SummaryRequest) -> str:
        import httpx

        messages = [{"role": "user", "content": prompt(request)}]
        limit = {} if "max_tokens" in self.body else {"max_tokens": request.max_tokens}
        body = {**self.body, **limit, "messages": messages}
        sent = {key: value for key, value in body.items() if value is not None}
        answer = httpx.post(self.url, json=sent, headers=dict(self.headers), timeout=self.timeout)
        answer.raise_for_status()
        return _text(answer.json())


def _notes(said: str, request: SummaryRequest) -> Summary | None:
    """What was noted in the call before, or before them all."""
    return Summary(request.key, (), (), said, 0) if said else request.previous


def openai_summarizer(
    base_url: str,
    model: str,
    api_key: str | None = None,
    timeout: float = 60,
    extra: Mapping[str, Any] | None = None,
    most: int = MOST,
) -> HttpSummarizer:
    """A summarizer on `{base_url}/chat/completions`; `timeout` in seconds, `most` characters a call.

    Models that refuse `max_tokens` take `extra={"max_tokens": None}`.
    """
    headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
    body = {"model": model, **(extra or {})}
    return HttpSummarizer(
        f"openai {model}", f"{base_url.rstrip('/')}/chat/completions", headers, body, timeout, most
    )


def anthropic_summarizer(
    model: str,
    api_key: str,
    base_url: str = "https://api.anthropic.com",
    timeout: float = 60,
    extra: Mapping[str, Any] | None = None,
    most: int = MOST,
) -> HttpSummarizer:
    """A summarizer on `{base_url}/v1/messages`; `timeout` in seconds, `most` characters a call."""
    headers = {"x-api-key": api_key, "anthropic-version": "2023-06-01"}
    url = f"{base_url.rstrip('/').removesuffix('/v1')}/v1/messages"
    body = {"model": model, **(extra or {})}
    return HttpSummarizer(f"anthropic {model}", url, headers, body, timeout, most)


def _text(answer: Any) -> str:
    """The words of a response of either API; "" if it holds none (a tool call, reasoning alone)."""
    if not isinstance(answer, dict):
        raise ValueError("the answer is no object")
    if "choices" in answer:
        choices = answer["choices"]
        if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
            raise ValueError("the answer has no choice")
        content = (choices[0].get("message") or {}).get("content")
    else:
        content = answer.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))
