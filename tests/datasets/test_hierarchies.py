"""The hierarchies that come with the data are trees that cover it."""

import polars as pl
import pytest

from reticent import datasets
from reticent.errors import DataUnavailable, RequestError

HEIGHTS = {
    "census": {"gender": 1, "marital_status": 2, "work_class": 3},
    "sal": {"gender": 1, "marital_status": 2, "work_class": 3, "race": 2, "birthplace": 3, "occupation": 3},
    "adult": {
        "workclass": 3, "education": 3, "marital-status": 2, "occupation": 2, "race": 1, "sex": 1, "native-country": 3,
    },
}  # fmt: skip


def test_names_lists_what_load_knows():
    assert set(datasets.names()) == set(HEIGHTS)
    assert datasets.load("census", rows=5, seed=1).shape == (5, 6)
    assert datasets.load("sal", rows=5).shape == (5, 9)


def test_an_unknown_name_is_refused_with_a_suggestion():
    with pytest.raises(RequestError, match="'census'"):
        datasets.load("cencus")
    with pytest.raises(RequestError):
        datasets.hierarchies("nobody")


@pytest.mark.parametrize("name", HEIGHTS)
def test_each_hierarchy_is_a_tree_of_its_stated_height(name):
    trees = datasets.hierarchies(name)
    assert {column: len(rows[0]) - 1 for column, rows in trees.items()} == HEIGHTS[name]
    for rows in trees.values():
        assert len({len(row) for row in rows}) == 1
        assert {row[-1] for row in rows} == {"*"}
        assert len({row[0] for row in rows}) == len(rows)
        for level in range(1, len(rows[0])):
            parents = {}
            for row in rows:
                assert parents.setdefault(row[level - 1], row[level]) == row[level]
        labels = [label for level in range(len(rows[0])) for label in {row[level] for row in rows}]
        assert len(labels) == len(set(labels)), "one label, one node"


@pytest.mark.parametrize("name", HEIGHTS)
def test_each_hierarchy_has_a_row_for_every_value_of_the_data(name):
    try:
        table = datasets.load(name, rows=None if name == "adult" else 20_000)
    except DataUnavailable as reason:
        pytest.skip(f"{name} cannot be fetched here: {reason}")
    for column, rows in datasets.hierarchies(name).items():
        assert set(table[column].cast(pl.String)) - {"?"} <= {row[0] for row in rows}


def test_hierarchies_are_written_in_arx_format(tmp_path):
    paths = datasets.write_hierarchies("census", tmp_path / "trees")
    assert sorted(path.rsplit("/", 1)[1] for path in paths) == ["gender.csv", "marital_status.csv", "work_class.csv"]
    lines = (tmp_path / "trees" / "marital_status.csv").read_text().splitlines()
    assert lines[0] == "spouse present;married;*"
    assert len(lines) == 6
