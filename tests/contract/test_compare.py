"""Every kind, audit measure, attack, learner and estimator that is registered appears in a comparison."""

from __future__ import annotations

import inspect

import pytest

import reticent as rt
from reticent import catalogue
from reticent.audit.kind import measure_column
from tests.support import contract_examples
from tests.support.method_promise_pairs import Pair, drafted, pairs, stage


@pytest.fixture(scope="module")
def compared() -> list[rt.compare]:
    """One job for each kind, of its first method and promise, and one with a stage before: all on the same contract_examples."""
    pytest.importorskip("sklearn", reason="needs the extra `stats`")
    of_kind: dict[str, Pair] = {}
    for pair in pairs():
        if pair.sensitive == "illness" and not pair.stages and pair.beside is None:
            of_kind.setdefault(pair.kind, pair)
    jobs = {kind: drafted(pair).job() for kind, pair in of_kind.items()}
    staged = drafted(Pair("mondrian", "k-anonymity"), stage)
    whole = rt.compare(jobs, frame=contract_examples.people())
    return [whole, rt.compare(staged.job(), frame=staged.frame, attacks=["eligibility"], classification=False)]


def rows(compared, role: str = "candidate") -> list[dict]:
    return [row for found in compared for row in found.rows if row["role"] == role]


def test_every_kind_is_published_audited_asked_and_learned_from(compared):
    by_kind = {row["kind"]: row for row in reversed(rows(compared)) if row["name"] != "mondrian"}
    assert set(by_kind) == set(catalogue.KINDS)
    for kind, row in by_kind.items():
        assert row["reached"] and row["kept"] is not False, row["why"]
        assert row["count_error"]["value"] >= 0 and row["row_loss"]["value"] >= 0, kind
        assert set(row["marginals"]) == {"age", "city", "illness"}
        assert row["gives_up"] == catalogue.KINDS[kind].gives_up != ""


def test_every_estimator_is_one_that_a_kind_names():
    for kind, row in catalogue.KINDS.items():
        assert callable(catalogue.load_object(row.answers)), kind


def test_every_measure_of_an_audit_has_a_column(compared):
    source = inspect.getsource(measure_column)
    named = {name for name in source.split('"') if "-" in name or name == "alpha"} - {""}
    named = {name for name in named if name.replace("-", "").isalpha()}
    shown = {name for found in compared for name in found.frame().columns}
    assert len(named) == 12 and named | {"k-anonymity"} <= shown
    achieved = {name for row in rows(compared) for name in row["privacy"]}
    assert achieved <= shown


def test_every_attack_was_tried_and_every_one_ran_against_some_release(compared):
    tried = {name for row in rows(compared) for name in (*row["attacks"], *row["attacks_left_out"])}
    assert tried == set(catalogue.ATTACKS)
    ran = {name for row in rows(compared) for name in row["attacks"]}
    assert ran >= set(catalogue.ATTACKS) - {"overlap"}  # no two labels of these releases cover one person
    for row in rows(compared):
        for name, found in row["attacks"].items():
            assert {"success", "baseline", "worst_posterior", "promised", "spoken_of"} <= set(found), name
        assert all(row["attacks_left_out"].values())


def test_every_learner_is_taught_by_some_release(compared):
    taught = {
        name for row in rows(compared) for name, told in row.get("classification", {}).items() if told is not None
    }
    assert taught == set(catalogue.LEARNERS)
    for name, row in catalogue.LEARNERS.items():
        assert callable(catalogue.load_object(row.function)), name


def test_the_trivial_sanitizations_are_always_beside(compared):
    for found in compared:
        assert sum(row["role"] == "trivial" for row in found.rows) == 3
        assert sum(row["role"] == "source" for row in found.rows) == 1


def test_every_method_is_weighed_when_advice_is_asked_for():
    """Measured, or left out with the reason."""
    job = drafted(Pair("mondrian", "k-anonymity")).job()
    advice = rt.advise(job, frame=contract_examples.people(), purpose="sharing-rows", runs=1)
    assert {row["method"] for row in advice.candidates} | set(advice.refused) == set(catalogue.METHODS)
    assert all(advice.refused.values())
