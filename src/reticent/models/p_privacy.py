"""P-privacy (Koudas, Srivastava, Yu & Zhang, VLDB 2009, definition 3.2): of a person's value a group says its target, no more.

G, the nodes of a hierarchy that a group publishes, is P-private if every value t has P(t) = 1/|G| sum over D in G of P(t | t in D).
With m(N) the members of G at and below a node N, that is: the children C of every node have m(C) in the ratio of their weights.
(From the root down: P(C) |G| = m(C) + P(C) (members at the root), so m(C) is P(C) times what the children hold together.)  It
is a property of the group's parameters, target and generalization, and compared in whole numbers.

`target` is what may be believed: "source" (the published table's distribution), "uniform", "group" (each group's own),
{normal = {mean, std}}, {zipf = {s}}, {weights = {value = weight}}, {file = path}, {nearest = {model, ...}} (the nearest to the group's
own that keeps a classic promise), or {groups = {name = target}}.  Unless `exact`, it is rounded to small weights within `distance`
(total variation); what is used is what is promised and published.  `domain` is the grid [least, greatest, step] of a numeric column.

The promise is about an adversary who does not know the algorithm (errata 4.5), and about which value a person has: that a person
is in the data is not hidden (section 3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reticent.door import typed
from reticent.errors import InternalError, JobError, suggest
from reticent.models.exact import Number, flag
from reticent.models.exact import exact as number
from reticent.models.shapes import Promise

PLAIN = ("source", "uniform", "group")
SHAPED: dict[str, tuple[str, ...] | None] = {
    "normal": ("mean", "std"),
    "zipf": ("s",),
    "nearest": None,
    "groups": None,
    "weights": None,
    "file": None,
}
NEAREST: dict[str, tuple[str, ...]] = {
    "probabilistic-l-diversity": ("l",),
    "t-closeness": ("t", "distance"),
    "beta-likeness": ("beta", "enhanced"),
}


@dataclass(frozen=True, slots=True)
class PPrivacy(Promise):
    """Of the value of a person in a group the release says only that it follows the group's target distribution."""

    target: Any = "source"
    exact: bool = False
    distance: Fraction = Fraction(1, 20)
    domain: Any = None
    column: str | None = None
    name: ClassVar[str] = "p-privacy"
    needs_sensitive: ClassVar[bool] = True
    paths: ClassVar[tuple[str, ...]] = ("target.file",)

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            target: Any = "source",
            exact: bool = False,
            distance: Number = Fraction(1, 20),
            domain: Any = None,
            column: str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        typed(self)
        check_target(self.target)
        object.__setattr__(self, "target", _with_paths(self.target))
        object.__setattr__(self, "exact", flag(self.exact, "exact"))
        object.__setattr__(self, "distance", number(self.distance, "distance"))
        if not 0 < self.distance < 1:
            raise JobError(
                "p-privacy: distance is how far a target may be rounded, above 0 and below 1.",
                attempt="distance = 0.05, or exact = true for none.",
            )
        if self.domain is not None:
            object.__setattr__(self, "domain", _grid(self.domain))

    def verify(self, parameters: Mapping[str, Any]) -> None:
        """Raise unless each group's nodes (`group`, `node`, `count`) are P-private under `parent` and `weights`."""
        parent, weights = np.asarray(parameters["parent"]), np.asarray(parameters["weights"])
        nodes = len(parent)
        depth = np.zeros(nodes, np.int64)
        for node in range(1, nodes):
            depth[node] = depth[parent[node]] + 1
        parts = np.bincount(parent[1:], weights=weights[1:], minlength=nodes).astype(np.int64)
        positive = np.bincount(parent[1:], weights=weights[1:] > 0, minlength=nodes).astype(np.int64)
        key = np.asarray(parameters["group"], np.int64) * nodes + np.asarray(parameters["node"], np.int64)
        held = np.asarray(parameters["count"], np.int64)
        for level in range(int(depth.max()), 0, -1):
            key, at = np.unique(key, return_inverse=True)
            held = np.bincount(at.reshape(-1), weights=held, minlength=len(key)).astype(np.int64)
            here = depth[key % nodes] == level
            node, count = key[here] % nodes, held[here]
            above, which = np.unique(key[here] // nodes * nodes + parent[node], return_inverse=True)
            passed = np.bincount(which.reshape(-1), weights=count, minlength=len(above)).astype(np.int64)
            present = np.bincount(which.reshape(-1), minlength=len(above))
            top = above % nodes
            large = int(passed.max(initial=0)) * int(parts.max(initial=1)) >= 1 << 62
            wide = object if large else np.int64
            left, right = count.astype(wide) * parts[top][which], weights[node].astype(wide) * passed[which]
            if (present != positive[top]).any() or (left != right).any():
                raise InternalError("A planned generalization is not P-private.", attempt="reporting it, with the job.")
            key, held = np.concatenate([key[~here], above]), np.concatenate([held[~here], passed])


def check_target(target: Any, *, inner: bool = False) -> None:
    """A target that can be read; what it names is looked up when there is data."""
    if isinstance(target, str) and target in PLAIN:
        return
    if not isinstance(target, Mapping) or len(target) != 1 or next(iter(target)) not in SHAPED:
        raise JobError(
            "p-privacy: the target is not known.",
            attempt=f'{suggest(str(target), PLAIN)[:-1]}, {{ normal = {{ mean, std }} }}, {{ zipf = {{ s }} }}, {{ file = "target.csv" }}, '
            "{ weights = { value = weight } }, { nearest = { model = ... } } or { groups = { name = target } }.",
        )
    kind, given = next(iter(target.items()))
    if kind == "file":
        if not isinstance(given, str | Path):
            raise JobError("p-privacy: a target's file is a path.", attempt='target = { file = "target.csv" }.')
        return
    if not isinstance(given, Mapping) or not given:
        raise JobError(f"p-privacy: {kind} is a table.", attempt=f"target = {{ {kind} = {{ ... }} }}.")
    if kind == "groups":
        if inner:
            raise JobError("p-privacy: a group's target has no groups.", attempt="one table of groups.")
        for each in given.values():
            check_target(each, inner=True)
    elif kind == "nearest":
        _check_nearest(given)
    elif kind in ("normal", "zipf"):
        _check_numbers(kind, given)
    elif kind == "weights":
        _check_weights(given)


def _with_paths(target: Any) -> Any:
    """A target's files as paths: of a path only the last part is published."""
    if not isinstance(target, Mapping):
        return target
    return {name: Path(given) if name == "file" else _with_paths(given) for name, given in target.items()}


def _check_numbers(kind: str, given: Mapping[str, Any]) -> None:
    wanted = SHAPED[kind] or ()
    if set(given) != set(wanted):
        raise JobError(f"p-privacy: {kind} takes {' and '.join(wanted)}.", attempt=f"{wanted[0]} = 1.")
    numbers = {name: number(value, name) for name, value in given.items()}
    if numbers.get("std", 1) <= 0 or numbers.get("s", 0) < 0:
        raise JobError(f"p-privacy: {wanted[-1]} of {kind} must be above 0.", attempt=f"{wanted[-1]} = 1.")


def _check_nearest(given: Mapping[str, Any]) -> None:
    model = given.get("model")
    if model not in NEAREST:
        raise JobError(f"p-privacy: nearest knows no {model!r}.", attempt=suggest(str(model), NEAREST))
    needed, known = NEAREST[model][0], NEAREST[model]
    if needed not in given or set(given) - {"model", *known}:
        raise JobError(f"p-privacy: nearest {model} takes {' and '.join(known)}.", attempt=f"{needed} = ...")
    if number(given[needed], needed) <= 0:
        raise JobError(f"p-privacy: {needed} of nearest must be above 0.", attempt=f"{needed} = 2.")


def _check_weights(given: Mapping[str, Any]) -> None:
    weights = [number(value, "a weight") for value in given.values()]
    if min(weights) < 0 or not sum(weights):
        raise JobError(
            "p-privacy: weights are 0 or more, and not all 0.",
            why=f"{sum(weight < 0 for weight in weights)} of {len(weights)} are negative.",
            attempt="a positive weight for every value that occurs.",
        )


def _grid(domain: Any) -> tuple[Fraction, Fraction, Fraction]:
    if not isinstance(domain, list | tuple) or len(domain) != 3:
        raise JobError("p-privacy: a domain is [least, greatest, step].", attempt="domain = [0, 100, 5].")
    least, greatest, step = (number(value, "domain") for value in domain)
    if step <= 0 or greatest <= least or (greatest - least) % step:
        raise JobError(
            "p-privacy: a domain goes from its least to its greatest value in whole steps above 0.",
            attempt="domain = [0, 100, 5].",
        )
    return least, greatest, step
