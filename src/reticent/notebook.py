"""How our objects look in a notebook: one function for each, in words first and a table below.

They are given the object itself and ask for nothing that it does not print: no file is read and no record shown.
"""

from __future__ import annotations

from typing import Any

from reticent.errors import some
from reticent.showing import lines, page, table, told

VERDICTS = {
    True: "every promise is kept",
    False: "NOT every promise is kept",
    None: "the files alone do not show every promise",
}
KEPT = {True: "yes", False: "NO", None: "not shown"}


def job(self: Any) -> str:
    """What is published and what is promised; where the data come from stays out, it may hold a password."""
    columns = [
        (name, column.role.value, column.type or "by its values", _how(column)) for name, column in self.columns.items()
    ]
    return page(
        f"A job for {self.method.name}",
        table(("column", "role", "type", "how"), columns),
        table(("promise", "parameters"), [_named(promise) for promise in self.promises]),
        table(("preparing stage", "parameters"), [_named(stage) for stage in self.prepare]),
    )


def _how(column: Any) -> str:
    given = {"hierarchy": column.hierarchy is not None, "order": column.order is not None, "top": column.top is not None,
             "bottom": column.bottom is not None, "round_to": column.round_to is not None,
             "rows_per_person": column.rows_per_person is not None}  # fmt: skip
    return ", ".join(name for name, there in given.items() if there) or "-"


def _named(part: Any) -> tuple[str, str]:
    from dataclasses import fields

    given = {field.name.removesuffix("_"): getattr(part, field.name) for field in fields(part)}
    return part.name, told({name: value for name, value in given.items() if value is not None}) or "-"


def check(self: Any) -> str:
    """Whether the promise is reached, by which methods, at what loss."""
    own = self.methods[0]
    head = ("method", "reachable", "groups", "smallest", "withheld", "expected loss (AIL)")
    rows = [(one.method, one.reachable, one.groups, one.smallest, one.withheld, one.ail) for one in self.methods]
    reached = {True: "is reachable", False: "IS NOT reachable", None: "may or may not be reachable"}[own.reachable]
    said = [f"{one.method}: {one.why}" for one in self.methods if one.why]
    title = f"{self.rows:,} rows in {self.cells:,} cells. The promise {reached} by {own.method}."
    return page(title, table(head, rows), lines([*said, *self.warnings]))


def release(self: Any) -> str:
    """What was published: kind, promises and columns, as the manifest says."""
    columns = [(column.name, column.role, column.type) for column in self.columns]
    stated = [(promise.name, told(promise.parameters)) for promise in self.manifest.promises]
    title = f"A {self.kind} release of {self.manifest.rows:,} rows, {self.manifest.withheld:,} withheld"
    parts = (table(("promise", "parameters"), stated), table(("column", "role", "type"), columns))
    return page(title, *parts, lines(self.notices))


def audit(self: Any) -> str:
    """The verdict, what was asked and achieved, and every measure."""
    verdict = VERDICTS[self.kept] if self.promises else "no promise was stated"
    title = f"{self.rows:,} rows in {self.groups:,} groups, {self.withheld:,} withheld: {verdict}"
    promises = [
        (one.model + (f" of {one.column}" if one.column else ""), told(one.asked), told(one.achieved), KEPT[one.kept])
        for one in self.promises
    ]
    measures = [
        (name, "none holds" if value is None else told(value))
        for name, value in {**self.exact, **self.utility}.items()
        if not hasattr(value, "items")
    ]
    parts = [table(("promise", "asked", "achieved", "kept"), promises), table(("measure", "achieved"), measures)]
    if self.source is not None:
        parts.append(lines(self.source.sentences))
    return page(
        title, *parts, lines([*self.disagreements, *self.notes, *([] if self.page is None else [self.page.sentence])])
    )


def hierarchy(self: Any) -> str:
    """Its levels, from the values up: how many labels each has and the first of them."""
    rows = []
    for level in range(self.height + 1):
        labels = list(dict.fromkeys(self.labels[node] for node in self.paths[:, level]))
        first = ", ".join(labels[:5]) + (", ..." if len(labels) > 5 else "")
        rows.append((level, len(labels), first))
    return page(f"A hierarchy of {len(self.leaves):,} values, {some(self.height, 'level')} above them",
                table(("level", "labels", "the first of them"), rows))  # fmt: skip


def attack(self: Any) -> str:
    """What the adversary reached, beside the baseline and the promise."""
    found = self.to_dict()
    rows = [
        (name.replace("_", " "), told(value)) for name, value in found.items() if not isinstance(value, list | dict)
    ]
    return page(
        f"The attack {found.get('attack', '')}".strip(), table(("", ""), rows[1:] if "attack" in found else rows)
    )
