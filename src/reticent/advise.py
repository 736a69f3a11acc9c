"""Which method to take for a purpose, by measuring all that can keep the job's promises on the steward's own data.

    advice = rt.advise(job, frame=people, purpose="counts")
    advice.best            the method that did best, and `advice.level` those within each other's spread
    print(advice)
    rt.advise(compared, purpose="averages")    from a comparison that was made already

Nothing is published.  What decides is one figure for each purpose, over several runs; each candidate's spread is what the runs
gave at the least and the most.  Two candidates within each other's spread are level (`compare/level.py`): the data does not say
which is better.  On a part of
the rows, a quarter of it is measured too: who may overtake on all rows is told (`compare/growth.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

from reticent import registry
from reticent.budget import Clock
from reticent.compare import growth
from reticent.compare.candidates import candidates, method_names
from reticent.compare.compare import measured_all, setting_of
from reticent.compare.comparison import Comparison
from reticent.compare.level import level
from reticent.compare.purposes import PURPOSES as PURPOSES
from reticent.compare.purposes import Purpose
from reticent.door import a_job, called, door, names, optional, seconds, text, whole
from reticent.errors import RequestError, some, suggest
from reticent.job import Job
from reticent.showing import page, table

RUNS = 3
LEAST_SECONDS = 20.0
TIMES_READING = 60


@dataclass(frozen=True, eq=False)
class Advice:
    """`ranked` are candidates and yardsticks with a figure, best first; `refused` the methods that were not measured, and why."""

    purpose: str
    ranked: tuple[Mapping[str, Any], ...]
    refused: Mapping[str, str]
    compared: Comparison
    before: Mapping[str, Mapping[str, Any]] | None = (
        None  # of a part of the rows: the figures of a quarter of that part
    )

    @property
    def candidates(self) -> list[Mapping[str, Any]]:
        return [row for row in self.ranked if row["role"] == "candidate"]

    @property
    def best(self) -> Mapping[str, Any]:
        return self.candidates[0]

    @property
    def level(self) -> list[Mapping[str, Any]]:
        """The candidates that the runs do not say to be worse than the best one, itself the first."""
        return [row for row in self.candidates if level(row, self.best)]

    @property
    def trivially_better(self) -> list[Mapping[str, Any]]:
        """Yardsticks that no candidate is truly better than."""
        trivial = [row for row in self.ranked if row["role"] == "trivial"]
        if PURPOSES[self.purpose].less:
            return [row for row in trivial if row["low"] <= self.best["high"]]
        return [row for row in trivial if row["high"] >= self.best["low"]]

    @property
    def may_overtake(self) -> list[Mapping[str, Any]]:
        """Of a part of the rows: candidates that may be better than the best one on all of them; none where all were measured."""
        if not self.compared.sampled or self.before is None:
            return []
        figures = {row["name"]: row for row in self.candidates}
        further, less = self.compared.of / self.compared.people, PURPOSES[self.purpose].less
        names_of = growth.may_overtake(
            self.before, figures, self.best["name"], times=growth.TIMES, further=further, less=less
        )
        return [row for row in self.candidates if row["name"] in names_of]

    def sentences(self) -> list[str]:
        """The advice in words."""
        chosen, meaning, best = PURPOSES[self.purpose], PURPOSES[self.purpose].meaning, self.best
        said = [f"For {self.purpose} take {best['name']} ({best['kind']}): its {meaning} is {_figure(best)}."]
        if rest := [row for row in self.level if row is not best]:
            said.append(
                f"Within its spread: {', '.join(_told(row) for row in rest)}. The data does not say which of them is better."
            )
        if behind := [row for row in self.candidates if row not in self.level]:
            said.append(f"Behind: {', '.join(_told(row) for row in behind)}.")
        if self.trivially_better:
            names_of = " and ".join(f"{row['name']!r} ({_figure(row)})" for row in self.trivially_better)
            better = "less" if chosen.less else "more"
            here = "On these rows no" if self.compared.sampled else "No"
            said.append(f"{here} method is truly better than {names_of}, which needs none ({better} is better).")
        said += [
            f"{row['kind']} ({row['name']}) gives up: {row['gives_up']}." for row in _one_of_each_kind(self.candidates)
        ]
        said += self._of_a_part()
        return [*said, *(f"{name} was not measured: {why}" for name, why in self.refused.items())]

    def _of_a_part(self) -> list[str]:
        """What a part of the rows does not say."""
        if not self.compared.sampled:
            return []
        here = f"This is of {self.compared.people:,} of {self.compared.of:,} rows, drawn at random"
        if self.before is None:
            return [f"{here}: on all rows another method may do best."]
        fewer = f"{max(self.compared.people // growth.TIMES, 1):,} of them"
        if not self.may_overtake:
            return [f"{here}; beside {fewer}, no other method is on its way to do best on all rows."]
        ways = ", ".join(_way(self.before.get(row["name"]), row) for row in (self.best, *self.may_overtake))
        return [
            f"{here}; beside {fewer}, who gains by more rows: {ways}.",
            f"So on all rows {' or '.join(row['name'] for row in self.may_overtake)} may do best: measure more rows, or all.",
        ]

    def to_dict(self) -> dict[str, Any]:
        chosen = PURPOSES[self.purpose]
        return {"purpose": self.purpose, "figure": chosen.figure, "less_is_better": chosen.less, "best": self.best["name"],
                "level": [row["name"] for row in self.level],
                "may_overtake": [row["name"] for row in self.may_overtake], "ranked": [dict(row) for row in self.ranked],
                "refused": dict(self.refused), "sentences": self.sentences(), "comparison": self.compared.to_dict()}  # fmt: skip

    def _repr_html_(self) -> str:
        head = ("name", "kind", "role", "value", "low", "high", "gives_up")
        rows = [[row[name] for name in head] for row in self.ranked]
        return page(self.sentences()[0], table(head, rows))

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def _asked_of(value: Any, name: str) -> Job | Comparison:
    return value if isinstance(value, Comparison) else a_job(value, name)


@door(
    job=_asked_of,
    purpose=text,
    methods=optional(names),
    rows=optional(whole),
    runs=whole,
    seed=whole,
    budget=optional(seconds),
    progress=called,
)
def advise(
    job: Job | Comparison,
    *,
    purpose: str,
    frame: Any = None,
    methods: Sequence[str] | None = None,
    rows: int | None = None,
    runs: int = RUNS,
    seed: int = 1,
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Advice:
    """Measure the methods that keep the job's promises (or those named) and rank them for a purpose.

    `purpose` is "counts", "averages", "classification" or "sharing-rows".  The job's own method is tried as the job has it, the
    others with their own parameters.  `budget`: CPU seconds that all of it may take, by default LEAST_SECONDS or, if that is more,
    TIMES_READING as many as reading took; methods there was no time for are named.
    Instead of a job, a comparison that was made already: nothing is measured again.
    """
    if purpose not in PURPOSES:
        raise RequestError(f"There is no advice for {purpose!r}.", attempt=suggest(purpose, PURPOSES))
    if isinstance(job, Comparison):
        if frame is not None or methods is not None or rows is not None:
            raise RequestError(
                "A comparison has been measured already, and its rows and methods stay as they are.",
                attempt="rt.advise(compared, purpose=...), or a job instead of the comparison.",
            )
        return _advice(job, purpose, {})
    tried = candidates(job, method_names(methods) or tuple(registry.METHODS), {})
    able = [one for one in tried if one.job is not None]
    if not able:
        raise RequestError(
            "No method that is known keeps the promises of the job.", attempt="fewer promises, or others."
        )
    began = process_time()
    setting = setting_of(job, frame, rows, runs, (), PURPOSES[purpose].learns, seed, progress, budget)
    if budget is None:
        setting = replace(setting, clock=Clock(max(LEAST_SECONDS, TIMES_READING * (process_time() - began))))
    able.sort(
        key=lambda one: getattr(registry.method(one.method), "anytime", False)
    )  # what takes any time there is, last
    compared = measured_all(able, setting, job)
    if compared.sampled:
        compared = replace(compared, smaller=measured_all(able, setting.part(growth.TIMES), job))
    return _advice(compared, purpose, {one.method: one.why for one in tried if one.job is None})


def _advice(compared: Comparison, purpose: str, refused: dict[str, str]) -> Advice:
    chosen = PURPOSES[purpose]
    unreached = {row["name"]: row["why"] for row in compared.rows if not row["reached"]}
    refused |= unreached
    ranked = _ranked(compared, chosen)
    if not any(row["role"] == "candidate" for row in ranked):
        raise RequestError(
            f"No method was measured for {purpose}.",
            why=next(iter((unreached or refused).values()), f"There is no {chosen.meaning}: {chosen.lacking}."),
            attempt="another purpose, a weaker promise, or a greater budget.",
        )
    fewer = compared.smaller
    before = None if fewer is None else {row["name"]: row for row in _ranked(fewer, chosen)}
    return Advice(purpose, ranked, refused, compared, before)


def _ranked(compared: Comparison, chosen: Purpose) -> tuple[dict[str, Any], ...]:
    found = []
    for row in compared.rows:
        figure = _of(row, chosen)
        if row["role"] != "source" and row["reached"] and figure is not None:
            kept = {name: row.get(name) for name in ("name", "role", "method", "kind", "gives_up")}
            found.append({**kept, **figure})
    return tuple(sorted(found, key=lambda row: row["value"] if chosen.less else -row["value"]))


def _of(row: Mapping[str, Any], chosen: Purpose) -> dict[str, Any] | None:
    """A figure with its spread; of several learners the best one's."""
    if chosen.learns:
        told = [one for one in (row.get("classification") or {}).values() if one is not None]
        return max(told, key=lambda one: one["value"], default=None)
    return row.get(chosen.figure)


def _one_of_each_kind(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    first: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        first.setdefault(row["kind"], row)
    return list(first.values())


def _figure(row: Mapping[str, Any]) -> str:
    return f"{row['value']:.4g}, {row['low']:.4g} to {row['high']:.4g} in {some(row['runs'], 'run')}"


def _told(row: Mapping[str, Any]) -> str:
    return f"{row['name']} ({row['value']:.4g})"


def _way(before: Mapping[str, Any] | None, row: Mapping[str, Any]) -> str:
    first = "not known" if before is None else f"{before['value']:.4g}"
    return f"{row['name']} ({first} to {row['value']:.4g})"
