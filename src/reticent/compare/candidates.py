"""Candidates of a comparison: jobs with several methods and every combination of swept parameters.

All are made before data is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reticent import catalogue, registry
from reticent.compare.sweep import list_values
from reticent.compare.sweep import make_swept_jobs as swept
from reticent.errors import JobError, RequestError, suggest
from reticent.job.job import Job
from reticent.preconditions import require_promises_supported
from reticent.validation import is_job, names, value_list

MAX_CANDIDATES = 100
"""The most candidates of one comparison: each is published, audited and attacked."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A job under a name; `why` is the reason where its method cannot keep its promises."""

    name: str
    job: Job | None
    method: str
    chosen: Mapping[str, Any]
    why: str = ""
    listed: bool = False  # its method was one of several: where it cannot be applied, that is a finding


def make_candidates(jobs: Any, methods: Sequence[str] | None, parameters: Mapping[str, Any]) -> list[Candidate]:
    """Make every job with every method (its own if none are named) and every combination of the parameters."""
    by_name = name_jobs(jobs)
    _require_one_source(list(by_name.values()))
    values = {name: list_values(given, name) for name, given in parameters.items()}
    if "method" in values:
        raise RequestError("Methods are compared by their names.", attempt='methods=["mondrian", "mosaic"].')
    found: list[Candidate] = []
    for word, job in by_name.items():
        for method in methods if methods is not None else [job.method.name]:
            found += _make_method_candidates(
                word if len(by_name) > 1 else "", job, method, values, strict=methods is None
            )
    if len(found) > MAX_CANDIDATES:
        raise RequestError(
            f"{len(found)} candidates are more than the {MAX_CANDIDATES} of a comparison.",
            attempt="fewer values; rt.sweep plans 1,000.",
        )
    return found


def _make_method_candidates(
    word: str, job: Job, method: str, values: Mapping[str, list[Any]], strict: bool
) -> Iterable[Candidate]:
    """Make the candidates of one job and method.

    `strict`: a job whose own method cannot keep its promises is an error; where methods were listed it is one finding
    of many.
    """
    registry.load_method_class(method)  # an unknown one is refused
    try:
        chosen = job if method == job.method.name else job.at(method=registry.make_method(method))
        require_promises_supported(chosen)
    except JobError as error:
        if strict:
            raise
        return [Candidate(_name_candidate(word, method, {}), None, method, {}, error.what, True)]
    if not values:
        return [Candidate(_name_candidate(word, method, {}), chosen, method, {}, listed=not strict)]
    return [
        Candidate(_name_candidate(word, method, at), one, method, at, listed=not strict)
        for at, one in swept(chosen, values)
    ]


def _name_candidate(word: str, method: str, chosen: Mapping[str, Any]) -> str:
    return " ".join([*([word] if word else []), method, *(f"{name}={value}" for name, value in chosen.items())])


def name_jobs(jobs: Any) -> dict[str, Job]:
    """Name one job, several, or several by name."""
    if isinstance(jobs, Job):
        return {"": jobs}
    if isinstance(jobs, Mapping):
        found = {str(name): is_job(job, "jobs") for name, job in jobs.items()}
    else:
        listed = [is_job(job, "jobs") for job in value_list(jobs, "jobs")]
        found = {f"job {at}": job for at, job in enumerate(listed, 1)}
    if not found:
        raise RequestError("No job is compared.", attempt="rt.compare(job), or rt.compare([job, other]).")
    return found


def _require_one_source(jobs: Sequence[Job]) -> None:
    if any(job.source != jobs[0].source for job in jobs[1:]):
        raise RequestError(
            "The jobs have different sources: what they reach could not be compared.",
            attempt="jobs of one source, which may differ in columns, promises and methods.",
        )


def check_method_names(given: Any) -> tuple[str, ...] | None:
    """Check names of methods as a caller lists them; each is looked up."""
    if given is None:
        return None
    listed = tuple(dict.fromkeys(names(given, "methods")))
    if not listed:
        raise RequestError("No method is named.", attempt=f"methods=[{suggest('', catalogue.METHODS)}].")
    for name in listed:
        registry.load_method_class(name)
    return listed
