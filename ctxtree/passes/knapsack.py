"""The multiple-choice knapsack, solved greedily on each class's concave hull.

Kellerer, Pferschy, Pisinger: Knapsack Problems (2004), chapter 11. The greedy choice is at most
one step below the fractional bound, which comes for free.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Option = tuple[int, float]
"""Cost in tokens, value."""


def hull(options: Sequence[Option]) -> list[int]:
    """Indices of the options that can be best at some price, by rising cost.

    `options` run from the cheapest to the dearest; the first is always in.
    """
    kept = [0]
    for index in range(1, len(options)):
        cost, value = options[index]
        if value <= options[kept[-1]][1] or cost < options[kept[-1]][0]:
            continue
        while len(kept) > 1 and _slope(options, kept[-1], index) >= _slope(options, kept[-2], kept[-1]):
            kept.pop()
        kept.append(index)
    return kept


def _slope(options: Sequence[Option], low: int, high: int) -> float:
    gained = options[high][1] - options[low][1]
    return gained / max(options[high][0] - options[low][0], 1e-9)


def knapsack(classes: Sequence[Sequence[Option]], room: int) -> tuple[list[int], float, float]:
    """One option of each class: (indices, value reached, bound that no choice can pass).

    Every class takes at least its first option, even if `room` is too small for all of them.
    Cost: n log n in the number of options. Ties go to the later class (the newer item).
    """
    hulls = [hull(options) for options in classes]
    left = room - sum(options[0][0] for options in classes)
    value = sum(options[0][1] for options in classes)
    bound = value
    steps = [
        (-_slope(classes[number], low, high), -number, place)
        for number, kept in enumerate(hulls)
        for place, (low, high) in enumerate(pairwise(kept))
    ]
    steps.sort()
    chosen = [0] * len(classes)
    closed: set[int] = set()
    fraction_left = float(max(left, 0))
    for slope, negative, place in steps:
        number = -negative
        low, high = hulls[number][place], hulls[number][place + 1]
        cost = classes[number][high][0] - classes[number][low][0]
        bound += -slope * min(cost, fraction_left)
        fraction_left = max(0.0, fraction_left - cost)
        if number in closed or cost > left:
            closed.add(number)
            continue
        chosen[number] = high
        left -= cost
        value += classes[number][high][1] - classes[number][low][1]
    return chosen, value, max(bound, value)
