"""The method of a release, run again on other tables of the same people: what would it have published?

A table gives each person a value.  Releases are compared as a recipient sees them: each group's label, or its exact people where
they are published, with how often it holds each value; never by numbers that groups happen to have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reticent import registry
from reticent.attacks.seen import Seen, cells_of, declared_of, spanned
from reticent.errors import JobError, PromiseUnreachable, RequestError
from reticent.methods.compose import plan
from reticent.methods.relabelled import relabelled
from reticent.models.promises import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import coalesce, pad
from reticent.recipe.recipe import Recipe
from reticent.release.manifest import Manifest
from reticent.table.cells import Cells, distinct_rows, gather
from reticent.table.roles import Role

UNTOLD = "the manifest does not tell all that the promise is about"
Shown = tuple[tuple[Any, ...], ...]
"""A release: (label or people, counts of values) of each group, in an order of their own."""


@dataclass(frozen=True, eq=False)
class Publisher:
    """A method with its options and promises over known people; `point` is each person's combination of quasi-identifiers."""

    method: Any
    promises: Promises
    cells: Cells
    points: np.ndarray  # (points, quasi)
    point: np.ndarray  # (people,)
    labelled: bool

    @property
    def draws(self) -> bool:
        """Whether the key decides anything."""
        return not getattr(self.method, "deterministic", False)

    def table(self, values: np.ndarray) -> Cells:
        """The cells of a table in which these people have these values."""
        ones = np.ones(len(values), np.int64)
        quasi, sensitive = self.cells.quasi, self.cells.sensitive
        made = gather(quasi, sensitive, self.points[self.point], values[:, None].astype(np.int32), ones)[0]
        return replace(made, rows_per_person=self.cells.rows_per_person)

    def recipe(self, values: np.ndarray, key: int) -> Recipe:
        cells, rng = self.table(values), Random.from_seed(key)
        made = pad(replace(plan((), self.method, cells, self.promises, rng), cells=cells), rng)
        return relabelled(self.promises, cells, made) if self.labelled else made

    def shown(self, values: np.ndarray, key: int) -> Shown | None:
        """What is published of this table with this key; None where the method finds no groups that keep its promises."""
        try:
            recipe = self.recipe(values, key)
        except PromiseUnreachable:
            return None
        if not self.labelled:
            groups = recipe.as_groups()
            point = groups.cells.point[groups.cell]
            return with_people(groups.group, point, groups.quota, groups.histogram(0))
        recipe, labels = coalesce(recipe)
        names = [[texts[at] for at in labels.of_group[:, axis]] for axis, texts in enumerate(labels.texts)]
        return in_order(list(zip(*names, strict=True)), recipe.as_groups().histogram(0))


def in_order(names: list[tuple[Any, ...]], counts: np.ndarray) -> Shown:
    return tuple(sorted(((name, *map(int, row)) for name, row in zip(names, counts, strict=True)), key=repr))


def with_people(group: np.ndarray, point: np.ndarray, people: np.ndarray, counts: np.ndarray) -> Shown:
    """Groups that are known by who is in them."""
    held: list[dict[int, int]] = [{} for _ in counts]
    for at, who, many in zip(group.tolist(), point.tolist(), people.tolist(), strict=True):
        held[at][who] = held[at].get(who, 0) + int(many)
    return in_order([tuple(sorted(one.items())) for one in held], counts)


def published(release: Any, seen: Seen) -> Shown:
    """The release itself, from its files."""
    names = [domain.name for domain in seen.quasi]
    if not registry.writer(release.kind).generalizes:
        point, group, people = seen.sight.memberships(seen.points, seen.people, 1)
        return with_people(group, point, np.asarray(people), seen.counts)
    frame, sensitive = release.tables["data"], seen.sensitive
    code = {text: at for at, text in enumerate(sensitive.texts)} | {None: sensitive.null_code}
    held: dict[tuple[Any, ...], np.ndarray] = {}
    counted = frame.group_by([*names, sensitive.name]).len(name="\x00count").rows()
    for *label, value, many in counted:
        row = held.setdefault(tuple(label), np.zeros(sensitive.size, np.int64))
        row[code[None if value is None else str(value)]] += many
    return in_order(list(held), np.array([*held.values()]).reshape(len(held), -1))


def publisher(release: Any, source: Any, missing: tuple[str, ...]) -> Publisher | str:
    """The method of a release as its manifest tells it; or why it cannot be run again."""
    manifest: Manifest = release.manifest
    if manifest.withheld or manifest.prepare:
        return "rows were withheld, and nobody sees which"
    if any(column.labels and "padded" in str(column.labels) for column in manifest.columns):
        return "ends of ranges were moved by secret amounts"
    try:
        method = registry.method_from({"name": manifest.method.name, **manifest.method.parameters})
        promises = Promises.of(registry.promise_from(promise.to_dict("model")) for promise in manifest.promises)
    except JobError:
        return UNTOLD
    declared = declared_of(release.columns)
    for column in release.columns:
        if column.role == Role.QUASI:
            style = column.labels or ("tight" if column.type in ("numeric", "date") and not column.hierarchy else None)
            declared[column.name] = replace(declared[column.name], labels=style)
    cells = spanned(cells_of(declared, source, missing), release.columns)
    cells = replace(cells, rows_per_person=manifest.rows_per_person)
    try:
        promises.bind(cells)
    except RequestError:  # a population, or distances from a file
        return UNTOLD
    points, at = distinct_rows(cells.codes)
    point = np.repeat(at, cells.counts)
    order = np.argsort(point, kind="stable")
    labelled = registry.writer(release.kind).generalizes
    return Publisher(method, promises, cells, points, point[order], labelled)
