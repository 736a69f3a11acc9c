"""What releases say together, and what overlapping boxes say:  python -m studies.what_else.joins [TABLE ...]

joins-<table>.csv: pairs of releases at l = 3, for each what one alone and both together let somebody believe.
overlaps-<table>.csv: methods whose boxes overlap under usual promises, for each both readings.  One seed.  The tables are those of
`studies.beta_likeness.tables`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reticent as rt
from studies.what_else.labels import RESULTS, save, table

L = (rt.ProbabilisticLDiversity(3),)
PROMISES: dict[str, Any] = {
    "k = 5": rt.KAnonymity(5),
    "l = 2": rt.ProbabilisticLDiversity(2),
    "l = 3": rt.ProbabilisticLDiversity(3),
    "l = 5": rt.ProbabilisticLDiversity(5),
    "beta = 2": rt.BetaLikeness(2),
    "t = 0.3": rt.TCloseness("0.3"),
    "delta = 2, absent ignored": rt.DeltaDisclosure(2, absent="ignore"),
}
JOINED = ("worst_alone", "worst_posterior", "half_alone", "half", "half_low", "half_high", "exceeds", "alone", "success",
          "believed", "control", "exact")  # fmt: skip
OVERLAPPED = ("shared", "promised", "worst_group", "worst_posterior", "exact", "error", "gap", "tables_people", "tables_worst",
              "tables_above_groups", "tables_believed", "tables_right", "tables_right_low", "tables_right_high",
              "tables_exceeds")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.tables or ["census"]:
        frame, columns = table(name)
        save(options.out / f"overlaps-{name}.csv", list(overlaps(frame, columns)))
        save(options.out / f"joins-{name}.csv", list(joins(frame, columns)))


def released(frame: Any, columns: dict[str, Any], promises: Any, method: Any) -> rt.Release:
    asked = rt.Job(columns=columns, promises=promises, method=method, release=rt.Output(undeclared="drop"))
    return rt.publish(asked, frame=frame, seed=1)


def joins(frame: Any, columns: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each pair of releases of the same people."""
    number = next(name for name, column in columns.items() if column.type == "numeric")
    fewer = dict(list(columns.items())[: len(columns) // 2]) | dict(list(columns.items())[-1:])
    strict = rt.Mondrian()
    mosaic = rt.Mosaic(effort="quick")
    pairs = {
        "strict, and by medians": (columns, rt.Mondrian(cuts="median"), strict),
        f"strict, and {number} weighs 3": (columns, rt.Mondrian(weights={number: 3}), strict),
        f"strict, and {number} weighs 4": (columns, rt.Mondrian(weights={number: 4}), strict),
        "strict, and half of the columns": (fewer, strict, strict),
        "mosaic, and strict": (columns, strict, mosaic),
        "strict, and anatomy": (columns, rt.Anatomy(), strict),
    }
    first = {method.name: released(frame, columns, L, method) for method in (strict, mosaic)}
    for name, (published, second, method) in pairs.items():
        other = released(frame, published, L, second)
        found = rt.attack(first[method.name], frame, "composition", joined=[other]).to_dict()
        yield {"pair": name, **{key: _short(found[key]) for key in JOINED}}


def overlaps(frame: Any, columns: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each method and promise whose labels overlap."""
    asked = [(rt.Mosaic(effort="quick"), name) for name in PROMISES] + [(rt.Burel(), "beta = 2")]
    for method, name in asked:
        try:
            made = released(frame, columns, (PROMISES[name],), method)
            found = rt.attack(made, frame, "overlap").to_dict()
        except (rt.PromiseUnreachable, rt.RequestError):
            continue
        yield {"method": method.name, "promise": name, **{key: _short(found[key]) for key in OVERLAPPED}}


def _short(value: Any) -> Any:
    return round(value, 5) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
