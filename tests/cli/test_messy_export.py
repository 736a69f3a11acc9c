"""A messy hospital's export by the command line alone: broken lines are set aside with their owner, and the rest is published."""

from __future__ import annotations

import json
import stat
import tomllib

import pytest

import reticent as rt
from tests.support.messy_hospital import DATE_FORMATS, count_broken_lines, messy_hospital, write_messy_hospital
from tests.support.messy_hospital import FEW_ROWS as ROWS
from tests.support.messy_hospital import JOB_OF_FEW_ROWS as JOB


@pytest.fixture
def export(place):
    write_messy_hospital(place / "hospital.csv", ROWS)
    (place / "job.toml").write_text(JOB, encoding="utf-8")
    return place


def test_a_draft_of_the_export_reads_all_of_it_and_can_be_checked_and_published(run, export):
    assert run("init", "hospital.csv").code == 0
    text = (export / "hospital.toml").read_text(encoding="utf-8")
    job = tomllib.loads(text)
    columns = job["columns"]
    assert sorted(columns["birth_date"]["format"]) == sorted(DATE_FORMATS)
    assert columns["sex"]["map"] == {"female": "F", "m": "M", "male": "M"}
    assert columns["zip"]["hierarchy"]["build"] == "prefixes"
    assert columns["patient_id"]["rows_per_person"] == 9
    assert job["source"]["broken"] == "set-aside"
    assert set(job["source"]["missing"]) == {"?", "NA", "N/A", "unknown", "999", "-9", "9999"}
    assert f"{count_broken_lines(ROWS)} broken lines of {ROWS + count_broken_lines(ROWS):,}" in text
    published = run("publish", "hospital.toml", "-o", "release", "--json")
    assert published.code == 0, published.err
    assert run("audit", "release", "--source", "hospital.csv").code == 0


def test_broken_lines_are_counted_and_stay_with_the_owner_as_they_are(run, export):
    ran = run("publish", "job.toml", "-o", "release", "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    count = count_broken_lines(ROWS)
    assert result["set_aside"] == count and result["rows"] == ROWS
    assert any(f"{count} broken lines of" in notice for notice in result["notices"])
    notes = export / "reticent-owner" / "release"
    file = notes / "broken-lines.csv"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    source_lines = (export / "hospital.csv").read_text(encoding="utf-8").splitlines()
    good = set(messy_hospital(ROWS).write_csv().splitlines())
    expected = [source_lines[0], *(line for line in source_lines[1:] if line not in good)]
    assert file.read_text(encoding="utf-8").splitlines() == expected
    assert f"{count} broken lines" in (notes / "README.md").read_text(encoding="utf-8")
    for published in (export / "release").iterdir():
        assert b"set-aside" not in published.read_bytes() and b"broken" not in published.read_bytes()


def test_the_command_prints_the_count_and_the_log_has_it(run, export):
    ran = run("publish", "job.toml", "-o", "release", "--log", "run.log")
    count = count_broken_lines(ROWS)
    assert f"{count} broken lines of the source, in reticent-owner/release/broken-lines.csv" in ran.out
    assert f"reading, lines set aside: {count}" in (export / "run.log").read_text(encoding="utf-8")


def test_lines_set_aside_are_no_part_of_the_source_to_audit_query_and_attack(run, export):
    assert run("publish", "job.toml", "-o", "release").code == 0
    audit = run("audit", "release", "--source", "hospital.csv", "--json")
    assert audit.code == 0, audit.out
    assert json.loads(audit.out)["source"]["withheld"] == 0
    (export / "questions.sql").write_text("SELECT COUNT(*) FROM release WHERE sex = 'F'\n")
    told = run("query", "release", "--file", "questions.sql", "--source", "hospital.csv", "--json")
    assert told.code == 0, told.err
    truth = messy_hospital(ROWS)["sex"].is_in(["F", "female"]).sum()
    assert json.loads(told.out)[0]["true"] == truth
    assert run("attack", "release", "--source", "hospital.csv", "--as", "naive-bayes").code == 0


def test_without_the_word_the_file_is_refused_and_nothing_is_written(run, export):
    (export / "job.toml").write_text(JOB.replace('broken = "set-aside"\n', ""), encoding="utf-8")
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.code == 1
    assert f"{count_broken_lines(ROWS)} lines are broken in hospital.csv" in ran.err
    assert not (export / "release").exists()


def test_the_stream_engine_sets_the_same_lines_aside(export):
    job = rt.Job.read(export / "job.toml")
    release = rt.publish(job, seed=1, engine="stream")
    local = rt.publish(job, seed=1)
    assert release.set_aside == local.set_aside == count_broken_lines(ROWS)
    assert sorted(release.frame().rows(), key=str) == sorted(local.frame().rows(), key=str)


def test_batches_store_the_lines_once_beside_their_summary(run, export):
    text = "\n".join(line for line in JOB.splitlines() if not line.startswith("zip"))
    (export / "job.toml").write_text(text, encoding="utf-8")
    ran = run("publish", "job.toml", "-o", "batches", "--batch-by", "admitted", "--json")
    assert json.loads(ran.out)["set_aside"] == count_broken_lines(ROWS)
    lines = (export / "reticent-owner" / "batches" / "broken-lines.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + count_broken_lines(ROWS)


def test_amounts_in_three_currencies_are_published_in_one(run, export):
    assert run("publish", "job.toml", "-o", "release").code == 0
    charges = rt.open(export / "release").frame()["charges"]
    assert charges.dtype.is_float() and charges.null_count() == 0
    (export / "job.toml").write_text(JOB.replace(', rates = { "$" = 1, "€" = 1.08, EUR = 1.08 }', ""), encoding="utf-8")
    refused = run("publish", "job.toml", "-o", "other", "--again")
    assert refused.code == 1
    assert "its values are in 3 units" in refused.err and "rates = {" in refused.err
