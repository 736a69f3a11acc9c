"""Several formats in one column: each text is read by the first of the list that reads it, and ambiguity is refused."""

from __future__ import annotations

import json
from datetime import date, datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.data.columns import Column
from reticent.data.source import Source
from reticent.data.text_formats import parse_declared
from reticent.errors import ColumnError, JobError
from reticent.job.draft import draft_job
from tests.support.spark_session import spark

FORMATS = ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d %b %Y"]
ROWS = 160
DAYS = [date(1950 + index // 4, 1 + index % 12, 13 + index % 15) for index in range(ROWS)]
WRITTEN = [day.strftime(FORMATS[index % 4]) for index, day in enumerate(DAYS)]
PEOPLE = pl.DataFrame({"born": WRITTEN, "ill": ["flu", "gout", "cold", "none"] * (ROWS // 4)})


def job(source=None, **options):
    columns = {"born": rt.quasi(format=FORMATS, **options), "ill": rt.sensitive()}
    return rt.Job(source=source, columns=columns, promises=[rt.KAnonymity(4)])


def read(texts, formats, **options):
    frame = pl.LazyFrame({"d": texts})
    return parse_declared(frame, {"d": Column("quasi-identifying", format=formats, **options)}).collect()["d"]


@pytest.mark.parametrize("role", [rt.quasi, rt.sensitive, rt.insensitive])
@pytest.mark.parametrize("engine", ["local", "stream", "spark"])
def test_four_formats_of_a_column_are_one_column_of_dates_in_every_engine_and_role(engine, role):
    columns = {"born": role(format=FORMATS, **({"acknowledge": True} if role is rt.insensitive else {}))}
    columns["ill"] = rt.quasi() if role is rt.sensitive else rt.sensitive()
    if role is rt.insensitive:
        columns["age"] = rt.quasi()
    frame = PEOPLE.with_columns(age=pl.Series([20 + index % 3 for index in range(ROWS)])).select(list(columns))
    made = rt.Job(columns=columns, promises=[rt.KAnonymity(4)])
    release = rt.publish(made, frame=frame, seed=1, engine=spark() if engine == "spark" else engine)
    entry = next(entry for entry in release.columns if entry.name == "born")
    assert entry.format == FORMATS
    if role is not rt.quasi:
        assert sorted(release.frame()["born"].cast(pl.String)) == sorted(map(str, DAYS))
    audit = rt.audit(release, source=frame)
    assert audit.kept and audit.source.passed


@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx", "arrow"])
def test_files_of_every_type_are_read_so_by_publish_audit_attack_and_query(tmp_path, kind):
    path = tmp_path / f"people.{kind}"
    write = {"csv": "write_csv", "parquet": "write_parquet", "xlsx": "write_excel", "arrow": "write_ipc"}[kind]
    getattr(PEOPLE, write)(path)
    made = job(Source(path=str(path)))
    release = rt.publish(made, to=tmp_path / "release", seed=1, ledger=tmp_path / "ledger")
    assert rt.audit(tmp_path / "release", source=str(path)).source.passed
    assert rt.attack(release, str(path), "naive-bayes") is not None
    (answer,) = release.measure(["SELECT COUNT(*) FROM release WHERE born >= '1970-01-01'"], source=str(path))
    assert answer["true"] == sum(day >= date(1970, 1, 1) for day in DAYS)


def test_typed_dates_need_no_format_and_ignore_it():
    frame = PEOPLE.with_columns(born=pl.Series(DAYS))
    release = rt.publish(job(), frame=frame, seed=1)
    assert release.columns[0].type == "date"


def test_a_manifest_lists_the_formats_and_a_job_is_written_and_read_back(tmp_path):
    made = job(ambiguous="first")
    assert rt.Job.from_dict(made.to_dict()).columns == made.columns
    (tmp_path / "job.toml").write_text(made.to_toml())
    assert rt.Job.read(tmp_path / "job.toml").columns == made.columns
    release = rt.publish(made, frame=PEOPLE, seed=1)
    manifest = json.loads((release.folder / "manifest.json").read_text())
    assert manifest["columns"][0]["format"] == FORMATS
    assert "ambiguous" not in manifest["columns"][0]


@pytest.mark.parametrize("engine", ["local", "stream", "spark"])
def test_a_text_that_two_formats_read_as_different_dates_is_refused_with_counts(engine):
    texts = ["03/04/2020", "25/12/2020", "12/25/2020", "07/07/2020"] * 10
    frame = pl.DataFrame({"born": texts, "ill": ["flu", "gout", "cold", "none"] * 10})
    columns = {"born": rt.quasi(format=["%m/%d/%Y", "%d/%m/%Y"]), "ill": rt.sensitive()}
    made = rt.Job(columns=columns, promises=[rt.KAnonymity(2)])
    with pytest.raises(ColumnError, match="1 of its 4 distinct values read differently") as refused:
        rt.publish(made, frame=frame, engine=spark() if engine == "spark" else engine)
    assert "'%m/%d/%Y', '%d/%m/%Y'" in str(refused.value)
    assert "03/04" not in str(refused.value)


def test_the_order_of_the_list_decides_where_the_steward_says_so():
    texts = ["03/04/2020", "25/12/2020", "12/25/2020"]
    american = read(texts, ["%m/%d/%Y", "%d/%m/%Y"], ambiguous="first").to_list()
    european = read(texts, ["%d/%m/%Y", "%m/%d/%Y"], ambiguous="first").to_list()
    assert american == [date(2020, 3, 4), date(2020, 12, 25), date(2020, 12, 25)]
    assert european == [date(2020, 4, 3), date(2020, 12, 25), date(2020, 12, 25)]


def test_a_text_that_two_formats_read_as_the_same_date_is_not_ambiguous():
    assert read(["07/07/2020"], ["%m/%d/%Y", "%d/%m/%Y"]).to_list() == [date(2020, 7, 7)]


def test_what_no_format_reads_is_refused_with_a_count():
    with pytest.raises(ColumnError, match=r"2 of its 3 distinct values do not read as one") as refused:
        read(["2020-01-01", "soon", "1/1/20"], ["%Y-%m-%d", "%d.%m.%Y"])
    assert "'%Y-%m-%d' or '%d.%m.%Y'" in str(refused.value)
    assert "soon" not in str(refused.value)


def test_years_of_two_digits_are_read_by_their_own_format_alone():
    texts = ["01.02.1962", "01.02.62", "01.02.22"]
    days = read(texts, ["%d.%m.%Y", "%d.%m.%y"]).to_list()
    assert [day.year for day in days] == [1962, 2062, 2022]


def test_days_beside_moments_are_moments():
    moments = read(["2020-01-31", "31.01.2020 13:45"], ["%Y-%m-%d", "%d.%m.%Y %H:%M"]).to_list()
    assert moments == [datetime(2020, 1, 31), datetime(2020, 1, 31, 13, 45)]


BAD = {
    "an empty list": [],
    "a number": 7,
    "a list with a number": ["%Y-%m-%d", 7],
    "one twice": ["%Y-%m-%d", "%Y-%m-%d"],
    "dates and numbers": ["%Y-%m-%d", "1,234.5"],
    "a zone beside none": ["%Y-%m-%d %H:%M%z", "%Y-%m-%d"],
    "no directive": ["%Y-%m-%d", "year"],
    "too many": [f"%Y-%m-%d{'x' * index}" for index in range(21)],
}


@pytest.mark.parametrize("name", BAD)
def test_a_list_that_is_none_of_formats_is_refused(name):
    with pytest.raises(JobError):
        rt.quasi(format=BAD[name])


def test_a_list_of_one_format_is_that_format():
    assert rt.quasi(format=["%d.%m.%Y"]) == rt.quasi(format="%d.%m.%Y")


def test_ambiguous_without_several_formats_is_refused():
    for options in ({}, {"format": "%d.%m.%Y"}):
        with pytest.raises(JobError, match="several formats"):
            rt.quasi(ambiguous="first", **options)


def test_a_draft_lists_four_formats_with_their_shares(tmp_path):
    pl.concat([PEOPLE] * 3).write_csv(tmp_path / "people.csv")
    draft = draft_job(Source(path=str(tmp_path / "people.csv")))
    column = next(column for column in draft.columns if column.name == "born")
    assert sorted(column.declared["format"]) == sorted(FORMATS)
    for format in FORMATS:
        assert f"25% {format}" in column.why
    (tmp_path / "job.toml").write_text(draft.to_toml())
    assert rt.Job.read(tmp_path / "job.toml").columns["born"].format == column.declared["format"]


def test_a_draft_says_where_the_day_may_be_before_the_month(tmp_path):
    texts = [f"{1 + index % 12:02d}/{1 + index % 11:02d}/20{index % 20:02d}" for index in range(60)]
    texts += [f"20{index % 20:02d}-05-{13 + index % 15}" for index in range(60)]
    pl.DataFrame({"seen": texts * 3}).write_csv(tmp_path / "t.csv")
    (column,) = draft_job(Source(path=str(tmp_path / "t.csv"))).columns
    assert column.declared["format"] == ("%Y-%m-%d", "%m/%d/%Y")
    assert '"%d/%m/%Y" would read as many' in column.why


DAY = st.dates(date(1900, 1, 1), date(2100, 12, 31))
LISTS = st.lists(
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y"]),
    min_size=2,
    max_size=5,
    unique=True,
)


def read_slowly(text: str, formats: list[str]) -> list[date]:
    """Read a text by each format with Python's own reader."""
    days = []
    for format in formats:
        try:
            days.append(datetime.strptime(text, format).date())
        except ValueError:
            continue
    return days


@settings(deadline=None, max_examples=150)
@given(st.data(), LISTS)
def test_random_columns_are_read_as_python_reads_each_text(data, formats):
    written = data.draw(st.lists(st.tuples(DAY, st.sampled_from([*formats, "%Y.%m.%d"])), min_size=1, max_size=12))
    texts = [day.strftime(format) for day, format in written]
    readings = [read_slowly(text, formats) for text in texts]
    is_unread = any(not days for days in readings)
    is_ambiguous = any(len(set(days)) > 1 for days in readings)
    if is_unread or is_ambiguous:
        with pytest.raises(ColumnError):
            read(texts, formats)
    else:
        assert read(texts, formats).to_list() == [days[0] for days in readings]
    if not is_unread:
        assert read(texts, formats, ambiguous="first").to_list() == [days[0] for days in readings]
