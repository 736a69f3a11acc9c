"""Parameters of 18 to 40 digits, as near as such digits can say to what groups achieve: judged as the oracle's fractions judge them.

A parameter of so many digits does not fit 64 bits, and a group of 2^40 rows times one does not either.  A promise is judged while
planning (`allow`) and by the audit, and both must agree with the oracle.
"""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent import registry
from reticent.audit import audit
from reticent.data.columns import Column, Role
from reticent.errors import JobError, PromiseUnreachable, RequestError
from tests.oracle import measures as oracle
from tests.support import strategies
from tests.support.group_tables import ORDER, TREE, table_of
from tests.support.plain_groups import cells_of, verdicts

NEAR = {  # the parameter that is taken as near as can be to what is achieved, and what it achieves
    "alpha-k-anonymity": ("alpha", {"k": 2}, lambda groups, promise: oracle.alpha(groups)),
    "probabilistic-l-diversity": ("l", {}, lambda groups, promise: oracle.probabilistic_l(groups)),
    "entropy-l-diversity": ("l", {}, lambda groups, promise: Fraction(repr(oracle.entropy_l(groups)))),
    "recursive-l-diversity": ("c", {"l": 2}, lambda groups, promise: oracle.recursive_c(groups, 2)),
    "t-closeness": ("t", {}, lambda groups, promise: oracle.t_closeness(groups, **domain_of(promise))),
    "beta-likeness": ("beta", {}, lambda groups, promise: oracle.beta(groups, enhanced=promise["enhanced"])),
    "delta-disclosure": ("delta", {"base": 2}, lambda groups, promise: _delta(groups)),
}


def _delta(groups):
    achieved = oracle.delta(groups, base=2)
    return None if achieved is None else Fraction(repr(achieved))


def domain_of(promise):
    return {"distance": promise["distance"], "order": ORDER, "tree": TREE} if "distance" in promise else {}


@st.composite
def asked(draw, groups):
    """A promise whose parameter is what the groups achieve, rounded to so many digits, and one in the last place more or less."""
    model = draw(st.sampled_from(sorted(NEAR)))
    name, rest, achieves = NEAR[model]
    promise = {"model": model, **rest}
    if model == "t-closeness":
        promise["distance"] = draw(st.sampled_from(["equal", "ordered", "hierarchical"]))
    if model == "beta-likeness":
        promise["enhanced"] = draw(st.booleans())
    achieved = achieves(groups, promise)
    digits = draw(st.integers(18, 40))
    near = Fraction(1, 3) if achieved is None else achieved
    rounded = Fraction(int(near * 10**digits) + draw(st.integers(-1, 1)), 10**digits)
    return {**promise, name: str(rounded)}


def made(promise):
    """The promise, or None where its model refuses such a parameter, as 1 is refused for l."""
    try:
        return registry.make_promise(promise)
    except JobError:
        return None


@settings(max_examples=250, deadline=None)
@given(st.data(), st.sampled_from([6, 1 << 20, 1 << 28]))
def test_planning_judges_long_parameters_as_the_oracle_does(data, most):
    groups = data.draw(strategies.histograms(most_count=most))
    promise = data.draw(asked(groups))
    if most > 6 and promise["model"] == "entropy-l-diversity":
        return  # the oracle writes the powers down
    model = made(promise)
    if model is None:
        return
    allowed = bool(verdicts([model], cells_of(groups, TREE)).all())
    assert allowed == oracle.holds(
        groups=groups, **promise, **{k: v for k, v in domain_of(promise).items() if k != "distance"}
    )


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_the_audit_judges_long_parameters_as_the_oracle_does(data):
    groups = data.draw(strategies.histograms())
    promise = data.draw(asked(groups))
    if made(promise) is None:
        return
    columns = {"q": Column(Role.QUASI), "s": Column(Role.SENSITIVE, hierarchy=TREE, missing="category")}
    verdict = audit(table_of(groups), columns=columns, promises=[promise]).promises[0]
    assert verdict.kept == oracle.holds(
        groups=groups, **promise, **{k: v for k, v in domain_of(promise).items() if k != "distance"}
    )


THIRD = "0." + "3" * 40
HALF = "0.5" + "0" * 38 + "1"


def people(rows=600):
    place = [[f"a{at % 40}", at % 97, f"d{(at * at + at // 7) % 6}"] for at in range(rows)]
    return pl.DataFrame(place, schema=["town", "age", "disease"], orient="row")


PUBLISHED = {
    "mondrian, alpha": ({"model": "alpha-k-anonymity", "alpha": HALF, "k": 3}, "mondrian"),
    "mondrian, l": ({"model": "probabilistic-l-diversity", "l": "2.0000000000000000000000000000001"}, "mondrian"),
    "mondrian, entropy of 18 decimals": ({"model": "entropy-l-diversity", "l": "2.000000000000000001"}, "mondrian"),
    "mondrian, entropy of 20 decimals": ({"model": "entropy-l-diversity", "l": "2.00000000000000000001"}, "mondrian"),
    "mondrian, c": ({"model": "recursive-l-diversity", "c": "1." + "3" * 30, "l": 2}, "mondrian"),
    "mondrian, t": ({"model": "t-closeness", "t": THIRD}, "mondrian"),
    "mondrian, delta": ({"model": "delta-disclosure", "delta": "2." + "7" * 30, "absent": "ignore"}, "mondrian"),
    "mondrian, beta": ({"model": "beta-likeness", "beta": "1." + "7" * 35}, "mondrian"),
    "mondrian, bandwidth": ({"model": "bt-privacy", "bandwidth": THIRD, "t": HALF}, "mondrian"),
    "mosaic, l": ({"model": "probabilistic-l-diversity", "l": "2." + "1" * 30}, "mosaic"),
    "mosaic, t": ({"model": "t-closeness", "t": THIRD}, "mosaic"),
    "mosaic, entropy": ({"model": "entropy-l-diversity", "l": "2." + "1" * 30}, "mosaic"),
    "mosaic, beta": ({"model": "beta-likeness", "beta": "1." + "7" * 35}, "mosaic"),
    "mosaic, weights": (
        {"model": "k-anonymity", "k": 4},
        {"name": "mosaic", "weights": {"age": Fraction(10**30 + 1, 10**30)}},
    ),
    "burel": ({"model": "beta-likeness", "beta": "1." + "7" * 35}, {"name": "burel", "share": "0." + "9" * 40}),
    "sabre": ({"model": "t-closeness", "t": THIRD}, {"name": "sabre", "share": "0." + "9" * 40}),
    "sabre, ordered": ({"model": "t-closeness", "t": THIRD, "distance": "ordered"}, {"name": "sabre", "share": THIRD}),
    "anatomy": ({"model": "probabilistic-l-diversity", "l": "2." + "1" * 30}, "anatomy"),
    "anatomy, entropy": ({"model": "entropy-l-diversity", "l": "2." + "1" * 30}, "anatomy"),
    "beta-perturbation": (
        {"model": "beta-likeness", "beta": "1." + "7" * 35},
        {"name": "beta-perturbation", "conditioning": HALF},
    ),
    "distribution": (
        {"model": "p-privacy", "target": "uniform", "distance": "0.1" + "0" * 30 + "1"},
        {"name": "distribution", "group_by": ["town"], "fakes": "0." + "1" * 35},
    ),
    "distribution, weights": (
        {"model": "p-privacy", "target": {"weights": {f"d{at}": f"0.{at + 1}" + "3" * 30 for at in range(6)}}},
        "distribution",
    ),
    "distribution, nearest": (
        {"model": "p-privacy", "target": {"nearest": {"model": "t-closeness", "t": THIRD}}},
        "distribution",
    ),
    "perturbed-generalization": (
        {
            "model": "rho-guarantee",
            "rho1": "0.2" + "0" * 30 + "1",
            "rho2": "0.6" + "0" * 30 + "1",
            "lambda": "0.3" + "0" * 30 + "1",
        },
        {"name": "perturbed-generalization", "domain": [f"d{at}" for at in range(6)], "s": "0." + "1" * 30},
    ),
    "perturbed-generalization, growth": (
        {"model": "delta-growth", "delta": THIRD, "lambda": "0.3" + "0" * 30 + "1"},
        {"name": "perturbed-generalization", "domain": [f"d{at}" for at in range(6)]},
    ),
    "t = 1e-300": ({"model": "t-closeness", "t": 1e-300}, "mondrian"),
    "t = 1e-300, sabre": ({"model": "t-closeness", "t": 1e-300}, "sabre"),
    "t = 1e-300, mosaic": ({"model": "t-closeness", "t": 1e-300}, "mosaic"),
}
REFUSED = {  # beyond what any release could keep: said before anything is computed or written
    "l = 1e300": ({"model": "entropy-l-diversity", "l": "1e300"}, "mondrian"),
    "l of 20 digits": ({"model": "probabilistic-l-diversity", "l": 10**20}, "anatomy"),
    "k of 30 digits": ({"model": "k-anonymity", "k": 10**30}, "mondrian"),
    "k of 30 digits, mosaic": ({"model": "k-anonymity", "k": 10**30}, "mosaic"),
    "fakes of 20 digits": ({"model": "p-privacy", "target": "uniform"}, {"name": "distribution", "fakes": 10**20}),
    "arity of 20 digits": ({"model": "p-privacy", "target": "uniform"}, {"name": "distribution", "arity": 10**20}),
    "s = 1e-300": (
        {"model": "delta-growth", "delta": 0.5, "lambda": 0.3},
        {"name": "perturbed-generalization", "domain": [f"d{at}" for at in range(6)], "s": 1e-300},
    ),
}
COLUMNS = {"town": "quasi-identifying", "age": "quasi-identifying", "disease": "sensitive"}


def published(case, cases, folder):
    promise, method = cases[case]
    job = rt.Job(columns=COLUMNS, promises=[promise], method=method)
    return rt.publish(job, frame=people(300), to=folder, seed=1)


@pytest.mark.parametrize("case", PUBLISHED)
def test_a_job_with_long_parameters_is_published_and_audited(case, tmp_path):
    published(case, PUBLISHED, tmp_path / "out")
    assert rt.audit(tmp_path / "out", source=people(300)).kept is not False


@pytest.mark.parametrize("case", [case for case in PUBLISHED if "1e-300" in case])
def test_a_distance_of_next_to_nothing_leaves_one_group(case, tmp_path):
    release = published(case, PUBLISHED, tmp_path / "out")
    assert release.frame().select("town", "age").n_unique() == 1


@pytest.mark.parametrize("case", REFUSED)
def test_a_parameter_beyond_all_releases_is_refused_before_anything_is_written(case, tmp_path):
    with pytest.raises((JobError, PromiseUnreachable)):
        published(case, REFUSED, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_risk_threshold_of_many_digits_is_compared_exactly():
    """1 / 3 as a double has sixteen digits; times 2,768 they no longer fit 64 bits."""
    frame = pl.DataFrame({"town": ["large"] * 9_000 + ["small"] * 2})
    assert rt.risk(frame, quasi=["town"], threshold=1 / 3).prosecutor.at_risk == 2
    assert rt.risk(frame, quasi=["town"], threshold=Fraction(1, 9_000)).prosecutor.at_risk == 2
    assert rt.risk(frame, quasi=["town"], threshold=Fraction(10**40 - 1, 9_000 * 10**40)).prosecutor.at_risk == 9_002
    assert rt.risk(frame, quasi=["town"], threshold=0).prosecutor.at_risk == 9_002


def test_counts_that_no_table_has_are_refused_by_calibration():
    with pytest.raises(RequestError, match="add up to"):
        rt.calibrate("suppression", counts=[10**20, 2], l=2)
