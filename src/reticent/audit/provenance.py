"""The audit against the source, for every kind: published rows stand for source rows, their order says nothing, nothing leaked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reticent.audit.canonical import odd_bytes
from reticent.audit.compared import Compared
from reticent.audit.kind import Finding, Matching, Recounted
from reticent.audit.leaks import find
from reticent.audit.order import Order
from reticent.audit.unused import Leak
from reticent.errors import some


@dataclass(frozen=True, eq=False)
class Provenance:
    """What the comparison with the source found.  `withheld` is how many source rows were not published.

    `odd` names files whose bytes are not those that the writer makes of their rows.
    """

    rows: int
    withheld: int
    stated: int | None
    unmatched: int
    overlapping: bool
    order: Order
    leaks: tuple[Leak, ...]
    odd: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def passed(self) -> bool:
        """Every row is covered, as many are missing as is stated, the order says nothing, and nothing leaked."""
        counted = self.withheld >= 0 if self.stated is None else self.withheld == self.stated
        fine = all(finding.passed is not False for finding in self.findings)
        return counted and fine and not self.unmatched and self.order.shuffled and not self.leaks and not self.odd

    @property
    def is_open(self) -> bool:
        """Whether something that has to be shown could be neither shown nor ruled out."""
        return any(finding.needed and finding.passed is None for finding in self.findings)

    @property
    def uncovered(self) -> bool:
        """Whether some published rows cannot be rows of this source."""
        return self.unmatched > 0 or self.withheld < 0

    def to_dict(self) -> dict[str, Any]:
        found = {"rows": self.rows, "withheld": self.withheld, "unmatched": self.unmatched, "overlapping": self.overlapping,
                 "passed": self.passed, "order": self.order.to_dict(),
                 "leaks": [{"column": leak.column, "file": leak.file, "values": leak.values} for leak in self.leaks]}  # fmt: skip
        for finding in self.findings:
            found |= finding.facts
        found |= {"odd_bytes": list(self.odd)} if self.odd else {}
        return {**found, "sentences": self.sentences}

    @property
    def sentences(self) -> list[str]:
        """What was found, for people: one sentence for each thing that was looked at."""
        outcome = "passed" if self.passed else "FAILED"
        if self.passed and self.is_open:
            outcome = "found nothing wrong, and could not be completed"
        said = [f"The comparison with the source {outcome}."]
        said.append(self._withheld())
        said.append(
            f"{self.unmatched:,} published rows stand for no source row of their own."
            if self.unmatched
            else "Every published row stands for a source row of its own."
        )
        said += [f"{self.order}.", *(_sentence(finding.sentence) for finding in self.findings)]
        said += [
            f"The file {name} is not written as reticent writes it: its bytes may carry more than its rows."
            for name in self.odd
        ]
        said += [f"LEAK: {some(leak.values, 'value')} of {leak.column!r} in {leak.file}." for leak in self.leaks]
        return said if self.leaks else [*said, "Nothing else of the source was found in the release."]

    def _withheld(self) -> str:
        if self.stated is not None and self.withheld != self.stated:
            return f"{self.withheld:,} of {self.rows:,} source rows are not published, and the release states {self.stated:,}."
        if not self.withheld:
            return f"All {self.rows:,} source rows are published."
        return f"{self.withheld:,} of {self.rows:,} source rows are not published."

    def __str__(self) -> str:
        first, *rest = self.sentences
        return "\n".join([f"  {first}", *(f"    {sentence}" for sentence in rest)])


def _sentence(text: str) -> str:
    """A finding of a kind, from a capital letter to a full stop."""
    words = " ".join(text.split())
    return f"{words[:1].upper()}{words[1:]}" + ("" if words.endswith((".", "!", "?")) else ".")


def trace(recounted: Recounted, matching: Matching, source: Compared) -> Provenance:
    """What the comparison of a release with its source shows."""
    subject = recounted.subject
    stated = None if subject.foreign else subject.withheld
    leaks = find(recounted, source, matching.kept)
    odd = () if subject.manifest is None or subject.path is None else odd_bytes(subject.path, subject.manifest)
    missing = source.rows - recounted.rows if matching.missing is None else matching.missing
    return Provenance(source.rows, missing, stated, matching.unmatched, matching.overlapping, matching.order, tuple(leaks), odd,
                      matching.findings)  # fmt: skip
