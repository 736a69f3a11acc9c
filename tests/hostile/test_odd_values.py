"""Values and files that no release can hold or no reader reads are refused by name before anything is written."""

from __future__ import annotations

import random

import polars as pl
import pytest

import reticent as rt
from reticent.errors import ColumnError, SourceError
from reticent.job.draft import draft_job
from tests.support.value_types import KINDS

ROWS = 60
PEOPLE = {
    "age": [20 + at % 20 for at in range(ROWS)],
    "illness": [["flu", "cold", "gout"][at % 3] for at in range(ROWS)],
}
LONG = ["x" * 1_000_000 + str(at % 4) for at in range(ROWS)]
YEAR_0 = -719_528  # its first day, in days from 1970


def published(tmp_path, columns, frame, method=None, promise=None, **more):
    job = rt.Job(
        columns=columns, promises=[promise or rt.KAnonymity(3)], method=method, release=rt.Output(undeclared="drop")
    )
    return rt.publish(job, frame=frame, to=tmp_path / "release", seed=1, **more)


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_a_quasi_identifier_of_a_million_characters_is_refused_before_writing(engine, tmp_path):
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "text": rt.quasi()}
    frame = pl.DataFrame({**PEOPLE, "text": LONG})
    with pytest.raises(ColumnError, match="'text' has 4 values of more than 65,536 characters") as refused:
        published(tmp_path, columns, frame, engine=engine)
    assert "xxx" not in str(refused.value)
    assert not (tmp_path / "release").exists()
    with pytest.raises(ColumnError, match="'text' has 4 values"):
        rt.check(rt.Job(columns=columns, promises=[rt.KAnonymity(3)]), frame=frame)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sensitive_value_of_a_million_characters_is_published_or_refused_before_writing(kind, tmp_path):
    method, promise = KINDS[kind]
    declared = sorted(set(LONG)) if kind == "sampled" else None
    columns = {"age": rt.quasi(), "text": rt.sensitive(domain=declared)}
    frame = pl.DataFrame({**PEOPLE, "text": LONG})
    if kind in ("generalized", "anatomized"):  # whose manifests list no sensitive value
        assert published(tmp_path, columns, frame, method, promise).audited.kept
        return
    with pytest.raises(ColumnError, match="'text' has 4 values of more than 65,536 characters"):
        published(tmp_path, columns, frame, method, promise)
    assert not (tmp_path / "release").exists()


DATES = {
    "days of the year 0": pl.Series([YEAR_0 + at for at in range(ROWS)], dtype=pl.Int32).cast(pl.Date),
    "days before": pl.Series([YEAR_0 - 40 * at - 1 for at in range(ROWS)], dtype=pl.Int32).cast(pl.Date),
    "days after 9999": pl.Series([2_932_897 + at for at in range(ROWS)], dtype=pl.Int32).cast(pl.Date),
    "moments of the year 0": pl.Series([(YEAR_0 + at) * 86_400_000_000 for at in range(ROWS)]).cast(pl.Datetime("us")),
    "moments of a zone": pl.Series([(YEAR_0 + at) * 86_400_000 for at in range(ROWS)]).cast(pl.Datetime("ms", "UTC")),
}
ROLES = {"quasi": rt.quasi(), "sensitive": rt.sensitive(), "insensitive": rt.insensitive(acknowledge=True)}


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("what", DATES)
def test_dates_before_the_year_1_and_after_9999_are_refused_before_writing(what, role, engine, tmp_path):
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "day": ROLES[role]}
    if role == "sensitive":
        del columns["illness"]
    with pytest.raises(ColumnError, match=r"'day': .*lie before the year 1 or after the year 9999"):
        published(tmp_path, columns, pl.DataFrame({**PEOPLE, "day": DATES[what]}), engine=engine)
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("written", [["0000-01-01", "0001-03-01"], ["-0005-03-01", "2000-01-01"]])
def test_written_dates_before_the_year_1_are_refused_before_writing(written, tmp_path):
    frame = pl.DataFrame({**PEOPLE, "day": [written[at % 2] for at in range(ROWS)]})
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "day": rt.quasi(type="date")}
    with pytest.raises(ColumnError, match="'day'"):
        published(tmp_path, columns, frame)


def test_dates_of_the_year_0_may_identify(tmp_path):
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "day": rt.identifying()}
    assert published(tmp_path, columns, pl.DataFrame({**PEOPLE, "day": DATES["days before"]})).audited.kept


NESTED = {"List": [[1, 2]] * ROWS, "Duration": pl.Series([1] * ROWS).cast(pl.Duration("us"))}


@pytest.mark.parametrize("what", NESTED)
def test_a_plain_parquet_with_a_column_of_lists_is_refused_by_its_name(what, tmp_path):
    path = str(tmp_path / "people.parquet")
    pl.DataFrame({**PEOPLE, "entries": NESTED[what]}).write_parquet(path)
    said = f"'entries' has the type {what}"
    for asked in (
        lambda: rt.risk(path),
        lambda: rt.risk(path, quasi=["age", "entries"]),
        lambda: rt.audit(path, quasi=["entries"], sensitive=["illness"]),
        lambda: rt.audit(path, quasi=["age"], sensitive=["entries"]),
        lambda: rt.attack(path, path, quasi=["entries"], sensitive=["illness"]),
    ):
        with pytest.raises(ColumnError, match=said):
            asked()
    assert rt.risk(path, quasi=["age"]).rows == ROWS


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_damaged_part_of_a_columnar_file_is_called_damage_and_no_fault_of_a_csv(ending, engine, tmp_path):
    draw = random.Random(3)
    path = tmp_path / f"people.{ending}"
    frame = pl.DataFrame(
        {"age": [draw.randint(20, 60) for _ in range(5_000)], "illness": [str(draw.random())[:4] for _ in range(5_000)]}
    )
    if ending == "parquet":
        frame.write_parquet(path, row_group_size=1_000)
    else:
        frame.write_ipc(path)
    raw = bytearray(path.read_bytes())
    for at in range(1_000, 1_400) if ending == "parquet" else range(200, 300):
        raw[at] ^= 0x5A
    path.write_bytes(raw)
    job = rt.Job(source=str(path), columns={"age": rt.quasi(), "illness": rt.sensitive()}, promises=[rt.KAnonymity(3)])
    for asked in (
        lambda: rt.publish(job, engine=engine),
        lambda: rt.risk(path),
        lambda: draft_job(rt.Source(path=str(path))),
    ):
        with pytest.raises(SourceError, match="file of the source is damaged") as refused:
            asked()
        assert "delimiter" not in str(refused.value)
