"""Every public callable with arguments that work, and values that are wrong almost everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import reticent as rt

PEOPLE = pl.DataFrame(
    {"age": [20, 21, 22, 41, 42, 43] * 2, "city": ["a", "b", "a", "b", "a", "b"] * 2, "d": ["x", "y", "z"] * 4}
)
WRONG: dict[str, Any] = {
    "a text": "nonsense",
    "an empty text": "",
    "a long text": "x" * 5_000,
    "a text with NUL": "a\0b",
    "bytes": b"x",
    "a class": rt.KAnonymity,
    "an object": object(),
    "a promise": rt.KAnonymity(3),
    "a function": lambda *args, **options: None,
    "None": None,
    "True": True,
    "a number": 3,
    "a negative number": -1,
    "a fraction": 2.5,
    "no number": float("nan"),
    "an empty list": [],
    "a list of numbers": [3],
    "a list of texts": ["x"],
    "a pair": (1, 2),
    "an empty table": {},
    "a table": {"a": 3},
    "a frame": PEOPLE,
}
FLAGS = {"True"}
NOTHING = {"None"}
LISTS = {"a text", "an empty text", "a long text", "a text with NUL", "an empty list", "a list of texts"}
TEXTS = {"a text", "an empty text", "a long text", "a text with NUL", "None"}
FITS: dict[str, set[str]] = {
    # By parameter, or "callable.parameter": wrong values that fit there after all.
    "frame": {"None", "a frame"},
    "to": NOTHING,
    "seed": {"None", "a number", "a negative number"},
    "part_rows": {"None"},
    "ledger": {"None", "a text"},  # of a temporary release it is kept for later
    "progress": {"a function"},
    "finished": {"a function"},
    "warn": {"a function"},
    "format": NOTHING,
    "together": NOTHING,
    "loss_at_most": NOTHING,
    "odds_at_most": {"None", "a number", "a fraction"},
    "density": NOTHING,
    "bandwidth_by": NOTHING,
    "refine": {"None", "a number"},
    "draw": NOTHING,
    "Suppression.prior": NOTHING,
    "rates": NOTHING,
    "map": NOTHING,
    "Release.count.where": NOTHING,
    "Release.count.values": {"None", "an empty list", "a list of texts"},
    "budget": {"None", "a number", "a fraction"},
    "time_limit": {"None", "a number", "a fraction"},
    "watch": NOTHING,
    "cells": NOTHING,
    "source": {"None", "a frame"},
    "job": NOTHING,
    "population": {"None", "a frame"},
    "expect_digest": NOTHING,
    "promises": {"an empty list", "a promise"},
    "missing": LISTS,
    "quasi": {"None", "an empty list"},
    "person": {"None", "an empty list"},
    "persons": LISTS,
    "sensitive": {"None", "an empty list"},
    "methods": {"None", "an empty list"},
    "columns": {"None", "an empty table"},
    "hierarchy": {"None", "an empty table", "an empty list"},
    "method": NOTHING,
    "prepare": {"an empty list"},
    "column": TEXTS,
    "type": NOTHING,
    "order": {"None", "a list of numbers", "a list of texts", "a pair"},
    "domain": {"None", "a pair"},
    "top": {"None", "a number", "a negative number", "a fraction"},
    "bottom": {"None", "a number", "a negative number", "a fraction"},
    "round_to": {"None", "a number", "a fraction"},
    "rows_per_person": {"None", "a number"},
    "weights": {"None", "an empty table", "a table"},
    "labels": NOTHING,
    "threads": {"None", "a number"},
    "size": {"None", "a number"},
    "fakes": {"a number"},
    "arity": {"a number"},
    "workload": {"None", "an empty table"},
    "group_by": {*TEXTS, "a list of texts", "an empty table"},
    "p": NOTHING,
    "s": NOTHING,
    "categories": NOTHING,
    "distances": {"None", "an empty table"},
    "bandwidth": {"a number", "a fraction", "a table"},
    "smoothing": {"a number", "a fraction"},
    "level": {"a number"},
    "kinds": {"an empty list"},
    "values": {"None", "a number"},
    "rho1": NOTHING,
    "acknowledge": {"None", "True"},
    "effort": {"a number", "a fraction"},
    "root": {"a text", "a long text", "a text with NUL"},
    "leaves": {"a list of numbers", "a list of texts", "a pair", "a frame"},
    "beside": {"None", "a text"},
    "about": {"None", "an empty table"},
    "judges": {"an empty list"},
    "release": {"a frame"},
    "table": {"a frame"},
    **{
        f"{name}.hierarchy": {"None", "a text", "an empty list", "an empty table", "a table"}
        for name in ("Column", "quasi", "sensitive")
    },
    "sweep.k": {"a list of numbers"},
    **{f"{name}.methods": NOTHING for name in ("compare", "advise")},
    **{f"{name}.rows": NOTHING for name in ("compare", "advise")},  # three rows are too few
    **{f"{name}.{part}": {"a number"} for name in ("compare", "advise") for part in ("runs", "seed")},
    "Spark.master": TEXTS,
    "Spark.config": {"an empty table"},
    "Spark.regions": {"None", "a number"},
    "compare.attacks": {"None", "an empty list"},
    "compare.classification": {"None", "True"},
    "compare.tables": {"None", "an empty table"},
    "compare.k": {"a list of numbers"},
    "queries": {"a number"},
    "Workload.draw.sizes": {"a pair"},
    "rows": {"None", "a number"},
    "Hierarchy.from_rows.rows": set(),
    "calibrate all.rows": set(),
    "Job.source": {"a text", "None", "an empty table"},
    "Job.at.source": {"a text", "None", "an empty table"},
    "Hierarchy.save.path": {"a text"},
    "Release.to_database.table": {"a text", "an empty text", "a long text"},
    "KMap.population": {"a text", "a frame", "an object", "a promise"},
    **{f"Hierarchy.{name}.name": TEXTS - NOTHING for name in ("of", "from_rows", "read")},
    **{f"Source.{name}": TEXTS for name in ("path", "url", "table", "query", "delimiter", "quote", "encoding")},
    "PerturbedGeneralization.domain": {"None", "a list of numbers", "a list of texts", "a pair"},
    "PerturbedGeneralization.k": {"None", "a number"},
    "PerturbedGeneralization.reference": NOTHING,
    "Distribution.k": {"None", "a number"},
}
NUMBERS = {"a number", "a fraction"}
for whole in ("k", "l"):
    FITS.setdefault(whole, {"a number"})
for real in ("beta", "delta", "c", "width", "t"):
    FITS.setdefault(real, NUMBERS)
FITS |= {f"{name}.l": NUMBERS for name in ("ProbabilisticLDiversity", "EntropyLDiversity")}

Call = tuple[Callable[..., Any], dict[str, Any]]


def columns() -> dict[str, rt.Column]:
    return {"age": rt.quasi(), "city": rt.quasi(), "d": rt.sensitive()}


def job() -> rt.Job:
    return rt.Job(source="people.csv", columns=columns(), promises=[rt.KAnonymity(3)])


def functions(release: rt.Release, planned: Any, folder: Path) -> dict[str, Call]:
    """The functions, and the methods of what they return."""
    rows = [["a", "*"], ["b", "*"]]
    given = {"columns": {"age": "quasi", "d": "sensitive"}, "promise": [{"model": "k-anonymity", "k": 3}]}
    sql = "SELECT COUNT(*) FROM release"
    return {
        "publish": (rt.publish, {"job": job()}),
        "publish_batches": (rt.publish_batches, {"job": job(), "by": "city", "to": folder / "batches"}),
        "audit": (rt.audit, {"release": release}),
        "report": (rt.report, {"release": release}),
        "audit of a table": (rt.audit, {"release": PEOPLE, "quasi": ["age"], "sensitive": ["d"]}),
        "open": (rt.open, {"folder": release.folder}),
        "Release": (rt.Release, {"folder": release.folder}),
        "check": (rt.check, {"job": job()}),
        "count": (rt.count, {"job": job()}),
        "plan": (rt.plan, {"job": job()}),
        "measure": (rt.measure, {"planned": planned}),
        "releases": (rt.releases, {}),
        "find_people": (rt.find_people, {"persons": ["p0003"]}),
        "withdraw": (rt.withdraw, {"release": release.folder, "reason": "wrong column"}),
        "forget": (rt.forget, {"job": job(), "persons": ["p0003"], "to": folder / "less.parquet"}),
        "calibrate": (rt.calibrate, {"method": "suppression", "counts": [10, 4, 2, 1, 1], "l": 3}),
        "calibrate all": (rt.calibrate, {"method": "suppression", "rows": 8, "values": 3, "l": 2, "kinds": ["safe"]}),
        "calibrate p": (
            rt.calibrate,
            {"method": "perturbed-generalization", "p": 0.3, "k": 6, "lambda_": 0.1, "rho1": 0.2, "domain": 50},
        ),
        "risk": (rt.risk, {"table": PEOPLE, "quasi": ["age"]}),
        "record_risk": (rt.record_risk, {"table": PEOPLE, "quasi": ["age"]}),
        "attack": (rt.attack, {"release": release, "source": PEOPLE, "name": "naive-bayes"}),
        "Job": (rt.Job, {"source": "people.csv", "columns": columns(), "promises": [rt.KAnonymity(3)]}),
        "Job.read": (rt.Job.read, {"path": "absent.toml"}),
        "Job.from_dict": (rt.Job.from_dict, {"table": given}),
        "Job.at": (job().at, {"source": "people.csv", "columns": columns(), "promises": [rt.KAnonymity(3)]}),
        "Output": (rt.Output, {}),
        "Source": (rt.Source, {"path": "people.csv"}),
        "Column": (rt.Column, {"role": "quasi"}),
        "quasi": (rt.quasi, {}),
        "sensitive": (rt.sensitive, {}),
        "identifying": (rt.identifying, {}),
        "insensitive": (rt.insensitive, {}),
        "Hierarchy.of": (rt.Hierarchy.of, {"given": rows}),
        "Hierarchy.read": (rt.Hierarchy.read, {"path": "absent.csv"}),
        "Hierarchy.from_rows": (rt.Hierarchy.from_rows, {"rows": rows}),
        "Hierarchy.flat": (rt.Hierarchy.flat, {"leaves": ["a", "b"]}),
        "Hierarchy.save": (rt.Hierarchy.from_rows(rows).save, {"path": folder / "saved.csv"}),
        "Release.save": (release.save, {"target": folder / "saved", "again": True, "force": True}),
        "Release.frame": (release.frame, {}),
        "Release.count": (release.count, {}),
        "Release.query": (release.query, {"sql": sql}),
        "Release.measure": (release.measure, {"questions": [sql]}),
        "Release.analyze": (release.analyze, {"analyses": [{"table": ["d"]}]}),
        "Release.sql": (release.sql, {"sql": sql, "dialect": "duckdb"}),
        "Release.sight": (release.sight, {"cells": planned.cells}),
        "Release.value_counts": (release.value_counts, {"column": "d"}),
        "Release.to_database": (release.to_database, {"url": "sqlite:///x.db", "table": "t"}),
        "Plan.histogram": (planned.histogram, {}),
        "sweep": (rt.sweep, {"job": job(), "k": [2, 3]}),
        "compare": (rt.compare, {"jobs": job(), "k": [2], "attacks": [], "classification": False}),
        "advise": (rt.advise, {"job": job(), "purpose": "counts", "runs": 1, "methods": ["mondrian"]}),
        "Workload.draw": (
            rt.Workload.draw,
            {"sizes": [5, 4], "predicates": 1, "selectivity": 0.1, "queries": 5, "rng": np.random.default_rng(1)},
        ),
        "datasets.hierarchies": (rt.datasets.hierarchies, {"name": "census"}),
    }


GOOD: dict[str, dict[str, Any]] = {
    "KMap": {"k": 3, "population": PEOPLE},
    "AlphaKAnonymity": {"alpha": 0.5, "k": 3},
    "TCloseness": {"t": 0.3},
    "RecursiveLDiversity": {"c": 2, "l": 2},
    "ProximityLikeness": {"beta": 4, "width": 2},
    "RhoGuarantee": {"rho1": 0.2, "rho2": 0.5, "lambda_": 0.1},
    "DeltaGrowth": {"delta": 0.3, "lambda_": 0.1},
    "BTPrivacy": {"bandwidth": 0.3, "t": 0.2},
    "Skyline": {"points": [{"bandwidth": 0.3, "t": 0.2}]},
    "PPrivacy": {"target": "uniform"},
}


def constructors() -> dict[str, Call]:
    """Every promise, method and stage, and the engine that has options."""
    from reticent import catalogue, registry

    found: dict[str, Call] = {}
    for table, load in (
        (catalogue.PROMISES, registry.load_promise_class),
        (catalogue.METHODS, registry.load_method_class),
        (catalogue.STAGES, registry.load_stage_class),
    ):
        for name in table:
            made: Any = load(name)
            needed = [one.name for one in signature(made).parameters.values() if one.default is Parameter.empty]
            found[made.__name__] = (made, GOOD.get(made.__name__, dict.fromkeys(needed, 3)))
    return {**found, "Spark": (rt.Spark, {})}


def wrong_calls(calls: dict[str, Call]) -> Iterator[tuple[str, Callable[..., Any], dict[str, Any], bool]]:
    """(what, callable, arguments, whether the wrong value fits there after all)."""
    for name, (function, good) in calls.items():
        shape = signature(function).parameters.values()
        parameters = [one.name for one in shape if one.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)]
        for parameter in dict.fromkeys([*parameters, *good, "unheard_of"]):
            switch = isinstance(next((p.default for p in shape if p.name == parameter), None), bool)
            fits = FITS.get(f"{name}.{parameter}", FITS.get(parameter, FLAGS if switch else set()))
            for wrong, value in WRONG.items():
                yield f"{name}({parameter} = {wrong})", function, {**good, parameter: value}, wrong in fits
