"""Figures 1 to 6 of the paper, and two of ours.  Each yields rows: what varies, a `method`, the figure, and more beside it.

Parameters are those of table V; `mondrian` cuts at medians, as in the paper.  Whatever is drawn is seeded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

import reticent as rt
from reticent.models.background_knowledge.posteriors import (
    POSTERIOR_ROUNDS,
    compute_exact_posteriors,
    compute_js_divergence,
    compute_scaled_posteriors,
)
from reticent.utility.workload import Workload, mean_relative_error
from studies.background.tables import (
    METHODS,
    PARAMETERS,
    QUASI,
    SHARED,
    adversary,
    cells,
    job,
    learned,
    people,
    planned,
    promise,
)

Row = dict[str, object]
KNOWN = (0.2, 0.3, 0.4, 0.5)
__all__ = ["FIGURES", "SHARED"]


def _vulnerable(para: int, b: float, x: float | int, name: str) -> Iterator[Row]:
    _, l, t, _ = PARAMETERS[para]  # noqa: E741  the field's own letter
    for method in METHODS:
        risk, belief, many = learned(planned(method, para).recipe.as_groups(), adversary(b))
        yield {
            name: x,
            "method": method,
            "risk above t": int(many[risk > t].sum()),
            "posterior above 1/l": int(many[belief > 1 / l].sum()),
            "worst risk": float(risk.max()),
        }


def figure_1a() -> Iterator[Row]:
    """vulnerable people by the adversary's b', para1"""
    for b in KNOWN:
        yield from _vulnerable(1, b, b, "b'")


def figure_1b() -> Iterator[Row]:
    """vulnerable people by privacy parameters, b' = 0.3"""
    for para in PARAMETERS:
        yield from _vulnerable(para, 0.3, para, "para")


def figure_2() -> Iterator[Row]:
    """average distance error of Omega and balanced in random groups of N people, b = 0.3, 100 groups each"""
    known = adversary(0.3)
    rng = np.random.default_rng(2)
    point = np.repeat(cells().point, cells().counts)
    value = np.repeat(cells().values[:, 0], cells().counts)
    for size in (3, 4, 5, 6, 8, 10, 12, 15):
        error: dict[str, list[float]] = {name: [] for name in POSTERIOR_ROUNDS}
        spent = dict.fromkeys(("exact", *POSTERIOR_ROUNDS), 0.0)
        for _ in range(100):
            drawn = rng.choice(len(point), size, replace=False)
            prior = known.prior[point[drawn]]
            counts = np.bincount(value[drawn], minlength=known.values)
            began = time.process_time()
            truth = compute_js_divergence(compute_exact_posteriors(prior, np.ones(size, np.int64), counts), prior)
            spent["exact"] += time.process_time() - began
            for name, rounds in POSTERIOR_ROUNDS.items():
                began = time.process_time()
                near = compute_scaled_posteriors(prior, np.array([0, size]), np.ones(size), counts[None, :], rounds)
                spent[name] += time.process_time() - began
                error[name].append(float(np.abs(compute_js_divergence(near, prior) - truth).mean()))
        for name in POSTERIOR_ROUNDS:
            yield {
                "N": size,
                "method": name,
                "average distance error": float(np.mean(error[name])),
                "greatest": float(np.max(error[name])),
                "CPU ms a group": 10 * spent[name],
                "exact CPU ms a group": 10 * spent["exact"],
            }


def figure_3a() -> Iterator[Row]:
    """worst risk of (B,t)-private tables by b, for adversaries b', para1"""
    for b in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5):
        groups = planned("(B,t)-privacy", 1, b).recipe.as_groups()
        for known in KNOWN:
            yield {"b": b, "method": f"b' = {known}", "worst risk": float(learned(groups, adversary(known))[0].max())}


def figure_3b() -> Iterator[Row]:
    """worst risk for b' = 0.3 of tables made for (b1, b1, b1, b2, b2, b2), para1"""
    steps = (0.2, 0.3, 0.4, 0.5)
    for b1 in steps:
        for b2 in steps:
            b = tuple((name, b1 if at < 3 else b2) for at, name in enumerate(QUASI))
            groups = planned("(B,t)-privacy", 1, b).recipe.as_groups()
            yield {"b1": b1, "method": f"b2 = {b2}", "worst risk": float(learned(groups, adversary(0.3))[0].max())}


def figure_4a() -> Iterator[Row]:
    """CPU seconds to plan by privacy parameters, priors included for (B,t)-privacy"""
    for para in PARAMETERS:
        for method in METHODS:
            asked = job([rt.KAnonymity(PARAMETERS[para][0]), promise(method, para)])
            found = [rt.plan(asked, cells=cells(), seed=1).seconds for _ in range(3)]
            yield {"para": para, "method": method, "CPU s": min(found)}


def figure_4b() -> Iterator[Row]:
    """CPU seconds to compute prior beliefs by rows"""
    from reticent.models.background_knowledge.bt_privacy import bind_adversaries

    for rows in (10_000, 15_000, 20_000, 25_000, 30_000):
        for b in KNOWN:
            found = []
            for _ in range(3):
                began = time.process_time()
                ((_, known),) = bind_adversaries(rt.BTPrivacy(str(b), 0.5), cells(rows))
                assert len(known.prior)
                found.append(time.process_time() - began)
            yield {"rows": rows, "method": f"b = {b}", "CPU s": min(found)}


def figure_5a() -> Iterator[Row]:
    """discernibility metric by privacy parameters"""
    for para in PARAMETERS:
        for method in METHODS:
            sizes = planned(method, para).sizes
            yield {"para": para, "method": method, "DM": int((sizes**2).sum()), "groups": len(sizes)}


def figure_5b() -> Iterator[Row]:
    """global certainty penalty by privacy parameters"""
    for para in PARAMETERS:
        for method in METHODS:
            yield {"para": para, "method": method, "GCP": planned(method, para).loss}


def _errors(x: float | int, name: str, predicates: int, selectivity: float) -> Iterator[Row]:
    sizes = [domain.size for domain in (*cells().quasi, *cells().sensitive)]
    rng = np.random.default_rng(6)
    asked = Workload.draw(sizes, predicates=predicates, selectivity=selectivity, queries=1000, rng=rng)
    true = asked.exact(cells())
    for method in METHODS:
        estimate = asked.generalized(planned(method, 1).boxes)
        yield {name: x, "method": method, "mean relative error": mean_relative_error(estimate, true)}


def figure_6a() -> Iterator[Row]:
    """mean relative error by query dimension, selectivity 0.07, para1"""
    for dimension in (2, 3, 4, 5, 6):
        yield from _errors(dimension, "dimension", dimension, 0.07)


def figure_6b() -> Iterator[Row]:
    """mean relative error by selectivity, dimension 3, para1"""
    for selectivity in (0.03, 0.05, 0.07, 0.1, 0.12):
        yield from _errors(selectivity, "selectivity", 3, selectivity)


def mean_of_priors() -> Iterator[Row]:
    """how far the mean of the priors over the table is from its distribution (errata 10)"""
    share = cells().totals(0) / cells().rows
    for b in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 3.0):
        known = adversary(b)
        mean = (known.prior * known.people[:, None]).sum(axis=0) / known.people.sum()
        yield {"b": b, "method": "mean of priors", "largest difference": float(np.abs(mean - share).max())}


def other_methods() -> Iterator[Row]:
    """people above t = 0.2 by the adversary's b', in releases of other methods at equal promises"""
    made = {
        "mondrian, t = .2": ([rt.TCloseness("0.2")], rt.Mondrian()),
        "mosaic, t = .2": ([rt.TCloseness("0.2")], rt.Mosaic(effort="quick")),
        "sabre, t = .2": ([rt.TCloseness("0.2")], rt.Sabre()),
        "mondrian, beta = 2": ([rt.BetaLikeness(2)], rt.Mondrian()),
        "mosaic, beta = 2": ([rt.BetaLikeness(2)], rt.Mosaic(effort="quick")),
        "burel, beta = 2": ([rt.BetaLikeness(2)], rt.Burel()),
        "mondrian, l = 4": ([rt.ProbabilisticLDiversity(4)], rt.Mondrian()),
        "mosaic, l = 4": ([rt.ProbabilisticLDiversity(4)], rt.Mosaic(effort="quick")),
        "anatomy, l = 4": ([rt.ProbabilisticLDiversity(4)], rt.Anatomy()),
        "mondrian, (.3, .2)": ([rt.BTPrivacy("0.3", "0.2", posterior="omega")], rt.Mondrian()),
    }
    for name, (promises, method) in made.items():
        release = rt.publish(job(promises, method), frame=people(), seed=1)
        for b in KNOWN:
            found = rt.attack(release, people(), "background", bandwidth=str(b), t="0.2", smoothing=0).to_dict()
            yield {
                "b'": b,
                "method": name,
                "vulnerable": found["vulnerable"],
                "worst risk": found["worst_risk"],
                "membership": found["membership"],
            }


FIGURES: dict[str, Callable[[], Iterator[Row]]] = {
    "1a": figure_1a, "1b": figure_1b, "2": figure_2, "3a": figure_3a, "3b": figure_3b, "4a": figure_4a, "4b": figure_4b,
    "5a": figure_5a, "5b": figure_5b, "6a": figure_6a, "6b": figure_6b, "mean-of-priors": mean_of_priors,
    "other-methods": other_methods,
}  # fmt: skip
