"""Anatomy: groups in which no value meets itself, two files that belong together, estimates within guaranteed bounds."""

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from reticent.engines import local
from reticent.errors import BundleDamaged, JobError, PromiseUnreachable
from reticent.format.data_writer import write_data
from reticent.methods.anatomy import Anatomy, find_piece_starts
from reticent.methods.suppression import Suppression
from reticent.models.l_dichotomy import LDichotomy
from reticent.models.promise import Promises
from reticent.randomness import Random
from tests.oracle import measures
from tests.support.random_cells import histograms, random_cells
from tests.support.release_folders import resealed

GROUPINGS = ["random", "hilbert"]


def people(rows: int = 240, seed: int = 1, missing: bool = False) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    illness = rng.choice(
        ["flu", "cold", "gout", "mumps", "acne", "asthma"], rows, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1]
    ).tolist()
    if missing:
        illness[::20] = [None] * len(illness[::20])
    city = rng.choice(["Ulm", "Bonn", "Kiel"], rows).tolist()
    return pl.DataFrame({"age": rng.integers(20, 60, rows), "city": [None, *city[1:]], "illness": illness})


def job_of(method: Anatomy, l: int = 3, **options) -> rt.Job:  # noqa: E741
    columns = {"age": rt.quasi(), "city": rt.quasi(), "illness": rt.sensitive(missing="category")}
    return rt.Job(
        columns=options.pop("columns", columns), promises=[rt.ProbabilisticLDiversity(l)], method=method, **options
    )


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("number", range(60))
def test_every_plan_keeps_the_promise_by_the_oracles_count(grouping, number):
    cells = random_cells(number)
    asked = 2 + number % 2
    promises = Promises.from_iterable([rt.ProbabilisticLDiversity(asked)])
    totals = cells.totals(0)[: len(cells.sensitive[0].texts)]
    try:
        recipe = Anatomy(grouping=grouping).plan(cells, promises, Random.from_seed(number))
    except PromiseUnreachable:
        known = int(totals.sum())
        assert known < asked or asked * int(totals.max()) > known or cells.totals(0).sum() > known
        return
    recipe.require_conserved()
    groups = histograms(recipe)
    assert len(groups) == recipe.groups
    assert measures.holds(groups=groups, model="probabilistic-l-diversity", l=asked)
    assert all(count == 1 for group in groups for value, count in group.items() if value is not None)


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_the_two_files_hold_every_row_and_pass_the_audit(grouping, format, tmp_path):
    frame = people(missing=True)
    release = rt.publish(
        job_of(Anatomy(grouping=grouping), release=rt.Output(format=format)), frame=frame, to=tmp_path / "release"
    )
    assert release.kind == "anatomized"
    assert release.manifest.data == (f"quasi.{format}", f"sensitive.{format}")
    quasi = release.tables["quasi"]
    sensitive = release.tables["sensitive"]
    assert quasi.columns == ["age", "city", "group"]
    assert sensitive.columns == ["group", "illness", "count"]
    assert Counter(quasi.select("age", "city").rows()) == Counter(frame.select("age", "city").rows())
    assert Counter(dict(sensitive.group_by("illness").agg(pl.col("count").sum()).rows())) == Counter(frame["illness"])
    found = rt.audit(tmp_path / "release", source=frame)
    assert found.kept is True
    assert found.to_dict()["source"]["passed"] is True
    assert found.achieved["probabilistic-l-diversity"] >= 3
    assert rt.open(tmp_path / "release").frame().equals(quasi)
    assert "not said" in (tmp_path / "release" / "README.md").read_text()


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_the_order_of_rows_is_a_function_of_what_they_show(grouping):
    """Sorted by group and quasi-identifiers: rows that could be told apart by their place show the same."""
    frame = people(missing=True)
    tables = rt.publish(job_of(Anatomy(grouping=grouping)), frame=frame).tables
    assert tables["quasi"].equals(tables["quasi"].sort("group", "age", "city", nulls_last=True))
    assert tables["sensitive"].equals(tables["sensitive"].sort("group", "illness", nulls_last=True))


def test_rows_that_carry_a_column_are_sorted_by_it_last():
    frame = people().with_columns(note=pl.Series(range(240)) % 40)
    columns = {**job_of(Anatomy()).columns, "note": rt.insensitive(acknowledge=True)}
    quasi = rt.publish(job_of(Anatomy(), columns=columns), frame=frame).tables["quasi"]
    assert quasi.equals(quasi.sort("group", "age", "city", "note", nulls_last=True))
    assert Counter(quasi.drop("group").rows()) == Counter(frame.drop("illness").select("age", "city", "note").rows())


def test_the_audit_counts_groups_as_the_oracle_does():
    release = rt.publish(job_of(Anatomy()), frame=people())
    groups: dict[int, dict] = {}
    for group, value, count in release.tables["sensitive"].rows():
        groups.setdefault(group, {})[value] = count
    theirs = measures.achieved(list(groups.values()), order=sorted({v for g in groups.values() for v in g}))
    ours = rt.audit(release.folder).exact
    for name in ("distinct-l-diversity", "probabilistic-l-diversity", "t-closeness-equal", "beta-likeness-basic"):
        assert ours[name] == theirs[name], name


def tampered(release: rt.Release, change) -> None:
    """Change the sensitive file and seal the folder anew, as a forger would."""
    path = release.folder / "sensitive.parquet"
    write_data(path, change(pl.read_parquet(path)), "parquet")
    resealed(release.folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.head(len(f) - 1), "not as many rows as values"),
        (lambda f: f.with_columns(count=pl.col("count") * 0), "not from 1 to"),
        (lambda f: pl.concat([f, f.head(1)]), "listed once each|not as many"),
        (lambda f: f.with_columns(group=pl.col("group") + 1), "not as many rows as values"),
        (lambda f: f.rename({"count": "number"}), "other columns"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(change, said):
    release = rt.publish(job_of(Anatomy()), frame=people())
    tampered(release, change)
    with pytest.raises(BundleDamaged, match=said):
        rt.audit(release.folder)


def test_a_forged_histogram_that_breaks_the_promise_is_found():
    release = rt.publish(job_of(Anatomy()), frame=people())
    first = release.tables["sensitive"].filter(group=0)

    def forge(frame):
        one = pl.DataFrame(
            {"group": [0], "illness": [first["illness"][0]], "count": [int(first["count"].sum())]}, schema=frame.schema
        )
        return pl.concat([one, frame.filter(pl.col("group") != 0)])

    tampered(release, forge)
    assert rt.audit(release.folder).kept is False


def test_a_row_of_another_source_is_found():
    frame = people()
    release = rt.publish(job_of(Anatomy()), frame=frame)
    other = frame.with_columns(age=pl.when(pl.int_range(pl.len()) == 0).then(99).otherwise(pl.col("age")))
    assert rt.audit(release.folder, source=other).kept is False


def test_bounds_are_the_least_and_most_of_all_matchings_and_the_estimate_their_mean():
    frame = people(rows=7, seed=4).with_columns(
        illness=pl.Series(["flu", "cold", "gout", "acne", "flu", "cold", "gout"])
    )
    release = rt.publish(job_of(Anatomy(), l=3), frame=frame)
    quasi = release.tables["quasi"]
    sensitive = release.tables["sensitive"]
    old = pl.col("age") > int(frame["age"].median())
    ill = ["flu", "gout"]
    least = most = 0
    mean = 0.0
    for group in quasi["group"].unique():
        met = quasi.filter(group=group).select(old).to_series().to_list()
        values = [v for v, n in sensitive.filter(group=group).select("illness", "count").rows() for _ in range(n)]
        counts = [sum(m and v in ill for m, v in zip(met, order, strict=True)) for order in permutations(values)]
        least = least + min(counts)
        most = most + max(counts)
        mean = mean + np.mean(counts)
    answer = release.count(old, ill)
    assert (answer.lower, answer.upper) == (least, most)
    assert answer.estimate == pytest.approx(mean)


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_the_truth_lies_within_the_bounds(grouping):
    frame = people(rows=600)
    release = rt.publish(job_of(Anatomy(grouping=grouping), l=3), frame=frame)
    for low in range(20, 60, 5):
        for value in ("flu", "gout", "acne"):
            where = pl.col("age").is_between(low, low + 9) & (pl.col("city") == "Ulm")
            answer = release.count(where, [value])
            assert answer.lower <= len(frame.filter(where & (pl.col("illness") == value))) <= answer.upper
            assert answer.lower <= answer.estimate <= answer.upper
    assert release.count().estimate == release.count().lower == release.count().upper == 600


def test_neighbours_are_grouped_closer_on_the_curve_than_at_random():
    frame = people(rows=3000)
    spread = {}
    for grouping in GROUPINGS:
        release = rt.publish(job_of(Anatomy(grouping=grouping), l=3), frame=frame)
        spread[grouping] = (
            release.frame().group_by("group").agg(pl.col("age").max() - pl.col("age").min())["age"].mean()
        )
    assert spread["hilbert"] < spread["random"] / 2


def test_pieces_of_the_curve_are_eligible_and_cover_it():
    rng = np.random.default_rng(3)
    held = np.sort(rng.choice(6, 5000, p=[0.2, 0.2, 0.2, 0.2, 0.1, 0.1]))
    rng.shuffle(held[:4000])
    starts = find_piece_starts(held, 6, 4)
    assert starts[0] == 0 and starts[-1] == 5000
    for low, high in pairwise(starts):
        assert 4 * np.bincount(held[low:high]).max() <= high - low or len(starts) == 2


def test_who_of_a_group_holds_what_is_not_told_by_the_order_of_dealing():
    """One group of three people: over many releases each is dealt first as often as the others."""
    frame = pl.DataFrame({"age": [1, 2, 3, 4, 5, 6], "city": ["Ulm"] * 6, "illness": ["a", "a", "b", "b", "c", "c"]})
    together: Counter = Counter()
    cells = local.count_rows(frame.lazy(), job_of(Anatomy()).columns).cells
    ages = cells.codes[:, 0] + 1
    for seed in range(400):
        recipe = Anatomy(grouping="hilbert").plan(cells, job_of(Anatomy()).promises, Random.from_seed(seed))
        group = recipe.group[ages[recipe.cell] == 1]
        together.update(set(ages[recipe.cell[recipe.group == group]].tolist()) - {1})
    assert together[2] == 0, "two people with the same value are never together"
    for age in (3, 4, 5, 6):
        assert abs(together[age] - 200) < 60


def test_a_skewed_table_is_refused_with_a_remedy_that_works():
    frame = pl.DataFrame(
        {"age": range(100), "city": ["Ulm"] * 100, "illness": ["flu"] * 70 + ["cold", "gout", "acne"] * 10}
    )
    with pytest.raises(PromiseUnreachable, match="suppression") as error:
        rt.publish(job_of(Anatomy()), frame=frame)
    assert "70 of 100" in str(error.value) and "flu" not in str(error.value)
    job = job_of(Anatomy(), prepare=[Suppression(l=3, kind="safe")])
    job = job.at(promises=[*job.promises, LDichotomy(3)])
    release = rt.publish(job, frame=frame)
    assert release.manifest.withheld == 60
    assert release.audited.kept is True
    assert rt.audit(release.folder, source=frame).kept is True


def test_no_value_of_a_withheld_row_is_in_the_schema(monkeypatch):
    frame = pl.DataFrame({"age": [*range(20, 59), 99], "city": ["Ulm"] * 40, "illness": ["a", "b", "c"] * 13 + ["d"]})

    class Withholding:
        name = "withholding"

        def keeps(self, promise):
            return False

        def prepare(self, cells, promises, rng):
            from reticent.recipe.recipe import PreparedCells

            return PreparedCells.from_cells(
                cells, np.where(cells.codes[:, 0] == cells.codes[:, 0].max(), cells.counts, 0)
            )

    monkeypatch.setitem(catalogue.STAGES, Withholding.name, catalogue.MethodRow("", {}))
    release = rt.publish(job_of(Anatomy(), prepare=[Withholding()]), frame=frame)
    assert release.manifest.withheld == 1
    assert "99" not in (release.folder / "manifest.json").read_text().split('"files"')[0]


def test_what_anatomy_cannot_do_is_said_before_or_with_numbers():
    with pytest.raises(JobError, match="hilbert"):
        Anatomy(grouping="hilber")
    with pytest.raises(JobError, match="cannot keep k-anonymity"):
        rt.publish(job_of(Anatomy()).at(promises=[rt.KAnonymity(3)]), frame=people())
    columns = {"age": rt.quasi(), "city": rt.sensitive(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(2, column="illness")], method=Anatomy())
    with pytest.raises(JobError, match="one sensitive column"):
        rt.publish(job, frame=people().drop_nulls())
    named = people().rename({"city": "group"})
    with pytest.raises(JobError, match="group"):
        rt.publish(
            job_of(Anatomy(), columns={"age": rt.quasi(), "group": rt.quasi(), "illness": rt.sensitive()}), frame=named
        )
