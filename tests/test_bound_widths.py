"""Widths of guaranteed bounds that `check` expects of a job by `distribution`, and what it recommends."""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.bound_widths import draw_questions
from reticent.cli.main import main
from reticent.job.parse import parse_job
from reticent.methods.distribution.value_domain import make_value_domain

COLUMNS = {"age": rt.quasi(), "region": rt.quasi(), "income": rt.sensitive()}


def make_people(rows: int = 1500) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(20, 70, rows)
    region = rng.choice(["East", "North", "South", "West"], rows)
    income = (age // 10 + rng.integers(0, 6, rows)) * 5
    return pl.DataFrame({"age": age, "region": region, "income": income})


PEOPLE = make_people()


def make_job(promise=None, columns=COLUMNS, **method):
    return rt.Job(columns=columns, promises=[promise or rt.PPrivacy("source")], method=rt.Distribution(**method))


def check(job, frame=PEOPLE, **options):
    result = rt.check(job, frame=frame, **options)
    return [advice for advice in result.advice if advice["about"] == "bounds"]


@pytest.fixture(scope="module")
def advice():
    (found,) = check(make_job(group_by=["region"]))
    return found


def paste(text: str) -> rt.Job:
    table = tomllib.loads(text, parse_float=Decimal)
    columns = {"age": "quasi", "region": "quasi", "income": "sensitive"}
    return parse_job({"source": {"path": "people.csv"}, "columns": columns, **table})


def measure_released_widths(release: rt.Release, frame: pl.DataFrame) -> tuple[float, float]:
    """Ask the release what `check` asked of the plan, by SQL; return the mean widths on AVG and on a share of rows."""
    job = make_job()
    cells = rt.count(job, frame=frame)
    values = make_value_domain(cells, job.promises.all[0])
    workload = draw_questions(cells, values, None)
    avg_widths = []
    count_widths = []
    for selection, (first, last) in zip(workload.selections, workload.ranges, strict=True):
        condition = describe_selection(cells, selection)
        average = release.query(f"SELECT AVG(income) FROM release WHERE {condition}")
        avg_widths.append(average.upper - average.lower)
        rows = release.query(f"SELECT COUNT(*) FROM release WHERE {condition}").estimate
        ends = f"income BETWEEN {values.texts[first]} AND {values.texts[last]}"
        count = release.query(f"SELECT COUNT(*) FROM release WHERE {condition} AND {ends}")
        count_widths.append((count.upper - count.lower) / rows)
    return float(np.mean(avg_widths)), float(np.mean(count_widths))


def describe_selection(cells, selection) -> str:
    """Describe the selected cells in SQL: a range of ages, or a region."""
    regions = np.unique(cells.codes[selection, 1])
    if len(regions) == 1:
        return f"region = '{cells.quasi[1].texts[regions[0]]}'"
    ages = [int(cells.quasi[0].texts[code]) for code in np.unique(cells.codes[selection, 0])]
    return f"age BETWEEN {min(ages)} AND {max(ages)}"


@pytest.mark.parametrize("which", ["own", "recommended", "recommended_target"])
def test_a_pasted_variant_is_accepted_and_its_bounds_are_as_wide_as_was_said(advice, which):
    variant = advice[which]
    pasted = paste(variant["paste"])
    release = rt.publish(pasted.at(source=None), frame=PEOPLE, seed=1)
    assert rt.audit(release, source=PEOPLE).kept
    avg_width, count_width = measure_released_widths(release, PEOPLE)
    assert avg_width == pytest.approx(variant["avg_width"], rel=1e-9)
    assert count_width == pytest.approx(variant["count_width"], rel=1e-9)


def test_variants_are_sorted_by_width_and_the_recommended_one_keeps_the_promise(advice):
    widths = [variant["relative_width"] for variant in advice["variants"]]
    assert widths == sorted(widths)
    kept = [variant for variant in advice["variants"] if variant["keeps_promise"]]
    assert advice["recommended"] == kept[0]
    assert advice["own"]["is_own"]
    assert advice["own"] in advice["variants"]


def test_groupings_targets_rounding_and_fakes_are_all_tried(advice):
    tried = advice["variants"] + advice["refused"]
    assert {json.dumps(variant["group_by"]) for variant in tried} > {"null", '["region"]', '"mondrian"'}
    assert any(isinstance(variant["group_by"], dict) for variant in tried)
    assert {variant["within"] for variant in tried} == {"sa-only", "qi-sa", "hilbert"}
    assert {json.dumps(variant["target"])[:10] for variant in tried} >= {'"source"', '"group"', '{"nearest"'}
    assert {variant["exact"] for variant in tried} == {False, True}
    assert {variant["fakes"] for variant in tried} == {0, 0.05}


def test_hierarchies_of_other_arities_are_tried_for_the_narrowest_variants(advice):
    """Section 6.3: the same promise, groups and fakes by trees of 2, 3, 4 and 8 children."""
    by_setting: dict[str, set[int]] = {}
    for variant in advice["variants"]:
        setting = json.dumps([variant[name] for name in ("group_by", "within", "target", "exact", "fakes")])
        by_setting.setdefault(setting, set()).add(variant["arity"])
    assert sum(arities == {2, 3, 4, 8} for arities in by_setting.values()) >= 2


def test_no_other_arity_is_tried_where_the_steward_declared_a_hierarchy(tmp_path):
    values = sorted(PEOPLE["income"].unique())
    (tmp_path / "income.csv").write_text("".join(f"{value};{value // 20 * 20} and more;*\n" for value in values))
    columns = {**COLUMNS, "income": rt.sensitive(hierarchy=tmp_path / "income.csv")}
    (found,) = check(make_job(columns=columns))
    assert {variant["arity"] for variant in found["variants"]} == {2}


def test_the_greatest_belief_is_the_alpha_that_the_audit_finds(advice):
    variant = advice["recommended_target"]
    release = rt.publish(paste(variant["paste"]).at(source=None), frame=PEOPLE, seed=1)
    achieved = rt.audit(release, source=PEOPLE).promises[0].achieved["alpha"]
    assert variant["belief"] == pytest.approx(float(achieved))


def test_another_target_is_named_as_another_promise(advice):
    assert not advice["recommended_target"]["keeps_promise"]
    assert advice["recommended_target"]["target"] != "group"
    assert any("is another promise" in sentence for sentence in advice["why"])


def test_categories_are_compared_by_bounds_on_counts():
    people = PEOPLE.with_columns(income=pl.col("income").cast(pl.String))
    (found,) = check(make_job(group_by=["region"]), people)
    assert found["mean_answer"] is None
    assert {variant["avg_width"] for variant in found["variants"]} == {None}
    widths = [variant["count_width"] for variant in found["variants"]]
    assert widths == sorted(widths)


def test_a_declared_workload_is_what_is_asked():
    columns = {**COLUMNS, "age": rt.quasi(numeric=True)}
    job = make_job(columns=columns, group_by=["region"], workload={"age": 0.2})
    (found,) = check(job)
    cells = rt.count(job, frame=PEOPLE)
    workload = draw_questions(cells, make_value_domain(cells, job.promises.all[0]), job.method.workload)
    assert found["questions"] == len(workload) == 40
    assert {len(np.unique(cells.codes[selection, 0])) for selection in workload.selections} == {10}


def test_a_target_by_group_names_is_refused_for_other_groupings_and_the_check_goes_on():
    promise = rt.PPrivacy({"groups": dict.fromkeys(["East", "North", "South", "West"], "uniform")})
    (found,) = check(make_job(promise, group_by=["region"]))
    assert found["own"] is not None
    assert all(variant["why"] for variant in found["refused"])
    assert found["refused"]


def test_without_time_nothing_is_claimed():
    (found,) = check(make_job(group_by=["region"]), budget=0.0001) or [None]
    assert found is None or (found["variants"] == [] and found["recommended"] is None)


def test_other_methods_have_no_such_table():
    job = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)])
    assert check(job) == []


def test_the_command_prints_the_table_and_what_to_paste(capsys, tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "job.toml").write_text(
        f'[source]\npath = "{tmp_path}/people.csv"\n[columns]\nage = "quasi"\nregion = "quasi"\nincome = "sensitive"\n'
        '[[promise]]\nmodel = "p-privacy"\n[method]\nname = "distribution"\ngroup_by = ["region"]\n'
    )
    assert main(["check", str(tmp_path / "job.toml")]) == 0
    printed = capsys.readouterr().out
    assert "Expected widths of the guaranteed bounds" in printed
    assert "the job's own" in printed
    assert "recommended" in printed
    assert main(["check", str(tmp_path / "job.toml"), "--json"]) == 0
    assert any(advice["about"] == "bounds" for advice in json.loads(capsys.readouterr().out)["advice"])
