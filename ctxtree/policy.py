"""How much may be sent, and what matters: the two values a caller chooses."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from ctxtree.errors import PolicyError
from ctxtree.model import Value


class Checked(Value):
    """A value whose bad figures raise `PolicyError` with what was found."""

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as problem:
            first = problem.errors(include_url=False)[0]
            place = ".".join(str(step) for step in first["loc"])
            raise PolicyError(f"{place} is {first['input']!r}: {first['msg']}") from None


class Budget(Checked):
    """Figures of one request: `window` and `reserve` in tokens, `high` and `low` as shares.

    The request never costs more than `window - reserve`. When the kept history passes
    `high` of what is available to it, a compaction takes it down to `low`.
    `safety="bound"` judges by the upper bound of a calibrated counter instead of its centre.
    """

    window: int
    reserve: int = 0
    high: float = 0.8
    low: float = 0.5
    safety: Literal["centre", "bound"] = "centre"

    def __init__(self, window: int, reserve: int = 0, **shares: Any) -> None:
        given = {"window": window, "reserve": reserve, **shares}
        for name, figure in given.items():
            if name != "safety" and not _is_number(figure):
                raise PolicyError(f"{name} is {figure!r}; it must be a number")
        super().__init__(**given)

    @model_validator(mode="after")
    def _check(self) -> Budget:
        if self.window < 1:
            raise PolicyError(f"window is {self.window}; it must be at least 1 token")
        if not 0 <= self.reserve < self.window:
            raise PolicyError(
                f"reserve is {self.reserve} of a window of {self.window}; it must be 0 or more and below the window"
            )
        if not 0 < self.low < self.high <= 1:
            raise PolicyError(f"low {self.low} and high {self.high} must satisfy 0 < low < high <= 1")
        return self

    @property
    def limit(self) -> int:
        """The most that a request may cost, in tokens of the model."""
        return self.window - self.reserve


class Weights(Checked):
    """How much each part of the score counts; see `ctxtree.passes.score`."""

    recency: float = 1.0
    kind: float = 1.0
    reference: float = 1.0
    asked: float = 2.0
    importance: float = 1.0
    relevance: float = 2.0


class Policy(Checked):
    """What to keep and where to put it; JSON in and out.

    `turns`: a sliding window of that many turns. `keep_turns`: newest turns kept whole if at all
    possible. `tool_tokens`: what a condensed tool result may cost. `dead_end_tokens`: all notes of
    failed attempts together. `summary_tokens`: the most a summary may cost (None: a tenth of what
    is available and 150, at most a fifth of it and 1,500). `summarize=False` drops what falls out, oldest first.
    """

    name: str = "hybrid"
    turns: int | None = None
    keep_turns: int = 2
    layout: Literal["classic", "stable"] = "classic"
    summarize: bool = True
    condense: bool = True
    recall: bool = True
    tool_tokens: int = 200
    dead_end_tokens: int = 200
    retrieved_share: float = 0.25
    summary_tokens: int | None = None
    weights: Weights = Field(default_factory=Weights)
    alerts: tuple[float, ...] = (0.7, 0.85, 0.95)

    @model_validator(mode="after")
    def _check(self) -> Policy:
        for name in ("turns", "keep_turns", "tool_tokens", "summary_tokens"):
            figure = getattr(self, name)
            if figure is not None and figure < 1:
                raise PolicyError(f"{name} is {figure}; it must be at least 1")
        if self.dead_end_tokens < 0:
            raise PolicyError(f"dead_end_tokens is {self.dead_end_tokens}; it must be 0 or more")
        if not 0 <= self.retrieved_share <= 1:
            raise PolicyError(f"retrieved_share is {self.retrieved_share}; it must be between 0 and 1")
        if any(not 0 < share <= 1 for share in self.alerts):
            raise PolicyError(f"alerts {self.alerts} must be shares above 0 and at most 1")
        if any(not _is_number(weight) or weight < 0 for weight in self.weights.__dict__.values()):
            raise PolicyError("score weights must be finite and 0 or more")
        return self

    @classmethod
    def window(cls, turns: int, **changes: Any) -> Policy:
        """The last `turns` turns, nothing else."""
        return cls(**{"name": "window", "turns": turns, "summarize": False, "recall": False, **changes})

    @classmethod
    def trim(cls, **changes: Any) -> Policy:
        """Whole messages, oldest dropped first until it fits."""
        plain = {"name": "trim", "summarize": False, "condense": False, "recall": False}
        return cls(**{**plain, **changes})

    @classmethod
    def hybrid(cls, **changes: Any) -> Policy:
        """Newest turns, condensed results, a summary of the rest, relevant old exchanges called back."""
        return cls(**changes)

    @classmethod
    def agent(cls, **changes: Any) -> Policy:
        """For tool loops: the prefix stays equal between compactions, what changes stands late."""
        return cls(**{"name": "agent", "layout": "stable", "keep_turns": 1, **changes})

    @classmethod
    def stable(cls, **changes: Any) -> Policy:
        """As `hybrid`, laid out so that a provider's prompt cache keeps hitting."""
        return cls(**{"name": "stable", "layout": "stable", **changes})


def _is_number(figure: object) -> bool:
    return isinstance(figure, int | float) and not isinstance(figure, bool) and math.isfinite(figure)
