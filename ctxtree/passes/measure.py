"""Measure: what each item costs in full."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ctxtree.model import Message
from ctxtree.plan import Form, Item, Plan


@dataclass(frozen=True, slots=True)
class Measure:
    """Give every form that has no cost yet its tokens.

    `known` holds the counts of nodes, which are computed once and stored; what is not in it
    (a summary, facts, the input) is counted here, by `cost`.
    """

    known: Mapping[str, int]
    cost: Callable[[Message], int]

    def __call__(self, plan: Plan) -> Plan:
        return plan.with_items([self._measured(item) for item in plan.items])

    def _measured(self, item: Item) -> Item:
        forms = tuple(
            form if form.tokens >= 0 else replace(form, tokens=self._cost(item, form)) for form in item.forms
        )
        full = forms[0].tokens if forms else item.full_tokens
        return replace(item, forms=forms, full_tokens=max(item.full_tokens, full))

    def _cost(self, item: Item, form: Form) -> int:
        if len(item.nodes) != len(form.messages) or form.level != "full":
            return sum(map(self.cost, form.messages))
        return sum(
            self.known[node] if node in self.known else self.cost(message)
            for node, message in zip(item.nodes, form.messages, strict=True)
        )
