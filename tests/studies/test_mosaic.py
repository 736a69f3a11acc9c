import csv

import pytest

from studies.mosaic import promises
from studies.mosaic.run import PROMISES, curves, save
from tests.support.mosaic_plans import table


def test_curves_fall_and_are_drawn(tmp_path):
    asked = {name: PROMISES[name] for name in ("k 5", "enhanced beta 2")}
    rows = list(curves(table(400), (0.5, 1.0), asked))
    for name in asked:
        losses = [
            round(row["loss"], 12) for row in rows if row["method"] == name
        ]  # equal losses may differ in the last bit
        assert losses == sorted(losses, reverse=True) and losses
    save(tmp_path, "small", rows)
    assert (tmp_path / "small.csv").read_text().count("\n") == len(rows) + 1
    assert "enhanced beta 2" in (tmp_path / "small.svg").read_text()


@pytest.mark.skipif(not promises.REAL.is_dir(), reason="the real tables of shared/data are not there")
def test_every_promise_of_a_real_table_is_served_no_worse_than_by_mondrian():
    rows = list(promises.measure_promises("deaths", 1500, "quick"))
    assert len(rows) >= 20
    assert all(row["share"] <= 1 + 1e-12 for row in rows)


def test_no_row_of_the_saved_study_loses_more_than_mondrian():
    with open(promises.RESULTS / "promises.csv", newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert {row["table"] for row in rows} == set(promises.TABLES)
    assert all(float(row["mosaic"]) <= float(row["mondrian"]) * (1 + 1e-5) for row in rows)
