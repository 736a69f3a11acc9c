"""k-map: people of a population counted under a release's labels."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent import registry
from reticent.data.codec import COUNT_COLUMN, encode_cells
from reticent.data.columns import Column, quasi
from reticent.data.population import locate_values
from reticent.errors import ColumnError, JobError
from reticent.models.k_anonymity import KMap, find_covered_boxes
from reticent.models.promise import Promises
from tests.oracle import labels as oracle
from tests.oracle import measures
from tests.support.plain_groups import groups_by

TREE = [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"], ["e", "z", "*"]]
ORDER = ("low", "middle", "high")
COLUMNS = {
    "n": quasi(numeric=True),
    "t": quasi(hierarchy=TREE),
    "o": quasi(order=ORDER),
    "d": quasi(type="date"),
    "f": quasi(),
}
CELLS = {
    "n": st.one_of(st.integers(0, 9), st.none()),
    "t": st.one_of(st.sampled_from("abcde"), st.none()),
    "o": st.one_of(st.sampled_from(ORDER), st.none()),
    "d": st.integers(0, 9).map(lambda i: date(2024, 1, 1 + i)),
    "f": st.sampled_from(["f0", "f1", "f2"]),
}
SCHEMA = {"n": pl.Int64, "t": pl.String, "o": pl.String, "d": pl.Date, "f": pl.String}


def tables(least: int):
    return st.lists(st.fixed_dictionaries(CELLS), min_size=least, max_size=12)


@st.composite
def releases(draw):
    rows = draw(tables(1))
    people = draw(tables(0))
    names = draw(st.lists(st.sampled_from(sorted(SCHEMA)), min_size=1, max_size=3, unique=True))
    groups = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    return rows, people, names, groups, draw(st.integers(2, 4))


@given(releases())
@settings(max_examples=60, deadline=None)
def test_the_oracle_counts_the_same_people_under_each_label(release):
    rows, people, names, groups, k = release
    columns = {name: COLUMNS[name] for name in names}
    counted = pl.DataFrame(rows, schema=SCHEMA).select(names).with_columns(pl.lit(1, pl.Int64).alias(COUNT_COLUMN))
    cells, cell = encode_cells(counted, columns)
    number = np.zeros(len(cells), np.int64)
    number[cell] = groups  # the last row of a cell decides, as good as any
    number = np.unique(number, return_inverse=True)[1]
    held = groups_by(cells, number)
    promise = KMap(k, pl.DataFrame(people, schema=SCHEMA))
    kept = Promises.from_iterable([promise]).bind(cells).allow(held)

    lower = np.minimum.reduceat(cells.codes[held.cell], held.offsets[:-1])
    upper = np.maximum.reduceat(cells.codes[held.cell], held.offsets[:-1])
    texts = [domain.labels(lower[:, at], upper[:, at]) for at, domain in enumerate(cells.quasi)]
    described = []
    for name in names:
        kind = {"n": oracle.NUMERIC, "o": oracle.ORDINAL, "d": oracle.DATE}.get(name, oracle.CATEGORICAL)
        values = [row[name] for row in rows]
        described.append(oracle.describe(kind, values, TREE if name == "t" else None, ORDER if name == "o" else None))
    for group, tuple_ in enumerate(zip(*texts, strict=True)):
        population = [tuple(person[name] for name in names) for person in people]
        assert kept[group] == (measures.k_map([tuple_], population, described) >= k)


def test_a_range_covers_people_between_its_values_and_none_outside():
    counted = pl.DataFrame({"age": [20, 30, 40], COUNT_COLUMN: [1, 1, 1]})
    cells, _ = encode_cells(counted, {"age": quasi(numeric=True)})
    down, up = locate_values(cells.quasi[0], pl.Series([19, 20, 25, 30, 41, None]))
    assert down.tolist() == [-1, 0, 0, 1, 2, -1] and up.tolist() == [0, 0, 1, 1, 3, 3]
    held = groups_by(cells, np.array([0, 0, 1]))
    low, high = find_covered_boxes(held)
    assert low.tolist() == [[0], [2]] and high.tolist() == [[1], [2]]


def test_text_numbers_of_a_file_are_placed_as_numbers(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,name\n20,x\n25,y\n30,z\n7,w\n")
    cells, _ = encode_cells(pl.DataFrame({"age": [20, 30], COUNT_COLUMN: [1, 1]}), {"age": quasi(numeric=True)})
    whole = groups_by(cells, np.array([0, 0]))
    assert Promises.from_iterable([KMap(3, str(path))]).bind(cells).allow(whole).tolist() == [True]
    assert Promises.from_iterable([KMap(4, path)]).bind(cells).allow(whole).tolist() == [False]


def test_a_population_without_the_columns_is_refused_by_their_names():
    cells, _ = encode_cells(pl.DataFrame({"age": [20], COUNT_COLUMN: [1]}), {"age": quasi(numeric=True)})
    with pytest.raises(ColumnError, match="lacks 1 quasi-identifying"):
        KMap(2, pl.DataFrame({"ages": [1]})).bind(cells)


def test_dates_and_times_are_not_mixed():
    cells, _ = encode_cells(pl.DataFrame({"d": [date(2024, 1, 1)], COUNT_COLUMN: [1]}), {"d": quasi()})
    with pytest.raises(ColumnError, match="Date in one table and Datetime"):
        KMap(2, pl.DataFrame({"d": [date(2024, 1, 1)]}).cast(pl.Datetime)).bind(cells)


def test_exact_sets_are_refused_because_they_cover_less():
    promises = Promises.from_iterable([KMap(2, pl.DataFrame({"age": [1]}))])
    promises.check_labels("nodes")
    with pytest.raises(JobError, match="labels = 'sets'"):
        promises.check_labels("sets")


def test_the_manifest_names_the_population_file_and_not_its_folder():
    promise = registry.make_promise({"model": "k-map", "k": 5, "population": "/somewhere/private/people.csv"})
    assert registry.describe(promise)["population"] == "/somewhere/private/people.csv"
    assert registry.describe(promise, public=True)["population"] == "people.csv"
    assert registry.describe(KMap(5, pl.DataFrame({"a": [1]})))["population"] == "a DataFrame"


def test_a_column_of_nothing_but_nulls_fits_nulls():
    column = {"q": Column("quasi")}
    cells, _ = encode_cells(
        pl.DataFrame({"q": [None], COUNT_COLUMN: [2]}, schema={"q": pl.String, COUNT_COLUMN: pl.Int64}), column
    )
    one = groups_by(cells, np.array([0]))
    people = pl.DataFrame({"q": [None, None, "a"]}, schema={"q": pl.String})
    assert KMap(2, people).bind(cells)(one).tolist() == [True]
    assert KMap(3, people).bind(cells)(one).tolist() == [False]


@pytest.mark.parametrize("kind", ["numbers", "dates"])
def test_people_beyond_a_top_count_at_the_top_and_the_audit_agrees(kind):
    ages = [20, 20, 70, 85]
    people = [20, 20, 95, 99]
    top = 60
    if kind == "dates":
        ages, people, top = ([date(1900 + year, 1, 1) for year in years] for years in (ages, people, [top]))
        top = top[0].isoformat()
    job = rt.Job(
        source=rt.Source(), columns={"age": rt.quasi(top=top)}, promises=[KMap(2, pl.DataFrame({"age": people}))]
    )
    release = rt.publish(job, frame=pl.DataFrame({"age": ages}))
    assert release.frame()["age"].n_unique() == 2
    assert release.audited.promises[0].achieved == {"k": 2}


def test_a_population_of_a_type_that_cannot_be_compared_is_refused_by_name():
    cells, _ = encode_cells(pl.DataFrame({"age": [20], COUNT_COLUMN: [1]}), {"age": quasi(numeric=True)})
    with pytest.raises(ColumnError, match=r"'age' .* has the type List"):
        KMap(2, pl.DataFrame({"age": [[1]]})).bind(cells)
