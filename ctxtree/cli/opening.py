"""From the command line's options to a store, a tree and what is asked of a compile."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ctxtree.api import Store, Tree, connect
from ctxtree.cli import show
from ctxtree.errors import NotFound, PolicyError
from ctxtree.planner import Prices
from ctxtree.policy import Policy
from ctxtree.results import ImportReport


@dataclass(slots=True)
class Options:
    """The options before the verb."""

    store: str = "ctxtree.db"
    tree: str | None = None
    json: bool = False
    opened: list[Store] = field(default_factory=list)
    skipped: bool = False
    redact: bool = False
    also: tuple[str, ...] = ()
    """What is masked beside the table: email, detect-secrets."""

    def hide(self, redact: bool) -> None:
        """Everything from here on is shown without secrets."""
        self.redact = self.redact or redact

    def seen(self, tree: Tree) -> Tree:
        """The tree, through a mask if one was asked for."""
        return tree.redacted(self.also) if self.redact or self.also else tree

    def close(self) -> None:
        """Close the stores that the verb opened."""
        while self.opened:
            self.opened.pop().close()


def store_of(options: Options, url: str | None = None) -> Store:
    """The store that is meant, or the one at `url`; closed when the verb is done."""
    options.opened.append(connect(url or options.store))
    return options.opened[-1]


def tree_of(options: Options, create: bool = False) -> Tree:
    """The tree that is meant: the one named, else the one used last."""
    store = store_of(options)
    try:
        found = store.tree(options.tree, create=create)
    except NotFound:
        if options.tree is not None:
            raise
        raise NotFound(f"{options.store} holds no tree yet; name one: ctxtree --tree NAME ...") from None
    return options.seen(found)


def tree_from(options: Options, file: str | None, name: str | None) -> Tree:
    """The tree of the store, or with a file the newest conversation in it (or `name`), in memory."""
    if file is None:
        return tree_of(options)
    store = store_of(options, ":memory:")
    report = imported(store, file)
    names = [one.tree for one in report.conversations]
    if not names:
        raise NotFound(f"{file} holds no conversation")
    if name is not None and name not in names:
        raise NotFound(f"no conversation {name!r} in {file}; there are {len(names)}")
    if report.skipped:
        show.say(f"{file}: {report.skipped} records left out; `ctxtree doctor` tells why")
        options.skipped = True
    return options.seen(store.tree(name or names[-1]))


def imported(
    store: Store, file: str, format: str = "auto", name: str | None = None, strict: bool = False
) -> ImportReport:
    """Import a file, or standard input for `-`."""
    source = file if file != "-" else sys.stdin.buffer
    with show.progress(file) as step:
        return store.import_file(source, format, name, strict, step)


def _policy_from_json(text: str) -> Policy:
    try:
        return Policy.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise PolicyError(
            f"the policy cannot be read: {place + ': ' if place else ''}{first['msg']}"
        ) from error


def policy_of(text: str) -> Policy:
    """`hybrid`, `trim`, `agent`, `stable`, `window:5`, or a policy as JSON."""
    name, _, figure = text.partition(":")
    if text.lstrip().startswith("{"):
        return _policy_from_json(text)
    if name == "window":
        if not figure.isdigit():
            raise PolicyError(f"window needs a number of turns, such as window:5, not {figure!r}")
        return Policy.window(int(figure))
    presets: dict[str, Any] = {
        "hybrid": Policy.hybrid,
        "trim": Policy.trim,
        "agent": Policy.agent,
        "stable": Policy.stable,
    }
    if name not in presets:
        raise PolicyError(f"no policy {name!r}; there are window:N, {', '.join(presets)}, or JSON")
    return presets[name]()  # type: ignore[no-any-return]


def prices_of(text: str) -> Prices:
    """`read=.1,write=1.25`, the others as they are."""
    given: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, figure = part.partition("=")
        try:
            given[name.strip()] = float(figure)
        except ValueError:
            raise PolicyError(f"{part!r} is no price; prices look like read=.1,write=1.25") from None
    if given.keys() - Prices.model_fields.keys():
        unknown = ", ".join(sorted(given.keys() - Prices.model_fields.keys()))
        raise PolicyError(f"no price {unknown}; there are {', '.join(Prices.model_fields)}")
    return Prices(**given)
