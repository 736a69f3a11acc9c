"""A small job over people with a name, an age, a city and an illness, whose columns, source and frame a test replaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import reticent as rt
from reticent.job.parse import parse_job

ROWS = 60
CITIES = ("Ulm", "Bonn", "Kiel", "Jena")
ILLNESSES = ("flu", "cold", "gout")
COLUMNS: dict[str, Any] = {
    "name": "identifying",
    "age": {"role": "quasi-identifying", "type": "numeric"},
    "city": "quasi-identifying",
    "illness": "sensitive",
}


def make_people(**columns: Any) -> pl.DataFrame:
    """Return sixty people; a column that is given replaces the one of its name, or is added."""
    rows = range(ROWS)
    people = {
        "name": [f"p{row:02d}" for row in rows],
        "age": [20 + row * 7 % 40 for row in rows],
        "city": [CITIES[row % 4] for row in rows],
        "illness": [ILLNESSES[row * 5 % 3] for row in rows],
    }
    return pl.DataFrame({**people, **columns}, strict=False)


def write_people(path: str, **columns: Any) -> None:
    """Write the people to a CSV or Parquet file, whose folder is made."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    people = make_people(**columns)
    if path.endswith(".parquet"):
        people.write_parquet(path)
    else:
        people.write_csv(path)


def publish(
    frame: Any = None, columns: dict[str, Any] | None = None, source: dict[str, Any] | None = None, **parts: Any
) -> rt.Release:
    """Publish the people of a frame, or of a source; `columns` are those that the job declares otherwise, or not (None)."""
    if frame is None and source is None:
        frame = make_people()
    declared = {name: column for name, column in {**COLUMNS, **(columns or {})}.items() if column is not None}
    table = {"columns": declared, "promise": [{"model": "k-anonymity", "k": 3}], **parts}
    engine = table.pop("engine", "local")
    if source is not None:
        table["source"] = source
    return rt.publish(parse_job(table), frame=frame, seed=1, engine=engine)


def publish_file(path: str = "people.csv", columns: dict[str, Any] | None = None, **options: Any) -> rt.Release:
    """Publish the people of a file with these options of [source]."""
    return publish(columns=columns, source={"path": path, **options})


def publish_column(name: str, values: Any, **options: Any) -> rt.Release:
    """Publish the people with these values of a column, declared with these options; a quasi-identifying one unless said."""
    return publish(make_people(**{name: values}), {name: {"role": "quasi-identifying", **options}})
