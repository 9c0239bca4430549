"""One dead service, whatever was asked of it."""

import pytest

from ctxtree import ToolCall
from ctxtree.outages import Outage, outage, services


def call(name: str, **given: object) -> ToolCall:
    return ToolCall(id="c", name=name, arguments=given)


FETCH = call("fetch", url="https://api.example.org/a")
REFUSED = (
    "requests.exceptions.ConnectionError: HTTPConnectionPool(host='api.example.org', port=80): Max retries exceeded "
    "with url: /a (Caused by NewConnectionError('<HTTPConnection object at 0x7f>: [Errno 111] Connection refused'))"
)


@pytest.mark.parametrize(
    ("asked", "error", "service", "kind"),
    [
        (FETCH, REFUSED, "api.example.org", "down"),
        (FETCH, "Error: connect ECONNREFUSED 127.0.0.1:5432", "127.0.0.1:5432", "down"),
        (FETCH, "Error: 403 Forbidden", "api.example.org", "access"),
        (FETCH, "HTTP 503", "api.example.org", "down"),
        (FETCH, "请求过于频繁，请稍后再试", "api.example.org", "quota"),
        (call("bash", command="curl https://api.example.org:8443/v1"), "curl: (28) Operation timed out", "api.example.org:8443", "down"),
        (call("bash", command="make sync"), "fatal: Could not resolve host: git.example.org", "git.example.org", "down"),
        (call("bash", command="psql"), 'could not connect to server at "db.local": Connection refused', "db.local", "down"),
        (call("query", host="db.local", sql="select 1"), "getaddrinfo ENOTFOUND db.local", "db.local", "down"),
        (call("gdocs", op="batchUpdate"), "403 insufficientPermissions", "gdocs", "access"),
        (call("search", q="x"), "Error: 429 Too Many Requests", "search", "quota"),
        (call("chat", text="x"), "openai.RateLimitError: You exceeded your current quota", "chat", "quota"),
        (call("chat", text="x"), "AuthenticationError: Error code: 401 - Incorrect API key provided", "chat", "access"),
        (call("查询", q="x"), "连接超时", "查询", "down"),
    ],
)  # fmt: skip
def test_an_error_names_what_did_not_answer(asked: ToolCall, error: str, service: str, kind: str) -> None:
    assert outage(asked, error) == Outage(service, kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (call("read", path="/etc/shadow"), "PermissionError: [Errno 13] Permission denied: '/etc/shadow'"),
        (call("read", path="a.py"), "Error: File not found"),
        (FETCH, "HTTP 404 Not Found"),
        (call("pytest", path="t"), "E   assert 403 == 200"),
        (call("pytest", path="t"), "FAILED test_timeout - TypeError: unexpected keyword argument 'timeout'"),
        (call("pytest", path="t"), "403 passed, 1 failed: ImportError"),
        (call("bash", command="pytest -q"), "E  TimeoutError: timed out"),
    ],
)
def test_what_is_the_trouble_of_one_argument_is_no_outage(asked: ToolCall, error: str) -> None:
    assert outage(asked, error) is None


def test_a_call_speaks_to_the_hosts_that_it_names_and_to_its_tool() -> None:
    assert list(services(FETCH)) == ["api.example.org", "fetch"]
    assert list(services(call("bash", command="curl -s http://one.example/x http://two.example:81/y"))) == [
        "one.example",
        "two.example:81",
    ]


def test_of_a_long_output_both_ends_are_read() -> None:
    noise = "line of output\n" * 10_000
    assert outage(FETCH, f"{noise}Connection refused") == outage(FETCH, f"Connection refused\n{noise}")
    assert outage(FETCH, f"{noise}Connection refused\n{noise}") is None
