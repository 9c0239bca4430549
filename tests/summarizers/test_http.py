from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ctxtree.plan import Counter
from ctxtree.summarizers import anthropic_summarizer, digest, fill, openai_summarizer
from tests.summarizers.dialogues import request
from tests.summarizers.test_guard import ENTRIES, GOOD

pytest.importorskip("httpx")


class Server(ThreadingHTTPServer):
    """Answers every POST with `status` and `body` and keeps what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.body, self.hang = 200, b"", threading.Event()
        self.wait = 0.0
        self.seen: list[tuple[str, dict[str, str], dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def say(self, value: Any, status: int = 200) -> None:
        self.status, self.body = status, value if isinstance(value, bytes) else json.dumps(value).encode()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append(
            (self.path, {key.lower(): value for key, value in self.headers.items()}, sent)
        )
        self.server.hang.wait(self.server.wait)
        self.send_response(self.server.status)
        self.send_header("content-length", str(len(self.server.body)))
        self.end_headers()
        if not self.server.hang.is_set():
            self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.hang.set()
        running.shutdown()
        thread.join()


def chat(content: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content, **more}}]}


def test_an_openai_server_writes_the_summary(server: Server, counter: Counter) -> None:
    server.say(chat(GOOD))
    summary, signals = fill(request(ENTRIES), openai_summarizer(f"{server.url}/v1/", "m-1", "key"), counter)
    path, headers, body = server.seen[0]
    assert signals == ()
    assert "the lexer was slow in one loop" in summary.text
    assert summary.by == "openai m-1"
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer key"
    assert (body["model"], body["max_tokens"]) == ("m-1", 300)
    assert "Do NOT push to main" in body["messages"][0]["content"]


def test_what_is_too_long_for_one_call_is_told_in_several(server: Server, counter: Counter) -> None:
    server.say(chat(GOOD))
    summary, signals = fill(request(ENTRIES), openai_summarizer(server.url, "m-1", most=60), counter)
    asked = [body["messages"][0]["content"] for _, _, body in server.seen]
    assert (signals, summary.by) == ((), "openai m-1")
    assert len(asked) > 1
    for entry in ENTRIES:
        assert sum(entry.text in one for one in asked) == 1
    assert [GOOD in one for one in asked] == [False] + [True] * (len(asked) - 1)
    server.seen.clear()
    fill(request(ENTRIES), openai_summarizer(server.url, "m-1"), counter)
    assert len(server.seen) == 1


def test_without_a_key_no_key_is_sent_and_fields_can_be_taken_out(server: Server, counter: Counter) -> None:
    server.say(chat(GOOD))
    fill(request(ENTRIES), openai_summarizer(server.url, "m", extra={"max_tokens": None, "seed": 1}), counter)
    _, headers, body = server.seen[0]
    assert "authorization" not in headers
    assert "max_tokens" not in body
    assert body["seed"] == 1


def test_anthropic_writes_the_summary(server: Server, counter: Counter) -> None:
    server.say({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": GOOD}]})
    summary, signals = fill(
        request(ENTRIES), anthropic_summarizer("c-1", "key", base_url=server.url), counter
    )
    path, headers, body = server.seen[0]
    assert signals == ()
    assert summary.by == "anthropic c-1"
    assert path == "/v1/messages"
    assert headers["x-api-key"] == "key"
    assert headers["anthropic-version"] == "2023-06-01"
    assert body["max_tokens"] == 300


FAILURES = [
    ({"error": {"message": "secret"}}, 500, "HTTPStatusError 500"),
    ({"error": {"message": "secret"}}, 429, "HTTPStatusError 429"),
    (chat(""), 200, "empty"),
    (chat(None, tool_calls=[{"id": "c", "function": {"name": "read", "arguments": "{}"}}]), 200, "empty"),
    (chat("I cannot help with that."), 200, "a refusal"),
    ({"choices": []}, 200, "ValueError"),
    ([], 200, "ValueError"),
    (b"<html>secret</html>", 200, "JSONDecodeError"),
    ({"content": [{"type": "tool_use", "name": "read", "input": {}}]}, 200, "empty"),
]


@pytest.mark.parametrize(("body", "status", "reason"), FAILURES)
def test_a_failing_server_is_replaced_by_the_rules(
    server: Server, body: Any, status: int, reason: str, counter: Counter
) -> None:
    server.say(body, status)
    for model in (openai_summarizer(server.url, "m"), anthropic_summarizer("m", "key", base_url=server.url)):
        summary, (signal,) = fill(request(ENTRIES), model, counter)
        assert summary == digest(request(ENTRIES), counter)
        assert f"({reason})" in signal.message
        assert "secret" not in signal.message
    assert len(server.seen) == 2


def test_a_server_that_does_not_answer_is_given_up_after_the_timeout(
    server: Server, counter: Counter
) -> None:
    server.say(chat(GOOD))
    server.wait = 5.0
    _, (signal,) = fill(request(ENTRIES), openai_summarizer(server.url, "m", timeout=0.2), counter)
    assert "ReadTimeout" in signal.message


def test_a_server_that_is_not_there_is_told(counter: Counter) -> None:
    _, (signal,) = fill(request(ENTRIES), openai_summarizer("http://127.0.0.1:9", "m", timeout=2), counter)
    assert "ConnectError" in signal.message


def test_a_key_is_never_shown() -> None:
    assert "secret" not in repr(openai_summarizer("http://x", "m", "secret")) + repr(
        anthropic_summarizer("m", "secret")
    )
