"""What is refused, in words: a cell of the table that is not here works.

A rule is about a feature and the pairs that it applies to; it gives the sentence that the refusal begins with.  Rules speak of
what a kind declares of itself where they can, so that a new kind is held to them by being registered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reticent import registry
from tests.support.method_promise_pairs import Pair


@dataclass(frozen=True)
class Rule:
    """`whom` says in words what `of` decides."""

    features: tuple[str, ...]
    whom: str
    of: Callable[[Pair], bool]
    sentence: str


def redrawn(pair: Pair) -> bool:
    return pair.kind == "perturbed"


def sampled(pair: Pair) -> bool:
    return pair.kind == "sampled"


def transformed(pair: Pair) -> bool:
    return pair.kind == "transformed"


def of_the_whole_table(pair: Pair) -> bool:
    return any(getattr(registry.load_promise_class(name), "whole_table", False) for name in pair.promises)


def without_target(pair: Pair) -> bool:
    return not transformed(pair)


def labelled(pair: Pair) -> bool:
    return registry.load_writer(pair.kind).generalizes


def exact(pair: Pair) -> bool:
    return not labelled(pair)


def known_members(pair: Pair) -> bool:
    return any(getattr(registry.load_promise_class(name), "labels", None) for name in pair.promises)


def disjoint(pair: Pair) -> bool:
    """Strict cuts leave labels of which no two cover one person, but where a node names more than its group holds.

    Of k-map mosaic's kernels know nothing: on this table it publishes Mondrian's groups.
    """
    is_strict = getattr(registry.load_method_class(pair.method), "strict", False)
    publishes_strict_groups = (pair.method, pair.promise) == ("mosaic", "k-map")
    return (is_strict and pair.promise != "proximity-beta-likeness") or publishes_strict_groups


def with_one_sensitive(pair: Pair) -> bool:
    return not registry.load_writer(pair.kind).several_sensitive


STAGED = ("withheld rows: in no byte", "attack eligibility", "a stage before (suppression)")
CARRIED = ("carried columns", "withheld rows: in no byte", "rows in source order, re-sealed: found")
READS_GROUPS = (
    "attack naive-bayes",
    "attack definetti",
    "attack skewness",
    "attack similarity",
    "attack background",
    "attack singling-out",
    "attack linkability",
    "attack inference",
    "attack downcoding",
    "attack overlap",
    "attack composition",
    "attack minimality",
)
LABELS = ("labels snapped", "labels padded")
SEVERAL = ("several sensitive columns, each alone", "several sensitive columns, jointly")
REFUSED = [
    Rule(
        STAGED,
        "promises about what the whole table teaches",
        of_the_whole_table,
        "{promise} cannot be kept where rows are withheld.",
    ),
    Rule(
        STAGED,
        "transformed releases",
        transformed,
        "distribution takes no preparing stage: it publishes generalized values and fakes, and what a stage promises of the "
        "published values could not be seen in them.",
    ),
    Rule(
        CARRIED,
        "sampled releases",
        sampled,
        "A sampled release carries no insensitive column; the job declares 'note', 'visits'.",
    ),
    Rule(STAGED, "sampled releases", sampled, "{method} takes no preparing stage."),
    Rule(
        READS_GROUPS,
        "sampled releases",
        sampled,
        "This attack reads the values that groups hold; a sampled release shows perturbed values of the few people who were drawn.",
    ),
    Rule(
        ("attack minimality",),
        "transformed releases",
        transformed,
        "This attack runs a method again that makes groups; a transformed release was generalized to a target.",
    ),
    Rule(
        ("attack algorithm",),
        "releases without a target",
        without_target,
        "This attack knows how values are generalized to a target distribution; this release has no target.",
    ),
    Rule(
        ("attack matrix", "attack matrix-learned"),
        "releases without a matrix",
        lambda pair: not redrawn(pair),
        "This attack knows the matrix that values were redrawn by; this release has none.",
    ),
    Rule(
        ("value_counts",),
        "transformed releases",
        transformed,
        "In a transformed release values are generalized and mixed with fakes: how many people hold each is not published.",
    ),
    Rule(
        ("value_counts",),
        "sampled releases",
        sampled,
        "In a sampled release perturbed values of the few people who were drawn are published: counts of them are not those of the people.",
    ),
    Rule(
        ('query (SQL), density = "even"',),
        "releases with exact quasi-identifiers",
        lambda pair: exact(pair) and not sampled(pair),
        "A density is not used in answers from a release of kind '{kind}'.",
    ),
    Rule(
        ('query (SQL), by = "shrunk"',),
        "sampled releases",
        sampled,
        "Estimates from a sampled release are not shrunk.",
    ),
    Rule(
        ("count (an estimate)",),
        "sampled releases",
        sampled,
        "This release has labels, and a condition on values cannot be put to them.",
    ),
    Rule(
        ("missing sensitive values, a category",),
        "transformed and sampled releases",
        lambda pair: transformed(pair) or sampled(pair),
        "The sensitive column '{column}' is missing in 20 rows.",
    ),
    Rule(
        ('missing sensitive values, withheld (missing = "withhold")',),
        "sampled releases",
        sampled,
        "{method} cannot withhold rows by missing = \"withhold\" of the sensitive column '{column}'.",
    ),
    Rule(
        ('surplus rows of a person, withheld (beyond = "withhold")',),
        "transformed and sampled releases",
        lambda pair: transformed(pair) or sampled(pair),
        '{method} cannot withhold rows by beyond = "withhold".',
    ),
    Rule(
        ('surplus rows of a person, withheld (beyond = "withhold")',),
        "promises about what the whole table teaches",
        of_the_whole_table,
        '{promise} cannot be kept with beyond = "withhold".',
    ),
    Rule(
        ("carried numbers and dates rounded and bounded (round_to, top, bottom)",),
        "sampled releases",
        sampled,
        "A sampled release carries no insensitive column; the job declares 'visits', 'seen'.",
    ),
    Rule(
        READS_GROUPS,
        "perturbed releases",
        redrawn,
        "This attack reads the values that groups hold; in a perturbed release every row's value was redrawn.",
    ),
    Rule(
        ("attack eligibility", "value_counts"),
        "perturbed releases",
        redrawn,
        "In a perturbed release every row's value was redrawn: the published counts are not those of the people.",
    ),
    Rule(
        ("count (an estimate)",),
        "labelled releases",
        labelled,
        "This release has labels, and a condition on values cannot be put to them.",
    ),
    Rule(
        ("missing sensitive values, a category",),
        "perturbed releases",
        redrawn,
        "The sensitive column '{column}' is missing in 20 rows.",
    ),
    Rule(
        ("missing sensitive values, not declared",),
        "all",
        lambda pair: True,
        "The sensitive column '{column}' is missing in 20 rows.",
    ),
    Rule(
        ("withheld rows (suppress_at_most)",),
        "sampled releases",
        sampled,
        "suppress_at_most is for methods whose groups lose less without some rows; {method} draws rows at random.",
    ),
    Rule(
        ("withheld rows (suppress_at_most)",),
        "releases with exact quasi-identifiers",
        lambda pair: exact(pair) and not sampled(pair),
        "suppress_at_most is for methods whose groups lose less without some rows; {method} publishes quasi-identifiers as they are.",
    ),
    Rule(
        ("withheld rows (suppress_at_most)",),
        "promises about what the whole table teaches",
        of_the_whole_table,
        "{promise} cannot be kept where rows are withheld.",
    ),
    Rule(
        ("withheld rows (suppress_at_most)",),
        "jobs with a stage",
        lambda pair: bool(pair.stages),
        "suppress_at_most and a preparing stage both withhold rows, and the stage's promise is about those it chose.",
    ),
    Rule(
        ("a limit of loss (loss_at_most)",),
        "releases with exact quasi-identifiers",
        lambda pair: exact(pair) and not sampled(pair),
        "loss_at_most is about labels; {method} publishes quasi-identifiers as they are.",
    ),
    Rule(
        LABELS[:1],
        "promises about what labels cover",
        known_members,
        "Column 'age' asks for snapped labels, and {promise} needs labels of which no two cover one person.",
    ),
    Rule(
        LABELS[1:],
        "promises about what labels cover",
        known_members,
        "Column 'age' asks for padded labels, and {promise} needs labels of which no two cover one person.",
    ),
    Rule(
        ("a limit of loss (loss_at_most)",),
        "releases with exact quasi-identifiers",
        lambda pair: exact(pair) and not sampled(pair),
        "loss_at_most is about labels; {method} publishes quasi-identifiers as they are.",
    ),
    Rule(
        LABELS[:1],
        "sampled releases",
        sampled,
        "Column 'age' asks for snapped labels, and {method} needs labels of which no two cover one person.",
    ),
    Rule(
        LABELS[1:],
        "sampled releases",
        sampled,
        "Column 'age' asks for padded labels, and {method} needs labels of which no two cover one person.",
    ),
    Rule(
        ("a limit of loss (loss_at_most)",),
        "releases with exact quasi-identifiers",
        lambda pair: exact(pair) and not sampled(pair),
        "loss_at_most is about labels; {method} publishes quasi-identifiers as they are.",
    ),
    Rule(
        LABELS[:1],
        "releases with exact quasi-identifiers",
        exact,
        "Column 'age' asks for snapped labels, and {method} publishes quasi-identifiers as they are.",
    ),
    Rule(
        LABELS[1:],
        "releases with exact quasi-identifiers",
        exact,
        "Column 'age' asks for padded labels, and {method} publishes quasi-identifiers as they are.",
    ),
    Rule(
        ("attack singling-out",),
        "releases with exact quasi-identifiers",
        exact,
        "This attack reads the ends of published ranges; this release publishes quasi-identifiers as they are.",
    ),
    Rule(
        ("attack linkability",),
        "releases with exact quasi-identifiers",
        exact,
        "This attack asks what labels link; this release publishes quasi-identifiers as they are.",
    ),
    Rule(
        ("attack downcoding",),
        "releases with exact quasi-identifiers",
        exact,
        "This attack asks for quasi-identifiers that labels hide; this release publishes them as they are.",
    ),
    Rule(
        ("attack overlap",),
        "releases with exact quasi-identifiers",
        exact,
        "This attack asks who is in which group; this release says it: its quasi-identifiers are as they were.",
    ),
    Rule(
        ("attack overlap",),
        "releases whose labels are disjoint",
        disjoint,
        "This attack asks who is in which group; no two labels of this release cover the same person.",
    ),
    Rule(
        SEVERAL,
        "kinds that take one sensitive column",
        with_one_sensitive,
        "A release by {method} has one sensitive column; the job declares 2.",
    ),
    Rule(
        SEVERAL[1:],
        "semantic-beta-likeness",
        lambda pair: pair.promise == "semantic-beta-likeness",
        "semantic-beta-likeness is about the values of one column, and the job takes 2 sensitive columns jointly.",
    ),
    Rule(
        SEVERAL[1:],
        "proximity-beta-likeness",
        lambda pair: pair.promise == "proximity-beta-likeness",
        "proximity-beta-likeness is about the values of one column, and the job takes 2 sensitive columns jointly.",
    ),
]

TOGETHER = {
    ("a stage before (suppression)", "withheld rows (suppress_at_most)"): (
        "suppress_at_most and a preparing stage both withhold rows, and the stage's promise is about those it chose."
    ),
    ("missing sensitive values, a category", "several sensitive columns, jointly"): (
        "Sensitive columns are to be taken jointly, but '{column}' has missing values."
    ),
}
"""Two features that work apart and are refused together."""


def rule(feature: str, pair: Pair) -> Rule | None:
    """The first rule that applies to a cell."""
    return next((rule for rule in REFUSED if feature in rule.features and rule.of(pair)), None)


def expected(feature: str, pair: Pair) -> str | None:
    """The sentence that a cell is refused with; None where it works."""
    found = rule(feature, pair)
    return (
        None
        if found is None
        else found.sentence.format(method=pair.method, column=pair.sensitive, promise=pair.promise, kind=pair.kind)
    )
