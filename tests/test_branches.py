"""Branches: nothing leaks, nothing is lost, nothing moves by itself."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ctxtree
from ctxtree import Budget, CtxtreeError, NotFound, TargetError, ToolCall, Tree
from tests.cases.terms import texts
from tests.validity import violations

BODY = "one two three four five six seven eight nine ten " * 4


def twenty(tree: Tree) -> dict[str, str]:
    """Twenty exchanges; the ids of u1, a1, …, a20."""
    ids = {}
    for turn in range(1, 21):
        ids[f"u{turn}"] = tree.user(f"question {turn}: {BODY}").id
        ids[f"a{turn}"] = tree.assistant(f"answer {turn}: {BODY}").id
    return ids


def test_going_back_before_a_compaction_gives_the_original_words_and_no_summary() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("s4")
        ids = twenty(tree)
        tip = tree.compile(budget=Budget(1_500))
        assert tip.report.compaction is not None
        tree.fork("back", at=ids["a3"])
        early = texts(tree.compile(budget=Budget(1_500)).payload)
        assert "answer 3" in early
        assert "question 4" not in early
        assert "[summary" not in early
        tree.switch("main")
        assert tree.compile(budget=Budget(1_500)).payload == tip.payload


def test_a_fork_at_the_tip_shares_the_compaction() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("s4b")
        twenty(tree)
        tip = tree.compile(budget=Budget(1_500))
        tree.fork("same")
        again = tree.compile(budget=Budget(1_500))
        assert again.payload == tip.payload
        assert again.report.compaction is None


def test_two_branches_written_in_turn_never_leak_into_each_other(tmp_path: Path) -> None:
    with ctxtree.connect(tmp_path / "leak.db") as store:
        left = store.tree("leak")
        left.user("shared")
        right = store.tree("leak")
        right.fork("right")
        for number in range(5):
            left.assistant(f"LEFT-{number}")
            right.assistant(f"RIGHT-{number}")
        before = left.compile(budget=4_000).payload
        right.user("more on the right")
        assert left.compile(budget=4_000).payload == before
    with ctxtree.connect(tmp_path / "leak.db") as store:
        tree = store.tree("leak")
        tree.switch("main")
        assert "RIGHT" not in texts(tree.compile(budget=4_000).payload)
        tree.switch("right")
        assert "LEFT" not in texts(tree.compile(budget=4_000).payload)


@pytest.mark.parametrize("target", ["openai.chat", "openai.responses", "anthropic", "gemini"])
def test_every_cut_through_a_batch_of_calls_is_valid(target: str) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("s6")
        tree.user("read all")
        calls = [ToolCall(id=f"c{n}", name="read", arguments={"path": f"{n}.py"}) for n in range(3)]
        tree.assistant("reading", calls=calls)
        for number in range(3):
            tree.tool(f"c{number}", f"body {number} " * 100)
        tree.assistant("done")
        tree.user("and now?")
        path = tree.path()
        least = 0
        for index, node in enumerate(path):
            made = tree.compile(node, budget=4_000, target=target, input="go on" if index % 2 else None)
            assert not violations(target, made.payload), index
        for window in range(1, made.report.tokens + 50, 7):
            try:
                made = tree.compile(budget=window, target=target)
            except CtxtreeError:
                least = window
                continue
            assert not violations(target, made.payload), window
        assert least


def test_a_retry_tells_the_failure_in_one_line_and_a_second_one_both() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("s7")
        tree.user("fix it")
        for number, reason in enumerate(["the lexer way breaks f-strings", "the regex way is too slow"]):
            tree.assistant(
                f"try {number}", calls=[ToolCall(id=f"c{number}", name="pytest", arguments={"n": number})]
            )
            noise = "\n".join(f"line {n}" for n in range(200))
            tree.tool(f"c{number}", f"{noise}\nImportError: foo{number}", error=True)
            tree.retry(reason=reason)
        made = tree.compile(budget=4_000)
        text = texts(made.payload)
        assert text.count("[dead end") == 2
        assert text.index("foo0") < text.index("foo1")
        assert "line 100" not in text
        assert sum(item.tokens for item in made.report.items if item.kind == "dead_end") <= 200


def test_an_empty_branch_can_be_listed_switched_to_and_reopened(tmp_path: Path) -> None:
    with ctxtree.connect(tmp_path / "empty.db") as store:
        store.tree("s8")
    with ctxtree.connect(tmp_path / "empty.db") as store:
        tree = store.tree("s8")
        assert tree.head is None
        assert [branch.name for branch in tree.branches()] == ["main"]
        with pytest.raises(TargetError) as caught:
            tree.compile(budget=1_000)
        assert caught.value.code == "no_user_turn"
        assert tree.compile(budget=1_000, input="hello").payload["messages"] == [
            {"role": "user", "content": "hello"}
        ]


def test_the_head_survives_a_restart_and_a_second_writer_gets_a_branch(tmp_path: Path) -> None:
    with ctxtree.connect(tmp_path / "head.db") as store:
        tree = store.tree("s9")
        first = tree.user("one")
        tree.assistant("two")
        tree.fork("old", at=first)
    with ctxtree.connect(tmp_path / "head.db") as store:
        one, two = store.tree("s9"), store.tree("s9")
        assert one.head == two.head
        assert one.branch == "old"
        one.assistant("from one")
        with pytest.warns(UserWarning, match="another writer"):
            two.assistant("from two")
        assert (one.branch, two.branch) == ("old", "old.2")
        assert not store.verify()


def test_a_later_turn_leaves_the_earlier_messages_as_they_were() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("s14")
        for turn in range(10):
            tree.user(f"ask {turn}")
            tree.assistant(f"say {turn}")
        before = tree.compile(budget=8_000, policy=ctxtree.Policy.stable()).payload["messages"]
        tree.user("next")
        made = tree.compile(budget=8_000, policy=ctxtree.Policy.stable())
        assert made.payload["messages"][: len(before)] == before
        assert made.report.prefix.break_at == -1
        assert made.report.prefix.stable_tokens > 0


def test_a_late_result_goes_to_its_call_and_not_to_the_active_branch() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("late")
        asked = tree.user("x")
        call = tree.assistant(None, calls=[ToolCall(id="c1", name="bash")])
        tree.fork("other", at=asked)
        tree.assistant("a different answer")
        result = tree.tool("c1", "late")
        assert result.parent == call.id
        assert "late" not in texts(tree.compile(budget=1_000).payload)


def test_a_list_sent_again_adds_only_its_new_tail_and_an_edit_becomes_a_branch() -> None:
    said = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("sync", system="SYS")
        assert len(tree.sync(said)) == 3
        assert tree.sync(said) == ()
        assert len(tree.sync([*said, {"role": "assistant", "content": "d"}])) == 1
        assert tree.branch == "main"
        tree.sync([said[0], {"role": "assistant", "content": "B"}])
        assert tree.branch == "main.2"
        assert [node.text for node in tree.path()] == ["SYS", "a", "B"]
        tree.switch("main")
        assert [node.text for node in tree.path()] == ["SYS", "a", "b", "c", "d"]


def test_state_follows_the_branch() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("state")
        tree.user("go")
        tree.set_state(step=1, slots={"city": "Oslo"})
        here = tree.assistant("ok")
        tree.patch_state({"step": 2, "slots": {"city": None}})
        assert tree.state == {"step": 2, "slots": {}}
        tree.fork("before", at=here)
        assert tree.state == {"step": 1, "slots": {"city": "Oslo"}}


def test_names_are_data_and_missing_things_are_named() -> None:
    with ctxtree.connect(":memory:") as store:
        for name in ("../outside", "/etc/passwd", "a\\..\\x", "名字", "'; drop table nodes; --"):
            store.tree(name).user("hi")
        assert len(store.trees()) == 5
        with pytest.raises(NotFound):
            store.tree("名字").switch("nowhere")
        with pytest.raises(CtxtreeError):
            store.tree("名字").fork("deadbeef00")


def test_a_loss_free_export_holds_every_node_and_a_graph_every_link() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("out")
        first = tree.user("one")
        tree.assistant("two")
        tree.edit(first, "uno")
        whole = tree.export("ctxtree")
        assert json.loads(json.dumps(whole)) == whole
        assert {node["id"] for node in whole["nodes"]} == set(tree.graph().nodes)
        assert tree.graph().number_of_nodes() == 3


def _append_for_ever(url: str, name: str, pipe: object) -> None:
    with ctxtree.connect(url) as store:
        tree = store.tree("kill")
        tree.fork(name)
        for number in range(100_000):
            node = tree.user(f"{name} {number}")
            os.write(pipe.fileno(), f"{node.id}\n".encode())  # type: ignore[attr-defined]


def kill_twice(path: Path, rounds: int) -> int:
    """Kill two appending processes `rounds` times; the number of acknowledged nodes, all of which are there."""
    acknowledged: set[str] = set()
    context = multiprocessing.get_context("spawn")
    with ctxtree.connect(path) as store:
        store.tree("kill").user("start")
    for turn in range(rounds):
        reader, writer = context.Pipe(duplex=False)
        workers = [
            context.Process(target=_append_for_ever, args=(str(path), f"w{turn}-{n}", writer))
            for n in range(2)
        ]
        for worker in workers:
            worker.start()
        writer.close()
        data = b""
        while data.count(b"\n") < 20 + turn % 7:
            data += os.read(reader.fileno(), 4096)
        for worker in workers:
            worker.kill()
        while chunk := os.read(reader.fileno(), 65_536):
            data += chunk
        for worker in workers:
            worker.join()
        acknowledged |= {line for line in data.decode().split("\n") if len(line) == 64}
        reader.close()
    with ctxtree.connect(path) as store:
        held = set(store.tree("kill").graph().nodes)
        assert acknowledged <= held
        assert not store.verify()
    return len(acknowledged)


def test_killing_the_writers_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    assert kill_twice(tmp_path / "kill.db", 3) >= 60


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, ctxtree; "
        "print([m for m in ('networkx', 'sqlalchemy', 'typer', 'tiktoken', 'rich', 'alembic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


if __name__ == "__main__":
    print(kill_twice(Path(sys.argv[1]), int(sys.argv[2])), "acknowledged, all there")
