"""The method of a release, run again on other tables of the same people: what would it have published?

A table gives each person a value.  Releases are compared as a recipient sees them: each group's label, or its exact
people where they are published, with how often it holds each value; never by the numbers of groups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reticent import registry
from reticent.attacks.target import AttackTarget, count_cells, declare_columns, widen_spans
from reticent.data.cells import Cells, build_cells, find_distinct_rows
from reticent.data.columns import Role
from reticent.errors import JobError, PromiseUnreachable, RequestError
from reticent.format.manifest import Manifest
from reticent.methods.recipe_planning import compose_recipe
from reticent.models.promise import Promises
from reticent.plugins import is_plugin_name
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
from reticent.recipe.recipe import Recipe

INCOMPLETE_MANIFEST_REASON = "the manifest does not tell all that the promise is about"
ShownGroups = tuple[tuple[Any, ...], ...]
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
        """Make the cells of a table in which these people have these values."""
        ones = np.ones(len(values), np.int64)
        quasi = self.cells.quasi
        sensitive = self.cells.sensitive
        cells = build_cells(quasi, sensitive, self.points[self.point], values[:, None].astype(np.int32), ones)[0]
        return replace(cells, rows_per_person=self.cells.rows_per_person)

    def recipe(self, values: np.ndarray, key: int) -> Recipe:
        return compose_recipe((), self.method, self.table(values), self.promises, Random.from_seed(key))

    def publish_table(self, values: np.ndarray, key: int) -> ShownGroups | None:
        """Return what is published of this table with this key; None if the method finds no groups that keep its promises."""
        try:
            recipe = self.recipe(values, key)
        except PromiseUnreachable:
            return None
        if not self.labelled:
            groups = recipe.as_groups()
            point = groups.cells.point[groups.cell]
            return identify_groups_by_people(groups.group, point, groups.quota, groups.histogram(0))
        recipe, labels = merge_equal_labels(recipe)
        names = [[texts[label] for label in labels.of_group[:, axis]] for axis, texts in enumerate(labels.texts)]
        return sort_shown_groups(list(zip(*names, strict=True)), recipe.as_groups().histogram(0))


def sort_shown_groups(names: list[tuple[Any, ...]], counts: np.ndarray) -> ShownGroups:
    return tuple(sorted(((name, *map(int, row)) for name, row in zip(names, counts, strict=True)), key=repr))


def identify_groups_by_people(
    group: np.ndarray, point: np.ndarray, people: np.ndarray, counts: np.ndarray
) -> ShownGroups:
    """Identify groups by the people who are in them."""
    members: list[dict[int, int]] = [{} for _ in counts]
    for group_number, point_number, count in zip(group.tolist(), point.tolist(), people.tolist(), strict=True):
        members[group_number][point_number] = members[group_number].get(point_number, 0) + int(count)
    return sort_shown_groups([tuple(sorted(group_members.items())) for group_members in members], counts)


def read_shown_groups(release: Any, target: AttackTarget) -> ShownGroups:
    """Read the groups of the release itself, from its files."""
    names = [domain.name for domain in target.quasi]
    if not registry.load_writer(release.kind).generalizes:
        point, group, people = target.sight.memberships(target.points, target.people, 1)
        return identify_groups_by_people(group, point, np.asarray(people), target.counts)
    frame = release.tables["data"]
    sensitive = target.sensitive
    code = {text: number for number, text in enumerate(sensitive.texts)} | {None: sensitive.null_code}
    counts_by_label: dict[tuple[Any, ...], np.ndarray] = {}
    counted = frame.group_by([*names, sensitive.name]).len(name="\x00count").rows()
    for *label, value, count in counted:
        row = counts_by_label.setdefault(tuple(label), np.zeros(sensitive.size, np.int64))
        row[code[None if value is None else str(value)]] += count
    return sort_shown_groups(
        list(counts_by_label), np.array([*counts_by_label.values()]).reshape(len(counts_by_label), -1)
    )


def make_publisher(release: Any, source: Any, missing: tuple[str, ...]) -> Publisher | str:
    """Make the publisher from the manifest of a release; or return why the method cannot be run again."""
    manifest: Manifest = release.manifest
    if manifest.withheld > manifest.withheld_missing or manifest.prepare:
        return "rows were withheld, and nobody sees which"
    if any(column.labels and "padded" in str(column.labels) for column in manifest.columns):
        return "ends of ranges were moved by secret amounts"
    if any(is_plugin_name(component.name) for component in (manifest.method, *manifest.promises)):
        return "its method or a promise is a plugin's, which no release may make its reader run"
    try:
        method = registry.make_method({"name": manifest.method.name, **manifest.method.parameters})
        promises = Promises.from_iterable(
            registry.make_promise(promise.to_dict("model")) for promise in manifest.promises
        )
    except JobError:
        return INCOMPLETE_MANIFEST_REASON
    declared = declare_columns(release.columns)
    for column in release.columns:
        if column.role == Role.QUASI:
            style = column.labels or ("tight" if column.type in ("numeric", "date") and not column.hierarchy else None)
            declared[column.name] = replace(declared[column.name], labels=style)
    cells = widen_spans(count_cells(declared, source, missing), release.columns)
    cells = replace(cells, rows_per_person=manifest.rows_per_person)
    try:
        promises.bind(cells)
    except RequestError:  # a population, or distances from a file
        return INCOMPLETE_MANIFEST_REASON
    points, point_of_cell = find_distinct_rows(cells.codes)
    point = np.repeat(point_of_cell, cells.counts)
    order = np.argsort(point, kind="stable")
    labelled = registry.load_writer(release.kind).generalizes
    return Publisher(method, promises, cells, points, point[order], labelled)
