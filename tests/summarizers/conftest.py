from __future__ import annotations

import pytest

from ctxtree.counter import counter_for
from ctxtree.plan import Counter


@pytest.fixture(scope="session")
def counter() -> Counter:
    return counter_for("o200k_base")
