"""Prior beliefs of an adversary: by kernel estimation, uniform, or given in a file (Li, Li & Zhang, ICDE 2009, section II-D).

A file of beliefs has the quasi-identifiers, the sensitive column and `belief`.  "Tom does not have cancer" is one row with a belief
of 0; what is not listed for a person keeps its proportions.  Who is in the file must be in the table: elsewhere a prior is
undefined, not 0 (errata 3.9).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.attacks.seen import Seen
from reticent.errors import RequestError, listed, some
from reticent.limits import moderate
from reticent.models.background.adversary import Adversary
from reticent.table.domain import Domain
from reticent.table.source import Source, collect, scan

BELIEF = "belief"


def believed(seen: Seen, adversary: Adversary, prior: Any) -> np.ndarray:
    """(points, values)."""
    if isinstance(prior, str) and prior == "kernel":
        return adversary.prior
    if isinstance(prior, str) and prior == "uniform":
        there = np.zeros(adversary.values, bool)
        there[np.unique(adversary.entries[:, 1])] = True
        return np.where(adversary.people[:, None] > 0, there / there.sum(), 0.0)
    return _given(seen, adversary.prior.copy(), _read(prior), adversary.without)


def _read(prior: Any) -> pl.DataFrame:
    if isinstance(prior, pl.DataFrame):
        return prior
    return collect(scan(Source(path=str(prior))), "Reading the beliefs")


def _given(seen: Seen, beliefs: np.ndarray, table: pl.DataFrame, without: int) -> np.ndarray:
    names = [*(domain.name for domain in seen.quasi), seen.sensitive.name, BELIEF]
    if lacking := [name for name in names if name not in table.columns]:
        raise RequestError(f"The beliefs lack {some(len(lacking), 'column')}: {listed(lacking)}.",
                           attempt="the quasi-identifiers, the sensitive column, and `belief`.")  # fmt: skip
    codes = [_codes(domain, table[domain.name]) for domain in (*seen.quasi, seen.sensitive)]
    place = {tuple(point): at for at, point in enumerate(seen.points.tolist())}
    points = [place.get(point, -1) for point in zip(*(code.tolist() for code in codes[:-1]), strict=True)]
    if outside := sum(point < 0 for point in points):
        raise RequestError(
            f"The beliefs have {some(outside, 'row')} about people who are not in the table: there a prior is undefined.",
            attempt="quasi-identifiers of the source's own rows.",
        )
    if unknown := int((codes[-1] < 0).sum()):
        raise RequestError(
            f"The beliefs have {some(unknown, 'row')} with a value that {seen.sensitive.name!r} does not have."
        )
    given: dict[int, dict[int, float]] = {}
    for point, value, belief in zip(points, codes[-1].tolist(), table[BELIEF].cast(pl.Float64).to_list(), strict=True):
        if belief is None or not 0 <= belief <= 1:
            raise RequestError("A belief is a number from 0 to 1.")
        if value != without:
            given.setdefault(point, {})[value] = belief
    for point, said in given.items():
        beliefs[point] = _rest(beliefs[point], said)
    return beliefs


def _rest(belief: np.ndarray, listed: dict[int, float]) -> np.ndarray:
    """Beliefs that are listed as they are, the others in their proportions."""
    found = belief.copy()
    values = list(listed)
    found[values] = 0.0
    left, whole = 1.0 - sum(listed.values()), found.sum()
    if left < -1e-9 or (whole == 0 and abs(left) > 1e-9):
        raise RequestError("The beliefs about one person do not add up to 1.")
    found *= max(left, 0.0) / whole if whole else 0.0
    found[values] = [listed[value] for value in values]
    return found / found.sum()


def _codes(domain: Domain, column: pl.Series) -> np.ndarray:
    """The code of each cell, -1 for values that do not occur."""
    numeric = getattr(domain, "kind", "") == "numeric"
    known = {_key(text, numeric): code for code, text in enumerate(domain.texts)}
    known[None] = domain.null_code
    return np.array([known.get(_key(text, numeric), -1) for text in column.cast(pl.String).to_list()], np.int64)


def _key(text: str | None, numeric: bool) -> Any:
    if text is None or not numeric:
        return text
    try:
        return Fraction(text.strip()) if moderate(text) else text
    except (ValueError, ZeroDivisionError):
        return text
