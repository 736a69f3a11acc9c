"""Promises say which labels they need before data is read; for known members no two labels cover one row."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.data.cells import COUNT_COLUMN, encode_cells
from reticent.data.columns import Column
from reticent.errors import JobError, PromiseUnreachable
from reticent.methods.mondrian import Mondrian
from reticent.methods.recipe_planning import settle_method
from reticent.models.k_anonymity import KAnonymity
from reticent.models.promise import Promises
from reticent.preconditions import require_promises_supported
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from tests.oracle import labels as oracle

TREE = [["n0", "n0", "*"], ["n1", "n0", "*"], ["n2", "south", "*"], ["n3", "south", "*"], ["n4", "south", "*"]]
ORDER = ["low", "middle", "high"]
COLUMNS = {
    "n": Column("quasi", "numeric"),
    "t": Column("quasi", "categorical", TREE),
    "f": Column("quasi", "categorical"),
    "o": Column("quasi", "ordinal", order=ORDER),
}


@dataclass(frozen=True, slots=True)
class KnownMembers(KAnonymity):
    """A toy: k rows in a group, and who is in which group is known."""

    name: ClassVar[str] = "known-members"
    union_closed: ClassVar[bool] = False
    labels: ClassVar[str] = "sets"


@dataclass(frozen=True, slots=True)
class ClosedMembers(KnownMembers):
    """Kept by unions of groups that keep it, as mosaic asks."""

    union_closed: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Nodes(KAnonymity):
    name: ClassVar[str] = "about-nodes"
    labels: ClassVar[str] = "nodes"


def drawn(number: int, missing: float) -> pl.DataFrame:
    rng = np.random.default_rng(number)
    rows = int(rng.integers(8, 60))
    held = {
        "n": rng.choice(8, rows).tolist(),
        "t": rng.choice([row[0] for row in TREE], rows).tolist(),
        "f": rng.choice(["a", "b", "c, d", "*", "[1, 2]"], rows).tolist(),
        "o": rng.choice(ORDER, rows).tolist(),
    }
    gone = {name: rng.random(rows) < missing * rng.integers(0, 2) for name in held}
    return pl.DataFrame(
        {name: [None if lost else v for v, lost in zip(held[name], gone[name], strict=True)] for name in held},
        schema={"n": pl.Int64, "t": pl.String, "f": pl.String, "o": pl.String},
    )


def published(frame: pl.DataFrame, method: Mondrian, promises: list) -> list[tuple]:
    counted = frame.group_by(frame.columns).len(name=COUNT_COLUMN)
    cells, _ = encode_cells(counted, {name: COLUMNS[name] for name in frame.columns})
    recipe, found = merge_equal_labels(
        method.plan(cells, Promises.from_iterable(promises), Random.from_optional_seed(1))
    )
    assert recipe.labels == "sets"
    return [tuple(found.texts[at][code] for at, code in enumerate(row)) for row in found.of_group.tolist()]


@pytest.mark.parametrize("cuts", ["loss", "median"])
def test_no_row_lies_under_the_labels_of_two_groups_where_members_must_be_known(cuts):
    planned = 0
    for number in range(80):
        frame = drawn(number, missing=(0.0, 0.3, 0.6)[number % 3])
        frame = frame.select(frame.columns[: 1 + number % 4] if number % 2 else frame.columns[-1 - number % 4 :])
        try:
            groups = published(frame, Mondrian(cuts=cuts), [KnownMembers(2)])
        except PromiseUnreachable:
            continue
        planned += len(groups) > 1
        kinds = {"n": oracle.NUMERIC, "o": oracle.ORDINAL}
        trees = {"t": TREE}
        orders = {"o": ORDER}
        described = [
            oracle.describe(kinds.get(name, oracle.CATEGORICAL), frame[name], trees.get(name), orders.get(name))
            for name in frame.columns
        ]
        for row in set(frame.rows()):
            under = [
                all(
                    oracle.covers(label, column, cell)
                    for label, column, cell in zip(group, described, row, strict=True)
                )
                for group in groups
            ]
            assert sum(under) == 1, (number, row)
    assert planned > 20


def test_a_null_that_cannot_stand_alone_is_told_with_its_numbers():
    frame = pl.DataFrame({"n": [1, 1, 2, 2, None]}, schema={"n": pl.Int64})
    with pytest.raises(PromiseUnreachable, match="of 2 patterns of missing values 1 break the promise"):
        published(frame, Mondrian(), [KnownMembers(2)])


def test_numbers_under_a_hierarchy_do_not_tell_groups_apart_and_are_refused():
    column = Column("quasi", "numeric", [[str(i), f"{i // 2}x", "*"] for i in range(6)])
    cells, _ = encode_cells(pl.DataFrame({"n": list(range(6)), COUNT_COLUMN: [2] * 6}), {"n": column})
    with pytest.raises(JobError, match="'n' is published by nodes of a hierarchy"):
        Mondrian().plan(cells, Promises.from_iterable([KnownMembers(2)]), Random.from_optional_seed(1))


def test_mondrian_takes_the_labels_that_its_promises_need():
    plain, sets, nodes = (Promises.from_iterable([promise(2)]) for promise in (KAnonymity, KnownMembers, Nodes))
    assert [Mondrian().labels_for(promises) for promises in (plain, sets, nodes)] == ["nodes", "sets", "nodes"]
    assert Mondrian(labels="sets").labels_for(plain) == "sets"
    for method, promises in ((Mondrian(labels="nodes"), sets), (Mondrian(labels="sets"), nodes)):
        with pytest.raises(JobError, match="cannot be kept with labels"):
            method.labels_for(promises)
    assert settle_method(Mondrian(), sets, {}).labels == "sets"


def test_promises_that_need_different_labels_are_refused_together():
    with pytest.raises(JobError, match="about-nodes needs labels = 'nodes' and known-members needs labels = 'sets'"):
        Promises.from_iterable([Nodes(2), KnownMembers(2)]).check_labels(None)


@pytest.mark.parametrize("method", [Mondrian(labels="sets"), Mondrian(labels="sets", cuts="median")])
def test_k_map_with_sets_is_refused_before_data_is_read(method):
    job = rt.Job(source="nowhere.csv", columns={"a": rt.quasi()}, promises=[rt.KMap(2, "nobody.csv")], method=method)
    with pytest.raises(JobError, match="k-map cannot be kept with labels = 'sets'") as caught:
        rt.publish(job)
    assert "labels = 'nodes'" in str(caught.value)


@pytest.mark.parametrize(
    ("method", "promise"), [(rt.Mosaic(), ClosedMembers(2)), (Mondrian(labels="nodes"), KnownMembers(2))]
)
def test_a_method_with_other_labels_is_refused_before_data_is_read(method, promise):
    job = rt.Job(source="nowhere.csv", columns={"a": rt.quasi()}, promises=[promise], method=method)
    with pytest.raises(JobError, match="known-members cannot be kept with labels = 'nodes'"):
        require_promises_supported(job)


def test_the_manifest_says_the_labels_of_a_job_that_does_not():
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "s": list("xyxy")})
    job = rt.Job(source=rt.Source(), columns={"a": rt.quasi(), "s": rt.sensitive()}, promises=[rt.KAnonymity(2)])
    release = rt.publish(job, frame=frame)
    described = json.loads((release.folder / "manifest.json").read_text())["method"]
    assert described == {"name": "mondrian", "cuts": "loss", "fallback": True, "labels": "nodes", "thorough": False}
    assert list(described) == sorted(described)
