"""The multiple-choice knapsack, solved greedily on each class's concave hull.

Kellerer, Pferschy, Pisinger: Knapsack Problems (2004), chapter 11. The greedy choice is at most
one step below the fractional bound, which comes for free. Where that step is large, the classes around it
(the core: Pisinger, A Minimal Algorithm for the Multiple-Choice Knapsack Problem, 1995) are solved exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

CLOSE = 0.995
"""Share of the bound from which on the greedy choice is good enough."""
CORE = 24
"""Classes that are solved exactly otherwise."""
STEPS = 1_000
"""Steps that the room is divided into for that."""

_NEVER = float("-inf")

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


def _within(options: Sequence[Option], left: int) -> list[int]:
    """The hull of those options that fit when every other class takes its first; they alone can be in a choice."""
    able = [0, *(at for at in range(1, len(options)) if options[at][0] - options[0][0] <= left)]
    return [able[at] for at in hull([options[at] for at in able])]


def _step(options: Sequence[Option], low: int, high: int) -> Option:
    """What it costs and gains to go from one option to another."""
    return options[high][0] - options[low][0], options[high][1] - options[low][1]


def _slope(options: Sequence[Option], low: int, high: int) -> float:
    cost, gain = _step(options, low, high)
    return gain / max(cost, 1e-9)


def knapsack(classes: Sequence[Sequence[Option]], room: int) -> tuple[list[int], float, float]:
    """One option of each class: (indices, value reached, bound that no choice can pass).

    Every class takes at least its first option, even if `room` is too small for all of them.
    Cost: n log n in the number of options. Ties go to the later class (the newer item).
    """
    left = room - sum(options[0][0] for options in classes)
    hulls = [_within(options, left) for options in classes]
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
    for _, negative, place in steps:
        number = -negative
        low, high = hulls[number][place], hulls[number][place + 1]
        cost, gain = _step(classes[number], low, high)
        bound += gain if cost <= fraction_left else gain * fraction_left / cost
        fraction_left = max(0.0, fraction_left - cost)
        if number in closed or cost > left:
            closed.add(number)
            continue
        chosen[number] = high
        left -= cost
        value += gain
    if value < CLOSE * bound:
        core = _near(steps, closed)
        chosen, value = _better(classes, room, chosen, value, core)
        bound = min([bound, *(_bound(classes, hulls, steps, room, number) for number in core)])
    return chosen, value, max(bound, value)


def _near(steps: Sequence[tuple[float, int, int]], closed: set[int]) -> list[int]:
    """The classes around the place where the room ran out: their choice is the one that is in doubt."""
    order = list(dict.fromkeys(-negative for _, negative, _ in steps))
    breaks = [at for at, number in enumerate(order) if number in closed]
    middle = breaks[0] if breaks else len(order)
    by_distance = sorted(range(len(order)), key=lambda at: (abs(at - middle), at))
    return sorted(order[at] for at in by_distance[:CORE])


def _bound(
    classes: Sequence[Sequence[Option]],
    hulls: Sequence[Sequence[int]],
    steps: Sequence[tuple[float, int, int]],
    room: int,
    number: int,
) -> float:
    """The fractional bound when class `number` may only be taken whole: the best over its options."""
    first = classes[number][0]
    left = room - sum(options[0][0] for options in classes)
    value = sum(options[0][1] for options in classes)
    others = [
        _step(classes[-negative], hulls[-negative][place], hulls[-negative][place + 1])
        for _, negative, place in steps
        if -negative != number
    ]
    best = value
    for cost, worth in classes[number]:
        rest = float(left - (cost - first[0]))
        if rest < 0:
            continue
        total = value + worth - first[1]
        for step, gain in others:
            total += gain if step <= rest else gain * rest / step
            rest = max(0.0, rest - step)
        best = max(best, total)
    return best


def _better(
    classes: Sequence[Sequence[Option]], room: int, chosen: list[int], value: float, core: Sequence[int]
) -> tuple[list[int], float]:
    """The best options of the classes in `core`, the others as they are: dynamic programming over the room.

    Costs are rounded up to the step, so the choice fits; the greedy one stays if that is better.
    """
    fixed = sum(options[pick][0] for options, pick in zip(classes, chosen, strict=True))
    left = room - fixed + sum(classes[number][chosen[number]][0] for number in core)
    if left <= 0:
        return chosen, value
    step = max(1, -(-left // STEPS))
    size = left // step
    best = [0.0] * (size + 1)
    picks: list[list[int]] = []
    for number in core:
        reached = [_NEVER] * (size + 1)
        pick = [0] * (size + 1)
        for index, (cost, worth) in enumerate(classes[number]):
            shift = -(-cost // step)
            for at in range(shift, size + 1):
                total = best[at - shift] + worth
                if total > reached[at]:
                    reached[at], pick[at] = total, index
        best = reached
        picks.append(pick)
    if best[size] == _NEVER:
        return chosen, value
    found = list(chosen)
    at = size
    for number, pick in zip(reversed(core), reversed(picks), strict=True):
        found[number] = pick[at]
        at -= -(-classes[number][pick[at]][0] // step)
    better = sum(options[pick][1] for options, pick in zip(classes, found, strict=True))
    return (found, better) if better > value else (chosen, value)
