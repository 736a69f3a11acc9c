"""What a job accepts in Python, beside objects of ours: names, tables as in a job file, and one where a list is meant.

    rt.Job(columns={"age": "quasi-identifying", "d": "sensitive"}, promises=rt.KAnonymity(5), method="mosaic")

Anything else is refused with what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from reticent import registry
from reticent.door import kind_of, options, place, promises
from reticent.errors import JobError, suggest
from reticent.models.promises import Promises
from reticent.table.source import Source


def source_of(given: Any) -> Source:
    """A path or a URL as a text, a `Source`, or None for a frame that is handed over later."""
    if isinstance(given, Source):
        return given
    if given is None:
        return Source()
    if isinstance(given, Mapping):
        options(given, [field.name for field in fields(Source)], "The source")
        return Source(**given)
    if not isinstance(given, str) and not hasattr(given, "__fspath__"):
        attempt = 'source = "data.csv"; a frame is given to rt.publish(job, frame=...).'
        raise JobError(f"source must be a path; it is {kind_of(given)}.", attempt=attempt)
    if "://" in str(given):
        return Source(url=str(given))
    return Source(path=str(place(given, "source")))


def promises_of(given: Any) -> Promises:
    """One promise or several, each as an object or as its table in a job file."""
    if isinstance(given, Promises):
        return given
    listed = promises(given, "promises")
    return Promises.of(registry.promise_from(one) if isinstance(one, Mapping) else one for one in listed)


def method_of(given: Any) -> Any:
    """A method, its name, or its table in a job file."""
    if given is None:
        return registry.method("mondrian")()
    if isinstance(given, str | Mapping):
        return registry.method_from(given)
    _refuse_other(given, "method", "plan", registry.METHODS, 'method = "mosaic", or rt.Mosaic().')
    return given


def stages_of(given: Any) -> tuple[Any, ...]:
    """Preparing stages; one alone may stand by itself."""
    alone = isinstance(given, str | Mapping) or not isinstance(given, Iterable)
    listed = [given] if alone else list(given)
    return tuple(map(_stage_of, listed))


def _stage_of(given: Any) -> Any:
    if isinstance(given, str | Mapping):
        return registry.stage_from({"name": given} if isinstance(given, str) else given)
    _refuse_other(given, "prepare", "prepare", registry.STAGES, "prepare = [rt.Suppression(l=3)].")
    return given


def _refuse_other(given: Any, name: str, verb: str, known: Mapping[str, str], attempt: str) -> None:
    """Whatever has no such verb, and a class where an object is meant."""
    if isinstance(given, type) and callable(getattr(given, verb, None)):
        raise JobError(f"{name} is the class {given.__name__} itself.", attempt=f"rt.{given.__name__}(...).")
    if isinstance(given, type) or not callable(getattr(given, verb, None)) or not hasattr(given, "name"):
        listed = suggest("", known)
        raise JobError(f"{name} must be {listed[:-1]}; it is {kind_of(given)}.", attempt=attempt)
