"""Summaries by a model behind HTTP: any OpenAI-compatible server, or Anthropic. Needs `httpx`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxtree.plan import SummaryRequest
from ctxtree.summarizers.prompt import prompt


@dataclass(frozen=True, slots=True)
class HttpSummarizer:
    """Callable: a summary request in, a model's text out; one POST each, nothing kept between them.

    Raises what `httpx` raises (status, timeout, connection) and `ValueError` for an answer of another shape;
    `fill` turns both into a rejected summary. `extra` is merged into the body; None takes a field out.
    """

    name: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any]
    timeout: float = 60.0

    def __call__(self, request: SummaryRequest) -> str:
        import httpx

        messages = [{"role": "user", "content": prompt(request)}]
        limit = {} if "max_tokens" in self.body else {"max_tokens": request.max_tokens}
        body = {**self.body, **limit, "messages": messages}
        sent = {key: value for key, value in body.items() if value is not None}
        answer = httpx.post(self.url, json=sent, headers=dict(self.headers), timeout=self.timeout)
        answer.raise_for_status()
        return _text(answer.json())


def openai_summarizer(
    base_url: str,
    model: str,
    api_key: str | None = None,
    timeout: float = 60,
    extra: Mapping[str, Any] | None = None,
) -> HttpSummarizer:
    """A summarizer on `{base_url}/chat/completions`; `timeout` in seconds.

    Models that refuse `max_tokens` take `extra={"max_tokens": None}`.
    """
    headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
    body = {"model": model, **(extra or {})}
    return HttpSummarizer(
        f"openai {model}", f"{base_url.rstrip('/')}/chat/completions", headers, body, timeout
    )


def anthropic_summarizer(
    model: str,
    api_key: str,
    base_url: str = "https://api.anthropic.com",
    timeout: float = 60,
    extra: Mapping[str, Any] | None = None,
) -> HttpSummarizer:
    """A summarizer on `{base_url}/v1/messages`; `timeout` in seconds."""
    headers = {"x-api-key": api_key, "anthropic-version": "2023-06-01"}
    url = f"{base_url.rstrip('/').removesuffix('/v1')}/v1/messages"
    return HttpSummarizer(f"anthropic {model}", url, headers, {"model": model, **(extra or {})}, timeout)


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
