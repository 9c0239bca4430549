"""Condense: offer shorter forms of what is long, so that a selection can choose among them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

from ctxtree.model import Message
from ctxtree.passes.condensers.messages import Cut, condensed_message, stub_message
from ctxtree.passes.condensers.weigh import condensed_fidelity, part_sizes
from ctxtree.plan import HISTORY, Counter, Form, Item, Plan
from ctxtree.tokens import message_tokens

STUB_FIDELITY = 0.15

_SAVING = 0.9  # a form that costs more than this share of the one before is not worth a choice
_REACH = 2  # windows' worth of history for which condensed forms are made

Shorten = Callable[[Message, str, Sequence[int], Cut], Message]


@dataclass(frozen=True, slots=True)
class Condense:
    """Append a `condensed` form, and for exchanges a `stub`, to what is shown in full and may be cut.

    Results are condensed by content to `tool_tokens`, call arguments likewise, an assistant's words to twice
    that when they are over three times that, a user's words to 1,000 tokens; reasoning goes as a whole. In an
    open tool loop (`parts["open"]`) only results are cut. With `recall` notices name the id of the whole.

    Fidelity: full 1, condensed 0.6 + 0.3 * sqrt(share of the tokens kept), because the most telling comes
    first; stub 0.15. Items are read from the newest; once the cheapest forms of those read cost over
    twice what is available, older ones are offered stubs only (with `every`, all levels for all items).
    `cost` counts a message as the plan's own figures do; `message_tokens` without it. `made` remembers the
    forms of each item, by its nodes and all that they follow from; `key` names the way of counting.
    """

    tool_tokens: int = 200
    recall: bool = True
    every: bool = False
    cost: Callable[[Message], int] | None = field(default=None, repr=False, compare=False)
    made: dict[Hashable, tuple[Form, ...]] | None = field(default=None, repr=False, compare=False)
    key: str = ""

    def __call__(self, plan: Plan) -> Plan:
        items = list(plan.items)
        spent = 0
        for index in range(len(items) - 1, -1, -1):
            near = self.every or spent <= _REACH * plan.available
            items[index] = item = self._offered(items[index], plan.counter, near)
            spent += item.forms[-1].tokens if item.kind in HISTORY and item.chosen >= 0 else 0
        return plan.with_items(items)

    def _offered(self, item: Item, counter: Counter, near: bool) -> Item:
        if not _may_cut(item) or not (near or item.kind == "exchange"):
            return item
        is_open = bool(item.parts.get("open"))
        mark = (item.nodes, item.kind, near, is_open, self.tool_tokens, self.recall, self.key)
        known = self.made.get(mark) if self.made is not None else None
        forms = self._forms(item, counter, near, is_open) if known is None else known
        if self.made is not None and known is None:
            self.made[mark] = forms
        return replace(item, forms=forms) if len(forms) > 1 else item

    def _forms(self, item: Item, counter: Counter, near: bool, is_open: bool) -> tuple[Form, ...]:
        full = item.forms[0]
        cut = Cut(self.tool_tokens, counter, self.recall, is_open)
        sizes = part_sizes(full.messages, full.tokens, counter)
        forms = [full]
        if near:
            forms += self._shorter(item, forms[-1], sizes, cut, condensed_message)
        if item.kind == "exchange":
            forms += self._shorter(item, forms[-1], sizes, cut, stub_message)
        return tuple(forms)

    def _shorter(
        self, item: Item, before: Form, sizes: Sequence[Sequence[int]], cut: Cut, shorten: Shorten
    ) -> list[Form]:
        """The next form in a list, or none if it would not save a tenth."""
        full = item.forms[0]
        rows = zip(full.messages, item.nodes, sizes, strict=True)
        messages = tuple(shorten(message, node, row, cut) for message, node, row in rows)
        if messages == full.messages:
            return []
        tokens = sum(
            self.cost(message) if self.cost else message_tokens(message, cut.counter) for message in messages
        )
        if tokens > before.tokens * _SAVING:
            return []
        if shorten is stub_message:
            return [Form("stub", messages, tokens, STUB_FIDELITY)]
        return [Form("condensed", messages, tokens, condensed_fidelity(tokens, full.tokens))]


def _may_cut(item: Item) -> bool:
    return (
        item.kind in HISTORY
        and not (item.fixed or item.pinned)
        and item.chosen >= 0
        and len(item.forms) == 1
        and item.forms[0].level == "full"
        and len(item.forms[0].messages) == len(item.nodes)
    )
