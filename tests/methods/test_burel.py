from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.data.cells import Cells, build_cells
from reticent.data.domain import build_range_domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.errors import ColumnError, JobError, PromiseUnreachable
from reticent.kernels import burel_curve, burel_nearest
from reticent.methods.burel import Burel, bucket_values
from reticent.methods.equivalence_classes import choose_curve_bits, compute_grid, retrieve_classes, split_into_classes
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.k_anonymity import KAnonymity
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import compute_total_loss
from reticent.recipe.recipe import Recipe
from tests.support.random_cells import line, random_cells


def plan(cells: Cells, *promises: object, seed: int = 1, **how: str) -> Recipe:
    return Burel(**how).plan(cells, Promises.from_iterable(promises), Random.from_seed(seed))


@pytest.mark.parametrize("fill", ["curve", "nearest"])
def test_near_rows_join_one_class(fill: str):
    # three values, each once in either cluster: two classes, one to a cluster
    recipe = plan(line([0, 1, 2, 0, 1, 2], [0, 1, 2, 97, 98, 99]), BetaLikeness(3), fill=fill)
    lower, upper = recipe.find_spans()
    assert sorted((upper - lower)[:, 0].tolist()) == [2, 2]


@pytest.mark.parametrize("fill", ["curve", "nearest"])
def test_a_cell_may_be_split_among_classes(fill: str):
    cells = line([0] * 8 + [1] * 8, [0] * 16)
    recipe = plan(cells, BetaLikeness("0.1"), fill=fill)
    assert len(cells) == 2
    assert recipe.groups == 8
    recipe.require_conserved()


@pytest.mark.parametrize("number", range(40))
def test_the_nearest_fill_takes_the_nearest_free_rows(number: int):
    """Against brute force over the recipe, class by class: nothing nearer to the seed was free."""
    cells = random_cells(number, most_rows=40)
    bucket = np.zeros(len(cells), np.int64)
    sizes = np.full((1, 1), cells.rows // 2 or 1)
    recipe = retrieve_classes(cells, bucket, sizes, np.random.default_rng(number), fill="nearest", axes="stretched")
    taken = np.bincount(recipe.cell, weights=recipe.quota, minlength=len(cells)).astype(int)
    points = compute_grid(cells, choose_curve_bits(cells), stretch=True)
    fits = []
    for seed in range(len(cells)):
        away = ((points - points[seed]) ** 2).sum(axis=1)
        whole = away < away[taken > 0].max()
        fits.append(bool((taken[whole] == cells.counts[whole]).all() and taken[seed] > 0))
    assert any(fits)


def test_the_same_seed_gives_the_same_classes():
    cells = random_cells(5)
    one, other = (plan(cells, BetaLikeness(2), seed=9) for _ in range(2))
    assert np.array_equal(one.cell, other.cell)
    assert np.array_equal(one.group, other.group)


def test_classes_have_at_least_k_rows_where_k_is_promised_too():
    recipe = plan(line([0, 1] * 30), BetaLikeness(1), KAnonymity(7))
    assert np.bincount(recipe.group, weights=recipe.quota).min() >= 7


def test_two_sided_classes_hold_every_value():
    recipe = plan(line([0, 1, 2, 2] * 20), BetaLikeness(2, two_sided=True))
    assert recipe.groups > 1
    assert (recipe.as_groups().histogram(0) > 0).all()


def test_a_single_sensitive_value_is_refused():
    with pytest.raises(ColumnError, match="single value"):
        plan(line([0, 0, 0]), BetaLikeness(1))


def test_a_value_too_rare_for_two_classes_is_refused_with_the_way_out():
    with pytest.raises(PromiseUnreachable, match="beta-perturbation") as error:
        plan(line([0] + [1, 2, 3] * 33), BetaLikeness("0.5"))
    assert "1 of 100 rows" in str(error.value)
    assert "67 rows" in str(error.value)
    assert "v0" not in str(error.value)


@pytest.mark.parametrize("options", [{"fill": "random"}, {"axes": "log"}, {"share": 0}, {"share": 2}])
def test_unknown_options_are_refused(options: dict):
    with pytest.raises(JobError, match=r"is not known|share must be"):
        Burel(**options)


def test_tighter_buckets_are_tried_where_the_printed_ones_leave_a_single_class():
    cells = line([0] * 100 + [1] * 100 + [2] * 199 + [3] * 201)
    printed = bucket_values(cells.totals(0), BetaLikeness(1).caps(cells.totals(0), -1))
    assert len(split_into_classes(printed.sizes, printed.allow)) == 1
    assert plan(cells, BetaLikeness(1)).groups > 1


def test_k_beyond_the_table_is_refused():
    with pytest.raises(PromiseUnreachable, match="k = 50"):
        plan(line([0, 1] * 10), BetaLikeness(1), KAnonymity(50))


def test_more_axes_than_a_key_has_bits_still_make_classes():
    rng = np.random.default_rng(3)
    quasi = tuple(
        build_range_domain(f"x{i}", "numeric", "Int64", ["0", "1"], np.arange(2), null=False) for i in range(70)
    )
    flat = build_tree_domain("s", "String", Hierarchy.flat(["a", "b"]), null=False, is_from_steward=False)
    cells, _ = build_cells(
        quasi,
        (flat,),
        rng.integers(0, 2, (30, 70)).astype(np.int32),
        rng.integers(0, 2, (30, 1)).astype(np.int32),
        np.ones(30, np.int64),
    )
    for fill in ("curve", "nearest"):
        plan(cells, BetaLikeness(2), fill=fill).require_conserved()


@pytest.mark.parametrize("kernel", [burel_curve, burel_nearest])
def test_a_kernel_gives_the_same_uncompiled(kernel, monkeypatch):
    import importlib.util
    from pathlib import Path

    name = kernel.__name__.rsplit(".", 1)[1]
    source = Path(__file__).parents[2] / "src/reticent/kernels" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"uncompiled_{name}", source)
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    function = "fill_along" if name == "burel_curve" else "fill_nearest"
    fill = "curve" if name == "burel_curve" else "nearest"
    for number in range(10):
        cells = random_cells(number, null=False)
        try:
            compiled = plan(cells, BetaLikeness(2), fill=fill)
        except (ColumnError, PromiseUnreachable):
            continue
        with monkeypatch.context() as patched:
            patched.setattr(f"reticent.methods.equivalence_classes.{function}", getattr(plain, function))
            python = plan(cells, BetaLikeness(2), fill=fill)
        for part in ("cell", "group", "quota"):
            assert np.array_equal(getattr(compiled, part), getattr(python, part))


SKEWED = [400, 150, 120, 90, 60, 50, 40, 30, 20, 20, 10, 10]


def publish_skewed(share, *, beta=4, seed=3, folder=None, **options):
    rng = np.random.default_rng(8)
    illness = np.repeat([f"v{place:02}" for place in range(len(SKEWED))], SKEWED)
    people = pl.DataFrame({"age": rng.integers(20, 80, 1000), "zip": rng.integers(0, 50, 1000), "illness": illness})
    columns = {"age": rt.quasi(numeric=True), "zip": rt.quasi(numeric=True), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.BetaLikeness(beta)], method=rt.Burel(share=share), **options)
    release = rt.publish(job, frame=people, seed=seed)
    return release if folder is None else rt.open(release.save(folder))


@pytest.mark.parametrize("beta", [1, 2, 4])
def test_the_chosen_share_loses_least_of_ten_and_is_in_the_manifest(beta, tmp_path):
    chosen = publish_skewed("auto", beta=beta, folder=tmp_path / "r")
    losses = {}
    for tenths in range(10, 0, -1):
        share = Fraction(tenths, 10)
        losses[share] = publish_skewed(share, beta=beta).audited.utility["ail"]
    share = Fraction(str(chosen.manifest.method.parameters["share"]))
    assert share in losses
    audit = rt.audit(tmp_path / "r")
    assert audit.utility["ail"] == losses[share] == min(losses.values())
    assert audit.promises[0].kept
    assert losses[share] <= losses[Fraction(1)]


def test_a_release_with_the_chosen_share_is_the_same_release():
    chosen = publish_skewed("auto")
    again = publish_skewed(chosen.manifest.method.parameters["share"])
    assert chosen.manifest.method.parameters["share"] < 1
    assert chosen.frame().equals(again.frame())
    assert chosen.manifest.method == again.manifest.method


def test_a_chosen_share_is_in_the_manifest_where_rows_are_withheld():
    chosen = publish_skewed("auto", release=rt.Output(suppress_at_most="0.05"))
    assert 0 < chosen.manifest.method.parameters["share"] <= 1
    assert chosen.audited.promises[0].kept


def test_where_every_share_leaves_one_class_auto_is_refused_as_a_number_is():
    people = pl.DataFrame({"age": list(range(40)), "illness": ["a"] * 39 + ["b"]})
    columns = {"age": rt.quasi(numeric=True), "illness": rt.sensitive()}
    messages = []
    for share in (1, "auto"):
        job = rt.Job(columns=columns, promises=[rt.BetaLikeness(1)], method=rt.Burel(share=share))
        with pytest.raises(PromiseUnreachable, match="a single class") as refusal:
            rt.publish(job, frame=people, seed=1)
        messages.append(str(refusal.value))
    assert messages[0] == messages[1]


def plan_refined(number: int, **how: object) -> tuple[Recipe, Recipe]:
    """Return the classes as printed and after refinement, of one random table."""
    cells = random_cells(number, most_rows=300)
    promises = (BetaLikeness(2), KAnonymity(2))
    return plan(cells, *promises, **how), plan(cells, *promises, refine=5, **how)


@pytest.mark.parametrize("number", range(20))
def test_refined_classes_keep_the_promise_and_never_lose_more(number: int):
    try:
        printed, refined = plan_refined(number)
    except (PromiseUnreachable, ColumnError):
        return
    refined.require_conserved()
    bound = Promises.from_iterable([BetaLikeness(2), KAnonymity(2)]).bind(refined.cells)
    assert bound.allow(refined.as_groups()).all()
    assert compute_total_loss(refined) <= compute_total_loss(printed) * (1 + 1e-12)


def test_refinement_lowers_the_loss_of_most_tables():
    lower = 0
    for number in range(20):
        try:
            printed, refined = plan_refined(number)
        except (PromiseUnreachable, ColumnError):
            continue
        lower += compute_total_loss(refined) < compute_total_loss(printed)
    assert lower >= 5


def test_refined_classes_of_families_keep_semantic_likeness_in_a_release():
    rng = np.random.default_rng(4)
    tree = [[f"v{place}", f"f{place // 3}", "*"] for place in range(9)]
    people = pl.DataFrame(
        {"age": rng.integers(20, 80, 800), "illness": [f"v{place}" for place in rng.integers(0, 9, 800)]}
    )
    columns = {"age": rt.quasi(numeric=True), "illness": rt.sensitive(hierarchy=tree)}
    losses = []
    for method in (rt.Burel(share="auto"), rt.Burel(share="auto", refine=10)):
        job = rt.Job(columns=columns, promises=[rt.SemanticLikeness(1)], method=method)
        release = rt.publish(job, frame=people, seed=1)
        assert release.audited.promises[0].kept
        assert 0 < Fraction(str(release.manifest.method.parameters["share"])) <= 1
        losses.append(release.audited.utility["ail"])
    assert losses[1] < losses[0]
    assert release.manifest.method.parameters["refine"] == 10


def test_a_manifest_of_classes_as_printed_names_no_refinement():
    assert "refine" not in publish_skewed(1).manifest.method.parameters


def test_refinement_with_missing_values_as_a_category_keeps_the_promise():
    rng = np.random.default_rng(5)
    illness = [None if place == 0 else f"v{place}" for place in rng.integers(0, 6, 600)]
    people = pl.DataFrame({"age": rng.integers(20, 80, 600), "illness": illness})
    columns = {"age": rt.quasi(numeric=True), "illness": rt.sensitive(missing="category")}
    job = rt.Job(columns=columns, promises=[rt.BetaLikeness(1)], method=rt.Burel(refine=5))
    assert rt.publish(job, frame=people, seed=1).audited.promises[0].kept
