"""Every field of every promise and method with values of the wrong type; the fields are those that the registry knows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from reticent import catalogue, registry
from tests.hostile.jobs import HUGE, METHODS, NUMBERS, PROMISES, WRONG, entry
from tests.support.hostile_cases import PROMISE, Case, job

KEPT_BY = {  # a promise with its parameters as they should be, and the method that keeps it
    **PROMISES,
    "p-privacy": ({"target": '"uniform"'}, "distribution"),
    "skyline": ({"points": "[{ bandwidth = 0.5, t = 0.3 }]"}, "mondrian"),
}
KEEPS = {**dict(list(METHODS)), "distribution": "p-privacy"}
TARGETS = {  # what may be believed of a value, wrongly said
    "nothing": "{}",
    "two of them": "{ zipf = { s = 1 }, normal = { mean = 1, std = 1 } }",
    "an unknown one": "{ poisson = { mean = 1 } }",
    "a normal one over texts": "{ normal = { mean = 1, std = 1 } }",
    "a normal one without a deviation": "{ normal = { mean = 1 } }",
    "a normal one of texts": '{ normal = { mean = "a", std = [] } }',
    "a flat one": "{ zipf = { s = 0 } }",
    "a steep one": "{ zipf = { s = 1e300 } }",
    "one without end": "{ zipf = { s = inf } }",
    "weights of nothing": "{ weights = {} }",
    "weights of 0": "{ weights = { flu = 0, cold = 0, gout = 0, mumps = 0 } }",
    "weights below 0": "{ weights = { flu = -1, cold = 1, gout = 1, mumps = 1 } }",
    "weights of texts": '{ weights = { flu = "x", cold = 1, gout = 1, mumps = 1 } }',
    "huge weights": '{ weights = { flu = "1e999999999", cold = 1, gout = 1, mumps = 1 } }',
    "weights of a value of a billion digits": '{ weights = { "1e999999999" = 1 } }',
    "weights of nobody": "{ weights = { plague = 1 } }",
    "a file that is not there": '{ file = "nowhere.csv" }',
    "a file that is a folder": '{ file = "." }',
    "a file that is a number": "{ file = 3 }",
    "the nearest of nothing": "{ nearest = {} }",
    "the nearest of another": '{ nearest = { model = "k-anonymity", k = 5 } }',
    "the nearest of a huge number": '{ nearest = { model = "beta-likeness", beta = "1e999999999" } }',
    "groups of nothing": "{ groups = {} }",
    "groups of groups": '{ groups = { a = { groups = { b = "uniform" } } } }',
    "groups of numbers": "{ groups = { a = 3 } }",
}
DOMAINS = (
    "[]",
    "[1]",
    "[0, 10, 0]",
    "[0, 10, -1]",
    "[10, 0, 1]",
    "[0, 1e300, 1]",
    "[nan, 1, 1]",
    '["a", "b", 1]',
    "[0, 1, 1e-300]",
)
POINTS = (
    "[]",
    "[{}]",
    "[3]",
    "[{ bandwidth = 0.5 }]",
    "[{ bandwidth = 1e999999999, t = 0.3 }]",
    "[{ bandwidth = 0.5, t = nan }]",
    "[" + "{ bandwidth = 0.5, t = 0.3 }, " * 2_000 + "]",
    "[{ bandwidth = { nobody = 0.5 }, t = 0.3 }]",
)


def fields(part: type) -> list[str]:
    """As a job spells them."""
    return [field.name.rstrip("_") for field in dataclasses.fields(part)]


def _promises() -> Iterator[tuple[str, Case]]:
    for name, (parameters, keeper) in KEPT_BY.items():
        made = f'\n[method]\nname = "{keeper}"\n'
        for key in [
            key
            for key in fields(registry.load_promise_class(name))
            if key not in PROMISES.get(name, ({},))[0] and key != "population"
        ]:
            for what, value in {**WRONG, **{what: NUMBERS[what] for what in HUGE}}.items():
                given = {**parameters, key: value}
                yield f"{name}: {key} is {what}", Case(job((PROMISE, entry(name, given)), more=made), expected=None)
    for name, key, values in (
        ("p-privacy", "target", TARGETS),
        ("p-privacy", "domain", {value: value for value in DOMAINS}),
        ("skyline", "points", {value[:40]: value for value in POINTS}),
    ):
        parameters, keeper = KEPT_BY[name]
        for what, value in values.items():
            made = entry(name, {**parameters, key: value})
            yield (
                f"{name}: {key} is {what}",
                Case(job((PROMISE, made), more=f'\n[method]\nname = "{keeper}"\n'), expected=None),
            )


def _methods() -> Iterator[tuple[str, Case]]:
    for method in catalogue.METHODS:
        known = {key for (name, _), keys in METHODS.items() if name == method for key in keys}
        for key in [key for key in fields(registry.load_method_class(method)) if key not in known]:
            for what, value in {**WRONG, **{what: NUMBERS[what] for what in HUGE}}.items():
                promise = KEEPS[method]
                text = entry(promise, KEPT_BY[promise][0])
                more = f'\n[method]\nname = "{method}"\n{key} = {value}\n'
                yield f"{method}: {key} is {what}", Case(job((PROMISE, text), more=more), expected=None)


CASES = dict([*_promises(), *_methods()])


def tried() -> dict[str, set[str]]:
    """The fields of each promise and method that some case is about."""
    found: dict[str, set[str]] = {name: {*KEPT_BY[name][0], "population"} for name in KEPT_BY}
    found |= {
        method: set().union(*(keys for (name, _), keys in METHODS.items() if name == method))
        for method in catalogue.METHODS
    }
    for case in CASES:
        name, _, rest = case.partition(": ")
        found[name].add(rest.partition(" is ")[0])
    return found
