"""`reticent init`: a draft that names columns, counts and reasons, and never a value."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import polars as pl
import pytest

from reticent.job.job import Job
from tests.support.command_line import CANARY, people, write_csv


def test_a_draft_is_a_job_that_can_be_checked(run, place):
    ran = run("init", "people.csv")
    assert ran.code == 0
    assert "people.toml is a draft" in ran.out
    job = Job.read("people.toml")
    assert {name: column.role.value for name, column in job.columns.items()} == {
        "person": "identifying",
        "age": "quasi-identifying",
        "city": "quasi-identifying",
        "illness": "sensitive",
    }
    assert job.columns["age"].type == "numeric"
    assert run("check", "people.toml").code == 0


def test_every_column_has_a_line_to_confirm_with_its_reason(run, place):
    run("init", "people.csv")
    lines = Path("people.toml").read_text().splitlines()
    for name in ("person", "age", "city", "illness"):
        declared = next(at for at, line in enumerate(lines) if line.startswith(f"{name} = "))
        assert lines[declared + 1].startswith("#   CONFIRM: "), name


def test_risky_columns_are_named(run, place):
    write_csv(
        place / "more.csv",
        [[*row, str(10_000 + i), f"{i % 9:05d}"] for i, row in enumerate(people())],
        head="person,age,city,illness,code,postcode",
    )
    text = run("init", "more.csv", "-o", "-").out
    risky = text[text.index("# Risky columns:") : text.index("[source]")]
    assert "person: " in risky
    assert "code: near-unique: 200 distinct values in 200 rows" in risky
    assert "postcode: a place" in risky
    assert "age: " not in risky


def test_no_value_of_the_data_is_in_the_draft_or_the_output(run, place):
    plain = run("init", "people.csv")
    as_json = run("init", "people.csv", "--json", "--force")
    printed = run("init", "people.csv", "-o", "-")
    for text in (plain.out, plain.err, as_json.out, printed.out, Path("people.toml").read_text()):
        for value in (CANARY, "p0001", "Ulm", "mumps"):
            assert value not in text


def test_json_says_type_counts_role_and_why_for_each_column(run, place):
    found = json.loads(run("init", "people.csv", "--json").out)
    assert (found["job"], found["rows"]) == ("people.toml", 200)
    first = found["columns"][0]
    assert set(first) == {"name", "type", "distinct", "missing", "role", "why", "risk"}
    assert (first["name"], first["distinct"], first["role"]) == ("person", 200, "identifying")


def test_texts_that_usually_mean_missing_are_proposed_as_such(run, place):
    place.edit("people.csv", ",flu\n", ",?\n")
    found = json.loads(run("init", "people.csv", "--json").out)
    assert tomllib.loads(Path("people.toml").read_text())["source"]["missing"] == ["?"]
    assert found["columns"][3]["missing"] > 0


def test_names_that_toml_would_misread_survive(run, place):
    rows = [[str(i % 7), str(i % 3), str(i % 2)] for i in range(40)]
    write_csv(place / "odd.csv", rows, head="a b,x.y,größe*")
    assert run("init", "odd.csv").code == 0
    assert list(Job.read("odd.toml").columns) == ["a b", "x.y", "größe*"]
    assert run("check", "odd.toml").code == 0


def test_a_draft_is_not_overwritten_without_force(run, place):
    run("init", "people.csv")
    Path("people.toml").write_text("# my own work")
    before = place.contents()
    ran = run("init", "people.csv")
    assert ran.code == 1
    assert "--force" in ran.err
    assert place.contents() == before
    assert run("init", "people.csv", "--force").code == 0
    assert "# A draft" in Path("people.toml").read_text()


def test_the_source_is_found_from_the_draft_s_folder(run, place):
    Path("jobs").mkdir()
    assert run("init", "people.csv", "-o", "jobs/draft.toml").code == 0
    assert tomllib.loads(Path("jobs/draft.toml").read_text())["source"]["path"] == "../people.csv"
    assert run("check", "jobs/draft.toml").code == 0


def test_delimiter_and_encoding_reach_the_draft(run, place):
    text = "alter;größe\n" + "".join(f"{20 + i % 9};{i % 4}\n" for i in range(60))
    Path("latin.csv").write_bytes(text.encode("latin-1"))
    assert run("init", "latin.csv", "--encoding", "latin-1", "--delimiter", ";").code == 0
    assert tomllib.loads(Path("latin.toml").read_text())["source"] == {
        "path": "latin.csv",
        "delimiter": ";",
        "encoding": "latin-1",
    }
    assert run("check", "latin.toml").code == 0


def test_typed_sources_are_drafted_too(run, place):
    frame = pl.read_csv("people.csv").with_columns(pl.date(1960 + pl.col("age"), 1, 1).alias("seen"))
    frame.write_parquet("people.parquet")
    found = json.loads(run("init", "people.parquet", "--json").out)
    assert {c["name"]: c["type"] for c in found["columns"]} == {
        "person": "categorical",
        "age": "numeric",
        "city": "categorical",
        "illness": "categorical",
        "seen": "date",
    }
    assert run("check", "people.toml").code == 0


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (f"39,State-gov,{CANARY},13\n50,Private,x,12\n", "does not look like a header"),
        ("", "is empty"),
        ("a,b\n", "no rows"),
        (f"{CANARY},{CANARY}\n1,2\n", "does not look like a header"),
    ],
)
def test_what_cannot_be_drafted_is_refused_without_quoting_it(run, place, content, why):
    Path("bad.csv").write_text(content)
    before = place.contents()
    ran = run("init", "bad.csv", "--traceback")
    assert ran.code == 1
    assert why in ran.err
    assert CANARY not in ran.out + ran.err
    assert place.contents() == before


def test_a_flag_that_few_people_have_is_not_said_to_be_harmless(run, place):
    rows = [[*row, "x" if i < 3 else ""] for i, row in enumerate(people())]
    write_csv(place / "flag.csv", [[*row, "same"] for row in rows], head="person,age,city,illness,flag,constant")
    found = {c["name"]: c for c in json.loads(run("init", "flag.csv", "--json").out)["columns"]}
    assert (found["flag"]["role"], found["flag"]["missing"]) == ("quasi-identifying", 197)
    assert found["constant"]["role"] == "insensitive"


def test_codes_with_leading_zeros_are_no_numbers(run, place):
    write_csv(
        place / "codes.csv", [[f"{i % 9:03d}", str(i % 9), f"20{i % 9 + 10}-01-31"] for i in range(90)], head="a,b,c"
    )
    found = json.loads(run("init", "codes.csv", "--json").out)["columns"]
    assert [column["type"] for column in found] == ["categorical", "numeric", "date"]


def test_dates_that_do_not_all_fit_are_counted_and_the_draft_still_runs(run, place):
    days = [f"{1 + i % 12:02d}/{1 + i % 28:02d}/{1950 + i % 50}" for i in range(199)]
    write_csv(
        place / "dates.csv",
        [[*row, day] for row, day in zip(people(), [*days, "last May"], strict=True)],
        head="person,age,city,illness,seen",
    )
    found = json.loads(run("init", "dates.csv", "--json").out)["columns"][4]
    assert "%m/%d/%Y reads all but 1 of its distinct values" in found["why"]
    assert run("check", "dates.toml").code == 0


def test_a_date_that_reads_by_two_formats_says_so(run, place):
    days = [f"{1 + i % 12:02d}/{1 + i % 11:02d}/{1950 + i % 50}" for i in range(200)]
    write_csv(
        place / "dates.csv",
        [[*row, day] for row, day in zip(people(), days, strict=True)],
        head="person,age,city,illness,seen",
    )
    found = json.loads(run("init", "dates.csv", "--json").out)["columns"][4]
    assert (found["type"], 'every value reads as "%d/%m/%Y" too' in found["why"]) == ("date", True)


def test_a_sensitive_column_with_gaps_is_drafted_so_that_it_runs(run, place):
    place.edit("people.csv", ",flu\n", ",unknown\n")
    assert run("init", "people.csv").code == 0
    job = Job.read("people.toml")
    assert (job.source.missing, job.columns["illness"].missing) == (("unknown",), "category")
    assert run("publish", "people.toml", "-o", "release").code == 0


def test_a_command_in_the_draft_can_be_pasted_whatever_the_names_are(run, place):
    rows = [[f"{i % 7 + 20}", f"{'AEJ'[i % 3]}{i % 20:02d}.{i % 8}"] for i in range(480)]
    (place / "our data.csv").write_text("\n".join(["age;diagnosis code", *map(";".join, rows)]))
    text = run("init", "our data.csv", "--delimiter", ";", "--missing", "n/a", "-o", "-").out
    command = next(line for line in text.splitlines() if "reticent hierarchy --data" in line)
    words = shlex.split(command.strip("# "))
    assert words[:6] == ["reticent", "hierarchy", "--data", "our data.csv", "--delimiter", ";"]
    assert run(*words[1:]).code == 0
    assert (place / "diagnosis-code.csv").exists()


def test_a_word_that_happens_to_end_with_id_is_no_identifier(run, place):
    names = ("covid", "amount_paid", "COVID", "patientId", "PatientID", "PATIENTID", "ward_id", "pid")
    rows = [[f"{i % 9}"] * len(names) for i in range(90)]
    write_csv(place / "ends.csv", rows, head=",".join(names))
    found = {one["name"]: one["role"] for one in json.loads(run("init", "ends.csv", "--json").out)["columns"]}
    assert [name for name in names if found[name] != "identifying"] == ["covid", "amount_paid", "COVID"]
    assert "rows_per_person" not in tomllib.loads(Path("ends.toml").read_text())["columns"]["covid"]


def test_the_weight_of_a_body_is_not_taken_for_a_survey_s(run, place):
    rows = [[f"{50 + i % 37}", f"{0.5 + i / 700:.4f}"] for i in range(300)]
    write_csv(place / "weights.csv", rows, head="weight_kg,weight")
    found = {one["name"]: one["role"] for one in json.loads(run("init", "weights.csv", "--json").out)["columns"]}
    assert found == {"weight_kg": "quasi-identifying", "weight": "insensitive"}


def test_evidence_has_shapes_and_who_is_singled_out_and_no_value(run, place):
    ran = run("init", "people.csv", "-o", "-", "--json", "--evidence")
    facts = json.loads(ran.out)
    rows = facts["rows"]
    assert all(0 < sum(shape) <= rows for shape in facts["shapes"].values() if shape)
    assert facts["shapes"]["person"] == [], "everybody has a value of their own"
    assert facts["alone"]["people"] == rows
    assert facts["alone"]["steps"][-1]["alone"] == facts["alone"]["alone"]
    for value in (CANARY, "p0001", "Ulm", "mumps"):
        assert value not in ran.out
    assert run("init", "people.csv", "-o", "-", "--evidence").code == 1


def test_a_draft_is_made_of_a_database_and_reads_it(run, place):
    import sqlite3

    with sqlite3.connect(place / "people.db") as connection:
        connection.execute("CREATE TABLE people (age INTEGER, illness TEXT)")
        connection.executemany(
            "INSERT INTO people VALUES (?, ?)", [(n % 40, ("flu", "mumps")[n % 2]) for n in range(90)]
        )
    assert run("init", "sqlite:///people.db", "--table", "people").code == 0
    job = Job.read("people.toml")
    assert (job.source.url, job.source.table) == ("sqlite:///people.db", "people")
    assert run("check", "people.toml").code == 0


def test_a_header_in_another_encoding_is_read_as_latin_1(run, place):
    (place / "cities.csv").write_bytes("age;größe\n".encode("latin-1") + b"30;180\n40;170\n" * 20)
    assert run("init", "cities.csv").code == 0
    assert Job.read("cities.toml").source.encoding == "latin-1"
