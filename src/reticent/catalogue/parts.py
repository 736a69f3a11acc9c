"""Methods, stages, kinds and attacks: one row each."""

from __future__ import annotations

from reticent.catalogue.rows import AttackRow, KindRow, Row

METHODS = {
    "mondrian": Row(
        "reticent.methods.mondrian:Mondrian", ("cuts", "fallback", "labels", "thorough", "weights"), "generalized"
    ),
    "mosaic": Row("reticent.methods.mosaic:Mosaic", ("effort", "weights", "threads"), "generalized"),
    "burel": Row("reticent.methods.burel:Burel", ("fill", "axes", "share"), "generalized"),
    "sabre": Row("reticent.methods.sabre:Sabre", ("share", "fill", "axes"), "generalized"),
    "beta-perturbation": Row(
        "reticent.methods.beta_perturbation:BetaPerturbation", ("matrix", "conditioning"), "perturbed"
    ),
    "anatomy": Row("reticent.methods.anatomy:Anatomy", ("grouping",), "anatomized"),
    "distribution": Row(
        "reticent.methods.distribution:Distribution",
        ("group_by", "within", "fakes", "arity", "size", "k", "workload"),
        "transformed",
    ),
    "perturbed-generalization": Row(
        "reticent.methods.perturbed_generalization:PerturbedGeneralization",
        ("p", "k", "s", "grouping", "cuts", "categories", "domain", "weights"),
        "sampled",
    ),
}
STAGES = {
    "suppression": Row("reticent.methods.suppression:Suppression", ("l", "kind", "column", "acknowledge")),
}


def _kind(name: str) -> KindRow:
    return KindRow(f"reticent.recipe.{name}:WRITER", f"reticent.release.{name}:READER", f"reticent.audit.{name}:EYES")


KINDS = {
    "generalized": _kind("generalized"),
    "anatomized": _kind("anatomized"),
    "perturbed": _kind("perturbed"),
    "transformed": _kind("transformed"),
    "sampled": _kind("sampled"),
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
    ),
    "definetti": AttackRow(
        "reticent.attacks.definetti:definetti", "learns from all groups, again and again, who has which value in each"
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
    ),
    "background": AttackRow(
        "reticent.attacks.background:background",
        "knows how values go with quasi-identifiers, up to a bandwidth",
        ("bt-privacy", "skyline"),
    ),
    "singling-out": AttackRow(
        "reticent.attacks.singling_out:singling_out", "takes the ends of published ranges for people's values"
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
    ),
    "overlap": AttackRow("reticent.attacks.overlap:overlap", "asks which of overlapping groups each person may be in"),
    "composition": AttackRow(
        "reticent.attacks.composition:composition",
        "joins several releases of the same people",
        reads_people=True,
    ),
    "minimality": AttackRow(
        "reticent.attacks.minimality.attack:minimality",
        "knows the method, and reasons why it made just these groups",
        reads_people=True,
    ),
    "corruption": AttackRow(
        "reticent.attacks.corruption:corruption",
        "has learned the values of other people, of all but one even",
        ("rho-guarantee", "delta-growth"),
        reads_people=True,
    ),
    "eligibility": AttackRow(
        "reticent.attacks.eligibility.attack:eligibility",
        "reasons from how many rows were withheld, and how",
        ("l-dichotomy",),
        needs_source=False,
    ),
    "algorithm": AttackRow(
        "reticent.attacks.algorithm.attack:algorithm",
        "knows the method, and reasons why it published just these nodes",
        needs_source=False,
    ),
}

REPORT, REPORTED_BY = "report.html", "reticent.report:page_of"
"""The page that a release folder may hold beside what its manifest lists, and what makes it: the folder's page must be that one."""
