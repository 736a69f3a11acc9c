"""The hospital's file by every kind of release, and against a population that is written as the file is."""

from __future__ import annotations

import json

import polars as pl
import pytest

from tests.support.hospital import hospital

HEAD = """
[source]
path = "hospital.csv"
delimiter = ";"
encoding = "latin-1"
missing = ["NA", "unknown"]

[columns]
birth_date = {{ role = "quasi-identifying", type = "date", format = "%m/%d/%Y" }}
discharged = {{ role = "quasi-identifying", type = "date", format = "%d.%m.%Y" }}
sex = "quasi-identifying"
{sensitive}

[release]
undeclared = "drop"
format = "{format}"
"""
FAMILY = 'family = { role = "sensitive" }'
CHARGES = 'charges = { role = "sensitive", type = "numeric", format = "1,234.5" }'
KINDS = {
    "generalized": (FAMILY, '[[promise]]\nmodel = "k-anonymity"\nk = 5\n[method]\nname = "mondrian"'),
    "anatomized": (FAMILY, '[[promise]]\nmodel = "probabilistic-l-diversity"\nl = 2\n[method]\nname = "anatomy"'),
    "perturbed": (FAMILY, '[[promise]]\nmodel = "beta-likeness"\nbeta = 2\n[method]\nname = "beta-perturbation"'),
    "transformed": (
        CHARGES,
        '[[promise]]\nmodel = "p-privacy"\ntarget = "source"\n[method]\nname = "distribution"\ngroup_by = ["sex"]',
    ),
    "sampled": (
        FAMILY,
        '[[promise]]\nmodel = "rho-guarantee"\nrho1 = 0.2\nrho2 = 0.5\nlambda = 0.3\n'
        '[method]\nname = "perturbed-generalization"\nk = 6\ndomain = ["A", "B", "C", "D"]',
    ),
}


@pytest.fixture
def written(place):
    """The file without rows whose amount is missing, and with the diagnoses in four families."""
    letters = (
        pl.col("diagnosis")
        .str.slice(0, 1)
        .replace_strict({letter: "ABCD"[at * 4 // 21] for at, letter in enumerate("ABCDEFGHIJKLMNOPQRSTZ")})
    )
    frame = hospital(600).with_columns(family=letters).filter(~pl.col("charges").is_in(["NA", "unknown"]))
    (place / "hospital.csv").write_bytes(frame.write_csv(separator=";").encode("latin-1"))
    return frame


def job(place, kind: str, format: str = "parquet", more: str = "") -> None:
    sensitive, rest = KINDS[kind]
    (place / "job.toml").write_text(HEAD.format(sensitive=sensitive, format=format) + rest + more + "\n")


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", KINDS)
def test_dates_in_two_formats_go_through_every_kind_to_an_audit_against_the_file(run, place, written, kind, format):
    job(place, kind, format)
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.code == 0, ran.err
    told = run("audit", "release", "--source", "hospital.csv", "--json")
    assert told.code == 0, told.out + told.err
    found = json.loads(told.out)
    assert found["kind"] == kind
    assert found["verdict"] in ("kept", "undecided")
    assert found["kept"] is not False


@pytest.mark.parametrize("kind", ["anatomized", "perturbed", "transformed"])
def test_dates_that_are_published_exactly_are_dates_to_the_recipient(run, place, written, kind):
    import reticent as rt

    job(place, kind, "csv")
    assert run("publish", "job.toml", "-o", "release").code == 0
    release = rt.open(place / "release")
    shown = release.frame() if kind == "perturbed" else release.tables["quasi"]
    assert shown.schema["birth_date"] == shown.schema["discharged"] == pl.Date
    source = written["discharged"].str.to_date("%d.%m.%Y").sort()
    assert shown["discharged"].sort().to_list() == source.to_list()


def promise_of_population(place, people: pl.DataFrame) -> None:
    (place / "population.csv").write_bytes(people.write_csv(separator=";").encode("latin-1"))
    job(place, "generalized")
    text = (place / "job.toml").read_text()
    asked = 'model = "k-map"\nk = 6\npopulation = "population.csv"'
    (place / "job.toml").write_text(text.replace('model = "k-anonymity"\nk = 5', asked))


@pytest.mark.parametrize("spelling", ["%d.%m.%Y", "%Y-%m-%d"])
def test_a_population_is_read_as_the_file_is_in_its_formats_or_in_plain_dates(run, place, written, spelling):
    day = pl.col("discharged").str.to_date("%d.%m.%Y").dt.to_string(spelling)
    promise_of_population(place, pl.concat([written.select("birth_date", day, "sex")] * 3))
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.code == 0, ran.err
    told = run("audit", "release", "--population", "population.csv", "--json")
    assert told.code == 0, told.out + told.err
    promise = json.loads(told.out)["promises"][0]
    assert (promise["model"], promise["kept"]) == ("k-map", True)
    assert promise["achieved"]["k"] >= 6
    assert json.loads(run("check", "job.toml", "--json").out)["reachable"] is True
    manifest = json.loads((place / "release" / "manifest.json").read_text())
    assert manifest["promises"][0]["population"] == "population.csv"


def test_a_population_in_no_format_at_all_is_refused_by_the_column_s_name(run, place, written):
    promise_of_population(place, written.select("birth_date", "sex", discharged=pl.lit("last week")))
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.code == 1
    assert "'discharged'" in ran.err
    assert "last week" not in ran.err
    assert not (place / "release").exists()
