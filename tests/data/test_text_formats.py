"""Dates and numbers as people write them: read by their format, in every role, and by the audit as by publish."""

from datetime import UTC, date, datetime

import polars as pl
import pytest

import reticent as rt
from reticent.data.columns import Column
from reticent.data.text_formats import parse_declared
from reticent.errors import ColumnError, JobError

DAYS = [date(1950 + at % 60, 1 + at % 12, 1 + at % 28) for at in range(240)]
WRITTEN = {
    "%m/%d/%Y": [day.strftime("%m/%d/%Y") for day in DAYS],
    "%d.%m.%Y": [day.strftime("%d.%m.%Y") for day in DAYS],
    "%d %b %Y": [day.strftime("%d %b %Y") for day in DAYS],
    "%m/%d/%Y %H:%M": [day.strftime("%m/%d/%Y 13:45") for day in DAYS],
    "%Y-%m-%d %H:%M:%S%z": [day.strftime("%Y-%m-%d 23:30:00-0500") for day in DAYS],
}
SICK = ["flu", "cold", "cough"] * 80


def read(values, **declared) -> pl.Series:
    column = Column("quasi-identifying", **declared)
    return parse_declared(pl.LazyFrame({"d": values}), {"d": column}).collect()["d"]


def test_texts_are_read_by_their_format():
    assert read(["03/14/1962", None, " 12/01/2020 "], format="%m/%d/%Y").to_list() == [
        date(1962, 3, 14),
        None,
        date(2020, 12, 1),
    ]
    assert read(["05.04.2023 07:30"], format="%d.%m.%Y %H:%M").to_list() == [datetime(2023, 4, 5, 7, 30)]


def test_moments_of_a_zone_are_read_in_utc():
    late = datetime(2020, 2, 1, 4, 30, tzinfo=UTC)
    assert read(["2020-01-31 23:30:00-0500"], format="%Y-%m-%d %H:%M:%S%z").to_list() == [late]
    assert read(["2020-01-31T23:30:00-05:00", "2020-02-01T04:30Z"], type="date").to_list() == [late, late]


def test_iso_dates_and_times_need_no_format():
    assert read(["2020-01-31 10:20:30", "2020-01-31T10:20"], type="date").to_list() == [
        datetime(2020, 1, 31, 10, 20, 30),
        datetime(2020, 1, 31, 10, 20),
    ]
    assert read(["2020-01-31", "2020-02-01"], type="date").dtype == pl.String, (
        "plain days are read on distinct values later"
    )


def test_midnights_are_days_as_pandas_means_them():
    assert read(["2020-01-31 00:00:00", "2020-02-01 00:00:00"], type="date").to_list() == [
        date(2020, 1, 31),
        date(2020, 2, 1),
    ]
    assert read([datetime(2020, 1, 31), None]).to_list() == [date(2020, 1, 31), None]
    assert read([datetime(2020, 1, 31, 5)]).dtype == pl.Datetime


def test_amounts_are_numbers():
    assert read(["$1,234.50", "-12", "1,000,000"], format="1,234.5").to_list() == [1234.5, -12.0, 1_000_000.0]
    assert read(["1.234,50 €"], format="1.234,5").to_list() == [1234.5]
    with pytest.raises(ColumnError, match="1 of its 2 distinct values do not read"):
        read(["$1,234.50", "12,34"], format="1,234.5")


def test_what_does_not_fit_the_format_is_counted_and_not_quoted():
    with pytest.raises(ColumnError, match="1 of its 2 distinct values do not read as one") as found:
        read(["03/14/1962", "14/03/1962"], format="%m/%d/%Y")
    assert "14/03" not in str(found.value)


@pytest.mark.parametrize(
    ("format", "type"), [("tomorrow", None), ("%m/%d/%Y", "numeric"), ("1,234.5", "date"), (7, None)]
)
def test_a_format_that_says_nothing_is_refused(format, type):
    with pytest.raises(JobError, match=r"does not say how|must be a text"):
        Column("quasi-identifying", type=type, format=format)


@pytest.mark.parametrize("hierarchy", [None, {"build": "dates"}], ids=["ranges", "calendar"])
@pytest.mark.parametrize("format", WRITTEN)
def test_a_release_of_formatted_dates_is_audited_against_its_source_as_it_is_written(format, hierarchy, tmp_path):
    path = tmp_path / "people.csv"
    pl.DataFrame({"born": WRITTEN[format], "seen": WRITTEN["%d.%m.%Y"], "sick": SICK}).write_csv(path)
    columns = {
        "born": rt.quasi(format=format, hierarchy=hierarchy),
        "seen": rt.insensitive(format="%d.%m.%Y", acknowledge=True),
        "sick": rt.sensitive(),
    }
    job = rt.Job(source=path, columns=columns, promises=[rt.KAnonymity(4), rt.BetaLikeness(2)])
    release = rt.publish(job, to=tmp_path / "out", ledger=tmp_path / "ledger")
    assert rt.Job.from_dict(job.to_dict()).columns["born"].format == format
    found = rt.audit(tmp_path / "out", source=path)
    assert found.kept and found.source.passed
    assert release.frame()["seen"].dtype == pl.Date
    bounds = release.frame(bounds=True)
    if hierarchy is None:
        assert bounds["born_lower"].dtype.is_temporal()


@pytest.mark.parametrize("method", ["anatomy", "beta-perturbation"])
def test_kinds_of_exact_values_publish_typed_dates_and_are_audited_against_the_text(method, tmp_path):
    path = tmp_path / "people.csv"
    pl.DataFrame(
        {"born": WRITTEN["%m/%d/%Y"], "paid": [f"${at % 7},{at % 9}00.50" for at in range(240)], "sick": SICK}
    ).write_csv(path)
    table = {
        "source": {"path": str(path)},
        "columns": {
            "born": {"role": "quasi-identifying", "format": "%m/%d/%Y"},
            "paid": {"role": "quasi-identifying", "format": "1,234.5"},
            "sick": "sensitive",
        },
        "promise": [
            {"model": "probabilistic-l-diversity", "l": 2}
            if method == "anatomy"
            else {"model": "beta-likeness", "beta": 4}
        ],
        "method": {"name": method},
    }
    release = rt.publish(rt.Job.from_dict(table), to=tmp_path / "out", ledger=tmp_path / "ledger")
    assert release.frame()["born"].dtype == pl.Date
    assert rt.audit(tmp_path / "out", source=path).source.passed


def test_a_sensitive_date_is_published_as_a_day_and_audited(tmp_path):
    path = tmp_path / "people.csv"
    ages = [at % 40 for at in range(240)]
    pl.DataFrame({"age": ages, "died": [WRITTEN["%m/%d/%Y"][at % 6] for at in range(240)]}).write_csv(path)
    columns = {"age": rt.quasi(), "died": rt.sensitive(format="%m/%d/%Y")}
    job = rt.Job(source=path, columns=columns, promises=[rt.DistinctLDiversity(2)])
    release = rt.publish(job, to=tmp_path / "out", ledger=tmp_path / "ledger")
    assert release.frame()["died"].dtype == pl.Date
    assert rt.audit(tmp_path / "out", source=path).source.passed


def test_a_manifest_that_states_another_format_than_the_job_disagrees_with_it(tmp_path):
    path = tmp_path / "people.csv"
    pl.DataFrame({"born": WRITTEN["%m/%d/%Y"], "sick": SICK}).write_csv(path)
    columns = {"born": rt.quasi(format="%m/%d/%Y"), "sick": rt.sensitive()}
    job = rt.Job(source=path, columns=columns, promises=[rt.KAnonymity(4)])
    rt.publish(job, to=tmp_path / "out", ledger=tmp_path / "ledger")
    other = job.at(columns={**columns, "born": rt.quasi(format="%d/%m/%Y")})
    assert not rt.audit(tmp_path / "out", job=job).disagreements
    assert "another format" in rt.audit(tmp_path / "out", job=other).disagreements[0]


def test_an_attack_reads_the_source_as_it_is_written(tmp_path):
    from reticent.attacks.target import observe

    path = tmp_path / "people.csv"
    pl.DataFrame({"born": WRITTEN["%m/%d/%Y"], "sick": SICK}).write_csv(path)
    columns = {"born": rt.quasi(format="%m/%d/%Y"), "sick": rt.sensitive()}
    rt.publish(
        rt.Job(source=path, columns=columns, promises=[rt.KAnonymity(4)]), to=tmp_path / "out", ledger=tmp_path / "l"
    )
    assert int(observe(tmp_path / "out", path).people.sum()) == len(SICK)
