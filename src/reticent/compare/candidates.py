"""What is compared: jobs, each with other methods and with every combination of swept parameters; all are made before data is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reticent import registry
from reticent.door import a_job, a_list, names
from reticent.errors import JobError, RequestError, suggest
from reticent.job import Job
from reticent.refusals import refuse_unable
from reticent.sweep import jobs as swept
from reticent.sweep import values_of

MOST = 100
"""Candidates: each is published, audited and attacked."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A job under a name; `why` is the reason where its method cannot keep its promises."""

    name: str
    job: Job | None
    method: str
    chosen: Mapping[str, Any]
    why: str = ""
    listed: bool = False  # its method was one of several: where it cannot be applied, that is a finding


def candidates(jobs: Any, methods: Sequence[str] | None, parameters: Mapping[str, Any]) -> list[Candidate]:
    """Every job with every method (its own if none are named) and every combination of the parameters."""
    by_name = named(jobs)
    _refuse_other_sources(list(by_name.values()))
    values = {name: values_of(given, name) for name, given in parameters.items()}
    if "method" in values:
        raise RequestError("Methods are compared by their names.", attempt='methods=["mondrian", "mosaic"].')
    found: list[Candidate] = []
    for word, job in by_name.items():
        for method in methods if methods is not None else [job.method.name]:
            found += _of_method(word if len(by_name) > 1 else "", job, method, values, strict=methods is None)
    if len(found) > MOST:
        raise RequestError(
            f"{len(found)} candidates are more than the {MOST} of a comparison.",
            attempt="fewer values; rt.sweep plans 1,000.",
        )
    return found


def _of_method(word: str, job: Job, method: str, values: Mapping[str, list[Any]], strict: bool) -> Iterable[Candidate]:
    """`strict`: a job whose own method cannot keep its promises is wrong; where methods were listed it is one finding of many."""
    registry.method(method)  # an unknown one is refused
    try:
        chosen = job if method == job.method.name else job.at(method=registry.method_from(method))
        refuse_unable(chosen)
    except JobError as error:
        if strict:
            raise
        return [Candidate(_said(word, method, {}), None, method, {}, error.what, True)]
    if not values:
        return [Candidate(_said(word, method, {}), chosen, method, {}, listed=not strict)]
    return [Candidate(_said(word, method, at), one, method, at, listed=not strict) for at, one in swept(chosen, values)]


def _said(word: str, method: str, chosen: Mapping[str, Any]) -> str:
    return " ".join([*([word] if word else []), method, *(f"{name}={value}" for name, value in chosen.items())])


def named(jobs: Any) -> dict[str, Job]:
    """One job, several, or several by name."""
    if isinstance(jobs, Job):
        return {"": jobs}
    if isinstance(jobs, Mapping):
        found = {str(name): a_job(job, "jobs") for name, job in jobs.items()}
    else:
        listed = [a_job(job, "jobs") for job in a_list(jobs, "jobs")]
        found = {f"job {at}": job for at, job in enumerate(listed, 1)}
    if not found:
        raise RequestError("No job is compared.", attempt="rt.compare(job), or rt.compare([job, other]).")
    return found


def _refuse_other_sources(jobs: Sequence[Job]) -> None:
    if any(job.source != jobs[0].source for job in jobs[1:]):
        raise RequestError(
            "The jobs have different sources: what they reach could not be compared.",
            attempt="jobs of one source, which may differ in columns, promises and methods.",
        )


def method_names(given: Any) -> tuple[str, ...] | None:
    """Names of methods as a caller lists them; each is looked up."""
    if given is None:
        return None
    listed = tuple(dict.fromkeys(names(given, "methods")))
    if not listed:
        raise RequestError("No method is named.", attempt=f"methods=[{suggest('', registry.METHODS)}].")
    for name in listed:
        registry.method(name)
    return listed
