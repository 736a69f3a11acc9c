"""Aggregates over a transformed release with guaranteed bounds (Koudas et al., VLDB 2009, section 3.3).

Quasi-identifiers are exact, so the number a_g of selected rows of each group is known.  Which of the group's N_g published values they
have is not: the least and greatest SUM, MIN and MAX over all choices stand in `bounds`.  Other questions are matched
(`asking/matched.py`); for a count with a condition on the sensitive column, where of N_g values c_g lie within the condition
whatever they are and d_g may, that is

    COUNT   lower sum of max(0, a_g - (N_g - c_g))    upper sum of min(a_g, d_g)

The estimate is the mean under the groups' targets; for MIN and MAX that of a_g independent draws, kept within the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl

from reticent.release.annotated import Annotated
from reticent.release.answer import NOTHING, Answer
from reticent.release.asking.alike import Triple
from reticent.release.asking.condition import atoms
from reticent.release.asking.grouped import Grouped
from reticent.release.asking.independent import Uncertain, between, round_to_double
from reticent.release.asking.independent import answer as alone
from reticent.release.asking.matched import Unpublished, join_ends
from reticent.release.asking.put import Put
from reticent.release.asking.selection import Chances
from reticent.release.kind import Tables
from reticent.release.manifest import Manifest
from reticent.table.types import typed

GROUP, COUNT, SELECTED = "group", "count", "selected"
ROUNDING = 2.0**-52


def answer(tables: Tables, manifest: Manifest, put: Put) -> Answer:
    """Looked up in `bounds` where a condition leaves the sensitive column out and a number of it is asked for; else matched."""
    return put.about_source(lambda asked: _answer(tables, manifest, asked))


def _answer(tables: Tables, manifest: Manifest, put: Put) -> Answer:
    column = manifest.sensitive.name
    if "annotated" not in put.known:
        put.known["annotated"] = Annotated.of(manifest)
    annotated: Annotated = put.known["annotated"]
    if put.aggregate == "count" or put.column != column or any(atom.column == column for atom in atoms(put.condition)):
        return _matched(tables, manifest, annotated, put)
    chosen = put.chosen()
    if chosen is None:
        return _matched(tables, manifest, annotated, put)
    met = np.bincount(tables["quasi"][GROUP].to_numpy()[chosen], minlength=1).astype(np.int64)
    group = np.flatnonzero(met)
    if not len(group):
        return NOTHING if put.beside is None else alone(put.beside, put.aggregate)
    found = looked_up(tables["bounds"], group, met[group])
    places = np.array([float(text) for text in annotated.texts])
    if put.aggregate in ("sum", "avg"):
        return _sum(found, annotated, places, group, met[group], put.aggregate, put.beside)
    return _extreme(found, annotated, places, group, met[group], put.aggregate, put.beside)


def _matched(tables: Tables, manifest: Manifest, annotated: Annotated, put: Put) -> Answer:
    if "groups" not in put.known:
        put.known["groups"] = _grouped(tables, manifest, annotated, put)
    groups: Grouped = put.known["groups"]
    likely = _UnderTargets(annotated)
    return groups.over(put.rows).answer(put.condition, put.aggregate, put.column, likely, put.beside)


def _grouped(tables: Tables, manifest: Manifest, annotated: Annotated, put: Put) -> Grouped:
    sensitive, column = tables["sensitive"], manifest.sensitive
    values = typed(list(annotated.texts), column.dtype).alias(column.name)
    held = (
        sensitive[GROUP].to_numpy().astype(np.int64),
        nodes_of(annotated, sensitive),
        sensitive[COUNT].to_numpy().astype(np.int64),
    )
    group = tables["quasi"][GROUP].to_numpy().astype(np.int64)
    many = int(max(held[0].max(initial=-1), group.max(initial=-1))) + 1
    return Grouped(put.rows, group, values, annotated.first, annotated.last, held, many)


@dataclass(frozen=True, eq=False)
class _UnderTargets:
    """Every row holds each value with the probability of its group's target."""

    annotated: Annotated

    def chances(self, rows: Triple, _: Triple, among: np.ndarray | None) -> Chances:
        annotated, wide = self.annotated, int(rows[1].max(initial=0)) + 1
        group = rows[0] if among is None else among[rows[0]]
        word, at = np.unique(annotated.target_of(group) * wide + rows[1], return_inverse=True)
        number = np.bincount(at.reshape(-1), weights=rows[2], minlength=len(word))
        values = len(annotated.texts)
        return Chances(
            np.repeat(word % wide, values),
            np.tile(np.arange(values), len(word)),
            annotated.floats[word // wide].reshape(-1),
            np.repeat(number, values),
        )

    def shares(self, groups: Grouped, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.annotated.target_of(np.arange(groups.many)), self.annotated.floats[:, wanted].sum(axis=1)


def looked_up(bounds: pl.DataFrame, group: np.ndarray, met: np.ndarray) -> dict[str, np.ndarray]:
    """The bounds of each group for its number of selected rows: from the row above it, where no slope changes before."""
    held, selected = bounds[GROUP].to_numpy().astype(np.int64), bounds[SELECTED].to_numpy().astype(np.int64)
    wide = int(selected.max()) + 1
    place = np.searchsorted(held * wide + selected, group * wide + met)
    found = {name: bounds[name].to_numpy()[place] for name in bounds.columns[2:]}
    short = selected[place] - met
    found["sum_lower"] = found["sum_lower"] - short * found["max_lower"]
    found["sum_upper"] = found["sum_upper"] - short * found["min_upper"]
    return found


def _sum(
    found: dict[str, np.ndarray],
    annotated: Annotated,
    places: np.ndarray,
    group: np.ndarray,
    met: np.ndarray,
    aggregate: str,
    beside: Uncertain | None,
) -> Answer:
    mean = (annotated.floats @ places)[annotated.target_of(group)]
    estimate, rows = float(mean @ met), int(met.sum())
    whole = found["sum_lower"].dtype.kind != "f"
    if whole:
        lower, upper = (Fraction(sum(found[side].tolist())) for side in ("sum_lower", "sum_upper"))
    else:  # every sum of doubles is off by at most so many roundings
        off = (len(group) + 4) * ROUNDING * float(np.abs(found["sum_lower"]).sum() + np.abs(found["sum_upper"]).sum())
        lower, upper = Fraction(float(found["sum_lower"].sum()) - off), Fraction(float(found["sum_upper"].sum()) + off)
    if aggregate == "sum":
        ends = [round_to_double(lower, -1), round_to_double(upper, 1)]
        if beside is not None:
            ends = list(join_ends("sum", (ends[0], ends[1]), beside, always=True))
        elif whole:
            ends = [int(lower), int(upper)]
        low, high = (None if not np.isfinite(end) else int(end) if whole else float(end) for end in ends)
        return Answer(estimate, low, high)
    low = _mean(-lower, rows, Unpublished.of(beside, -1))
    high = _mean(upper, rows, Unpublished.of(beside, 1))
    return Answer(estimate / rows, None if low is None else -low, high)


def _mean(total: Fraction, rows: int, unpublished: Unpublished | None) -> float | None:
    """The greatest mean of so many rows whose numbers sum to `total` at most, and of unpublished rows; None where it has no end."""
    if unpublished is None:
        return round_to_double(total / rows, 1)
    if not np.isfinite(unpublished.high):
        return None
    joined = (total + Fraction(unpublished.high) * unpublished.rows) / (rows + unpublished.rows)
    return round_to_double(joined if unpublished.must else max(total / rows, joined), 1)


def _extreme(
    found: dict[str, np.ndarray],
    annotated: Annotated,
    places: np.ndarray,
    group: np.ndarray,
    met: np.ndarray,
    aggregate: str,
    beside: Uncertain | None,
) -> Answer:
    least = aggregate == "min"
    take = np.min if least else np.max
    lower, upper = take(found[f"{aggregate}_lower"]).item(), take(found[f"{aggregate}_upper"]).item()
    if beside is not None:
        ends = join_ends(aggregate, (lower, upper), beside, always=True)
        whole = found["sum_lower"].dtype.kind != "f"
        lower, upper = (None if not np.isfinite(end) else int(end) if whole else float(end) for end in ends)
    shares = annotated.floats if least else annotated.floats[:, ::-1]
    beyond = np.clip(1 - np.cumsum(shares, axis=1), 0, 1)  # of one draw, past each value
    of = np.bincount(annotated.target_of(group), weights=met, minlength=len(shares))
    used = np.flatnonzero(of)
    all_beyond = np.prod(beyond[used] ** of[used][:, None], axis=0)
    chance = -np.diff(all_beyond, prepend=1.0)
    expected = float(chance @ (places if least else places[::-1]))
    return Answer(between(expected, lower, upper), lower, upper)


def wanted(annotated: Annotated, values: tuple[object, ...]) -> np.ndarray:
    """Which values of the domain are asked for."""
    texts = {str(value) for value in values}
    return np.array([text in texts for text in annotated.texts], bool)


def covered(annotated: Annotated, values: tuple[object, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Which nodes lie wholly within the values asked for, and which hold any of them."""
    until = np.append(0, np.cumsum(wanted(annotated, values)))
    held = until[annotated.last + 1] - until[annotated.first]
    return held == annotated.last - annotated.first + 1, held > 0


def nodes_of(annotated: Annotated, sensitive: pl.DataFrame) -> np.ndarray:
    """The node of each row of `sensitive`, by its ends."""
    place = {text: at for at, text in enumerate(annotated.texts)}
    node = {span: at for at, span in enumerate(zip(annotated.first.tolist(), annotated.last.tolist(), strict=True))}
    ends = sensitive.select("lower", "upper").unique()
    lower, upper = (ends[name].cast(pl.String).to_list() for name in ("lower", "upper"))
    known = [node.get((place.get(a, -1), place.get(b, -1)), -1) for a, b in zip(lower, upper, strict=True)]
    joined = sensitive.select("lower", "upper").join(
        ends.with_columns(pl.Series("\x00node", known, dtype=pl.Int64)),
        on=["lower", "upper"],
        how="left",
        maintain_order="left",
    )
    return joined["\x00node"].to_numpy()
