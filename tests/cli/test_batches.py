"""`reticent publish --batch-by`: a release for each batch, one summary, the promise per batch."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent.errors import AlreadyPublished
from reticent.ledger.ledger import Ledger

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
        ("2003-04-16", True),
        ("2003-04-17", True),
        ("2003-04-18", False),
    ]
    assert [one.get("withheld") for one in found["batches"]] == [0, 22, None]
    assert (found["published"], found["unreachable"], found["rows"], found["withheld"]) == (2, 1, 45, 22)
    for name in ("2003-04-16", "2003-04-17"):
        release = rt.open(Path("out") / name)
        assert rt.audit(release.folder).kept is True
        assert release.frame().columns == ["age", "illness"]
    assert not Path("out/2003-04-18").exists()
    assert sorted(path.name for path in Path("out").iterdir()) == ["2003-04-16", "2003-04-17"]
    assert json.loads(Path("reticent-owner/out/batches.json").read_text()) == found
    assert Path("reticent-owner/out/2003-04-16/digest.txt").read_text().strip() == found["batches"][0]["digest"]
    assert "each batch alone" in found["promise"]


def test_a_person_reads_a_table_and_the_limit_of_the_promise(run, visits):
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    assert "Published 2 of 3 batches" in ran.out
    assert "for each batch alone" in ran.err
    assert "distinct value" in ran.out


def test_the_batch_column_may_be_published_too(run, visits):
    (visits / "batches.toml").write_text(JOB.format(day='day = "insensitive"'))
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    assert rt.open("out/2003-04-17").frame()["day"].unique().to_list() == ["2003-04-17"]


@pytest.mark.parametrize(
    ("role", "why"),
    [
        ("identifying", "never published"),
        ("quasi-identifying", "which is to be generalized"),
        ("sensitive", "which is what the promise protects"),
    ],
)
def test_a_column_that_tells_something_makes_no_batches(run, visits, role, why):
    (visits / "batches.toml").write_text(JOB.format(day=f'day = "{role}"'))
    before = visits.contents()
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    assert ran.code == 1
    assert f"The column 'day' is {role}" in ran.err
    assert why in ran.err
    assert visits.contents() == before


def test_a_column_that_names_people_makes_no_batches_though_it_is_undeclared(run, visits):
    frame = pl.read_csv("visits.csv")
    frame.with_columns(name=pl.format("Ann{}", pl.int_range(len(frame)))).write_csv("visits.csv")
    before = visits.contents()
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "name")
    assert ran.code == 1
    assert "'name' is near-unique: 73 of 73 rows" in ran.err
    assert "Ann1" not in ran.err
    assert visits.contents() == before


def test_the_same_source_needs_again_and_existing_batches_force(run, visits):
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    before = visits.contents()
    for output, code in (("out", 1), ("elsewhere", 5)):
        assert run("publish", "batches.toml", "-o", output, "--batch-by", "day").code == code
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--again")
    assert ran.code == 1
    assert "--force" in ran.err
    assert visits.contents() == before
    assert run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--force", "--again").code == 2


def test_batches_are_in_the_one_ledger_as_a_set(run, visits):
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    first, second = Ledger.open().read_entries()
    assert (first["release"], second["release"]) == ("2003-04-16", "2003-04-17")
    assert first["publication"] == second["publication"]
    assert first["whole"] == second["whole"]
    assert first["repeats"] == second["repeats"] == []
    ran = run("publish", "batches.toml", "-o", "whole")
    assert ran.code == 5
    assert "The same rows were published before: 2 releases" in ran.err


def test_batches_can_be_published_from_a_frame(visits):
    job = rt.Job.read("batches.toml")
    found = rt.publish_batches(job, "day", "out", frame=pl.read_csv("visits.csv"), ledger="ours")
    assert (found["published"], found["unreachable"]) == (2, 1)
    assert len(Ledger.open("ours").read_entries()) == 2
    with pytest.raises(AlreadyPublished):
        rt.publish_batches(job, "day", "again", frame=pl.read_csv("visits.csv"), ledger="ours")


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
    assert "(flu) dominates" in ran.out
    assert "rows withheld on average" in ran.out
    assert "flu" not in run("check", "batches.toml").out
