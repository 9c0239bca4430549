"""A folder of exports: whatever a tree is called, its file lies in the folder and nothing outside is touched."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxtree
from ctxtree import NotFound, StoreError
from ctxtree.folders import file_name, write_all

HOSTILE = (
    "../outside", "..", "/etc/passwd", "a/../../x", "a\\..\\..\\x", "C:\\x", "id\0.json", ".", " ", "CON", "con.txt", "x" * 300, "名字",
    "a%2f..%2fb", "%s%n", "'; DROP TABLE nodes; --", "[red]x[/red]", "a\nb", "\u202egnp.exe", "~", "-rf", "A", "a", "é", "e\u0301", "a ", "😀" * 200,
)  # fmt: skip


@given(st.text(max_size=300))
def test_a_name_is_one_plain_step_on_any_system(name: str) -> None:
    made = file_name(name)
    assert made
    assert made == os.path.basename(made)
    assert not set(made) & set('/\\:*?"<>|\0 \n')
    assert made[0] not in ".-"
    assert not made.endswith(".")
    assert ".." not in made
    assert len(made.encode()) < 250


def test_different_names_get_different_files_also_where_case_means_nothing() -> None:
    taken: set[str] = set()
    made = [file_name(name, taken).casefold() for name in HOSTILE]
    assert len(set(made)) == len(made)
    assert file_name("名字") == "名字"
    assert file_name("parser-2.1") == "parser-2.1"
    assert file_name("CON").startswith("CON-")


def test_trees_of_hostile_names_are_written_inside_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "D"
    with ctxtree.connect(":memory:") as store:
        for name in HOSTILE:
            if name.strip():
                store.tree(name).user(f"I am {name}")
        files = store.export(folder, "openai.chat")
        assert len(files) == len(set(files)) == len(store.trees())
        assert {file.resolve().parent for file in files} == {folder.resolve()}
        assert sorted(folder.iterdir()) == sorted(files)
        assert sorted(tmp_path.rglob("*")) == sorted([tmp_path / "deep", folder, *files])
        for name, file in zip(store.trees(), files, strict=True):
            assert json.loads(file.read_text("utf-8"))[0]["content"].encode(
                "utf-8", "replace"
            ) == f"I am {name}".encode("utf-8", "replace")


def test_a_link_in_the_folder_is_replaced_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("precious")
    folder = tmp_path / "D"
    folder.mkdir()
    (folder / "talk.md").symlink_to(outside)
    with ctxtree.connect(":memory:") as store:
        store.tree("talk").user("hi")
        (file,) = store.export(folder)
        assert outside.read_text() == "precious"
        assert not file.is_symlink()
        assert "hi" in file.read_text()
        assert store.export(folder) == (file,)
        assert list(folder.iterdir()) == [file]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "D" / "talk.md").mkdir(parents=True)
    with ctxtree.connect(":memory:") as store:
        store.tree("talk").user("hi")
        with pytest.raises(StoreError, match="cannot be written"):
            store.export(tmp_path / "file")
        with pytest.raises(StoreError, match="cannot be written"):
            store.export(tmp_path / "D")
        assert list((tmp_path / "D").iterdir()) == [tmp_path / "D" / "talk.md"]
        with pytest.raises(NotFound):
            store.export(tmp_path / "E", trees=["nope"])


def test_only_the_named_trees_and_without_secrets(tmp_path: Path) -> None:
    with ctxtree.connect(":memory:") as store:
        store.tree("a").user("password: hunter2x")
        store.tree("b").user("nothing")
        (file,) = store.export(tmp_path, "html", trees=["a"], redact=True)
    assert file.name == "a.html"
    assert "hunter2x" not in file.read_text()
    assert write_all(tmp_path / "none", "html", []) == ()
