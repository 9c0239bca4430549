"""The knapsack against every choice there is: it fits, its value is the best, and its bound is one."""

import itertools
import random

import pytest

from ctxtree.passes.knapsack import Option, knapsack


def small(rng: random.Random) -> tuple[list[list[Option]], int]:
    classes = []
    for _ in range(rng.randint(1, 5)):
        costs = sorted(rng.randint(0, 40) for _ in range(rng.randint(1, 4)))
        classes.append([(cost, round(rng.random() * cost + rng.random(), 3)) for cost in costs])
    return classes, rng.randint(0, 120)


@pytest.mark.parametrize("seed", range(10))
def test_small_ones_are_solved_exactly(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        classes, room = small(rng)
        choices = [pick for pick in itertools.product(*classes) if sum(cost for cost, _ in pick) <= room]
        chosen, value, bound = knapsack(classes, room)
        picked = [options[index] for options, index in zip(classes, chosen, strict=True)]
        assert value == pytest.approx(sum(worth for _, worth in picked))
        if not choices:
            assert chosen == [0] * len(classes)
            continue
        best = max(sum(worth for _, worth in pick) for pick in choices)
        assert sum(cost for cost, _ in picked) <= room
        assert value == pytest.approx(best, rel=0.002)
        assert bound >= best - 1e-9


def test_large_ones_come_near_the_bound() -> None:
    rng = random.Random(3)
    for _ in range(20):
        classes = [
            [(0, 0.0), (cost // 4, rng.random() * 0.4), (cost, 0.4 + rng.random())]
            for cost in (rng.randint(4, 2_000) for _ in range(80))
        ]
        _, value, bound = knapsack(classes, 8_000)
        assert value >= 0.97 * bound
