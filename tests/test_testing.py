"""The contract as functions: it lets ours pass, and names the law that a wrong method, promise or attack breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import reticent as rt
from reticent import catalogue
from reticent.attacks.scoring import score_guesses
from reticent.catalogue import AttackRow
from reticent.errors import PromiseUnreachable
from reticent.recipe.recipe import Recipe
from reticent.testing import ContractBroken, check_attack, check_kind, check_method, check_promise
from tests.oracle import measures


@pytest.mark.parametrize("method", ["mondrian", "anatomy"])
def test_methods_of_ours_keep_the_contract(method):
    check_method(method)


@pytest.mark.parametrize(
    "promise",
    [
        {"model": "k-anonymity", "k": 12},
        {"model": "distinct-l-diversity", "l": 3},
        {"model": "probabilistic-l-diversity", "l": 2},
        {"model": "recursive-l-diversity", "c": 2, "l": 2},
        {"model": "beta-likeness", "beta": 1},
    ],
    ids=lambda promise: promise["model"],
)
def test_promises_of_ours_agree_with_their_judge_and_the_oracle(promise):
    model = promise["model"]
    check_promise(promise, oracle=lambda groups, **asked: measures.holds(model=model, groups=groups, **asked))


def test_attacks_and_kinds_of_ours_keep_the_contract():
    check_attack("skewness")
    for kind in ("generalized", "anatomized", "perturbed"):
        check_kind(kind)


@dataclass(frozen=True)
class OneGroupEach(rt.Mondrian):
    """Leaves every combination of quasi-identifiers alone, whatever is promised."""

    def plan(self, cells, promises, rng):
        return Recipe.of_groups(cells, np.arange(len(cells)))


@dataclass(frozen=True)
class Refusing(rt.Mondrian):
    def plan(self, cells, promises, rng):
        raise PromiseUnreachable("No.")


@pytest.mark.parametrize(
    ("method", "law"), [(OneGroupEach(), "the audit before publishing says"), (Refusing(), "said to be unreachable")]
)
def test_a_wrong_method_is_told_which_law_it_breaks(method, law):
    with pytest.raises(ContractBroken, match=law):
        check_method(method)


@dataclass(frozen=True)
class Lenient:
    """Plans for fewer rows than its judge, that of k-anonymity, asks for."""

    k: int
    name: ClassVar[str] = "k-anonymity"
    needs_sensitive: ClassVar[bool] = False
    union_closed: ClassVar[bool] = True

    def bind(self, cells, totals=None):
        return lambda groups: groups.sizes >= 1


def test_a_class_that_disagrees_with_its_judge_is_found():
    with pytest.raises(ContractBroken, match="planning says True, the judge says False"):
        check_promise(Lenient(9))
    with pytest.raises(ContractBroken, match="the oracle does not"):
        check_promise(rt.KAnonymity(9), oracle=lambda groups, k: True)
    with pytest.raises(ContractBroken, match="nothing was shown"):
        check_promise(rt.KAnonymity(1_000))


def test_an_attack_that_reports_another_name_is_found(monkeypatch):
    monkeypatch.setitem(catalogue.ATTACKS, "odd", AttackRow(f"{__name__}:attack_oddly"))
    with pytest.raises(ContractBroken, match="bears the name 'even'"):
        check_attack("odd")


def attack_oddly(seen):
    return score_guesses("even", np.repeat(seen.prior[None, :], len(seen.points), axis=0), seen.truth, seen.promised)
