"""Field specifications of the parameters of every promise, by the promise's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from reticent.catalogue.fields import (
    COLUMN_FIELD,
    ENHANCED_FIELD,
    MAX_COLUMNS,
    MAX_COUNT,
    MAX_GROUPS,
    MAX_NUMBER,
    MAX_SKYLINE_POINTS,
    MAX_VALUES,
    OTHER_COLUMNS,
    TWO_SIDED_FIELD,
    Field,
    Relation,
    make_people_field,
    make_positive_field,
)

_BETA_FIELD = make_positive_field(
    "beta-likeness needs beta > 0.",
    "beta = 1 (strict) to 4 (usual).",
    doc="the greatest relative gain of a value's frequency",
    why="beta = 0 asks that every group mirror the table exactly.",
)
_LAMBDA_FIELD = Field(
    "number",
    "the most that any single value is believed beforehand",
    required=True,
    least=0,
    above=True,
    most=1,
    below=True,
    refusal="The promise needs lambda between 0 and 1; with lambda = {value} no protection is possible.",
    why="An adversary whose prior may give one value probability 1 knows the value before the release.",
    attempt="lambda = 0.1: no value is believed more than that beforehand.",
)
_BELIEF_FIELD = Field("number", required=True, least=0, above=True, most=1, attempt="rho1 = 0.2, rho2 = 0.45.")

# Promises about background knowledge.

_SINGLE_BANDWIDTH_FIELD = Field(
    "either",
    alternatives=(
        Field("number", least=0, most=MAX_NUMBER),
        Field("choice", choices=("whole",)),
    ),
    refusal='A bandwidth must be a number from 0 on, or "whole".',
    attempt='0 for who knows equal values only, 0.3, or "whole" for who knows nothing of it.',
)
_BANDWIDTH_FIELD = Field(
    "either",
    "how closely the adversary knows the other columns: for all of them, or for each; `default` is for those not named",
    required=True,
    alternatives=(
        *_SINGLE_BANDWIDTH_FIELD.alternatives,
        Field(
            "table",
            entries=(1, MAX_COLUMNS),
            each=_SINGLE_BANDWIDTH_FIELD,
            keys="quasi-identifying",
            other_columns=OTHER_COLUMNS,
        ),
    ),
    refusal='bandwidth must be a number from 0 on, "whole", or a table of such for each quasi-identifier.',
    attempt='bandwidth = 0.3, or { default = 0.3, age = 0.2 }; "whole" for who knows nothing of a column.',
)
BANDWIDTH_CHOICES: tuple[Fraction | str, ...] = (
    *(Fraction(n, 20) for n in (0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 30)),
    "whole",
)
"""The bandwidths from which `bandwidth = "auto"` chooses for each column, from the most knowledge to none."""
_CHOOSABLE_BANDWIDTH_FIELD = replace(
    _BANDWIDTH_FIELD,
    doc=f'{_BANDWIDTH_FIELD.doc}; `"auto"` chooses those by which the other people predict the sensitive column best',
    alternatives=(*_BANDWIDTH_FIELD.alternatives, Field("choice", choices=("auto",), published=False)),
    refusal='bandwidth must be a number from 0 on, "whole", "auto", or a table of numbers and "whole" for each '
    "quasi-identifier.",
    attempt='bandwidth = 0.3, or { default = 0.3, age = 0.2 }; "whole" for who knows nothing of a column; "auto" for '
    "who predicts best.",
)
_BANDWIDTH_ORIGIN_FIELD = Field(
    "choice",
    'who chose the bandwidths: "held-out" if the table did, as by `bandwidth = "auto"`',
    unset="the steward",
    choices=("held-out",),
    attempt='bandwidth = "auto", and no bandwidth_by.',
)
_BELIEF_CHANGE_FIELD = Field(
    "number",
    "how far a belief may move",
    required=True,
    least=0,
    above=True,
    most=1,
    refusal="(B,t)-privacy needs t above 0 and at most 1.",
    why="0 asks that nothing at all be learned, and no belief can move further than 1.",
    attempt="t = 0.2.",
)
_BACKGROUND_KNOWLEDGE_FIELDS: Mapping[str, Field] = {
    "smoothing": Field(
        "number",
        "the bandwidth over which beliefs in like values are smoothed; 0 for none",
        default=Fraction(0),
        least=0,
        most=MAX_NUMBER,
        refusal="smoothing must not be negative.",
        attempt="0 for none.",
    ),
    "posterior": Field("choice", "how the adversary infers", default="balanced", choices=("omega", "balanced")),
    "kernel": Field(
        "choice",
        "the shape of what the adversary knows",
        default="epanechnikov",
        choices=("epanechnikov", "uniform", "triangular", "gaussian"),
    ),
    "base": Field(
        "choice",
        "the base of the logarithm of the divergence",
        default=2,
        choices=(2, "e"),
        attempt='base = 2 or "e".',
    ),
    "distances": Field(
        "table",
        "for a column, how far its values are from each other",
        unset="by range or hierarchy",
        entries=(0, MAX_COLUMNS),
        keys="any",
        each=Field(
            "either",
            alternatives=(
                Field("file", published=False),
                Field("matrix", entries=(1, MAX_VALUES)),
            ),
            attempt="a CSV file with the values in its first row and column, or { values, rows }.",
        ),
        attempt='distances = { disease = "disease-distances.csv" }.',
    ),
    "column": COLUMN_FIELD,
}

# The target of P-privacy.

_NEAREST_TARGET_FIELDS = (
    Field(
        "record",
        fields={
            "model": Field("choice", required=True, choices=("probabilistic-l-diversity",)),
            "l": make_positive_field(
                "p-privacy: l of nearest must be above 0.", "l = 2.", doc="as in l-diversity", most=MAX_COUNT
            ),
        },
    ),
    Field(
        "record",
        fields={
            "model": Field("choice", required=True, choices=("t-closeness",)),
            "t": make_positive_field("p-privacy: t of nearest must be above 0.", "t = 0.2.", doc="as in t-closeness"),
            "distance": Field("choice", choices=("equal", "ordered")),
        },
    ),
    Field(
        "record",
        fields={
            "model": Field("choice", required=True, choices=("beta-likeness",)),
            "beta": make_positive_field(
                "p-privacy: beta of nearest must be above 0.", "beta = 2.", doc="as in beta-likeness"
            ),
            "enhanced": ENHANCED_FIELD,
        },
    ),
)
_SHAPED_TARGET_FIELDS: dict[str, Field] = {
    "normal": Field(
        "record",
        fields={
            "mean": Field("number", required=True, least=-MAX_NUMBER, most=MAX_NUMBER),
            "std": make_positive_field(
                "p-privacy: std of normal must be above 0.", "std = 1.", doc="the standard deviation"
            ),
        },
        attempt="target = { normal = { mean = 40, std = 10 } }.",
    ),
    "zipf": Field(
        "record",
        fields={"s": Field("number", required=True, least=0, most=MAX_NUMBER, attempt="s = 1.")},
        attempt="target = { zipf = { s = 1 } }.",
    ),
    "weights": Field(
        "table",
        entries=(1, MAX_VALUES),
        each=Field("number", least=0, most=MAX_NUMBER),
        positive=True,
        refusal="p-privacy: weights are 0 or more, and not all 0.",
        attempt="a positive weight for every value that occurs.",
    ),
    "file": Field("file", refusal="p-privacy: a target's file is a path.", attempt='target = { file = "target.csv" }.'),
    "nearest": Field(
        "either",
        alternatives=_NEAREST_TARGET_FIELDS,
        refusal="p-privacy: nearest names a promise and its parameter.",
        attempt='target = { nearest = { model = "t-closeness", t = 0.2 } }.',
    ),
}
_UNKNOWN_TARGET_MESSAGE = "p-privacy: the target is not known."
_TARGET_EXAMPLES = (
    '"source", "uniform", "group", { normal = { mean, std } }, { zipf = { s } }, { file = "target.csv" }, '
    "{ weights = { value = weight } }, { nearest = { model = ... } } or { groups = { name = target } }."
)
_SINGLE_TARGET_FIELD = Field(
    "either",
    alternatives=(
        Field("choice", choices=("source", "uniform", "group")),
        Field("variant", fields=_SHAPED_TARGET_FIELDS, refusal=_UNKNOWN_TARGET_MESSAGE, attempt=_TARGET_EXAMPLES),
    ),
    refusal=_UNKNOWN_TARGET_MESSAGE,
    attempt=_TARGET_EXAMPLES,
)
_TARGET_FIELD = replace(
    _SINGLE_TARGET_FIELD,
    doc="what may be believed of a value: the published table's distribution, each group's own, or one that is stated",
    default="source",
    alternatives=(
        _SINGLE_TARGET_FIELD.alternatives[0],
        Field(
            "variant",
            fields={
                **_SHAPED_TARGET_FIELDS,
                "groups": Field("table", entries=(1, MAX_GROUPS), each=_SINGLE_TARGET_FIELD),
            },
            refusal=_UNKNOWN_TARGET_MESSAGE,
            attempt=_TARGET_EXAMPLES,
        ),
    ),
)

PROMISE_FIELDS: Mapping[str, Mapping[str, Field]] = {
    "k-anonymity": {
        "k": make_people_field(
            "k-anonymity needs k >= 2; k = {value} promises nothing.",
            "k = 5 or more.",
            doc="how many people read the same at least",
        ),
    },
    "alpha-k-anonymity": {
        "alpha": Field(
            "number",
            "the greatest share of a group that one value may have",
            required=True,
            least=0,
            above=True,
            most=1,
            refusal="(alpha,k)-anonymity needs 0 < alpha <= 1: a share of a group.",
            attempt="alpha = 0.5.",
        ),
        "k": make_people_field(
            "(alpha,k)-anonymity needs k >= 2; k = {value} promises nothing of size.",
            "k = 5 or more.",
            doc="how many people a group has at least",
        ),
        "column": COLUMN_FIELD,
    },
    "k-map": {
        "k": make_people_field(
            "k-map needs k >= 2; k = {value} promises nothing.",
            "k = 5 or more.",
            doc="how many people of the population a label fits at least",
        ),
        "population": Field(
            "file",
            "the population table",
            required=True,
            refusal="k-map needs a population table.",
            attempt='population = "people.csv".',
        ),
    },
    "distinct-l-diversity": {
        "l": make_people_field(
            "Distinct l-diversity needs l >= 2; l = {value} promises nothing.",
            "l = 2 or more.",
            doc="how many different values a group shows at least",
        ),
        "column": COLUMN_FIELD,
    },
    "probabilistic-l-diversity": {
        "l": Field(
            "number",
            "one in l rows of a group may have a value",
            required=True,
            least=1,
            above=True,
            most=MAX_COUNT,
            refusal="l-diversity needs l > 1; l = {value} promises nothing, or more than any table holds.",
            attempt="l = 2 or more.",
        ),
        "column": COLUMN_FIELD,
    },
    "entropy-l-diversity": {
        "l": Field(
            "number",
            "a group's entropy is at least that of l equally frequent values",
            required=True,
            least=1,
            above=True,
            most=MAX_COUNT,
            refusal="Entropy l-diversity needs l > 1; l = {value} promises nothing, or more than any table holds.",
            attempt="l = 2 or more.",
        ),
        "column": COLUMN_FIELD,
    },
    "recursive-l-diversity": {
        "c": make_positive_field(
            "Recursive (c,l)-diversity needs c > 0.",
            "c = 2 or 3.",
            doc="how many times as frequent as the rare ones the most frequent value may be",
        ),
        "l": make_people_field(
            "Recursive (c,l)-diversity needs l >= 2; l = {value} leaves no value out.",
            "l = 2 or more.",
            doc="from which value on, by frequency, values count as rare",
        ),
        "column": COLUMN_FIELD,
    },
    "l-dichotomy": {
        "l": make_people_field(
            "l-dichotomy needs l >= 2; l = {value} promises nothing.",
            "l = 2 or more.",
            doc="among how many values the most frequent one cannot be told",
        ),
        "column": COLUMN_FIELD,
    },
    "t-closeness": {
        "t": Field(
            "number",
            "the greatest distance of a group's distribution from the table's",
            required=True,
            least=0,
            above=True,
            most=1,
            refusal="t-closeness needs t > 0 and t <= 1.",
            why="t = 0 asks that every group mirror the table exactly, and no distance is greater than 1.",
            attempt="t = 0.2.",
        ),
        "distance": Field(
            "choice", "the ground distance", default="equal", choices=("equal", "ordered", "hierarchical")
        ),
        "column": COLUMN_FIELD,
    },
    "delta-disclosure": {
        "delta": make_positive_field(
            "delta-disclosure needs delta > 0.",
            "delta = 1 or 2.",
            doc="the bound on |log(q / p)|, which stays below it",
            why="No group keeps |log(q / p)| < 0.",
        ),
        "absent": Field(
            "choice",
            "whether a value that a group lacks breaks the promise",
            default="break",
            choices=("break", "ignore"),
        ),
        "base": Field("choice", "the base of the logarithm", default="e", choices=("e", 2), attempt='base = "e" or 2.'),
        "column": COLUMN_FIELD,
    },
    "beta-likeness": {
        "beta": _BETA_FIELD,
        "enhanced": ENHANCED_FIELD,
        "two_sided": TWO_SIDED_FIELD,
        "column": COLUMN_FIELD,
    },
    "semantic-beta-likeness": {
        "beta": _BETA_FIELD,
        "level": make_people_field(
            "semantic-beta-likeness needs level >= 1.",
            "level = 1, just above the values.",
            1,
            doc="the level of the sensitive column's hierarchy whose nodes are families",
            required=False,
            default=1,
        ),
        "enhanced": ENHANCED_FIELD,
        "two_sided": TWO_SIDED_FIELD,
        "column": COLUMN_FIELD,
    },
    "rho-guarantee": {
        "rho1": replace(
            _BELIEF_FIELD,
            doc="a belief beforehand",
            refusal="rho-guarantee needs 0 < rho1 < rho2 <= 1; rho1 = {value}.",
            why="Who holds something for impossible, rho1 = 0, goes on to do so whatever is published.",
        ),
        "rho2": replace(
            _BELIEF_FIELD,
            doc="what the belief may become",
            refusal="rho-guarantee needs 0 < rho1 < rho2 <= 1; rho2 = {value}.",
        ),
        "lambda": _LAMBDA_FIELD,
        "column": COLUMN_FIELD,
    },
    "delta-growth": {
        "delta": Field(
            "number",
            "by how much a belief may grow",
            required=True,
            least=0,
            above=True,
            most=1,
            refusal="delta-growth needs a delta above 0 and at most 1.",
            attempt="delta = 0.2.",
        ),
        "lambda": _LAMBDA_FIELD,
        "column": COLUMN_FIELD,
    },
    "proximity-beta-likeness": {
        "beta": _BETA_FIELD,
        "width": Field(
            "number",
            "the width of the windows whose values count as one",
            required=True,
            least=0,
            most=MAX_NUMBER,
            refusal="proximity-beta-likeness needs width >= 0.",
            attempt="the distance within which values are as good as equal.",
        ),
        "enhanced": ENHANCED_FIELD,
        "column": COLUMN_FIELD,
    },
    "p-privacy": {
        "target": _TARGET_FIELD,
        "exact": Field("flag", "whether the target is used as it is, and not rounded to small weights", default=False),
        "distance": Field(
            "number",
            "how far, in total variation, a target may be rounded",
            default=Fraction(1, 20),
            least=0,
            above=True,
            most=1,
            below=True,
            refusal="p-privacy: distance is how far a target may be rounded, above 0 and below 1.",
            attempt="distance = 0.05, or exact = true for none.",
        ),
        "domain": Field(
            "grid",
            "the grid of a numeric column's values",
            unset="the values that a target lists, or that are published",
            attempt="domain = [0, 100, 5].",
        ),
        "column": COLUMN_FIELD,
    },
    "bt-privacy": {
        "bandwidth": _CHOOSABLE_BANDWIDTH_FIELD,
        "t": _BELIEF_CHANGE_FIELD,
        **_BACKGROUND_KNOWLEDGE_FIELDS,
        "bandwidth_by": _BANDWIDTH_ORIGIN_FIELD,
    },
    "skyline": {
        "points": Field(
            "list",
            "adversaries, each a bandwidth and its t",
            required=True,
            entries=(1, MAX_SKYLINE_POINTS),
            each=Field(
                "record",
                fields={"bandwidth": _BANDWIDTH_FIELD, "t": _BELIEF_CHANGE_FIELD},
                refusal="A point of a skyline has a bandwidth and a t, and nothing else.",
                attempt="{ bandwidth = 0.2, t = 0.25 }.",
            ),
            attempt="points = [{ bandwidth = 0.2, t = 0.25 }, ...].",
        ),
        **_BACKGROUND_KNOWLEDGE_FIELDS,
    },
}
PROMISE_RELATIONS: Mapping[str, tuple[Relation, ...]] = {
    "rho-guarantee": (
        Relation(
            "less",
            "rho1",
            "rho2",
            "rho-guarantee needs 0 < rho1 < rho2 <= 1, and rho1 is not below rho2.",
            "rho1 = 0.2, rho2 = 0.45.",
        ),
    ),
}
