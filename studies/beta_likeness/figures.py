"""Each figure and table as rows of plain numbers.  A figure is a function of the table's name, its rows and the number of queries.

Each is measured with five seeds.  A seed draws what BUREL, SABRE, mosaic and perturbation draw, the questions of figures 8 and 9,
and the rows of figure 7; Mondrian draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import reticent as rt
from studies.beta_likeness.plans import make, search
from studies.beta_likeness.tables import cells, most_quasi
from studies.jobs import job_for
from studies.seeds import SEEDS, Seeds

BETAS = (1, 2, 3, 4, 5)
GENERALIZING = ("burel", "burel, nearest", "lmondrian", "lmondrian, fallback", "dmondrian")
Row = dict[str, object]


class Questions(NamedTuple):
    """Random questions, the rows that each selects by value, and the true answers."""

    asked: rt.Workload
    selected: np.ndarray
    true: np.ndarray


def figure_4a(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
    """The same t: the beta that each method's classes reach."""
    table = cells(name, rows, 3)
    for beta, seed in product(BETAS, seeds):
        ours = make("burel", table, beta, seed)
        t = float(np.ceil(ours.closeness.max() * 1e6) / 1e6)
        if t == 0:  # one class: the table itself
            continue
        for method, made in (
            ("burel", ours),
            ("sabre", make("sabre", table, t, seed)),
            ("tmondrian", make("tmondrian", table, t, seed)),
        ):
            yield {"beta": beta, "t": t, "method": method, "seed": seed, "beta reached": made.beta}


def figure_4b(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
    """The same t, asked for first: BUREL's beta is searched."""
    table = cells(name, rows, 3)
    for seed, t in product(seeds, (0.05, 0.1, 0.15, 0.2, 0.25)):
        for method in ("sabre", "tmondrian"):
            yield {"t": t, "method": method, "seed": seed, "beta reached": make(method, table, t, seed).beta}
        found = search("burel", table, lambda made, t=t: made.closeness.max() <= t, 0.05, 8, seed)
        if found:
            yield {"t": t, "method": "burel", "seed": seed, "beta reached": found[1].beta}


def figure_4c(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
    """The same loss: parameters are searched for the least privacy within it."""
    table = cells(name, rows, 3)
    for seed, (method, low, high) in product(
        seeds, (("burel", 8, 0.1), ("sabre", 0.6, 0.02), ("tmondrian", 0.6, 0.005))
    ):
        for loss in (0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
            found = search(method, table, lambda made, loss=loss: made.ail <= loss, low, high, seed)
            if found:
                reached = {"ail reached": found[1].ail, "beta reached": found[1].beta}
                yield {"ail": loss, "method": method, "seed": seed, **reached}


def compared(table: Any, beta: float, key: dict, methods: tuple[str, ...], seed: int) -> Iterator[Row]:
    for method in methods:
        try:
            made = make(method, table, beta, seed)
        except rt.PromiseUnreachable:
            continue
        measured = {"ail": made.ail, "cpu": made.cpu, "classes": made.classes}
        yield {**key, "method": method, "seed": seed, **measured}


def figure_5(name: str, rows: int | None, queries: int, only: str = "", seeds: Seeds = SEEDS) -> Iterator[Row]:
    """Loss and CPU time by beta, for every reading of the paper and for what came after it."""
    methods = (*GENERALIZING, "burel, steps", "burel, share .9", "mondrian, loss cuts", "mosaic, quick")
    for beta, seed in product(BETAS, seeds):
        yield from compared(cells(name, rows, 3), beta, {"beta": beta}, _chosen(methods, only), seed)


def _chosen(methods: tuple[str, ...], only: str) -> tuple[str, ...]:
    return tuple(method for method in methods if method.startswith(only))


def claim(name: str, rows: int | None, queries: int, only: str = "", seeds: Seeds = SEEDS) -> Iterator[Row]:
    """Loss by beta with every quasi-identifier of the table: "almost half the loss of LMondrian in half the time"?

    Searches of 12 seconds are made with the first seed alone.
    """
    planned = ("burel", "burel, nearest", "lmondrian", "lmondrian, fallback", "mondrian, loss cuts", "mosaic, quick")
    for beta, seed in product(BETAS, seeds):
        methods = (*planned, "mosaic, 12 s") if seed == seeds[0] else planned
        yield from compared(cells(name, rows, most_quasi(name)), beta, {"beta": beta}, _chosen(methods, only), seed)


def figure_6(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
    """By the number of quasi-identifiers."""
    for quasi, seed in product(range(1, most_quasi(name) + 1), seeds):
        yield from compared(cells(name, rows, quasi), 4, {"quasi-identifiers": quasi}, GENERALIZING, seed)


def figure_6_at_1(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
    """The same at beta = 1, where the claim is nearest to what is measured."""
    for quasi, seed in product(range(1, most_quasi(name) + 1), seeds):
        yield from compared(cells(name, rows, quasi), 1, {"quasi-identifiers": quasi}, GENERALIZING, seed)


def figure_7(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
    """By the number of rows, which a seed draws too."""
    most = rows or cells(name, None, 3).rows
    for part, seed in product(range(1, 6), seeds):
        count = most * part // 5
        yield from compared(cells(name, count, 3, seed), 4, {"rows": count}, GENERALIZING, seed)


def figure_5b(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
    """CPU seconds of planning by beta: mean of five seeds, band from the least to the greatest."""
    yield from timed(((beta, cells(name, rows, 3), beta) for beta in BETAS), "beta", seeds)


def figure_6b(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
    """CPU seconds of planning by the number of quasi-identifiers, beta = 4: mean of five seeds, band from least to greatest."""
    counts = range(1, most_quasi(name) + 1)
    yield from timed(((quasi, cells(name, rows, quasi), 4) for quasi in counts), "quasi-identifiers", seeds)


def figure_7b(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
    """CPU seconds of planning by the number of rows, beta = 4: mean of five seeds, band from the least to the greatest."""
    most = rows or cells(name, None, 3).rows
    counts = [most * part // 5 for part in range(1, 6)]
    yield from timed(((count, cells(name, count, 3), 4) for count in counts), "rows", seeds)


def timed(settings: Iterable[tuple[float, Any, float]], x: str, seeds: Seeds) -> Iterator[Row]:
    """CPU seconds of every method and seed; seeds take turns, so that other work on the machine meets all methods alike."""
    warm = False
    for value, table, beta in settings:
        for method in () if warm else GENERALIZING:  # a first run also pays for what is loaded once
            with suppress(rt.PromiseUnreachable):
                make(method, table, beta, seed=0)
        warm = True
        for seed in seeds:
            for method in GENERALIZING:
                try:
                    cpu = make(method, table, beta, seed).cpu
                except rt.PromiseUnreachable:
                    continue
                yield {x: value, "method": method, "seed": seed, "cpu": cpu}


def workload(table: Any, predicates: int, selectivity: float, queries: int, seed: int) -> rt.Workload:
    rng = np.random.default_rng(10 + seed)
    return rt.Workload.draw(table, predicates=predicates, selectivity=selectivity, queries=queries, rng=rng)


@lru_cache(maxsize=2 * len(SEEDS))
def ask(table: Any, predicates: int, selectivity: float, queries: int, seed: int) -> Questions:
    """The questions of a seed, with the rows that they select."""
    asked = workload(table, predicates, selectivity, queries, seed)
    selected = asked.histograms(table)
    return Questions(asked, selected, asked.exact(table, selected))


def settings(name: str, rows: int | None, part: str) -> Iterator[tuple[dict, Any, int, float, float]]:
    """(what varies, cells, predicates, selectivity, beta) of figures 8 and 9."""
    most = most_quasi(name)
    if part == "a":
        yield from (({"predicates": n}, cells(name, rows, most), n, 0.1, 4) for n in range(1, most + 1))
    elif part == "b":
        yield from (({"beta": beta}, cells(name, rows, most), 3, 0.1, beta) for beta in BETAS)
    elif part == "c":
        yield from (({"quasi-identifiers": n}, cells(name, rows, n), min(n, 3), 0.1, 4) for n in range(1, most + 1))
    else:
        yield from (
            ({"selectivity": share}, cells(name, rows, most), 3, share, 4) for share in (0.05, 0.1, 0.15, 0.2, 0.25)
        )


def figure_8(part: str) -> Callable[..., Iterator[Row]]:
    """Median relative error of COUNT queries on generalized tables."""

    def figure(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
        for (key, table, predicates, selectivity, beta), seed in product(settings(name, rows, part), seeds):
            asked, _, true = ask(table, predicates, selectivity, queries, seed)
            for method in GENERALIZING:
                estimate = asked.generalized(make(method, table, beta, seed).plan.boxes)
                yield {**key, "method": method, "seed": seed, "median error": asked.median_error(estimate, true)}

    figure.__doc__ = figure_8.__doc__
    return figure


def figure_9(part: str) -> Callable[..., Iterator[Row]]:
    """Median relative error with perturbation, and of the Anatomy-style baseline."""

    def figure(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
        for (key, table, predicates, selectivity, beta), seed in product(settings(name, rows, part), seeds):
            asked, selected, true = ask(table, predicates, selectivity, queries, seed)
            estimates = {"baseline": asked.baseline(table, selected)}
            for matrix in ("rank-one", "theorem3"):
                with suppress(rt.PromiseUnreachable):
                    estimates[matrix] = asked.perturbed(*redraw(table, beta, matrix, seed))
            for method, estimate in estimates.items():
                yield {**key, "method": method, "seed": seed, "median error": asked.median_error(estimate, true)}

    figure.__doc__ = figure_9.__doc__
    return figure


@lru_cache(maxsize=2 * len(SEEDS))
def redraw(table: Any, beta: float, matrix: str, seed: int) -> Any:
    """The rows with their values redrawn, and the matrix, as a plan has them."""
    job = job_for(table, [rt.BetaLikeness(beta)], rt.BetaPerturbation(matrix=matrix))
    return rt.plan(job, cells=table, seed=4 + seed).redrawn


def section_7(name: str, rows: int | None, queries: int, seeds: Seeds = SEEDS) -> Iterator[Row]:
    """t and l that BUREL's classes reach, and how often naive Bayes guesses right."""
    table = cells(name, rows, 3)
    for beta, seed in product(BETAS, seeds):
        made = make("burel", table, beta, seed)
        weights = made.sizes / made.sizes.sum()
        outcome = rt.attack(made.plan, name="naive-bayes")
        yield {
            "beta": beta,
            "seed": seed,
            "t": made.closeness.max(),
            "average t": made.closeness @ weights,
            "l": made.diversity.min(),
            "average l": made.diversity @ weights,
            "naive Bayes": outcome.success,
            "low": outcome.low,
            "high": outcome.high,
            "most frequent": outcome.baseline,
        }


FIGURES: dict[str, Callable[..., Iterator[Row]]] = {
    "4a": figure_4a,
    "4b": figure_4b,
    "4c": figure_4c,
    "claim": claim,
    "5": figure_5,
    "6": figure_6,
    "6-beta1": figure_6_at_1,
    "7": figure_7,
    "5b": figure_5b,
    "6b": figure_6b,
    "7b": figure_7b,
    **{f"8{part}": figure_8(part) for part in "abcd"},
    **{f"9{part}": figure_9(part) for part in "abcd"},
    "section7": section_7,
}
BY_METHOD = ("5", "claim")  # figures whose methods can be measured one by one
