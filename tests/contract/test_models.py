"""What every promise owes: the oracle's judgement, declared closure under union, indifference to names and order."""

import itertools
import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent import catalogue, registry
from reticent.data.cells import COUNT_COLUMN, encode_cells
from reticent.data.columns import Column, quasi
from reticent.errors import JobError
from reticent.models.promise import CountCappedPromise, GroupCheckedPromise, MechanismPromise, Promises
from tests.oracle import measures
from tests.support.plain_groups import TREE, cells_of, groups_by, verdicts
from tests.support.strategies import PARAMETERS, histograms, promises, trees

PEOPLE = pl.DataFrame({"g": [number for number in range(60) for _ in range(3)]})
"""A population for k-map: every group is three people."""

EXAMPLES = {
    "k-anonymity": [{"k": 2}, {"k": 5}],
    "alpha-k-anonymity": [{"alpha": Fraction(1, 2), "k": 3}, {"alpha": 1, "k": 2}],
    "k-map": [{"k": 3, "population": PEOPLE}, {"k": 4, "population": PEOPLE}],
    "distinct-l-diversity": [{"l": 2}, {"l": 3}],
    "probabilistic-l-diversity": [{"l": 2}, {"l": Fraction(5, 2)}],
    "entropy-l-diversity": [{"l": 2}, {"l": Fraction(5, 2)}],
    "recursive-l-diversity": [{"c": 2, "l": 2}, {"c": Fraction(1, 2), "l": 3}],
    "t-closeness": [{"t": Fraction(1, 5), "distance": d} for d in ("equal", "ordered", "hierarchical")],
    "delta-disclosure": [
        {"delta": delta, "absent": absent, "base": base}
        for delta, absent, base in itertools.product((1, Fraction(1, 2)), ("break", "ignore"), ("e", 2))
    ],
    "beta-likeness": [
        {"beta": beta, "enhanced": enhanced, "two_sided": two_sided}
        for beta, enhanced, two_sided in itertools.product((1, Fraction(3, 2)), (True, False), (True, False))
    ],
}
LOOSER = {
    "k-anonymity": {"k": -1},
    "alpha-k-anonymity": {"alpha": 0, "k": -1},
    "k-map": {"k": -1},
    "distinct-l-diversity": {"l": -1},
    "probabilistic-l-diversity": {"l": Fraction(-1, 2)},
    "entropy-l-diversity": {"l": Fraction(-1, 2)},
    "recursive-l-diversity": {"c": Fraction(1, 3)},
    "t-closeness": {"t": Fraction(1, 10)},
    "delta-disclosure": {"delta": Fraction(1, 3)},
    "beta-likeness": {"beta": Fraction(1, 3)},
}
ABOUT_FAMILIES = {"semantic-beta-likeness", "proximity-beta-likeness"}
"""They judge sets of values, and need a tree or numbers: tests/models/test_families.py holds them to the same."""
ABOUT_BELIEFS = {"bt-privacy", "skyline"}
"""They judge who is in a group, not its histogram alone: tests/properties/test_background.py holds them to the same."""

ALL = [(name, index) for name, examples in EXAMPLES.items() for index in range(len(examples))]


def made(name: str, index: int):
    return registry.load_promise_class(name)(**EXAMPLES[name][index])


def promises_that(chosen=lambda promise: True):
    cases = [case for case in ALL if chosen(made(*case))]
    return pytest.mark.parametrize(("name", "index"), cases, ids=str)


every_promise = promises_that()


def random_groups(seed: int, count: int = 60, null: bool = True) -> list[dict]:
    """Any groups, and as many that look like one another, so that promises about frequencies find some to keep."""
    draw = random.Random(seed)
    values = ["s0", "s1", "s2", "s3", "s4"] + [None] * null
    any_ = [
        {value: draw.randint(1, 6) for value in draw.sample(values, draw.randint(1, len(values)))}
        for _ in range(count // 2)
    ]
    alike = [{value: draw.randint(4, 7) for value in values} for _ in range(count - count // 2)]
    return any_ + alike


def test_every_registered_promise_is_held_to_this_contract():
    grouped = {
        name for name in catalogue.PROMISES if not isinstance(registry.load_promise_class(name), MechanismPromise)
    }
    assert set(EXAMPLES) == grouped - (ABOUT_FAMILIES | ABOUT_BELIEFS)
    assert set(EXAMPLES) == {"k-map", *PARAMETERS}


@every_promise
def test_a_promise_bears_its_job_name_and_one_shape(name, index):
    promise = made(name, index)
    assert promise.name == name
    assert sum(isinstance(promise, shape) for shape in (CountCappedPromise, GroupCheckedPromise, MechanismPromise)) == 1


@pytest.mark.parametrize("null", [False, True])
@promises_that(lambda promise: promise.union_closed)
def test_unions_of_kept_groups_are_kept_where_the_promise_says_so(name, index, null):
    promise = made(name, index)
    checked = 0
    for seed in range(2):
        cells = cells_of(groups := random_groups(seed, null=null))
        fine = np.flatnonzero(verdicts([promise], cells))
        draw = random.Random(seed)
        for _ in range(15 if len(fine) > 1 else 0):
            union = draw.sample(fine.tolist(), draw.randint(2, len(fine)))
            number = np.where(np.isin(cells.codes[:, 0], union), 0, 1)
            if number.all() or not number.any():
                number = np.zeros(len(cells), np.int64)
            assert verdicts([promise], cells, number)[0], (groups, union)
            checked += 1
    assert checked or (name, index) == ("k-map", 1), "nothing was merged"


def test_delta_disclosure_that_ignores_absent_values_is_not_closed_under_union():
    promise = registry.load_promise_class("delta-disclosure")(delta=1, absent="ignore", base=2)
    cells = cells_of([{"s0": 2, "s1": 7}, {"s1": 9}, {"s0": 5, "s1": 7}])
    assert not promise.union_closed
    assert verdicts([promise], cells).tolist() == [True, True, True]
    number = np.where(cells.codes[:, 0] == 2, 1, 0)
    assert verdicts([promise], cells, number).tolist() == [False, True]


@promises_that(lambda promise: promise.name != "k-map")  # which is judged on labels, in tests/models/test_k_map.py
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_the_oracle_agrees(name, index, data):
    groups = data.draw(histograms(null=True, most_groups=4))
    tree = data.draw(trees(["s0", "s1", "s2", "s3", "s4"]))
    asked = EXAMPLES[name][index]
    _agrees({"model": name, **asked}, groups, tree)


@given(histograms(null=True), promises(), trees(["s0", "s1", "s2", "s3", "s4"]))
@settings(max_examples=300, deadline=None)
def test_the_oracle_agrees_on_random_parameters(groups, promise, tree):
    _agrees(promise, groups, tree)


def _agrees(promise, groups, tree):
    cells = cells_of(groups, tree)
    order = [value for value in cells.sensitive[0].texts if any(value in group for group in groups)]
    known = {"tree": tree, "order": order} if promise["model"] == "t-closeness" else {}
    kept = bool(verdicts([registry.make_promise(promise)], cells).all())
    assert kept == measures.holds(groups=groups, **promise, **known)


@given(
    histograms(null=True, most_groups=6),
    st.lists(promises(), min_size=2, max_size=4),
    trees(["s0", "s1", "s2", "s3", "s4"]),
)
@settings(max_examples=100, deadline=None)
def test_a_conjunction_keeps_what_each_of_its_promises_keeps(groups, asked, tree):
    cells = cells_of(groups, tree)
    found = [registry.make_promise(promise) for promise in asked]
    together = verdicts(found, cells)
    assert together.tolist() == np.logical_and.reduce([verdicts([promise], cells) for promise in found]).tolist()


@every_promise
def test_the_table_as_one_group_keeps_a_promise_about_frequencies_and_breaks_one_about_size_only_if_small(name, index):
    promise = made(name, index)
    cells = cells_of([{"s0": 2, "s1": 2, "s2": 2, "s3": 2}, {"s0": 3, "s1": 3, "s2": 3, "s3": 3}])
    assert Promises.from_iterable([promise]).bind(cells).allow_all()
    alone = cells_of([{"s0": 1}])
    mirrors = name in ("t-closeness", "delta-disclosure", "beta-likeness", "k-map")
    assert Promises.from_iterable([promise]).bind(alone).allow_all() == (
        mirrors and (name != "k-map" or promise.k <= 3)
    )


@every_promise
@pytest.mark.parametrize("null", [False, True])
def test_names_of_values_do_not_matter(name, index, null):
    promise = made(name, index)
    groups = random_groups(7, 20, null)
    draw = random.Random(index)
    kinship = {"ordered": [4, 3, 2, 1, 0], "hierarchical": [3, 2, 0, 1, 4]}
    order = kinship.get(getattr(promise, "distance", ""), draw.sample(range(5), 5))
    rename = {f"s{i}": f"s{j}" for i, j in enumerate(order)} | {None: None}
    renamed = [{rename[value]: count for value, count in group.items()} for group in groups]
    if null and getattr(promise, "distance", "") == "ordered":
        return  # the null stands last in either direction
    assert verdicts([promise], cells_of(groups)).tolist() == verdicts([promise], cells_of(renamed)).tolist()


@every_promise
def test_the_order_of_rows_does_not_matter(name, index):
    promise = made(name, index)
    groups = random_groups(3, 20)
    rows = [(g, value, 1) for g, group in enumerate(groups) for value, count in group.items() for _ in range(count)]
    random.Random(index).shuffle(rows)
    counted = pl.DataFrame(rows, schema={"g": pl.Int64, "s": pl.String, COUNT_COLUMN: pl.Int64}, orient="row")
    columns = {"g": quasi(), "s": Column("sensitive", hierarchy=TREE, missing="category")}
    shuffled, cell = encode_cells(counted, columns)
    expected = cells_of(groups)
    assert np.array_equal(shuffled.codes, expected.codes) and np.array_equal(shuffled.values, expected.values)
    assert np.array_equal(np.bincount(cell), expected.counts)
    assert verdicts([promise], shuffled).tolist() == verdicts([promise], expected).tolist()


@every_promise
@pytest.mark.parametrize("null", [False, True])
def test_loosening_a_promise_never_makes_a_kept_group_broken(name, index, null):
    given_ = EXAMPLES[name][index]
    step = LOOSER[name]
    looser = {key: value + step[key] if key in step else value for key, value in given_.items()}
    if 1 in (looser.get("k"), looser.get("l")):
        return  # it would promise nothing
    cells = cells_of(random_groups(11, 200, null))
    strict = verdicts([made(name, index)], cells)
    loose = verdicts([registry.load_promise_class(name)(**looser)], cells)
    assert (loose | ~strict).all()


@promises_that(lambda promise: promise.needs_sensitive)
def test_missing_values_never_help(name, index):
    promise = made(name, index)
    for seed in range(5):
        groups = random_groups(seed, 30)
        kept = verdicts([promise], cells_of(groups))
        known = [{value: count for value, count in group.items() if value is not None} for group in groups]
        # Rows with a missing value count toward k: where too few others are left, nothing is said of the rest.
        left = [at for at, group in enumerate(known) if sum(group.values()) >= getattr(promise, "k", 1)]
        alone = verdicts([promise], cells_of([known[at] for at in left]))
        assert all(alone[i] for i, at in enumerate(left) if kept[at])


@every_promise
def test_a_promise_says_itself_and_is_read_back(name, index):
    promise = made(name, index)
    said = registry.describe(promise)
    assert said["model"] == name
    assert registry.make_promise(said) == promise if name != "k-map" else said["k"] == promise.k


@every_promise
def test_an_unknown_parameter_is_named_with_the_nearest_known_one(name, index):
    said = EXAMPLES[name][index]
    first = next(iter(said))
    with pytest.raises(JobError, match=f"has no parameter '{first}x'") as caught:
        registry.make_promise({"model": name, f"{first}x": 1, **said})
    assert "known are" in str(caught.value) or "one of" in str(caught.value)
    with pytest.raises(JobError, match=f"{name} needs {first}"):
        registry.make_promise({"model": name, **{key: value for key, value in said.items() if key != first}})


def test_an_unknown_promise_is_answered_with_the_nearest_name():
    with pytest.raises(JobError, match="'k-anonymity' instead"):
        registry.make_promise({"model": "k-anonimity", "k": 5})


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"model": "t-closeness", "t": 0.2}, {"t": 0.2, "distance": "equal"}),
        ({"model": "t-closeness", "t": "1/3"}, {"t": "1/3"}),
        ({"model": "beta-likeness", "beta": 4}, {"beta": 4, "enhanced": True, "two_sided": False}),
        (
            {"model": "entropy-l-diversity", "l": "2.1234567890123456789"},
            {"l": "21234567890123456789/10000000000000000000"},
        ),
        ({"model": "delta-disclosure", "delta": 1, "base": "2"}, {"delta": 1, "base": 2, "absent": "break"}),
    ],
)
def test_parameters_are_said_exactly(entry, said):
    found = registry.describe(registry.make_promise(entry))
    assert {key: found[key] for key in said} == said
    assert registry.describe(registry.make_promise(found)) == found


def test_groups_of_cells_are_judged_by_quota_and_not_by_cell():
    cells = cells_of([{"s0": 4, "s1": 4}])
    groups = groups_by(cells, np.zeros(2, np.int64))
    half = type(groups)(cells, groups.cell, np.array([1, 1]), groups.offsets)
    bound = Promises.from_iterable([registry.load_promise_class("k-anonymity")(3)]).bind(cells)
    assert bound.allow(groups).tolist() == [True] and bound.allow(half).tolist() == [False]
