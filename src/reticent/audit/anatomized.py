"""The audit of an anatomized release from its two files: that they belong together, and what each group's values promise.

A group is the rows with one number in `quasi`; its histogram is what `sensitive` lists for that number.  Every measure is the one
for generalized releases, on these histograms.  k counts rows that agree in every quasi-identifier, and those are exact: k is 1
wherever a combination is unique, which is no fault of this kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.dichotomy import judged
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
    found = recount(column, tables)
    quasi = [entry["name"] for entry in manifest["columns"] if entry["role"] == "quasi-identifying"]
    alike = tables.quasi.group_by(quasi).len()["len"].to_numpy().astype(np.int64)
    verdicts = judged(manifest["promises"], Recount(alike, [found]), manifest["withheld"], manifest.get("prepare", []))
    achieved = {"k-anonymity": int(alike.min()), **measures(found)}
    proven = None if source is None else compare(tables, quasi, manifest, source)
    sizes = found.views[0].sizes
    return Audit("anatomized", len(tables.quasi), len(sizes), manifest["withheld"], verdicts, achieved,
                 {"rce": reconstruction_error(found.views[0]), "c_avg": float(sizes.mean())}, source=proven, notes=(NOTE,))  # fmt: skip


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
    """The same groups in both files, with as many rows as values, each value listed once."""
    quasi, held = tables.quasi, tables.sensitive
    faults = []
    if len(quasi) != manifest["rows"]:
        faults.append(f"the data has {len(quasi)} rows, the manifest says {manifest['rows']}")
    if not len(quasi):
        faults.append("there are no rows")
    if quasi[GROUP].null_count() or held[GROUP].null_count() or held[COUNT].null_count() or (held[COUNT] < 1).any():
        faults.append("a group or a count is missing or not positive")
    if held.select(GROUP, tables.column).is_duplicated().any():
        faults.append("a value is listed twice for a group")
    if not faults:
        rows = quasi.group_by(GROUP).len("rows").with_columns(pl.col("rows").cast(pl.Int64))
        listed = held.group_by(GROUP).agg(pl.col(COUNT).sum().alias("listed"))
        both = rows.join(listed, on=GROUP, how="full", coalesce=True)
        wrong = both.filter(
            pl.col("rows").is_null() | pl.col("listed").is_null() | (pl.col("rows") != pl.col("listed"))
        )
        if len(wrong):
            faults.append(f"{len(wrong)} group(s) have not as many rows as values")
    if faults:
        raise BundleDamaged("The two files of the release do not belong together.", why="; ".join(faults) + ".")


def recount(column: Mapping[str, Any], tables: Tables) -> Sensitive:
    """Each group's histogram, values in the order of their domain, a null last."""
    series = tables.sensitive[tables.column]
    distinct = series.unique(maintain_order=True)
    number = pl.DataFrame({"value": distinct, "number": np.arange(len(distinct))})
    code = (
        pl.DataFrame({"value": series})
        .join(number, on="value", how="left", nulls_equal=True, maintain_order="left")["number"]
        .to_numpy()
    )
    rank, _ = ranks(column, distinct)
    value = rank[code]
    group = np.unique(tables.sensitive[GROUP].to_numpy(), return_inverse=True)[1].reshape(-1)
    count = tables.sensitive[COUNT].to_numpy()
    order = np.lexsort((value, group))
    size = int(rank.max()) + 1
    totals = np.zeros(size, np.int64)
    np.add.at(totals, value, count)
    null = np.zeros(size, bool)
    null[rank] = distinct.is_null().to_numpy()
    return Sensitive(column["name"], views(Counts(group[order], value[order], count[order], totals), null), None)


def reconstruction_error(counts: Counts) -> float:
    """RCE (Xiao & Tao 2006, section 4), over the rows: the squared distance between a row's value and its group's histogram.

    Of a group of s rows with counts c: sum c ((1 - c/s)^2 + sum of the other (c'/s)^2) = s - sum c^2 / s; at least 1 - 1/l a row.
    """
    squares = np.bincount(counts.group, weights=counts.count.astype(np.float64) ** 2)
    return float((counts.sizes - squares / counts.sizes).sum() / counts.rows)


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
