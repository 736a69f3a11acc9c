"""The result of an audit, and the judging of each promise.

An `Audit` is machine-readable in a stable shape, and prints as a short table for people.

`judge_promise` judges a promise of a manifest by the evidence: it looks up the promise's own judge in the catalogue and
compares with the parameter exactly. A promise that the catalogue names without a judge that can be loaded is a bug of
ours, never a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from reticent import catalogue, html_repr
from reticent.audit.evidence import Evidence
from reticent.audit.provenance import Identity, PageCheck
from reticent.audit.risk import Risk
from reticent.errors import BundleDamaged, InternalError
from reticent.format.manifest import ComponentEntry


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one promise: what was asked, what is achieved, whether it is kept, by what evidence, and why no
    file could show it.
    """

    model: str
    column: str | None
    asked: Mapping[str, Any]
    achieved: Mapping[str, Any]
    kept: bool | None
    evidence: str
    why: str = ""


def judge_promise(promise: ComponentEntry, evidence: Evidence) -> Verdict:
    """Judge a promise by its judge in the catalogue."""
    asked = {name: value for name, value in promise.parameters.items() if name != "column"}
    found = _load_judge(promise.name)
    try:
        judged = found(asked, evidence, promise.column)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise BundleDamaged(
            f"The promise {promise.name} has parameters that cannot be read.",
            attempt="the parameters that the model takes.",
        ) from None
    column = promise.column
    if "column" in catalogue.PROMISES[promise.name].parameters and evidence.sensitive:
        column = evidence.column(column).name
    return Verdict(promise.name, column, asked, judged.achieved, judged.kept, judged.evidence, judged.why)


def _load_judge(model: str) -> Any:
    try:
        return catalogue.load_object(catalogue.PROMISES[model].judge)
    except (KeyError, ImportError, AttributeError):
        raise InternalError(
            f"The promise {model} has no judge: nothing is published on its word.",
            attempt="a function in audit/measure/ that the promise's row in the catalogue names.",
        ) from None


@dataclass(frozen=True, eq=False)
class Audit:
    """Result of an audit. `exact` holds the measures as integers and fractions, `achieved` as plain numbers."""

    kind: str
    rows: int
    groups: int
    withheld: int | None  # None where it is not known: another tool's table without its source
    promises: tuple[Verdict, ...]
    exact: Mapping[str, Any]
    utility: Mapping[str, Any]
    risk: Risk | None = None
    by_column: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    source: Any = None
    notes: tuple[str, ...] = ()
    carried: Sequence[Mapping[str, Any]] = ()
    disagreements: tuple[str, ...] = ()  # how the manifest differs from the job
    identity: Identity | None = None  # of a release folder: its digest, and what it was compared with
    page: PageCheck | None = None  # of a release folder with a page: whether the owner noted it

    @property
    def kept(self) -> bool | None:
        """True if every promise is kept (and, audited against its source, nothing leaked).

        None where the files cannot show it.
        """
        found = [verdict.kept for verdict in self.promises]
        if self.source is not None:
            found.append(None if self.source.passed and self.source.is_open else self.source.passed)
        if self.disagreements or (self.identity is not None and self.identity.same is False):
            found.append(False)
        if False in found:
            return False
        return None if None in found or not self.promises else True

    @property
    def verdict(self) -> str:
        """`kept`, `broken` (a promise is), `differs` (every promise is recounted as kept, but the source or job
        disagrees) or `undecided`.
        """
        if any(verdict.kept is False for verdict in self.promises):
            return "broken"
        if self.kept is False:
            return "differs"
        return "kept" if self.kept else "undecided"

    @property
    def achieved(self) -> dict[str, Any]:
        return convert_to_plain(self.exact)

    def to_dict(self) -> dict[str, Any]:
        promises = [
            {
                "model": v.model,
                "column": v.column,
                "asked": convert_to_plain(v.asked),
                "achieved": convert_to_plain(v.achieved),
                "kept": v.kept,
                "evidence": v.evidence,
                **({"why": v.why} if v.why else {}),
            }
            for v in self.promises
        ]
        found: dict[str, Any] = {
            "kind": self.kind,
            "rows": self.rows,
            "groups": self.groups,
            "withheld": self.withheld,
            "kept": self.kept,
            "verdict": self.verdict,
            "promises": promises,
            "achieved": self.achieved,
            "utility": convert_to_plain(self.utility),
        }
        if self.risk is not None:
            found["risk"] = self.risk.to_dict()
        if self.by_column:
            found["achieved_by_column"] = convert_to_plain(self.by_column)
        if self.source is not None:
            found["source"] = self.source.to_dict()
        if self.disagreements:
            found["disagreements"] = list(self.disagreements)
        if self.identity is not None:
            found["identity"] = self.identity.to_dict()
        if self.page is not None:
            found["page"] = self.page.to_dict()
        if self.carried:
            found["carried"] = [dict(entry) for entry in self.carried]
        if self.notes:
            found["notes"] = list(self.notes)
        return found

    def _repr_html_(self) -> str:
        return html_repr.render_audit(self)

    def __str__(self) -> str:
        withheld = "an unknown number" if self.withheld is None else f"{self.withheld:,}"
        lines = [
            f"{self.rows:,} rows in {self.groups:,} groups, {withheld} withheld: {VERDICT_WORDS[self.verdict]}",
            "",
        ]
        for v in self.promises:
            asked = ", ".join(f"{name} = {format_value(value)}" for name, value in v.asked.items())
            achieved = ", ".join(f"{name} = {format_value(value)}" for name, value in v.achieved.items()) or v.evidence
            lines.append(
                f"  {_format_kept(v.kept):<10} {v.model} ({asked}){f' on {v.column}' if v.column else ''}: {achieved}"
            )
        width = max((len(name) for name in [*self.exact, *self.utility]), default=0)
        lines += ["", *(f"  {name:<{width}}  {format_value(value)}" for name, value in self.exact.items())]
        lines += [
            "",
            *(
                f"  {name:<{width}}  {'not known' if value is None else format_value(value)}"
                for name, value in self.utility.items()
                if not isinstance(value, Mapping)
            ),
        ]
        if self.risk is not None:
            lines.append(f"  {'marketer risk':<{width}}  {format_value(self.risk.marketer)}")
        if self.source is not None:
            lines += ["", str(self.source)]
        lines += [f"  NOT AS THE JOB SAYS: {sentence}" for sentence in self.disagreements]
        lines += [f"  carried: {format_passthrough(entry)}" for entry in self.carried]
        lines += [f"  note: {note}" for note in self.notes]
        lines += [] if self.page is None else [f"  {self.page.sentence}"]
        return "\n".join(lines if self.identity is None else [*lines, f"  {self.identity.sentence}"])


VERDICT_WORDS = {"kept": "kept", "broken": "BROKEN", "differs": "NOT AS ITS SOURCE OR JOB", "undecided": "undecided"}


def format_passthrough(entry: Mapping[str, Any]) -> str:
    """Format a carried column as a line."""
    ties = "".join(f", association with {name} {value:.2f}" for name, value in entry["association"].items())
    return f"{entry['column']} has {entry['distinct']:,} distinct values, {entry['unique']:.1%} of the rows one of their own{ties}"


def _format_kept(kept: bool | None) -> str:
    return {True: "kept", False: "BROKEN", None: "undecided"}[kept]


def convert_to_plain(value: Any) -> Any:
    """Convert fractions to the nearest number that JSON has; whole ones to integers."""
    if isinstance(value, Fraction):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, Mapping):
        return {str(name): convert_to_plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [convert_to_plain(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def format_value(value: Any) -> str:
    if value is None:
        return "none holds"
    if isinstance(value, bool):
        return "yes" if value else "no"
    number = convert_to_plain(value)
    if isinstance(number, float) and abs(number) < 1e4:
        return f"{number:,.4g}"
    return f"{number:,}" if isinstance(number, int | float) else str(number)
