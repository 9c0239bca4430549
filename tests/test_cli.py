"""The command line: each verb does what it says, data on stdout, talk on stderr, and the four exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ctxtree.cli import main
from ctxtree.cli.app import app

LOG = Path(__file__).parent.parent / "examples" / "logs" / "coding-agent.jsonl"
CODE = "from ctxtree.cli import main; main()"
BROKEN = '{"role":"user","content":"hi"}\n{broken\n{"role":"assistant","content":"yes"}\n'


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CTXTREE_STORE", raising=False)
    monkeypatch.delenv("CTXTREE_TREE", raising=False)
    return tmp_path


@pytest.fixture
def talk(place: Path) -> None:
    """A tree of four messages, in the default store."""
    done("--tree", "parser", "add", "user", "Rewrite the parser by hand")
    done("add", "assistant", "Plan: recursive descent")
    done("mark", "HEAD", "--label", "plan")
    done("add", "user", "Try it")
    done("add", "assistant", "It overflows the stack")


def run(*words: str, stdin: str | None = None) -> Any:
    return CliRunner().invoke(app, words, input=stdin)


def done(*words: str, stdin: str | None = None) -> str:
    result = run(*words, stdin=stdin)
    assert result.exit_code == 0, (words, result.output, result.exception)
    return str(result.stdout)


def data(*words: str, stdin: str | None = None) -> Any:
    """The one JSON document that the verb prints."""
    return json.loads(done(*words, stdin=stdin))


def real(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", CODE, *words], input=stdin, capture_output=True, timeout=60, check=False
    )


def texts() -> list[str]:
    return [one["text"] for one in data("log", "--json")]


# -- compile and explain ---------------------------------------------------------------


def test_compile_prints_the_payload_on_stdout_and_one_line_on_stderr() -> None:
    result = real("compile", str(LOG))
    assert result.returncode == 0
    assert json.loads(result.stdout)["messages"]
    line = result.stderr.decode()
    assert line.count("\n") == 1
    found = re.match(r"openai\.chat: ([\d,]+) of 8,000 tokens; 81 nodes of ", line)
    assert found
    assert int(found[1].replace(",", "")) <= 8000


def test_a_dash_reads_standard_input_and_needs_no_store(place: Path) -> None:
    piped = real("compile", "-", stdin=LOG.read_bytes())
    assert piped.returncode == 0
    assert json.loads(piped.stdout) == data("compile", str(LOG))
    assert not list(place.iterdir())


@pytest.mark.parametrize(
    ("target", "key"),
    [("openai.responses", "input"), ("anthropic", "messages"), ("gemini", "contents"), ("text", "text")],
)
def test_compile_for_each_target(target: str, key: str) -> None:
    assert data("compile", str(LOG), "--target", target)[key]


@pytest.mark.parametrize("policy", ["hybrid", "window:2", "trim", "agent", "stable", '{"keep_turns": 1}'])
def test_compile_with_each_policy_stays_in_the_window(policy: str) -> None:
    report = data("compile", str(LOG), "--policy", policy, "--budget", "6000", "--reserve", "500", "--report")
    assert report["budget"]["window"] == 6000
    assert report["tokens"] <= 5500


def test_compile_takes_the_input_and_a_place(talk: None) -> None:
    made = data("compile", "--at", "plan", "--input", "Go on")
    assert [one["content"] for one in made["messages"]][-2:] == ["Plan: recursive descent", "Go on"]


def test_a_named_conversation_of_a_file() -> None:
    file = str(LOG.with_name("chatgpt-branches.json"))
    name = data("doctor", file, "--json")["conversations"][0]["tree"]
    assert data("compile", file, "--name", name)["messages"]
    assert "no conversation 'nope'" in failed("compile", file, "--name", "nope")


def test_explain_lists_the_items_and_gives_the_report_as_json() -> None:
    head, *rest = done("explain", str(LOG)).splitlines()
    assert head.split("\t")[:4] == ["zone", "kind", "level", "tokens"]
    report = data("explain", str(LOG), "--json")
    assert sum("\t" in line for line in rest) == len(report["items"])
    assert report["tokens"] == data("compile", str(LOG), "--report")["tokens"]


def test_turns_and_why_tell_of_past_compiles(talk: None) -> None:
    done("compile")
    assert [turn["seq"] for turn in data("turns", "--json")] == [1]
    assert done("turns").splitlines()[1].startswith("1\tmain\t")
    (story,) = data("why", "plan", "--json")
    assert (story["turn"], story["level"]) == (1, "full")
    assert "full" in done("why", "plan").splitlines()[1]


def test_count_of_a_file_and_of_standard_input(place: Path) -> None:
    (place / "a.txt").write_text("hello world")
    assert int(done("count", "a.txt")) == 2
    assert data("count", "-", "--json", stdin="hello world") == {"tokens": 2}


# -- logs and stores -------------------------------------------------------------------


def test_import_tells_what_was_skipped_and_a_second_import_adds_nothing(place: Path) -> None:
    (place / "small.jsonl").write_text(BROKEN)
    first = run("import", "small.jsonl")
    assert first.exit_code == 3
    assert "2 messages, 2 new" in first.stdout
    assert "1 left out" in first.stdout
    second = run("import", "small.jsonl", "--json")
    assert second.exit_code == 3
    (found,) = json.loads(second.stdout)[0]["conversations"]
    assert (found["messages"], found["added"], found["skipped"]) == (2, 0, 1)
    assert texts() == ["hi", "yes"]


def test_import_of_a_whole_log_exits_0_in_a_real_process(place: Path) -> None:
    assert real("--store", "x.db", "import", str(LOG), "--name", "mine").returncode == 0
    assert done("--store", "x.db", "trees").split() == ["mine"]
    (place / "small.jsonl").write_text(BROKEN)
    assert real("--store", "x.db", "import", "small.jsonl").returncode == 3


def test_strict_import_refuses(place: Path) -> None:
    (place / "small.jsonl").write_text(BROKEN)
    assert "small.jsonl:2" in failed("import", "small.jsonl", "--strict")


@pytest.mark.parametrize("json_", [[], ["--json"]])
def test_doctor_names_the_line_and_exits_3(place: Path, json_: list[str]) -> None:
    (place / "small.jsonl").write_text(BROKEN)
    result = run("doctor", "small.jsonl", *json_)
    assert result.exit_code == 3
    assert "bad_line" in result.stdout
    assert ('"line": 2' if json_ else "line 2 (byte ") in result.stdout


def test_doctor_and_verify_of_a_sound_store(talk: None) -> None:
    assert done("verify") == done("doctor") == ""
    assert run("verify").stderr == "0 problems\n"


def test_export_in_each_form(talk: None) -> None:
    assert len(data("export")) == 4
    assert len(data("export", "--format", "anthropic", "--at", "plan")["messages"]) == 2
    assert "Rewrite the parser by hand" in done("export", "--format", "markdown")
    assert "### user" in data("export", "--format", "markdown", "--json")
    assert data("export", "--format", "ctxtree")
    assert done("export", "--format", "dot").startswith("digraph")
    assert "-->" in done("export", "--format", "mermaid")


def test_formats_are_those_that_import_reads() -> None:
    assert done("formats").split() == data("formats", "--json")
    assert {"openai.chat", "anthropic", "pi"} <= set(data("formats", "--json"))


# -- saying and moving -----------------------------------------------------------------


def test_add_stores_below_the_head_and_reads_a_dash(talk: None) -> None:
    assert done("add", "user", "-", stdin="from a pipe").startswith("main: ")
    assert texts()[-2:] == ["It overflows the stack", "from a pipe"]


def test_fork_and_switch(talk: None) -> None:
    assert data("fork", "other", "plan", "--json")["branch"] == "other"
    assert texts()[-1] == "Plan: recursive descent"
    done("switch", "main")
    assert texts()[-1] == "It overflows the stack"
    assert {one["name"]: one["active"] for one in data("branches", "--json")} == {
        "main": True,
        "other": False,
    }


def test_edit_makes_a_sibling_and_keeps_the_old(talk: None) -> None:
    made = data("edit", "HEAD~1", "Try it on a small file", "--json")
    assert made["branch"] != "main"
    assert texts() == ["Rewrite the parser by hand", "Plan: recursive descent", "Try it on a small file"]
    assert data("show", "main", "--json")["message"]["parts"][0]["text"] == "It overflows the stack"


def test_retry_marks_the_attempt_and_goes_back(talk: None) -> None:
    done("retry", "--reason", "too deep")
    assert texts()[-1] == "Try it"
    assert data("show", "main", "--json")["marks"]["status"]["status"] == "failed"
    assert "too deep" in done("show", "main")


def test_find_moves_nothing_and_back_moves(talk: None) -> None:
    words = "go back to the plan with recursive descent"
    best = data("find", words, "--json")["candidates"][0]["node"]
    assert best == data("show", "plan", "--json")["id"]
    assert best[:8] in done("find", words).splitlines()[1]
    assert len(texts()) == 4
    result = run("back", words, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["node"] == best
    assert "score" in result.stderr
    assert texts()[-1] == "Plan: recursive descent"


def test_merge_brings_back_one_node(talk: None) -> None:
    done("fork", "other", "plan")
    done("add", "assistant", "A table works better")
    done("switch", "main")
    done("merge", "other", "--note", "Use a table")
    assert len(texts()) == 5
    assert "Use a table" in done("show", "HEAD")


def test_mark_pins_fails_and_labels(talk: None) -> None:
    assert done("mark", "HEAD", "--pin", "--label", "end", "--failed", "no good") == ""
    marks = data("mark", "end", "--json")["marks"]
    assert (marks["pin"], marks["label"], marks["status"]["reason"]) == (True, "end", "no good")


def test_what_was_done_and_not_undone_is_said_with_the_move(talk: None) -> None:
    done(
        "retry", "--reason", "too slow", "--effect", "the mail to Bob was sent", "--effect", "port 80 is open"
    )
    told = done("compile", "--budget", "2000")
    assert "done and not undone: the mail to Bob was sent, port 80 is open" in told
    done("mark", "main", "--undone")
    assert "not undone" not in done("compile", "--budget", "2000")
    assert run("retry", "--effect", "x", "--undone").exit_code == 2


def test_state_is_patched_with_json_or_words(talk: None) -> None:
    assert data("state") == {}
    done("state", "--set", "n=3", "--set", "who=me and you", "--set", "old=1")
    assert data("state", "--set", "old=null") == {"n": 3, "who": "me and you"}


def test_remember_and_facts(talk: None) -> None:
    assert done("remember", "Never touch prod", "--key", "prod") == "prod\n"
    (fact,) = data("facts", "--json")
    assert (fact["key"], fact["text"]) == ("prod", "Never touch prod")
    assert "prod\ttree\tNever touch prod" in done("facts")


def test_a_newer_fact_takes_the_old_ones_place_and_its_history_can_be_seen(talk: None) -> None:
    key = done("remember", "The deadline is Friday").strip()
    result = run("remember", "Deadline moved to Monday")
    assert (result.stdout.strip(), result.stderr) == (key, "in place of: The deadline is Friday\n")
    assert [row["text"] for row in data("facts", "--history", key, "--json")] == [
        "The deadline is Friday",
        "Deadline moved to Monday",
    ]
    done("forget", key)
    assert "(let go of)" in done("facts", "--history", key)


def test_a_fact_may_belong_to_a_branch_or_to_all_trees(talk: None) -> None:
    done("fork", "other", "plan")
    done("remember", "wants metric units", "--scope", "branch", "--key", "units")
    done("remember", "speaks German", "--scope", "store")
    assert {(row["scope"], row["text"]) for row in data("facts", "--json")} == {
        ("branch", "wants metric units"),
        ("store", "speaks German"),
    }
    done("forget", "units")
    assert [row["scope"] for row in data("facts", "--json")] == ["store"]
    assert run("remember", "x", "--scope", "galaxy").exit_code == 2


# -- looking ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", ["export", "export --format html", "compile", "compile --report", "explain", "log", "log --graph", "show HEAD", "tree", "diff HEAD~1 HEAD"]
)  # fmt: skip
def test_secrets_are_masked_if_asked_for(talk: None, words: str) -> None:
    done("add", "user", "use AKIA" + "ABCDEFGH12345678 and write to a@b.example")
    assert "AKIA" not in done(*words.split(), "--redact")
    assert "AKIA" not in done("--redact", *words.split())
    assert "a@b.example" not in done("--redact-also", "email", *words.split())
    assert "AKIA" in done("show", "HEAD")


def test_a_view_without_secrets_takes_no_words(talk: None) -> None:
    assert "only reads" in str(run("--redact", "add", "user", "x").exception)
    assert "nothing to mask is called 'phone'" in str(run("--redact-also", "phone", "log").exception)


def test_purge_erases_one_node_and_needs_a_reason(talk: None) -> None:
    assert run("purge", "plan").exit_code == 2
    assert done("purge", "plan", "--reason", "asked for").startswith("erased: ")
    assert "recursive descent" not in done("log")
    assert run("verify").exit_code == 0
    assert "only reads" in str(run("--redact", "purge", "HEAD", "--reason", "x").exception)


def test_trees_are_exported_to_a_folder(talk: None, place: Path) -> None:
    done("--tree", "../other", "add", "user", "password: hunter2x")
    files = data("export", "--to", "out", "--format", "html", "--redact", "--json")
    assert sorted(files) == sorted(str(file) for file in Path("out").iterdir())
    assert len(files) == 2
    assert "hunter2x" not in "".join(Path(file).read_text() for file in files)
    assert done("--tree", "parser", "export", "--to", "one").splitlines() == [
        str(Path("one") / "parser.json")
    ]


def test_diff_tells_both_sides(talk: None) -> None:
    done("fork", "other", "plan")
    done("add", "user", "Another way")
    found = data("diff", "main", "other", "--json")
    assert found["ancestor"] == data("show", "plan", "--json")["id"]
    assert (len(found["left"]), len(found["right"])) == (2, 1)
    lines = done("diff", "main", "other").splitlines()
    assert [line[3] for line in lines if line[3] in "<>"] == ["<", "<", ">"]
    assert lines[0] == "⋮ 1 node in common"
    assert "user: Another way" in lines[-1]


def test_show_gives_the_whole_text(talk: None) -> None:
    done("add", "user", "one\n### two\nthree")
    assert "one\n### two\nthree" in done("show", "HEAD")


def test_foreign_control_characters_never_reach_the_terminal(talk: None) -> None:
    done("add", "user", "a\x1b[2Jb")
    assert "\x1b" not in done("show", "HEAD") + done("log") + done("tree", "--all")


def test_log_shows_the_newest_last(talk: None) -> None:
    assert [line.split("\t")[2] for line in done("log", "--limit", "2").splitlines()[1:]] == [
        "Try it",
        "It overflows the stack",
    ]
    assert len(data("log", "--limit", "3", "--json")) == 3


def test_tree_draws_forks_heads_and_labels(talk: None) -> None:
    done("fork", "other", "plan")
    done("add", "user", "Another way")
    whole = done("tree", "--all")
    assert whole.count("● ") == len(data("tree", "--json")) == 5
    assert "├─● " in whole
    assert "[plan]" in whole
    assert "(other ← active)" in whole
    assert "(main)" in whole


def long_talk() -> None:
    said = [{"role": "user" if n % 2 else "assistant", "content": f"step {n}"} for n in range(60)]
    Path("long.jsonl").write_text("\n".join(map(json.dumps, said)))
    done("import", "long.jsonl", "--name", "long")


def test_tree_folds_long_runs_of_single_steps() -> None:
    long_talk()
    assert "⋮ 55 nodes" in done("--tree", "long", "tree")
    assert done("--tree", "long", "tree", "--all").count("● ") == 60


def test_tree_draws_a_page_and_tells_of_the_others() -> None:
    long_talk()
    page = run("--tree", "long", "tree", "--all", "--limit", "25", "--page", "2")
    assert page.stdout.count("● ") == 25
    assert page.stderr.startswith("… page 2 of 3; 35 lines with 35 nodes are on the others: --page 3 goes on")
    assert run("--tree", "long", "tree", "--page", "9").exit_code != 0


def test_tree_and_log_show_one_branch_one_kind_one_status(talk: None) -> None:
    done("retry", "--reason", "too deep")
    done("add", "assistant", "Use an explicit stack")
    assert "too deep" in done("tree", "--status", "failed")
    assert done("tree", "--kind", "user").count("● ") == 2
    assert "explicit" not in done("tree", "--branch", "main")
    assert len(data("tree", "--branch", "main", "--json")) == 4
    assert [one["text"] for one in data("log", "--kind", "assistant", "--branch", "main", "--json")][1:] == [
        "It overflows the stack"
    ]
    assert run("tree", "--kind", "robot").exception is not None


def test_log_draws_all_branches_as_lanes(talk: None) -> None:
    done("fork", "other", "plan")
    done("add", "user", "Another way")
    drawn = done("log", "--graph").splitlines()
    assert "Another way" in drawn[0]
    assert drawn[3] == "├─╯"
    assert len(data("log", "--graph", "--json")) == 5
    short = run("log", "--graph", "--limit", "2")
    assert len(short.stdout.splitlines()) == 2
    assert short.stderr == "… 3 nodes before these; --limit 0 draws all\n"


def test_trees_and_the_tree_used_last(talk: None) -> None:
    done("--tree", "second", "add", "user", "elsewhere")
    assert set(done("trees").split()) == {"parser", "second"}
    assert texts() == ["elsewhere"]
    assert len(data("--tree", "parser", "log", "--json")) == 4


def test_the_environment_names_store_and_tree(talk: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXTREE_STORE", "other.db")
    monkeypatch.setenv("CTXTREE_TREE", "env")
    done("add", "user", "here")
    assert data("trees", "--json") == ["env"]
    assert Path("other.db").exists()


def test_recall_gives_the_whole(talk: None) -> None:
    assert done("recall", "plan") == "Plan: recursive descent\n"
    assert data("recall", "plan", "--json")["text"] == "Plan: recursive descent"


VERBS = [
    "compile", "compile --report", "explain", "why plan", "plan", "turns", "count text.txt", "import small.jsonl",
    "export", "export --format markdown", "export --format mermaid", "formats", "doctor", "doctor small.jsonl",
    "verify", "trees", "branches", "tree", "tree --all", "log", "log --graph", "tree --kind user", "export --to out",
    "show plan", "diff plan HEAD", "recall plan",
    "facts", "add user words", "fork other plan", "switch main", "edit plan words", "retry",
    "back plan", "find plan", "merge side", "pick side", "mark plan --pin", "state --set a=1", "remember words",
    "forget prod", "purge plan --reason asked",
]  # fmt: skip


def test_every_verb_stands_in_the_list() -> None:
    assert {verb.split()[0] for verb in VERBS} == {command.name for command in app.registered_commands}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_json_before_and_after_the_verb(talk: None, place: Path, verb: str, first: bool) -> None:
    (place / "text.txt").write_text("some words")
    (place / "small.jsonl").write_text(
        '{"role":"user","content":"hi"}\n{"role":"assistant","content":"yes"}\n'
    )
    done("fork", "side", "plan")
    done("add", "assistant", "a side")
    done("switch", "main")
    done("remember", "Never touch prod", "--key", "prod")
    words = [
        "go back to the plan" if word == "plan" and verb[:4] == "back" else word for word in verb.split()
    ]
    json.loads(done("--json", *words) if first else done(*words, "--json"))


# -- errors ----------------------------------------------------------------------------


def failed(*words: str) -> str:
    """The one line on stderr of a command that exits 1 and prints nothing else."""
    result = real(*words)
    error = result.stderr.decode()
    assert (result.returncode, result.stdout) == (1, b""), error
    assert error.startswith("ctxtree: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["show", "nope"], "'nope'"),
        (["switch", "nope"], "no branch"),
        (["merge", "nope"], "no branch"),
        (["recall", "a\nb"], "no branch"),
        (["fork", "main"], "already"),
        (["back", "hello"], "no move"),
        (["add", "nobody", "x"], "role"),
        (["remember", " "], "words"),
        (["--tree", "nope", "log"], "no tree 'nope'"),
        (["--store", "no/such/x.db", "trees"], "x.db"),
        (["compile", "--policy", "bad"], "no policy 'bad'"),
        (["compile", "--policy", "window:x"], "window"),
        (["compile", "--policy", "{bad"], "policy"),
        (["compile", "--policy", '{"x": 1}'], "x"),
        (["compile", "--budget", "4"], "needs at least"),
        (["compile", "--budget", "0"], "window"),
        (["compile", "--budget", "9", "--reserve", "9"], "reserve"),
        (["compile", "--target", "nope"], "target 'nope'"),
        (["compile", "nope.jsonl"], "nope.jsonl"),
        (["doctor", "nope.jsonl"], "nope.jsonl"),
        (["import", "nope.jsonl"], "nope.jsonl"),
        (["import", str(LOG), "--format", "nope"], "no known format"),
        (["export", "--format", "nope"], "no export format"),
        (["count", "nope.txt"], "nope.txt"),
        (["forget", "nope"], "no fact 'nope'"),
        (["fork", "main"], "already a branch 'main'"),
    ],
)
def test_an_error_is_one_line_and_exit_1(
    talk: None,
    words: list[str],
    part: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["ctxtree", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    out, error = capsys.readouterr()
    assert (stop.value.code, out) == (1, "")
    assert error.startswith("ctxtree: ")
    assert error.count("\n") == 1
    assert part in error


def test_forget_takes_a_fact_back(talk: None) -> None:
    done("remember", "Never touch prod", "--key", "prod")
    done("forget", "prod")
    assert data("facts", "--json") == []


def test_a_broken_file_stops_no_other_import(place: Path) -> None:
    (place / "good.jsonl").write_text('{"role":"user","content":"hi"}\n')
    (place / "bad.bin").write_bytes(bytes(range(256)))
    result = real("import", "bad.bin", "good.jsonl")
    assert result.returncode == 1
    assert result.stdout.decode().startswith("good: 1 messages, 1 new")
    assert "bad.bin" in result.stderr.decode()


def test_compile_of_a_log_with_a_broken_record_exits_3_with_the_request(place: Path) -> None:
    (place / "part.jsonl").write_text(BROKEN)
    result = real("compile", "part.jsonl")
    assert result.returncode == 3
    assert [m["content"] for m in json.loads(result.stdout)["messages"]] == ["hi", "yes"]
    assert "1 records left out" in result.stderr.decode()


def test_a_choice_on_a_terminal_marks_what_was_left(talk: None, monkeypatch: pytest.MonkeyPatch) -> None:
    done("add", "user", "Draft the database plan")
    done("add", "assistant", "The database plan: tables")
    done("add", "user", "Draft the database plan again")
    done("add", "assistant", "The database plan: documents")
    left = data("log", "--json")[-1]["id"]
    monkeypatch.setattr("ctxtree.cli.moving._on_terminal", lambda: True)
    result = run("back", "go back to the database plan", "--reason", "too slow", stdin="1\n")
    assert result.exit_code == 0, result.output
    assert data("show", left, "--json")["marks"]["status"] == {"status": "failed", "reason": "too slow"}


def test_an_empty_store_asks_for_a_name(place: Path) -> None:
    assert "--tree NAME" in failed("add", "user", "hi")


def test_an_unclear_way_back_lists_the_candidates_and_moves_nothing(place: Path) -> None:
    done("--tree", "t", "add", "user", "Draft the database plan")
    done("add", "assistant", "The database plan: tables")
    done("add", "user", "Draft the database plan again")
    done("add", "assistant", "The database plan: documents")
    result = real("back", "go back to the database plan")
    assert result.returncode == 1
    lines = result.stderr.decode().splitlines()
    assert lines[0].startswith("1. ")
    assert lines[-1].startswith("ctxtree: ")
    assert len(texts()) == 4


@pytest.mark.parametrize(
    "words",
    [
        ["nope"], ["add"], ["add", "user"], ["import"], ["show"], ["compile", "--budget", "many"],
        ["log", "--nope"], ["log", "--limit", "0"], ["turns", "--limit", "-1"], ["state", "--set", "bad"],
    ],
)  # fmt: skip
def test_a_usage_error_exits_2(talk: None, words: list[str]) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_a_real_usage_error_and_help() -> None:
    assert real("nope").returncode == 2
    result = real("--help")
    assert result.returncode == 0
    assert b"compile" in result.stdout


def test_a_real_error_in_a_real_process(talk: None) -> None:
    assert "'nope'" in failed("show", "nope")
    assert "no policy" in failed("compile", "--policy", "bad")
    assert "raise the window" in failed("compile", "--budget", "4")


def test_a_reader_that_stops_early_is_no_crash() -> None:
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run(
        [sys.executable, "-c", CODE, "compile", str(LOG)], stdout=write, stderr=subprocess.PIPE, timeout=60, check=False
    )  # fmt: skip
    os.close(write)
    assert b"Traceback" not in result.stderr


def test_a_move_back_can_be_undone(talk: None) -> None:
    before = json.loads(run("log", "--json").stdout)
    run("back", "go back to the plan with recursive descent", "--json")
    assert run("back", "--undo", "--json").exit_code == 0
    assert json.loads(run("log", "--json").stdout) == before
    assert run("back").exit_code != 0


def test_pick_copies_and_diff_tells_the_state_of_both(talk: None) -> None:
    done("fork", "other", "plan")
    done("add", "user", "Another way")
    done("state", "--set", "n=3")
    done("switch", "main")
    done("state", "--set", "n=1")
    assert done("diff", "main", "other").splitlines()[-2:] == ["< state n: 1", "> state n: 3"]
    assert data("diff", "main", "other", "--json")["state"] == [
        {"field": ["n"], "base": None, "left": 1, "right": 3}
    ]
    assert done("pick", "other~1").rstrip().endswith("user: Another way")
    assert texts()[-1] == "Another way"
    result = run("merge", "other")
    assert result.stderr == "state conflict: n stays 1; other has 3\n"
