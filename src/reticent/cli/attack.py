"""`reticent attack RELEASE`: try what an adversary would, against the data the release was made from.

`describe_outcome` writes what each attack reports beside its guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from reticent import catalogue
from reticent.cli.options import (
    Delimiter,
    Empty,
    Encoding,
    FromQuery,
    FromTable,
    Json,
    Missing,
    Quote,
    collect_reading_options,
)
from reticent.errors import pluralize
from reticent.progress import ProgressEvent

OUTCOME_FIELDS = ("attack", "targets", "success", "low", "high", "baseline", "worst_posterior", "promised")
TABLE_HEAD = ("attack", "targets", "success", "95 % from", "to", "baseline", "worst belief", "promised")
PROMISE_FIELD = "promise_speaks_of_it"
PROMISE_WORDS = {True: "yes", False: "no", None: "-"}
ATTACK_NAMES = ", ".join(catalogue.ATTACKS)
EXAMPLE = "reticent attack patients-release --source patients.csv --as naive-bayes"


def attack(
    release: Annotated[
        Path,
        typer.Argument(
            metavar="RELEASE",
            help="A release folder, or a CSV or Parquet file made by another tool.",
            show_default=False,
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="DATA",
            help="The data it was made from: the targets; eligibility and algorithm need none.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help=f"{ATTACK_NAMES}; all of them if left out.", show_default=False),
    ] = None,
    bandwidth: Annotated[
        list[str] | None,
        typer.Option(
            "--bandwidth",
            metavar="B",
            help="background: how much is known; 0.3, whole, or COLUMN=0.2, which may be repeated.",
            show_default=False,
        ),
    ] = None,
    t: Annotated[
        str | None,
        typer.Option(
            "--t", metavar="T", help="background: people whose beliefs move further are vulnerable.", show_default=False
        ),
    ] = None,
    smoothing: Annotated[
        str | None,
        typer.Option(
            "--smoothing",
            metavar="B",
            help="background: a bandwidth on the sensitive column; 0 is none.",
            show_default=False,
        ),
    ] = None,
    posterior: Annotated[
        str | None,
        typer.Option("--posterior", metavar="NAME", help="background: omega, balanced or exact.", show_default=False),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            "--prior", metavar="FILE", help="background: beliefs of one's own, or `uniform`.", show_default=False
        ),
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option(
            "--job", metavar="JOB", help="For a plain file, a job with the roles of its columns.", show_default=False
        ),
    ] = None,
    quasi: Annotated[
        str | None, typer.Option("--quasi", metavar="A,B", help="A plain file's quasi-identifiers.", show_default=False)
    ] = None,
    sensitive: Annotated[
        str | None,
        typer.Option("--sensitive", metavar="C", help="A plain file's sensitive column.", show_default=False),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            metavar="COLUMN=FILE",
            help="A plain file's hierarchies; may be repeated.",
            show_default=False,
        ),
    ] = None,
    external: Annotated[
        Path | None,
        typer.Option(
            "--external",
            metavar="FILE",
            help="corruption: everybody whom the adversary knows of; the source if left out.",
            show_default=False,
        ),
    ] = None,
    corrupted: Annotated[
        Path | None,
        typer.Option(
            "--corrupted",
            metavar="FILE",
            help="corruption: people whose value is known; everyone but the victim if left out.",
            show_default=False,
        ),
    ] = None,
    victim: Annotated[
        str | None,
        typer.Option(
            "--victim",
            metavar="COLUMN=VALUE,...",
            help="corruption: one person of the list; each in turn if left out.",
            show_default=False,
        ),
    ] = None,
    skew: Annotated[
        str | None,
        typer.Option(
            "--lambda",
            metavar="P",
            help="corruption: the most that is believed of one value beforehand (0.1).",
            show_default=False,
        ),
    ] = None,
    rho1: Annotated[
        str | None,
        typer.Option(
            "--rho1",
            metavar="P",
            help="corruption: the most that is believed of a condition beforehand (0.2).",
            show_default=False,
        ),
    ] = None,
    others: Annotated[
        Path | None,
        typer.Option(
            "--others",
            metavar="FILE",
            help="singling-out, inference: people who are not in the data, for its baseline.",
            show_default=False,
        ),
    ] = None,
    joined: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="OTHER",
            help="composition: another release of the same people; may be repeated.",
            show_default=False,
        ),
    ] = None,
    force_join: Annotated[
        bool,
        typer.Option(
            "--force-join", help="composition: join releases that the ledger notes as made from different rows."
        ),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="SECONDS",
            help="CPU seconds for all attacks, the cheap ones first; by default 60, or more for large data.",
            show_default=False,
        ),
    ] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    quote: Quote = None,
    encoding: Encoding = None,
    empty: Empty = None,
    table: FromTable = None,
    query: FromQuery = None,
    json: Json = False,
) -> int:
    """Attack a release as an adversary who knows everyone's quasi-identifiers, and count how often its guess is right.

    Compare success with the baseline: always guessing the most frequent value. What a promise bounds is the belief in a value, not
    what statistics over everyone teach.
    """
    from reticent.attacks import ATTACKS
    from reticent.attacks import attack as run
    from reticent.attacks.series import run_attacks
    from reticent.cli.options import parse_hierarchy_files, split_names
    from reticent.cli.output import format_number, say, say_json, say_table, show_progress
    from reticent.errors import RequestError
    from reticent.job.job import Job
    from reticent.ledger.source_options import resolve_source

    if not release.exists():
        raise RequestError(
            f"There is no {release}.", attempt="the folder that `reticent publish` made, or a plain file."
        )
    knowledge = {
        "bandwidth": _parse_bandwidths(bandwidth),
        "t": t,
        "smoothing": smoothing,
        "posterior": posterior,
        "prior": prior,
    }
    knowledge = {word: value for word, value in knowledge.items() if value is not None}
    if knowledge and name not in (None, "background"):
        raise RequestError(f"{', '.join(f'--{word}' for word in knowledge)} are for --as background.")
    learned = {"external": external, "corrupted": corrupted, "victim": victim, "lambda_": skew, "rho1": rho1}
    learned = {option: value for option, value in learned.items() if value is not None}
    if learned and name != "corruption":
        raise RequestError("--external, --corrupted, --victim, --lambda and --rho1 are for --as corruption.")
    if others is not None and name not in (None, "singling-out", "inference"):
        raise RequestError("--others is for --as singling-out and --as inference.")
    if (joined or force_join) and name not in (None, "composition"):
        raise RequestError("--with and --force-join are for --as composition.")
    as_job = None if job is None else Job.read(job)
    marks = tuple(missing or ())
    how = collect_reading_options(
        delimiter=delimiter, quote=quote, encoding=encoding, empty=empty, table=table, query=query
    )
    read = None if source is None else resolve_source(release, source, as_job, missing=marks, options=how)[0]
    given: dict[str, Any] = {
        "missing": marks,
        "job": as_job,
        "quasi": split_names(quasi),
        "sensitive": split_names(sensitive),
        "hierarchy": parse_hierarchy_files(hierarchy),
    }
    skipped: dict[str, list[str]] = {}  # the names of attacks that were not tried, by the reason
    if not name and source is None:
        skipped[SOURCE_NEEDED_SENTENCE] = [known for known, row in ATTACKS.items() if row.needs_source]
    own = {
        "background": knowledge,
        "corruption": learned,
        "singling-out": {"others": others},
        "inference": {"others": others},
        "composition": {"joined": joined or [], "force_join": force_join},
    }
    with show_progress(json) as progress:
        if name:
            progress(ProgressEvent(f"attacking as {name}", 0))
            attacked = [_run_one_attack(budget, lambda: run(release, read, name, **given, **own.get(name, {})))]
        else:
            able = [known for known, row in ATTACKS.items() if source is not None or not row.needs_source]
            roles = {word: given[word] for word in ("job", "quasi", "sensitive", "hierarchy")}
            series = run_attacks(
                release,
                read,
                able,
                missing=marks,
                roles=roles,
                how=lambda one: own.get(one, {}),
                budget=budget,
                progress=progress,
            )
            attacked = list(series.outcomes)
            for reason, names_left in series.skipped.items():
                skipped.setdefault(reason, []).extend(names_left)
    outcomes = [_add_promise_verdict(release, one.to_dict()) for one in attacked]
    reasons = list_skipped_attacks(skipped)
    if not outcomes:
        raise RequestError(
            "No attack can be tried.", why="\n  ".join(reasons), attempt="--source DATA." if source is None else ""
        )
    if json:
        say_json(outcomes[0] if name else outcomes)
        return 0
    rows = [
        [
            *(format_number(found[name]) if found[name] is not None else "-" for name in OUTCOME_FIELDS),
            PROMISE_WORDS[found[PROMISE_FIELD]],
        ]
        for found in outcomes
    ]
    say_table([*TABLE_HEAD, "a promise speaks of it"], rows)
    say("No release is called safe: these adversaries were tried, and this is what they reached.")
    say(*explain_row_targets(outcomes))
    say(*(line for found in outcomes if found["attack"] == "background" for line in _describe_background(found)))
    say(*(line for found in outcomes if found["attack"] == "singling-out" for line in _describe_singling_out(found)))
    say(*(line for found in outcomes for line in describe_outcome(found)))
    say(*reasons)
    for found in outcomes:
        if found.get("bound") is not None:
            say(
                f"corruption: no belief of {rho1 or '0.2'} can exceed {found['bound']:.6f} (theorem 2: {found['bound_theorem2']:.6f}); "
                f"beliefs grew by {found['worst_growth']:.6f}, at most by {found['growth_bound']:.6f}"
            )
            if not found["domain_declared"]:
                say(
                    f"corruption: these bounds do not hold here: the domain is not said to be declared, and {found['single_holders']:,} "
                    "have a value in it that nobody else has"
                )
    return 0


def _run_one_attack(budget: float | None, attempt: Any) -> Any:
    """Run one attack, within the budget where one is given."""
    from reticent.errors import RequestError
    from reticent.time_limit import TimeLimitReached, run_within

    if budget is None:
        return attempt()
    try:
        return run_within(budget, attempt)
    except TimeLimitReached:
        raise RequestError(
            f"The attack did not end within {budget:,.0f} CPU s.", attempt="a greater --budget, or none."
        ) from None


def _add_promise_verdict(release: Path, found: dict[str, Any]) -> dict[str, Any]:
    """Add whether a promise of the release covers this adversary; None for a plain file, which states no promise."""
    from reticent.attacks import ATTACKS
    from reticent.release.bundle import read_manifest

    if not release.is_dir():
        return {**found, PROMISE_FIELD: None}
    promised = [promise.name for promise in read_manifest(release).promises]
    return {**found, PROMISE_FIELD: bool(ATTACKS[found["attack"]].select_promises(promised))}


def _describe_singling_out(found: dict[str, Any]) -> list[str]:
    """Describe what the singling-out attack reports beside its share."""

    one = "person" if counts_persons(found) else "row"
    outside = "" if found["others"] is None else f", {found['others']:.1%} of them somebody who is not in the data"
    return [
        f"singling-out: {found['success']:.1%} of {found['targets']:,} ends of ranges, with their labels, are true of one {one} alone"
        f" (a random value inside the label: {found['control']:.1%}{outside}); {found['certain']:.1%} of the values in ranges are"
        " certain up to their order. No promise speaks of this adversary."
    ]


def _describe_background(found: dict[str, Any]) -> list[str]:
    """Describe what the background attack reports beside its guesses."""

    known = (
        ""
        if found["membership"] == "known"
        else " Labels overlap: people are spread over the groups that may hold them."
    )
    return [
        f"background: {found['vulnerable']:,} of {found['targets']:,} {name_targets(found)} learned of by more than t = {found['t']}; the worst "
        f"by {found['worst_risk']:.4f} (bandwidth {found['bandwidth']}, inference {found['posterior']}).{known}"
    ]


def _parse_bandwidths(given: list[str] | None) -> Any:
    """Parse one bandwidth for all columns, or one for each named column."""
    from reticent.errors import RequestError

    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    pairs = [entry.rpartition("=") for entry in given]
    if not all(column and value for column, _, value in pairs):
        raise RequestError(
            "--bandwidth is given for all columns and for single ones.",
            attempt="--bandwidth 0.3, or --bandwidth COLUMN=0.2 for each column.",
        )
    return {column: value for column, _, value in pairs}


SOURCE_NEEDED_SENTENCE = "This attack needs the data that the release was made from (--source DATA)."


def list_skipped_attacks(skipped: Mapping[str, Sequence[str]]) -> list[str]:
    """List one line for each reason, with the attacks that were not tried for it."""
    return [f"Not tried: {', '.join(names)}. {reason}" for reason, names in skipped.items()]


def name_targets(found: Mapping[str, Any]) -> str:
    """Name the targets of an attack: people, or rows if people have several."""
    return "people" if found.get("rows_per_person", 1) == 1 else "rows"


def counts_persons(found: Mapping[str, Any]) -> bool:
    """Tell whether lone people were counted as persons: everybody has one row, or a column has the person of each row."""
    return found.get("rows_per_person", 1) == 1 or found.get("persons") is not None


def explain_row_targets(outcomes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line that targets are rows, if a person may have several."""
    several = [found for found in outcomes if found.get("rows_per_person", 1) > 1]
    if not several:
        return []
    most = several[0]["rows_per_person"]
    persons = several[0]["persons"]
    people = "How many people that are is not known" if persons is None else f"They are those of {persons:,} people"
    return [f"Targets are rows, and a person may have {most:,} of them. {people}."]


def describe_outcome(found: dict[str, Any]) -> list[str]:
    told = _DESCRIBERS.get(found["attack"])
    return [] if told is None else told(found)


def _describe_matrix(found: dict[str, Any]) -> list[str]:
    return [
        f"{found['attack']}: the belief in a value exceeds its overall frequency by {found['growth']:.4f} times that frequency at"
        " the most."
    ]


def _describe_composition(found: dict[str, Any]) -> list[str]:
    others = found["releases"] - 1
    if not others:
        return ["composition: joined with no other release (--with OTHER); this is what the release says alone."]
    above = (
        ""
        if found["exceeds"] is None
        else f" {found['exceeds']:,} {name_targets(found)} stand above what one of them promises."
    )
    return [
        f"composition: joined with {pluralize(others, 'other release')}, {found['half']:.1%} of {found['targets']:,} {name_targets(found)} have a value"
        f" that is believed at .5 or more (from one alone: {found['half_alone']:.1%}); the worst belief is"
        f" {found['worst_posterior']:.4f} (alone: {found['worst_alone']:.4f}).{above} Guesses are right {found['success']:.1%} of the"
        f" time (alone: {found['alone']:.1%}; joined with shuffled values: {found['control']:.1%}). Counted exactly for"
        f" {found['exact']:,} {name_targets(found)}, balanced for the others. No promise speaks of several releases."
    ]


def _describe_overlap(found: dict[str, Any]) -> list[str]:
    tables = (
        "of nobody: no component is small enough to count"
        if found["tables_worst"] is None
        else f"of {found['tables_people']:,} {name_targets(found)} the worst is {found['tables_worst']:.4f}"
    )
    return [
        f"overlap: {found['shared']:.1%} of {found['targets']:,} {name_targets(found)} lie under the labels of several groups. If every assignment"
        f" to rows is equally likely, the worst belief is {found['worst_posterior']:.4f} (in a group: {found['worst_group']:.4f});"
        f" if every table is, {tables}. Promises that are convex in a group's distribution survive the first reading, and speak"
        " of neither of them."
    ]


def _describe_minimality(found: dict[str, Any]) -> list[str]:
    if found["why"]:
        return [f"minimality: knowing the method adds nothing that could be computed: {found['why']}."]
    how = {
        "exact": f"every table was published again ({found['runs']:,} runs; {found['behind']:,} tables lead to this release)",
        "walked": f"a walk of {found['runs']:,} steps met {found['behind']:,} tables that publish this release",
        "left whole": f"values were dealt anew {found['runs']:,} times, and groups that would have been cut ruled out",
    }[found["how"]]
    return [
        f"minimality: {how}. Of {found['looked_at']:,} of {found['targets']:,} {name_targets(found)} something was concluded; the worst belief is"
        f" {found['worst_posterior']:.4f} (95 %: {found['worst_low']:.4f} to {found['worst_high']:.4f}; in a group:"
        f" {found['worst_group']:.4f}). Guesses are right {found['success']:.1%} of the time (who does not know the method:"
        f" {found['control']:.1%}). No promise speaks of this adversary."
    ]


def _describe_downcoding(found: dict[str, Any]) -> list[str]:
    sure = "cannot have left" if found["provable"] else "is supposed not to have left"
    bits = (
        ""
        if found["bits"] is None
        else f" In {found['ranges']:,} ranges that tells {found['bits']:.2f} bits on average."
    )
    held = "" if found["holds"] is None else f" It is true of {found['holds']:.1%} of {found['holds_of']:,} of them."
    return [
        f"downcoding: {found['success']:.1%} of {found['targets']:,} values that ranges hide are guessed by who supposes k ="
        f" {found['k']} and that the method {sure} a group that can be cut (without that: {found['control']:.1%}; a random value"
        f" of the range: {found['baseline']:.1%}).{bits}{held} No promise speaks of this adversary."
    ]


def _describe_linkability(found: dict[str, Any]) -> list[str]:
    one, other = (", ".join(names) for names in found["lists"])
    whose = f", those of {found['people']:,} people," if found["people"] not in (None, found["rows"]) else ""
    return [
        f"linkability: a list with {one} and one with {other}: of {found['targets']:,} of {found['rows']:,} {name_targets(found)}{whose} {found['success']:.1%}"
        f" are linked by one group (of strangers: {found['control']:.1%}). No promise speaks of this adversary."
    ]


def _describe_inference(found: dict[str, Any]) -> list[str]:
    outside = "" if found["others"] is None else f"; of people who are not in the data: {found['others']:.1%}"
    return [
        f"inference: {found['success']:.1%} of guesses are right (groups with shuffled values: {found['control']:.1%}{outside})."
    ]


_DESCRIBERS = {
    "composition": _describe_composition,
    "overlap": _describe_overlap,
    "minimality": _describe_minimality,
    "downcoding": _describe_downcoding,
    "linkability": _describe_linkability,
    "inference": _describe_inference,
    "matrix": _describe_matrix,
    "matrix-learned": _describe_matrix,
}
