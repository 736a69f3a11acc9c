"""What is left of the source in a release, as one sentence beside the verdict: a release can keep its promise and be useless.

What a row keeps is 1 - AIL, the loss of a release (`labels.label_loss`), in every kind: labels of quasi-identifiers lose
what they cover beyond one value, and a withheld row is lost whole. Kinds that publish quasi-identifiers as they are lose
none of them; what they lose instead, the link to the sensitive value or that value itself, the sentence says in words,
with the chance that the audit measures:

    anatomized    the chance that a value drawn from a row's group is not the row's own (RCE of Xiao & Tao 2006)
    transformed   which value of its group a row has, and the share of fakes among them
    perturbed     the chance that a row shows its own value (retention)
    sampled       loses by labels, publishes one row of each group, and redraws its value

Shares that are kept are rounded down, shares that are lost up: against the publisher.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from reticent.errors import pluralize, quote_list
from reticent.labels.label_loss import find_starred_columns, format_kept_share

EXACT_KINDS = ("anatomized", "perturbed", "transformed")


@dataclass(frozen=True, slots=True)
class Remainder:
    """What is left: the share of its quasi-identifiers that a row keeps (None where it is not known), the columns that
    are as good as `*` in every row, and a sentence.
    """

    row_keeps: float | None
    starred: tuple[str, ...]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        return {"row_keeps": self.row_keeps, "starred": list(self.starred), "says": self.sentence}


def describe_remainder(kind: str, rows: int, withheld: int | None, utility: Mapping[str, Any]) -> Remainder:
    """Describe what is left in a release of this kind, by the audit's counts and measures."""
    if kind in EXACT_KINDS:
        return _describe_exact_kind(kind, rows, withheld or 0, utility)
    by_column = utility.get("ail_by_column") or {}
    loss = utility.get("ail")
    starred = find_starred_columns(by_column)
    if loss is None:
        why = "the loss of a column is not known (see the notes)" if by_column or rows else "it has none"
        return Remainder(None, starred, f"How much a row keeps of its quasi-identifiers is not known: {why}.")
    keeps = 1 - loss
    sentences = [_describe_labels(len(by_column), starred, keeps)]
    if kind == "sampled":
        sentences += _describe_sample(rows, utility)
    elif withheld:
        sentences.append(_describe_withheld(rows, withheld))
    elif withheld is None:
        sentences.append("Rows that were withheld are not counted: how many there are is not known.")
    return Remainder(keeps, starred, " ".join(sentences))


def format_lost_share(share: float) -> str:
    """Format a share that is lost, rounded up; a little less than all is not called all."""
    percent = ceil(share * 100)
    return "more than 99 %" if share < 1 and percent == 100 else f"{percent} %"


def _describe_labels(columns: int, starred: tuple[str, ...], keeps: float) -> str:
    row_keeps = f"a row keeps {format_kept_share(keeps)} of its quasi-identifiers"
    if not starred:
        return f"{row_keeps[0].upper()}{row_keeps[1:]}."
    if len(starred) == columns:
        which = "The quasi-identifier is" if columns == 1 else f"All {columns} quasi-identifiers are"
        return f"{which} as good as `*` in every row: {row_keeps}."
    verb = "is" if len(starred) == 1 else "are"
    return f"Of {columns} quasi-identifiers {len(starred)} {verb} as good as `*` in every row ({quote_list(starred)}); {row_keeps}."


def _describe_withheld(rows: int, withheld: int) -> str:
    return f"{withheld:,} of {rows + withheld:,} rows were withheld and count as lost whole."


def _describe_sample(rows: int, utility: Mapping[str, Any]) -> list[str]:
    published = f"One row of each group is published: {pluralize(rows, 'row')}"
    if (share := utility.get("published_share")) is not None:
        published += f", {format_kept_share(float(share))} of them all"
    return [
        f"{published}; its sensitive value is its own with a chance of {format_kept_share(_get_retention(utility))}, and drawn at random otherwise."
    ]


def _describe_exact_kind(kind: str, rows: int, withheld: int, utility: Mapping[str, Any]) -> Remainder:
    keeps = rows / max(rows + withheld, 1)
    sentences = ["Quasi-identifiers are published as they are: a row keeps all of them."]
    if withheld:
        sentences = [f"Quasi-identifiers are published as they are. {_describe_withheld(rows, withheld)}"]
    sentences.append(_describe_sensitive_loss(kind, utility))
    return Remainder(keeps, (), " ".join(sentences))


def _describe_sensitive_loss(kind: str, utility: Mapping[str, Any]) -> str:
    if kind == "perturbed":
        if "retention" not in utility:
            return "Lost is the sensitive value: it was redrawn by the chances of the manifest's matrix."
        return f"Lost is the sensitive value: it was redrawn, and is the row's own with a chance of {format_kept_share(_get_retention(utility))}."
    lost_link = "Lost is the link to the sensitive value: a row has one of those that its group lists"
    if kind == "transformed":
        return f"{lost_link}, as nodes or ranges, and {format_lost_share(float(utility['fakes']))} of these are fakes."
    return f"{lost_link}, and one drawn from them is not its own with a chance of {format_lost_share(float(utility['rce']))}."


def _get_retention(utility: Mapping[str, Any]) -> float:
    return float(utility["retention"])
