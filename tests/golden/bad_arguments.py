"""Wrong arguments to public classes and functions: every parameter with values of every sort, one at a time."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import reticent as rt

CLASSES: dict[str, dict[str, Any]] = {
    "KAnonymity": {"k": 3},
    "AlphaKAnonymity": {"alpha": "1/2", "k": 3},
    "KMap": {"k": 4, "population": "population.csv"},
    "DistinctLDiversity": {"l": 2},
    "ProbabilisticLDiversity": {"l": 2},
    "EntropyLDiversity": {"l": 2},
    "RecursiveLDiversity": {"c": 2, "l": 2},
    "LDichotomy": {"l": 2},
    "TCloseness": {"t": 0.4},
    "DeltaDisclosure": {"delta": 3},
    "BetaLikeness": {"beta": 4},
    "SemanticLikeness": {"beta": 2, "level": 1},
    "ProximityLikeness": {"beta": 4, "width": 1000},
    "BTPrivacy": {"bandwidth": 0.3, "t": 0.6},
    "Skyline": {"points": [{"bandwidth": 0.3, "t": 0.6}]},
    "RhoGuarantee": {"rho1": 0.2, "rho2": 0.6, "lambda_": 0.4},
    "DeltaGrowth": {"delta": 0.4, "lambda_": 0.4},
    "PPrivacy": {"target": "source"},
    "Mondrian": {},
    "Mosaic": {},
    "Burel": {},
    "Sabre": {},
    "BetaPerturbation": {},
    "Anatomy": {},
    "Distribution": {"group_by": ["city"]},
    "PerturbedGeneralization": {"k": 2},
    "Suppression": {"l": 2},
    "Output": {},
    "Source": {"path": "people.csv"},
    "Spark": {},
    "Workload": {},
    "identifying": {},
    "quasi": {},
    "sensitive": {},
    "insensitive": {},
}
"""Public classes with arguments that are right."""

WRONG: dict[str, Any] = {
    "none": None,
    "true": True,
    "zero": 0,
    "one": 1,
    "negative": -1,
    "half": 0.5,
    "large": 10**30,
    "nan": float("nan"),
    "infinite": float("inf"),
    "fraction": "1/3",
    "text": "x",
    "empty": "",
    "list": [],
    "texts": ["a", "b"],
    "mapping": {"a": 1},
    "class": int,
}
"""Values that are wrong for most parameters; where one is right, that is what is pinned."""


def message_of(call: Any, arguments: dict[str, Any]) -> str:
    """What a call says of its arguments: an error with its type, or the repr of what it makes."""
    try:
        made = call(**arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return repr(made)


def argument_messages() -> Iterator[tuple[str, str]]:
    """One item for each class or function: all of its parameters, each with every wrong value."""
    for name, good in CLASSES.items():
        call = getattr(rt, name)
        lines = [f"good: {message_of(call, good)}"]
        parameters = list(inspect.signature(call).parameters.values())
        lines.append(f"parameters: {', '.join(parameter.name for parameter in parameters)}")
        for parameter in parameters:
            if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            for sort, value in WRONG.items():
                lines.append(f"{parameter.name} {sort}: {message_of(call, {**good, parameter.name: value})}")
        lines.append(f"unknown: {message_of(call, {**good, 'unknown': 1})}")
        yield name, "\n".join(lines) + "\n"
