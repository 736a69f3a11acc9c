"""Field specifications of the parameters of every method and stage, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from reticent.catalogue.fields import (
    AXES_FIELD,
    COLUMN_FIELD,
    FILL_FIELD,
    MAX_COLUMNS,
    MAX_COUNT,
    MAX_FAKES,
    MAX_NUMBER,
    MAX_VALUES,
    WEIGHTS_FIELD,
    Field,
    Relation,
    make_people_field,
)

_MAX_EFFORT_SECONDS = 10**9
_MAX_THREADS = 256
_MAX_REFINING_SWEEPS = 10_000
_RETENTION_PARTS = 10**6  # parts of a retention probability

METHOD_FIELDS: Mapping[str, Mapping[str, Field]] = {
    "mondrian": {
        "cuts": Field(
            "choice",
            "how a cut is chosen: by the least loss that it leaves, at the median of the widest column as in the paper, "
            'or by loss and sizes alone ("blind"), where sensitive values decide only how large groups must be',
            default="loss",
            choices=("loss", "median", "blind"),
        ),
        "fallback": Field(
            "flag",
            "of median cuts: whether the next widest column is tried where the widest cannot be cut",
            default=True,
        ),
        "labels": Field(
            "choice",
            "how a group of categories prints: as their lowest common node, or as the exact set of its values",
            unset='as the promises need, else "nodes"',
            choices=("nodes", "sets"),
        ),
        "thorough": Field(
            "flag",
            "of loss cuts: whether the four best cuts of a group are tried one level ahead; less loss in about four "
            "times the time",
            default=False,
        ),
        "weights": WEIGHTS_FIELD,
    },
    "mosaic": {
        "effort": Field(
            "either",
            "how long to search: 3, 60 or 300 sweeps, which a seed repeats, or a number of CPU seconds",
            default="balanced",
            alternatives=(
                Field("choice", choices=("quick", "balanced", "thorough")),
                Field("number", least=0, above=True, most=_MAX_EFFORT_SECONDS),
            ),
            refusal="mosaic: effort must be a word, or a number of CPU seconds above 0.",
            attempt='"quick", "balanced", "thorough" or a number such as 10.',
        ),
        "weights": WEIGHTS_FIELD,
        "threads": Field(
            "whole",
            "how many blocks are solved at a time; never changes the result",
            unset="as many as the machine has cores, at most 8",
            least=1,
            most=_MAX_THREADS,
            refusal=f"mosaic: threads must be 1 to {_MAX_THREADS}.",
            attempt="leaving it out.",
        ),
    },
    "burel": {
        "fill": FILL_FIELD,
        "axes": AXES_FIELD,
        "share": Field(
            "either",
            "the share of its cap that a bucket may use: all of it as printed; less leaves room for halves that are not "
            "quite in proportion; or the best of 1, 0.9, ... 0.1 by the loss, which the manifest then has as a number "
            '("auto")',
            default=Fraction(1),
            alternatives=(
                Field("choice", choices=("auto",)),
                Field("number", least=0, above=True, most=1),
            ),
            refusal='burel: share must be above 0 and at most 1, or "auto".',
            attempt='share = "auto" or share = 0.9.',
        ),
        "refine": Field(
            "whole",
            "how many sweeps re-solve the finished classes, as those of mosaic do: near classes are cut anew, and rows "
            "of one value change places",
            unset="the classes as printed",
            least=1,
            most=_MAX_REFINING_SWEEPS,
            refusal=f"burel: refine must be a whole number from 1 to {_MAX_REFINING_SWEEPS:,}.",
            attempt="refine = 30, or leaving it out.",
        ),
    },
    "sabre": {
        "share": Field(
            "number",
            "the share of t that the buckets may use",
            default=Fraction(3, 4),
            least=0,
            most=1,
            refusal="sabre: share must be between 0 and 1.",
            attempt="share = 0.75.",
        ),
        "fill": FILL_FIELD,
        "axes": AXES_FIELD,
    },
    "beta-perturbation": {
        "matrix": Field(
            "choice",
            "how the matrix is made: with rank one, always valid and every cap reached; as printed, refused where the "
            "exact posterior breaks a cap; or with the most values left as they were, by a linear programme",
            default="rank-one",
            choices=("rank-one", "theorem3", "optimal"),
        ),
        "conditioning": Field(
            "number",
            "of the optimal matrix: how well it can be inverted, as a share of what the rank-one matrix has",
            default=Fraction(1, 2),
            least=0,
            above=True,
            most=1,
            refusal="beta-perturbation: conditioning must be above 0 and at most 1.",
            why="It is a share of the rank-one matrix's margin; at 0 the best matrix is singular.",
            attempt="conditioning = 0.5.",
        ),
    },
    "anatomy": {
        "grouping": Field(
            "choice",
            "rows that happen to be dealt together, or neighbours on the Hilbert curve",
            default="random",
            choices=("random", "hilbert"),
        ),
    },
    "distribution": {
        "group_by": Field(
            "either",
            "the groups: a list of columns, a table of bands with their edges (an empty list: each value), or those of "
            'a k-anonymous "mondrian"',
            unset="all rows are one group",
            alternatives=(
                Field("choice", choices=("mondrian",)),
                Field("column", keys="quasi-identifying"),
                Field("list", entries=(1, MAX_COLUMNS), each=Field("column", keys="quasi-identifying")),
                Field(
                    "table",
                    entries=(1, MAX_COLUMNS),
                    keys="quasi-identifying",
                    each=Field(
                        "list",
                        entries=(0, MAX_VALUES),
                        each=Field("number", least=-MAX_NUMBER, most=MAX_NUMBER),
                        refusal="distribution: the bands of a column are a list of edges.",
                        attempt="age = [18, 40, 65].",
                    ),
                ),
            ),
            refusal="distribution: group_by is a list of columns, or a table of bands.",
            attempt='group_by = ["region"].',
        ),
        "within": Field(
            "choice",
            "what is made within a group: nothing more, a subgroup for each combination of quasi-identifiers, or "
            "subgroups of `size` rows along the Hilbert curve",
            default="sa-only",
            choices=("sa-only", "qi-sa", "hilbert"),
        ),
        "fakes": Field(
            "either",
            "the most fakes of a group: below 1 a share of its size, otherwise a number",
            default=Fraction(0),
            alternatives=(
                Field("number", least=0, most=1, below=True),
                Field("whole", least=1, most=MAX_FAKES),
            ),
            refusal=f"distribution: fakes is a share of each group below 1, or a whole number of at most {MAX_FAKES:,}.",
            why="The cost of fakes grows with the square of their number.",
            attempt="fakes = 0.05.",
        ),
        "arity": Field(
            "whole",
            "how many children a node has in the balanced tree over the domain, where the column has no hierarchy",
            default=2,
            least=2,
            most=MAX_VALUES,
            refusal=f"distribution: a node has 2 to {MAX_VALUES:,} children.",
            attempt="arity = 2.",
        ),
        "size": make_people_field(
            "distribution: size must be 2 or more.",
            "size = 10.",
            doc='of within "hilbert": rows of a subgroup',
            required=False,
            unset="the size with the narrowest bounds on an average over ranges of the workload",
        ),
        "k": make_people_field(
            "distribution: k must be 2 or more.",
            "k = 10.",
            doc='of group_by "mondrian": the least group',
            required=False,
            implied=10,
        ),
        "workload": Field(
            "table",
            'of within "hilbert": columns, each with the share of its values that a question\'s range covers',
            unset="all columns",
            entries=(0, MAX_COLUMNS),
            keys="quasi-identifying",
            each=Field("number", least=0, above=True, most=1),
            refusal="distribution: a workload is a table of columns with the share of their values that a range covers.",
            attempt="workload = { age = 0.2 }.",
        ),
    },
    "perturbed-generalization": {
        "p": Field(
            "number",
            "the probability with which a value is retained",
            unset="the largest that keeps every promise",
            least=0,
            above=True,
            most=1,
            below=True,
            finest=_RETENTION_PARTS,
            refusal="The retention probability p must lie between 0 and 1, and have at most six decimals.",
            why="At 0 nothing is retained and the release is noise; at 1 nothing is perturbed.",
            attempt="p = 0.3, or leaving it out.",
        ),
        "k": make_people_field(
            "perturbed-generalization needs k >= 1.",
            "k = 6.",
            1,
            doc="the least group",
            required=False,
            implied=6,
            unset="the one that makes counts most certain, unless `s` is set: p is then about 1/2; 6 for one row of each "
            "group, and for specialization",
        ),
        "s": Field(
            "number",
            "the share of rows to publish, in place of k: k is 1/s, rounded up",
            unset="k decides",
            least=Fraction(1, MAX_COUNT),
            most=1,
            refusal="The sampling rate s must be above 0 and at most 1.",
            attempt="s = 0.1.",
        ),
        "draw": Field(
            "choice",
            "how many rows of a group of G people are drawn and published: G / k of them, rounded down, or the paper's one",
            implied="many",
            unset='`"many"`',
            choices=("many", "one"),
        ),
        "grouping": Field(
            "choice",
            "how groups are made: by cuts that see quasi-identifiers alone, or by the paper's specialization, calibrated "
            "with k = 1",
            default="mondrian",
            choices=("mondrian", "specialization"),
        ),
        "cuts": Field(
            "choice",
            "how mondrian chooses a cut: by the least loss that it leaves, at the median, or by what `reference` tells most of",
            default="loss",
            choices=("loss", "median", "gain"),
        ),
        "reference": Field(
            "file",
            'other people\'s rows with the same columns, public or of an earlier year, for `cuts = "gain"`',
            refusal="perturbed-generalization: reference is a file.",
            attempt='reference = "last-year.csv" with cuts = "gain".',
        ),
        "categories": Field(
            "list",
            "the classes that specialization looks at: a list of sensitive values for each",
            entries=(0, MAX_VALUES),
            each=Field("list", entries=(1, MAX_VALUES), each=Field("value")),
            refusal="perturbed-generalization: categories is a list of lists of values.",
            attempt='categories = [["0", "1"], ["2", "3"]] with grouping = "specialization".',
        ),
        "domain": Field(
            "list",
            "the values that the sensitive column can hold",
            unset="what a hierarchy, an order or a domain of the column says",
            entries=(1, MAX_COUNT),
            each=Field("value"),
            refusal="perturbed-generalization: domain is a list of values.",
            attempt='["0", "1", "2"].',
        ),
        "weights": WEIGHTS_FIELD,
    },
}
METHOD_RELATIONS: Mapping[str, tuple[Relation, ...]] = {
    "perturbed-generalization": (
        Relation(
            "requires",
            "reference",
            "cuts",
            'A reference table is for cuts = "gain".',
            'cuts = "gain" with it, or leaving reference out.',
            needed="gain",
        ),
        Relation(
            "requires",
            "cuts",
            "reference",
            'cuts = "gain" needs a reference table: the table itself must not be looked at.',
            'reference = "last-year.csv", or cuts = "loss".',
            value="gain",
            why="Cuts that follow the sensitive values of the people who are published would tell of those who are not drawn.",
        ),
        Relation(
            "requires",
            "reference",
            "grouping",
            'A reference table is for grouping = "mondrian".',
            'grouping = "mondrian" without categories, or leaving reference and cuts out.',
            needed="mondrian",
        ),
        Relation("exclusive", "k", "s", "perturbed-generalization takes k or s, not both.", "k = 6, or s = 0.16."),
        Relation(
            "requires",
            "categories",
            "grouping",
            "categories and grouping = 'specialization' belong together.",
            'categories = [["0", "1"], ["2", "3"]] with grouping = "specialization".',
            needed="specialization",
            why="Specialization cuts where the classes differ; other cuts see no sensitive value.",
        ),
        Relation(
            "requires",
            "grouping",
            "categories",
            "categories and grouping = 'specialization' belong together.",
            'categories = [["0", "1"], ["2", "3"]] with grouping = "specialization".',
            value="specialization",
            why="Specialization cuts where the classes differ; other cuts see no sensitive value.",
        ),
    ),
}

STAGE_FIELDS: Mapping[str, Mapping[str, Field]] = {
    "suppression": {
        "l": make_people_field("suppression: l = {value} asks for nothing.", "l = 2 or more.", doc="as in l-diversity"),
        "kind": Field(
            "choice",
            "how rows are withheld",
            default="safe",
            choices=("eligible", "unsafe", "safe", "randomized", "calibrated"),
        ),
        "prior": Field(
            "choice",
            "of kind calibrated, which is refused without it: what its adversary believes beforehand; its bound is for one "
            "to whom all tables of as many rows in the same values are equally likely",
            choices=("uniform",),
        ),
        "column": COLUMN_FIELD,
        "acknowledge": Field("flag", "lets the kinds unsafe and eligible pass"),
    },
}
STAGE_RELATIONS: Mapping[str, tuple[Relation, ...]] = {
    "suppression": (
        Relation(
            "requires",
            "kind",
            "acknowledge",
            'suppression: kind = "unsafe" is a lower bound, not a protection.',
            'kind = "safe", or acknowledge = true.',
            value="unsafe",
            needed=True,
            why="Who knows the algorithm can tell which value was the most frequent, and so what the withheld people have.",
        ),
        Relation(
            "requires",
            "kind",
            "acknowledge",
            'suppression: kind = "eligible" does not hide which value was the most frequent.',
            'kind = "safe", or acknowledge = true.',
            value="eligible",
            needed=True,
            why="All that it withholds is of the values that share the highest published count: where that is one value, "
            "everybody who is known to be in the table and not in the release has it.",
        ),
        Relation(
            "requires",
            "prior",
            "kind",
            "suppression: prior is of the kind calibrated.",
            'leaving prior out, or kind = "calibrated".',
            needed="calibrated",
            why="The bound of the other kinds does not rest on one prior, or they have none.",
        ),
    ),
}
