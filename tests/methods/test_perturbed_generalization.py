"""The three phases, and what is refused before anything is written."""

from __future__ import annotations

import hashlib
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.data.cells import Cells
from reticent.data.domain import build_range_domain
from reticent.errors import ReticentError
from reticent.methods.perturbed_generalization.calibration import choose_group_size, find_largest_retention
from reticent.methods.perturbed_generalization.method import draw_row_of_each, draw_share_of_rows, perturb_codes
from reticent.randomness import Random

RNG = np.random.default_rng(1)
TABLE = pl.DataFrame({"a": RNG.integers(0, 20, 200), "b": RNG.choice(list("xyz"), 200), "s": RNG.integers(0, 5, 200)})
COLUMNS = {"a": rt.quasi(), "b": rt.quasi(), "s": rt.sensitive(domain=[0, 4])}
RHO = rt.RhoGuarantee("0.3", "0.6", "0.4")


def job(**changes) -> rt.Job:
    given = {"columns": COLUMNS, "promises": [RHO], "method": rt.PerturbedGeneralization(k=4)}
    return rt.Job(**{**given, **changes})


class Every:
    """A generator that gives each whole number below a limit once."""

    def integers(self, low, high, size, dtype):
        assert high == size
        return np.arange(size, dtype=dtype)


@pytest.mark.parametrize("p", ["1/4", "0.3", "1/7"])
def test_probabilities_are_exactly_those_published(p):
    share = Fraction(p)
    domain = 5
    for code in range(domain):
        codes = np.full(share.denominator * domain, code)
        shown = Counter(perturb_codes(codes, share, domain, Every()).tolist())
        for value in range(domain):
            wanted = (1 - share) / domain + (share if value == code else 0)
            assert Fraction(shown[value], len(codes)) == wanted


def test_which_tuple_is_drawn_is_uniform():
    """Over many draws each row of each group comes up as often as any, in six standard deviations."""
    axis = build_range_domain("x", "numeric", "Int64", ["0", "1", "2"], np.arange(3), null=False)
    counts = np.array([3, 1, 2, 4])
    cells = Cells((axis,), (), np.zeros((4, 1), np.int32), np.zeros((4, 0), np.int32), counts)
    groups = np.array([0, 1, 0, 1])
    rng = Random.from_seed(2).stream("x")
    times = 6000
    seen = np.zeros(10)
    for _ in range(times):
        place, cell = draw_row_of_each(cells, groups, rng)
        assert groups[cell].tolist() == [0, 1]
        seen[place] += 1
    row_group = np.repeat(groups, counts)
    assert seen[row_group == 0].sum() == seen[row_group == 1].sum() == times
    assert (np.abs(seen - times / 5) < 6 * np.sqrt(times * 0.2 * 0.8)).all()


def test_every_choice_of_as_many_rows_is_drawn_as_often():
    """Groups of five and seven rows, k = 2: two and three rows each, all pairs and all triples alike, in six standard deviations."""
    axis = build_range_domain("x", "numeric", "Int64", ["0", "1", "2"], np.arange(3), null=False)
    counts = np.array([3, 1, 2, 6])
    cells = Cells((axis,), (), np.zeros((4, 1), np.int32), np.zeros((4, 0), np.int32), counts)
    groups = np.array([0, 1, 0, 1])
    rng = Random.from_seed(2).stream("x")
    times = 7000
    seen = Counter()
    for _ in range(times):
        place, cell = draw_share_of_rows(cells, groups, 2, rng)
        assert groups[cell].tolist() == [0, 0, 1, 1, 1]
        assert np.array_equal(cell, np.repeat(np.arange(4), counts)[place])
        seen[tuple(sorted(place[:2].tolist()))] += 1
        seen[tuple(sorted(place[2:].tolist()))] += 1
    for rows, size in (([0, 1, 2, 4, 5], 2), ([3, 6, 7, 8, 9, 10, 11], 3)):
        choices = list(combinations(rows, size))
        share = 1 / len(choices)
        assert sum(seen[choice] for choice in choices) == times
        assert all(abs(seen[c] - times * share) < 6 * np.sqrt(times * share * (1 - share)) for c in choices)


def test_a_job_that_draws_one_row_publishes_the_bytes_of_earlier_versions():
    """Digests of data, manifest and README by the version before there was a choice."""
    digests = []
    for more in ({}, {"grouping": "specialization", "categories": [["0", "1"], ["2", "3", "4"]]}):
        method = rt.PerturbedGeneralization(k=4, draw="one", **more)
        release = rt.publish(job(method=method, release=rt.Output(format="csv")), frame=TABLE, seed=1)
        for name in ("data.csv", "manifest.json", "README.md"):
            digests.append(hashlib.sha256((release.folder / name).read_bytes()).hexdigest()[:16])
    assert digests == [
        "fe899c779a7c48eb",
        "f5886e92e0b8b7e2",
        "eadd3df31fcd1edd",
        "c50854a5a2b0d85a",
        "3f8f49a7a90dadf6",
        "1e3f9eca686bfa2a",
    ]


@pytest.mark.parametrize("how", [{}, {"draw": "many"}])
def test_every_label_publishes_its_size_over_k_rows_unless_one_is_asked_for(how):
    dense = TABLE.with_columns(a=pl.col("a") // 7)
    frame = rt.publish(job(method=rt.PerturbedGeneralization(k=4, **how)), frame=dense, seed=1).frame()
    labels = frame.group_by("a", "b").agg(pl.len(), pl.col("G").unique())
    assert labels["G"].list.len().to_list() == [1] * len(labels)
    assert (labels["len"] == labels["G"].list.first() // 4).all()
    assert labels["len"].max() > 1
    assert labels["G"].list.first().sum() == len(dense)
    single = rt.publish(job(method=rt.PerturbedGeneralization(k=4, draw="one")), frame=dense, seed=1).frame()
    assert len(single) == len(labels) < len(frame)


def test_more_rows_of_a_label_make_a_count_more_certain():
    rng = np.random.default_rng(4)
    dense = pl.DataFrame({"a": rng.integers(0, 8, 3000), "s": rng.choice(5, 3000, p=[0.5, 0.2, 0.1, 0.1, 0.1])})
    columns = {"a": rt.quasi(), "s": rt.sensitive(domain=[0, 4])}
    errors = {}
    for draw in ("one", "many"):
        method = rt.PerturbedGeneralization(k=4, draw=draw)
        found = rt.publish(job(columns=columns, method=method), frame=dense, seed=1).count(values=[0])
        truth = dense.filter(pl.col("s") == 0).height
        assert abs(found.estimate - truth) < 4 * found.std_error
        errors[draw] = found.std_error
    assert errors["many"] < errors["one"] / 5


def unrefuted(found) -> bool:
    """The source explains the release; so few groups cannot show more, and the promise stays undecided."""
    (test,) = found.source.findings
    return test.passed and found.kept is None and not test.facts["drawn"]["telling"]


@pytest.mark.parametrize(
    "how",
    [
        {"k": 4},
        {"s": "0.25"},
        {"k": 4, "cuts": "median"},
        {"k": 4, "p": "0.2"},
        {"k": 4, "grouping": "specialization", "categories": [["0", "1"], ["2", "3", "4"]]},
    ],
)
def test_every_way_publishes_audits_and_is_attacked(how, tmp_path):
    release = rt.publish(job(method=rt.PerturbedGeneralization(**how)), frame=TABLE, seed=1)
    frame = release.frame()
    assert len(frame) <= len(TABLE) / 4
    assert release.manifest.withheld == 0
    found = rt.audit(release, source=TABLE)
    assert unrefuted(found)
    assert found.achieved["k-anonymity"] >= 4
    assert found.achieved["rho-guarantee"] <= 0.6
    assert rt.audit(release).kept is None
    attacked = rt.attack(release, TABLE, "corruption", lambda_="0.4", rho1="0.3")
    assert attacked.worst_posterior <= attacked.bound <= attacked.bound_theorem2
    assert attacked.worst_growth <= attacked.growth_bound


def test_p_left_out_is_the_largest_that_keeps_every_promise():
    promises = [RHO, rt.DeltaGrowth("0.2", "0.3")]
    p = Fraction(str(rt.publish(job(promises=promises), frame=TABLE, seed=1).manifest.own["p"]))
    assert all(promise.holds(p, 4, 5) for promise in promises)
    assert not all(promise.holds(p + Fraction(1, 10**6), 4, 5) for promise in promises)


@pytest.mark.parametrize("rho2", ["0.35", "0.5", "0.75", "0.99"])
def test_k_left_out_is_the_one_at_which_p_is_nearly_a_half(rho2):
    """(1 - p1) / p1, rounded, with p1 the largest p that k = 1 allows; at least 1."""
    promise = rt.RhoGuarantee("0.2", rho2, "0.4")
    method = rt.PerturbedGeneralization()
    own = rt.publish(job(promises=[promise], method=method), frame=TABLE, seed=1).manifest.own
    alone = max(Fraction(n, 10**6) for n in range(1, 10**6, 997) if promise.holds(Fraction(n, 10**6), 1, 5))
    assert abs(own["k"] - max(1, float((1 - alone) / alone))) < 0.6
    assert promise.holds(Fraction(str(own["p"])), own["k"], 5)
    if own["k"] > 2:
        assert abs(own["p"] - 0.5) < 0.1
    assert (
        rt.publish(job(promises=[promise], method=method), frame=TABLE, seed=1).manifest.method.parameters["k"]
        == own["k"]
    )


def test_the_chosen_k_has_the_least_variance_of_all():
    """A count's variance goes as k / p^2 with the largest p of k."""
    promise = rt.RhoGuarantee("0.2", "0.4", "0.2")
    chosen = choose_group_size([promise], 40)
    variance = {k: k / float(find_largest_retention([promise], k, 40)) ** 2 for k in range(1, 4 * chosen)}
    assert min(variance, key=variance.get) in (chosen - 1, chosen, chosen + 1)
    assert all(variance[k] < 1.13 * variance[chosen] for k in range(chosen // 2 + 1, 2 * chosen))


def test_k_left_out_stays_six_for_one_row_of_each_group_and_for_specialization():
    specialized = {"grouping": "specialization", "categories": [["0", "1"], ["2", "3", "4"]]}
    assert rt.PerturbedGeneralization(draw="one").k == rt.PerturbedGeneralization(**specialized).k == 6
    assert rt.PerturbedGeneralization().k is None


def test_check_says_what_is_drawn_and_how_certain_a_count_is():
    found = rt.check(job(), frame=TABLE, seed=1)
    release = rt.publish(job(), frame=TABLE, seed=1)
    drawn = found.methods[0].drawn
    assert (drawn["k"], drawn["p"], drawn["rows"]) == (4, release.manifest.own["p"], len(release.frame()))
    assert drawn["std_error"] == pytest.approx(200 * drawn["std_error_share"])
    assert found.to_dict()["methods"][0]["drawn"] == drawn
    other = rt.check(
        rt.Job(columns={"a": rt.quasi(), "b": rt.quasi(), "s": rt.sensitive()}, promises=[rt.KAnonymity(3)]),
        frame=TABLE,
    )
    assert "drawn" not in other.to_dict()["methods"][0]


def test_the_expected_error_of_a_count_is_that_of_the_answer_where_the_value_has_a_tenth():
    rng = np.random.default_rng(4)
    dense = pl.DataFrame({"a": rng.integers(0, 8, 6000), "s": rng.permutation(np.repeat(np.arange(10), 600))})
    asked = job(columns={"a": rt.quasi(), "s": rt.sensitive(domain=[0, 9])}, method=rt.PerturbedGeneralization(k=5))
    expected = rt.check(asked, frame=dense, seed=1).methods[0].drawn["std_error"]
    stated = rt.publish(asked, frame=dense, seed=1).count(values=[3]).std_error
    assert stated == pytest.approx(expected, rel=0.1)
    said = rt.calibrate("perturbed-generalization", k=5, lambda_="0.4", rho1="0.3", rho2="0.6", domain=10, rows=6000)
    assert said["std_error"] == pytest.approx(expected, rel=0.05)
    assert said["published"] == 1200


def test_specialization_is_calibrated_with_k_1():
    how = {"grouping": "specialization", "categories": [["0", "1"], ["2", "3", "4"]]}
    ps = [
        rt.publish(job(method=rt.PerturbedGeneralization(k=4, **more)), frame=TABLE, seed=1).manifest.own["p"]
        for more in (how, {})
    ]
    assert ps[0] < ps[1]
    assert RHO.holds(Fraction(str(ps[0])), 1, 5)
    assert not RHO.holds(Fraction(str(ps[1])), 1, 5)


def repeated(rows: int) -> tuple[pl.DataFrame, dict]:
    table = TABLE.with_columns(who=pl.int_range(pl.len()) // rows)
    return table, {**COLUMNS, "who": rt.identifying(rows_per_person=rows)}


@pytest.mark.parametrize("promise", [RHO, rt.DeltaGrowth("0.3", "0.4")], ids=lambda promise: promise.name)
@pytest.mark.parametrize("method", [{"k": 4}, {}, {"draw": "one", "k": 3}], ids=str)
@pytest.mark.parametrize("rows", [2, 3])
def test_of_persons_with_several_rows_p_is_the_largest_that_keeps_the_promise_for_all_of_them(promise, method, rows):
    """Groups have k people's rows, one row in so many is drawn, and the audit's own formula says that the promise is kept."""
    table, columns = repeated(rows)
    made = job(columns=columns, promises=[promise], method=rt.PerturbedGeneralization(**method))
    release = rt.publish(made, frame=table, seed=1)
    p, k = Fraction(str(release.manifest.own["p"])), release.manifest.own["k"]
    assert promise.holds(p, k, 5, rows)
    assert not promise.holds(p + Fraction(1, 10**6), k, 5, rows)
    assert p < find_largest_retention([promise], k * rows, 5)
    sizes = release.frame()["G"]
    assert sizes.min() >= k * rows
    assert release.manifest.rows_per_person == rows
    groups = release.frame().group_by("a", "b").agg(pl.len(), pl.col("G").first())
    if method.get("draw") != "one":
        assert (groups["len"] == groups["G"] // (k * rows)).all()
    assert rt.audit(release, source=table).kept is not False
    assert rt.audit(release).kept is not False
    estimate = release.count(values=[0, 1])
    true = table.filter(pl.col("s") < 2).height
    assert abs(estimate.estimate - true) < 5 * estimate.std_error
    found = rt.attack(release, table, "corruption", lambda_="0.4", rho1="0.3").to_dict()
    assert found["worst_posterior"] <= found["bound"]
    assert found["bound_theorem2"] is None
    if promise is RHO:
        assert found["bound"] <= 0.6


def test_persons_with_several_rows_may_be_specialized():
    table, columns = repeated(2)
    method = rt.PerturbedGeneralization(k=4, grouping="specialization", categories=[["0", "1"], ["2", "3", "4"]])
    release = rt.publish(job(columns=columns, method=method), frame=table, seed=1)
    assert RHO.holds(Fraction(str(release.manifest.own["p"])), 1, 5, 2)
    assert rt.audit(release).kept is not False


@pytest.mark.parametrize("act", [rt.publish, rt.check, rt.plan])
def test_persons_with_more_rows_than_odds_are_multiplied_over_are_refused(act):
    columns = {**COLUMNS, "who": rt.identifying(rows_per_person=1001)}
    with pytest.raises(ReticentError, match="not calibrated for persons with 1001 rows"):
        act(job(columns=columns), frame=TABLE.with_row_index("who"))


@pytest.mark.parametrize("act", [rt.publish, rt.check, rt.plan])
def test_an_undeclared_domain_is_refused_and_no_value_that_occurs_is_proposed(act):
    """The domain is published: a value in it that nobody else has is the victim's."""
    table = TABLE.with_columns(s=pl.lit("secret-") + pl.col("s").cast(pl.String))
    with pytest.raises(ReticentError, match="needs a declared domain of the sensitive column 's'") as refused:
        act(job(columns={**COLUMNS, "s": rt.sensitive()}), frame=table)
    assert "secret" not in str(refused.value)
    act(job(columns={**COLUMNS, "s": rt.sensitive(domain=[f"secret-{n}" for n in range(9)])}), frame=table)


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ([], "list of values"),
        (["a"], "one value alone"),
        (["a", "b", "a"], "twice"),
        ("ab", "list of values"),
        (["0", "1", "x"], "not in the domain"),
        ([0, 10**7], "10,000,001 whole numbers"),
        (["0", "1", "2", "3", "4", "five"], "cannot hold"),
    ],
)
def test_a_declared_domain_that_makes_no_sense_is_refused(declared, says):
    with pytest.raises(ReticentError, match=says):
        rt.publish(job(columns={**COLUMNS, "s": rt.sensitive(domain=declared)}), frame=TABLE)


@pytest.mark.parametrize(
    "column", [rt.sensitive(order=list("01234x")), rt.sensitive(hierarchy=[[value, "*"] for value in "01234x"])]
)
def test_a_text_among_the_numbers_that_are_declared_is_refused_without_quoting_it(column):
    with pytest.raises(ReticentError, match="cannot hold") as refused:
        rt.publish(job(columns={**COLUMNS, "s": column}), frame=TABLE)
    assert "'x'" not in str(refused.value)


@pytest.mark.parametrize("form", ["csv", "frame"])
@pytest.mark.parametrize("lists", ["column", "method"])
@pytest.mark.parametrize("values", [["1", "2", "x"], ["10", "11", "01"], ["1", "2", "2.5"], ["1", "2", "1" + "0" * 19]])
def test_the_type_of_the_sensitive_column_does_not_tell_which_values_occur(values, lists, form, tmp_path):
    """Nobody but the victim may have the last value: the release says the same of the column whether they do."""
    described = []
    for victims_value in values[1:]:
        table = pl.DataFrame({"a": [1, 2, 3, 4] * 10, "s": [victims_value] + [values[0], values[1], values[1]] * 13})
        domain = {"domain": values} if lists == "column" else {}
        columns = {"a": rt.quasi(), "s": rt.sensitive(**domain)}
        method = rt.PerturbedGeneralization(k=4, domain=values if lists == "method" else None)
        changes = {"columns": columns, "method": method}
        if form == "csv":
            table.write_csv(tmp_path / "source.csv")
            release = rt.publish(job(source=tmp_path / "source.csv", **changes), seed=1)
        else:
            release = rt.publish(job(**changes), frame=table, seed=1)
        entry = release.manifest.sensitive
        described.append((entry, release.frame().schema, release.manifest.own["domain"]))
        assert entry.dtype == "String"
    assert described[0] == described[1]


def test_a_domain_with_one_number_in_two_spellings_is_refused():
    columns = {**COLUMNS, "s": rt.sensitive(type="numeric", domain=["0", "1", "2", "3", "4", "01"])}
    with pytest.raises(ReticentError, match="lists a value twice"):
        rt.publish(job(columns=columns), frame=TABLE)


def test_a_job_file_declares_a_domain_by_a_list_and_reads_it_back(tmp_path):
    asked = job(columns={**COLUMNS, "s": rt.sensitive(domain=[0, 1, 2, 3, 4, 7])})
    (tmp_path / "job.toml").write_text(asked.to_toml())
    assert rt.Job.read(tmp_path / "job.toml").columns["s"].domain == tuple("012347")
    release = rt.publish(asked, frame=TABLE, seed=1)
    assert release.manifest.own["declared"] == "list"
    assert rt.audit(release, job=asked).disagreements == ()
    other = job(columns={**COLUMNS, "s": rt.sensitive(domain=[0, 9])})
    assert any("domain of 's'" in said for said in rt.audit(release, job=other).disagreements)


def test_a_domain_that_looks_as_if_it_was_taken_from_the_table_is_warned_of():
    one = TABLE.with_columns(s=pl.when(pl.int_range(pl.len()) == 3).then(9).otherwise("s"))
    taken = job(columns={**COLUMNS, "s": rt.sensitive(domain=[0, 1, 2, 3, 4, 9])})
    wider = job(columns={**COLUMNS, "s": rt.sensitive(domain=[0, 1, 2, 3, 4, 5, 9])})
    assert any("1 of them has one holder" in said for said in rt.check(taken, frame=one).warnings)
    assert any("1 of them has one holder" in said for said in rt.publish(taken, frame=one).notices)
    assert not any("one holder" in said for said in rt.check(wider, frame=one).warnings)


@pytest.mark.parametrize(
    ("sensitive", "how", "size", "declared"),
    [
        (rt.sensitive(domain=[0, 8]), {}, 9, "range"),
        (rt.sensitive(domain=[0, 1, 2, 3, 4, 20]), {}, 6, "list"),
        (rt.sensitive(), {"domain": list("01234567")}, 8, "list"),
        (rt.sensitive(order=list("012345")), {}, 6, "order"),
        (rt.sensitive(hierarchy=[[v, "low" if v < "3" else "high", "*"] for v in "0123456"]), {}, 7, "hierarchy"),
    ],
)
def test_the_domain_is_the_declared_one_and_the_readme_says_which(sensitive, how, size, declared):
    table = TABLE.with_columns(pl.col("s").cast(pl.String))
    release = rt.publish(
        job(columns={**COLUMNS, "s": sensitive}, method=rt.PerturbedGeneralization(k=4, **how)), frame=table, seed=1
    )
    assert len(release.manifest.own["domain"]) == size
    said = " ".join((release.folder / "README.md").read_text().split())
    assert release.manifest.own["declared"] == declared
    assert "whichever of" in said
    assert "Absurd rows" in said
    assert "weight each row by `G`" in said
    assert "orruption" in said
    assert unrefuted(rt.audit(release, source=table))


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: rt.PerturbedGeneralization(p=0), "between 0 and 1"),
        (lambda: rt.PerturbedGeneralization(p=1), "between 0 and 1"),
        (lambda: rt.PerturbedGeneralization(p="1.2"), "between 0 and 1"),
        (lambda: rt.PerturbedGeneralization(s=0), "above 0 and at most 1"),
        (lambda: rt.PerturbedGeneralization(s="1.5"), "above 0 and at most 1"),
        (lambda: rt.PerturbedGeneralization(k=0), "k >= 1"),
        (lambda: rt.PerturbedGeneralization(k=2, s="0.5"), "not both"),
        (lambda: rt.PerturbedGeneralization(grouping="incognito"), "not known"),
        (lambda: rt.PerturbedGeneralization(grouping="specialization"), "belong together"),
        (lambda: rt.RhoGuarantee("0.4", "0.4", "0.1"), "rho1 < rho2"),
        (lambda: rt.RhoGuarantee("0.4", "0.3", "0.1"), "rho1 < rho2"),
        (lambda: rt.RhoGuarantee("0.1", "0.3", 1), "no protection is possible"),
        (lambda: rt.DeltaGrowth("0.1", 1), "no protection is possible"),
        (lambda: rt.DeltaGrowth("0.1", "1.5"), "between 0 and 1"),
        (lambda: rt.DeltaGrowth(0, "0.5"), "above 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(made, says):
    with pytest.raises(ReticentError, match=says):
        made()


@pytest.mark.parametrize(
    ("changes", "table", "says"),
    [
        ({"promises": [rt.DeltaGrowth("0.3", "0.1")]}, TABLE, r"below 1/5"),
        (
            {"columns": {**COLUMNS, "s": rt.sensitive(domain=[1, 1])}},
            TABLE.with_columns(s=pl.lit(1)),
            "domain of one value",
        ),
        (
            {"columns": {**COLUMNS, "s": rt.sensitive(domain=[0, 5])}},
            TABLE.with_columns(s=pl.col("s") + 0.5),
            "binning",
        ),
        (
            {"columns": {**COLUMNS, "s": rt.sensitive(domain=[0, 600])}},
            TABLE.with_columns(s=pl.int_range(pl.len()) * 3),
            "binning",
        ),
        ({}, TABLE.with_columns(s=pl.when(pl.col("s") > 0).then(pl.col("s"))), "missing in|null|missing"),
        (
            {"columns": {**COLUMNS, "s": rt.sensitive(missing="category", domain=[0, 4])}},
            TABLE.with_columns(s=pl.when(pl.col("s") > 0).then(pl.col("s"))),
            "missing in",
        ),
        (
            {"columns": {**COLUMNS, "b": rt.sensitive()}, "promises": [rt.RhoGuarantee("0.3", "0.6", "0.4", "s")]},
            TABLE,
            "one sensitive column",
        ),
        ({"columns": {**COLUMNS, "b": rt.insensitive()}}, TABLE, "carries no insensitive"),
        ({"method": rt.PerturbedGeneralization(k=201)}, TABLE, "cannot be made of 200"),
        ({"method": rt.PerturbedGeneralization(k=4, p="0.9")}, TABLE, "does not keep"),
        ({"method": rt.PerturbedGeneralization(k=4, domain=["0", "1"])}, TABLE, "not in the domain"),
        (
            {"method": rt.PerturbedGeneralization(k=4, grouping="specialization", categories=[["0"], ["1"]])},
            TABLE,
            "leave out 3",
        ),
        (
            {"columns": {"G": rt.quasi(), "b": rt.quasi(), "s": rt.sensitive()}},
            TABLE.rename({"a": "G"}),
            "one of its own by that name",
        ),
        ({"promises": [rt.KAnonymity(3)]}, TABLE, "cannot keep k-anonymity"),
        ({"prepare": [rt.Suppression(l=2)]}, TABLE, "takes no preparing stage"),
        ({"release": rt.Output(suppress_at_most="0.1")}, TABLE, "suppress_at_most"),
    ],
)
def test_bad_input_writes_nothing(changes, table, says, tmp_path):
    with pytest.raises(ReticentError, match=says):
        rt.publish(job(**changes), frame=table, to=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("act", [rt.publish, rt.check, rt.plan])
def test_a_rare_pattern_of_missing_values_names_the_columns_to_withhold_and_that_works(act):
    """Two rows lack a, 40 lack b and one of them lacks both: withholding the two rows without a leaves only frequent patterns."""
    lacks_a = pl.int_range(pl.len()).is_in([3, 50])
    lacks_b = pl.int_range(pl.len()).is_between(40, 79)
    table = TABLE.with_columns(a=pl.when(~lacks_a).then("a"), b=pl.when(~lacks_b).then("b"))
    if act is rt.check:
        assert not rt.check(job(), frame=table).reachable
        said = rt.check(job(), frame=table).methods[0].why
    else:
        with pytest.raises(rt.PromiseUnreachable) as refused:
            act(job(), frame=table)
        said = str(refused.value)
    assert "missing = \"withhold\" of 'a' (2 rows of 200 would be withheld)" in said
    assert "of 4 such patterns 2 have fewer than 4 rows: 2 rows in all" in said
    advised = job(columns={**COLUMNS, "a": rt.quasi(missing="withhold")})
    act(advised, frame=table)
    release = rt.publish(advised, frame=table, seed=1)
    assert release.manifest.withheld == 2
    assert rt.audit(release, source=table).source.findings[0].passed
    act(job(method=rt.PerturbedGeneralization(k=1, draw="one")), frame=table)


@pytest.mark.parametrize("missing", ["refuse", "category", "withhold"])
@pytest.mark.parametrize("act", [rt.publish, rt.check, rt.plan])
def test_a_missing_sensitive_value_is_refused_with_advice_that_the_method_takes(act, missing):
    """Neither a category of its own nor withholding hides who had none, so none of both is advised."""
    table = TABLE.with_columns(s=pl.when(pl.int_range(pl.len()) != 7).then("s"))
    columns = {**COLUMNS, "s": rt.sensitive(domain=[0, 4], missing=missing)}
    with pytest.raises(ReticentError) as refused:
        act(job(columns=columns), frame=table)
    assert refused.value.attempt == "a value of their own for these rows in the source."
    if missing != "withhold":  # which no row has to be read for
        with pytest.raises(ReticentError, match="without saying who had none"):
            rt.count(job(columns=columns), frame=table)
    act(
        job(columns={**COLUMNS, "s": rt.sensitive(domain=[-1, 4])}), frame=table.with_columns(pl.col("s").fill_null(-1))
    )


def test_the_same_release_is_read_from_csv_and_parquet(tmp_path):
    frames = []
    for form in ("csv", "parquet"):
        release = rt.publish(job(release=rt.Output(format=form)), frame=TABLE, seed=4)
        frames.append(rt.open(release.save(tmp_path / form, again=True)).frame(bounds=True))
        assert unrefuted(rt.audit(tmp_path / form, source=TABLE))
    assert frames[0].equals(frames[1])
    assert {"a_lower", "a_upper", "G"} <= set(frames[0].columns)
