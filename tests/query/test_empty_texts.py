"""A text without a letter is a value like another, beside missing ones."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt

KINDS = {
    "generalized": ([rt.KAnonymity(2)], rt.Mondrian()),
    "anatomized": ([rt.ProbabilisticLDiversity(2)], rt.Anatomy()),
    "transformed": ([rt.PPrivacy("uniform")], rt.Distribution()),
    "perturbed": ([rt.BetaLikeness(3)], rt.BetaPerturbation()),
}


@pytest.mark.parametrize("texts", [["", "a", None], ["", None], ["", "a"], [""]], ids=repr)
@pytest.mark.parametrize("kind", list(KINDS))
def test_empty_texts_are_counted_as_such(kind, texts):
    promises, method = KINDS[kind]
    rows = 12 * len(texts)
    town = [texts[row % len(texts)] for row in range(rows)]
    frame = pl.DataFrame(
        {
            "town": pl.Series(town, dtype=pl.String),
            "illness": [["flu", "cold", "gout"][row // 4 % 3] for row in range(rows)],
        }
    )
    columns = {"town": rt.quasi(), "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=promises, method=method), frame=frame, seed=1)
    for text in texts:
        asked = "town IS NULL" if text is None else f"town = '{text}'"
        answer = release.query(f"SELECT COUNT(*) FROM release WHERE {asked}")
        assert (answer.lower, answer.upper) == (12, 12), asked
    found = release.query("SELECT town, COUNT(*) FROM release GROUP BY town")
    assert {answer.keys["town"]: answer.upper for answer in found} == dict.fromkeys(texts, 12)
