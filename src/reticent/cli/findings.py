"""What an audit found, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reticent.cli.printing import number, say, say_table

VERDICT = {
    "kept": "Every promise is kept.",
    "broken": "NOT every promise is kept.",
    "undecided": "The files alone do not show every promise.",
    "differs": "No promise is broken, but the release is NOT what its source or job says.",
}
OPEN = "Every promise is kept, but whether the release is that of its source could not be decided."
READ_OTHERWISE = "A source that is read otherwise than at publication differs too: give --job, or --missing, --delimiter, --encoding."
UNKNOWN = "not known (see the notes)"
KEPT = {True: "yes", False: "NO", None: "not shown"}


def headline(found: Mapping[str, Any], together: str | None = None) -> str:
    """The verdict of a release alone and, where there are earlier ones of the same people, `together` with them."""
    stated = found["promises"] or found["verdict"] == "differs"
    verdict = VERDICT[found["verdict"]] if stated else "No promise was stated."
    if found["verdict"] == "undecided" and found["promises"] and all(promise["kept"] for promise in found["promises"]):
        verdict = OPEN
    if together is None:
        return verdict
    return f"Alone, {verdict[0].lower() if verdict[1:2].islower() else verdict[0]}{verdict[1:-1]}; {together}."


def say_findings(found: Mapping[str, Any], together: str | None = None) -> None:
    """The verdict, each promise with what was asked and achieved, the measures, and what the source adds."""
    withheld = "an unknown number" if found["withheld"] is None else f"{found['withheld']:,}"
    say(f"{found['rows']:,} rows in {found['groups']:,} groups, {withheld} withheld. {headline(found, together)}")
    if found["promises"]:
        say("")
        say_table(("promise", "asked", "achieved", "kept", "evidence"), map(_promise, found["promises"]), indent=2)
    _say_measures(found)
    if source := found.get("source"):
        say("", *source["sentences"])
        if not source["passed"]:
            say("", f"The comparison with the source failed. {READ_OTHERWISE}")
    if carried := found.get("carried"):
        say("")
        ties = [", ".join(f"{name} {value:.2f}" for name, value in one["association"].items()) for one in carried]
        rows = [
            (one["column"], f"{one['distinct']:,}", f"{one['unique']:.1%}", tie)
            for one, tie in zip(carried, ties, strict=True)
        ]
        say_table(
            ("carried column", "distinct values", "rows with one of their own", "association (Cramer's V)"),
            rows,
            indent=2,
        )
    for line in found.get("disagreements", ()):
        say("", f"Not as the job says: {line}.")
    for promise in found["promises"]:
        if promise.get("why"):
            say("", f"{promise['model']} is not shown: {promise['why']}.")
    for line in found.get("notes", ()):
        say("", f"Note: {line}")
    if page := found.get("page"):
        say("", page["says"])
    if identity := found.get("identity"):
        say("", identity["says"])


def _say_measures(found: Mapping[str, Any]) -> None:
    """Every measure; where several columns are sensitive, the worst of them and each column's own."""
    columns: Mapping[str, Mapping[str, Any]] = found.get("achieved_by_column", {})
    utility = {name: UNKNOWN if value is None else value for name, value in found.get("utility", {}).items()}
    measures = {**found["achieved"], **utility}
    rows = [
        (name, _measure(value), *(_measure(one[name]) if name in one else "" for one in columns.values()))
        for name, value in measures.items()
        if not isinstance(value, Mapping)
    ]
    if rows:
        say("")
        say_table(("measure", "achieved, at worst" if columns else "achieved", *columns), rows, indent=2)


def _promise(entry: Mapping[str, Any]) -> tuple[str, ...]:
    about = f" of {entry['column']}" if entry.get("column") else ""
    return (
        entry["model"] + about,
        _pairs(entry["asked"]),
        _pairs(entry["achieved"]),
        KEPT[entry["kept"]],
        entry["evidence"],
    )


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_measure(value)}" for name, value in values.items())


def _measure(value: Any) -> str:
    if isinstance(value, Mapping):
        return _pairs(value)
    if isinstance(value, list):
        return "; ".join(map(_measure, value)) or "none"
    return "none holds" if value is None else number(value)
