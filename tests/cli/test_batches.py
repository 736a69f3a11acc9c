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


def test_the_same_source_elsewhere_needs_again_and_replacing_batches_needs_force_too(run, visits):
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    before = visits.contents()
    assert run("publish", "batches.toml", "-o", "elsewhere", "--batch-by", "day").code == 5
    assert visits.contents() == before
    assert run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--force", "--again").code == 2
    assert len(Ledger.open().read_entries()) == 4


def batch_statuses(text: str) -> dict[str, str]:
    return {batch["batch"]: batch["status"] for batch in json.loads(text)["batches"]}


def add_day(day: str, values: list[str]) -> None:
    frame = pl.read_csv("visits.csv")
    rows = {"day": [day] * len(values), "age": [40 + i % 37 for i in range(len(values))], "illness": values}
    pl.concat([frame, pl.DataFrame(rows)]).write_csv("visits.csv")


def test_a_second_run_publishes_the_new_batches_only_and_says_what_it_skipped(run, visits):
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    published = {path: path.stat().st_mtime_ns for path in Path("out").rglob("*")}
    add_day("2003-04-15", ["measles", "mumps"] * 20)  # sorts before all others
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--json")
    assert batch_statuses(ran.out) == {
        "2003-04-15": "published",
        "2003-04-16": "skipped",
        "2003-04-17": "skipped",
        "2003-04-18": "unreachable",
    }
    assert ran.code == 2
    summary = json.loads(ran.out)
    assert (summary["published"], summary["skipped"], summary["changed"], summary["unreachable"]) == (1, 2, 0, 1)
    assert {path: path.stat().st_mtime_ns for path in published} == published
    assert [entry["release"] for entry in Ledger.open().read_entries()] == ["2003-04-16", "2003-04-17", "2003-04-15"]
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    assert "Skipped, because published before from the same rows: 2003-04-15, 2003-04-16, 2003-04-17." in ran.out


def test_a_run_without_anything_new_ends_with_0_and_writes_no_release(run, visits):
    pl.read_csv("visits.csv").filter(pl.col("day") != "2003-04-18").write_csv("visits.csv")
    assert run("publish", "batches.toml", "-o", "out", "--batch-by", "day").code == 0
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--json")
    assert ran.code == 0
    assert set(batch_statuses(ran.out).values()) == {"skipped"}
    assert len(Ledger.open().read_entries()) == 2


def test_a_batch_that_changed_is_left_out_with_the_reason_and_new_ones_are_published(run, visits):
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    before = (visits / "out/2003-04-16/manifest.json").read_bytes()
    add_day("2003-04-16", ["flu"])
    add_day("2003-04-19", ["measles", "mumps"] * 20)
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--json")
    assert ran.code == 5
    statuses = batch_statuses(ran.out)
    assert (statuses["2003-04-16"], statuses["2003-04-19"]) == ("changed", "published")
    changed = next(batch for batch in json.loads(ran.out)["batches"] if batch["status"] == "changed")
    assert "from 25 rows, and now has 26" in changed["why"]
    assert "--force --again" in changed["why"]
    assert (visits / "out/2003-04-16/manifest.json").read_bytes() == before
    assert run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--force", "--again").code == 2
    assert (visits / "out/2003-04-16/manifest.json").read_bytes() != before


def test_a_batch_that_was_published_with_another_promise_is_not_skipped_as_if_it_kept_this_one(run, visits):
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    (visits / "batches.toml").write_text(JOB.format(day="").replace("l = 2", "l = 3"))
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--json")
    assert ran.code == 5
    changed = [batch for batch in json.loads(ran.out)["batches"] if batch["status"] == "changed"]
    assert len(changed) == 2 and all("another promise" in batch["why"] for batch in changed)


def test_a_folder_that_is_no_longer_the_release_of_its_batch_is_told(run, visits):
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    manifest = visits / "out/2003-04-16/manifest.json"
    manifest.write_text(manifest.read_text() + " ")
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--json")
    assert batch_statuses(ran.out)["2003-04-16"] == "changed"
    assert "is not that release" in ran.out


def test_a_batch_whose_rows_another_release_holds_is_refused_unless_again(run, visits):
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    frame = pl.read_csv("visits.csv")
    repeated = frame.filter(pl.col("day") == "2003-04-17").with_columns(day=pl.lit("2003-04-20"))
    pl.concat([frame, repeated]).write_csv("visits.csv")
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day")
    assert ran.code == 5
    assert not Path("out/2003-04-20").exists()
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--again", "--json")
    assert batch_statuses(ran.out)["2003-04-20"] == "published"
    assert batch_statuses(ran.out)["2003-04-17"] == "skipped"


def test_a_run_that_was_interrupted_is_continued_by_the_next(run, visits, monkeypatch):
    from reticent import batches

    publish = batches.publish
    calls = []

    def publish_once(*given, **named):
        if calls:
            raise KeyboardInterrupt
        calls.append(named["to"])
        return publish(*given, **named)

    monkeypatch.setattr(batches, "publish", publish_once)
    assert run("publish", "batches.toml", "-o", "out", "--batch-by", "day").code == 130
    monkeypatch.setattr(batches, "publish", publish)
    ran = run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--json")
    assert batch_statuses(ran.out) == {
        "2003-04-16": "skipped",
        "2003-04-17": "published",
        "2003-04-18": "unreachable",
    }


def test_the_seed_of_a_batch_goes_by_its_name_so_that_a_new_batch_changes_no_other(run, visits):
    run("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--seed", 3, "--ledger", "first")
    add_day("2003-04-15", ["measles", "mumps"] * 20)
    run("publish", "batches.toml", "-o", "more", "--batch-by", "day", "--seed", 3, "--ledger", "second")
    for name in ("2003-04-16", "2003-04-17"):
        assert (visits / "out" / name / "manifest.json").read_bytes() == (
            visits / "more" / name / "manifest.json"
        ).read_bytes()


def test_values_that_would_share_a_folder_have_names_of_their_own_that_no_third_value_changes():
    from reticent.batches import _name_batches

    def name_batches(*texts: str) -> list[str]:
        return _name_batches(list(texts), list(texts))

    assert name_batches("a-b", "c") == ["a-b", "c"]
    two = name_batches("a b", "a-b")
    assert two[1] == "a-b" and two[0].startswith("a-b-")
    assert name_batches("a b", "a/b", "a-b")[::2] == two
    assert name_batches("batches.json")[0] != "batches.json"


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


def test_a_batch_is_recognized_whatever_its_columns_declare_and_whatever_engine_reads_it(visits):
    frame = pl.DataFrame(
        {
            "day": ["one"] * 40 + ["two"] * 40,
            "born": [f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1950 + i}" for i in range(80)],
            "pay": [f"{1000 + 7 * i:,}" for i in range(80)],
            "illness": ["flu", "cold", "gout", "mumps"] * 20,
        }
    )
    columns = {
        "born": rt.quasi(type="date", format="%d.%m.%Y"),
        "pay": rt.quasi(type="numeric", format="1,234.5"),
        "illness": rt.sensitive(),
    }
    frame.write_csv("typed.csv")
    job = rt.Job(source=rt.Source(path="typed.csv"), columns=columns, promises=[rt.KAnonymity(4)])
    job = job.at(release=rt.Output(undeclared="drop"))
    for engine in ("local", "stream"):
        to = f"out-{engine}"
        for wanted in ("published", "skipped"):
            summary = rt.publish_batches(job, "day", to, engine=engine, ledger=f"ledger-{engine}")
            assert [batch["status"] for batch in summary["batches"]] == [wanted] * 2
