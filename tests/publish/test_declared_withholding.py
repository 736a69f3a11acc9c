"""Rows that columns withhold: those without a value (missing = "withhold") and those too many of a person (beyond = "withhold")."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.check import check
from reticent.data.declared_withholding import draw_surplus_rows
from reticent.errors import BundleDamaged, ColumnError, JobError, RequestError, SourceError
from tests.oracle import withheld_rows
from tests.support.in_process_partitions import Spread
from tests.support.tampering import resealed

HOLED = ("age", "illness")


def people(rows=120, *, seed=3, persons=40):
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "name": [f"p{draw.randrange(persons):02d}" for _ in range(rows)],
            "age": [None if draw.random() < 0.1 else draw.randrange(20, 60) for _ in range(rows)],
            "town": [draw.choice(["Ulm", "Kiel", "Husum"]) for _ in range(rows)],
            "illness": [None if draw.random() < 0.08 else draw.choice(["flu", "cold", "gout"]) for _ in range(rows)],
        }
    )


def columns(*, limit=None):
    identifying = rt.identifying() if limit is None else rt.identifying(rows_per_person=limit, beyond="withhold")
    return {
        "name": identifying,
        "age": rt.quasi(missing="withhold"),
        "town": rt.quasi(),
        "illness": rt.sensitive(missing="withhold"),
    }


def job(*, limit=None, promises=None, **options):
    return rt.Job(columns=columns(limit=limit), promises=promises or rt.KAnonymity(3), **options)


def manifest_of(release: rt.Release) -> dict:
    return json.loads((Path(release.folder) / "manifest.json").read_text(encoding="utf-8"))


def test_rows_without_a_value_are_withheld_and_stated_by_their_reason():
    frame = people()
    release = rt.publish(job(), frame=frame)
    missing, _ = withheld_rows.expected_counts(frame.to_dicts(), HOLED, None, 1)
    stated = manifest_of(release)
    assert stated["withheld"] == missing == len(frame) - stated["rows"]
    assert stated["withheld_before"] == {"missing": missing}
    assert {entry["name"]: entry.get("missing") for entry in stated["columns"]} == {
        "age": "withhold",
        "town": None,
        "illness": "withhold",
    }
    assert release.frame().null_count().sum_horizontal().item() == 0
    readme = (Path(release.folder) / "README.md").read_text(encoding="utf-8")
    assert f"{missing} rows were withheld: {missing} because `age` or `illness`" in " ".join(readme.split())


def test_nothing_is_stated_where_nothing_is_missing():
    frame = people().drop_nulls()
    stated = manifest_of(rt.publish(job(), frame=frame))
    assert stated["withheld"] == 0 and "withheld_before" not in stated


def test_withholding_needs_no_share_and_leaves_the_share_to_the_method():
    frame = people(200)
    release = rt.publish(job(release=rt.Output(suppress_at_most=0.1)), frame=frame)
    missing, _ = withheld_rows.expected_counts(frame.to_dicts(), HOLED, None, 1)
    stated = manifest_of(release)
    assert stated["withheld_before"]["missing"] == missing
    assert stated["withheld"] - missing <= (len(frame) - missing) // 10
    assert rt.audit(release, source=frame, job=job(release=rt.Output(suppress_at_most=0.1))).kept


def test_an_audit_with_the_job_finds_more_withheld_than_the_share():
    ages = [30, 31, 32] * 20 + [900, 901, None]
    frame = pl.DataFrame(
        {"name": [str(at) for at in range(63)], "age": ages, "town": ["Ulm"] * 63, "illness": ["flu"] * 63}
    )
    loose = job(release=rt.Output(suppress_at_most=0.2))
    release = rt.publish(loose, frame=frame, seed=1)
    assert manifest_of(release)["withheld"] == 3 and manifest_of(release)["withheld_before"] == {"missing": 1}
    assert rt.audit(release, job=loose).kept
    strict = rt.audit(release, job=job())
    assert strict.kept is False and "suppress_at_most" in " ".join(strict.disagreements)


def test_nan_is_no_value():
    frame = people().with_columns(pl.col("age").cast(pl.Float64).fill_null(float("nan")))
    release = rt.publish(job(), frame=frame)
    missing, _ = withheld_rows.expected_counts(frame.to_dicts(), HOLED, None, 1)
    assert release.manifest.withheld == missing
    assert rt.audit(release, source=frame).source.passed


def test_texts_that_mean_missing_are_missing(tmp_path):
    people().with_columns(pl.col("age").cast(pl.String).fill_null("?")).write_csv(tmp_path / "t.csv")
    source = rt.Source(path=str(tmp_path / "t.csv"), missing=("?",))
    release = rt.publish(job(source=source))
    missing, _ = withheld_rows.expected_counts(people().to_dicts(), HOLED, None, 1)
    assert release.manifest.withheld == missing
    assert rt.audit(release, source=source).kept


def test_a_table_of_which_every_row_lacks_a_value_is_refused():
    frame = people().with_columns(age=pl.lit(None, pl.Int64))
    with pytest.raises(SourceError, match="All 120 rows would be withheld"):
        rt.publish(job(), frame=frame)


def test_carried_values_of_withheld_rows_are_in_no_byte():
    frame = people().with_columns(note=pl.format("note-{}", pl.int_range(pl.len())))
    declared = job().at(columns={**columns(limit=2), "note": rt.insensitive(acknowledge=True)})
    for engine in ("local", "stream"):
        release = rt.publish(declared, frame=frame, engine=engine)
        secret = set(frame["note"]) - set(release.frame()["note"])
        assert len(secret) == release.manifest.withheld > 0
        published = b"".join(path.read_bytes() for path in Path(release.folder).iterdir())
        assert not [note for note in secret if note.encode() + b'"' in published]
        assert rt.audit(release, source=frame, job=declared).source.passed


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_a_person_keeps_as_many_rows_as_the_limit_and_which_is_drawn(limit):
    frame = people().with_columns(note=pl.int_range(pl.len()))
    declared = rt.Job(
        columns={**columns(limit=limit), "note": rt.insensitive(acknowledge=True)}, promises=rt.KAnonymity(3)
    )
    missing, surplus = withheld_rows.expected_counts(frame.to_dicts(), HOLED, "name", limit)
    first = rt.publish(declared, frame=frame, seed=1)
    kept = frame[sorted(first.frame()["note"])]
    assert first.manifest.withheld_before == {"missing": missing, "surplus": surplus}
    assert len(kept) == len(frame) - missing - surplus
    left = Counter(row["name"] for row in withheld_rows.complete(frame.to_dicts(), HOLED))
    assert Counter(kept["name"]) == {name: min(times, limit) for name, times in left.items()}
    again = rt.publish(declared, frame=frame, seed=1)
    assert sorted(again.frame()["note"]) == sorted(first.frame()["note"])
    other = rt.publish(declared, frame=frame, seed=2)
    assert sorted(other.frame()["note"]) != sorted(first.frame()["note"])


def test_every_row_of_a_person_is_withheld_equally_often():
    """Five rows, of which two are drawn: a row is among them in 2/5 of the draws, within five standard errors."""
    person = np.array([1, 1, 1, 1, 1, 2, 2, 3])
    generator = np.random.default_rng(5)
    draws = 4_000
    withheld = Counter(row for _ in range(draws) for row in draw_surplus_rows(person, 3, generator).tolist())
    assert set(withheld) == {0, 1, 2, 3, 4}
    error = (0.4 * 0.6 / draws) ** 0.5
    assert all(abs(times / draws - 0.4) < 5 * error for times in withheld.values())


def test_rows_without_a_value_count_for_nobody():
    """A person with two rows, one of them without an age, has none to spare where one row is kept."""
    frame = pl.DataFrame({"name": ["a", "a", "b", "c"], "age": [None, 30, 31, 32], "illness": ["flu", "cold"] * 2})
    declared = {
        "name": rt.identifying(rows_per_person=1, beyond="withhold"),
        "age": rt.quasi(missing="withhold"),
        "illness": rt.sensitive(),
    }
    release = rt.publish(rt.Job(columns=declared, promises=rt.KAnonymity(3)), frame=frame)
    assert release.manifest.withheld_before == {"missing": 1}


def test_a_person_without_a_name_is_refused_as_before():
    frame = people().with_columns(name=pl.when(pl.int_range(pl.len()) > 3).then("name"))
    with pytest.raises(ColumnError, match="missing in 4 rows"):
        rt.publish(job(limit=2), frame=frame.with_columns(age=pl.col("age").fill_null(30), illness=pl.lit("flu")))


@pytest.mark.parametrize("promise", [rt.KAnonymity(4), rt.BetaLikeness(4)])
def test_engines_withhold_the_same_rows(promise):
    frame = people(300)
    declared = job(limit=2, promises=promise)
    local = rt.publish(declared, frame=frame, seed=4)
    stream = rt.publish(declared, frame=frame, seed=4, engine="stream")
    assert local.manifest.withheld_before == stream.manifest.withheld_before
    names = local.frame().columns
    assert local.frame().sort(names).equals(stream.frame().sort(names))


def test_regions_withhold_rows_before_they_are_planned(tmp_path):
    frame = people(600)
    release = rt.publish(job(), frame=frame, engine=Spread(4), to=tmp_path / "out")
    missing, _ = withheld_rows.expected_counts(frame.to_dicts(), HOLED, None, 1)
    assert release.manifest.withheld == missing == release.audited.withheld
    assert rt.audit(tmp_path / "out", source=frame).kept


def test_check_counts_withheld_rows_as_publishing_does():
    frame = people(300)
    result = check(job(limit=2), frame=frame, methods=[])
    release = rt.publish(job(limit=2), frame=frame)
    assert result.methods[0].withheld == release.manifest.withheld
    assert abs(result.methods[0].ail - release.audited.utility["ail"]) < 0.05
    assert any('missing = "withhold"' in warning for warning in result.warnings)


def test_the_loss_of_a_plan_counts_withheld_rows_as_lost():
    frame = people(300)
    planned = rt.plan(job(), frame=frame, seed=1)
    release = rt.publish(job(), frame=frame, seed=1)
    assert planned.withheld == release.manifest.withheld
    assert planned.loss == pytest.approx(float(release.audited.utility["ail"]))


# The audit


def tampered(release, folder, **changes):
    return resealed(release, folder, **changes)


def test_a_source_with_other_nulls_is_not_the_releases():
    frame = people()
    release = rt.publish(job(), frame=frame)
    filled = frame.with_columns(pl.col("illness").fill_null("flu"))
    found = rt.audit(release, source=filled)
    assert found.kept is False
    assert "lack a value" in str(found.source)


def test_a_manifest_that_calls_a_rows_value_missing_is_found_out(tmp_path):
    frame = people().drop_nulls()
    release = rt.publish(job(release=rt.Output(suppress_at_most=0.2)), frame=people(), seed=1)
    stated = release.manifest
    forged = tampered(
        release, tmp_path / "f", withheld=stated.withheld + 3, withheld_before={"missing": stated.withheld_missing + 3}
    )
    assert rt.audit(forged, source=people()).kept is False
    assert rt.audit(forged, source=frame).kept is False


@pytest.mark.parametrize(
    "changes",
    [
        {"withheld_before": {"missing": 10**6}},
        {"withheld_before": {"missing": -1}},
        {"withheld_before": {"lost": 1}},
        {"withheld_before": 3},
    ],
)
def test_a_manifest_that_states_impossible_reasons_is_damaged(tmp_path, changes):
    release = rt.publish(job(), frame=people())
    folder = tampered(release, tmp_path / "f")
    stated = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(stated | changes), encoding="utf-8")
    with pytest.raises(BundleDamaged):
        rt.audit(folder)


def test_a_null_published_beside_the_word_withheld_is_damage(tmp_path):
    frame = people()
    declared = job().at(columns={**columns(), "age": rt.quasi(), "illness": rt.sensitive(missing="category")})
    release = rt.publish(declared, frame=frame)
    for name in HOLED:
        entries = [column.to_dict() for column in release.columns]
        for entry in entries:
            if entry["name"] == name:
                entry["missing"] = "withhold"
        with pytest.raises(BundleDamaged):
            rt.audit(tampered(release, tmp_path / name, columns=entries))


def test_a_person_with_more_rows_than_stated_is_found_with_the_source(tmp_path):
    frame = people(200, persons=60).drop_nulls()
    honest = rt.Job(columns=columns(limit=2), promises=rt.KAnonymity(3))
    release = rt.publish(honest, frame=frame)
    assert rt.audit(release, source=frame, job=honest).kept
    everything = rt.publish(
        honest.at(columns={**columns(), "name": rt.identifying()}), frame=frame
    )  # as many rows as there are, two of each person only by its word
    forged = tampered(everything, tmp_path / "f", rows_per_person=2)
    found = rt.audit(forged, source=frame, job=honest)
    assert found.kept is False and "beyond these" in str(found.source)


def test_a_group_with_too_many_rows_of_one_person_is_found_with_the_source(tmp_path):
    """The number of withheld rows is right, but they are of others: all five rows of one person stand in one group."""
    rows = [("a", 20, "flu")] * 5 + [(f"p{i}", 40 + i % 3, "cold") for i in range(12)]
    frame = pl.DataFrame(rows, schema=["name", "age", "illness"], orient="row")
    declared = rt.Job(
        columns={
            "name": rt.identifying(rows_per_person=2, beyond="withhold"),
            "age": rt.quasi(),
            "illness": rt.sensitive(),
        },
        promises=rt.KAnonymity(2),
    )
    withheld = frame[:5].vstack(frame[5:14])
    other = rt.publish(declared.at(columns={**declared.columns, "name": rt.identifying()}), frame=withheld)
    forged = tampered(other, tmp_path / "f", withheld=3, withheld_before={"surplus": 3}, rows_per_person=2)
    found = rt.audit(forged, source=frame, job=declared)
    assert found.kept is False and "of one person" in str(found.source)


# What cannot withhold


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: rt.insensitive(missing="withhold"), "no option 'missing'"),
        (lambda: rt.Column("insensitive", missing="withhold"), "quasi-identifying and sensitive"),
        (lambda: rt.Column("identifying", missing="withhold"), "quasi-identifying and sensitive"),
        (lambda: rt.identifying(beyond="withhold"), "needs rows_per_person"),
        (lambda: rt.Column("sensitive", beyond="withhold"), "for identifying columns"),
        (lambda: rt.identifying(rows_per_person=2, beyond="drop"), "is not known"),
        (lambda: rt.quasi(missing="drop"), "is not known"),
    ],
)
def test_what_nothing_would_withhold_is_refused(made, said):
    with pytest.raises(JobError, match=said) as caught:
        made()
    assert caught.value.attempt


def test_a_job_file_says_both_and_reads_back(tmp_path):
    first = job(limit=3)
    (tmp_path / "job.toml").write_text(first.to_toml(), encoding="utf-8")
    again = rt.Job.read(tmp_path / "job.toml")
    assert again.columns == first.columns
    assert 'beyond = "withhold"' in first.to_toml() and 'missing = "withhold"' in first.to_toml()


# Other readers of a release


def test_bounds_of_answers_hold_for_the_source_with_its_withheld_rows():
    frame = people(200)
    release = rt.publish(job(limit=3), frame=frame, seed=2)
    rows = frame.to_dicts()
    asked = {
        "SELECT COUNT(*) FROM release": len(rows),
        "SELECT COUNT(age) FROM release": sum(row["age"] is not None for row in rows),
        "SELECT COUNT(*) FROM release WHERE age IS NULL": sum(row["age"] is None for row in rows),
        "SELECT COUNT(*) FROM release WHERE illness IS NULL": sum(row["illness"] is None for row in rows),
        "SELECT COUNT(*) FROM release WHERE illness = 'flu'": sum(row["illness"] == "flu" for row in rows),
        "SELECT COUNT(*) FROM release WHERE town = 'Ulm' AND age >= 30": sum(
            row["town"] == "Ulm" and row["age"] is not None and row["age"] >= 30 for row in rows
        ),
    }
    for question, truth in asked.items():
        answer = release.query(question)
        assert answer.lower <= truth <= answer.upper, question


def test_sums_of_withheld_rows_are_bounded_by_a_declared_domain_and_may_be_null():
    frame = people(200)
    declared = job().at(columns={**columns(), "age": rt.quasi(missing="withhold", domain=[18, 60])})
    release = rt.publish(declared, frame=frame)
    truth = frame["age"].sum()
    answer = release.query("SELECT SUM(age) FROM release")
    assert answer.lower <= truth <= answer.upper


@pytest.mark.parametrize("method", ["mondrian", "anatomy", "beta-perturbation"])
def test_attacks_are_on_the_people_who_could_be_in_the_release(method):
    frame = people(200)
    promise = rt.BetaLikeness(4) if method == "beta-perturbation" else rt.ProbabilisticLDiversity(2)
    release = rt.publish(job(promises=promise, method=method), frame=frame, seed=1)
    complete = frame.drop_nulls(HOLED)
    name = "matrix" if method == "beta-perturbation" else "definetti"
    with_nulls = rt.attack(release, source=frame, name=name).to_dict()
    without = rt.attack(release, source=complete, name=name).to_dict()
    assert with_nulls["targets"] == without["targets"] == len(complete)


def test_joined_releases_place_a_withheld_person_in_no_group(tmp_path):
    frame = people(200)
    first = rt.publish(job(promises=rt.ProbabilisticLDiversity(2)), frame=frame, seed=1)
    grouped = job(promises=rt.ProbabilisticLDiversity(2)).at(
        columns={**columns(), "age": rt.quasi(), "illness": rt.sensitive(missing="category")}
    )
    second = rt.publish(grouped, frame=frame, seed=2)
    outcome = rt.attack(first, source=frame, name="composition", joined=[second.folder], force_join=True).to_dict()
    assert outcome["targets"] == len(frame)
    assert 0 < outcome["worst_posterior"] <= 1


def test_an_earlier_release_of_the_same_people_is_remembered(tmp_path):
    frame = people(200)
    rt.publish(job(), frame=frame, to=tmp_path / "first", ledger=tmp_path / "ledger")
    with pytest.raises(RequestError, match="published"):
        rt.publish(job(), frame=frame, to=tmp_path / "second", ledger=tmp_path / "ledger")


def test_an_earlier_release_that_withheld_nothing_is_remembered_too(tmp_path):
    """The rows that are withheld now are few: the table is known by the others."""
    frame = people(400)
    grouped = job().at(columns={**columns(), "age": rt.quasi(), "illness": rt.sensitive(missing="category")})
    rt.publish(grouped, frame=frame, to=tmp_path / "first", ledger=tmp_path / "ledger")
    with pytest.raises(RequestError, match="published"):
        rt.publish(job(), frame=frame, to=tmp_path / "second", ledger=tmp_path / "ledger")
    second = rt.publish(job(), frame=frame, to=tmp_path / "second", ledger=tmp_path / "ledger", again=True)
    assert any("Joined with" in notice for notice in second.notices)


def test_a_stream_is_audited_as_a_frame_is(tmp_path, monkeypatch):
    """A source too large for memory is compared in parts: the same rows are set aside."""
    frame = people(300)
    frame.write_parquet(tmp_path / "t.parquet")
    source = rt.Source(path=str(tmp_path / "t.parquet"))
    release = rt.publish(job(limit=2, source=source), to=tmp_path / "out", ledger=tmp_path / "ledger")
    monkeypatch.setattr(sys.modules["reticent.audit.audit"], "is_small_source", lambda source, frame: False)
    found = rt.audit(release.folder, source=source, job=job(limit=2, source=source))
    assert found.kept and found.source.withheld == release.manifest.withheld


def test_a_population_counts_nobody_who_is_withheld():
    """Of nine people in the population four have no age: none of them can be the person of a published row."""
    frame = pl.DataFrame({"age": [30, 31, 32, None], "illness": ["flu", "cold", "flu", "cold"]})
    population = pl.DataFrame({"age": [30, 30, 31, 31, 32, None, None, None, None]})
    declared = {"age": rt.quasi(missing="withhold"), "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=declared, promises=rt.KMap(5, population)), frame=frame)
    assert rt.audit(release, population=population).kept
    with pytest.raises(rt.PromiseUnreachable):
        rt.publish(rt.Job(columns=declared, promises=rt.KMap(6, population)), frame=frame)
    found = rt.audit(release, population=population, promises=[rt.KMap(6, population)])
    assert found.promises[-1].kept is False


def test_a_stages_promise_is_about_the_rows_that_have_a_value():
    """What suppression withheld is told apart from rows without a value, by the audit and by its attack."""
    draw = random.Random(2)
    illness = ["flu"] * 90 + ["cold"] * 30 + ["gout"] * 20 + [None] * 12
    frame = pl.DataFrame({"age": [draw.randrange(20, 60) for _ in illness], "illness": illness})
    declared = rt.Job(
        columns={"age": rt.quasi(), "illness": rt.sensitive(missing="withhold")},
        promises=[rt.LDichotomy(2), rt.KAnonymity(2)],
        prepare=[rt.Suppression(l=2)],
    )
    release = rt.publish(declared, frame=frame, seed=1)
    stated = release.manifest
    assert stated.withheld_missing == 12 and stated.withheld_later > 0
    found = rt.audit(release, source=frame, job=declared)
    assert found.kept is not False and found.source.passed
    assert any(finding.name == "suppression" and finding.passed for finding in found.source.findings)
    outcome = rt.attack(release, name="eligibility").to_dict()
    assert outcome["targets"] == stated.withheld_later


# A campaign: random tables, kinds and limits, looked at by the oracle


METHODS = {
    "mondrian": rt.KAnonymity(2),
    "mosaic": rt.KAnonymity(2),
    "burel": rt.BetaLikeness(4),
    "sabre": rt.TCloseness(0.6),
    "anatomy": rt.ProbabilisticLDiversity(2),
    "beta-perturbation": rt.BetaLikeness(4),
}


def covers(ours, theirs, quasi, sensitive):
    if any(not (ours[f"{name}_lower"] <= theirs[name] <= ours[f"{name}_upper"]) for name in quasi):
        return False
    return sensitive is None or ours[sensitive] == theirs[sensitive]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_random_tables_publish_only_rows_that_are_not_withheld(method, seed):
    draw = random.Random(f"{method} {seed}")
    rows = draw.randrange(30, 60)
    limit = draw.choice([None, 1, 2, 3])
    holed = draw.sample(["age", "size", "illness"], draw.randrange(4))
    share = draw.choice([0.05, 0.3])

    def hole(name, value):
        return None if name in holed and draw.random() < share else value

    frame = pl.DataFrame(
        {
            "name": [f"p{draw.randrange(rows // 2)}" for _ in range(rows)],
            "age": [hole("age", draw.randrange(20, 40)) for _ in range(rows)],
            "size": [hole("size", float(draw.randrange(5))) for _ in range(rows)],
            "illness": [hole("illness", draw.choice("abcd")) for _ in range(rows)],
        },
        schema_overrides={"age": pl.Int64, "size": pl.Float64, "illness": pl.String},
    )
    person = rt.identifying() if limit is None else rt.identifying(rows_per_person=limit, beyond="withhold")
    declared = {
        "name": person,
        "age": rt.quasi(missing="withhold" if "age" in holed else "refuse", labels="tight"),
        "size": rt.quasi(missing="withhold" if "size" in holed else "refuse", labels="tight"),
        "illness": rt.sensitive(missing="withhold" if "illness" in holed else "refuse"),
    }
    asked = rt.Job(columns=declared, promises=METHODS[method], method=method)
    try:
        release = rt.publish(asked, frame=frame, seed=seed)
    except rt.PromiseUnreachable:
        return
    source = frame.to_dicts()
    missing, surplus = withheld_rows.expected_counts(source, holed, None if limit is None else "name", limit or 1)
    stated = manifest_of(release)
    later = stated["withheld"] - missing - surplus
    before = {reason: count for reason, count in (("missing", missing), ("surplus", surplus)) if count}
    assert stated.get("withheld_before", {}) == before and later == 0
    assert stated["rows"] + stated["withheld"] == rows
    published = release.frame(bounds=True).to_dicts()
    left = withheld_rows.complete(source, holed)
    exact = "illness" if method not in ("anatomy", "beta-perturbation") else None
    explained = withheld_rows.most_explained(
        published,
        left,
        lambda ours, theirs: covers(ours, theirs, ("age", "size"), exact),
        None if limit is None else "name",
        limit or 1,
    )
    assert explained == len(published) == stated["rows"]
    found = rt.audit(release, source=frame, job=asked)
    assert found.kept is not False and found.source.passed, str(found)
    if missing:
        one = next(at for at, row in enumerate(source) if any(withheld_rows.is_missing(row[name]) for name in holed))
        filled = frame.with_row_index("at").filter(pl.col("at") != one).drop("at")
        assert rt.audit(release, source=filled, job=asked).kept is False


def test_replacing_a_column_keeps_what_it_withholds():
    column = rt.quasi(missing="withhold")
    assert replace(column, labels="snapped").missing == "withhold"
