"""Secrets are masked where words leave, by shape, place or name; what is stored stays as it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxtree
from ctxtree import Budget, NotFound, Policy, StoreError, ToolCall
from ctxtree.masking import mask_for
from ctxtree.model import Media, Message, Opaque, Reasoning, Text, ToolResult

LETTERS = "AbCdEfGh1jKlMnOpQrStUvWxYz0123456789aBcDeFgHiJkLmNoPqRsTuVwXyZ98765432109876543210"
# Each is put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "aws-key": "AKIA" + "ABCDEFGH12345678",
    "github-token": "ghp_" + LETTERS[:36],
    "gitlab-token": "glpat-" + LETTERS[:20],
    "google-key": "AIza" + LETTERS[:35],
    "slack-token": "xoxb-" + "1234567890-abcdefghij",
    "stripe-key": "sk_" + "live_" + LETTERS[:24],
    "api-key": "sk-ant-" + "api03-" + LETTERS[:40],
    "package-token": "npm_" + LETTERS[:36],
    "bot-token": "123456789:AA" + LETTERS[:33],
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + "." + LETTERS[:43],
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\n" + f"{LETTERS[:64]}\n" * 12 + "-----END RSA PRIVATE KEY-----",
    "webhook": "https://hooks.slack.com/services/" + "T00000000/B00000000/" + LETTERS[:24],
}  # fmt: skip

NAMED = [
    ("postgres://u:p4ss@h/db", "p4ss"), ("Authorization: Bearer " + "t" * 30, "t" * 30), ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("BRAVE_SEARCH_API_KEY=" + "z" * 20, "z" * 20), ('{"api_key": "abc123def456"}', "abc123def456"), ("export TOKEN=abc12345", "abc12345"),
    ('"{\\"password\\": \\"hunter2\\"}"', "hunter2"), ("db_password: s3cr3tpw", "s3cr3tpw"), ("clientSecret = 'abcd-efgh-1234'", "abcd-efgh-1234"),
    ("--password hunter2!", "hunter2!"), ("https://api.example/x?access_token=abcdef123456&y=1", "abcdef123456"), ("x-api-key: abcd1234efgh5678", "abcd1234efgh5678"),
    ("the password is hunter2!", "hunter2!"), ("密码：abc12345", "abc12345"), ("口令是 abc12345", "abc12345"), ("passphrase: 'correct horse battery'", "correct horse battery"),
    ("AccountKey=" + LETTERS[:60] + "==", LETTERS[:60]), ("tvly-" + "x" * 24, "x" * 24),
]  # fmt: skip

HARMLESS = [
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "5cc5e87b-2b74-485a-b3a7-23cb25f202db", "sha256:" + "0123456789abcdef" * 4,
    "token = next(stream)", "max_tokens=4096", "def f(token: str | None = None)", "self.token = self._token_factory()", "api_key=os.environ['X']",
    "apiKey: process.env.API_KEY", "export GITHUB_TOKEN=${{ secrets.X }}", "password: <your password>", "const token = await getToken2(user)",
    "if token == 'identifier':", "primary_key: user_id_1", "sort(key=lambda x: x.id)", "token_count=12345678", "PWD=/home/user/work", "Enter password: ",
    '"label.password": "Please enter your password."', "call_AbCdEfGh1jKlMnOpQrStUvWx", "toolu_01AbCdEfGh1jKlMnOpQrStUv", "git@github.com:a/b.git", "https://user@host/x",
    "SECRET_KEY = settings.SECRET_KEY", "密码太短了", "the token is expired", "mailto:a@b.example", "password reset: done",
]  # fmt: skip


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("around", ["{}", "a {} b", '{{"x": "{}"}}', "x={},", "({})", "看{}。"])
def test_a_secret_of_a_known_shape_is_masked_wherever_it_stands(kind: str, around: str) -> None:
    masked = mask_for().text(around.replace("{{", "{").replace("}}", "}").replace("{}", SECRETS[kind], 1))
    assert SECRETS[kind] not in masked
    assert LETTERS[:16] not in masked
    assert masked.count("[redacted: ") == 1


@pytest.mark.parametrize(("text", "secret"), NAMED)
def test_a_secret_is_known_by_its_place_or_its_name(text: str, secret: str) -> None:
    masked = mask_for().text(text)
    assert secret not in masked
    assert "[redacted: " in masked
    assert masked.replace("[redacted: ", "").count("[") == text.count("[")


@pytest.mark.parametrize("text", HARMLESS)
def test_hashes_ids_placeholders_and_code_stay(text: str) -> None:
    assert mask_for().text(text) == text


def test_keys_cut_at_either_end_are_masked_as_far_as_they_go() -> None:
    whole = SECRETS["private-key"]
    sealed = whole.replace(
        "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123ABCD\n\n", 1
    )
    for cut in (whole[:400], whole[200:], sealed, sealed[:400]):
        for form in (cut, cut.replace("\n", "\\n"), cut.replace("\n", "\r\n")):
            masked = mask_for().text(f"x {form} y")
            assert LETTERS[:40] not in masked
            assert LETTERS[30:60] not in masked
            assert masked.startswith("x [redacted: private-key]") or form != whole


@pytest.mark.parametrize(
    "unit",
    [
        "-",
        "--a-",
        "A" * 64 + "\n",
        "key=",
        "token ",
        "://a:",
        "eyJ",
        "a.b@",
        'secret: "',
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----\n",
    ],
)
def test_no_text_takes_more_than_its_length(unit: str) -> None:
    """A pattern that goes back over what it has read would not end on these."""
    mask_for(("email",)).text(unit * (2_000_000 // len(unit)))


@given(
    st.text(max_size=80),
    st.sampled_from([*SECRETS.values(), *(text for text, _ in NAMED)]),
    st.text(max_size=80),
)
def test_masking_twice_changes_nothing_more(before: str, secret: str, after: str) -> None:
    once = mask_for(("email",)).text(f"{before} {secret} {after}")
    assert mask_for(("email",)).text(once) == once


def test_mail_addresses_are_masked_if_asked_for() -> None:
    assert mask_for().text("write to a.b@example.org.") == "write to a.b@example.org."
    assert mask_for(("email",)).text("write to a.b@example.org.") == "write to [redacted: email]."
    with pytest.raises(NotFound, match="nothing to mask is called 'phone'"):
        mask_for(("phone",))


def test_further_shapes_come_from_detect_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    token = "sq0csp-" + "\\" + LETTERS[:43]
    cloudant = "cloudant_password = '" + "0123456789abcdef" * 4 + "'"
    assert "[redacted: square-oauth-secret]" in mask_for(("detect-secrets",)).text(f"id {token}")
    assert "0123456789abcdef" not in mask_for(("detect-secrets",)).text(cloudant)
    monkeypatch.setitem(sys.modules, "detect_secrets.plugins.aws", None)
    with pytest.raises(NotFound, match=r"pip install 'ctxtree\[redact\]'"):
        mask_for(("detect-secrets",))


def test_every_part_of_a_message_is_masked_but_sealed_reasoning() -> None:
    secret = SECRETS["github-token"]
    said = Message(
        role="assistant",
        parts=(
            Text(text=secret), Reasoning(text=secret, summary=(secret,)), Reasoning(text=secret, signature="s"),
            ToolCall(id="1", name="f", arguments={"a": [secret], "password": "hunter2", "n": 7}),
            ToolCall(id="2", name="f", arguments=json.dumps({"token": "abc12345xyz", "x": f'"{secret}"'})),
            ToolCall(id="3", name="f", arguments="not json " + secret), Media(url=f"https://h/?token={secret}", transcript=secret),
            ToolResult(call_id="1", parts=(Text(text=secret),)), Opaque(origin="x", kind="y", data={"z": [secret]}),
        ),
    )  # fmt: skip
    masked = mask_for().message(said)
    assert masked.canonical.count(secret) == 1
    assert masked.parts[2] == said.parts[2]
    assert masked.calls[0].object == {
        "a": ["[redacted: github-token]"],
        "password": "[redacted: password]",
        "n": 7,
    }
    assert json.loads(str(masked.calls[1].arguments)) == {
        "token": "[redacted: secret]",
        "x": '"[redacted: github-token]"',
    }
    assert secret not in mask_for().message(said, sealed=True).canonical
    plain = Message.of("user", "nothing here")
    assert mask_for().message(plain) is plain


@pytest.fixture
def tree() -> Any:
    """A secret in every place that holds words."""
    secret = SECRETS["github-token"]
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("talk", system=f"Deploy with {secret}.")
        first = tree.user(f"my token is {secret}; never print it")
        tree.assistant(
            "I will read it.", calls=[ToolCall(id="c", name="bash", arguments={"command": f"echo {secret}"})]
        )
        tree.tool("c", f"Error: bad credentials {secret}", error=True)
        tree.retry(f"{secret} was refused")
        tree.assistant("Another way.")
        tree.user("go on")
        tree.label(first, "start")
        tree.set_state(token="abc12345xyz", note=secret)
        tree.remember(f"the token is {secret}")
        store.remember(f"for all: {secret}")
        yield tree


FORMS = ("openai.chat", "anthropic", "ctxtree", "markdown", "html", "mermaid", "dot")


@pytest.mark.parametrize("form", FORMS)
def test_no_export_has_a_secret_if_asked_not_to(tree: Any, form: str) -> None:
    secret = SECRETS["github-token"]
    assert secret[4:18] in str(tree.export(form))
    masked = str(tree.export(form, redact=True))
    assert secret[4:12] not in masked
    assert "abc12345xyz" not in masked
    assert "[redacted: github" in masked or form in ("mermaid", "dot")


def test_sealed_reasoning_is_masked_only_where_it_is_just_read() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        sealed = Reasoning(text="use " + SECRETS["aws-key"], signature="sig", origin="anthropic")
        tree.user("go")
        tree.append(Message(role="assistant", parts=(sealed, Text(text="done"))))
        for form, kept in (("anthropic", True), ("ctxtree", True), ("markdown", False), ("html", False)):
            assert (SECRETS["aws-key"] in str(tree.export(form, redact=True))) == kept


@pytest.mark.parametrize("target", ["openai.chat", "openai.responses", "anthropic", "gemini", "text"])
@pytest.mark.parametrize("window", [300, 50_000])
def test_a_request_through_a_mask_holds_no_secret_and_keeps_its_budget(
    tree: Any, target: str, window: int
) -> None:
    secret = SECRETS["github-token"]
    for n in range(30):
        tree.user(f"step {n} with {secret} and some more words that take room")
        tree.assistant(f"did step {n}")
    asked: list[str] = []

    def summarizer(request: Any) -> str:
        asked.extend(entry.text for entry in request.entries)
        return ""

    view = tree.redacted()
    made = view.compile(
        budget=Budget(window),
        target=target,
        input=f"and {secret}?",
        retrieved=[f"found {secret}"],
        summarizer=summarizer,
    )
    assert secret not in json.dumps(made.payload, ensure_ascii=False)
    assert secret not in made.report.model_dump_json()
    assert secret not in "".join(asked)
    assert "[redacted: github-token]" in json.dumps(made.payload)
    assert made.report.tokens <= window
    assert sum(item.tokens for item in made.report.items) + made.report.budget.overhead == made.report.tokens
    assert secret not in str(view.turns())
    # The tree itself sends what was said, and shares no summary with the view.
    assert secret in json.dumps(tree.compile(budget=Budget(window), target=target).payload)


def test_what_is_stored_stays_and_nothing_is_written_through_a_view(tree: Any) -> None:
    before = tree.export("ctxtree")
    view = tree.redacted()
    view.compile(budget=Budget(500), policy=Policy.hybrid())
    assert [node.id for node in view.path()] == [node.id for node in tree.path()]
    assert view.node("start").id == tree.node("start").id
    for write in (
        lambda: view.user("x"),
        lambda: view.fork("x"),
        lambda: view.label("start", "y"),
        lambda: view.remember("x"),
        lambda: view.edit("start", "x"),
    ):
        with pytest.raises(StoreError, match="only reads"):
            write()
    view.switch("main")
    assert tree.store.tree("talk").branch == tree.branch
    assert tree.export("ctxtree") == before
    assert tree.store.verify() == ()


def test_what_has_no_masked_form_is_not_read_through_a_view(tree: Any) -> None:
    with pytest.raises(AttributeError, match="links has no masked form"):
        tree.redacted()._database.links(1)


def test_views_of_every_kind_are_masked(tree: Any) -> None:
    secret, view = SECRETS["github-token"], tree.redacted()
    shown = [
        view.draw(), view.draw("lanes"), view.draw_diff("main", "main.2"), view.state, view.facts, view.path(), view.recall(view.path()[1].id),
        view.marks("main"), view.find("go back to the start"), view.graph().nodes(data=True), view.store.facts,
    ]  # fmt: skip
    assert secret[:14] not in "".join(map(str, shown))


def test_a_masked_export_of_the_whole_is_a_sound_tree_of_its_own() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        tree.user("start")
        for end in "ab":  # siblings that differ in nothing but their secret
            tree.fork(end, tree.path()[0])
            tree.assistant(f"use {SECRETS['aws-key'][:-1]}{end.upper()}")
            tree.user("then")
        whole = tree.export("ctxtree", redact=True)
        nodes = {row["id"]: row for row in whole["nodes"]}
        assert len(nodes) == 5
        for row in whole["nodes"]:
            made = ctxtree.Node.make(
                Message.model_validate(row["message"]), tuple(row["parents"]), row["attempt"]
            )
            assert made.id == row["id"]
            assert set(row["parents"]) <= nodes.keys()
        assert {head for _, head, _, _ in whole["branches"]} <= {*nodes, None}


def test_masking_is_the_same_in_another_process(tree: Any, tmp_path: Path) -> None:
    first = tree.redacted().compile(budget=Budget(400))
    again = tree.redacted().compile(budget=Budget(400))
    assert first.payload == again.payload
    assert again.report.compaction is None
