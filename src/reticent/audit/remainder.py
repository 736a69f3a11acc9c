"""What is left of the source in a release, as one sentence beside the verdict: a release can keep its promise and be useless.

What a row keeps is 1 - AIL, the loss of a release (`labels.label_loss`), in every kind: labels of quasi-identifiers lose
what they cover beyond one value, and a withheld row is lost whole. Kinds that publish quasi-identifiers as they are lose
none of them. What a kind loses of sensitive values, the link to a row or the value itself, its auditor says in words
(`describe_sensitive_loss`), with the chance that the audit measures.

Shares that are kept are rounded down, shares that are lost up: against the publisher.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from reticent.errors import quote_list
from reticent.labels.label_loss import find_starred_columns, format_kept_share


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


def describe_remainder(
    rows: int, withheld: int | None, utility: Mapping[str, Any], sensitive_loss: str | None = None
) -> Remainder:
    """Describe what is left, by the audit's counts and measures.

    `sensitive_loss` is the kind's own sentence on sensitive values; None where rows keep theirs. A kind that has it and
    measures no loss of labels publishes quasi-identifiers as they are.
    """
    if "ail" not in utility and sensitive_loss is not None:
        return _describe_exact_rows(rows, withheld or 0, sensitive_loss)
    by_column = utility.get("ail_by_column") or {}
    loss = utility.get("ail")
    if loss is None:
        return Remainder(None, (), _describe_unknown_loss(by_column))
    starred = find_starred_columns(by_column)
    keeps = 1 - loss
    sentences = [_describe_labels(len(by_column), starred, keeps)]
    if withheld:
        sentences.append(_describe_withheld(rows, withheld))
    elif withheld is None:
        sentences.append("Rows that were withheld are not counted: how many there are is not known.")
    if sensitive_loss is not None:
        sentences.append(sensitive_loss)
    return Remainder(keeps, starred, " ".join(sentences))


LOST_LINK = "Lost is the link to the sensitive value: a row has one of those that its group lists"


def format_lost_share(share: float) -> str:
    """Format a share that is lost, rounded up; a little less than all is not called all."""
    percent = ceil(share * 100)
    return "more than 99 %" if share < 1 and percent == 100 else f"{percent} %"


def _describe_unknown_loss(by_column: Mapping[str, float | None]) -> str:
    unknown = [name for name, loss in by_column.items() if loss is None]
    if not unknown:
        return "There are no quasi-identifiers to lose anything of."
    return f"How much a row keeps of its quasi-identifiers is not known: nothing explains the labels of {quote_list(unknown)}."


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


def _describe_exact_rows(rows: int, withheld: int, sensitive_loss: str) -> Remainder:
    sentence = "Quasi-identifiers are published as they are: a row keeps all of them."
    if withheld:
        sentence = f"Quasi-identifiers are published as they are. {_describe_withheld(rows, withheld)}"
    return Remainder(rows / max(rows + withheld, 1), (), f"{sentence} {sensitive_loss}")
