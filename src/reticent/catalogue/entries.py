"""Row types of the catalogue, and the rows of methods, stages, kinds, learners, attacks and engines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, TypeVar

from reticent.catalogue.about_fields import ABOUT_FIELDS
from reticent.catalogue.attack_options import ATTACK_OPTIONS, AttackOption
from reticent.catalogue.fields import Field, Relation
from reticent.catalogue.job_fields import (
    COLUMN_FIELDS,
    JOB_FIELDS,
    LABEL_FIELDS,
    LABEL_RELATIONS,
    RELEASE_FIELDS,
    RELEASE_RELATIONS,
    SOURCE_FIELDS,
)
from reticent.catalogue.method_fields import METHOD_FIELDS, METHOD_RELATIONS, STAGE_FIELDS, STAGE_RELATIONS

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class PromiseRow:
    """A promise: its class for planning, its judge in the audit, and its description; `doc` is one line."""

    model: str
    judge: str
    fields: Mapping[str, Field]  # what each parameter may be
    sentence: str  # for the recipient's README; {parameters} are filled in
    composition_reason: str  # why several releases no longer promise it together
    belief_bound: str = ""  # the greatest belief it leaves in a value, as an attack may be told
    relations: tuple[Relation, ...] = ()  # what parameters must be to each other
    doc: str = ""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names that a job or a manifest may use."""
        return tuple(self.fields)


@dataclass(frozen=True, slots=True)
class MethodRow:
    """A method or a preparing stage: its class and its parameters, and of a method the kind of its releases.

    `doc` is one line.
    """

    made_by: str
    fields: Mapping[str, Field]  # what each parameter may be
    kind: str = ""
    relations: tuple[Relation, ...] = ()  # what parameters must be to each other
    doc: str = ""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names that a job or a manifest may use."""
        return tuple(self.fields)


@dataclass(frozen=True, slots=True)
class JobTableRow:
    """A table of a job that is no promise, method or stage: its class and its options; `doc` is one line."""

    made_by: str
    fields: Mapping[str, Field]
    doc: str
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class KindRow:
    """A release kind: three modules of one name, and in each the object that handles the kind.

    `answers` makes of a release what answers a workload of questions; `gives_up` is what a recipient no longer has.
    """

    writer: str
    reader: str
    auditor: str
    answers: str = "reticent.utility.workload:answer_from_groups"
    gives_up: str = ""


@dataclass(frozen=True, slots=True)
class LearnerRow:
    """A learner of classifiers: its function, and whether it learns from redrawn values (and then from nothing else)."""

    function: str
    reconstructs: bool = False


@dataclass(frozen=True, slots=True)
class AttackRow:
    """An attack: its function, and whether it needs the source or the release's files alone.

    `reads_people`: the attack gets the release and the source as they are, with lists of people of its own, not what
    groups show. `independent_targets`: what is believed of a person does not depend on which other people are targets.
    `adversary` describes the adversary, `promises` lists the promises that are about that adversary at all, `meaning` is
    a sentence on what it means that the attack succeeds, and `lowers` says what lowers what is reached.
    `guesses`: from the release and the targets' quasi-identifiers alone the attack guesses their sensitive values, so
    that its success and another's can be compared. `cost`: where all attacks are tried, those of lower cost are tried
    first; how long they take was measured.

    `reads_plain_tables`: it reads a plain table of another tool beside releases, though it reads people.

    `options` are what `rt.attack` and the command take for this attack, by the parameter of its function. The command's
    help lists options of a lower `help_place` first. `options_need_name`: the command takes the options only where this
    attack is named (`--as`), not where all are tried. `options_refusal` is the sentence that refuses the options with
    another attack ({given} are those that were used), where the usual one, which names all of them, is not right.
    """

    function: str
    adversary: str = ""
    promises: tuple[str, ...] = ()
    meaning: str = ""
    lowers: str = ""
    needs_source: bool = True
    reads_people: bool = False
    guesses: bool = True
    independent_targets: bool = False
    cost: int = 1
    options: Mapping[str, AttackOption] = field(default_factory=dict)
    help_place: int = 9
    options_need_name: bool = False
    options_refusal: str = ""
    reads_plain_tables: bool = False

    def select_promises(self, promised: Iterable[str]) -> list[str]:
        """Select the promises among these that are about this adversary."""
        return [name for name in dict.fromkeys(promised) if name in self.promises]


@dataclass(frozen=True, slots=True)
class EngineRow:
    """An engine: the object that counts rows and applies recipes, and the tables it is for."""

    made_by: str
    purpose: str


@dataclass(frozen=True, slots=True)
class HierarchyRow:
    """A hierarchy that a plugin brings: a function that returns all of its rows, a value first, the root last.

    The function gets the options of `fields` that a job states, and no data: the tree is published as it is. `doc` is
    one line.
    """

    made_by: str
    fields: Mapping[str, Field] = field(default_factory=dict)
    doc: str = ""


@dataclass(frozen=True, slots=True)
class PresetRow:
    """What a plugin proposes to promise: tables of a job, which `reticent init` writes into its draft, and the reason."""

    tables: Mapping[str, Any]
    reason: str


class RowTable(dict[str, Row]):
    """A table of rows by name: ours by iterating, and by `[name]` also those of plugins that somebody has asked for.

    `in`, `get`, `len` and iteration know our rows alone, so that no plugin is ever among the methods that are tried or
    the promises that every reader knows. A plugin's name has a colon, and none of ours has one.
    """

    def __init__(self, rows: Mapping[str, Row]) -> None:
        super().__init__(rows)
        self.plugin_rows: dict[str, Row] = {}

    def __missing__(self, name: str) -> Row:
        return self.plugin_rows[name]

    def find(self, name: str) -> Row | None:
        """Return the row of that name, ours or that of a plugin which was loaded; None if there is none."""
        return self.get(name) or self.plugin_rows.get(name)


def load_object(dotted: str) -> Any:
    """Load the object that "module:attribute" names."""
    module, _, attribute = dotted.partition(":")
    return getattr(import_module(module), attribute)


_METHODS = {
    "mondrian": MethodRow(
        "reticent.methods.mondrian:Mondrian",
        METHOD_FIELDS["mondrian"],
        "generalized",
        doc="Cuts groups in two, one column at a time, as long as both sides keep every promise.",
    ),
    "mosaic": MethodRow(
        "reticent.methods.mosaic:Mosaic",
        METHOD_FIELDS["mosaic"],
        "generalized",
        doc="Searches for the groups of least loss by local recoding: boxes may overlap.",
    ),
    "burel": MethodRow(
        "reticent.methods.burel:Burel",
        METHOD_FIELDS["burel"],
        "generalized",
        doc="Puts sensitive values in buckets, and fills classes with neighbours from each bucket, for beta-likeness.",
    ),
    "sabre": MethodRow(
        "reticent.methods.sabre:Sabre",
        METHOD_FIELDS["sabre"],
        "generalized",
        doc="Puts sensitive values in buckets, and fills classes with neighbours from each bucket, for t-closeness.",
    ),
    "beta-perturbation": MethodRow(
        "reticent.methods.beta_perturbation:BetaPerturbation",
        METHOD_FIELDS["beta-perturbation"],
        "perturbed",
        doc="Redraws every sensitive value by a published matrix that keeps beta-likeness.",
    ),
    "anatomy": MethodRow(
        "reticent.methods.anatomy:Anatomy",
        METHOD_FIELDS["anatomy"],
        "anatomized",
        doc="Publishes quasi-identifiers as they are and the sensitive values of a group apart from them.",
    ),
    "distribution": MethodRow(
        "reticent.methods.distribution:Distribution",
        METHOD_FIELDS["distribution"],
        "transformed",
        doc="Generalizes and permutes sensitive values among fakes, so that those of a group follow a target.",
    ),
    "perturbed-generalization": MethodRow(
        "reticent.methods.perturbed_generalization:PerturbedGeneralization",
        METHOD_FIELDS["perturbed-generalization"],
        "sampled",
        relations=METHOD_RELATIONS["perturbed-generalization"],
        doc="Publishes a few rows of each group, their labels the group's and their sensitive values perturbed.",
    ),
}
METHODS = RowTable(_METHODS)
HIERARCHIES: RowTable[HierarchyRow] = RowTable({})
PRESETS: RowTable[PresetRow] = RowTable({})
"""Hierarchies and presets that plugins bring; we have none of our own."""
STAGES = {
    "suppression": MethodRow(
        "reticent.methods.suppression:Suppression",
        STAGE_FIELDS["suppression"],
        relations=STAGE_RELATIONS["suppression"],
        doc="Withholds rows, so that nobody can tell which value was the most frequent before.",
    ),
}
JOB_TABLES = {
    "job": JobTableRow("reticent.job.job:Job", JOB_FIELDS, "What to publish, what to promise, and by which method."),
    "source": JobTableRow(
        "reticent.data.source:Source",
        SOURCE_FIELDS,
        "A file, a folder or a pattern of files and how to read them, or a database's `url` with a `table` or a `query`.",
    ),
    "column": JobTableRow("reticent.data.columns:Column", COLUMN_FIELDS, "One column as the steward declares it."),
    "labels": JobTableRow(
        "reticent.data.columns:LabelOptions",
        LABEL_FIELDS,
        "How the groups of a column print: a style, and its measures.",
        LABEL_RELATIONS,
    ),
    "release": JobTableRow(
        "reticent.job.job:Output",
        RELEASE_FIELDS,
        "How to publish: what becomes of undeclared columns, the file format, and how many rows may be withheld.",
        RELEASE_RELATIONS,
    ),
    "about": JobTableRow(
        "reticent.job.description:About",
        ABOUT_FIELDS,
        "What the publisher says of a release to those who receive it; all of it is published as it is written.",
    ),
}
"""The other tables of a job: itself, [source], a column of [columns], its labels, [release] and [about]."""


_EXACT_QUASI_IDENTIFIERS = "quasi-identifiers stay exact, so that who is in the data can be told"


def _make_kind_row(name: str, gives_up: str, answers: str = "reticent.utility.workload:answer_from_groups") -> KindRow:
    rooms = (f"reticent.recipe.{name}:WRITER", f"reticent.release.{name}:READER", f"reticent.audit.{name}:AUDITOR")
    return KindRow(*rooms, answers, gives_up)


_KINDS = {
    "generalized": _make_kind_row(
        "generalized", "quasi-identifiers become ranges, sets and nodes; every row keeps its own sensitive value"
    ),
    "anatomized": _make_kind_row(
        "anatomized", f"{_EXACT_QUASI_IDENTIFIERS}; which row of a group has which of its sensitive values is not said"
    ),
    "perturbed": _make_kind_row(
        "perturbed",
        f"{_EXACT_QUASI_IDENTIFIERS}; every sensitive value is redrawn, no row's own is to be believed, and counts have a standard error",
        "reticent.utility.workload:answer_from_perturbed",
    ),
    "transformed": _make_kind_row(
        "transformed",
        f"{_EXACT_QUASI_IDENTIFIERS}; sensitive values are generalized among fakes, and a row says its group's target only",
    ),
    "sampled": _make_kind_row(
        "sampled",
        "a few rows of each group are published, their labels the group's and their values redrawn: most people have no row",
        "reticent.utility.workload:answer_from_sampled",
    ),
}
KINDS = RowTable(_KINDS)
PLAIN_TABLE_KIND = "generalized"
"""The kind that tables of other tools are read as."""

_GROUP_READING_PROMISES = (
    "alpha-k-anonymity", "probabilistic-l-diversity", "entropy-l-diversity", "recursive-l-diversity", "t-closeness",
    "delta-disclosure", "beta-likeness",
)  # fmt: skip
"""Promises about who reads the group that a person is in, and believes its shares."""

_ATTACKS = {
    "naive-bayes": AttackRow(
        "reticent.attacks.naive_bayes:attack_by_naive_bayes",
        "learns from all groups how values go with each quasi-identifier",
        meaning="A right guess names a person's value by what the whole release teaches of people like them, in the data or not.",
        lowers="fewer quasi-identifiers, or coarser ones; t-closeness beside another promise",
        independent_targets=True,
        cost=5,
    ),
    "definetti": AttackRow(
        "reticent.attacks.definetti:attack_by_definetti",
        "learns from all groups, again and again, who has which value in each",
        meaning="A right guess names a person's value by setting the values of each group against the people in it, as all groups together make likely.",
        lowers="larger groups, and t-closeness, by which groups differ less from all",
        cost=9,
        options=ATTACK_OPTIONS["definetti"],
    ),
    "skewness": AttackRow(
        "reticent.attacks.group_reading:attack_by_skewness",
        "reads the person's group, and guesses what it lifts most",
        _GROUP_READING_PROMISES,
        meaning="A right guess names a person's value because it is more frequent in their group than among everybody.",
        lowers="a smaller beta, or a smaller t",
        independent_targets=True,
    ),
    "similarity": AttackRow(
        "reticent.attacks.group_reading:attack_by_similarity",
        "reads the person's group, and guesses a family of like values",
        ("t-closeness", "semantic-beta-likeness", "proximity-beta-likeness"),
        meaning="A right guess names no value, but a family of like ones that the person's is in.",
        lowers="a promise about like values: proximity-beta-likeness, or semantic-beta-likeness with a hierarchy",
        independent_targets=True,
        cost=2,
        options=ATTACK_OPTIONS["similarity"],
    ),
    "background": AttackRow(
        "reticent.attacks.background:attack_by_background_knowledge",
        "knows how values go with quasi-identifiers, up to a bandwidth",
        ("bt-privacy", "skyline"),
        meaning="A right guess names a person's value by what was known beforehand and what the person's group adds to it.",
        lowers="a smaller t of bt-privacy or of a skyline's point",
        guesses=False,
        cost=8,
        options=ATTACK_OPTIONS["background"],
        help_place=1,
        options_refusal="{given} are for --as background.",
    ),
    "singling-out": AttackRow(
        "reticent.attacks.singling_out:attack_by_singling_out",
        "takes the ends of published ranges for people's values",
        meaning="A success is a value at the end of a range, and with its labels it is true of one person alone.",
        lowers="round ends: declared levels of a hierarchy, or labels with a step",
        guesses=False,
        options=ATTACK_OPTIONS["singling-out"],
        help_place=4,
    ),
    "linkability": AttackRow(
        "reticent.attacks.linkability:attack_by_linking",
        "has two lists with some of the columns each, and links their people",
        meaning="A success joins what two lists say of one person, because both lead to the same group.",
        lowers="fewer quasi-identifiers, or coarser ones",
        options=ATTACK_OPTIONS["linkability"],
    ),
    "inference": AttackRow(
        "reticent.attacks.group_reading:attack_by_inference",
        "knows all of a person but the sensitive value, and asks the groups that may hold the person",
        _GROUP_READING_PROMISES,
        meaning="A right guess names the one value that is still unknown of a person of whom all else is known.",
        lowers="a smaller beta, or a smaller t",
        options=ATTACK_OPTIONS["inference"],
        help_place=4,
    ),
    "downcoding": AttackRow(
        "reticent.attacks.downcoding:attack_by_downcoding",
        "knows that no group could be cut further, and asks for the values that ranges hide",
        meaning="A right guess tells a describing value that the release hides in a range.",
        lowers="declared levels of a hierarchy, whose nodes are not drawn around people",
        cost=4,
        options=ATTACK_OPTIONS["downcoding"],
    ),
    "overlap": AttackRow(
        "reticent.attacks.overlap:attack_by_overlap",
        "asks which of overlapping groups each person may be in",
        meaning="A right guess names a person's value by all groups that the person may be in, each as likely as it is.",
        lowers="groups that do not overlap: mondrian, or a single recoding",
        cost=4,
        options=ATTACK_OPTIONS["overlap"],
    ),
    "composition": AttackRow(
        "reticent.attacks.composition.attack:attack_by_composition",
        "joins several releases of the same people",
        meaning="A right guess names a person's value because several releases of the same people say it together.",
        lowers="publishing once, or only people who are new (publish --only-new)",
        reads_people=True,
        guesses=False,
        cost=3,
        options=ATTACK_OPTIONS["composition"],
        help_place=5,
    ),
    "minimality": AttackRow(
        "reticent.attacks.minimality.attack:attack_by_minimality",
        "knows the method, and reasons why it made just these groups",
        meaning="A right guess names a person's value because the method would have made other groups of other values.",
        lowers="larger groups than the promise needs, or a method that does not look at the sensitive column",
        reads_people=True,
        cost=6,
        options=ATTACK_OPTIONS["minimality"],
    ),
    "corruption": AttackRow(
        "reticent.attacks.corruption:attack_by_corruption",
        "has learned the values of other people, of all but one even",
        ("rho-guarantee", "delta-growth"),
        meaning="A right guess names the value of one person by what is known of all others, as if these had told theirs.",
        lowers="a larger k or a smaller p of perturbed generalization",
        reads_people=True,
        guesses=False,
        cost=7,
        options=ATTACK_OPTIONS["corruption"],
        reads_plain_tables=True,
        help_place=3,
        options_need_name=True,
    ),
    "eligibility": AttackRow(
        "reticent.attacks.eligibility.attack:attack_by_eligibility",
        "reasons from how many rows were withheld, and how",
        ("l-dichotomy",),
        meaning="A sure belief tells which value was the most frequent before rows were withheld, and so what withheld people have.",
        lowers="safe suppression",
        needs_source=False,
        guesses=False,
        cost=6,
        options=ATTACK_OPTIONS["eligibility"],
    ),
    "matrix": AttackRow(
        "reticent.attacks.perturbation:attack_by_matrix",
        "knows how values were redrawn and how frequent each is, and reads the person's row",
        ("beta-likeness",),
        meaning="A right guess names a person's true value although the row shows a redrawn one.",
        lowers="a smaller beta",
        reads_people=True,
        cost=5,
        options=ATTACK_OPTIONS["matrix"],
    ),
    "matrix-learned": AttackRow(
        "reticent.attacks.perturbation:attack_by_learned_matrix",
        "knows how values were redrawn, and learns from all rows how they go with each quasi-identifier",
        meaning="A right guess names a person's true value by the row and by what all rows teach of people like them.",
        lowers="a smaller beta, or fewer quasi-identifiers",
        reads_people=True,
        cost=6,
        options=ATTACK_OPTIONS["matrix-learned"],
    ),
    "algorithm": AttackRow(
        "reticent.attacks.algorithm:attack_by_algorithm",
        "knows the method, and reasons why it published just these nodes",
        meaning="A right guess names a person's value by what the method would otherwise have published.",
        lowers="a target that does not follow the table: uniform, or one that is declared",
        needs_source=False,
        guesses=False,
        cost=7,
    ),
}
ATTACKS = RowTable(_ATTACKS)

_ENGINES = {
    "local": EngineRow("reticent.engines.local:ENGINE", "tables that fit memory"),
    "stream": EngineRow("reticent.engines.stream:ENGINE", "tables larger than memory, from Parquet or CSV"),
    "spark": EngineRow("reticent.engines.spark:ENGINE", "tables larger than a machine, by PySpark"),
}
ENGINES = RowTable(_ENGINES)
DEFAULT_ENGINE: Final = "local"
"""The engine where none is named."""
_LEARNERS_MODULE = "reticent.utility.classification"
LEARNERS = {
    "naive-bayes": LearnerRow(f"{_LEARNERS_MODULE}:naive_bayes"),
    "logistic-regression": LearnerRow(f"{_LEARNERS_MODULE}:logistic_regression"),
    "decision-tree": LearnerRow(f"{_LEARNERS_MODULE}:decision_tree"),
    "random-forest": LearnerRow(f"{_LEARNERS_MODULE}:random_forest"),
    "reconstruction-tree": LearnerRow(f"{_LEARNERS_MODULE}:reconstruction_tree", reconstructs=True),
}

REPORT_FILE_NAME = "report.html"
"""The page that a release folder may hold beside what its manifest lists."""
