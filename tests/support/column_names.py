"""Column names that an engine itself uses, and a release that carries them."""

from __future__ import annotations

from collections import Counter

import polars as pl

import reticent as rt
from tests.support.release_comparison import in_pieces

NAMES = (
    "bucket", "c0", "c1", "cell", "column", "count", "entry", "hash", "index", "l0", "label", "len", "length", "literal", "name",
    "nth", "number", "part", "position", "proportion", "q0", "row", "row_nr", "rows", "s0", "times", "v0", "value", "values", "word",
)  # fmt: skip


def table(called: dict[str, str] | None = None) -> pl.DataFrame:
    held = {"a": [at % 9 for at in range(90)], "b": [at % 4 for at in range(90)], "c": ["x", "y", "z"] * 30}
    return pl.DataFrame(held).rename(called or {})


def assert_any_name_is_carried(engine) -> None:
    frame = table().with_columns(pl.Series([f"{name}-{at}" for at in range(90)]).alias(name) for name in NAMES)
    carried = {name: rt.insensitive(acknowledge=True) for name in NAMES}
    columns = {"a": rt.quasi(), "b": rt.quasi(), "c": rt.sensitive(), **carried}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(4)])
    with in_pieces():
        release = rt.publish(job, frame=frame, engine=engine, seed=1)
    kept = ["c", *NAMES]
    assert Counter(release.frame().select(kept).rows()) == Counter(frame.select(kept).rows())
    assert rt.audit(release, source=frame, job=job).source.passed
