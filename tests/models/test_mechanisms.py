"""Promises about a mechanism's parameters: whoever runs it has them verified, and job files can name them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import catalogue, registry
from reticent.catalogue import Field, PromiseRow
from reticent.catalogue.fields import COLUMN_FIELD
from reticent.errors import JobError, PromiseUnreachable
from reticent.methods.beta_perturbation import MATRIX_SCALE, BetaPerturbation
from reticent.methods.suppression import Suppression
from reticent.models.beta_likeness import BetaLikeness, BetaPosterior, compute_worst_gains
from reticent.models.l_dichotomy import LDichotomy
from reticent.models.promise import MechanismPromise, Promises

COUNTS = [40, 30, 20, 10]


def keeping(stay: int) -> list[list[int]]:
    """A matrix that keeps a value with this chance over WHOLE, and else spreads it over the others."""
    return [[stay if i == v else (MATRIX_SCALE - stay) // 3 for v in range(4)] for i in range(4)]


def test_the_exact_posterior_is_what_beta_likeness_of_a_matrix_is_verified_by():
    promise = BetaPosterior(BetaLikeness(1))
    assert isinstance(promise, MechanismPromise)
    promise.verify({"matrix": keeping(MATRIX_SCALE // 4), "counts": COUNTS})
    with pytest.raises(PromiseUnreachable, match="can exceed its cap by 0"):
        promise.verify({"matrix": keeping(MATRIX_SCALE), "counts": COUNTS})


def test_the_worst_gains_are_exact_fractions():
    matrix = keeping(MATRIX_SCALE * 4 // 10)
    rows = sum(COUNTS)
    shown = [sum(count * row[v] for count, row in zip(COUNTS, matrix, strict=True)) for v in range(4)]
    exact = [[Fraction(row[v] * rows, shown[v]) for v in range(4)] for row in matrix]
    assert compute_worst_gains(matrix, COUNTS) == [(max(row) - 1, 1 / min(row) - 1) for row in exact]


@pytest.mark.parametrize("matrix", ["rank-one", "theorem3"])
def test_beta_perturbation_verifies_the_matrix_that_it_draws_with(monkeypatch, matrix):
    seen = []
    verify = BetaPosterior.verify
    monkeypatch.setattr(BetaPosterior, "verify", lambda self, given: (seen.append(given), verify(self, given)))
    made = BetaPerturbation(matrix=matrix).matrix_for(COUNTS, Promises.from_iterable([BetaLikeness(1, enhanced=False)]))
    assert [given["matrix"] for given in seen] == [made]


def test_a_construction_that_breaks_its_promise_is_never_drawn_with(monkeypatch):
    from reticent.methods import beta_perturbation

    monkeypatch.setattr(beta_perturbation, "build_rank_one_matrix", lambda *given, **how: keeping(MATRIX_SCALE))
    with pytest.raises(PromiseUnreachable, match="does not keep beta-likeness"):
        BetaPerturbation().matrix_for(COUNTS, Promises.from_iterable([BetaLikeness(1)]))


@pytest.mark.parametrize(
    ("kind", "l", "column", "given"),
    [
        ("calibrated", 3, None, True),
        ("safe", 4, "s", True),
        ("safe", 2, None, False),
        ("randomized", 9, None, False),
        ("safe", 3, "other", False),
    ],
)
def test_l_dichotomy_is_given_by_a_sound_kind_with_as_large_an_l_on_the_same_column(kind, l, column, given):  # noqa: E741
    promise = LDichotomy(3, column="s")
    parameters = {"kind": kind, "l": l, "column": column}
    assert promise.given_by(parameters) == given == Suppression(**parameters).keeps(promise)
    if given:
        promise.verify(parameters)
    else:
        with pytest.raises(JobError, match="is not given by suppression"):
            promise.verify(parameters)


def test_suppression_has_the_promise_it_keeps_verified(monkeypatch):
    seen = []
    monkeypatch.setattr(LDichotomy, "verify", lambda self, parameters: seen.append(parameters))
    frame = pl.DataFrame({"q": np.arange(40) % 4, "s": ["a"] * 16 + ["b"] * 8 + ["c"] * 8 + ["d"] * 8})
    job = rt.Job(
        source=rt.Source(),
        columns={"q": rt.quasi(), "s": rt.sensitive()},
        prepare=[Suppression(l=3)],
        promises=[LDichotomy(3), rt.ProbabilisticLDiversity(3)],
        method=rt.Anatomy(),
    )
    rt.publish(job, frame=frame, seed=1)
    assert seen == [{"kind": "safe", "l": 3, "column": None}]


@dataclass(frozen=True, slots=True)
class Growth:
    """A toy promise with a parameter that Python keeps for itself."""

    delta: Fraction
    lambda_: Fraction | None = None
    column: str | None = None
    name: ClassVar[str] = "toy-growth"
    needs_sensitive: ClassVar[bool] = True

    def verify(self, parameters) -> None: ...


def test_a_parameter_whose_name_python_reserves_is_written_without_the_underscore(monkeypatch):
    fields = {"delta": Field("number", required=True), "lambda": Field("number"), "column": COLUMN_FIELD}
    monkeypatch.setitem(catalogue.PROMISES, "toy-growth", PromiseRow(f"{__name__}:Growth", "", fields, "", ""))
    entry = {"model": "toy-growth", "delta": Fraction(1, 2), "lambda": Fraction(1, 10)}
    promise = registry.make_promise(entry)
    assert promise.lambda_ == Fraction(1, 10)
    assert registry.describe(promise) == {"model": "toy-growth", "delta": 0.5, "lambda": 0.1}
    assert registry.make_promise(registry.describe(promise)).lambda_ == 0.1
    with pytest.raises(JobError, match="no parameter 'lambda_'"):
        registry.make_promise({"model": "toy-growth", "delta": 1, "lambda_": 1})
    with pytest.raises(JobError, match="'lambda' instead"):
        registry.make_promise({"model": "toy-growth", "delta": 1, "lamda": 1})
