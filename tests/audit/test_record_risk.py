"""The risk of each record: by the prosecutor, by weights and by a population; for the owner alone."""

from __future__ import annotations

import json
import stat
from math import log

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.audit.record_risk import estimate_individual_risk
from reticent.cli.main import main
from reticent.errors import ColumnError, ComparisonFailed, OutputExists, RequestError

PEOPLE = pl.DataFrame(
    {
        "id": ["a", "b", "c", "d", "e", "f"],
        "age": [30, 30, 30, 41, 41, 59],
        "sex": ["F", "F", "F", "M", "M", "F"],
        "ill": ["flu", "gout", "flu", "flu", "gout", "flu"],
        "weight": [100.0, 50.0, 50.0, 10.0, 30.0, 20.0],
    }
)
QUASI = ["age", "sex"]


def sum_individual_risk(people: int, population: float) -> float:
    """Sum (1 / h) P(F = h) term by term: F - f is negative binomial with success probability f / population."""
    share = people / population
    probability = share**people
    total = 0.0
    for total_people in range(people, 400_000):
        total += probability / total_people
        probability *= (1 - share) * total_people / (total_people - people + 1)
    return total


def make_table(rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "id": [f"p{number}" for number in range(rows)],
            "age": rng.integers(20, 60, rows),
            "town": rng.choice(["A", "B", "C", "D"], rows),
            "ill": rng.choice(["flu", "gout", "cold", "ulcer"], rows),
            "weight": rng.integers(5, 200, rows),
        }
    )


def make_job(*promises, method=None, **columns):
    roles = {"id": "identifying", "age": rt.quasi(), "town": rt.quasi(), "ill": rt.sensitive(), "weight": "identifying"}
    return rt.Job(columns={**roles, **columns}, promises=[*promises], method=method)


def test_the_prosecutor_finds_a_record_among_the_people_of_its_group():
    records = rt.record_risk(PEOPLE, quasi=QUASI).frame
    assert records["row"].to_list() == [1, 2, 3, 4, 5, 6]
    assert records["persons"].to_list() == [3, 3, 3, 2, 2, 1]
    assert records["prosecutor"].to_list() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1 / 2, 1 / 2, 1])
    assert "journalist" not in records.columns


def test_the_mean_of_records_is_what_the_summary_of_the_table_says():
    table = make_table()
    summary = rt.risk(table, quasi=["age", "town"])
    records = rt.record_risk(table, quasi=["age", "town"])
    assert records.prosecutor.to_dict() == pytest.approx(summary.prosecutor.to_dict())
    assert int(records.frame["at_risk"].sum()) == summary.prosecutor.at_risk


def test_weights_estimate_the_population_of_a_group():
    records = rt.record_risk(PEOPLE, quasi=QUASI, weights="weight").frame
    assert records["population"].to_list() == [200, 200, 200, 40, 40, 20]
    assert records["journalist"][5] == pytest.approx((1 / 20) / (1 - 1 / 20) * log(20))
    assert records["journalist"].to_list() == pytest.approx(
        [sum_individual_risk(3, 200)] * 3 + [sum_individual_risk(2, 40)] * 2 + [sum_individual_risk(1, 20)]
    )


@pytest.mark.parametrize("people", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("factor", [1.0, 1.0001, 1.5, 10.0, 300.0])
def test_the_estimator_is_the_mean_of_one_over_a_negative_binomial_population(people, factor):
    population = people * factor
    expected = 1 / people if factor == 1 else sum_individual_risk(people, population)
    (risk,) = estimate_individual_risk(np.array([people]), np.array([population]))
    assert risk == pytest.approx(expected, rel=1e-6)
    assert 1 / population <= risk * (1 + 1e-12)
    assert risk <= 1 / people


def test_weights_below_one_count_as_the_people_who_are_there():
    table = PEOPLE.with_columns(weight=pl.lit(0.1))
    records = rt.record_risk(table, quasi=QUASI, weights="weight").frame
    assert records["journalist"].to_list() == pytest.approx(records["prosecutor"].to_list())


def test_a_person_with_several_rows_counts_once_with_the_least_of_the_weights():
    table = pl.concat([PEOPLE, PEOPLE.with_columns(weight=pl.col("weight") / 2)])
    records = rt.record_risk(table, quasi=QUASI, person=["id"], weights="weight").frame
    assert records["persons"].to_list() == [3, 3, 3, 2, 2, 1] * 2
    assert records["population"].to_list() == [100, 100, 100, 20, 20, 10] * 2
    assert records["id"].to_list() == PEOPLE["id"].to_list() * 2


def test_a_population_table_is_counted():
    population = pl.concat([PEOPLE] * 4)
    records = rt.record_risk(PEOPLE, quasi=QUASI, population=population).frame
    assert records["journalist"].to_list() == pytest.approx([1 / 12, 1 / 12, 1 / 12, 1 / 8, 1 / 8, 1 / 4])


def test_of_a_release_each_source_record_has_its_risk_before_and_after():
    table = make_table()
    release = rt.publish(make_job(rt.KAnonymity(5)), frame=table, seed=1)
    records = rt.record_risk(release, source=table, weights="weight")
    after = records.frame
    assert len(after) == len(table)
    assert set(after["status"]) == {"published"}
    assert after["persons"].min() >= 5
    before = rt.record_risk(table, quasi=["age", "town"], weights="weight").frame
    assert after["prosecutor_before"].to_list() == before["prosecutor"].to_list()
    assert after["journalist_before"].to_list() == pytest.approx(before["journalist"].to_list())
    assert (after["journalist"] <= after["prosecutor"] + 1e-12).all()
    assert records.prosecutor.highest == pytest.approx(rt.risk(release).prosecutor.highest)


@pytest.mark.parametrize(
    ("promise", "method"),
    [
        (rt.ProbabilisticLDiversity(2), rt.Anatomy()),
        (rt.BetaLikeness(2), rt.BetaPerturbation()),
        (rt.PPrivacy("source"), rt.Distribution()),
    ],
)
def test_kinds_that_publish_exact_quasi_identifiers_leave_the_risk_as_it_was(promise, method):
    table = make_table()
    release = rt.publish(make_job(promise, method=method), frame=table, seed=1)
    records = rt.record_risk(release, source=table).frame
    published = records.filter(pl.col("status") == "published")
    assert published["prosecutor"].to_list() == published["prosecutor_before"].to_list()


def test_of_a_sampled_release_each_record_has_the_risk_of_its_group():
    table = make_table(3000)
    domain = rt.sensitive(domain=["flu", "gout", "cold", "ulcer"])
    method = rt.PerturbedGeneralization(p="0.3", k=6)
    job = make_job(rt.RhoGuarantee("0.3", "0.6", "0.4"), method=method, ill=domain)
    release = rt.publish(job, frame=table, seed=1)
    records = rt.record_risk(release, source=table).frame
    assert records["persons"].min() >= 6


def test_withheld_records_are_listed_as_withheld():
    table = pl.concat(
        [make_table(), pl.DataFrame({"id": ["z"], "age": [101], "town": ["Z"], "ill": ["flu"], "weight": [3]})],
        how="vertical_relaxed",
    )
    job = make_job(rt.KAnonymity(5)).at(release=rt.Output(suppress_at_most="0.01"))
    release = rt.publish(job, frame=table, seed=1)
    records = rt.record_risk(release, source=table, weights="weight")
    withheld = records.frame.filter(pl.col("status") == "withheld")
    assert records.withheld == len(withheld)
    assert records.withheld + records.unaccounted == release.manifest.withheld
    assert withheld["prosecutor"].null_count() == len(withheld)


def test_people_with_several_rows_are_counted_in_a_release_too():
    table = pl.concat([make_table()] * 2)
    job = make_job(rt.KAnonymity(5), id=rt.identifying(rows_per_person=2))
    release = rt.publish(job, frame=table, seed=1)
    records = rt.record_risk(release, source=table, person=["id"], weights="weight").frame
    assert records["persons"].min() >= 5
    assert (
        records["prosecutor_before"].to_list()
        == rt.record_risk(table, quasi=["age", "town"], person=["id"]).frame["prosecutor"].to_list()
    )


def test_another_table_than_the_source_is_refused():
    table = make_table()
    release = rt.publish(make_job(rt.KAnonymity(5)), frame=table, seed=1)
    with pytest.raises(ComparisonFailed, match="fit no published label"):
        rt.record_risk(release, source=table.with_columns(age=pl.col("age") + 500))


def test_a_release_without_its_source_is_refused():
    release = rt.publish(make_job(rt.KAnonymity(5)), frame=make_table(), seed=1)
    with pytest.raises(RequestError, match="name nobody"):
        rt.record_risk(release)


@pytest.mark.parametrize("weights", [[None, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1], [-1, 1, 1, 1, 1, 1], list("abcdef")])
def test_weights_that_are_no_numbers_above_0_are_refused_with_their_count(weights):
    table = PEOPLE.with_columns(weight=pl.Series(weights))
    with pytest.raises(ColumnError, match=r"in (1 row|6 rows)"):
        rt.record_risk(table, quasi=QUASI, weights="weight")


def test_weights_beside_a_population_are_refused():
    with pytest.raises(RequestError, match="both are given"):
        rt.record_risk(PEOPLE, quasi=QUASI, weights="weight", population=PEOPLE)


@pytest.mark.parametrize("name", ["records.csv", "records.parquet"])
def test_the_file_is_readable_by_its_user_alone(tmp_path, name):
    tmp_path.chmod(0o770)
    path = rt.record_risk(PEOPLE, quasi=QUASI).save(tmp_path / name)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    read = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
    assert read["persons"].to_list() == [3, 3, 3, 2, 2, 1]
    with pytest.raises(OutputExists):
        rt.record_risk(PEOPLE, quasi=QUASI).save(path)
    rt.record_risk(PEOPLE, quasi=QUASI).save(path, force=True)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_no_file_of_records_goes_into_a_release_folder(tmp_path):
    table = make_table()
    rt.publish(make_job(rt.KAnonymity(5)), frame=table, to=tmp_path / "release", ledger=tmp_path / "ledger")
    records = rt.record_risk(tmp_path / "release", source=table)
    (tmp_path / "link").symlink_to(tmp_path / "release")
    for folder in ("release", "link"):
        with pytest.raises(RequestError, match="release folder"):
            records.save(tmp_path / folder / "records.csv")
    assert not (tmp_path / "release" / "records.csv").exists()
    with pytest.raises(RequestError, match="neither"):
        records.save(tmp_path / "records.txt")


def test_the_command_writes_records_and_prints_a_summary_without_any(tmp_path, capsys):
    PEOPLE.write_csv(tmp_path / "people.csv")
    command = ["risk", str(tmp_path / "people.csv"), "--quasi", "age,sex", "--weights", "weight"]
    assert main([*command, "--records", str(tmp_path / "records.csv"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["records"]
    assert document["rows"] == 6
    assert document["estimator"] == "benedetti-franconi"
    assert document["prosecutor"]["highest"] == 1
    assert "journalist" in document
    assert main([*command, "--records", str(tmp_path / "records.csv")]) != 0
    assert "exists" in capsys.readouterr().err
    assert main([*command, "--records", str(tmp_path / "records.csv"), "--force"]) == 0
    assert "Benedetti" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options",
    [
        ["--force"],
        ["--records", "records.txt"],
        ["--weights", "weight"],
        ["--quasi", "age", "--weights", "weight", "--population", "people.csv"],
        ["--quasi", "age", "--weights", "absent"],
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path, monkeypatch, capsys, options):
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    assert main(["risk", "people.csv", *options]) == 1
    assert "Try" in capsys.readouterr().err
