"""A refused attack is run once it is called as the refusal advises."""

from __future__ import annotations

from typing import Any

import pytest

import reticent as rt
from reticent import catalogue
from reticent.errors import RequestError
from tests.advice.kind_releases import publish_kind
from tests.support import contract_examples

FOLLOWED: list[tuple[str, str, dict[str, Any], str, dict[str, Any]]] = [
    # A kind, an attack, its options beside the source, words of what is advised, and the options as they are then.
    ("generalized", "background", {}, "--bandwidth 0.3 --t 0.2.", {"bandwidth": 0.3, "t": 0.2}),
    ("generalized", "linkability", {"first": ["nobody"]}, "one of 'age', 'city'.", {"first": ["age"]}),
    ("generalized", "definetti", {"round": 2}, "'rounds' instead", {"rounds": 2}),
    ("generalized", "similarity", {"level": 7}, "window = 5.", {"window": 5}),
    ("generalized", "similarity", {"window": 0}, "window = 5.", {"window": 5}),
    ("generalized", "similarity", {"window": -3}, "window = 5.", {"window": 5}),
]


@pytest.mark.parametrize(("kind", "name", "options", "words", "followed"), FOLLOWED)
def test_an_attack_that_follows_the_advice_is_run(kind, name, options, words, followed):
    release = publish_kind(kind)
    people = contract_examples.people()
    with pytest.raises(RequestError) as refusal:
        rt.attack(release, name=name, source=people, **options)
    assert words in refusal.value.attempt
    assert rt.attack(release, name=name, source=people, **followed).to_dict()["targets"] > 0


READING_GROUPS = [
    name
    for name, row in catalogue.ATTACKS.items()
    if row.needs_source
    and name not in {"matrix", "matrix-learned", "algorithm", "eligibility", "composition", "corruption", "overlap"}
]
"""Attacks that a generalized release is no obstacle to, and that need nothing but the source."""


@pytest.mark.parametrize("name", READING_GROUPS)
def test_an_attack_without_the_source_is_told_to_name_it_and_then_runs(name):
    release = publish_kind("generalized")
    with pytest.raises(RequestError) as refusal:
        rt.attack(release, name=name)
    assert "source=..." in refusal.value.attempt
    options = contract_examples.ATTACKED_WITH.get(name, {})
    assert rt.attack(release, name=name, source=contract_examples.people(), **options) is not None


def test_an_attack_by_a_misspelled_name_is_told_the_right_one():
    release = publish_kind("generalized")
    with pytest.raises(RequestError) as refusal:
        rt.attack(release, name="naive-baies", source=contract_examples.people())
    assert "'naive-bayes' instead" in refusal.value.attempt
    assert rt.attack(release, name="naive-bayes", source=contract_examples.people()).to_dict()["targets"] > 0
