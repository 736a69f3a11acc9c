"""Several methods, promises or parameters on one source.

    compared = rt.compare(job, frame=people, methods=["mondrian", "burel"], beta=[1, 2, 4])
    compared.frame()       a row for each candidate, the trivial sanitizations and the source
    compared.chart()       what adversaries gain over what is lost

Every candidate is published to a temporary folder, audited, attacked and asked, and its folder is removed: nothing is published,
nothing enters the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reticent import catalogue
from reticent.budget import Clock
from reticent.compare.candidates import Candidate, candidates, method_names, named
from reticent.compare.comparison import Comparison
from reticent.compare.foreign import of_tables, tables_given
from reticent.compare.measured import of_candidate, of_source, of_trivial
from reticent.compare.setting import Setting
from reticent.compare.trivial import trivials
from reticent.door import called, door, flag, names, optional, seconds, whole
from reticent.errors import RequestError, suggest
from reticent.job import Job
from reticent.table import source as sources
from reticent.table.source_types import has_types
from reticent.utility.learners import stats

YARDSTICK_SHARE = 0.25
"""How much of a budget the yardsticks may use: the rest is for candidates."""


@door(
    methods=optional(names),
    rows=optional(whole),
    runs=whole,
    attacks=optional(names),
    classification=optional(flag),
    seed=whole,
    budget=optional(seconds),
    progress=called,
)
def compare(
    jobs: Any,
    *,
    frame: Any = None,
    methods: Sequence[str] | None = None,
    rows: int | None = None,
    runs: int = 1,
    attacks: Sequence[str] | None = None,
    classification: bool | None = None,
    tables: Mapping[str, Any] | None = None,
    seed: int = 1,
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
    **parameters: Sequence[Any],
) -> Comparison:
    """Measure jobs (one, a list, or by name) with several methods and every combination of the parameters listed.

    `rows`: on so many rows drawn at random; `runs`: how often everything is drawn again, for the spread; `attacks`: which (all, or
    none by an empty list); `classification` None: where the extra `stats` is installed; `tables`: plain tables by name (paths or
    frames) that other tools made of the same rows; `budget`: CPU seconds that all of it may take, and what there was no time for
    is named with the reason.
    """
    listed, beside = candidates(jobs, method_names(methods), parameters), tables_given(tables)
    setting = setting_of(
        next(iter(named(jobs).values())), frame, rows, runs, attacks, classification, seed, progress, budget
    )
    first = next(iter(named(jobs).values()))
    return measured_all(listed, setting, first, lambda: of_tables(beside, first, setting, rows is not None))


def setting_of(
    job: Job,
    frame: Any,
    rows: int | None,
    runs: int,
    attacks: Sequence[str] | None,
    classification: bool | None,
    seed: int,
    progress: Callable[[str], None],
    budget: float | None = None,
) -> Setting:
    """What all candidates share; what is asked for is looked at before any data is read."""
    if runs < 1 or (rows is not None and rows < 10):
        raise RequestError("A comparison has 1 run or more, on 10 rows or more.", attempt="runs=3, rows=10_000.")
    if seed < 0:
        raise RequestError("A seed is a whole number from 0 on.", attempt="seed=1.")
    clock = None if budget is None else Clock(budget)  # first: what learners need takes seconds to load
    chosen, learning = _attacks(attacks), _learning(classification)
    progress("reading")
    people = sources.collect(sources.scan(job.source, frame), "Reading the source")
    of = len(people)
    if rows is not None and rows < of:
        people = people.sample(rows, seed=seed)
    return Setting(people, runs, seed, chosen, learning, progress, of, has_types(job.source, frame), clock)


def measured_all(
    listed: Sequence[Candidate], setting: Setting, job: Job, beside: Callable[[], list[dict[str, Any]]] = list
) -> Comparison:
    """Every candidate, then the yardsticks, of the columns as the first job declares them."""
    _, cells, _ = setting.coded(job)
    first = setting.limited(YARDSTICK_SHARE)  # what anybody could publish, before the others use the budget
    yardsticks = [of_trivial(trivial, first, job) for trivial in trivials(cells)]
    rows = [*beside(), *(of_candidate(candidate, setting) for candidate in listed), *yardsticks]
    rows.append(of_source(cells, setting, job))
    return Comparison(tuple(rows), len(setting.frame), setting.runs, setting.seed, setting.of)


def _attacks(given: Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return tuple(catalogue.ATTACKS)
    for name in given:
        if name not in catalogue.ATTACKS:
            raise RequestError(f"There is no attack {name!r}.", attempt=suggest(name, catalogue.ATTACKS))
    return tuple(given)


def _learning(given: bool | None) -> bool:
    """Whether learners are tried: asked for without the extra, a refusal names it."""
    if given is False:
        return False
    try:
        stats()
    except RequestError:
        if given:
            raise
        return False
    return True
