"""A whole tree as one file: nothing lost, the same bytes again, and as its schema says."""

from __future__ import annotations

import io
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ctxtree
from ctxtree import FormatError, Store, ToolCall, whole
from ctxtree.importers import read
from ctxtree.model import Message, lean
from tests.importers.logs import FIXTURES

FILE = FIXTURES / "ctxtree.json"
SCHEMA: dict[str, Any] = json.loads(files("ctxtree").joinpath("tree.schema.json").read_bytes())


def text(store: Store, name: str) -> str:
    return "".join(whole.as_text(store._database, store._database.tree(name)))


def again(raw: str, strict: bool = False) -> str:
    """What is written after a file was read into an empty store, and read again."""
    with ctxtree.connect(":memory:") as store:
        first = store.import_file(io.BytesIO(raw.encode()), strict=strict)
        second = store.import_file(io.BytesIO(raw.encode()))
        assert (second.added, first.skipped) == (0, 0)
        return text(store, first.conversations[0].tree)


def busy(store: Store, billed: bool = True) -> str:
    """A tree with everything that one can hold."""
    tree = store.tree("busy 树", system="Be exact.")
    asked = tree.user("Read a.py. 不要动 b.py。")
    tree.assistant(
        "", calls=[ToolCall(id="c1", name="read", arguments={"b": 1, "a": [None, 1.5, "é\u2028"]})]
    )
    tree.tool("c1", "x" * 9_000)
    done = tree.assistant("It is read.")
    tree.append({"role": "user", "content": "again"}, key="key-1")
    tree.label(done, "read")
    tree.fail(done, "wrong file")
    tree.mark(done, status="ok")
    tree.fail(done, "wrong file")
    tree.patch_state({"step": 1, "gone": None})
    for number in range(30):
        tree.user(f"question {number} " + "and words " * 40)
        tree.assistant(f"answer {number} " + "and more words " * 40)
    context = tree.compile(budget=3_000)
    if billed:
        tree.record_usage(tree.path()[-1], {"prompt_tokens": 2_900, "completion_tokens": 10}, context)
    tree.remember("b.py stays", key="b")
    tree.remember("b.py stays as it is", key="b")
    tree.remember("here the port is 5432", key="port", scope="branch")
    tree.remember("gone", key="g")
    tree.forget("g")
    tree.retry("too long")
    tree.assistant("shorter")
    tree.fork("side", asked)
    tree.assistant("beside")
    tree.switch("main")
    tree.merge("side")
    store.purge(done.id, "asked to", tree.name)
    tree = store.tree(tree.name)
    tree.compile(budget=3_000)
    tree.backtrack("undo the last step")
    store.prune_turns(1)
    return tree.name


def test_a_busy_tree_is_the_same_bytes_after_a_journey_and_fits_its_schema() -> None:
    with ctxtree.connect(":memory:") as store:
        name = busy(store)
        raw = text(store, name)
        assert again(raw) == again(again(raw, strict=True)) == raw
        assert json.loads(raw) == json.loads(json.dumps(store.tree(name).export("ctxtree")))
    value = json.loads(raw)
    assert all(value[key] for key in whole.LISTS)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(value, SCHEMA, format_checker=jsonschema.FormatChecker())


def test_a_restored_tree_compiles_to_the_same_request_and_tells_the_same_story() -> None:
    with ctxtree.connect(":memory:") as store, ctxtree.connect(":memory:") as other:
        name = busy(store, billed=False)  # what bills teach about a model is the store's
        other.import_file(io.BytesIO(text(store, name).encode()))
        one, two = store.tree(name), other.tree(name)
        assert (one.branch, one.head, one.state, one.facts) == (two.branch, two.head, two.state, two.facts)
        assert one.branches() == two.branches()
        assert one.turns() == two.turns()
        place = one.turns()[-1].node
        before, after = (tree.compile(place, budget=3_000, record=False) for tree in (one, two))
        assert before.payload == after.payload
        assert before.report.compaction is None
        assert [problem.code for problem in other.verify()] == ["erased"]
        said = {"role": "user", "content": "again"}
        assert two.append(said, key="key-1").id == one.append(said, key="key-1").id
        assert set(two.graph().nodes) == set(one.graph().nodes)


def test_the_fixture_is_what_this_version_writes() -> None:
    raw = FILE.read_text(encoding="utf-8")
    assert again(raw) == raw
    jsonschema.validate(json.loads(raw), SCHEMA, format_checker=jsonschema.FormatChecker())


def test_the_schema_describes_messages_as_they_are() -> None:
    model = Message.model_json_schema(ref_template="#/$defs/{model}")
    definitions = model.pop("$defs")
    assert SCHEMA["$defs"]["Message"] == model
    assert {name: SCHEMA["$defs"][name] for name in definitions} == definitions


@pytest.mark.parametrize("field", ["nodes", "marks", "branches", "turns"])
def test_the_schema_refuses_what_is_none(field: str) -> None:
    value = json.loads(FILE.read_text(encoding="utf-8"))
    value[field][0]["extra"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, SCHEMA)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_file_that_another_tool_has_laid_out_is_read(indent: int | None) -> None:
    raw = FILE.read_text(encoding="utf-8")
    assert again(json.dumps(json.loads(raw), indent=indent)) == raw


def test_a_tree_that_is_there_gets_what_is_new_and_keeps_what_it_has() -> None:
    raw = FILE.read_text(encoding="utf-8")
    with ctxtree.connect(":memory:") as store:
        store.import_file(io.BytesIO(raw.encode()))
        tree = store.tree("oak")
        tree.user("said since")
        head = tree.head
        tree.label(tree.path()[1], "mine")
        report = store.import_file(io.BytesIO(raw.encode()))
        assert report.added == 0
        assert store.tree("oak").head == head
        assert store.tree("oak").marks(tree.path()[1])["label"] == "mine"
        assert not [problem for problem in store.verify() if problem.code != "erased"]


def test_an_import_that_broke_off_is_completed_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    with ctxtree.connect(":memory:") as store:
        raw = text(store, busy(store))
    with ctxtree.connect(":memory:") as store:
        with monkeypatch.context() as patched:
            patched.setattr(type(store._database), "put_branches", _broken)
            with pytest.raises(KeyboardInterrupt):
                store.import_file(io.BytesIO(raw.encode()))
        store.import_file(io.BytesIO(raw.encode()))
        assert text(store, "busy 树") == raw


def _broken(*_: Any) -> int:
    raise KeyboardInterrupt


def test_a_damaged_file_gives_what_is_whole_and_names_the_rest() -> None:
    value = json.loads(FILE.read_text(encoding="utf-8"))
    value["nodes"][4]["message"]["parts"][0]["text"] = "Plan A: something else."
    with ctxtree.connect(":memory:") as store:
        report = store.import_file(io.BytesIO(json.dumps(value, indent=1).encode()))
        (one,) = report.conversations
        assert report.skipped > 1
        assert "does not have the id that its content gives" in one.issues[0].message
        assert {problem.code for problem in store.verify()} <= {"erased"}
    raw = FILE.read_text(encoding="utf-8")
    with ctxtree.connect(":memory:") as store:
        report = store.import_file(io.BytesIO(raw[: raw.index('"marks"')].encode()))
        assert (report.added, report.skipped) == (10, 1)
        assert report.issues[0].code == "truncated_line"


def test_another_version_is_refused() -> None:
    raw = FILE.read_text(encoding="utf-8").replace('"version": 1', '"version": 7', 1)
    with ctxtree.connect(":memory:") as store, pytest.raises(FormatError, match="version 7"):
        store.import_file(io.BytesIO(raw.encode()))


def test_its_messages_can_be_read_without_a_store() -> None:
    (conversation,) = read(FILE)
    drafts = {draft.source: draft for draft in conversation.drafts}
    assert len(drafts) == 10
    assert conversation.head in drafts
    assert conversation.name == "oak"


def test_a_tree_of_many_nodes_is_written_and_read_in_pieces(tmp_path: Path) -> None:
    with ctxtree.connect(tmp_path / "a.db") as store:
        tree = store.tree("long")
        tree.extend([{"role": ("user", "assistant")[n % 2], "content": f"{n} words"} for n in range(2_600)])
        for node in tree.path()[::3]:
            tree.pin(node)
        pieces = list(whole.as_text(store._database, store._database.tree("long")))
        assert max(map(len, pieces)) < 1_000
        raw = "".join(pieces)
    steps: list[int] = []
    with ctxtree.connect(tmp_path / "b.db") as store:
        store.import_file(io.BytesIO(raw.encode()), progress=lambda _name, count: steps.append(count))
        assert text(store, "long") == raw
    assert steps[:2] == [1_000, 2_000]


def test_a_masked_tree_is_a_sound_tree_without_the_words() -> None:
    def hide(value: Any) -> Any:
        return json.loads(json.dumps(value).replace("oak", "***"))

    held = json.loads(FILE.read_text(encoding="utf-8"))
    made = whole.masked(held, lambda message: Message.model_validate(hide(lean(message))), hide)
    raw = json.dumps(made)
    assert "oak" not in raw
    assert (len(made["nodes"]), len(made["marks"]), made["turns"]) == (10, len(held["marks"]), [])
    jsonschema.validate(made, SCHEMA)
    with ctxtree.connect(":memory:") as store:
        report = store.import_file(io.BytesIO(raw.encode()), strict=True)
        assert (report.added, report.skipped) == (10, 0)
        assert [problem.code for problem in store.verify()] == ["erased"]
        assert store.tree("***").path()[1].text == "Plan the garden. Never cut the ***."


def test_siblings_that_a_mask_makes_equal_stay_apart() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        first = tree.user("one")
        tree.edit(first, "two")
        held = tree.export("ctxtree")
    made = whole.masked(held, lambda message: Message.of(message.role, "*"), lambda value: value)
    assert [node["attempt"] for node in made["nodes"]] == [0, 1]
