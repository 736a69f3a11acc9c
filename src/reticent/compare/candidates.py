"""Candidates of a comparison or a sweep: jobs with several methods and every combination of swept parameters.

All are made, and so checked, before data is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from reticent import registry
from reticent.errors import JobError, RequestError, suggest
from reticent.evaluation import Candidate
from reticent.job.job import Job
from reticent.plugins import load_plugin_if_named
from reticent.preconditions import require_promises_supported
from reticent.validation import is_job, names, value_list

MAX_CANDIDATES = 100
"""The most candidates of one comparison: each is published, audited and attacked."""
MAX_COMBINATIONS = 1_000
"""The most combinations of one sweep: more are hardly intended."""


def make_candidates(jobs: Any, methods: Sequence[str] | None, parameters: Mapping[str, Any]) -> list[Candidate]:
    """Make every job with every method (its own if none are named) and every combination of the parameters."""
    by_name = name_jobs(jobs)
    _require_one_source(list(by_name.values()))
    values = list_swept_values(parameters)
    if "method" in values:
        raise RequestError(
            "Methods are compared by their names.",
            attempt='methods=["mondrian", "mosaic"] (--methods mondrian,mosaic).',
        )
    candidates: list[Candidate] = []
    for job_name, job in by_name.items():
        prefix = job_name if len(by_name) > 1 else ""
        for method in methods if methods is not None else [job.method.name]:
            candidates += _make_method_candidates(prefix, job, method, values, is_alternative=methods is not None)
    if len(candidates) > MAX_CANDIDATES:
        raise RequestError(
            f"{len(candidates)} candidates are more than the {MAX_CANDIDATES} of a comparison.",
            attempt="fewer values; rt.sweep plans 1,000.",
        )
    return candidates


def list_swept_values(parameters: Mapping[str, Any]) -> dict[str, list[Any]]:
    """List the values that each parameter is swept over."""
    values = {}
    for name, listed in parameters.items():
        values[name] = value_list(listed, name)
        if not values[name]:
            raise JobError(f"{name} lists no value to sweep over.", attempt=f"{name}=[2, 5, 10].")
    return values


def make_swept_candidates(
    job: Job, values: Mapping[str, list[Any]], *, prefix: str = "", is_alternative: bool = False
) -> list[Candidate]:
    """Make a candidate of every combination of the values."""
    combinations = prod(len(listed) for listed in values.values())
    if combinations > MAX_COMBINATIONS:
        raise RequestError(
            f"{combinations:,} combinations are more than the {MAX_COMBINATIONS:,} of a sweep.", attempt="fewer values."
        )
    candidates = []
    for combination in product(*values.values()):
        changed = job
        for name, value in sorted(zip(values, combination, strict=True), key=lambda pair: pair[0] != "method"):
            changed = _replace_parameter(changed, name, value)
        parameters = {name: _show_parameter(changed, name) for name in values}
        method = changed.method.name
        label = _make_label(prefix, method, parameters)
        candidates.append(Candidate(label, changed, method, parameters, is_alternative=is_alternative))
    return candidates


def name_jobs(jobs: Any) -> dict[str, Job]:
    """Name one job, several, or several by name."""
    if isinstance(jobs, Job):
        return {"": jobs}
    if isinstance(jobs, Mapping):
        by_name = {str(name): is_job(job, "jobs") for name, job in jobs.items()}
    else:
        listed = [is_job(job, "jobs") for job in value_list(jobs, "jobs")]
        by_name = {f"job {number}": job for number, job in enumerate(listed, 1)}
    if not by_name:
        raise RequestError("No job is compared.", attempt="rt.compare(job), or rt.compare([job, other]).")
    return by_name


def check_method_names(methods: Any) -> tuple[str, ...] | None:
    """Check names of methods as a caller lists them; each is looked up."""
    if methods is None:
        return None
    listed = tuple(dict.fromkeys(names(methods, "methods")))
    if not listed:
        raise RequestError("No method is named.", attempt='methods=["mondrian", "mosaic"] (--methods mondrian,mosaic).')
    for name in listed:
        load_plugin_if_named("methods", name)
        registry.load_method_class(name)
    return listed


def _require_one_source(jobs: Sequence[Job]) -> None:
    if any(job.source != jobs[0].source for job in jobs[1:]):
        raise RequestError(
            "The jobs have different sources: what they reach could not be compared.",
            attempt="jobs of one source, which may differ in columns, promises and methods.",
        )


def _make_method_candidates(
    prefix: str, job: Job, method: str, values: Mapping[str, list[Any]], is_alternative: bool
) -> list[Candidate]:
    """Make the candidates of one job and method.

    A job whose own method cannot keep its promises is an error; if several methods are listed, it is one finding of
    many.
    """
    registry.load_method_class(method)  # an unknown one is refused
    try:
        chosen = job if method == job.method.name else job.at(method=registry.make_method(method))
        require_promises_supported(chosen)
    except JobError as error:
        if not is_alternative:
            raise
        return [Candidate(_make_label(prefix, method, {}), None, method, why=error.what, is_alternative=True)]
    return make_swept_candidates(chosen, values, prefix=prefix, is_alternative=is_alternative)


def _replace_parameter(job: Job, name: str, value: Any) -> Job:
    """Return the job with one parameter replaced: of the promise that has it, or else of the method."""
    if name == "method":
        return job.at(method=value)
    promises = [promise for promise in job.promises if name in _list_parameters(promise)]
    if len(promises) > 1:
        raise JobError(
            f"{len(promises)} promises of the job have a parameter {name!r}.", attempt="a job with one of them."
        )
    if promises:
        changed = [replace(promise, **{name: value}) if promise is promises[0] else promise for promise in job.promises]  # type: ignore[type-var]  # a promise is a dataclass
        return job.at(promises=changed)
    if name in _list_parameters(job.method):
        return job.at(method=replace(job.method, **{name: value}))
    parameters = [parameter for part in (*job.promises, job.method) for parameter in _list_parameters(part)]
    raise JobError(
        f"Neither a promise of the job nor {job.method.name} has a parameter {name!r}.",
        attempt=suggest(name, ["method", *dict.fromkeys(parameters)]),
    )


def _show_parameter(job: Job, name: str) -> Any:
    """Return a parameter as the job keeps it, in a type that a frame holds: an exact number as the nearest one."""
    if name == "method":
        return job.method.name
    part = next(part for part in (*job.promises, job.method) if name in _list_parameters(part))
    value = getattr(part, name)
    if isinstance(value, Fraction):
        return int(value) if value == int(value) else float(value)
    return value if isinstance(value, bool | int | float | str | None) else str(registry.convert_to_plain(value))


def _make_label(prefix: str, method: str, parameters: Mapping[str, Any]) -> str:
    words = [method, *(f"{name}={value}" for name, value in parameters.items())]
    return " ".join([prefix, *words] if prefix else words)


def _list_parameters(part: Any) -> list[str]:
    return [field.name for field in fields(part)]
