"""README.md says of rows and persons what the job declares, in every kind of release."""

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.methods.anatomy import Anatomy
from reticent.methods.beta_perturbation.method import BetaPerturbation
from reticent.methods.mondrian import Mondrian

KINDS = {
    "generalized": (Mondrian(), rt.KAnonymity(2)),
    "anatomized": (Anatomy(), rt.ProbabilisticLDiversity(2)),
    "perturbed": (BetaPerturbation(), rt.BetaLikeness(1)),
}


def said(kind: str, rows_per_person: int | None) -> str:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "person": [at // 2 for at in range(120)] if rows_per_person else range(120),
            "age": rng.integers(20, 60, 120),
            "illness": rng.choice(["flu", "cold", "gout", "acne"], 120),
        }
    )
    columns = {
        "person": rt.identifying(rows_per_person=rows_per_person),
        "age": rt.quasi(),
        "illness": rt.sensitive(),
    }
    method, promise = KINDS[kind]
    release = rt.publish(rt.Job(columns=columns, promises=[promise], method=method), frame=frame, seed=1)
    assert release.kind == kind
    return (release.folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_how_many_rows_a_person_may_have(kind):
    text = said(kind, 2)
    assert "one row per person" not in text
    assert text.count("at most 2 rows per person") == 2, "what the data holds, and what the promise assumes"


@pytest.mark.parametrize("kind", ["anatomized", "perturbed"])
def test_it_says_that_several_rows_of_a_person_are_protected_each_alone(kind):
    assert "A person with several rows is protected in each row alone" in said(kind, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_one_row_per_person_where_nothing_else_is_declared(kind):
    text = said(kind, None)
    assert text.count("one row per person") == 2
    assert "several rows" not in text
