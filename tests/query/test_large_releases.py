"""A question to a large release is answered from counted rows, with the same numbers as from all of them."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt
from reticent.query import How, ask
from reticent.query.ask import columns_asked
from reticent.release.kind import counted_tables
from tests.query import redraws

QUESTIONS = [
    "SELECT COUNT(*) FROM release",
    "SELECT COUNT(*) FROM release WHERE age BETWEEN 25 AND 41 AND pay > 20",
    "SELECT AVG(age), SUM(pay), MIN(age), MAX(pay) FROM release WHERE town = 'a' OR age > 50",
    "SELECT town, COUNT(*) FROM release GROUP BY town",
    "SELECT pay, AVG(age) FROM release WHERE age IS NOT NULL GROUP BY pay",
    "SELECT COUNT(*) FROM release WHERE age IS NULL OR ward = 'N'",
]


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("withheld", [0.0, 0.2])
def test_counted_rows_give_the_answers_of_all_rows(tmp_path, file_format, withheld):
    people = redraws.people(400).with_columns(
        age=pl.when(pl.int_range(400) % 37 == 0).then(None).otherwise("age"), ward=pl.Series(["N", "S"] * 200)
    )
    columns = {"age": rt.quasi(numeric=True, domain=[0, 99]), "town": rt.quasi(), "pay": rt.sensitive(type="numeric")}
    job = rt.Job(
        columns={**columns, "ward": rt.insensitive()},
        promises=[rt.KAnonymity(5)],
        release=rt.Output(format=file_format, suppress_at_most=withheld),
    )
    release = rt.publish(job, frame=people, to=tmp_path / "release", seed=1)
    for question in QUESTIONS:
        counted = counted_tables(release.folder, release.manifest, columns_asked(question, release.manifest))
        assert len(counted["data"]) < len(release.tables["data"])
        found, wanted = (
            answers if isinstance(answers, list) else [answers]
            for answers in (ask(counted, release.manifest, question, How()), release.query(question))
        )
        assert [one.keys for one in found] == [one.keys for one in wanted]
        for one, other in zip(found, wanted, strict=True):
            assert (one.lower, one.upper, one.note) == (other.lower, other.upper, other.note), question
            assert one.estimate == pytest.approx(other.estimate), question


def test_kinds_whose_values_stand_apart_are_read_whole():
    job = rt.Job(columns=redraws.COLUMNS, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy())
    release = rt.publish(job, frame=redraws.people(100), seed=1)
    assert counted_tables(release.folder, release.manifest, ["age"]) is None
