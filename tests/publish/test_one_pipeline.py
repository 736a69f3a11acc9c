"""Publishing, planning, checking and regions plan in one place; a manifest is built once and verified once."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent.ledger import commit
from reticent.methods.recipe_planning import compose_recipe
from reticent.planning import plan_recipe
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import Recipe
from reticent.release import bundle
from tests.support.in_process_partitions import Spread

QUASI = ("age", "gender", "education")


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return rt.datasets.load("census", rows=600, seed=5)


@pytest.fixture
def job() -> rt.Job:
    columns = {**{name: rt.quasi() for name in QUASI}, "salary_class": rt.sensitive()}
    return rt.Job(columns=columns, promises=[rt.KAnonymity(5)], release=rt.Output(undeclared="drop"))


def returned_by(function: Callable[..., Any], call: Callable[[], Any]) -> list[Any]:
    """What a function returns whenever it is called in a call, wherever its callers imported it from."""
    code: CodeType = function.__code__
    results: list[Any] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "return" and frame.f_code is code and argument is not None:
            results.append(argument)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return results


def rows_by_label(recipe: Recipe) -> Counter:
    """How many rows the recipe publishes under each label with each value."""
    recipe, labels = merge_equal_labels(recipe)
    cells = recipe.cells
    counted: Counter = Counter()
    for cell, group, quota in zip(recipe.cell.tolist(), recipe.group.tolist(), recipe.quota.tolist(), strict=True):
        label = tuple(texts[labels.of_group[group, at]] for at, texts in enumerate(labels.texts))
        counted[label, cells.sensitive[0].texts[cells.values[cell, 0]]] += quota
    return counted


def test_all_that_plan_call_one_function_and_get_the_same_recipe(job, people, tmp_path):
    to = {"to": tmp_path / "regions", "ledger": tmp_path / "ledger", "engine": Spread(2, 300)}
    calls: dict[str, Callable[[], Any]] = {
        "publish": lambda: rt.publish(job, frame=people, seed=7),
        "plan": lambda: rt.plan(job, frame=people, seed=7),
        "check": lambda: rt.check(job, frame=people, methods=[]),
    }
    found = {name: returned_by(compose_recipe, call) for name, call in calls.items()}
    for name, recipes in found.items():
        assert len(recipes) >= 1, name
        assert rows_by_label(recipes[0]) == rows_by_label(found["publish"][0]), name
    regions = returned_by(compose_recipe, lambda: rt.publish(job, frame=people, seed=7, **to))
    assert len(regions) >= 2, "each region is planned by it"
    of_regions = {number: rows_by_label(recipe) for number, recipe in enumerate(regions)}
    written = rt.open(tmp_path / "regions").frame().select(*QUASI, "salary_class").rows()
    planned = {label for counted in of_regions.values() for label, _ in counted}
    assert {row[:-1] for row in written} == planned


@pytest.mark.parametrize("labels", [{"style": "padded", "width": 2}, "snapped"], ids=["padded", "snapped"])
def test_what_is_planned_with_a_seed_is_what_is_published_with_it(job, people, labels):
    """Ends of ranges are drawn: the same key gives the same ends."""
    wide = job.at(columns={**job.columns, "age": rt.quasi(labels=labels)})
    published = returned_by(plan_recipe, lambda: rt.publish(wide, frame=people, seed=3))
    planned = returned_by(plan_recipe, lambda: rt.plan(wide, frame=people, seed=3))
    assert len(published) == len(planned) == 1
    assert rows_by_label(planned[0].recipe) == rows_by_label(published[0].recipe)
    assert rows_by_label(published[0].writer.recipe) == rows_by_label(published[0].recipe)


def test_a_manifest_is_built_once_and_verified_once(job, people, tmp_path):
    def publish() -> None:
        rt.publish(job, frame=people, to=tmp_path / "release", ledger=tmp_path / "ledger")

    manifests = returned_by(bundle.parse_manifest, publish)
    assert len(manifests) == 2, "what was built, and what was read back"
    verified = returned_by(bundle.verify_bundle, lambda: rt.publish(job, frame=people))
    assert len(verified) == 1


def test_what_is_saved_is_committed_as_what_is_published(job, people, tmp_path):
    release = rt.publish(job, frame=people, seed=1)
    (saved,) = returned_by(commit.commit, lambda: release.save(tmp_path / "saved", ledger=tmp_path / "one"))
    (published,) = returned_by(
        commit.commit,
        lambda: rt.publish(job, frame=people, seed=1, to=tmp_path / "published", ledger=tmp_path / "other"),
    )
    assert (saved.job, saved.promises, saved.notices) == (published.job, published.promises, published.notices)
    assert saved.audit.to_dict() == published.audit.to_dict()
    notes = [tmp_path / "reticent-owner" / name / "audit.json" for name in ("saved", "published")]
    assert notes[0].read_bytes() == notes[1].read_bytes()
