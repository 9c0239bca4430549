"""Embedders: any function from texts to vectors, checked before its answer is used; one local model by name.

numpy and the model come with the extra `embeddings` and are imported when an embedder is used.
"""

from __future__ import annotations

import logging
import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ctxtree.errors import CtxtreeError, NotFound

Embed = Callable[[Sequence[str]], Any]
"""Texts in, one vector for each out: lists of floats, or an array of shape (texts, dimensions)."""

DEFAULT = "wordllama"
INSTALL = "pip install 'ctxtree[embeddings]'"


class NoVectors(Exception):
    """What an embedder gave is no set of vectors; says why in figures only."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """A function, and the name that its vectors are stored under; without a name they are not stored."""

    embed: Embed
    name: str = ""

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """One unit vector for each text, as float32. Raises NoVectors, or what the function raises."""
        rows = [[float(figure) for figure in row] for row in self.embed(list(texts))]
        if len(rows) != len(texts):
            raise NoVectors(f"{len(rows)} vectors for {len(texts)} texts")
        if len({len(row) for row in rows}) > 1:
            raise NoVectors("vectors of different lengths")
        return [_unit(row) for row in rows]


def embedder_for(given: Any) -> Embedder | None:
    """The embedder that a name or a function means; None for None.

    Raises NotFound for an unknown name, CtxtreeError if the extra is not installed or nothing can be called.
    """
    if given is None or isinstance(given, Embedder):
        return given
    _numpy()
    if isinstance(given, str):
        if given != DEFAULT:
            raise NotFound(f"no embedder {given!r}; the built-in one is {DEFAULT!r}, or give a function")
        return _wordllama()
    if not callable(given):
        raise CtxtreeError(f"an embedder is a name or a function, not {type(given).__name__}")
    return Embedder(given, str(getattr(given, "name", "") or ""))


def nearness(vectors: Sequence[bytes], query: bytes, shares: Sequence[float]) -> list[float]:
    """The cosine of each vector to the query's, both less the mean of the vectors, smoothed along the path.

    What all of a conversation has in common tells nothing apart, so it is taken away (Mu and Viswanath,
    "All-but-the-Top", 2018, of which this is the first step). `shares[i]` is what a vector also gets of its
    neighbours `i + 1` places away. Negative cosines count as 0. Rounded, so that the order of a sum of
    floats cannot change a rank. Cost: one matrix product.
    """
    if not vectors:
        return []
    numpy = _numpy()
    rows = numpy.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1).astype("f8")
    mean = rows.mean(axis=0) if len(vectors) > 1 else 0.0
    rows, asked = rows - mean, numpy.frombuffer(query, dtype="<f4").astype("f8") - mean
    norms = numpy.linalg.norm(rows, axis=1) * numpy.linalg.norm(asked)
    cosines = numpy.maximum((rows @ asked) / numpy.maximum(norms, 1e-9), 0.0)
    found = cosines.copy()
    for away, share in enumerate(shares, 1):
        found[away:] += share * cosines[:-away]
        found[:-away] += share * cosines[away:]
    return [float(figure) for figure in found.round(6)]


def _unit(row: Sequence[float]) -> bytes:
    length = math.sqrt(sum(figure * figure for figure in row))
    if not math.isfinite(length) or length <= 0:
        raise NoVectors("a vector is zero or not finite")
    return array("f", [figure / length for figure in row]).tobytes()


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise CtxtreeError(f"embeddings need numpy: {INSTALL}") from None
    return numpy


@cache
def _wordllama() -> Embedder:
    """WordLlama's 256 dimensions (MIT); its weights are in its wheel, nothing is downloaded.

    Texts are embedded one by one: in a batch, padding would change the last bits of a vector.
    """
    quiet = logging.NullHandler()  # the package sets up the root logger unless that has a handler
    logging.root.addHandler(quiet)
    try:
        import wordllama
    except ImportError:
        raise CtxtreeError(f"the embedder {DEFAULT!r} is not installed: {INSTALL}") from None
    finally:
        logging.root.removeHandler(quiet)
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    return Embedder(lambda texts: [model.embed([text])[0] for text in texts], "wordllama/l2_supercat_256")
