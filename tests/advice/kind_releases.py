"""A release of each kind, made once for all tests that ask or attack it."""

from __future__ import annotations

from functools import cache

import reticent as rt
from tests.support.method_promise_pairs import pairs, released


@cache
def publish_kind(kind: str) -> rt.Release:
    """Return a release of a kind, over age, city and a sensitive column."""
    pair = next(pair for pair in pairs() if pair.kind == kind and not pair.stages and pair.beside is None)
    return released(pair)[0]
