"""Measure: what each item costs in full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ctxtree.model import Message
from ctxtree.plan import Item, Plan


@dataclass(frozen=True, slots=True)
class Measure:
    """Give every form that has no cost yet its tokens, by `cost`: a summary, facts, the input."""

    cost: Callable[[Message], int]

    def __call__(self, plan: Plan) -> Plan:
        return plan.with_items([self._measured(item) for item in plan.items])

    def _measured(self, item: Item) -> Item:
        if all(0 <= form.tokens <= item.full_tokens for form in item.forms):
            return item
        forms = tuple(
            form if form.tokens >= 0 else replace(form, tokens=sum(map(self.cost, form.messages)))
            for form in item.forms
        )
        return replace(item, forms=forms, full_tokens=max(item.full_tokens, forms[0].tokens))
