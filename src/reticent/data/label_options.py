"""Declares how a column's labels print, and so what the ends of its ranges may disclose.

labels = "tight"                                a range ends at its group's least and greatest value
labels = "snapped"                              ends lie on round numbers or calendar steps, chosen from the column's range
labels = { style = "snapped", step = 5 }        ends lie on multiples of 5; of dates, step = "month"
labels = { style = "padded", width = 2 }        each end is moved outwards by a secret amount of at most 2; of dates, 2 days
labels = { style = "padded", width = 2, share = 0.5 }   the same, and at most half of the range: narrow ranges move little
labels = "nodes", labels = "sets"               of categories: a hierarchy's nodes, or the exact set of a group's values
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reticent.catalogue import JOB_TABLES
from reticent.catalogue.job_fields import LABEL_FIELDS, LABEL_RELATIONS
from reticent.errors import JobError, suggest
from reticent.validation import accept_parameter, check_relations, document_parameters


@document_parameters(JOB_TABLES["labels"])
@dataclass(frozen=True, slots=True)
class LabelOptions:
    """Style of a column's labels, and its measures."""

    style: str
    step: Any = None
    width: Any = None
    share: Any = None

    @classmethod
    def parse(cls, given: Any) -> LabelOptions:
        """Parse a style's name, or a table with the style and its measure."""
        if isinstance(given, LabelOptions):
            return given
        table = {"style": given} if isinstance(given, str) else given
        if not isinstance(table, Mapping) or not isinstance(table.get("style"), str):
            raise JobError(
                "labels is the name of a style, or a table that has one.", attempt=LABEL_FIELDS["width"].attempt
            )
        for name in table:
            if name not in LABEL_FIELDS:
                raise JobError(f"labels: {name!r} is not known.", attempt=suggest(str(name), LABEL_FIELDS))
        return cls(**table)

    def __post_init__(self) -> None:
        self._accept("style")
        check_relations(LABEL_RELATIONS, self)
        self._accept("step", "width", "share")

    def _accept(self, *options: str) -> None:
        """Check options that are set by their fields, and store them as labels need them."""
        for name in options:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, accept_parameter(LABEL_FIELDS[name], value, name, "labels"))

    def find_max_pad(self, span: int, max_pad: int) -> int:
        """Return the most units that an end of a range of `span` units is moved by; the width allows `max_pad`."""
        return max_pad if self.share is None else min(max_pad, int(Fraction(str(self.share)) * span))

    def to_plain(self) -> str | dict[str, Any]:
        """Return the options as a job file or a manifest holds them."""
        measures = {name: getattr(self, name) for name in ("step", "width", "share") if getattr(self, name) is not None}
        return {"style": self.style, **measures} if measures else self.style
