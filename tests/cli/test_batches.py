"""`reticent publish --batch-by`: a release for each batch, one summary, the promise per batch."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import reticent as rt

JOB = """\
[source]
path = "visits.csv"

[columns]
{day}
age     = {{ role = "quasi-identifying", type = "numeric" }}
illness = "sensitive"

[[promise]]
model = "probabilistic-l-diversity"
l = 2

[[prepare]]
name = "suppression"
kind = "safe"
l = 2

[release]
undeclared = "drop"
"""


@pytest.fixture
def visits(place):
    def rows(day: str, flu: int, cold: int, gout: int) -> list[tuple]:
        return [(day, 20 + i % 30, value) for i, value in enumerate(["flu"] * flu + ["cold"] * cold + ["gout"] * gout)]

    listed = rows("2003-04-16", 10, 10, 5) + rows("2003-04-17", 30, 8, 4) + rows("2003-04-18", 6, 0, 0)
    pl.DataFrame(listed, schema=["day", "age", "illness"], orient="row").write_csv("visits.csv")
    (place / "batches.toml").write_text(JOB.format(day=""))
    return place


def test_each_batch_is_a_release_of_its_own_and_the_summary_counts_them(run, visits):
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--json")
    assert ran.code == 2, "one batch has a single value and cannot be published"
    found = json.loads(ran.out)
    assert [(one["batch"], one["published"]) for one in found["batches"]] == [
        ("2003-04-16", True), ("2003-04-17", True), ("2003-04-18", False),
    ]  # fmt: skip
    assert [one.get("withheld") for one in found["batches"]] == [0, 22, None]
    assert (found["published"], found["unreachable"], found["rows"], found["withheld"]) == (2, 1, 45, 22)
    for name in ("2003-04-16", "2003-04-17"):
        release = rt.open(Path("out") / name)
        assert rt.audit(release.folder).kept is True
        assert release.frame().columns == ["age", "illness"]
    assert not Path("out/2003-04-18").exists()
    assert json.loads(Path("out/reticent-owner/batches.json").read_text()) == found
    assert "each batch alone" in found["promise"]


def test_a_person_reads_a_table_and_the_limit_of_the_promise(run, visits):
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    assert "Published 2 of 3 batches" in ran.out
    assert "for each batch alone" in ran.err
    assert "distinct value" in ran.out


def test_the_batch_column_may_be_published_too(run, visits):
    (visits / "batches.toml").write_text(JOB.format(day='day = "quasi-identifying"'))
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    assert rt.open("out/2003-04-17").frame()["day"].unique().to_list() == ["2003-04-17"]


def test_the_same_source_needs_again_and_existing_batches_force(run, visits):
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    before = visits.contents()
    assert run("publish", "batches.toml", "-o", "out", "--batch-by", "day").code == 1
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--again")
    assert ran.code == 1
    assert "--force" in ran.err
    assert visits.contents() == before
    assert run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--force", "--again").code == 2


def test_an_unknown_column_writes_nothing(run, visits):
    before = visits.contents()
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "dya")
    assert ran.code == 1
    assert "'day'" in ran.err
    assert visits.contents() == before


def test_a_seeded_batch_is_stamped(run, visits):
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--seed", 3)
    assert "Not for publication" in ran.err
    assert rt.open("out/2003-04-16").manifest.seeded is True


def test_check_says_which_l_is_supported_and_what_restoring_costs(run, visits):
    (visits / "batches.toml").write_text(JOB.format(day="").replace("l = 2", "l = 3"))
    found = json.loads(run("check", "batches.toml", "--json").out)
    (advice,) = found["advice"]
    assert (advice["l"], advice["eligible"], advice["supports"], advice["dominating"]) == (3, False, 1, 1)
    assert advice["withheld"]["unsafe"] <= advice["withheld"]["calibrated"] <= advice["withheld"]["safe"]
    assert "dominating_values" not in advice
    ran = run("check", "batches.toml", "--show-values")
    assert "(flu) dominate" in ran.out
    assert "rows withheld on average" in ran.out
    assert "flu" not in run("check", "batches.toml").out
