"""Every parameter that has a default, set to something else: what the contract tries beside the defaults.

Choices and flags are those of the catalogue, so that a new one is tried by being declared there; of other parameters the value
stands in `OTHER_VALUES`, and a test asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from reticent import catalogue, registry
from tests.support import contract_examples
from tests.support.method_promise_pairs import Draft, Pair, drafted, pairs, takes_stages

OWNERS = {"method": catalogue.METHODS, "stage": catalogue.STAGES, "promise": catalogue.PROMISES}
COLUMN = "column"  # which column is meant: the pairs of settings try it
CLASSES = [["flu", "cold", "asthma"], ["ulcer", "gastritis", "colitis"]]
BESIDE: dict[tuple[str, str, Any], dict[str, Any]] = {
    ("suppression", "kind", "eligible"): {"acknowledge": True},
    ("suppression", "kind", "unsafe"): {"acknowledge": True},
    ("suppression", "kind", "calibrated"): {"prior": "uniform"},
    ("suppression", "prior", "uniform"): {"kind": "calibrated"},
    ("suppression", "acknowledge", True): {"kind": "unsafe"},
    ("distribution", "within", "hilbert"): {"size": 40},
    ("distribution", "size", 40): {"within": "hilbert"},
    ("distribution", "k", 20): {"group_by": "mondrian"},
    ("distribution", "group_by", "mondrian"): {"k": 20},
    ("perturbed-generalization", "cuts", "gain"): {"reference": "others"},
    ("perturbed-generalization", "reference", "others"): {"cuts": "gain"},
    ("perturbed-generalization", "s", 0.25): {"k": None},
    ("perturbed-generalization", "grouping", "specialization"): {"categories": CLASSES},
    ("bt-privacy", "bandwidth_by", "held-out"): {"bandwidth": {"age": 0.1, "city": "whole"}},
}
"""What a setting needs beside it."""

OTHER_VALUES: dict[tuple[str, str], tuple[Any, ...]] = {
    ("mondrian", "weights"): ({"age": 2},),
    ("mosaic", "effort"): (0.2,),
    ("mosaic", "weights"): ({"age": 2},),
    ("mosaic", "threads"): (2,),
    ("burel", "share"): ("auto", 0.5),
    ("burel", "refine"): (3,),
    ("sabre", "share"): (0.5,),
    ("beta-perturbation", "conditioning"): (0.25,),
    ("distribution", "group_by"): (["city"], {"age": [40]}, "mondrian"),
    ("distribution", "fakes"): (0.1, 2),
    ("distribution", "arity"): (3,),
    ("distribution", "size"): (40,),
    ("distribution", "k"): (20,),
    ("distribution", "workload"): ({"age": 0.2},),
    ("perturbed-generalization", "p"): (0.1,),
    ("perturbed-generalization", "k"): (4,),
    ("perturbed-generalization", "s"): (0.25,),
    ("perturbed-generalization", "reference"): ("others",),
    ("perturbed-generalization", "categories"): (),  # with grouping = "specialization"
    ("perturbed-generalization", "domain"): ([name for name, *_ in contract_examples.ILLNESS],),
    ("perturbed-generalization", "weights"): ({"age": 2},),
    ("semantic-beta-likeness", "level"): (),
    ("p-privacy", "target"): ("uniform", "group"),
    ("p-privacy", "distance"): (0.2,),
    ("p-privacy", "domain"): (),
    ("bt-privacy", "bandwidth"): ("auto", {"default": 0.5, "city": "whole"}),
    ("bt-privacy", "smoothing"): (0.6,),
    ("bt-privacy", "distances"): (),
    ("skyline", "smoothing"): (0.6,),
    ("skyline", "distances"): (),
}
"""Values of parameters that are no choices.  One without a value needs another table, and its own tests try it."""


@dataclass(frozen=True)
class Setting:
    """A parameter of a method, a stage or a promise, and a value that is not its default."""

    what: str
    owner: str
    name: str
    value: Any = field(compare=False)

    def __str__(self) -> str:
        return f"{self.owner}: {self.shown}"

    @property
    def shown(self) -> str:
        return f"{self.name} = {json.dumps(self.value)}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The setting with what it needs beside it."""
        is_plain = isinstance(self.value, str | int | float)
        beside = BESIDE.get((self.owner, self.name, self.value), {}) if is_plain else {}
        given = {self.name: self.value, **beside}
        return given | ({"reference": others()} if "reference" in given else {})


def others() -> pl.DataFrame:
    """People who are not published, with the same columns: the reference of `cuts = "gain"`."""
    return contract_examples.people().select(pl.col("age") + 1, "city", pl.col("illness").shuffle(seed=3))


def list_settings() -> Iterator[Setting]:
    """List every parameter with every choice, flag or value that is not its default."""
    for what, table in OWNERS.items():
        for owner, row in table.items():
            for name, declared in row.fields.items():
                yield from (Setting(what, owner, name, value) for value in list_other_values(owner, name, declared))


def list_other_values(owner: str, name: str, declared: catalogue.Field) -> Sequence[Any]:
    """List the values of a parameter that are tried; of one that a job must give, its example is tried everywhere."""
    if declared.kind == "choice":
        return [choice for choice in declared.choices if choice != declared.default]
    if declared.kind == "flag":
        return [not declared.default]
    if declared.required or name == COLUMN:
        return OTHER_VALUES.get((owner, name), ())
    return OTHER_VALUES[owner, name]


def concerns(setting: Setting, pair: Pair) -> bool:
    """Tell whether the jobs of a pair have the owner of a setting."""
    if setting.what == "method":
        return pair.method == setting.owner
    if setting.what == "promise":
        return setting.owner in pair.promises
    return takes_stages(pair.method)


def draft_settings() -> Iterator[tuple[Setting, Pair]]:
    """Pair every setting with one method and promise, which take turns."""
    number_of: dict[str, int] = {}
    for setting in list_settings():
        concerned = [pair for pair in pairs() if concerns(setting, pair)]
        number = number_of.get(setting.owner, 0)
        number_of[setting.owner] = number + 1
        yield setting, concerned[number % len(concerned)]


def draft_with(setting: Setting, pair: Pair) -> Draft:
    """Draft a pair's job with a setting."""
    draft = drafted(pair)
    if setting.what == "stage":
        draft.frame = contract_examples.skewed()
        draft.stages = [registry.make_stage({"name": setting.owner, "l": 2, **setting.parameters})]
    else:
        draft.settings[setting.owner] = dict(setting.parameters)
    return draft
