"""An audit against the source finds the same whether it holds both tables or reads them in parts of a few rows."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from reticent.audit.source_comparison import is_small_source
from reticent.errors import AuditFailed, JobError
from tests.support import method_promise_pairs
from tests.support.audit_comparison import assert_same, in_parts
from tests.support.method_promise_pairs import Pair, drafted
from tests.support.tampering import foreign_value, planted, resealed

FIRST = {pair.method: pair for pair in reversed(method_promise_pairs.pairs())}
TURNS = {
    "plain": (),
    "carried": (method_promise_pairs.carry,),
    "after a stage, carried": (method_promise_pairs.stage, method_promise_pairs.carry),
    "missing, carried": (method_promise_pairs.lose_quasi, method_promise_pairs.carry),
    "rows withheld, CSV": (method_promise_pairs.withhold, method_promise_pairs.carry, method_promise_pairs.as_csv),
    "in parts": (method_promise_pairs.cut,),
    "in parts, carried, CSV": (method_promise_pairs.carry, method_promise_pairs.as_csv, method_promise_pairs.cut),
}
pytestmark = pytest.mark.usefixtures("small_parts")


def told(folder: Path, source: Path, job: rt.Job | None = None) -> Any:
    """All that an audit says, or its refusal."""
    try:
        return rt.audit(folder, source=source, job=job).to_dict()
    except AuditFailed as error:
        return str(error)


def compared(folder: Path, source: Path, job: rt.Job | None = None) -> Any:
    whole = told(folder, source, job)
    with in_parts():
        assert_same(whole, told(folder, source, job))
    return whole


def published(pair: Pair, turns: tuple, place: Path, source: str = "parquet") -> tuple[rt.Release, Path, rt.Job]:
    """A release, and the file that it was made from."""
    draft = drafted(pair, *turns)
    path = place / f"source.{source}"
    draft.frame.write_parquet(path, row_group_size=50) if source == "parquet" else draft.frame.write_csv(path)
    job = draft.job().at(source=rt.Source(path=str(path)))
    return rt.publish(job, to=place / "release", seed=11), path, job


@pytest.mark.parametrize("name", TURNS)
@pytest.mark.parametrize("method", catalogue.METHODS)
def test_an_honest_release_is_judged_alike_in_one_part_and_in_many(method, name, tmp_path):
    try:
        release, source, job = published(FIRST[method], TURNS[name], tmp_path)
    except JobError:
        return  # the pair does not have this turn, which others show
    found = compared(release.folder, source, job)
    assert found["source"]["passed"], found["source"]["sentences"]


@pytest.mark.parametrize("method", ["mondrian", "burel", "anatomy", "beta-perturbation", "perturbed-generalization"])
def test_a_csv_is_judged_alike_in_one_part_and_in_many(method, tmp_path):
    turns = () if method == "perturbed-generalization" else (method_promise_pairs.carry,)
    release, source, job = published(FIRST[method], turns, tmp_path, "csv")
    found = compared(release.folder, source, job)
    assert found["source"]["passed"], found["source"]["sentences"]


def another_source(release: rt.Release, source: Path, place: Path) -> Path:
    frame = pl.read_parquet(source)
    frame.with_columns(age=pl.col("age") + 1).write_parquet(source)
    return Path(release.folder)


def in_the_sources_order(release: rt.Release, source: Path, place: Path) -> Path:
    tables = dict(release.tables)
    first = next(iter(tables))
    name = "visits" if "visits" in tables[first].columns else "age"
    pl.read_parquet(source).sort(name).write_parquet(source)
    by = pl.col(name).cast(pl.String).str.extract(r"(\d+)").cast(pl.Int64)
    return resealed(release, place / "sorted", tables | {first: tables[first].sort(by)})


def a_canary(release: rt.Release, source: Path, place: Path) -> Path:
    secret = pl.read_parquet(source, columns=["name"])["name"][-1]
    return planted(release, place / "planted", secret)


def of_role(role: str) -> Callable[[rt.Release, Path, Path], Path]:
    return lambda release, source, place: foreign_value(release, place / "foreign", role)


def fewer_rows(release: rt.Release, source: Path, place: Path) -> Path:
    pl.read_parquet(source).head(-5).write_parquet(source)
    return Path(release.folder)


FORGED: dict[str, Callable[[rt.Release, Path, Path], Path]] = {
    "another source": another_source,
    "rows in the source's order": in_the_sources_order,
    "a name in the metadata": a_canary,
    "a foreign quasi-identifier": of_role("quasi-identifying"),
    "a foreign sensitive value": of_role("sensitive"),
    "a foreign carried value": of_role("insensitive"),
    "a source with fewer rows": fewer_rows,
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize(
    "method", ["mondrian", "burel", "anatomy", "beta-perturbation", "perturbed-generalization", "mosaic"]
)
def test_a_forged_release_is_found_alike_in_one_part_and_in_many(method, forged, tmp_path):
    turns = (method_promise_pairs.carry,)
    try:
        release, source, _ = published(FIRST[method], turns, tmp_path)
    except JobError:
        release, source, _ = published(FIRST[method], (), tmp_path)
    if forged == "a foreign carried value" and not any(entry.role == "insensitive" for entry in release.columns):
        return
    folder = FORGED[forged](release, source, tmp_path)
    found = compared(folder, source)
    assert isinstance(found, str) or found["kept"] is False or not found["source"]["passed"]


def test_a_packed_source_is_as_large_as_what_it_opens_to(tmp_path):
    text = "q,s\n" + "1,flu\n" * 100_000
    (tmp_path / "people.csv").write_text(text)
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress(text.encode()))
    for little in (1 << 20, 1 << 26, 3 << 30):
        plain, packed = (
            is_small_source(rt.Source(path=str(tmp_path / name)), max_bytes=little)
            for name in ("people.csv", "people.csv.gz")
        )
        assert plain == packed == (little > 1 << 20)


def test_a_person_whom_a_publisher_names_is_found_alike_in_one_part_and_in_many(tmp_path):
    frame = pl.DataFrame(
        {
            "name": [f"Person Number{number}" for number in range(400)],
            "age": [20 + number % 60 for number in range(400)],
            "illness": ["flu", "cold", "gout", "acne"] * 100,
        }
    )
    frame.write_parquet(tmp_path / "source.parquet", row_group_size=50)
    columns = {"name": "identifying", "age": "quasi", "illness": "sensitive"}
    about = {"title": "The case of Person Number123", "period": "2024", "contact": "Acne Research, Number 7"}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(3)], about=about, source=tmp_path / "source.parquet")
    release = rt.publish(job, to=tmp_path / "release", seed=11)
    found = compared(release.folder, tmp_path / "source.parquet", job)
    assert [(leak["column"], leak["values"]) for leak in found["source"]["leaks"]] == [("name", 1)]
