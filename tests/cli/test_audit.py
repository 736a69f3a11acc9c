"""`reticent audit`: folders, changed folders, and tables that other tools made."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import reticent as rt


@pytest.fixture
def release(run, place):
    assert run("publish", "job.toml", "-o", "release").code == 0
    return place / "release"


def test_a_kept_release_ends_with_0(run, release):
    ran = run("audit", "release")
    assert ran.code == 0
    assert "Every promise is kept." in ran.out


def test_json_is_the_audit_s_own_object(run, release):
    assert json.loads(run("audit", "release", "--json").out) == json.loads(json.dumps(rt.audit("release").to_dict()))


def test_a_release_is_compared_with_its_source(run, release):
    ran = run("audit", "release", "--source", "people.csv", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["kept"] is True
    assert "source" in json.loads(ran.out)


def test_a_release_of_other_people_fails_against_the_source(run, release, place):
    text = (place / "people.csv").read_text().replace(",Ulm,", ",Kiel,")
    (place / "others.csv").write_text(text)
    ran = run("audit", "release", "--source", "others.csv")
    assert ran.code == 4
    assert "No promise is broken, but the release is NOT what its source or job says." in ran.out
    assert "The comparison with the source failed." in ran.out
    assert json.loads(run("audit", "release", "--source", "others.csv", "--json").out)["verdict"] == "differs"


def test_the_digest_in_the_owner_s_folder_is_the_one_to_expect(run, release):
    digest = Path("reticent-owner/release/digest.txt").read_text().strip()
    assert run("audit", "release", "--expect-digest", digest).code == 0
    ran = run("audit", "release", "--expect-digest", "0" * 64)
    assert ran.code == 3
    assert "is not the one expected" in ran.err


def test_a_damaged_release_ends_with_3(run, release):
    with open(release / "data.parquet", "ab") as handle:
        handle.write(b"x")
    ran = run("audit", "release", "--json")
    assert ran.code == 3
    assert json.loads(ran.out)["error"]["kind"] == "BundleDamaged"


def test_what_is_not_there_is_a_wrong_request(run, place):
    ran = run("audit", "nowhere")
    assert ran.code == 1
    assert "There is no nowhere" in ran.err


def test_a_table_of_another_tool_is_audited_by_the_job(run, release):
    rt.open("release").frame().write_csv("other.csv")
    found = json.loads(run("audit", "other.csv", "--job", "job.toml", "--json").out)
    assert found["kept"] is True
    assert [entry["model"] for entry in found["promises"]] == ["k-anonymity", "beta-likeness"]
    assert found["achieved"] == json.loads(run("audit", "release", "--json").out)["achieved"]


def test_a_table_of_another_tool_is_audited_by_its_columns(run, place):
    frame = pl.DataFrame(
        {"age": ["20-29"] * 3 + ["30-39"] * 2, "city": ["north"] * 5, "illness": ["a", "b", "?", "a", "a"]}
    )
    frame.write_parquet("other.parquet")
    words = ("--quasi", "age, city", "--sensitive", "illness", "--hierarchy", "city=city.csv", "--missing", "?")
    ran = run("audit", "other.parquet", *words, "--json")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert (found["rows"], found["groups"], found["achieved"]["k-anonymity"]) == (5, 2, 2)
    assert found["kept"] is None
    assert "No promise was stated." in run("audit", "other.parquet", *words).out


def test_a_broken_promise_ends_with_3(run, release, place):
    rt.open("release").frame().write_csv("other.csv")
    place.job(("k = 5", "k = 100"))
    ran = run("audit", "other.csv", "--job", "job.toml")
    assert ran.code == 3
    assert "NOT every promise is kept." in ran.out


def test_options_of_plain_files_are_refused_for_folders(run, release):
    ran = run("audit", "release", "--quasi", "age")
    assert ran.code == 1
    assert "--quasi" in ran.err


@pytest.mark.parametrize("given", ["city", "=city.csv", "city="])
def test_a_hierarchy_option_needs_a_column_and_a_file(run, place, given):
    ran = run("audit", "people.csv", "--quasi", "city", "--hierarchy", given)
    assert ran.code == 1
    assert "--hierarchy education=education.csv" in ran.err


BROKEN_JOB = """
[source]
path = "people.csv"
broken = "set-aside"
missing = ["?", "NA"]
empty = "value"
[columns]
age = { role = "quasi-identifying", type = "numeric" }
illness = { role = "sensitive", missing = "category" }
[[promise]]
model = "k-anonymity"
k = 2
"""


@pytest.fixture
def broken_table(place):
    rows = "".join(f"{20 + row // 5},{('flu', 'cold', '?', 'NA', '')[row % 5]}\n" for row in range(40))
    (place / "people.csv").write_text("age,illness\n" + rows + "31\n32,flu,more\n", encoding="utf-8")
    (place / "job.toml").write_text(BROKEN_JOB, encoding="utf-8")
    return place


def test_broken_lines_of_a_plain_table_are_set_aside_as_the_job_says_and_counted(run, broken_table):
    ran = run("audit", "people.csv", "--job", "job.toml", "--json")
    assert ran.code == 0, ran.err
    findings = json.loads(ran.out)
    assert findings["rows"] == 40 and findings["set_aside"] == 2
    assert findings["promises"][0]["kept"] is True
    assert findings["kept"] is None  # nobody looked at what stands in broken lines
    ran = run("audit", "people.csv", "--job", "job.toml")
    assert "what stands in the broken ones was not judged" in ran.out
    assert "2 broken lines of 42 in people.csv were set aside" in ran.out
    ran = run("audit", "people.csv", "--job", "job.toml", "--source", "people.csv", "--json")
    assert json.loads(ran.out)["source_set_aside"] == 2
    assert "whoever stands there was not compared" in ran.out
    strict = run("audit", "people.csv", "--job", "job.toml", "--strict", "--json")
    assert strict.code == 7
    assert "2 broken lines of the table could not be judged." in json.loads(strict.out)["not_shown"]


@pytest.mark.parametrize(("changed", "into"), [('empty = "value"', 'empty = "missing"'), ('"?", "NA"', "")])
def test_empty_fields_and_missing_texts_of_a_plain_table_are_read_as_the_job_says(run, broken_table, changed, into):
    def count_values() -> int:
        findings = json.loads(run("audit", "people.csv", "--job", "job.toml", "--json").out)
        return int(findings["achieved"]["distinct-l-diversity"])

    values = count_values()
    (broken_table / "job.toml").write_text(BROKEN_JOB.replace(changed, into), encoding="utf-8")
    assert count_values() != values
