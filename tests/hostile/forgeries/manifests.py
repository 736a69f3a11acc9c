"""Manifests that were rewritten and sealed again: each is refused, or the audit says that nothing proves the folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Change = Callable[[dict[str, Any]], Any]
HUGE = "1e999999999"
OTHER = {"mondrian": "mosaic", "mosaic": "mondrian", "burel": "sabre"}


def _column(manifest: dict[str, Any], role: str) -> dict[str, Any]:
    return next(column for column in manifest["columns"] if column["role"] == role)


def _promise(change: Change) -> Change:
    return lambda manifest: [change(promise) for promise in manifest["promises"]]


def _loosened(promise: dict[str, Any]) -> None:
    for name in ("beta", "rho2", "distance"):
        if name in promise:
            promise[name] = 0.9 if name == "rho2" else 40
    for name in ("l", "k"):
        if name in promise:
            promise[name] = 1


def _numbers(value: Any) -> Change:
    """Every number of every promise is another."""

    def change(promise: dict[str, Any]) -> None:
        for name, given in promise.items():
            if isinstance(given, int | float) and not isinstance(given, bool):
                promise[name] = value
        promise.setdefault("beta", value) if promise["model"] == "beta-likeness" else None

    return _promise(change)


def _tree(column: dict[str, Any]) -> None:
    tree = column.get("hierarchy") or [[text, "*"] for text in column.get("values", [])] or [["flu", "*"]]
    column["hierarchy"] = [*tree, ["Ann of Ulm", *tree[0][1:]]]
    column.pop("values", None)


SAID: dict[str, Change] = {
    "a promise loosened": _promise(_loosened),
    "seeded taken away or said": lambda m: m.pop("seeded", None) or m.update(seeded=True),
    "another version": lambda m: m.update(reticent="99.0.1"),
    "more rows withheld than were": lambda m: m.update(withheld=m["withheld"] + 7),
    "promises dropped": lambda m: m.update(promises=[]),
    "another method of the kind": lambda m: m.update(
        method={"name": OTHER.get(m["method"]["name"], m["method"]["name"])}
    ),
    "a parameter of the method": lambda m: (
        m["method"].update(cuts="median") if m["method"]["name"] == "mondrian" else None
    ),
    "a stage that was not": lambda m: m.update(prepare=[{"name": "suppression", "l": 2}]),
    "a hierarchy with a value that no row shows": lambda m: _tree(_column(m, "quasi-identifying")),
    "a wider domain": lambda m: [column.update(domain=[0, 10**6]) for column in m["columns"] if column.get("domain")],
}
"""The files are those of another release: refused, or said that nothing proves them."""

REFUSED: dict[str, Change] = {
    "a promise unknown": lambda m: m["promises"].append({"model": "perfect-secrecy"}),
    "a parameter unknown": _promise(lambda promise: promise.update(strength="total")),
    "a method unknown": lambda m: m.update(method={"name": "wizardry"}),
    "a method of another kind": lambda m: m.update(
        method={"name": "anatomy" if m["kind"] == "generalized" else "mondrian"}
    ),
    "a stage unknown": lambda m: m.update(prepare=[{"name": "wizardry"}]),
    "a stage without its parameter": lambda m: m.update(prepare=[{"name": "suppression"}]),
    "a version that is a sentence": lambda m: m.update(reticent="Ann has the flu"),
    "a role changed": lambda m: _column(m, "quasi-identifying").update(role="sensitive"),
    "a role that is never published": lambda m: _column(m, "quasi-identifying").update(role="identifying"),
    "a value that no row shows": lambda m: _column(m, "quasi-identifying").update(values=["Ann of Ulm"]),
    "a domain of one end": lambda m: _column(m, "quasi-identifying").update(domain=[3]),
    "a domain that ends before it begins": lambda m: _column(m, "quasi-identifying").update(domain=[90, 3]),
    "a domain of texts": lambda m: _column(m, "quasi-identifying").update(domain=["Ann", "Bob"]),
    "a domain that is not finite": lambda m: _column(m, "quasi-identifying").update(domain=[0, float("inf")]),
    "a top that is no number": lambda m: _column(m, "quasi-identifying").update(top=float("nan")),
    "a data type unknown": lambda m: _column(m, "sensitive").update(dtype="Secret"),
    "a decimal of a thousand digits": lambda m: _column(m, "sensitive").update(
        dtype="Decimal(precision=1000, scale=999)"
    ),
    "a zone that is none": lambda m: _column(m, "sensitive").update(
        dtype="Datetime(time_unit='us', time_zone='Ann/Ulm')"
    ),
    "a column that stands twice": lambda m: m["columns"].append(dict(m["columns"][0])),
    "a key beside the columns": lambda m: m.update(people=["Ann"]),
    "a key in a column": lambda m: m["columns"][0].update(people=["Ann"]),
    "many keys": lambda m: m.update({f"key {number}": number for number in range(10**4)}),
    "a number of rows beyond counting": lambda m: m.update(rows=10**30),
    "no rows": lambda m: m.update(rows=0),
    "people beyond counting": lambda m: m.update(rows_per_person=10**30),
    "a number of a thousand digits": _numbers(int("9" * 1000)),
    "a number of a thousand million digits": _numbers(HUGE),
    "a number close to nothing": _numbers("1e-999999999"),
    "a fraction of nothing": _numbers("1/0"),
    "not a number": _numbers(float("nan")),
    "infinity": _numbers(float("inf")),
    "infinity as a text": _numbers("inf"),
    "minus one": _numbers(-1),
    "a truth where a number belongs": _numbers(True),
    "weights beyond counting": lambda m: m.update(weights={"age": HUGE}),
    "weights below nothing": lambda m: m.update(weights={"age": -1}),
    "weights of nothing": lambda m: m.update(
        weights={column["name"]: 0 for column in m["columns"] if column["role"] == "quasi-identifying"}
    ),
    "weights of nothing, as texts": lambda m: m.update(
        weights={column["name"]: "0/7" for column in m["columns"] if column["role"] == "quasi-identifying"}
    ),
    "a weight of no column": lambda m: m.update(weights={"Ann of Ulm": 1}),
    "deep parameters": lambda m: m["method"].update(weights=_deep(60)),
    "a name with an end in it": lambda m: m.update(data=["da\x00ta.parquet", *m["data"][1:]]),
    "a matrix beyond counting": lambda m: m.update(matrix=[[HUGE]]),
    "a matrix of fractions that multiply": lambda m: m.update(
        matrix=[[f"1/{10**300 + 2 * at + 7}" for at in range(len(m.get("values", [1])))] for _ in m.get("values", [1])]
    ),
    "p beyond counting": lambda m: m.update(p="1e-999999999"),
    "targets beyond counting": lambda m: m.update(targets=[[10**40]]),
}
"""Each is refused by every reader that looks at it."""


def _deep(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = {"deeper": [found]}
    return found
