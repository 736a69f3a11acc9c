"""Jobs of every method and kind that engines publish alike, and what `local` makes of them."""

from __future__ import annotations

from functools import cache

import polars as pl
from hypothesis import strategies as st

import reticent as rt
from reticent.errors import JobError, PromiseUnreachable
from tests.support import method_promise_pairs
from tests.support.method_promise_pairs import Pair, drafted

FIRST = {pair.method: pair for pair in reversed(method_promise_pairs.pairs())}


TURNS = {
    "plain": (),
    "carried": (method_promise_pairs.carry,),
    "after a stage, carried": (method_promise_pairs.stage, method_promise_pairs.carry),
    "missing, carried": (method_promise_pairs.lose_quasi, method_promise_pairs.carry),
    "rows withheld, CSV": (method_promise_pairs.withhold, method_promise_pairs.carry, method_promise_pairs.as_csv),
    "in parts": (method_promise_pairs.cut,),
    "in parts, carried, CSV": (method_promise_pairs.carry, method_promise_pairs.as_csv, method_promise_pairs.cut),
}


SORTED = ("anatomized", "transformed")
"""Kinds whose rows are sorted by all that they show: the order is the same too."""


@cache
def by_local(pair: Pair, name: str) -> tuple[rt.Release, rt.Job, pl.DataFrame] | str:
    """A release of the engine that all others are compared with, or the refusal's words."""
    draft = drafted(pair, *TURNS[name])
    try:
        job = draft.job()
        return rt.publish(job, frame=draft.frame, seed=11), job, draft.frame
    except JobError as error:
        return str(error)


tables = st.integers(4, 60).flatmap(
    lambda rows: st.fixed_dictionaries(
        {
            "q": st.lists(st.sampled_from([1, 2, 3, None]), min_size=rows, max_size=rows),
            "s": st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows),
            "text": st.lists(st.sampled_from(["", "x", "=1", "ü\n", None]), min_size=rows, max_size=rows),
            "number": st.lists(st.one_of(st.none(), st.floats(-5, 5)), min_size=rows, max_size=rows),
        }
    )
)


def outcome(job: rt.Job, frame: pl.DataFrame, seed: int, engine: str) -> rt.Release | str:
    try:
        return rt.publish(job, frame=frame, seed=seed, engine=engine)
    except PromiseUnreachable as error:
        return str(error)
