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
from reticent.audit.groups import Evidence
from reticent.audit.kind import auditor_for
from reticent.audit.provenance import Identity, PageCheck
from reticent.audit.remainder import Remainder, describe_remainder
from reticent.audit.risk import Risk
from reticent.errors import BundleDamaged, InternalError, JobError, pluralize, shorten_text
from reticent.format.manifest import ComponentEntry
from reticent.ledger.withdrawals import Withdrawal
from reticent.plugins import find_plugin, get_namespace, load_judge

UNJUDGED = "not judged: a plugin's promise"
VERDICT_WORDS = {"kept": "kept", "broken": "BROKEN", "differs": "NOT AS ITS SOURCE OR JOB", "undecided": "undecided"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one promise: the parameters asked for, what is achieved, and whether the promise is kept.

    `evidence` states how that is known, and `why` the reason where no file could show it.
    """

    model: str
    column: str | None
    asked: Mapping[str, Any]
    achieved: Mapping[str, Any]
    kept: bool | None
    evidence: str
    why: str = ""
    caveat: str = ""  # a sentence for the headline: what a stronger adversary is left with
    judged_by: str = ""  # the plugin that judged, as "acme 1.2"; empty where we did


def judge_promise(promise: ComponentEntry, evidence: Evidence) -> Verdict:
    """Judge a promise of a manifest by its judge in the catalogue, never by a plugin's."""
    parameters = {name: value for name, value in promise.parameters.items() if name != "column"}
    judge = _load_judge(promise.name)
    try:
        judgement = judge(parameters, evidence, promise.column)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise BundleDamaged(
            f"The promise {promise.name} has parameters that cannot be read.",
            attempt="the parameters that the model takes.",
        ) from None
    column = promise.column
    if "column" in catalogue.PROMISES[promise.name].parameters and evidence.sensitive:
        column = evidence.column(column).name
    return Verdict(
        promise.name,
        column,
        parameters,
        judgement.achieved,
        judgement.kept,
        judgement.evidence,
        judgement.why,
        judgement.caveat,
    )


def judge_plugin_promise(promise: ComponentEntry, evidence: Evidence, versions: Mapping[str, str]) -> Verdict:
    """Ask the plugin that brings a promise for its verdict; `versions` are those that the manifest states.

    Whoever audits has named the plugin. What it raises is its own fault, and what it says is said as its own.
    """
    parameters = {name: value for name, value in promise.parameters.items() if name != "column"}
    judge = load_judge(promise.name)
    plugin = find_plugin("promises", promise.name)
    try:
        judgement = judge(parameters, evidence, promise.column)
        achieved = {str(name): value for name, value in judgement.achieved.items()}
        kept = None if judgement.kept is None else bool(judgement.kept)
    except Exception as error:
        raise JobError(
            f"The judge of {promise.name}, of {plugin.bringer}, failed ({type(error).__name__}).",
            why="It is code of the plugin, and not ours.",
            attempt=f"another version of {plugin.distribution}, or reporting this to its authors.",
        ) from None
    judged_by = f"judged by {plugin.bringer}, not by reticent"
    stated = versions.get(plugin.distribution)
    if stated not in (None, plugin.version):
        judged_by += f" (it was published with {stated})"
    return Verdict(
        promise.name,
        promise.column,
        parameters,
        achieved,
        kept,
        judged_by,
        shorten_text(str(judgement.why)) or ("its judge does not say why" if kept is None else ""),
        judged_by,
        plugin.bringer,
    )


def leave_unjudged(promise: ComponentEntry, versions: Mapping[str, str]) -> Verdict:
    """Return the verdict on a promise of a plugin that nobody asked to judge: it is not shown."""
    namespace = get_namespace(promise.name)
    bringer = f"{namespace} {versions[namespace]}" if namespace in versions else namespace
    parameters = {name: value for name, value in promise.parameters.items() if name != "column"}
    why = (
        f"it is a promise of the plugin {bringer}, whose code an audit runs only if you name it "
        f'(--judges {namespace}, judges=["{namespace}"])'
    )
    return Verdict(promise.name, promise.column, parameters, {}, None, UNJUDGED, why)


def format_withheld(withheld: int | None, before: Mapping[str, int]) -> str:
    """Format how many rows were withheld and, where it is stated, why: 12 withheld (8 lack a value)."""
    if withheld is None:
        return "an unknown number withheld"
    reasons = [
        f"{before[reason]:,} {words}"
        for reason, words in (("missing", "lack a value"), ("surplus", "are too many of their person"))
        if before.get(reason)
    ]
    return f"{withheld:,} withheld ({', '.join(reasons)})" if reasons else f"{withheld:,} withheld"


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
    about: Mapping[str, Any] = field(default_factory=dict)  # what the publisher says of the release
    withheld_before: Mapping[str, int] = field(default_factory=dict)  # of the withheld, before planning, by reason
    withdrawal: Withdrawal | None = None  # of a release folder: the latest, by the ledger of whoever audits
    set_aside: int = 0  # broken lines of a plain table, which were not judged
    source_set_aside: int = 0  # broken lines of the source, which were not compared

    @property
    def kept(self) -> bool | None:
        """True if every promise is kept (and, audited against its source, nothing leaked).

        None where the files cannot show it.
        """
        outcomes = [verdict.kept for verdict in self.promises]
        if self.source is not None:
            is_undecided = self.source.passed and self.source.is_open
            outcomes.append(None if is_undecided else self.source.passed)
        if self.set_aside:
            outcomes.append(None)
        if self.disagreements or (self.identity is not None and self.identity.same is False):
            outcomes.append(False)
        if False in outcomes:
            return False
        if None in outcomes or not self.promises:
            return None
        return True

    @property
    def verdict(self) -> str:
        """The outcome as a word: `kept`, `broken`, `differs` or `undecided`.

        `broken`: a promise is. `differs`: every promise is recounted as kept, but the source or the job disagrees.
        """
        if any(verdict.kept is False for verdict in self.promises):
            return "broken"
        if self.kept is False:
            return "differs"
        return "kept" if self.kept else "undecided"

    @property
    def not_shown(self) -> tuple[str, ...]:
        """Sentences about what this audit leaves open; none of a release whose every promise is shown to be kept.

        A promise that the files cannot show, a comparison with the source that could not be completed, or no promise.
        """
        sentences = [
            f"{_name_promise(verdict)} is not shown: {verdict.why or verdict.evidence}."
            for verdict in self.promises
            if verdict.kept is None
        ]
        if self.source is not None and self.source.passed and self.source.is_open:
            sentences.append("Whether the release is that of its source could not be decided.")
        if self.set_aside:
            sentences.append(f"{pluralize(self.set_aside, 'broken line')} of the table could not be judged.")
        if not self.promises:
            sentences.append("No promise was stated.")
        return tuple(sentences)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Sentences that belong to the headline: what promises, kept as they are worded, leave a stronger adversary."""
        return tuple(f"{_name_promise(verdict)}: {verdict.caveat}." for verdict in self.promises if verdict.caveat)

    @property
    def remainder(self) -> Remainder:
        """What is left of the source: how much of its quasi-identifiers a row keeps, and a sentence."""
        describe = getattr(auditor_for(self.kind), "describe_sensitive_loss", None)
        sensitive_loss = None if describe is None else describe(self.rows, self.utility)
        return describe_remainder(self.rows, self.withheld, self.utility, sensitive_loss)

    @property
    def achieved(self) -> dict[str, Any]:
        return convert_to_plain(self.exact)

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "kind": self.kind,
            "rows": self.rows,
            "groups": self.groups,
            "withheld": self.withheld,
            "kept": self.kept,
            "verdict": self.verdict,
            **({"caveats": list(self.caveats)} if self.caveats else {}),
            "left": self.remainder.to_dict(),
            "promises": [_describe_verdict(verdict) for verdict in self.promises],
            "achieved": self.achieved,
            "utility": convert_to_plain(self.utility),
        }
        if self.about:
            document["about"] = dict(self.about)
        if self.withheld_before:
            document["withheld_before"] = dict(self.withheld_before)
        document |= self._count_set_aside()
        if self.risk is not None:
            document["risk"] = self.risk.to_dict()
        if self.by_column:
            document["achieved_by_column"] = convert_to_plain(self.by_column)
        if self.source is not None:
            document["source"] = self.source.to_dict()
        if self.disagreements:
            document["disagreements"] = list(self.disagreements)
        if self.identity is not None:
            document["identity"] = self.identity.to_dict()
        if self.page is not None:
            document["page"] = self.page.to_dict()
        if self.withdrawal is not None:
            document["withdrawn"] = {"at": self.withdrawal.at, "says": self.withdrawal.sentence}
        if self.carried:
            document["carried"] = [dict(entry) for entry in self.carried]
        if self.notes:
            document["notes"] = list(self.notes)
        return document

    def _count_set_aside(self) -> dict[str, int]:
        counts = {"set_aside": self.set_aside, "source_set_aside": self.source_set_aside}
        return {name: count for name, count in counts.items() if count}

    def _repr_html_(self) -> str:
        return html_repr.render_audit(self)

    def __str__(self) -> str:
        withheld = format_withheld(self.withheld, self.withheld_before)
        lines = [
            *([self.about["title"]] if "title" in self.about else ()),
            f"{self.rows:,} rows in {self.groups:,} groups, {withheld}: {VERDICT_WORDS[self.verdict]}",
            *self.caveats,
            self.remainder.sentence,
            "",
        ]
        lines += [_format_verdict(verdict) for verdict in self.promises]
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
        if self.page is not None:
            lines.append(f"  {self.page.sentence}")
        if self.withdrawal is not None:
            lines.append(f"  {self.withdrawal.sentence}")
        if self.identity is not None:
            lines.append(f"  {self.identity.sentence}")
        return "\n".join(lines)


def format_passthrough(entry: Mapping[str, Any]) -> str:
    """Format a carried column as a line."""
    ties = "".join(f", association with {name} {value:.2f}" for name, value in entry["association"].items())
    return f"{entry['column']} has {entry['distinct']:,} distinct values, {entry['unique']:.1%} of the rows one of their own{ties}"


def convert_to_plain(value: Any) -> Any:
    """Convert fractions to the nearest number that JSON has, and whole ones to integers, in nested values too."""
    if isinstance(value, Fraction):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, Mapping):
        return {str(name): convert_to_plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [convert_to_plain(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def format_value(value: Any) -> str:
    """Format an achieved value for people."""
    if value is None:
        return "none holds"
    if isinstance(value, bool):
        return "yes" if value else "no"
    number = convert_to_plain(value)
    if isinstance(number, float) and abs(number) < 1e4:
        return f"{number:,.4g}"
    return f"{number:,}" if isinstance(number, int | float) else str(number)


def _load_judge(model: str) -> Any:
    try:
        return catalogue.load_object(catalogue.PROMISES[model].judge)
    except (KeyError, ImportError, AttributeError):
        raise InternalError(
            f"The promise {model} has no judge: nothing is published on its word.",
            attempt="a function in audit/measure/ that the promise's row in the catalogue names.",
        ) from None


def _describe_verdict(verdict: Verdict) -> dict[str, Any]:
    """Describe a verdict as JSON has it."""
    document = {
        "model": verdict.model,
        "column": verdict.column,
        "asked": convert_to_plain(verdict.asked),
        "achieved": convert_to_plain(verdict.achieved),
        "kept": verdict.kept,
        "evidence": verdict.evidence,
    }
    if verdict.why:
        document["why"] = verdict.why
    if verdict.caveat:
        document["caveat"] = verdict.caveat
    if verdict.judged_by:
        document["judged_by"] = verdict.judged_by
    return document


def _name_promise(verdict: Verdict) -> str:
    return f"{verdict.model} of {verdict.column}" if verdict.column else verdict.model


def _format_verdict(verdict: Verdict) -> str:
    """Format a verdict as a line."""
    outcome = {True: "kept", False: "BROKEN", None: "undecided"}[verdict.kept]
    parameters = ", ".join(f"{name} = {format_value(value)}" for name, value in verdict.asked.items())
    achieved = ", ".join(f"{name} = {format_value(value)}" for name, value in verdict.achieved.items())
    column = f" on {verdict.column}" if verdict.column else ""
    return f"  {outcome:<10} {verdict.model} ({parameters}){column}: {achieved or verdict.evidence}"
