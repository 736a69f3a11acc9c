"""`reticent audit --strict` and the fixtures for pytest: what is not shown to be kept fails."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

import reticent as rt

ROOT = Path(__file__).resolve().parents[2]
QUASI = "age_from,zip_area"


@pytest.fixture
def table(place) -> Path:
    frame = pl.DataFrame(
        {
            "age_from": [20] * 6 + [30] * 6,
            "zip_area": ["12"] * 12,
            "diagnosis": ["flu", "cold", "gout"] * 4,
        }
    )
    frame.write_csv("patients.csv")
    return place / "patients.csv"


def write_job(promise: str) -> None:
    text = 'columns.age_from = "quasi-identifying"\ncolumns.zip_area = "quasi-identifying"\n'
    Path("promise.toml").write_text(f'{text}columns.diagnosis = "sensitive"\n[[promise]]\n{promise}\n')


def test_a_promise_that_the_file_shows_ends_with_0(run, table):
    write_job('model = "k-anonymity"\nk = 6')
    assert run("audit", "patients.csv", "--job", "promise.toml", "--strict").code == 0


def test_a_broken_promise_ends_with_3_strict_or_not(run, table):
    write_job('model = "k-anonymity"\nk = 7')
    for options in ((), ("--strict",)):
        assert run("audit", "patients.csv", "--job", "promise.toml", *options).code == 3


def test_a_promise_that_the_file_cannot_show_ends_with_0_and_strictly_with_7(run, table):
    pl.DataFrame({"age_from": [20, 30], "zip_area": ["12", "12"]}).write_csv("population.csv")
    write_job('model = "k-map"\nk = 2\npopulation = "population.csv"')
    ran = run("audit", "patients.csv", "--job", "promise.toml", "--json")
    assert ran.code == 0 and json.loads(ran.out)["verdict"] == "undecided"
    assert "not_shown" not in json.loads(ran.out)
    ran = run("audit", "patients.csv", "--job", "promise.toml", "--strict", "--json")
    assert ran.code == 7
    (sentence,) = json.loads(ran.out)["not_shown"]
    assert sentence.startswith("k-map is not shown: ")
    ran = run("audit", "patients.csv", "--job", "promise.toml", "--strict")
    assert ran.code == 7 and "Not enough for --strict:" in ran.out


def test_a_table_without_a_promise_is_no_passed_test(run, table):
    assert run("audit", "patients.csv", "--quasi", QUASI).code == 0
    ran = run("audit", "patients.csv", "--quasi", QUASI, "--strict")
    assert ran.code == 7 and "No promise was stated." in ran.out


def test_a_release_that_keeps_its_promise_passes_strictly(run, place):
    assert run("publish", "job.toml", "-o", "release").code == 0
    assert run("audit", "release", "--strict").code == 0
    assert run("audit", "release", "--source", "people.csv", "--strict").code == 0


def test_a_damaged_release_ends_with_3_strictly(run, place):
    assert run("publish", "job.toml", "-o", "release").code == 0
    (place / "release" / "planted.txt").write_text("x")
    assert run("audit", "release", "--strict").code == 3


@pytest.mark.parametrize("database", ["duckdb", "sqlite"])
def test_a_table_of_a_database_is_audited_where_it_is(run, table, database):
    frame = pl.read_csv("patients.csv", schema_overrides={"zip_area": pl.String})
    if database == "duckdb":
        with duckdb.connect("warehouse.duckdb") as connection:
            connection.register("given", frame.to_arrow())
            connection.execute("CREATE TABLE patients AS SELECT * FROM given")
    else:
        with sqlite3.connect("warehouse.sqlite") as connection:
            connection.execute("CREATE TABLE patients (age_from INTEGER, zip_area TEXT, diagnosis TEXT)")
            connection.executemany("INSERT INTO patients VALUES (?, ?, ?)", frame.rows())
        connection.close()
    url = f"{database}:///warehouse.{database}"
    write_job('model = "k-anonymity"\nk = 6')
    assert run("audit", url, "--table", "patients", "--job", "promise.toml", "--strict").code == 0
    query = "SELECT * FROM patients WHERE age_from = 20 OR diagnosis = 'flu'"
    assert run("audit", url, "--query", query, "--job", "promise.toml", "--strict").code == 3
    assert run("audit", url, "--table", "nobody", "--job", "promise.toml", "--strict").code == 1
    assert run("audit", f"{database}:///gone.db", "--table", "patients", "--job", "promise.toml").code == 6


GATES = """
QUASI = ["age_from", "zip_area"]

def test_enough(require_k):
    assert require_k("patients.csv", quasi=QUASI, k=6).kept is True

def test_enough_people_with_two_rows_each(require_k):
    require_k("patients.csv", quasi=QUASI, k=3, rows_per_person=2)

def test_too_few(require_k):
    require_k("patients.csv", quasi=QUASI, k=7)

def test_too_few_people_with_two_rows_each(require_k):
    require_k("patients.csv", quasi=QUASI, k=4, rows_per_person=2)

def test_nothing_was_promised(require_kept):
    require_kept("patients.csv", quasi=QUASI)
"""


def test_the_fixtures_pass_what_is_shown_and_fail_the_rest(table):
    Path("conftest.py").write_text('pytest_plugins = ["reticent.pytest_plugin"]\n')
    Path("test_gates.py").write_text(GATES)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_gates.py"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "3 failed, 2 passed" in ran.stdout
    assert "BROKEN     k-anonymity (k = 7)" in ran.stdout
    assert "No promise was stated." in ran.stdout
    assert "gout" not in ran.stdout


def render_generic_test(model: str, **arguments: object) -> str:
    """Render the project's generic test as dbt does: the body of the macro, with its arguments."""
    jinja2 = pytest.importorskip("jinja2")
    text = (ROOT / "examples/dbt/tests/generic/k_anonymous.sql").read_text(encoding="utf-8")
    macro = text.replace("{% test ", "{% macro ").replace("{% endtest %}", "{% endmacro %}")
    template = jinja2.Environment(autoescape=False).from_string(macro)
    return template.module.k_anonymous(model, **arguments)


@pytest.mark.parametrize(("k", "rows_per_person"), [(6, 1), (7, 1), (3, 2), (4, 2)])
def test_the_generic_test_for_dbt_agrees_with_the_audit(run, table, k, rows_per_person):
    sql = render_generic_test("patients", quasi=["age_from", "zip_area"], k=k, rows_per_person=rows_per_person)
    frame = pl.read_csv("patients.csv")
    with duckdb.connect() as connection:
        connection.register("patients", frame.to_arrow())
        failures = len(connection.execute(sql).fetchall())
    promise = rt.KAnonymity(k * rows_per_person)
    kept = rt.audit(frame, quasi=["age_from", "zip_area"], promises=[promise]).kept
    assert (failures == 0) is kept


def test_the_project_for_dbt_is_what_the_audit_can_judge(run, table):
    job = rt.Job.read(ROOT / "examples/dbt/promise.toml")
    assert rt.audit(pl.read_csv("patients.csv"), job=job).kept is True
    workflow = (ROOT / "examples/dbt/ci.yml").read_text(encoding="utf-8")
    assert "--job promise.toml --strict" in workflow
    select = (ROOT / "examples/dbt/models/patients_public.sql").read_text(encoding="utf-8")
    select = select.replace("{{ source('clinic', 'patients') }}", "patients")
    raw = pl.DataFrame({"age": [23, 35], "zip": ["12345", "12999"], "diagnosis": ["flu", "cold"]})
    with duckdb.connect() as connection:
        connection.register("patients", raw.to_arrow())
        assert connection.execute(select).fetchall() == [(20, "12", "flu"), (30, "12", "cold")]
