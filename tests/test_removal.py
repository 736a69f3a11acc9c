"""Which releases hold a person, a source without them, and what differencing tells about them."""

from __future__ import annotations

import csv
import json

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.errors import ColumnError, OutputExists, RequestError
from reticent.ledger.ledger import Ledger
from tests.support import ledger_tables
from tests.support.ledger_tables import job_of_named_people as job
from tests.support.ledger_tables import people


def test_a_person_is_found_in_the_releases_that_their_rows_were_in(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    rt.publish(job(), frame=people(seed=2), to=tmp_path / "second")
    found = rt.find_people(["P1 - 7", "p2-7", "nobody", "-"])
    assert [[one.release for one in known] for known in found.releases] == [["first"], ["second"], [], []]
    assert found.unknown == ()


def test_a_counter_is_found_under_the_name_of_its_column(tmp_path):
    numbered = people().with_columns(pl.int_range(1, 301).alias("name"))
    rt.publish(job(), frame=numbered, to=tmp_path / "first")
    assert [len(known) for known in rt.find_people(["007", "7", "301"]).releases] == [1, 1, 0]


def test_a_release_whose_people_were_not_noted_is_named_as_unknown(tmp_path):
    nameless = ledger_tables.job()
    rt.publish(nameless, frame=people(), to=tmp_path / "first")
    found = rt.find_people(["p1-7"])
    assert found.releases == ((),)
    assert [one.release for one in found.unknown] == ["first"]


def test_without_a_ledger_nobody_is_found(tmp_path):
    assert rt.find_people(["x"], ledger=tmp_path / "none").releases == ((),)
    assert not (tmp_path / "none").exists()


def test_the_source_without_them_is_the_same_but_for_their_rows(tmp_path):
    people().write_csv(tmp_path / "people.csv")
    outcome = rt.forget(
        job(tmp_path / "people.csv"),
        ["P1-7", "p1 8", "nobody"],
        tmp_path / "less.csv",
        job_to=tmp_path / "less.toml",
    )
    assert (outcome.rows, outcome.removed_rows, outcome.persons, outcome.not_found) == (298, 2, 2, (3,))
    lines = (tmp_path / "people.csv").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("p1-7,", "p1-8,"))]
    assert (tmp_path / "less.csv").read_text().splitlines() == kept
    assert (tmp_path / "less.csv").stat().st_mode & 0o777 == 0o600
    assert rt.publish(rt.Job.read(tmp_path / "less.toml"), to=tmp_path / "release").manifest.rows == 298
    assert rt.audit(tmp_path / "release", source=tmp_path / "less.csv").kept


def test_texts_that_mean_missing_and_empty_fields_stay_as_they_are(tmp_path):
    text = "name;age;illness\n" + "".join(
        f"p{at};{'?' if at % 9 == 0 else at % 7};{'' if at % 5 else 'flu'}\n" for at in range(60)
    )
    (tmp_path / "people.csv").write_text(text)
    columns = {"name": rt.identifying(), "age": rt.quasi(), "illness": rt.sensitive()}
    source = rt.Source(path=str(tmp_path / "people.csv"), delimiter=";", missing=("?",), empty="value")
    asked = rt.Job(source=source, columns=columns, promises=[rt.KAnonymity(2)])
    rt.forget(asked, ["p3"], tmp_path / "less.csv", job_to=tmp_path / "less.toml")
    before = list(csv.reader((tmp_path / "people.csv").read_text().splitlines(), delimiter=";"))
    after = list(csv.reader((tmp_path / "less.csv").read_text().splitlines()))
    assert after == [row for row in before if row[0] != "p3"]
    written = rt.Job.read(tmp_path / "less.toml")
    assert (written.source.missing, written.source.empty, written.source.delimiter) == (("?",), "value", None)


@pytest.fixture
def messy_job(tmp_path):
    """A job over a CSV with spellings, two formats of dates, two currencies and a broken line, and the CSV's good lines."""
    sexes = ("m", "M", "male", "F")
    lines = ["name,born,sex,paid,illness"]
    for at in range(120):
        born = f"{at % 28 + 13:02d}.03.19{at % 40 + 50}" if at % 28 < 12 else f"19{at % 40 + 50}-03-{at % 28 + 1:02d}"
        paid = f"${at % 7}.50" if at % 5 else f"€{at % 7}.50"
        lines.append(f"p{at},{born},{sexes[at % 4]},{paid},{('flu', 'cold', 'gout')[at % 3]}")
    (tmp_path / "visits.csv").write_text("\n".join([*lines[:9], "p500,1950-01-01,M", *lines[9:]]) + "\n")
    columns = {
        "name": rt.identifying(),
        "born": rt.quasi(format=["%Y-%m-%d", "%d.%m.%Y"]),
        "sex": rt.quasi(map={"m": "M", "male": "M"}),
        "paid": rt.quasi(format="1,234.5", rates={"$": 1, "€": 1.08}),
        "illness": rt.sensitive(),
    }
    source = rt.Source(path=str(tmp_path / "visits.csv"), broken="set-aside")
    return rt.Job(source=source, columns=columns, promises=[rt.KAnonymity(3)]), lines


def test_the_fields_of_those_who_stay_are_written_as_the_source_has_them(tmp_path, messy_job):
    asked, lines = messy_job
    rt.forget(asked, ["p3"], tmp_path / "less.csv", job_to=tmp_path / "less.toml")
    assert (tmp_path / "less.csv").read_text().splitlines() == [line for line in lines if not line.startswith("p3,")]
    assert rt.publish(rt.Job.read(tmp_path / "less.toml"), seed=1).manifest.rows == 119


def test_broken_lines_are_left_out_and_counted(tmp_path, messy_job, capsys):
    asked, _ = messy_job
    assert rt.forget(asked, ["p3"], tmp_path / "less.csv").to_dict()["set_aside"] == 1
    (tmp_path / "visits.toml").write_text(asked.to_toml())
    (tmp_path / "person.txt").write_text("p3\n")
    words = [
        "forget",
        str(tmp_path / "visits.toml"),
        "--person",
        str(tmp_path / "person.txt"),
        "-o",
        str(tmp_path / "other.csv"),
    ]
    assert main(words) == 0
    assert "1 broken line of the source is not in it, and nobody was looked for there." in capsys.readouterr().out


def test_the_difference_is_counted_whatever_the_columns_declare(tmp_path, messy_job):
    asked, _ = messy_job
    rt.publish(asked, to=tmp_path / "first")
    (only,) = rt.forget(asked, ["p3"], tmp_path / "less.csv").differences
    assert (only.certain, only.half) == (1, 1), only.reason


def test_values_that_the_columns_recode_alike_are_one_value_of_the_difference(tmp_path):
    columns = {"name": rt.identifying(), "age": rt.quasi(), "paid": rt.sensitive(type="numeric", top=50)}
    table = pl.DataFrame(
        {"name": [f"p{at}" for at in range(60)], "age": [20 + at % 9 for at in range(60)], "paid": [*range(60)]}
    )
    asked = rt.Job(columns=columns, promises=[rt.KAnonymity(3)])
    rt.publish(asked, frame=table, to=tmp_path / "first")
    (only,) = rt.forget(asked, ["p55", "p57"], tmp_path / "less.parquet", frame=table).differences
    assert (only.certain, only.half) == (2, 2), only.reason


def test_a_release_that_withholds_rows_of_columns_is_said_to_withhold_and_not_to_have_other_rows(tmp_path):
    columns = {"name": rt.identifying(), "age": rt.quasi(missing="withhold"), "illness": rt.sensitive()}
    asked = rt.Job(columns=columns, promises=[rt.KAnonymity(3)])
    table = people().select("name", pl.when(pl.col("age") != 30).then("age"), "illness")
    withheld = rt.publish(asked, frame=table, to=tmp_path / "first").manifest.withheld
    (only,) = rt.forget(asked, ["p1-7"], tmp_path / "less.parquet", frame=table).differences
    assert withheld and (only.certain, only.half) == (None, None)
    assert f"It withholds {withheld} row" in only.reason


def test_a_table_that_the_job_cannot_read_says_so_and_is_written_all_the_same(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    unreadable = people().with_columns(pl.lit(1.5).alias("height"))
    asked = job().at(release=rt.Output(undeclared="refuse"))
    outcome = rt.forget(asked, ["p1-7"], tmp_path / "less.parquet", frame=unreadable)
    (only,) = outcome.differences
    assert only.certain is None and "cannot be read as the job declares" in only.reason
    assert (tmp_path / "less.parquet").exists()


def test_a_source_with_types_keeps_them(tmp_path):
    with pytest.raises(RequestError, match="would be read otherwise"):
        rt.forget(job(), ["p1-7"], tmp_path / "less.csv", frame=people())
    rt.forget(job(), ["p1-7"], tmp_path / "less.parquet", frame=people())
    assert pl.read_parquet(tmp_path / "less.parquet").equals(people().filter(pl.col("name") != "p1-7"))
    people().write_csv(tmp_path / "people.csv")
    for name in ("less2.parquet", "less.xlsx", "less"):
        with pytest.raises(RequestError):
            rt.forget(job(tmp_path / "people.csv"), ["p1-7"], tmp_path / name)


def test_all_rows_of_a_person_go(tmp_path):
    visits = pl.concat([people()] * 3)
    outcome = rt.forget(job(name=rt.identifying(rows_per_person=3)), ["p1-7"], tmp_path / "less.parquet", frame=visits)
    assert (outcome.removed_rows, outcome.persons, outcome.rows) == (3, 1, 897)


def test_requests_that_remove_nobody_or_everybody_write_nothing(tmp_path):
    with pytest.raises(RequestError, match="None of 1 person is in the table") as refused:
        rt.forget(job(), ["secret-77"], tmp_path / "less.parquet", frame=people())
    assert "secret" not in str(refused.value)
    with pytest.raises(RequestError, match="Nobody would be left"):
        rt.forget(job(), people()["name"].to_list(), tmp_path / "less.parquet", frame=people())
    nameless = ledger_tables.job()
    with pytest.raises(ColumnError, match="No column is identifying"):
        rt.forget(nameless, ["p1-7"], tmp_path / "less.parquet", frame=people())
    (tmp_path / "there.parquet").write_text("")
    with pytest.raises(OutputExists):
        rt.forget(job(), ["p1-7"], tmp_path / "there.parquet", frame=people())
    assert [path.name for path in tmp_path.iterdir()] == ["there.parquet"]


def difference(tmp_path, persons: list[str], **changes: object):
    outcome = rt.forget(job(**changes), persons, tmp_path / "less.parquet", frame=people(), force=True)
    (only,) = outcome.differences
    return only.certain, only.half


def test_the_difference_tells_the_value_of_one_person_for_certain(tmp_path):
    release = rt.publish(job(), frame=people(), to=tmp_path / "first")
    assert difference(tmp_path, ["p1-7"]) == (1, 1)
    less = people().filter(pl.col("name") != "p1-7")
    later = rt.publish(job(), frame=less, to=tmp_path / "second", again=True)
    counts = [one.frame()["illness"].value_counts() for one in (release, later)]
    joined = counts[0].join(counts[1], on="illness").filter(pl.col("count") > pl.col("count_right"))
    assert joined["illness"].to_list() == people().filter(pl.col("name") == "p1-7")["illness"].to_list()


def test_the_difference_is_counted_over_all_who_are_removed_together(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    by_value = {
        value: people().filter(pl.col("illness") == value)["name"].to_list()
        for value in ("flu", "cold", "gout", "mumps")
    }
    assert difference(tmp_path, by_value["flu"][:3]) == (3, 3)
    assert difference(tmp_path, [names[0] for names in by_value.values()]) == (0, 0)
    assert difference(tmp_path, [*by_value["flu"][:2], by_value["cold"][0], by_value["gout"][0]]) == (0, 2)


def test_a_difference_that_is_not_exact_is_not_counted_and_says_why(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    changed = people().with_columns(pl.col("age") + 1)
    outcome = rt.forget(job(), ["p1-7"], tmp_path / "less.parquet", frame=changed)
    (only,) = outcome.differences
    assert (only.certain, only.half) == (None, None)
    assert "made from other rows" in only.reason
    path = Ledger.open().folder / "ledger.jsonl"
    entry = json.loads(path.read_text())
    for change, reason in (
        ({"withheld": 4}, "withholds 4 rows"),
        ({"kind": "perturbed"}, "It is perturbed"),
        ({"kind": None}, "older version"),
    ):
        path.write_text(json.dumps(entry | change) + "\n")
        (only,) = rt.forget(job(), ["p1-7"], tmp_path / "less.parquet", frame=people(), force=True).differences
        assert only.certain is None and reason in only.reason


def test_a_release_that_was_never_handed_out_tells_nothing(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    rt.withdraw(tmp_path / "first", reason="a trial", never_handed_out=True)
    assert rt.forget(job(), ["p1-7"], tmp_path / "less.parquet", frame=people()).differences == ()
