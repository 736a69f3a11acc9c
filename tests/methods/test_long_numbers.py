"""Whole numbers beyond 2^53 are planned as the same numbers near zero are: what doubles cannot hold changes no group."""

from __future__ import annotations

import random
import re

import polars as pl
import pytest

import reticent as rt
from reticent.errors import ColumnError

ROWS = 160
BASES = {"10^18": (10**18, pl.Int64), "-10^18": (-(10**18), pl.Int64), "near 2^64": (18 * 10**18, pl.UInt64)}
METHODS = {
    "mondrian": (rt.Mondrian(), [rt.KAnonymity(4)]),
    "mosaic": (rt.Mosaic(), [rt.KAnonymity(4)]),
    "burel": (rt.Burel(), [rt.BetaLikeness(4)]),
    "sabre": (rt.Sabre(), [rt.TCloseness("0.5")]),
    "mondrian with knowledge": (rt.Mondrian(), [rt.KAnonymity(3), rt.BTPrivacy(t="0.9", bandwidth="0.3")]),
}


def table(base=0, dtype=pl.Int64, least=0):
    draw = random.Random(5)
    numbers = [least + draw.randint(0, 300) for _ in range(ROWS)]
    return pl.DataFrame(
        {
            "number": pl.Series([base + number for number in numbers], dtype=dtype),
            "age": [draw.randint(20, 60) for _ in range(ROWS)],
            "illness": [draw.choice("abcd") for _ in range(ROWS)],
        }
    )


def labels(method, promises, frame, **column):
    job = rt.Job(
        columns={"number": rt.quasi(**column), "age": rt.quasi(), "illness": rt.sensitive()},
        promises=promises,
        method=method,
    )
    release = rt.publish(job, frame=frame, seed=7)
    assert rt.audit(release.folder, source=frame).kept
    return release.frame()


def moved(label, base):
    """A label with its numbers less so much."""
    return re.sub(r"-?\d+", lambda number: str(int(number[0]) - base), label)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("where", BASES)
def test_groups_of_long_numbers_are_those_of_the_same_numbers_near_zero(where, method):
    base, dtype = BASES[where]
    near = labels(*METHODS[method], table(), labels="tight")
    far = labels(*METHODS[method], table(base, dtype), labels="tight")
    assert [moved(label, base) for label in far["number"]] == near["number"].to_list()
    assert far.drop("number").equals(near.drop("number"))


@pytest.mark.parametrize("where", BASES)
@pytest.mark.parametrize(
    "column",
    [
        {"labels": "snapped"},
        {"labels": {"style": "padded", "width": 20}},
        {"domain": (0, 400), "labels": "tight"},
        {"bottom": 20, "top": 250, "labels": "tight"},
    ],
    ids=str,
)
def test_labels_of_long_numbers_are_those_of_the_same_numbers_near_zero(where, column):
    base, dtype = BASES[where]
    shifted = {
        name: tuple(base + end for end in value)
        if name == "domain"
        else base + value
        if name in ("top", "bottom")
        else value
        for name, value in column.items()
    }
    near = labels(*METHODS["mondrian"], table(), **column)
    far = labels(*METHODS["mondrian"], table(base, dtype), **shifted)
    assert [moved(label, base) for label in far["number"]] == near["number"].to_list()


def test_many_long_numbers_are_grouped_as_near_zero_too():
    """More distinct numbers than a table of all ranges holds."""
    draw = random.Random(9)
    numbers = [0, *draw.sample(range(1, 9_000), 2_399)]  # another least rounds ties otherwise
    frames = [
        pl.DataFrame({"number": [base + number for number in numbers], "illness": [draw.choice("abcd")] * 2_400})
        for base in (0, 10**15, 10**18)
    ]
    job = rt.Job(
        columns={"number": rt.quasi(labels="tight"), "illness": rt.sensitive()},
        promises=[rt.KAnonymity(4)],
        method=rt.Mosaic(),
    )
    plans = [rt.plan(job, frame=frame, seed=1) for frame in frames]
    assert len({round(plan.loss, 9) for plan in plans}) == 1
    assert len({tuple(plan.sizes.tolist()) for plan in plans}) == 1


def test_a_declared_domain_of_long_numbers_is_compared_and_published_exactly():
    frame = table(2**53, pl.Int64)
    least = frame["number"].min()
    greatest = frame["number"].max()
    job = rt.Job(
        columns={"number": rt.quasi(domain=(least, greatest)), "age": rt.quasi(), "illness": rt.sensitive()},
        promises=[rt.KAnonymity(4)],
    )
    release = rt.publish(job, frame=frame, seed=1)
    assert release.columns[0].domain == [least, greatest]
    narrow = {**job.columns, "number": rt.quasi(domain=(least + 1, greatest))}
    with pytest.raises(ColumnError, match="1 distinct value lies outside the declared domain"):
        rt.publish(job.at(columns=narrow), frame=frame)


@pytest.mark.parametrize("build", [{"build": "intervals", "width": [10]}, {"build": "quantiles", "groups": [4]}])
def test_a_hierarchy_of_long_numbers_is_refused_with_what_works(build):
    job = rt.Job(
        columns={"number": rt.quasi(hierarchy=build), "age": rt.quasi(), "illness": rt.sensitive()},
        promises=[rt.KAnonymity(4)],
    )
    with pytest.raises(ColumnError, match="distinct values are beyond 2\\^53"):
        rt.publish(job, frame=table(2**60))


def test_moments_of_nanoseconds_are_as_far_apart_as_they_are():
    from reticent.data.cells import build_coding
    from reticent.data.columns import quasi

    moments = pl.Series([1_700_000_000_000_000_000 + at for at in (0, 1, 3)]).cast(pl.Datetime("ns"))
    domain = build_coding("at", quasi(labels="tight"), moments, moments.to_physical().to_numpy() * 0 + 1).domain
    assert domain.positions.tolist() == [0, 1, 3]
