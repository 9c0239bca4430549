"""add, fork, switch, edit, retry, back, find, merge, mark, state, remember: saying and moving."""

from __future__ import annotations

import json as json_text
import sys

import typer

from ctxtree.cli import show
from ctxtree.cli.compiling import JSON
from ctxtree.cli.opening import tree_of
from ctxtree.drawing import headline
from ctxtree.errors import AmbiguousBacktrack, NotFound
from ctxtree.facts import SCOPES
from ctxtree.importers import messages_from
from ctxtree.model import Node

EFFECT = typer.Option([], "--effect", help="What was done and is not undone, in your words; once for each.")
UNDONE = typer.Option(False, "--undone", help="Nothing is left of what was done.")


def _effects(effect: list[str], undone: bool) -> list[str] | None:
    if effect and undone:
        raise typer.BadParameter("give --effect or --undone, not both")
    return effect if effect or undone else None


def _at(context: typer.Context, json: bool, node: Node | None, branch: str) -> None:
    if context.obj.json or json:
        show.data({"node": node.id if node else None, "branch": branch})
    else:
        show.line(
            f"{branch}: {node.id[:8]} {node.role}: {headline(node.message)}" if node else f"{branch}: (empty)"
        )


def add(context: typer.Context, role: str, text: str, json: bool = JSON) -> None:
    """Store a message below the head; the tree is made if it is not there."""
    options = context.obj
    options.tree = options.tree or None
    tree = tree_of(options, create=options.tree is not None)
    (message,) = messages_from([{"role": role, "content": sys.stdin.read() if text == "-" else text}])
    _at(context, json, tree.append(message), tree.branch)


def fork(
    context: typer.Context, name: str, ref: str | None = typer.Argument(None), json: bool = JSON
) -> None:
    """A new branch at a node, active from now on."""
    tree = tree_of(context.obj)
    tree.fork(name, ref)
    _at(context, json, tree.head, tree.branch)


def switch(context: typer.Context, name: str, json: bool = JSON) -> None:
    """Make another branch active."""
    tree = tree_of(context.obj)
    _at(context, json, tree.switch(name), tree.branch)


def edit(context: typer.Context, ref: str, text: str, json: bool = JSON) -> None:
    """A sibling of a node with new words, on a new branch."""
    tree = tree_of(context.obj)
    _at(context, json, tree.edit(ref, text), tree.branch)


def retry(
    context: typer.Context, reason: str | None = typer.Option(None, "--reason"), effect: list[str] = EFFECT,
    undone: bool = UNDONE, json: bool = JSON,
) -> None:  # fmt: skip
    """Mark the newest attempt failed and go back to the step before it."""
    tree = tree_of(context.obj)
    _at(context, json, tree.retry(reason, effects=_effects(effect, undone)), tree.branch)


def back(
    context: typer.Context, words: str = typer.Argument(""), reason: str | None = typer.Option(None, "--reason"),
    undo: bool = typer.Option(False, "--undo", help="Take the last move back."), effect: list[str] = EFFECT,
    undone: bool = UNDONE, json: bool = JSON,
) -> None:  # fmt: skip
    """Go back to what the words mean; asks on a terminal when that is unclear."""
    tree = tree_of(context.obj)
    if undo == bool(words):
        raise typer.BadParameter("give the words of a move, or --undo alone")
    if undo:
        _at(context, json, tree.undo(), tree.branch)
        return
    try:
        done = _effects(effect, undone)
        found = tree.backtrack(words, reason, effects=done)
    except AmbiguousBacktrack as unclear:
        for number, one in enumerate(unclear.candidates, 1):
            node = tree.node(one.node)  # type: ignore[attr-defined]
            show.say(f"{number}. {node.id[:8]} {node.role}: {headline(node.message, 80)} ({one.why})")  # type: ignore[attr-defined]
        if not _on_terminal():
            raise
        choice = typer.prompt("which one", type=int)
        if not 1 <= choice <= len(unclear.candidates):
            raise typer.BadParameter(f"there is no number {choice}") from None
        found = tree.backtrack(words, reason, unclear.candidates[choice - 1].node, done)
    show.say(f"{found.why} (score {found.score:.2f})")
    _at(context, json, found.node, found.branch)


def _on_terminal() -> bool:
    return sys.stdin.isatty()


def find(context: typer.Context, words: str, json: bool = JSON) -> None:
    """The nodes that words may mean, best first; nothing moves."""
    tree = tree_of(context.obj)
    found = tree.find(words)
    if context.obj.json or json:
        show.data(found)
        return
    show.rows(
        ("score", "node", "words", "why"),
        ((c.score, c.node[:8], headline(tree.node(c.node).message), c.why) for c in found.candidates),
    )


def merge(
    context: typer.Context, branch: str, note: str | None = typer.Option(None, "--note"), json: bool = JSON
) -> None:
    """Bring back what another branch found, as one node."""
    tree = tree_of(context.obj)
    merged = tree.merge(branch, note)
    for conflict in (tree.marks(merged).get("merged") or {}).get("conflicts", ()):
        show.say(
            f"state conflict: {'.'.join(conflict['field'])} stays {conflict['here']!r}; {branch} has {conflict['there']!r}"
        )
    _at(context, json, merged, tree.branch)


def pick(context: typer.Context, refs: list[str], json: bool = JSON) -> None:
    """Copy exchanges of other branches here, each call with its results."""
    tree = tree_of(context.obj)
    copies = tree.pick(refs)
    if context.obj.json or json:
        show.data([node.id for node in copies])
        return
    for node in copies:
        show.line(f"{node.id[:8]} {node.role}: {headline(node.message)}")


def mark(
    context: typer.Context, ref: str, failed: str | None = typer.Option(None, "--failed", help="The reason."),
    pin: bool = typer.Option(False, "--pin"), label: str | None = typer.Option(None, "--label"),
    effect: list[str] = EFFECT, undone: bool = UNDONE, json: bool = JSON,
) -> None:  # fmt: skip
    """Say something about a node."""
    tree = tree_of(context.obj)
    if failed is not None:
        tree.fail(ref, failed)
    if pin:
        tree.pin(ref)
    if label is not None:
        tree.label(ref, label)
    done = _effects(effect, undone)
    if done is not None:
        tree.mark(ref, effects=done)
    if context.obj.json or json:
        show.data({"node": tree.node(ref).id, "marks": tree.marks(ref)})


def state(
    context: typer.Context,
    set_: list[str] = typer.Option([], "--set", help="k=v; v as JSON if it is."),
    json: bool = JSON,
) -> None:
    """The state object here, or change it."""
    del json
    tree = tree_of(context.obj)
    patch = {}
    for pair in set_:
        name, equals, text = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"{pair!r} is not k=v")
        try:
            patch[name] = json_text.loads(text)
        except ValueError:
            patch[name] = text
    if patch:
        tree.patch_state(patch)
    show.data(tree.state)


def remember(
    context: typer.Context, text: str, key: str | None = typer.Option(None, "--key"),
    scope: str = typer.Option("tree", "--scope", help="branch, tree or store."), json: bool = JSON,
) -> None:  # fmt: skip
    """Keep a fact for good; what says the same, or the same thing's new value, takes the old one's place."""
    if scope not in SCOPES:
        raise typer.BadParameter(f"no scope {scope!r}; it is branch, tree or store")
    fact = tree_of(context.obj).remember(text, key, scope)
    if fact.before is not None:
        show.say(f"in place of: {fact.before}")
    show.data(fact) if context.obj.json or json else show.line(fact.key)


def forget(context: typer.Context, key: str, json: bool = JSON) -> None:
    """Let go of a fact, by its key."""
    tree = tree_of(context.obj)
    known = {fact.key: fact for fact in tree.facts}
    if key not in known:
        raise NotFound(f"no fact {key!r}; `ctxtree facts` lists them")
    tree.store.forget(key) if known[key].scope == "store" else tree.forget(key)
    show.data({"forgotten": key}) if context.obj.json or json else show.say(f"forgotten: {key}")


COMMANDS = {
    "add": add, "fork": fork, "switch": switch, "edit": edit, "retry": retry, "back": back, "find": find,
    "merge": merge, "pick": pick, "mark": mark, "state": state, "remember": remember, "forget": forget,
}  # fmt: skip
