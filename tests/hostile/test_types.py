"""type x role x kind x format: each cell is published, opened and passes its audit, or is refused by the column's name."""

from __future__ import annotations

import os

import polars as pl
import pytest

import reticent as rt
from reticent.engines import local
from reticent.errors import ColumnError, JobError, PromiseUnreachable
from tests.support.value_types import KINDS, MORE_TYPES, REFUSED, ROLES, TYPES, job, table

ALL = [(kind, role, format) for kind in KINDS for role in ROLES for format in ("parquet", "csv")]
BY_KIND = (ColumnError, PromiseUnreachable, JobError)  # a kind may take no such column; the message names it


def cells(name: str) -> list[tuple[str, str, str]]:
    """All forty, or a fifth of them, others for each type: `make hostile` runs all."""
    if os.environ.get("HOSTILE") == "all":
        return ALL
    return ALL[len(name) % 5 :: 5]


@pytest.mark.parametrize("name", TYPES)
def test_a_type_is_published_and_read_back_or_refused_by_its_columns_name(name, tmp_path):
    held = TYPES[name]
    source = table(held)
    published = 0
    refused = {}
    for kind, role, format in cells(name):
        try:
            place = tmp_path / f"{kind}-{role}-{format}"
            release = rt.publish(
                job(held, role, kind, format), frame=source, to=place, ledger=tmp_path / f"{place}-ledger"
            )
        except BY_KIND as error:
            refused[kind, role, format] = str(error)
            continue
        published += 1
        opened = rt.open(release.folder)
        opened.frame(bounds=True)
        assert rt.audit(release.folder, source=source).kept is not False, (kind, role, format)
        if role in ("sensitive", "insensitive") and kind == "generalized":
            plain = held.cast(pl.String) if isinstance(held.dtype, pl.Categorical | pl.Enum) else held
            given, shown = (
                values.fill_nan(None) if values.dtype.is_float() else values for values in (plain, opened.frame()["c"])
            )
            if (
                plain.dtype != pl.String
            ):  # a text that is a number is published as one; an empty field of a CSV is missing
                assert shown.dtype == plain.dtype
                assert (shown.sort() == given.sort()).all()
    assert published
    for (kind, role, format), said in refused.items():
        assert role == "sensitive" or (role, kind) == ("insensitive", "sampled"), (kind, role, format, said)
        assert "'c'" in said


@pytest.mark.parametrize("name", MORE_TYPES)
def test_an_honest_release_of_a_further_type_is_not_condemned(name):
    """By its files alone, and against its source."""
    held = MORE_TYPES[name]
    published = 0
    source = table(held)
    refusals = []
    chosen = ALL if os.environ.get("HOSTILE") == "all" else ALL[len(name) % 13 :: 13]
    for kind, role, format in chosen:
        try:
            release = rt.publish(job(held, role, kind, format), frame=source)
        except BY_KIND as error:
            refusals.append(str(error))
            continue
        published += 1
        assert rt.audit(release.folder).kept is not False, (kind, role, format)
        found = rt.audit(release.folder, source=source)
        assert found.kept is not False, (kind, role, format, str(found))
    assert published and all("'c'" in said for said in refusals)


@pytest.mark.parametrize("name", REFUSED)
def test_a_type_that_no_release_can_hold_is_refused_by_name_before_counting(name, monkeypatch):
    monkeypatch.setattr(local, "count_rows", None)
    for kind, role, format in ALL:
        if (name, role) == ("Int128", "identifying") or (kind, role) == ("sampled", "insensitive"):
            continue
        with pytest.raises(ColumnError, match=rf"'c' \({role}\) has the type {name}\b"):
            rt.publish(job(REFUSED[name], role, kind, format), frame=table(REFUSED[name]))


@pytest.mark.parametrize(
    ("method", "promise"),
    [
        (rt.Sabre(), rt.TCloseness("0.3")),
        (rt.BetaPerturbation(), rt.BetaLikeness(4)),
        (rt.BetaPerturbation(matrix="optimal"), rt.BetaLikeness(4)),
    ],
)
def test_a_hundred_thousand_sensitive_values_are_refused_before_planning(method, promise):
    many = 100_000
    people = pl.DataFrame({"q": [at % 50 for at in range(many)], "s": [f"v{at}" for at in range(many)]})
    asked = rt.Job(columns={"q": rt.quasi(numeric=True), "s": rt.sensitive()}, promises=[promise], method=method)
    with pytest.raises(ColumnError, match=r"'s' has 100,000 different values; .* takes (1,000|500|100) at most"):
        rt.publish(asked, frame=people)
