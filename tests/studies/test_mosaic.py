from itertools import product

import pytest

from studies.mosaic import promises
from studies.mosaic.run import PROMISES, curves, save
from studies.results import read_rows
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
    rows = list(promises.measure_promises("deaths", 1500, "quick", seed=1))
    assert len(rows) >= 20
    assert all(row["share"] <= 1 + 1e-12 for row in rows)


def test_no_row_of_the_saved_study_loses_more_than_mondrian():
    rows = read_rows(promises.RESULTS / "promises.csv")
    assert all(float(row["mosaic"]) <= float(row["mondrian"]) * (1 + 1e-5) for row in rows)


def test_the_saved_study_has_every_table_by_five_seeds():
    rows = read_rows(promises.RESULTS / "promises.csv")
    assert {(row["table"], int(row["seed"])) for row in rows} == set(product(promises.TABLES, promises.SEEDS))
