"""The audit of an anatomized release from its two files: that they belong together, and what each group's values promise.

A group is the rows with one number in `quasi`; its histogram is what `sensitive` lists for that number.  Every measure is the one
for generalized releases, on these histograms.  k counts rows that agree in every quasi-identifier, and those are exact: k is 1
wherever a combination is unique, which is no fault of this kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.dichotomy import judged
from reticent.audit.grouping import number
from reticent.audit.judge import Recount, measures
from reticent.audit.measure.counts import Counts, views
from reticent.audit.result import Audit
from reticent.audit.sensitive import Sensitive, ranks
from reticent.errors import BundleDamaged
from reticent.release import bundle
from reticent.release.anatomized import COUNT, GROUP, Tables

NOTE = "quasi-identifiers are published as they are: k is 1 wherever a combination is unique, and that is no fault of this kind"


def audit_anatomized(folder: str | Path, expect_digest: str | None = None, source: Any = None) -> Audit:
    """Judge every promise of an anatomized folder; a damaged or changed one is refused."""
    folder = Path(folder)
    manifest = bundle.verify(folder, expect_digest)
    tables = _read(folder, manifest)
    column = next(entry for entry in manifest["columns"] if entry["role"] == "sensitive")
    listed = histograms(column, tables)
    found = Sensitive(column["name"], views(listed.distinct(), listed.null), None)
    quasi = [entry["name"] for entry in manifest["columns"] if entry["role"] == "quasi-identifying"]
    alike = tables.quasi.group_by(quasi).len()["len"].to_numpy().astype(np.int64)
    verdicts = judged(manifest["promises"], Recount(alike, [found]), manifest["withheld"], manifest.get("prepare", []))
    achieved = {"k-anonymity": int(alike.min()), **measures(found)}
    proven = None if source is None else compare(tables, quasi, manifest, source)
    utility = {"rce": listed.reconstruction_error(), "c_avg": float(listed.sizes.mean())}
    return Audit("anatomized", len(tables.quasi), len(listed.sizes), manifest["withheld"], verdicts, achieved, utility,
                 source=proven, notes=(NOTE,))  # fmt: skip


def _read(folder: Path, manifest: Mapping[str, Any]) -> Tables:
    names = [Path(name).stem for name in manifest["data"]]
    if names != ["quasi", "sensitive"] or not set(manifest["data"]) <= set(manifest["files"]):
        raise BundleDamaged(
            "An anatomized release has the files 'quasi' and 'sensitive'.", why=f"This one names {len(names)} file(s)."
        )
    if sum(entry.get("role") == "sensitive" for entry in manifest["columns"]) != 1:
        raise BundleDamaged("An anatomized release has one sensitive column.")
    try:
        tables = Tables.read(folder, manifest)
    except BundleDamaged:
        raise
    except Exception:  # the libraries' messages quote values
        raise BundleDamaged(
            "The files do not hold what the manifest says.", why="A column has values of another type."
        ) from None
    _check_together(tables, manifest)
    return tables


def _check_together(tables: Tables, manifest: Mapping[str, Any]) -> None:
    """The same groups in both files, with as many rows as values."""
    quasi, held = tables.quasi, tables.sensitive
    faults = []
    if len(quasi) != manifest["rows"]:
        faults.append(f"the data has {len(quasi)} rows, the manifest says {manifest['rows']}")
    if not len(quasi):
        faults.append("there are no rows")
    if quasi[GROUP].null_count() or held[GROUP].null_count() or held[COUNT].null_count() or (held[COUNT] < 1).any():
        faults.append("a group or a count is missing or not positive")
    if not faults and (wrong := _uneven(quasi[GROUP].to_numpy(), held[GROUP].to_numpy(), held[COUNT].to_numpy())):
        faults.append(f"{wrong} group(s) have not as many rows as values")
    if faults:
        raise BundleDamaged("The two files of the release do not belong together.", why="; ".join(faults) + ".")


def _uneven(rows: np.ndarray, listed: np.ndarray, count: np.ndarray) -> int:
    """How many groups have another number of rows in one file than values in the other."""
    least, most = min(rows.min(), listed.min(initial=rows[0])), max(rows.max(), listed.max(initial=rows[0]))
    if least < 0 or most > 8 * (len(rows) + len(listed)):  # numbers with gaps: close them
        both, number = np.unique(np.concatenate([rows, listed]), return_inverse=True)
        rows, listed, most = number[: len(rows)], number[len(rows) :], len(both) - 1
    has = np.bincount(rows, minlength=int(most) + 1)
    order = np.argsort(listed, kind="stable") if (np.diff(listed) < 0).any() else slice(None)
    listed, count = listed[order], count[order]
    starts = np.flatnonzero(np.diff(listed, prepend=-1))
    holds = np.zeros(int(most) + 1, np.int64)
    if len(starts):
        holds[listed[starts]] = np.add.reduceat(count, starts)
    return int((has != holds).sum())


@dataclass(frozen=True, eq=False)
class Histograms:
    """Every group's values in the order of their domain, a null last; groups in the order of their numbers."""

    starts: np.ndarray  # first entry of each group
    value: np.ndarray
    count: np.ndarray
    totals: np.ndarray
    null: np.ndarray

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.diff(np.append(self.starts, len(self.value)))

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.add.reduceat(self.count, self.starts)

    def reconstruction_error(self) -> float:
        """RCE (Xiao & Tao 2006, section 4), over the rows: the squared distance between a row's value and its group's histogram.

        Of a group of s rows with counts c: sum c ((1 - c/s)^2 + sum of the other (c'/s)^2) = s - sum c^2 / s.
        """
        squares = np.add.reduceat(self.count.astype(np.float64) ** 2, self.starts)
        return float((self.sizes - squares / self.sizes).sum() / self.sizes.sum())

    def distinct(self) -> Counts:
        """The groups, each histogram once: measures are extremes over groups, and equal ones say the same.

        A random sum over a histogram proposes which groups are equal; whether they are is then compared entry by entry.
        """
        mix = np.random.default_rng().integers(0, 1 << 64, len(self.totals), np.uint64)
        key = np.add.reduceat(mix[self.value] * self.count.astype(np.uint64), self.starts)
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        alike = first[number.reshape(-1)]
        same = self.lengths[alike] == self.lengths
        offset = np.arange(len(self.value)) - np.repeat(self.starts, self.lengths)
        other = np.minimum(np.repeat(self.starts[alike], self.lengths) + offset, len(self.value) - 1)
        equal = (self.value[other] == self.value) & (self.count[other] == self.count)
        same &= np.logical_and.reduceat(equal, self.starts)
        keep = np.zeros(len(self.starts), bool)
        keep[first] = True
        keep |= ~same
        entry = np.repeat(keep, self.lengths)
        group = np.repeat(np.arange(int(keep.sum())), self.lengths[keep])
        return Counts(group, self.value[entry], self.count[entry], self.totals)


def histograms(column: Mapping[str, Any], tables: Tables) -> Histograms:
    """The sensitive file, its values numbered; a value listed twice for a group is damage."""
    numbered = number(tables.sensitive[tables.column])
    rank, _ = ranks(column, numbered.distinct)
    size = int(rank.max()) + 1
    group, count = tables.sensitive[GROUP].to_numpy(), tables.sensitive[COUNT].to_numpy()
    value = rank[numbered.codes]
    if (np.diff(group) < 0).any() or ((np.diff(group) == 0) & (np.diff(value) <= 0)).any():
        order = np.lexsort((value, group))
        group, value, count = group[order], value[order], count[order]
    if ((np.diff(group) == 0) & (np.diff(value) == 0)).any():
        raise BundleDamaged(
            "The two files of the release do not belong together.", why="A value is listed twice for a group."
        )
    null = np.zeros(size, bool)
    null[rank] = numbered.distinct.is_null().to_numpy()
    totals = np.bincount(value, weights=count, minlength=size).astype(np.int64)
    starts = np.flatnonzero(np.append(True, np.diff(group) != 0)) if len(group) else np.zeros(0, np.int64)
    return Histograms(starts, value, count, totals, null)


@dataclass(frozen=True, slots=True)
class Traced:
    """Whether the published rows and values are the source's, as many as the manifest says."""

    rows: int
    foreign_rows: int
    foreign_values: int
    withheld: int
    said_withheld: int

    @property
    def passed(self) -> bool:
        return not self.foreign_rows and not self.foreign_values and self.withheld == self.said_withheld

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "foreign_rows": self.foreign_rows, "foreign_values": self.foreign_values,
                "withheld": self.withheld, "said_withheld": self.said_withheld, "passed": self.passed}  # fmt: skip

    def __str__(self) -> str:
        return f"  source: {self.foreign_rows} row(s) and {self.foreign_values} value(s) are not its own; {self.withheld} withheld"


def compare(tables: Tables, quasi: list[str], manifest: Mapping[str, Any], source: Any) -> Traced:
    """Every combination of quasi-identifiers, and every value, is published no more often than the source has it."""
    from reticent.table.source import Source, collect, scan

    given = isinstance(source, str | Path)
    wanted = source if isinstance(source, Source) else Source(path=str(source) if given else None)
    lazy = scan(wanted, None if given or isinstance(source, Source) else source)
    rows = collect(lazy.select(*quasi, tables.column), "Reading the source")
    texts = [pl.col(name).cast(pl.String) for name in quasi]
    had, has = (Counter(frame.select(texts).iter_rows()) for frame in (rows, tables.quasi))
    held = Counter(rows[tables.column].cast(pl.String).to_list())
    shown: Counter = Counter()
    for value, count in zip(tables.sensitive[tables.column].cast(pl.String), tables.sensitive[COUNT], strict=True):
        shown[value] += count
    return Traced(len(rows), sum((has - had).values()), sum((shown - held).values()), len(rows) - len(tables.quasi),
                  manifest["withheld"])  # fmt: skip
