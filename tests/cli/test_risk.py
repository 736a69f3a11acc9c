"""`reticent risk` and `reticent export`: what they print, what they write, what they refuse."""

from __future__ import annotations

import json

import polars as pl
import pytest

from reticent.audit import risk
from tests.support.command_line import CANARY, Path


def test_the_risk_of_a_raw_table_is_the_library_s(run, place):
    found = json.loads(run("risk", "people.csv", "--quasi", "age,city", "--json").out)
    assert found == risk("people.csv", quasi=["age", "city"]).to_dict()
    ran = run("risk", "people.csv", "--quasi", "age,city")
    assert ran.code == 0
    for word in ("prosecutor", "marketer", "are unique", "age and city"):
        assert word in ran.out
    assert CANARY not in ran.out


def test_a_job_says_which_columns_an_adversary_knows(run, place):
    assert json.loads(run("risk", "people.csv", "--job", "job.toml", "--json").out)["columns"][0]["columns"] == [
        "age",
        "city",
    ]


def test_a_release_is_measured_before_and_after(run, place):
    run("publish", "job.toml", "-o", "release")
    after = json.loads(run("risk", "release", "--json").out)
    assert after["prosecutor"]["highest"] <= 1 / 5
    both = json.loads(run("risk", "release", "--source", "people.csv", "--json").out)
    assert both["after"] == after
    assert both["before"]["prosecutor"]["average"] > after["prosecutor"]["average"]
    assert "Before, in the source:" in run("risk", "release", "--source", "people.csv").out


def test_a_population_adds_the_journalist(run, place):
    found = json.loads(run("risk", "people.csv", "--quasi", "age,city", "--population", "people.csv", "--json").out)
    assert found["journalist"] == found["prosecutor"]


def test_the_threshold_says_who_is_at_risk(run, place):
    def at_risk(share):
        return json.loads(run("risk", "people.csv", "--quasi", "city", "--threshold", share, "--json").out)[
            "prosecutor"
        ]["at_risk"]

    assert (at_risk("1"), at_risk("0")) == (0, 200)
    assert run("risk", "people.csv", "--threshold", "2").code == 1
    assert run("risk", "people.csv", "--threshold", "some").code == 1


@pytest.mark.parametrize("words", [("people.csv", "--quasi", "agee"), ("people.csv", "--source", "people.csv")])
def test_a_wrong_request_about_risk_ends_with_1(run, place, words):
    assert run("risk", *words).code == 1


def test_a_release_describes_its_own_columns(run, place):
    run("publish", "job.toml", "-o", "release")
    assert run("risk", "release", "--quasi", "age").code == 1


@pytest.fixture
def database(run, place):
    run("publish", "job.toml", "-o", "release")
    return f"sqlite:///{place / 'warehouse.db'}"


def test_a_release_is_exported_with_its_manifest(run, place, database):
    ran = run("export", "release", database, "--table", "people", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["tables"] == ["people", "people_manifest"]
    import sqlite3

    with sqlite3.connect(place / "warehouse.db") as connection:
        rows = connection.execute("SELECT age, city, illness FROM people").fetchall()
        manifest = json.loads(connection.execute("SELECT manifest FROM people_manifest").fetchone()[0])
    connection.close()
    assert sorted(rows) == sorted(pl.read_parquet("release/data.parquet").rows())
    assert manifest["rows"] == len(rows) == 200


def test_an_existing_table_is_never_replaced(run, place, database):
    assert run("export", "release", database, "--table", "people").code == 0
    before = Path("warehouse.db").read_bytes()
    ran = run("export", "release", database, "--table", "people")
    assert ran.code == 1
    assert "never replaced" in ran.err
    assert Path("warehouse.db").read_bytes() == before


def test_a_damaged_release_is_not_exported(run, place, database):
    with open("release/data.parquet", "ab") as handle:
        handle.write(b"x")
    assert run("export", "release", database, "--table", "people").code == 3
    assert not Path("warehouse.db").exists()


def test_a_password_is_not_repeated(run, place):
    run("publish", "job.toml", "-o", "release")
    ran = run("export", "release", "mysql://me:hunter2@host/db", "--table", "people")
    assert ran.code == 1
    assert "hunter2" not in ran.out + ran.err


def test_the_source_of_a_job_is_measured_without_naming_it(run, place):
    named = json.loads(run("risk", "people.csv", "--job", "job.toml", "--json").out)
    assert json.loads(run("risk", "--job", "job.toml", "--json").out) == named
    assert run("risk").code == 1


def test_who_is_alone_is_counted_by_column_pair_and_step(run, place):
    document = json.loads(run("risk", "--job", "job.toml", "--singling-out", "--json").out)
    alone = document["alone"]
    assert alone["people"] == document["rows"] and alone["alone"] == document["sample_uniques"]
    assert [entry["columns"] for entry in alone["columns"]] == [["age"], ["city"]]
    assert len(alone["steps"]) == 2
    text = run("risk", "--job", "job.toml", "--singling-out").out
    assert "adding one column at a time" in text and CANARY not in text
    run("publish", "job.toml", "-o", "release")
    refused = run("risk", "release", "--singling-out")
    assert refused.code == 1 and "source of the release" in refused.err


def test_persons_of_several_rows_are_alone_once(run, place):
    document = json.loads(
        run("risk", "people.csv", "--quasi", "age", "--person", "city", "--singling-out", "--json").out
    )
    assert document["alone"]["people"] == pl.read_csv("people.csv")["city"].n_unique()


def test_a_job_that_builds_a_hierarchy_is_measured_by_the_values_of_the_table(run, place):
    plain = json.loads(run("risk", "people.csv", "--quasi", "age,city", "--json").out)
    Path("built.toml").write_text(
        '[source]\npath = "people.csv"\n[columns]\nage = "quasi-identifying"\n'
        'city = { role = "quasi-identifying", hierarchy = { build = "balanced" } }\nperson = "identifying"\n'
        'illness = "sensitive"\n[[promise]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    built = json.loads(run("risk", "people.csv", "--job", "built.toml", "--json").out)
    assert built["sample_uniques"] == plain["sample_uniques"] and built["groups"] == plain["groups"]
