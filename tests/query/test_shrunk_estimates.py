"""Shrunk estimates of perturbed releases: as the oracle has them, nearer to the truth, within intervals that cover it."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist, median

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.estimate.answer import EstimateSpread
from reticent.estimate.shrinkage import SHRUNK_NOTE, ShrunkSpread
from reticent.query import QueryOptions, ask
from tests.oracle import shrinkage as oracle
from tests.query import interval_campaign as campaign
from tests.query.interval_campaign import DRAWS, FULL, LEAST, MOST, PERTURBED, QUESTIONS
from tests.support import repeated_releases

PUBLIC_DATA = Path(__file__).parents[3] / "shared" / "data"


def shrunk_options() -> QueryOptions:
    return QueryOptions(by="shrunk")


def fractions(numbers: list) -> np.ndarray:
    return np.array([float(Fraction(str(number))) for number in numbers])


@pytest.mark.parametrize(("values", "beta"), [(2, 1), (3, 2), (5, 1), (12, 3)])
def test_a_shrunk_count_is_the_oracles(values, beta):
    people = campaign.make_people(900, values + 1, 3)  # nobody has the last value
    manifest, draw = campaign.draw_perturbed(people, beta)
    matrix = np.array([fractions(row) for row in manifest.own["matrix"]])
    frequencies = fractions(manifest.own["distribution"])
    listed = [int(text) for text in manifest.own["values"]]
    for seed in range(4):
        tables = draw(np.random.default_rng(seed))
        for low in (20, 35, 50):
            for pay in listed[:4]:
                question = f"SELECT COUNT(*) FROM release WHERE age BETWEEN {low} AND {low + 9} AND pay = {pay}"
                plain, shrunk = ask(tables, manifest, question), ask(tables, manifest, question, shrunk_options())
                chosen = tables["data"].filter(pl.col("age").is_between(low, low + 9))["pay"].to_list()
                shown = np.array([chosen.count(value) for value in listed], float)
                wanted = np.array([value == pay for value in listed], float)
                expected = oracle.shrunk_count(shown, wanted, frequencies, matrix, plain.std_error)
                assert shrunk.estimate == pytest.approx(expected, abs=1e-6)
                assert shrunk.std_error == plain.std_error and SHRUNK_NOTE in shrunk.note
                assert shrunk.interval[0] >= 0


def test_an_interval_holds_the_truths_that_the_oracle_leaves_open():
    for unbiased in (-3.0, -1.9, -0.4, 0.0, 1.2, 2.1, 7.0):
        for level in (0.2, 0.5, 0.9, 0.95, 0.99):
            z = NormalDist().inv_cdf((1 + level) / 2)
            low, high = ShrunkSpread(EstimateSpread(unbiased, 1.0), unbiased, 0.0).ends(z)
            truths = np.linspace(-12, 12, 4801) + 1e-4
            inside = [oracle.holds(truth, unbiased, 1.0, 0.0, level) for truth in truths]
            assert ((truths >= low) & (truths <= high)).tolist() == inside


def test_the_chance_to_miss_a_truth_is_the_same_wherever_it_lies():
    draws = np.random.default_rng(1).standard_normal(40_000)
    for truth in (-6.0, -1.0, 0.3, 1.0, 2.0, 4.0):
        ends = [ShrunkSpread(EstimateSpread(truth + noise, 1.0), truth + noise, 0.0).ends(1.959964) for noise in draws]
        covered = np.mean([low <= truth <= high for low, high in ends])
        assert abs(covered - 0.95) < 0.005


def test_an_interval_holds_its_estimate_and_scales_with_it():
    spread = ShrunkSpread(EstimateSpread(10.0, 4.0), 8.0, 0.0)
    assert spread.ends(0.01)[0] == 8.0
    assert spread.multiply(3).ends(1.96) == pytest.approx([3 * end for end in spread.ends(1.96)])
    unknown = ShrunkSpread(EstimateSpread(10.0, 4.0), 8.5, None)
    assert unknown.ends(1.96) == pytest.approx(EstimateSpread(10.0, 4.0).ends(1.96))


def test_pooled_intervals_of_shrunk_answers_cover_the_truth():
    """Counts, sums and means, by random conditions and groups; bounds always hold."""
    totals = np.zeros(3)
    settings = PERTURBED if FULL else PERTURBED[:2]
    for seed, (rows, values, beta) in enumerate(settings):
        people = campaign.make_people(rows, values, 7)
        manifest, draw = campaign.draw_perturbed(people, beta)
        asked = campaign.draw_questions(np.random.default_rng(seed), values, QUESTIONS, ages=bool(seed % 2))
        judged = campaign.judge_answers(people, manifest, draw, asked, DRAWS, seed, by="shrunk")
        totals += campaign.count_covered(judged)[False]
    answers, covered, missed = totals
    sys.stdout.write(f"shrunk: {answers:,.0f} answers, {covered / answers:.4f} covered\n")
    assert missed == 0 and answers > 300
    assert LEAST <= covered / answers <= MOST


@pytest.mark.parametrize("condition", ["pay = 10", "pay = 50", "pay >= 30"])
def test_an_answer_far_from_the_baseline_is_covered_as_one_near_it_is(condition):
    """Pay goes with age: the same question is asked of the young, whom the baseline misleads, and of a town, whom it does not."""
    people = repeated_releases.people(1500)
    manifest, draw = repeated_releases.perturbed(people)
    for selection in ("age <= 40", "town = 'a'"):
        question = f"SELECT COUNT(*) FROM release WHERE {condition} AND {selection}"
        truth = people.sql(question.replace("release", "self")).item()
        covered = 0
        for seed in range(300):
            low, high = ask(draw(np.random.default_rng(seed)), manifest, question, shrunk_options()).interval
            covered += low <= truth <= high
        assert 0.91 <= covered / 300 <= 0.985


@pytest.mark.parametrize("aggregate", ["COUNT(*)", "COUNT(pay)", "SUM(pay)", "AVG(pay)", "SUM(age)", "AVG(age)"])
def test_every_aggregate_is_shrunk_within_a_standard_error(aggregate):
    people = repeated_releases.people()
    manifest, draw = repeated_releases.perturbed(people)
    tables = draw(np.random.default_rng(2))
    where = "town = 'b'" if aggregate in ("SUM(pay)", "AVG(pay)") else "town = 'b' AND pay = 20"
    question = f"SELECT {aggregate} FROM release WHERE {where}"
    plain, shrunk = ask(tables, manifest, question), ask(tables, manifest, question, shrunk_options())
    assert 0 < abs(plain.estimate - shrunk.estimate) <= plain.std_error * (1 + 1e-9)
    assert shrunk.interval[0] <= shrunk.estimate <= shrunk.interval[1]
    assert (shrunk.lower, shrunk.upper) == (plain.lower, plain.upper)


def test_a_count_is_never_below_zero_nor_its_interval():
    promises, method = [rt.BetaLikeness(1)], rt.BetaPerturbation()
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=promises, method=method)
    negative = 0
    for seed in range(4):
        release = rt.publish(job, frame=repeated_releases.people(200), seed=seed)
        for age in range(20, 60, 4):
            question = f"SELECT COUNT(*) FROM release WHERE age BETWEEN {age} AND {age + 3} AND pay = 10"
            answer = release.query(question, by="shrunk")
            assert answer.estimate >= 0
            assert answer.interval is None or answer.interval[0] >= 0
            if answer.std_error and answer.interval != answer.unlimited_interval:
                assert "An interval ends where what is possible does." in answer.note
            negative += release.query(question).estimate < 0
    assert negative


def test_what_does_not_depend_on_redrawn_values_stays_exact_and_extremes_are_refused():
    people = repeated_releases.people()
    manifest, draw = repeated_releases.perturbed(people)
    tables = draw(np.random.default_rng(1))
    for question in (
        "SELECT COUNT(*) FROM release",
        "SELECT COUNT(*) FROM release WHERE pay >= 0",
        "SELECT SUM(age) FROM release",
    ):
        assert ask(tables, manifest, question, shrunk_options()).is_exact
    with pytest.raises(rt.RequestError, match="MAX cannot be answered"):
        ask(tables, manifest, "SELECT MAX(pay) FROM release", shrunk_options())


def test_without_a_published_distribution_the_baseline_is_estimated_and_the_interval_is_the_unbiased_ones():
    people = repeated_releases.people()
    manifest, draw = repeated_releases.perturbed(people)
    del manifest.own["distribution"]
    tables = draw(np.random.default_rng(3))
    question = "SELECT COUNT(*) FROM release WHERE town = 'b' AND pay = 20"
    plain, shrunk = ask(tables, manifest, question), ask(tables, manifest, question, shrunk_options())
    assert shrunk.estimate != plain.estimate
    assert shrunk.interval == pytest.approx(plain.interval)


@pytest.mark.parametrize("distribution", [[1], [0.5, 0.5, 0.5, 0.5, -1], [0.1] * 5, []])
def test_a_distribution_that_gives_no_frequencies_is_refused(distribution):
    manifest, draw = repeated_releases.perturbed(repeated_releases.people())
    manifest.own["distribution"] = distribution
    with pytest.raises(rt.ReticentError, match="does not give a frequency"):
        ask(draw(np.random.default_rng(1)), manifest, "SELECT COUNT(*) FROM release WHERE pay = 20", shrunk_options())


def test_a_sampled_release_is_refused_with_the_reason_and_other_kinds_answer_as_ever():
    people = repeated_releases.people()
    manifest, draw = repeated_releases.sampled(people)
    tables = draw(np.random.default_rng(1))
    question = "SELECT COUNT(*) FROM release WHERE pay = 20"
    with pytest.raises(rt.RequestError, match="sampled release are not shrunk"):
        ask(tables, manifest, question, shrunk_options())
    about_groups = "SELECT COUNT(*) FROM release WHERE town = 'a'"
    assert ask(tables, manifest, about_groups, shrunk_options()) == ask(tables, manifest, about_groups)
    for promises, method in (([rt.KAnonymity(5)], rt.Mondrian()), ([rt.DistinctLDiversity(2)], rt.Anatomy())):
        job = rt.Job(columns=repeated_releases.COLUMNS, promises=promises, method=method)
        release = rt.publish(job, frame=people, seed=1)
        assert release.query(question, by="shrunk") == release.query(question)


def test_the_command_line_shrinks_and_a_database_does_not(tmp_path, capsys):
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=[rt.BetaLikeness(2)], method=rt.BetaPerturbation())
    folder = rt.publish(job, frame=repeated_releases.people(), seed=1).save(tmp_path / "r")
    question = "SELECT COUNT(*) FROM release WHERE town = 'b' AND pay = 20"
    assert main(["query", str(folder), question, "--by", "shrunk"]) == 0
    assert "moved from the unbiased one" in " ".join(capsys.readouterr().out.split())
    for more in (["--print-sql", "duckdb"], ["--at", "duckdb:///absent.db"]):
        for by in ("em", "shrunk"):
            assert main(["query", str(folder), question, "--by", by, *more]) == 1
            assert "A database answers by inversion alone." in capsys.readouterr().err


@pytest.mark.parametrize(("beta", "at_least"), [(1, 0.85), (4, 0.97)])
def test_a_shrunk_count_is_nearer_to_the_truth_on_a_real_table(beta, at_least):
    """The median relative error of random counts; that of a strong promise is near the baseline's."""
    path = PUBLIC_DATA / "adult.parquet"
    if not path.exists():
        pytest.skip("a public table is not here")
    names = ["age", "education-num", "sex", "occupation"]
    people = pl.read_parquet(path).select(names).drop_nulls()
    columns = {"age": rt.quasi(numeric=True), "education-num": rt.quasi(numeric=True), "sex": rt.quasi()}
    job = rt.Job(
        columns=columns | {"occupation": rt.sensitive()},
        promises=[rt.BetaLikeness(beta)],
        method=rt.BetaPerturbation(),
    )
    release = rt.publish(job, frame=people, seed=1)
    rng = np.random.default_rng(4)
    jobs = sorted(people["occupation"].unique().to_list())
    errors = {"inversion": [], "shrunk": [], "baseline": []}
    for _ in range(60):
        low, least = int(rng.integers(18, 55)), int(rng.integers(3, 10))
        chosen = ", ".join(f"'{name}'" for name in rng.choice(jobs, 5, replace=False))
        selection = f'age BETWEEN {low} AND {low + 12} AND "education-num" BETWEEN {least} AND {least + 4}'
        question = f"SELECT COUNT(*) FROM release WHERE {selection} AND occupation IN ({chosen})"
        truth = people.sql(question.replace("release", "self")).item()
        selected = people.sql(f"SELECT COUNT(*) FROM self WHERE {selection}").item()
        everybody = people.sql(f"SELECT COUNT(*) FROM self WHERE occupation IN ({chosen})").item() / len(people)
        estimates = {by: release.query(question, by=by).estimate for by in ("inversion", "shrunk")}
        for by, estimate in (estimates | {"baseline": selected * everybody}).items():
            errors[by].append(abs(estimate - truth) / truth)
    medians = {by: median(each) for by, each in errors.items()}
    sys.stdout.write(f"beta {beta}: {medians}\n")
    assert medians["shrunk"] <= at_least * medians["inversion"]
