"""The shapes of the parameters of promises and stages, by name; what has no shape of its own is any value within limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reticent import catalogue
from reticent.release import shape
from reticent.release.numbers import fraction
from reticent.release.shape import Checker, Misshapen

REQUIRED: Mapping[str, tuple[str, ...]] = {"suppression": ("l",)}
"""Parameters without which a promise or stage cannot be read; of promises their README asks for them."""


def at_least_zero(value: Any) -> Any:
    if fraction(shape.number(value)) < 0:
        raise Misshapen("no number from 0 on")
    return value


def above_zero(value: Any) -> Any:
    if fraction(shape.number(value)) <= 0:
        raise Misshapen("no number above 0")
    return value


def whole(value: Any) -> Any:
    found = fraction(shape.number(value))
    if found.denominator != 1 or not 1 <= found <= shape.MOST:
        raise Misshapen("no whole number above 0")
    return value


def weights(value: Any) -> Mapping[str, Any]:
    """A weight for each column that has one."""
    return shape.table_of(at_least_zero)(value)


def refuse_weightless(given: Mapping[str, Any] | None, quasi: Sequence[str]) -> None:
    """Weights are those of quasi-identifiers, 1 where nothing is said, and one of them is above 0: their sum divides."""
    if given and not set(given) <= set(quasi):
        raise Misshapen("a weight is that of no quasi-identifier", inside=True)
    if given and not any(fraction(given.get(name, 1)) for name in quasi):
        raise Misshapen("all weights are 0", inside=True)


_BANDWIDTH = shape.either(shape.number, shape.table_of(shape.either(shape.number, shape.text)), shape.text)
_SHAPES: dict[str, Checker] = {
    "k": whole,
    "l": at_least_zero,
    "alpha": at_least_zero,
    "c": at_least_zero,
    "t": at_least_zero,
    "beta": at_least_zero,
    "delta": at_least_zero,
    "level": shape.number,
    "width": shape.number,
    "rho1": above_zero,
    "rho2": above_zero,
    "lambda": above_zero,
    "smoothing": shape.number,
    "enhanced": shape.flag,
    "two_sided": shape.flag,
    "exact": shape.flag,
    "acknowledge": shape.flag,
    "kernel": shape.text,
    "posterior": shape.text,
    "absent": shape.text,
    "column": shape.text,
    "kind": shape.text,
    "bandwidth": _BANDWIDTH,
    "points": shape.listed(
        lambda value: shape.fields("a point", value, {"bandwidth": _BANDWIDTH, "t": shape.number}, {"bandwidth", "t"})
    ),
}
_OWN: dict[tuple[str, str], Checker] = {
    ("p-privacy", "distance"): shape.number,
    ("t-closeness", "distance"): shape.one_of("equal", "ordered", "hierarchical"),
}


def parameters(name: str, known: Iterable[str]) -> dict[str, Checker]:
    """The shape of each parameter of a promise or stage; of a method, which no audit computes with, any value."""
    if name in catalogue.METHODS:
        return dict.fromkeys(known, shape.parameter)
    return {one: _OWN.get((name, one)) or _SHAPES.get(one, shape.parameter) for one in known}
