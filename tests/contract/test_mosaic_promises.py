"""Which promises mosaic takes: those a union of groups survives, and delta-disclosure whose absent values are ignored."""

import pytest

from reticent import catalogue, registry
from reticent.errors import JobError
from reticent.methods.mosaic import Mosaic
from reticent.models.promise import Promises
from studies.mosaic import promises
from tests.contract.table import kept

TAKEN = [
    {"model": "k-anonymity", "k": 5},
    {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 5},
    {"model": "distinct-l-diversity", "l": 3},
    {"model": "probabilistic-l-diversity", "l": 3},
    {"model": "entropy-l-diversity", "l": 3},
    {"model": "recursive-l-diversity", "c": 2, "l": 3},
    {"model": "t-closeness", "t": 0.2},
    {"model": "t-closeness", "t": 0.2, "distance": "ordered"},
    {"model": "t-closeness", "t": 0.2, "distance": "hierarchical"},
    {"model": "beta-likeness", "beta": 4},
    {"model": "beta-likeness", "beta": 4, "enhanced": False},
    {"model": "beta-likeness", "beta": 4, "two_sided": True},
    {"model": "delta-disclosure", "delta": 2},
    {"model": "delta-disclosure", "delta": 2, "absent": "ignore"},
]


@pytest.mark.parametrize("entry", TAKEN, ids=lambda entry: " ".join(map(str, entry.values())))
def test_mosaic_takes_every_promise_that_a_union_of_groups_survives(entry: dict):
    Mosaic().refuse(Promises.from_iterable([registry.make_promise(entry)]))


def test_mosaic_refuses_what_only_separate_groups_keep():
    class Apart:
        name = "apart"
        union_closed = False

    with pytest.raises(JobError, match="apart"):
        Mosaic().refuse(Promises.from_iterable([registry.make_promise(TAKEN[0]), Apart()]))


@pytest.mark.skipif(not promises.REAL.is_dir(), reason="the real tables of shared/data are not there")
def test_the_study_asks_every_promise_that_mosaic_keeps():
    asked = {promise.name for _, _, listed in promises.list_promises("deaths", 1500, 1) for promise in listed}
    assert asked == {promise for promise in catalogue.PROMISES if kept("mosaic", promise) != "-"}
