"""What each kind of suppression withholds of real tables, and what an adversary learns from it under two priors.

Kinds: `eligible` and `unsafe` need an acknowledgement, `safe` is the default, `calibrated` needs its prior.  Priors:
`uniform` takes all tables of as many rows in the same values to be equally likely, `records` takes the people's values to be
independent.  What is withheld is the exact mean; a posterior is the greatest over all releases that may result, or over
evenly spaced ones of large tables, between the ends that are certain.  Nothing is sampled.
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

import reticent as rt
from studies.skewed.figures import SHARED, Row, violated

KINDS = ("eligible", "unsafe", "calibrated", "safe")
COLUMNS = {
    "adult-workclass": ("adult.parquet", "workclass"),
    "adult-marital": ("adult.parquet", "marital-status"),
    "teachers-employer": ("acs_teachers_2015_2019.parquet", "cow"),
    "deaths-cause": ("nchs_mortality2006_sample.parquet", "Cause"),
    "time-use-marital": ("atus_2003_2016.parquet", "marital"),
}
LEVELS = (2, 3, 4, 5)
SMALL_COUNTS = (30, 8, 6, 5, 4)


def count_values(name: str) -> list[int]:
    """Count the rows of each value of a table's column, falling, rows without one left out."""
    file_name, column = COLUMNS[name]
    values = pl.read_parquet(SHARED / file_name, columns=[column])[column].cast(pl.String)
    known = values.filter(values.is_not_null() & (values != "?"))
    return known.value_counts(sort=True)["count"].to_list()


def real_kinds() -> Iterator[Row]:
    """rows that each kind of suppression withholds of real tables, and the adversary's posteriors under two priors"""
    for name, (file_name, _) in COLUMNS.items():
        if not (SHARED / file_name).exists():
            continue
        counts = count_values(name)
        for l in LEVELS:
            if l <= len(counts) and violated(pl.Series(counts).to_numpy(), l):
                yield from measure_kinds(name, counts, l)


def measure_kinds(name: str, counts: list[int], l: int) -> Iterator[Row]:
    """Measure all kinds on one column: a row for each, in the order of `KINDS`."""
    by_prior = {
        prior: rt.calibrate("suppression", counts=counts, l=l, prior=prior, kinds=list(KINDS))["kinds"]
        for prior in ("uniform", "records")
    }
    for kind in KINDS:
        uniform, records = by_prior["uniform"][kind], by_prior["records"][kind]
        yield {
            "l": l,
            "method": kind,
            "share": uniform["suppressed"] / sum(counts),
            "table": name,
            "rows": sum(counts),
            "values": len(counts),
            "withheld": round(uniform["suppressed"], 1),
            "bound": 1 / l,
            "led, uniform": uniform["worst_posterior"],
            "led, records, low": records.get("low", records["worst_posterior"]),
            "led, records, high": records.get("high", records["worst_posterior"]),
            "withheld person, uniform": uniform["worst_withheld_posterior"],
            "withheld person, records, low": records.get("withheld_low", records["worst_withheld_posterior"]),
            "withheld person, records, high": records.get("withheld_high", records["worst_withheld_posterior"]),
            "releases attacked": records["attacked"],
            "releases": records["releases"],
        }


def priors_growing() -> Iterator[Row]:
    """worst posterior of which value led, counts 30, 8, 6, 5, 4 and their multiples, l = 3, by prior"""
    for times in (1, 2, 3, 4, 6, 8):
        counts = [times * count for count in SMALL_COUNTS]
        for kind in ("safe", "calibrated"):
            for prior in ("uniform", "records"):
                learnt = rt.calibrate("suppression", counts=counts, l=3, prior=prior, kinds=[kind])["kinds"][kind]
                yield {
                    "records": sum(counts),
                    "method": f"{kind}, {prior}",
                    "posterior": learnt.get("low", learnt["worst_posterior"]),
                    "high": learnt.get("high", learnt["worst_posterior"]),
                    "how": learnt["how"],
                    "bound": 1 / 3,
                }


FIGURES: dict[str, Callable[[], Iterator[Row]]] = {"real-kinds": real_kinds, "priors-growing": priors_growing}
