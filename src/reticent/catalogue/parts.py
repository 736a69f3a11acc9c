"""Methods, stages, kinds, attacks and engines: one row each."""

from __future__ import annotations

from reticent.catalogue.method_fields import METHOD_FIELDS, METHOD_RELATIONS, STAGE_FIELDS, STAGE_RELATIONS
from reticent.catalogue.rows import AttackRow, EngineRow, KindRow, LearnerRow, Row

METHODS = {
    "mondrian": Row("reticent.methods.mondrian:Mondrian", METHOD_FIELDS["mondrian"], "generalized"),
    "mosaic": Row("reticent.methods.mosaic:Mosaic", METHOD_FIELDS["mosaic"], "generalized"),
    "burel": Row("reticent.methods.burel:Burel", METHOD_FIELDS["burel"], "generalized"),
    "sabre": Row("reticent.methods.sabre:Sabre", METHOD_FIELDS["sabre"], "generalized"),
    "beta-perturbation": Row(
        "reticent.methods.beta_perturbation:BetaPerturbation", METHOD_FIELDS["beta-perturbation"], "perturbed"
    ),
    "anatomy": Row("reticent.methods.anatomy:Anatomy", METHOD_FIELDS["anatomy"], "anatomized"),
    "distribution": Row("reticent.methods.distribution:Distribution", METHOD_FIELDS["distribution"], "transformed"),
    "perturbed-generalization": Row(
        "reticent.methods.perturbed_generalization:PerturbedGeneralization",
        METHOD_FIELDS["perturbed-generalization"],
        "sampled",
        METHOD_RELATIONS["perturbed-generalization"],
    ),
}
STAGES = {
    "suppression": Row(
        "reticent.methods.suppression:Suppression",
        STAGE_FIELDS["suppression"],
        relations=STAGE_RELATIONS["suppression"],
    ),
}


_EXACT = "quasi-identifiers stay exact, so that who is in the data can be told"


def _kind(name: str, gives_up: str, answers: str = "over_groups") -> KindRow:
    rooms = (f"reticent.recipe.{name}:WRITER", f"reticent.release.{name}:READER", f"reticent.audit.{name}:EYES")
    return KindRow(*rooms, f"reticent.utility.answering:{answers}", gives_up)


KINDS = {
    "generalized": _kind(
        "generalized", "quasi-identifiers become ranges, sets and nodes; every row keeps its own sensitive value"
    ),
    "anatomized": _kind("anatomized", f"{_EXACT}; which row of a group has which of its sensitive values is not said"),
    "perturbed": _kind(
        "perturbed",
        f"{_EXACT}; every sensitive value is redrawn, no row's own is to be believed, and counts have a standard error",
        "over_redrawn",
    ),
    "transformed": _kind(
        "transformed", f"{_EXACT}; sensitive values are generalized among fakes, and a row says its group's target only"
    ),
    "sampled": _kind(
        "sampled",
        "one row of each group is published, its labels the group's and its value redrawn: most people have no row",
        "over_sampled",
    ),
}
PLAIN = "generalized"
"""The kind that tables of other tools are read as."""

_READERS = (
    "alpha-k-anonymity", "probabilistic-l-diversity", "entropy-l-diversity", "recursive-l-diversity", "t-closeness",
    "delta-disclosure", "beta-likeness",
)  # fmt: skip
"""Promises about who reads the group that a person is in, and believes its shares."""

ATTACKS = {
    "naive-bayes": AttackRow(
        "reticent.attacks.naive_bayes:naive_bayes",
        "learns from all groups how values go with each quasi-identifier",
        apart=True,
        cost=5,
    ),
    "definetti": AttackRow(
        "reticent.attacks.definetti:definetti",
        "learns from all groups, again and again, who has which value in each",
        cost=9,
    ),
    "skewness": AttackRow(
        "reticent.attacks.skewness:skewness",
        "reads the person's group, and guesses what it lifts most",
        _READERS,
        apart=True,
    ),
    "similarity": AttackRow(
        "reticent.attacks.similarity:similarity",
        "reads the person's group, and guesses a family of like values",
        ("t-closeness", "semantic-beta-likeness", "proximity-beta-likeness"),
        apart=True,
        cost=2,
    ),
    "background": AttackRow(
        "reticent.attacks.background:background",
        "knows how values go with quasi-identifiers, up to a bandwidth",
        ("bt-privacy", "skyline"),
        guesses=False,
        cost=8,
    ),
    "singling-out": AttackRow(
        "reticent.attacks.singling_out:singling_out",
        "takes the ends of published ranges for people's values",
        guesses=False,
    ),
    "linkability": AttackRow(
        "reticent.attacks.linkability:linkability",
        "has two lists with some of the columns each, and links their people",
    ),
    "inference": AttackRow(
        "reticent.attacks.inference:inference",
        "knows all of a person but the sensitive value, and asks the groups that may hold the person",
        _READERS,
    ),
    "downcoding": AttackRow(
        "reticent.attacks.downcoding.attack:downcoding",
        "knows that no group could be cut further, and asks for the values that ranges hide",
        cost=4,
    ),
    "overlap": AttackRow(
        "reticent.attacks.overlap:overlap", "asks which of overlapping groups each person may be in", cost=4
    ),
    "composition": AttackRow(
        "reticent.attacks.composition:composition",
        "joins several releases of the same people",
        reads_people=True,
        guesses=False,
        cost=3,
    ),
    "minimality": AttackRow(
        "reticent.attacks.minimality.attack:minimality",
        "knows the method, and reasons why it made just these groups",
        reads_people=True,
        cost=6,
    ),
    "corruption": AttackRow(
        "reticent.attacks.corruption:corruption",
        "has learned the values of other people, of all but one even",
        ("rho-guarantee", "delta-growth"),
        reads_people=True,
        guesses=False,
        cost=7,
    ),
    "eligibility": AttackRow(
        "reticent.attacks.eligibility.attack:eligibility",
        "reasons from how many rows were withheld, and how",
        ("l-dichotomy",),
        needs_source=False,
        guesses=False,
        cost=6,
    ),
    "matrix": AttackRow(
        "reticent.attacks.redrawn:matrix",
        "knows how values were redrawn and how frequent each is, and reads the person's row",
        ("beta-likeness",),
        reads_people=True,
        cost=5,
    ),
    "matrix-learned": AttackRow(
        "reticent.attacks.redrawn:matrix_learned",
        "knows how values were redrawn, and learns from all rows how they go with each quasi-identifier",
        reads_people=True,
        cost=6,
    ),
    "algorithm": AttackRow(
        "reticent.attacks.algorithm.attack:algorithm",
        "knows the method, and reasons why it published just these nodes",
        needs_source=False,
        guesses=False,
        cost=7,
    ),
}

ENGINES = {
    "local": EngineRow("reticent.engines.local:ENGINE", "tables that fit memory"),
    "stream": EngineRow("reticent.engines.stream:ENGINE", "tables larger than memory, from Parquet or CSV"),
    "spark": EngineRow("reticent.engines.spark:ENGINE", "tables larger than a machine, by PySpark"),
}
ENGINE = "local"
"""The engine where none is named."""
_LEARNING = "reticent.utility.learners"
LEARNERS = {
    "naive-bayes": LearnerRow(f"{_LEARNING}:naive_bayes"),
    "logistic-regression": LearnerRow(f"{_LEARNING}:logistic_regression"),
    "decision-tree": LearnerRow(f"{_LEARNING}:decision_tree"),
    "random-forest": LearnerRow(f"{_LEARNING}:random_forest"),
    "reconstruction-tree": LearnerRow(f"{_LEARNING}:reconstruction_tree", reconstructs=True),
}

REPORT = "report.html"
"""The page that a release folder may hold beside what its manifest lists."""
