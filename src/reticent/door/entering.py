"""The one door of the Python interface: what a caller hands over is looked at before anything is read or written.

    @door(job=a_job, to=optional(path), force=flag)
    def publish(job, *, to=None, force=False): ...

A check takes a value and the parameter's name, and returns the value as the function wants it, or raises an error that says
what was handed over, what is expected and what to write.  It never quotes a value: only its type.  Classes are known by their
names, so that every layer may use the door.  On the way out, memory that ran out is an error of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import BoundArguments, Signature, signature
from typing import Any, ParamSpec, TypeVar

from reticent.errors import JobError, OutOfMemory, RequestError, suggest
from reticent.forking import refuse_forked_child

Check = Callable[[Any, str], Any]
Given = ParamSpec("Given")
Result = TypeVar("Result")


def door(**checks: Check) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Every argument through its check; those that are left out keep their default."""

    def guarded(function: Callable[Given, Result]) -> Callable[Given, Result]:
        shape = signature(function)

        @wraps(function)
        def entered(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            refuse_forked_child()
            bound = _bound(function, shape, args, kwargs)
            for name, value in bound.arguments.items():
                if name in checks:
                    bound.arguments[name] = checks[name](value, name)
            try:
                return function(*bound.args, **bound.kwargs)
            except MemoryError as error:
                if isinstance(error, OutOfMemory):
                    raise
                raise OutOfMemory from None

        return entered

    return guarded


def _bound(function: Callable[..., Any], shape: Signature, args: Any, kwargs: Any) -> BoundArguments:
    """The arguments by name; one too many or too few is refused with the names that there are."""
    try:
        return shape.bind(*args, **kwargs)
    except TypeError as error:
        known = [name for name in shape.parameters if name != "self"]
        wrong = next((name for name in kwargs if name not in known), "")
        raise RequestError(f"{function.__name__}(): {error}.", attempt=suggest(wrong, known)) from None


def kind_of(value: Any) -> str:
    """What was handed over, by its type alone: a value may be somebody's."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    words = {bool: "True or False", str: "a text", int: "a number", float: "a number", bytes: "bytes"}
    return words.get(type(value), f"an object of type {type(value).__name__!r}")


def refuse(name: str, wanted: str, value: Any, attempt: str) -> JobError:
    return JobError(f"{name} must be {wanted}; it is {kind_of(value)}.", attempt=attempt)


def optional(check: Check) -> Check:
    return lambda value, name: None if value is None else check(value, name)


def a(dotted: str, wanted: str, attempt: str) -> Check:
    """An instance of a class of ours, by the class's full name."""

    def check(value: Any, name: str) -> Any:
        if not any(f"{base.__module__}.{base.__qualname__}" == dotted for base in type(value).__mro__):
            raise refuse(name, wanted, value, attempt)
        return value

    return check
