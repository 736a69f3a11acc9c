"""The suppression stage: what it withholds, whom it picks, what it refuses."""

# ruff: noqa: E741  `l` is the field's own letter
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent import registry
from reticent.errors import JobError, PromiseUnreachable
from reticent.format.manifest import ComponentEntry
from reticent.methods.suppression import calibrated_kind
from reticent.methods.suppression.calibrated_kind import ViolatingTable, _draw_event
from reticent.methods.suppression.kinds import cut_counts, find_stops, is_eligible
from reticent.methods.suppression.stage import SUPPRESSION_KINDS, Suppression, choose_rows, draw_withheld_counts
from reticent.models.l_dichotomy import LDichotomy
from reticent.models.promise import Promises
from reticent.randomness import Random
from tests.oracle import skewed as oracle
from tests.support.random_cells import random_cells

PROMISES = Promises.from_iterable([rt.ProbabilisticLDiversity(2)])


@st.composite
def violating(draw, most_values: int = 6, most: int = 25):
    """(counts, l): falling counts of which the first exceeds one in l."""
    counts = sorted(draw(st.lists(st.integers(1, most), min_size=2, max_size=most_values)), reverse=True)
    fitting = [l for l in range(2, len(counts) + 1) if l * counts[0] > sum(counts)]
    if not fitting:
        counts[0] = sum(counts[1:]) + 1
        fitting = list(range(2, len(counts) + 1))
    return np.array(counts), draw(st.sampled_from(fitting))


def step_by_step(counts: list[int], l: int, start: int) -> list[int]:
    """D-suppression as figure 2 has it, one record after the other, both conditions tested at every step."""
    rows = sum(counts)
    left = [start, *counts[1:]]
    while True:
        falling = sorted(left, reverse=True)
        withheld = rows - sum(left)
        if l * falling[0] <= sum(left) and l * (falling[l - 1] + withheld) > rows:
            return left
        left[max(i for i, count in enumerate(left) if count == falling[0])] -= 1


@settings(deadline=None, max_examples=200)
@given(violating())
def test_stopping_by_levels_is_stopping_step_by_step(table):
    counts, l = table
    lowest = int(counts[l]) if l < len(counts) else 1
    starts = np.arange(lowest, counts[0] + 1)
    found = find_stops(counts, l, starts)
    for at, start in enumerate(starts.tolist()):
        published = cut_counts(counts, start, int(found.level[at]), int(found.extra[at])).tolist()
        assert published == step_by_step(counts.tolist(), l, start)
        assert found.withheld[at] == counts.sum() - sum(published)


@pytest.mark.parametrize("kind", SUPPRESSION_KINDS.values(), ids=lambda kind: kind.name)
@settings(deadline=None, max_examples=50)
@given(table=violating())
def test_every_outcome_is_eligible_and_probabilities_add_up(kind, table):
    counts, l = table
    total = Fraction(0)
    mean = Fraction(0)
    seen: Counter = Counter()
    for chance, published in kind.outcomes(counts, l):
        assert chance >= 0
        assert (published <= counts).all()
        assert (published > 0).all()
        assert is_eligible(published, l)
        total += chance
        mean += chance * int(counts.sum() - published.sum())
        seen[tuple(published.tolist())] += chance
    assert total == 1
    assert kind.compute_expected_withheld(counts, l) == pytest.approx(float(mean))
    for published, chance in seen.items():
        assert kind.likelihood(counts, l, np.array(published)) == pytest.approx(float(chance), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(violating())
def test_calibrated_never_withholds_more_than_safe_nor_less_than_unsafe(table):
    counts, l = table
    least = SUPPRESSION_KINDS["unsafe"].compute_expected_withheld(counts, l)
    most = SUPPRESSION_KINDS["safe"].compute_expected_withheld(counts, l)
    for chance, published in SUPPRESSION_KINDS["calibrated"].outcomes(counts, l):
        assert not chance or least <= counts.sum() - published.sum() <= most


def test_calibrated_withholds_less_than_safe_on_zipf_counts():
    counts = np.rint(1000 / np.arange(1, 21)).astype(int)
    means = {name: kind.compute_expected_withheld(counts, 5) for name, kind in SUPPRESSION_KINDS.items()}
    assert means["unsafe"] == 520
    assert means["safe"] == 1283
    assert means["unsafe"] < means["randomized"] < means["calibrated"] < means["safe"]
    assert means["calibrated"] < 823


@settings(deadline=None, max_examples=100)
@given(violating())
def test_calibrated_holds_back_only_where_a_second_value_dominates(table):
    counts, l = table
    violated = ViolatingTable(tuple(counts.tolist()), l)
    for number in range(violated.width):
        start = violated.level(number)
        assert calibrated_kind.compute_cut_probability(violated, start) <= violated.capacity(start)
        if l * int(counts[1]) <= int(counts.sum()) - l:
            assert calibrated_kind.compute_cut_probability(violated, start) == violated.capacity(start)


def test_a_chance_with_many_digits_is_drawn_as_often_as_it_says():
    rng = np.random.default_rng(8)
    odds = Fraction(3**60, 2**97 - 1)
    assert odds.denominator > 1 << 64
    hits = sum(_draw_event(odds, rng) for _ in range(4_000))
    assert abs(hits - 4_000 * float(odds)) < 5 * np.sqrt(4_000 * float(odds))
    assert not _draw_event(Fraction(0), rng) and _draw_event(Fraction(1), rng)


@pytest.mark.parametrize("kind", ["safe", "randomized", "calibrated"])
@pytest.mark.parametrize("number", range(20))
def test_the_stage_leaves_an_eligible_table_and_conserves_rows(kind, number):
    cells = random_cells(number)
    totals = cells.totals(0)[: len(cells.sensitive[0].texts)]
    stage = Suppression(l=2, kind=kind)
    if is_eligible(totals, 2):
        prepared = stage.prepare(cells, PROMISES, Random.from_seed(number))
        assert prepared.cells is cells, "an eligible table is untouched"
        return
    if (totals > 0).sum() < 2:
        with pytest.raises(PromiseUnreachable):
            stage.prepare(cells, PROMISES, Random.from_seed(number))
        return
    prepared = stage.prepare(cells, PROMISES, Random.from_seed(number))
    assert is_eligible(prepared.cells.totals(0)[: len(totals)], 2)
    assert (prepared.withheld <= cells.counts).all()
    assert prepared.cells.rows + prepared.withheld.sum() == cells.rows
    missing = cells.values[:, 0] == cells.sensitive[0].null_code
    assert not prepared.withheld[missing].any(), "rows without a value are left alone"


def test_the_published_table_is_the_reference_of_later_promises():
    frame = skewed()
    job = job_of([rt.ProbabilisticLDiversity(3), rt.BetaLikeness(2)], Suppression(l=3, kind="safe"))
    release = rt.publish(job, frame=frame)
    assert release.audited.kept is True
    assert Counter(release.frame()["illness"]) == {"flu": 20, "cold": 20, "gout": 20, "mumps": 10, "acne": 10}
    assert (release.manifest.rows, release.manifest.withheld) == (80, 120)


def skewed() -> pl.DataFrame:
    values = ["flu"] * 100 + ["cold"] * 60 + ["gout"] * 20 + ["mumps"] * 10 + ["acne"] * 10
    return pl.DataFrame({"age": [20 + i % 40 for i in range(200)], "illness": values})


def job_of(promises, *stages, **options) -> rt.Job:
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    return rt.Job(columns=columns, promises=promises, prepare=stages, **options)


def test_without_the_stage_a_skewed_table_is_refused():
    with pytest.raises(PromiseUnreachable, match=r"share of 0\.5"):
        rt.publish(job_of([rt.ProbabilisticLDiversity(3)]), frame=skewed())


def test_nothing_in_the_folder_says_what_was_withheld():
    """|T| and |T_P| are public (the paper's K2); the withheld rows' values, the draw and its levels are not."""
    frame = pl.DataFrame({"age": [30] * 40, "illness": ["flu"] * 30 + ["cold"] * 5 + ["gout"] * 5})
    stage = Suppression(l=3)
    one = rt.publish(job_of([rt.ProbabilisticLDiversity(3)], stage), frame=frame)
    assert one.manifest.prepare == (ComponentEntry("suppression", {"l": 3, "kind": "safe"}),)
    assert one.manifest.rows + one.manifest.withheld == 40
    known = {
        "reticent",
        "format",
        "kind",
        "data",
        "rows",
        "withheld",
        "columns",
        "jointly",
        "promises",
        "method",
        "prepare",
        "files",
        "readme",
    }
    assert set(one.manifest.to_dict()) <= known


def test_which_records_of_a_value_are_withheld_is_uniform():
    counts = np.array([1, 2, 7])
    runs = 4000
    rng = np.random.default_rng(5)
    drawn = np.array([choose_rows(counts, 4, rng) for _ in range(runs)])
    assert (drawn.sum(axis=1) == 4).all()
    spread = np.sqrt(runs * 4 * counts / 10 * (1 - counts / 10))
    assert (np.abs(drawn.sum(axis=0) - runs * 4 * counts / 10) < 5 * spread).all()


def test_tied_values_are_cut_without_favour():
    totals = np.array([6, 6, 2])
    rng = np.random.default_rng(1)
    first = sum(
        draw_withheld_counts(totals, SUPPRESSION_KINDS["unsafe"], 3, rng, "s")[0]
        > draw_withheld_counts(totals, SUPPRESSION_KINDS["unsafe"], 3, rng, "s")[1]
        for _ in range(50)
    )
    assert 0 <= first < 50
    odd = np.array([7, 7, 5, 1])
    taken = Counter(
        tuple(draw_withheld_counts(odd, SUPPRESSION_KINDS["randomized"], 3, rng, "s").tolist()) for _ in range(400)
    )
    assert any(a != b for (a, b, *_), _ in taken.items())
    for (a, b, *rest), seen in taken.items():
        assert abs(seen - taken[(b, a, *rest)]) < 5 * np.sqrt(seen + 1) + 5


def test_fewer_values_than_l_are_refused_with_the_reason():
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "illness": ["flu", "flu", "flu", "cold"]})
    with pytest.raises(PromiseUnreachable, match=r"2 distinct value") as error:
        rt.publish(job_of([rt.ProbabilisticLDiversity(3)], Suppression(l=3)), frame=frame)
    assert "flu" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"l": 1}, "asks for nothing"),
        ({"l": 2.5}, "whole"),
        ({"l": 2, "kind": "saf"}, "'safe'"),
        ({"l": 2, "kind": "unsafe"}, "acknowledge"),
        ({"l": 2, "kind": "eligible"}, "acknowledge"),
        ({"l": 2, "kind": "calibrated", "prior": "records"}, "uniform"),
        ({"l": 2, "prior": "uniform"}, "of the kind calibrated"),
    ],
)
def test_wrong_parameters_are_refused_before_any_data_is_read(options, said):
    with pytest.raises(JobError, match=said):
        registry.make_stage({"name": "suppression", **options})


def test_unsafe_passes_when_acknowledged():
    job = job_of([rt.ProbabilisticLDiversity(3)], Suppression(l=3, kind="unsafe", acknowledge=True))
    assert rt.publish(job, frame=skewed()).manifest.withheld == 80


def test_a_job_that_names_no_kind_withholds_as_safe_does_and_its_manifest_says_so():
    assert registry.make_stage({"name": "suppression", "l": 3}).kind == "safe"
    release = rt.publish(job_of([rt.ProbabilisticLDiversity(3)], Suppression(l=3)), frame=skewed())
    assert release.manifest.stage("suppression").parameters == {"kind": "safe", "l": 3}


def test_calibrated_is_refused_where_the_job_does_not_name_its_prior_and_advises_what_works(tmp_path):
    promises = [rt.ProbabilisticLDiversity(3)]
    unstated = job_of(promises, Suppression(l=3, kind="calibrated"))  # a job of an earlier version is still read
    for refuse in (rt.publish, rt.plan, rt.check):
        with pytest.raises(JobError, match="needs its prior in the job") as refusal:
            refuse(unstated, frame=skewed())
        assert refusal.value.attempt.startswith('kind = "safe"')
    with pytest.raises(JobError, match="needs its prior in the job"):
        rt.publish(unstated, frame=skewed(), to=tmp_path / "release")
    assert not list(tmp_path.iterdir())
    stated = rt.publish(job_of(promises, Suppression(l=3, kind="calibrated", prior="uniform")), frame=skewed())
    assert stated.manifest.stage("suppression").parameters == {"kind": "calibrated", "l": 3, "prior": "uniform"}


def test_eligible_withholds_the_least_of_all_kinds_when_acknowledged():
    job = job_of([rt.ProbabilisticLDiversity(2)], Suppression(l=2, kind="eligible", acknowledge=True))
    counts = pl.DataFrame({"age": range(90), "illness": ["flu"] * 60 + ["cold"] * 10 + ["gout"] * 10 + ["acne"] * 10})
    release = rt.publish(job, frame=counts)
    assert release.manifest.withheld == 30 and release.audited.kept
    readme = (release.folder / "README.md").read_text(encoding="utf-8")
    assert "30 with the most frequent values of `illness`, which are rarer here than in the source" in readme
    withheld = {
        kind: Suppression(l=2, kind=kind, acknowledge=True).expected([60, 10, 10, 10]) for kind in SUPPRESSION_KINDS
    }
    assert withheld["eligible"] == 30 < withheld["safe"] == 50
    assert withheld["eligible"] <= min(withheld.values())


@settings(deadline=None, max_examples=200)
@given(violating(most_values=4, most=7))
def test_nothing_eligible_withholds_less_than_eligible(table):
    counts, l = table
    eligible = SUPPRESSION_KINDS["eligible"].draw(counts, l, np.random.default_rng(0))
    states = oracle.eligible(tuple(counts.tolist()), l)
    assert states == {tuple(eligible.tolist()): 1}
    kept = [left for left in oracle.subtables(counts.tolist()) if oracle.p_eligible(left, l)]
    assert max(sum(left) for left in kept) == eligible.sum()


def test_eligible_tells_what_the_withheld_have_where_one_value_led():
    frame = pl.DataFrame({"age": range(90), "illness": ["flu"] * 60 + ["cold"] * 10 + ["gout"] * 10 + ["acne"] * 10})
    job = job_of([rt.ProbabilisticLDiversity(2)], Suppression(l=2, kind="eligible", acknowledge=True))
    told = rt.attack(rt.publish(job, frame=frame), None, "eligibility").to_dict()
    assert (told["worst_posterior"], told["worst_withheld_posterior"]) == (1, 1)


def test_l_dichotomy_is_kept_by_sound_kinds_only():
    promise = LDichotomy(3)
    assert Suppression(l=3).keeps(promise)
    assert not Suppression(l=3, kind="eligible", acknowledge=True).keeps(promise)
    assert Suppression(l=4, kind="safe").keeps(promise)
    assert not Suppression(l=2).keeps(promise)
    assert not Suppression(l=3, kind="randomized").keeps(promise)
    with pytest.raises(JobError, match=r'\[\[prepare\]\] with name = "suppression"'):
        rt.publish(
            job_of([promise, rt.ProbabilisticLDiversity(3)], Suppression(l=3, kind="randomized")), frame=skewed()
        )
    with pytest.raises(JobError, match="of its groups"):
        rt.publish(job_of([promise], Suppression(l=3)), frame=skewed())
    with pytest.raises(JobError, match="l >= 2"):
        LDichotomy(1)


def test_a_stage_survives_the_job_file():
    job = job_of([rt.ProbabilisticLDiversity(3)], Suppression(l=3, kind="safe"))
    assert rt.Job.from_dict(job.to_dict()).prepare == job.prepare
