"""Provenance of a release: the comparison with its source, the identity of its folder, and the report page in it.

- `trace_provenance` judges for every kind whether published rows stand for source rows, whether their order depends on
  the source's, and whether anything leaked.
- `identify_folder` asks whether this is the folder that was published. No file in a folder can show it, only a digest
  that was kept elsewhere: anybody who can change a folder can seal it again. If a promise was loosened, groups were
  deleted and called withheld, or values were exchanged between groups of equal histograms, the files are those of
  another release, and every count of them is right.
- `check_page` asks whether the report page in a folder is the one that the owner wrote there. Only a checksum in the
  owner's ledger shows it. The page is never made anew: that would run a renderer, and its native code, on a folder that
  a stranger may have sent.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent import catalogue
from reticent.audit.kind import RecomputedRelease, SourceFinding, SourceMatching
from reticent.audit.leaks import Leak, find_leaks
from reticent.audit.manifest_checks import find_noncanonical_files
from reticent.audit.order import RowOrder
from reticent.audit.source_comparison import SourceComparison
from reticent.errors import pluralize
from reticent.format.folder import read_report_page
from reticent.ledger.notes import is_page_recorded
from reticent.ledger.paths import read_recorded_digest
from reticent.release.bundle import compute_digest

UNPROVEN_SENTENCE = "Nothing here proves that this is the folder that was published; give --expect-digest."
EXPECTED_SENTENCE = "The digest is the one expected: this is the folder that was published."
OWNED_SENTENCE = "The digest is the one in the owner's folder beside it, which proves it to whoever keeps that folder and to nobody else."
CHANGED_SENTENCE = (
    "The digest is NOT the one in the owner's folder beside it: somebody changed the release after it was published."
)
NOTED_SENTENCE = f"{catalogue.REPORT_FILE_NAME} is, byte for byte, the page that your ledger notes for this release."
UNCHECKED_SENTENCE = (
    f"{catalogue.REPORT_FILE_NAME} was NOT checked and must not be believed: no release lists it, and your ledger does not note it as a "
    "page of this one. `reticent report` makes one that you can trust."
)


@dataclass(frozen=True, eq=False)
class Provenance:
    """Result of the comparison with the source. `withheld` is how many source rows were not published.

    `odd` names files whose bytes are not those that the writer makes of their rows.
    """

    rows: int
    withheld: int
    stated: int | None
    unmatched: int
    overlapping: bool
    order: RowOrder
    leaks: tuple[Leak, ...]
    odd: tuple[str, ...] = ()
    findings: tuple[SourceFinding, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every row is covered, as many are missing as stated, the order reveals nothing, and nothing leaked."""
        if self.stated is None:
            rows_add_up = self.withheld >= 0
        else:
            rows_add_up = self.withheld == self.stated
        findings_passed = all(finding.passed is not False for finding in self.findings)
        is_clean = not self.unmatched and not self.leaks and not self.odd
        return rows_add_up and findings_passed and is_clean and self.order.shuffled

    @property
    def is_open(self) -> bool:
        """Whether something that has to be shown could be neither shown nor ruled out."""
        return any(finding.needed and finding.passed is None for finding in self.findings)

    @property
    def uncovered(self) -> bool:
        """Whether some published rows cannot be rows of this source."""
        return self.unmatched > 0 or self.withheld < 0

    def to_dict(self) -> dict[str, Any]:
        document = {
            "rows": self.rows,
            "withheld": self.withheld,
            "unmatched": self.unmatched,
            "overlapping": self.overlapping,
            "passed": self.passed,
            "order": self.order.to_dict(),
            "leaks": [{"column": leak.column, "file": leak.file, "values": leak.values} for leak in self.leaks],
        }
        for finding in self.findings:
            document |= finding.facts
        if self.odd:
            document["odd_bytes"] = list(self.odd)
        document["sentences"] = self.sentences
        return document

    @property
    def sentences(self) -> list[str]:
        """Describe the result for people: one sentence for each check."""
        outcome = "passed" if self.passed else "FAILED"
        if self.passed and self.is_open:
            outcome = "found nothing wrong, and could not be completed"
        lines = [f"The comparison with the source {outcome}."]
        lines.append(self._describe_withheld())
        if self.unmatched:
            lines.append(f"{self.unmatched:,} published rows stand for no source row of their own.")
        else:
            lines.append("Every published row stands for a source row of its own.")
        lines.append(f"{self.order}.")
        lines += [_format_sentence(finding.sentence) for finding in self.findings]
        lines += [
            f"The file {name} is not written as reticent writes it: its bytes may carry more than its rows."
            for name in self.odd
        ]
        lines += [f"LEAK: {pluralize(leak.values, 'value')} of {leak.column!r} in {leak.file}." for leak in self.leaks]
        if not self.leaks:
            lines.append("Nothing else of the source was found in the release.")
        return lines

    def _describe_withheld(self) -> str:
        if self.stated is not None and self.withheld != self.stated:
            return f"{self.withheld:,} of {self.rows:,} source rows are not published, and the release states {self.stated:,}."
        if not self.withheld:
            return f"All {self.rows:,} source rows are published."
        return f"{self.withheld:,} of {self.rows:,} source rows are not published."

    def __str__(self) -> str:
        first, *rest = self.sentences
        return "\n".join([f"  {first}", *(f"    {sentence}" for sentence in rest)])


def trace_provenance(recount: RecomputedRelease, matching: SourceMatching, source: SourceComparison) -> Provenance:
    """Put together what the comparison of a release with its source shows: rows, order, findings, leaks, odd bytes."""
    subject = recount.subject
    leaks = find_leaks(recount, source, matching.published_values)
    odd: tuple[str, ...] = ()
    if subject.manifest is not None and subject.path is not None:
        odd = find_noncanonical_files(subject.path, subject.manifest)
    return Provenance(
        rows=source.rows,
        withheld=source.rows - recount.rows if matching.missing is None else matching.missing,
        stated=None if subject.foreign else subject.withheld,
        unmatched=matching.unmatched,
        overlapping=matching.overlapping,
        order=matching.order,
        leaks=tuple(leaks),
        odd=odd,
        findings=matching.findings,
    )


@dataclass(frozen=True, slots=True)
class Identity:
    """The folder's digest.

    `compared_with` is "expected", "owner" (the owner's note) or None, and `same` whether both are equal.
    """

    digest: str
    compared_with: str | None = None
    same: bool | None = None

    @property
    def sentence(self) -> str:
        if self.same is False:
            return CHANGED_SENTENCE
        return {None: UNPROVEN_SENTENCE, "expected": EXPECTED_SENTENCE, "owner": OWNED_SENTENCE}[self.compared_with]

    def to_dict(self) -> dict[str, Any]:
        return {"digest": self.digest, "compared_with": self.compared_with, "same": self.same, "says": self.sentence}


def identify_folder(folder: Path, expected: str | None) -> Identity:
    """Compare the folder's digest: `verify_bundle` did it with an expected one; else with the note in the owner's folder."""
    digest = compute_digest(folder)
    if expected is not None:
        return Identity(digest, "expected", True)
    noted = read_recorded_digest(folder)
    return Identity(digest) if noted is None else Identity(digest, "owner", noted == digest)


@dataclass(frozen=True, slots=True)
class PageCheck:
    """Whether the page in a folder is one that the owner noted."""

    checked: bool

    @property
    def sentence(self) -> str:
        return NOTED_SENTENCE if self.checked else UNCHECKED_SENTENCE

    def to_dict(self) -> dict[str, Any]:
        return {"file": catalogue.REPORT_FILE_NAME, "checked": self.checked, "says": self.sentence}


def check_page(folder: Path) -> PageCheck | None:
    """Compare the page in a release folder with the owner's ledger; None where the folder has no page."""
    if not os.path.lexists(folder / catalogue.REPORT_FILE_NAME):
        return None
    return PageCheck(is_page_recorded(compute_digest(folder), read_report_page(folder)))


def _format_sentence(text: str) -> str:
    """Format a kind's finding from a capital letter to a full stop."""
    words = " ".join(text.split())
    return f"{words[:1].upper()}{words[1:]}" + ("" if words.endswith((".", "!", "?")) else ".")
