"""P-privacy (Koudas, Srivastava, Yu & Zhang, VLDB 2009, definition 3.2): a group reveals only its target distribution.

G, the nodes of a hierarchy that a group publishes, is P-private if every value t has P(t) = 1/|G| sum over D in G of
P(t | t in D).  With m(N) the members of G at and below a node N, that is: the children C of every node have m(C) in the
ratio of their weights.  (From the root down: P(C) |G| = m(C) + P(C) (members at the root), so m(C) is P(C) times what
the children hold together.)  It is a property of the group's parameters, target and generalization, and compared in
whole numbers.

`target` is what may be believed: "source" (the published table's distribution), "uniform", "group" (each group's own),
{normal = {mean, std}}, {zipf = {s}}, {weights = {value = weight}}, {file = path}, {nearest = {model, ...}} (the nearest
to the group's own that keeps a classic promise), or {groups = {name = target}}.  Unless `exact`, it is rounded to small
weights within `distance` (total variation); what is used is what is promised and published.  `domain` is the grid
[least, greatest, step] of a numeric column.

The promise is about an adversary who does not know the algorithm (errata 4.5), and about which value a person has: it
does not hide that a person is in the data (section 3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reticent.catalogue import PROMISES
from reticent.errors import InternalError
from reticent.models.promise import Promise
from reticent.models.rational_bounds import Number
from reticent.validation import check_parameters, document_parameters

NEAREST_MODEL_PARAMETERS: dict[str, tuple[str, ...]] = {
    "probabilistic-l-diversity": ("l",),
    "t-closeness": ("t", "distance"),
    "beta-likeness": ("beta", "enhanced"),
}


@document_parameters(PROMISES["p-privacy"])
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
        check_parameters(self, as_given=("target",))
        object.__setattr__(self, "target", _convert_files_to_paths(self.target))

    def verify(self, parameters: Mapping[str, Any]) -> None:
        """Raise unless each group's nodes (`group`, `node`, `count`) are P-private under `parent` and `weights`."""
        parent = np.asarray(parameters["parent"])
        weights = np.asarray(parameters["weights"])
        nodes = len(parent)
        depth = np.zeros(nodes, np.int64)
        for node in range(1, nodes):
            depth[node] = depth[parent[node]] + 1
        parts = np.bincount(parent[1:], weights=weights[1:], minlength=nodes).astype(np.int64)
        positive = np.bincount(parent[1:], weights=weights[1:] > 0, minlength=nodes).astype(np.int64)
        key = np.asarray(parameters["group"], np.int64) * nodes + np.asarray(parameters["node"], np.int64)
        counts = np.asarray(parameters["count"], np.int64)
        for level in range(int(depth.max()), 0, -1):
            key, code = np.unique(key, return_inverse=True)
            counts = np.bincount(code.reshape(-1), weights=counts, minlength=len(key)).astype(np.int64)
            at_level = depth[key % nodes] == level
            node = key[at_level] % nodes
            count = counts[at_level]
            above, parent_code = np.unique(key[at_level] // nodes * nodes + parent[node], return_inverse=True)
            passed = np.bincount(parent_code.reshape(-1), weights=count, minlength=len(above)).astype(np.int64)
            present = np.bincount(parent_code.reshape(-1), minlength=len(above))
            top = above % nodes
            large = int(passed.max(initial=0)) * int(parts.max(initial=1)) >= 1 << 62
            dtype = object if large else np.int64
            scaled_count = count.astype(dtype) * parts[top][parent_code]
            scaled_share = weights[node].astype(dtype) * passed[parent_code]
            if (present != positive[top]).any() or (scaled_count != scaled_share).any():
                raise InternalError("A planned generalization is not P-private.", attempt="reporting it, with the job.")
            key = np.concatenate([key[~at_level], above])
            counts = np.concatenate([counts[~at_level], passed])


def _convert_files_to_paths(target: Any) -> Any:
    """Convert a target's files to paths: only the last part of a path is published."""
    if not isinstance(target, Mapping):
        return target
    return {name: Path(value) if name == "file" else _convert_files_to_paths(value) for name, value in target.items()}
