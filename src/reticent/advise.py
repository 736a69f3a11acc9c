"""Which method to take for a purpose, by measuring all that can keep the job's promises on the steward's own data.

    advice = rt.advise(job, frame=people, purpose="counts")
    advice.best            the method that did best, and `advice.level` those within each other's spread
    print(advice)

Nothing is published.  What decides is one figure for each purpose, over several runs; each candidate's spread is what the runs
gave at the least and the most.  Two candidates whose spreads overlap are level: the data does not say which is better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reticent import registry
from reticent.compare.candidates import candidates, method_names
from reticent.compare.compare import measured_all, setting_of
from reticent.compare.comparison import Comparison
from reticent.door import a_job, called, door, names, optional, text, whole
from reticent.errors import RequestError, suggest
from reticent.job import Job
from reticent.showing import page, table

RUNS = 3


@dataclass(frozen=True, slots=True)
class Purpose:
    """The figure that decides, and whether less of it is better."""

    figure: str
    meaning: str
    less: bool = True
    learns: bool = False


PURPOSES = {
    "counts": Purpose("count_error", "median relative error of COUNT questions"),
    "averages": Purpose("average_error", "median error of AVG questions, as a share of the column's span"),
    "classification": Purpose(
        "accuracy", "share of people not in the release whose class is told", less=False, learns=True
    ),
    "sharing-rows": Purpose("row_loss", "share of a person's row that is not shown"),
}


@dataclass(frozen=True, eq=False)
class Advice:
    """`ranked` are candidates and yardsticks with a figure, best first; `refused` the methods that were not measured, and why."""

    purpose: str
    ranked: tuple[Mapping[str, Any], ...]
    refused: Mapping[str, str]
    compared: Comparison
    sampled: bool = False  # whether it was measured on a part of the rows

    @property
    def candidates(self) -> list[Mapping[str, Any]]:
        return [row for row in self.ranked if row["role"] == "candidate"]

    @property
    def best(self) -> Mapping[str, Any]:
        return self.candidates[0]

    @property
    def level(self) -> list[Mapping[str, Any]]:
        """The candidates whose spread overlaps with the best one's, itself the first."""
        best = self.best
        return [row for row in self.candidates if row["low"] <= best["high"] and best["low"] <= row["high"]]

    @property
    def trivially_better(self) -> list[Mapping[str, Any]]:
        """Yardsticks that no candidate is truly better than."""
        trivial = [row for row in self.ranked if row["role"] == "trivial"]
        if PURPOSES[self.purpose].less:
            return [row for row in trivial if row["low"] <= self.best["high"]]
        return [row for row in trivial if row["high"] >= self.best["low"]]

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
            said.append(f"No method is truly better than {names_of}, which needs none ({better} is better).")
        said += [
            f"{row['kind']} ({row['name']}) gives up: {row['gives_up']}." for row in _one_of_each_kind(self.candidates)
        ]
        if self.sampled:
            said.append(
                f"This is of {self.compared.people:,} rows drawn at random: of all rows another method may do best."
            )
        return [*said, *(f"{name} was not measured: {why}" for name, why in self.refused.items())]

    def to_dict(self) -> dict[str, Any]:
        chosen = PURPOSES[self.purpose]
        return {"purpose": self.purpose, "figure": chosen.figure, "less_is_better": chosen.less, "best": self.best["name"],
                "level": [row["name"] for row in self.level], "ranked": [dict(row) for row in self.ranked],
                "refused": dict(self.refused), "sentences": self.sentences(), "comparison": self.compared.to_dict()}  # fmt: skip

    def _repr_html_(self) -> str:
        head = ("name", "kind", "role", "value", "low", "high", "gives_up")
        rows = [[row[name] for name in head] for row in self.ranked]
        return page(self.sentences()[0], table(head, rows))

    def __str__(self) -> str:
        return "\n".join(self.sentences())


@door(job=a_job, purpose=text, methods=optional(names), rows=optional(whole), runs=whole, seed=whole, progress=called)
def advise(
    job: Job,
    *,
    purpose: str,
    frame: Any = None,
    methods: Sequence[str] | None = None,
    rows: int | None = None,
    runs: int = RUNS,
    seed: int = 1,
    progress: Callable[[str], None] = lambda stage: None,
) -> Advice:
    """Measure the methods that keep the job's promises (or those named) and rank them for a purpose.

    `purpose` is "counts", "averages", "classification" or "sharing-rows".  The job's own method is tried as the job has it, the
    others with their own parameters.
    """
    if purpose not in PURPOSES:
        raise RequestError(f"There is no advice for {purpose!r}.", attempt=suggest(purpose, PURPOSES))
    chosen = PURPOSES[purpose]
    tried = candidates(job, method_names(methods) or tuple(registry.METHODS), {})
    able = [one for one in tried if one.job is not None]
    refused = {one.method: one.why for one in tried if one.job is None}
    if not able:
        raise RequestError(
            "No method that is known keeps the promises of the job.", attempt="fewer promises, or others."
        )
    setting = setting_of(job, frame, rows, runs, (), chosen.learns, seed, progress)
    compared = measured_all(able, setting, job)
    refused |= {row["method"]: row["why"] for row in compared.rows if row["role"] == "candidate" and not row["reached"]}
    ranked = _ranked(compared, chosen)
    if not any(row["role"] == "candidate" for row in ranked):
        raise RequestError(
            f"No method was measured for {purpose}.",
            why=next(iter(refused.values()), f"There is no {chosen.meaning}: no column holds numbers."),
            attempt="another purpose, or a weaker promise.",
        )
    return Advice(purpose, ranked, refused, compared, rows is not None and len(setting.frame) == rows)


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
    return f"{row['value']:.4g}, {row['low']:.4g} to {row['high']:.4g} in {row['runs']} run(s)"


def _told(row: Mapping[str, Any]) -> str:
    return f"{row['name']} ({row['value']:.4g})"
