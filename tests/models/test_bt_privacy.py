"""(B,t)-privacy and its skyline as promises: parameters, refusals, exchange with jobs and manifests, several columns, what is asked of methods."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.errors import JobError, PromiseUnreachable, RequestError
from reticent.job.job import Job
from reticent.models.background_knowledge.posteriors import compute_exact_posteriors, compute_scaled_posteriors
from reticent.models.background_knowledge.priors import KernelPriors
from tests.oracle import background as oracle

COLUMNS = {"age": rt.quasi(), "sex": rt.quasi(), "disease": rt.sensitive()}
PEOPLE = pl.DataFrame(
    {
        "age": [69, 45, 52, 43, 42, 47, 50, 56, 52] * 3,
        "sex": list("MFFFFFMMM") * 3,
        "disease": ["lung", "cancer", "flu", "stomach", "flu", "cancer", "flu", "lung", "stomach"] * 3,
    }
)
MATRIX = "value,lung,cancer,flu,stomach\nlung,0,0.5,1,1\ncancer,0.5,0,1,1\nflu,1,1,0,0.5\nstomach,1,1,0.5,0\n"


@pytest.mark.parametrize(
    "wrong",
    [
        {"bandwidth": -0.1},
        {"bandwidth": "wide"},
        {"bandwidth": True},
        {"bandwidth": {}},
        {"bandwidth": {"age": -1}},
        {"t": 0},
        {"t": 1.5},
        {"t": "much"},
        {"smoothing": -1},
        {"posterior": "exact"},
        {"kernel": "boxcar"},
        {"base": 10},
        {"distances": "file.csv"},
        {"distances": {"disease": "no such file.csv"}},
        {"distances": {"disease": {"values": ["a", "b"], "rows": [[0, 1], [2, 0]]}}},
        {"distances": {"disease": {"values": ["a", "b"], "rows": [[1, 1], [1, 0]]}}},
        {"distances": {"disease": {"values": ["a", "b"], "rows": [[0, 1]]}}},
        {"distances": {"disease": {"values": ["a", "b"], "rows": [[0, -1], [-1, 0]]}}},
    ],
)
def test_a_parameter_that_means_nothing_is_refused(wrong):
    with pytest.raises(JobError):
        rt.BTPrivacy(**{"bandwidth": 0.3, "t": 0.2, **wrong})
    if not {"bandwidth", "t"} & set(wrong):
        with pytest.raises(JobError):
            rt.Skyline(points=[{"bandwidth": 0.3, "t": 0.2}], **wrong)


@pytest.mark.parametrize(
    "points", [None, [], {}, "0.3", [{"bandwidth": 0.3}], [{"bandwidth": 0.3, "t": 0.2, "k": 1}], [0.3]]
)
def test_a_skyline_needs_points_of_a_bandwidth_and_a_t(points):
    with pytest.raises(JobError):
        rt.Skyline(points=points)


@pytest.mark.parametrize(
    "promise",
    [
        rt.BTPrivacy(0.3, "1/3"),
        rt.BTPrivacy({"age": "1/3", "sex": "whole"}, 0.2, smoothing=0.6, posterior="balanced", base="e"),
        rt.Skyline(
            points=[{"bandwidth": 0.2, "t": 0.25}, {"bandwidth": {"age": Decimal("0.3"), "sex": "whole"}, "t": 0.2}]
        ),
        rt.BTPrivacy(
            0,
            0.2,
            distances={"disease": {"values": ["a", "b"], "rows": [["0", "1/3"], ["1/3", "0"]]}},
            column="disease",
        ),
    ],
)
def test_a_promise_survives_its_job_file_and_is_equal(promise):
    job = rt.Job(columns=COLUMNS, promises=[promise])
    again = Job.from_dict(tomllib.loads(job.to_toml(), parse_float=Decimal))
    assert again.promises == job.promises


def test_a_bandwidth_for_a_column_that_is_not_quasi_identifying_is_refused(tmp_path):
    for bandwidth in ({"age": 0.3, "sex": 0, "disease": 0.1}, {"age": 0.3}, {"age": 0.3, "sxe": 0}):
        with pytest.raises(JobError, match="bandwidth"):
            rt.publish(
                rt.Job(columns=COLUMNS, promises=[rt.BTPrivacy(bandwidth, 0.2)]), frame=PEOPLE, to=tmp_path / "r"
            )
    assert not list(tmp_path.iterdir())


def test_where_the_whole_table_is_above_t_its_risk_is_said_and_what_t_would_do(tmp_path):
    with pytest.raises(PromiseUnreachable, match=r"leave a risk of 0\.0") as refused:
        rt.publish(rt.Job(columns=COLUMNS, promises=[rt.BTPrivacy(0.5, "0.0001")]), frame=PEOPLE, to=tmp_path / "r")
    wanted = str(refused.value).split("t = ")[-1].split(" or more")[0]
    assert rt.publish(rt.Job(columns=COLUMNS, promises=[rt.BTPrivacy(0.5, wanted)]), frame=PEOPLE)
    assert not list(tmp_path.iterdir())


def test_distances_of_one_s_own_are_read_published_and_audited(tmp_path):
    (tmp_path / "matrix.csv").write_text(MATRIX)
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "job.toml").write_text(
        '[source]\npath = "people.csv"\n[columns]\nage = { role = "quasi" }\nsex = { role = "quasi" }\ndisease = { role = "sensitive" }\n'
        '[[promise]]\nmodel = "bt-privacy"\nbandwidth = 0.5\nt = 0.1\nsmoothing = 0.6\ndistances = { disease = "matrix.csv" }\n'
    )
    job = Job.read(tmp_path / "job.toml")
    rt.publish(job, to=tmp_path / "r", seed=1)
    assert rt.audit(tmp_path / "r", source=tmp_path / "people.csv", job=job).kept
    (tmp_path / "matrix.csv").write_text(MATRIX.replace("value,lung", "value,lungs").replace("\nlung,", "\nlungs,"))
    with pytest.raises(JobError, match="lack 1 of its 4 values"):
        rt.publish(Job.read(tmp_path / "job.toml"), to=tmp_path / "other", seed=1, again=True)
    assert not (tmp_path / "other").exists()


def test_several_sensitive_columns_are_promised_one_by_one_or_jointly():
    frame = PEOPLE.with_columns(pl.Series("wage", [1, 2, 3] * 9).cast(pl.String))
    columns = {**COLUMNS, "wage": rt.sensitive()}
    each = [rt.BTPrivacy(0.5, 0.3, column="disease"), rt.BTPrivacy("whole", 0.4, column="wage")]
    for promises, jointly in ((each, False), ([rt.BTPrivacy(0.5, 0.4)], True)):
        job = rt.Job(columns=columns, promises=promises, jointly=jointly)
        release = rt.publish(job, frame=frame, seed=1)
        found = rt.audit(release, source=frame, job=job)
        assert found.kept
        assert len(found.promises) == len(promises)
    with pytest.raises(JobError, match="no distances"):
        rt.publish(rt.Job(columns=columns, promises=[rt.BTPrivacy(0.5, 0.4, smoothing=0.6)], jointly=True), frame=frame)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_carried_columns_formats_bounds_and_databases(format, tmp_path):
    frame = PEOPLE.with_columns(pl.Series("note", ["x", "y", "z"] * 9))
    columns = {**COLUMNS, "note": rt.insensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(3), rt.BTPrivacy(0.5, 0.2)], release=rt.Output(format=format))
    release = rt.publish(job, frame=frame, to=tmp_path / "r", seed=1)
    assert rt.audit(tmp_path / "r", source=frame, job=job).kept
    assert rt.audit(tmp_path / "r").kept is None  # without the source no file shows it
    assert (release.frame(bounds=True)["age_lower"] <= release.frame(bounds=True)["age_upper"]).all()
    assert release.to_database(f"sqlite:///{tmp_path}/r.db", "people")
    assert rt.risk(release).to_dict()


def test_a_declared_domain_is_the_range_and_a_top_is_where_values_end():
    columns = {**COLUMNS, "age": rt.quasi(domain=[0, 100])}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.BTPrivacy(0.1, 0.3)]), frame=PEOPLE, seed=1)
    assert rt.audit(release, source=PEOPLE).kept
    columns = {**COLUMNS, "age": rt.quasi(top=55)}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.BTPrivacy(0.3, 0.3)]), frame=PEOPLE, seed=1)
    assert rt.audit(release, source=PEOPLE).kept


def test_a_table_without_its_source_is_undecided_and_labels_that_overlap_break_it():
    columns = {"age": rt.quasi(), "sex": rt.quasi(), "disease": rt.sensitive()}
    plain = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(3)]), frame=PEOPLE, seed=1)
    found = rt.audit(plain, source=PEOPLE, promises=[rt.BTPrivacy(0.5, "0.9")])
    assert found.promises[1].kept in (True, False)
    assert rt.audit(plain, promises=[rt.BTPrivacy(0.5, "0.9")]).promises[1].kept is None


@pytest.mark.parametrize("seed", range(30))
def test_exact_posteriors_are_those_of_every_assignment_and_of_permanents(seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 6))
    values = int(random.integers(1, 4))
    rows = random.integers(0, 4, (size, values)) + (random.random((size, values)) < 0.3)
    rows[rows.sum(axis=1) == 0] = 1
    if seed % 3 == 0:
        rows[:] = rows[0]  # equal rows
    prior = rows / rows.sum(axis=1, keepdims=True)
    held = [int(random.choice(np.flatnonzero(row))) for row in rows]
    beliefs = [{v: Fraction(int(x), int(row.sum())) for v, x in enumerate(row)} for row in rows]
    truth = oracle.by_enumeration(beliefs, held)
    assert truth == oracle.by_permanents(beliefs, held)
    counts = np.bincount(held, minlength=values)
    found = compute_exact_posteriors(prior, np.ones(size, np.int64), counts)
    for i, belief in enumerate(truth):
        for v, x in belief.items():
            assert found[i, v] == pytest.approx(float(x), abs=1e-12)
    near = compute_scaled_posteriors(prior, np.array([0, size]), np.ones(size), counts[None, :], 1)
    for i, belief in enumerate(oracle.scaled(beliefs, held)):
        for v, x in belief.items():
            assert near[i, v] == pytest.approx(float(x), abs=1e-12)


def test_a_value_that_nobody_could_have_leaves_exact_inference_without_an_answer():
    prior = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert compute_exact_posteriors(prior, np.ones(2, np.int64), np.array([1, 1])) is None
    assert np.isfinite(compute_scaled_posteriors(prior, np.array([0, 2]), np.ones(2), np.array([[1, 1]]), 24)).all()


def test_at_the_whole_domain_all_three_inferences_give_the_group_s_histogram():
    prior = np.tile([0.5, 0.3, 0.2], (6, 1))
    counts = np.array([3, 2, 1])
    for found in (
        compute_exact_posteriors(prior, np.ones(6, np.int64), counts),
        *(compute_scaled_posteriors(prior, np.array([0, 6]), np.ones(6), counts[None, :], r) for r in (1, 24)),
    ):
        assert np.allclose(found, counts / 6)


def test_many_people_with_few_priors_are_inferred_exactly():
    prior = np.array([[0.9, 0.1], [0.2, 0.8]])
    people = np.array([60, 40])
    counts = np.array([65, 35])
    found = compute_exact_posteriors(prior, people, counts)
    assert (found * people[:, None]).sum(axis=0) == pytest.approx(counts)


@pytest.mark.parametrize(
    "method", [rt.Burel(), rt.Sabre(), rt.BetaPerturbation(), rt.Mosaic(), rt.Mondrian(labels="nodes")]
)
def test_methods_that_cannot_keep_it_say_so_before_data_is_read(method):
    job = rt.Job(
        columns=COLUMNS, promises=[rt.BTPrivacy(0.3, 0.2)], method=method, source=rt.Source(path="no such file.csv")
    )
    with pytest.raises(RequestError) as refused:
        rt.publish(job)
    assert "no such file" not in str(refused.value)


def test_a_column_with_a_value_for_every_row_is_known_exactly_or_not_at_all():
    many = pl.DataFrame(
        {"id": range(5_000), "sex": ["M", "F"] * 2_500, "disease": ["flu", "flu", "lung", "cancer"] * 1_250}
    )
    columns = {"id": rt.quasi(), "sex": rt.quasi(), "disease": rt.sensitive()}
    for bandwidth in (0, "whole"):
        job = rt.Job(columns=columns, promises=[rt.BTPrivacy({"id": bandwidth, "sex": "whole"}, 0.5)])
        assert rt.audit(rt.publish(job, frame=many, seed=1), source=many).kept
    with pytest.raises(JobError, match="at most 4,096 will do"):
        rt.publish(rt.Job(columns=columns, promises=[rt.BTPrivacy(0.3, 0.5)]), frame=many)


def test_priors_out_of_reach_are_refused_with_advice(monkeypatch):
    user = "reticent.models.background_knowledge.adversary.KernelPriors"
    monkeypatch.setattr(user, partial(KernelPriors, max_cells=1))
    assert rt.publish(rt.Job(columns=COLUMNS, promises=[rt.BTPrivacy(0.5, 0.3)]), frame=PEOPLE)  # by pairs
    monkeypatch.setattr(user, partial(KernelPriors, max_cells=1, max_pairs=1))
    with pytest.raises(JobError, match="out of reach"):
        rt.publish(rt.Job(columns=COLUMNS, promises=[rt.BTPrivacy(0.5, 0.3)]), frame=PEOPLE)


def test_several_rows_of_a_person_count_each_and_the_readme_says_so():
    columns = {**COLUMNS, "name": rt.identifying(rows_per_person=3)}
    frame = PEOPLE.with_columns(pl.Series("name", [f"p{i % 9}" for i in range(27)]))
    release = rt.publish(rt.Job(columns=columns, promises=[rt.BTPrivacy(0.5, 0.3)]), frame=frame, seed=1)
    assert "the rows of one person in a group count each" in (release.folder / "README.md").read_text()
