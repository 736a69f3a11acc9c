"""The audit of an anatomized release from its two files: that they belong together, and what each group's values promise.

A group is the rows with one number in `quasi`; its histogram is what `sensitive` lists for that number.  Every measure is the one
for generalized releases, on these histograms.  k counts rows that agree in every quasi-identifier, and those are exact: k is 1
wherever a combination is unique, which is no fault of this kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.dichotomy import judged
from reticent.audit.histograms import Histograms, histograms
from reticent.audit.judge import Recount, measures
from reticent.audit.measure.counts import views
from reticent.audit.result import Audit
from reticent.audit.sensitive import Sensitive
from reticent.errors import BundleDamaged
from reticent.release import bundle
from reticent.release.anatomized import COUNT, GROUP, Tables, schemas
from reticent.release.generalized import count_data, read_data

NOTE = "quasi-identifiers are published as they are: k is 1 wherever a combination is unique, and that is no fault of this kind"


def audit_anatomized(folder: str | Path, expect_digest: str | None = None, source: Any = None) -> Audit:
    """Judge every promise of an anatomized folder; a damaged or changed one is refused."""
    folder = Path(folder)
    manifest = bundle.verify(folder, expect_digest)
    found = _read(folder, manifest)
    listed = found.listed
    column = Sensitive(found.column, views(listed.distinct(), listed.null), None)
    verdicts = judged(
        manifest["promises"], Recount(found.alike, [column]), manifest["withheld"], manifest.get("prepare", [])
    )
    achieved = {"k-anonymity": int(found.alike.min()), **measures(column)}
    proven = None if source is None else compare(Tables.read(folder, manifest), manifest, source)
    utility = {"rce": listed.reconstruction_error(), "c_avg": float(listed.sizes.mean())}
    return Audit("anatomized", manifest["rows"], len(listed.sizes), manifest["withheld"], verdicts, achieved, utility,
                 source=proven, notes=(NOTE,))  # fmt: skip


@dataclass(frozen=True, eq=False)
class Found:
    """What both files say: how many rows have each combination of quasi-identifiers, and each group's histogram."""

    column: str
    alike: np.ndarray
    listed: Histograms


def _read(folder: Path, manifest: Mapping[str, Any]) -> Found:
    names = [Path(name).stem for name in manifest["data"]]
    if names != ["quasi", "sensitive"] or not set(manifest["data"]) <= set(manifest["files"]):
        raise BundleDamaged(
            "An anatomized release has the files 'quasi' and 'sensitive'.", why=f"This one names {len(names)} file(s)."
        )
    if sum(entry.get("role") == "sensitive" for entry in manifest["columns"]) != 1:
        raise BundleDamaged("An anatomized release has one sensitive column.")
    try:
        return _recounted(folder, manifest)
    except BundleDamaged:
        raise
    except Exception:  # the libraries' messages quote values
        raise BundleDamaged(
            "The files do not hold what the manifest says.", why="A column has values of another type."
        ) from None


def _recounted(folder: Path, manifest: Mapping[str, Any]) -> Found:
    """Both files, each read once; quasi-identifiers are counted as they are read and not kept."""
    rows, values = (folder / name for name in manifest["data"])
    known = schemas(manifest["columns"])
    quasi = [entry["name"] for entry in manifest["columns"] if entry["role"] == "quasi-identifying"]
    _, alike = count_data(rows, known["quasi"], only=quasi)
    beside = read_data(rows, known["quasi"], only={entry["name"] for entry in known["quasi"]} - set(quasi))
    held = read_data(values, known["sensitive"])
    column = next(entry for entry in manifest["columns"] if entry["role"] == "sensitive")
    return Found(column["name"], alike, _together(beside[GROUP], held, column, manifest["rows"]))


def _together(rows: pl.Series, held: pl.DataFrame, column: Mapping[str, Any], stated: int) -> Histograms:
    """The groups' histograms, if both files have the same groups, with as many rows as values."""
    faults = []
    if len(rows) != stated:
        faults.append(f"the data has {len(rows)} rows, the manifest says {stated}")
    if not len(rows):
        faults.append("there are no rows")
    if rows.null_count() or held[GROUP].null_count() or held[COUNT].null_count() or (held[COUNT] < 1).any():
        faults.append("a group or a count is missing or not positive")
    if not faults and not len(held):
        faults.append("no group has values")
    if not faults:
        listed = histograms(column, held)
        if not (wrong := uneven(rows.to_numpy(), listed.groups, listed.sizes)):
            return listed
        faults.append(f"{wrong} group(s) have not as many rows as values")
    raise BundleDamaged("The two files of the release do not belong together.", why="; ".join(faults) + ".")


def uneven(rows: np.ndarray, groups: np.ndarray, sizes: np.ndarray) -> int:
    """How many groups have another number of rows (`rows` has the group of each) than of values (`sizes`, of each of `groups`)."""
    if (rows[1:] < rows[:-1]).any():
        rows = np.sort(rows)
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    mine, lengths = rows[starts], np.diff(np.append(starts, len(rows)))
    if np.array_equal(mine, groups):
        return int((lengths != sizes).sum())
    both = np.union1d(mine, groups)
    has, holds = np.zeros((2, len(both)), np.int64)
    has[np.searchsorted(both, mine)] = lengths
    holds[np.searchsorted(both, groups)] = sizes
    return int((has != holds).sum())


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


def compare(tables: Tables, manifest: Mapping[str, Any], source: Any) -> Traced:
    """Every combination of quasi-identifiers, and every value, is published no more often than the source has it."""
    from reticent.table.source import Source, collect, scan

    quasi = [entry["name"] for entry in manifest["columns"] if entry["role"] == "quasi-identifying"]
    given = isinstance(source, str | Path)
    wanted = source if isinstance(source, Source) else Source(path=str(source) if given else None)
    lazy = scan(wanted, None if given or isinstance(source, Source) else source)
    rows = collect(lazy.select(*quasi, tables.column), "Reading the source")
    texts = [pl.col(name).cast(pl.String) for name in quasi]
    once = pl.lit(1, pl.Int64).alias(COUNT)
    value = pl.col(tables.column).cast(pl.String)
    foreign = (
        _beyond(tables.quasi.select(*texts, once), rows.select(*texts, once), quasi),
        _beyond(tables.sensitive.select(value, pl.col(COUNT)), rows.select(value, once), [tables.column]),
    )
    return Traced(len(rows), *foreign, len(rows) - len(tables.quasi), manifest["withheld"])


def _beyond(shown: pl.DataFrame, held: pl.DataFrame, keys: list[str]) -> int:
    """How many of the rows shown, counted by their keys, are more than were held."""
    counted = [frame.group_by(keys).agg(pl.col(COUNT).cast(pl.Int64).sum()) for frame in (shown, held)]
    both = counted[0].join(counted[1], on=keys, how="left", suffix=" held", nulls_equal=True)
    more = both[COUNT] - both[f"{COUNT} held"].fill_null(0)
    return int(more.clip(lower_bound=0).sum())
