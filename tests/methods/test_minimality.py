"""What an adversary who knows the method gains on tiny tables: the figures of docs/promises.md, run again for one set of people.

After a change of a method that moves them:  python -m studies.minimality.run --docs
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from reticent import catalogue, registry
from reticent.models.k_anonymity import KAnonymity
from studies.minimality.adversary import attacked, exceeds, people, published, tables
from studies.minimality.figures import METHODS, PROMISES, SETTINGS, measured, pairs, summary
from studies.minimality.run import PAGES, as_markdown, of_methods, saved, shares
from tests.support.repository import ROOT

LINE = SETTINGS["line"]
OVERALL = tuple(Fraction(count, LINE.people) for count in LINE.counts)


def test_every_registered_method_that_publishes_the_rows_of_groups_is_measured():
    grouping = {
        name for name in catalogue.METHODS if registry.load_method_class(name).kind in ("generalized", "anatomized")
    }
    assert {method.name for method in METHODS.values()} == grouping


@pytest.mark.parametrize(("promise", "method"), list(pairs("line")))
def test_the_saved_figures_are_what_the_methods_do_today(promise: str, method: str):
    saved_row = next(r for r in saved("line") if (r["promise"], r["method"], r["set"]) == (promise, method, "1"))
    assert {name: str(value) for name, value in measured("line", promise, method, 1).items()} == saved_row


def test_the_docs_print_the_saved_figures():
    assert shares() in (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    readme = (ROOT / "studies" / "minimality" / "README.md").read_text(encoding="utf-8")
    for setting in SETTINGS:
        assert as_markdown(saved(setting)) in readme, setting
    for page, methods in PAGES.items():
        assert of_methods(*methods) in (ROOT / "docs" / "methods" / f"{page}.md").read_text(encoding="utf-8"), page


def test_knowing_the_method_two_people_are_certain_behind_two_groups_that_mirror_the_table():
    """BUREL, basic beta = 1: both groups hold every value once, as the whole table does in proportion."""
    points = people(1, 6)
    assert [point[0] for point in points] == [0, 1, 4, 5, 7, 9]
    mirror = ((((0,), (7,)), (1, 1, 1)), (((4,), (9,)), (1, 1, 1)))
    found = attacked(METHODS["burel"], PROMISES["basic beta = 1"], points, LINE.counts, LINE.keys)
    seen = next(entry for entry in found if entry.release == mirror)
    assert seen.weight == 4 and len(tables(LINE.counts)) == 90
    assert [max(belief) for belief in seen.knowing] == [Fraction(1, 2)] * 4 + [1, 1]
    assert seen.knowing[-1] == seen.knowing[-2] == (0, 0, 1)
    assert max(max(belief) for belief in seen.unknowing) < Fraction(1, 2)


@pytest.mark.parametrize("setting", [name for name, given in SETTINGS.items() if given.people == 6])
def test_of_six_people_burel_exceeds_basic_beta_most_often_of_all_methods(setting: str):
    above = {row["method"]: row["exceeding"] for row in summary(saved(setting)) if row["promise"] == "basic beta = 1"}
    assert max(above, key=above.__getitem__) == "burel"


@pytest.mark.parametrize("setting", SETTINGS)
def test_where_a_promise_is_exceeded_at_all_somebody_is_certain(setting: str):
    """But for groups that do not look at sensitive values."""
    for row in summary(saved(setting)):
        assert (row["worst"] == 1) or not row["exceeding"] or row["method"] == "mondrian (blind)"


@pytest.mark.parametrize("method", ["mondrian", "mondrian (median)"])
def test_where_groups_are_disjoint_who_does_not_know_the_method_believes_a_groups_frequencies(method: str):
    """And so never more than the promise: the adversary of the promises page."""
    points = people(0, 6)
    promise = PROMISES["basic beta = 1"]
    for seen in attacked(METHODS[method], promise, points, LINE.counts, LINE.keys):
        for point, belief in zip(points, seen.unknowing, strict=True):
            counts = next(held for (lower, upper), held in seen.release if lower <= point <= upper)
            assert belief == tuple(Fraction(count, sum(counts)) for count in counts)
            assert not exceeds(promise, belief, OVERALL)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("burel", "sabre", "anatomy")])
def test_for_k_alone_labels_say_nothing_about_sensitive_values(method: str):
    points = people(0, 6)
    labels = {
        tuple((*ends, sum(counts)) for ends, counts in published(METHODS[method], KAnonymity(2), points, table, 1))
        for table in tables(LINE.counts)
    }
    assert len(labels) == 1
