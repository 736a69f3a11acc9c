"""`reticent attack RELEASE`: try what an adversary would, against the data the release was made from.

The options of an attack stand in its row of the catalogue: `make_command` adds them to the command, and
`collect_attack_options` refuses those that the attack does not take. What an attack
reports beside its guesses is described by its function in `_DESCRIBERS_BY_PARAGRAPH`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from inspect import Parameter, signature
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
from reticent.progress import ProgressCallback, ProgressEvent

OUTCOME_FIELDS = ("attack", "targets", "success", "low", "high", "baseline", "worst_posterior", "promised")
TABLE_HEAD = ("attack", "targets", "success", "95 % from", "to", "baseline", "worst belief", "promised")
PROMISE_FIELD = "promise_speaks_of_it"
PROMISE_WORDS = {True: "yes", False: "no", None: "-"}
ATTACK_NAMES = ", ".join(catalogue.ATTACKS)
EXAMPLE = "reticent attack patients-release --source patients.csv --as naive-bayes"
PLAIN_TABLE_HELP_PLACE = 2  # of the options that describe a plain file, among those of attacks
SOURCE_NEEDED_SENTENCE = "This attack needs the data that the release was made from (--source DATA)."
DEFAULT_RHO1 = "0.2"
_VALUE_TYPES = {"text": str, "number": str, "whole": int, "file": Path, "number by column": str}
"""Types of the command's values; an attack parses a number itself, exactly."""


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
    plugin_option: Annotated[
        list[str] | None,
        typer.Option(
            "--plugin-option",
            metavar="NAME=VALUE",
            help="An option of a plugin's attack, by its Python name; may be repeated.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    **arguments: Any,
) -> int:
    """Attack a release as an adversary who knows everyone's quasi-identifiers, and count how often its guess is right.

    Compare success with the baseline: always guessing the most frequent value. What a promise bounds is the belief in a value, not
    what statistics over everyone teach.
    """
    from reticent.attacks import attack as run_attack
    from reticent.cli.options import parse_hierarchy_files, split_names
    from reticent.cli.output import say, say_json, show_progress
    from reticent.data.broken_lines import describe_set_aside
    from reticent.data.source import list_broken_lines
    from reticent.errors import RequestError
    from reticent.job.job import Job
    from reticent.ledger.source_options import resolve_plain_table, resolve_source

    if not release.exists():
        raise RequestError(
            f"There is no {release}.", attempt="the folder that `reticent publish` made, or a plain file."
        )
    options = collect_attack_options(name, arguments)
    if plugin_option:
        options[name or ""] = parse_plugin_options(name, plugin_option)
    declared_job = None if job is None else Job.read(job)
    null_values = tuple(missing or ())
    reading_options = collect_reading_options(
        delimiter=delimiter, quote=quote, encoding=encoding, empty=empty, table=table, query=query
    )
    targets = None
    if source is not None:
        targets = resolve_source(release, source, declared_job, missing=null_values, options=reading_options)[0]
    roles: dict[str, Any] = {
        "job": declared_job,
        "quasi": split_names(quasi),
        "sensitive": split_names(sensitive),
        "hierarchy": parse_hierarchy_files(hierarchy),
    }
    with show_progress(json) as progress:
        if name:
            progress(ProgressEvent(f"attacking as {name}", 0))
            run = partial(run_attack, release, targets, name, missing=null_values, **roles, **options.get(name, {}))
            results = [_run_within_budget(budget, run)]
            skipped: dict[str, list[str]] = {}
        else:
            results, skipped = _run_all_attacks(release, targets, null_values, roles, options, budget, progress)
    broken_table = list_broken_lines(resolve_plain_table(release, declared_job)) if release.is_file() else []
    broken_source = list_broken_lines(targets)
    counts = {
        "set_aside": sum(broken.count for broken in broken_table),
        "source_set_aside": sum(broken.count for broken in broken_source),
    }
    set_aside = {name: count for name, count in counts.items() if count}
    outcomes = [_add_promise_verdict(release, result.to_dict()) | set_aside for result in results]
    reasons = list_skipped_attacks(skipped)
    if not outcomes:
        raise RequestError(
            "No attack can be tried.", why="\n  ".join(reasons), attempt="--source DATA." if source is None else ""
        )
    if json:
        say_json(outcomes[0] if name else outcomes)
    else:
        _print_outcomes(outcomes, reasons, options.get("corruption", {}).get("rho1") or DEFAULT_RHO1)
        if name:
            _print_meaning(name)
        sentences = [
            *describe_set_aside(broken_table, "whoever stands there was not read"),
            *describe_set_aside(broken_source, "whoever stands there was not attacked"),
        ]
        if sentences:
            say("", *sentences)
    return 0


def make_command() -> Callable[..., int]:
    """Make the command with the options that the rows of the catalogue name."""

    @wraps(attack)
    def command(**arguments: Any) -> int:
        return attack(**arguments)

    parameters: list[Parameter] = []
    for parameter in signature(attack, eval_str=True).parameters.values():
        if parameter.name == "job":
            parameters += _make_option_parameters(range(PLAIN_TABLE_HELP_PLACE))
        if parameter.name == "budget":
            parameters += _make_option_parameters(range(PLAIN_TABLE_HELP_PLACE, 10))
        if parameter.kind is not Parameter.VAR_KEYWORD:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
    command.__signature__ = signature(attack).replace(parameters=parameters)  # type: ignore[attr-defined]  # read by typer
    return command


def list_attack_options(places: range = range(10)) -> dict[str, tuple[catalogue.AttackOption, list[str]]]:
    """List the command's options of attacks by their words, each with the names of the attacks that take it.

    An option that several attacks take stands at the first of their `places`.
    """
    listed: dict[str, tuple[catalogue.AttackOption, list[str]]] = {}
    for name, row in sorted(catalogue.ATTACKS.items(), key=lambda item: item[1].help_place):
        for option in row.options.values():
            if option.word:
                listed.setdefault(option.word, (option, []))[1].append(name)
    return {
        word: (option, names)
        for word, (option, names) in listed.items()
        if catalogue.ATTACKS[names[0]].help_place in places
    }


def collect_attack_options(name: str | None, arguments: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Collect the options that were used, by attack and parameter; refuse those that the named attack does not take.

    `arguments` are those of the command, by `_name_argument`.
    """
    used: dict[str, Any] = {}
    for word, (option, _) in list_attack_options().items():
        value = arguments.get(_name_argument(word))
        if value is not None and value is not False and value != []:
            used[word] = _parse_by_column(word, value) if option.kind == "number by column" else value
    _require_options_taken(name, used)
    return {
        attack_name: {key: used[option.word] for key, option in row.options.items() if option.word in used}
        for attack_name, row in catalogue.ATTACKS.items()
        if attack_name == name or not row.options_need_name
    }


def parse_plugin_options(name: str | None, entries: Sequence[str]) -> dict[str, Any]:
    """Parse the options of a plugin's attack, NAME=VALUE each, by its row in the catalogue."""
    from reticent.errors import RequestError, suggest
    from reticent.plugins import load_plugin_if_named

    if not load_plugin_if_named("attacks", name):
        raise RequestError(
            "--plugin-option is for attacks of plugins.", attempt="`--as NAME`, where NAME is one of theirs."
        )
    known = catalogue.ATTACKS[str(name)].options
    parsed: dict[str, Any] = {}
    for entry in entries:
        word, sign, value = entry.partition("=")
        if not sign or word not in known:
            raise RequestError(f"The attack {name!r} has no option {word[:80]!r}.", attempt=suggest(word, known))
        option = known[word]
        try:
            parsed_value = value == "true" if option.kind == "flag" else _VALUE_TYPES[option.kind](value)
        except (KeyError, ValueError):
            raise RequestError(f"The option {word} takes another value.", attempt=option.doc) from None
        if option.repeatable:
            parsed.setdefault(word, []).append(parsed_value)
        else:
            parsed[word] = parsed_value
    return parsed


def is_guess(outcome: Mapping[str, Any]) -> bool:
    """Tell whether an attack guesses something of each target, and has no sentence of its own."""
    name = outcome["attack"]
    return catalogue.ATTACKS[name].guesses and not any(name in describers for describers in _DESCRIBERS_BY_PARAGRAPH)


def _describe_guesses(outcome: Mapping[str, Any]) -> str:
    """Describe what guesses reached beside what is reached without the release, as a sentence for a report."""
    return (
        f"{outcome['attack']}: its guesses are right for {outcome['success']:.1%} of {outcome['targets']:,} "
        f"{name_targets(outcome)}; without the release for {outcome['baseline']:.1%}."
    )


def list_skipped_attacks(skipped: Mapping[str, Sequence[str]]) -> list[str]:
    """List one line for each reason, with the attacks that were not tried for it."""
    return [f"Not tried: {', '.join(names)}. {reason}" for reason, names in skipped.items()]


def name_targets(outcome: Mapping[str, Any]) -> str:
    """Name the targets of an attack: people, or rows if people have several."""
    return "people" if outcome.get("rows_per_person", 1) == 1 else "rows"


def counts_persons(outcome: Mapping[str, Any]) -> bool:
    """Tell whether lone people were counted as persons: everybody has one row, or a column has the person of each row."""
    return outcome.get("rows_per_person", 1) == 1 or outcome.get("persons") is not None


def explain_row_targets(outcomes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line that targets are rows, if a person may have several."""
    several = [outcome for outcome in outcomes if outcome.get("rows_per_person", 1) > 1]
    if not several:
        return []
    rows_per_person = several[0]["rows_per_person"]
    persons = several[0]["persons"]
    people = "How many people that are is not known" if persons is None else f"They are those of {persons:,} people"
    return [f"Targets are rows, and a person may have {rows_per_person:,} of them. {people}."]


def _run_within_budget(budget: float | None, run: Callable[[], Any]) -> Any:
    """Run one attack, within the budget where one is given."""
    from reticent.errors import RequestError
    from reticent.time_limit import TimeLimitReached, run_within

    if budget is None:
        return run()
    try:
        return run_within(budget, run)
    except TimeLimitReached:
        raise RequestError(
            f"The attack did not end within {budget:,.0f} CPU s.", attempt="a greater --budget, or none."
        ) from None


def _run_all_attacks(
    release: Path,
    targets: Any,
    null_values: tuple[str, ...],
    roles: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    budget: float | None,
    progress: ProgressCallback,
) -> tuple[list[Any], dict[str, list[str]]]:
    """Run every attack; return the outcomes, and the names of those that were not tried, by the reason."""
    from reticent.attacks.series import run_attacks

    skipped: dict[str, list[str]] = {}
    names = list(catalogue.ATTACKS)
    if targets is None:
        skipped[SOURCE_NEEDED_SENTENCE] = [name for name in names if catalogue.ATTACKS[name].needs_source]
        names = [name for name in names if not catalogue.ATTACKS[name].needs_source]
    series = run_attacks(
        release,
        targets,
        names,
        missing=null_values,
        roles=roles,
        options_of=lambda name: options.get(name, {}),
        budget=budget,
        progress=progress,
    )
    for reason, names_left in series.skipped.items():
        skipped.setdefault(reason, []).extend(names_left)
    return list(series.outcomes), skipped


def _add_promise_verdict(release: Path, outcome: dict[str, Any]) -> dict[str, Any]:
    """Add whether a promise of the release covers this adversary; None for a plain file, which states no promise."""
    from reticent.release.bundle import read_manifest

    if not release.is_dir():
        return {**outcome, PROMISE_FIELD: None}
    promised = [promise.name for promise in read_manifest(release).promises]
    return {**outcome, PROMISE_FIELD: bool(catalogue.ATTACKS[outcome["attack"]].select_promises(promised))}


def _print_outcomes(outcomes: Sequence[Mapping[str, Any]], reasons: Sequence[str], rho1: str) -> None:
    """Print a table of the outcomes, then what attacks report beside it, and why others were not tried."""
    from reticent.cli.output import format_number, say, say_table

    rows = [
        [
            *(format_number(outcome[name]) if outcome[name] is not None else "-" for name in OUTCOME_FIELDS),
            PROMISE_WORDS[outcome[PROMISE_FIELD]],
        ]
        for outcome in outcomes
    ]
    say_table([*TABLE_HEAD, "a promise speaks of it"], rows)
    say("No release is called safe: these adversaries were tried, and this is what they reached.")
    paragraphs = [
        explain_row_targets(outcomes),
        [_describe_guesses(outcome) for outcome in outcomes if is_guess(outcome)],
    ]
    for describers in _DESCRIBERS_BY_PARAGRAPH:
        described = [outcome for outcome in outcomes if outcome["attack"] in describers]
        paragraphs.append([line for outcome in described for line in describers[outcome["attack"]](outcome)])
    for lines in (*paragraphs, reasons):
        if lines:
            say("", *lines)
    for outcome in outcomes:
        if outcome.get("bound") is not None:
            say(*_describe_corruption_bounds(outcome, rho1))


def _print_meaning(name: str) -> None:
    """Print what a success of this attack means, and what lowers it."""
    from reticent.cli.output import say

    row = catalogue.ATTACKS[name]
    say("", f"{row.meaning} Lowers it: {row.lowers}.")


def _make_option_parameters(places: range) -> list[Parameter]:
    """Make the command's parameters for the options of attacks at these places of its help."""
    parameters = []
    for word, (option, names) in list_attack_options(places).items():
        help_text = f"{', '.join(names)}: {option.doc}"
        if option.kind == "flag":
            annotation: Any = Annotated[bool, typer.Option(word, help=help_text)]
        else:
            value_type: Any = _VALUE_TYPES[option.kind]
            value_type = list[value_type] if option.repeatable else value_type
            settings = typer.Option(word, metavar=option.metavar, help=help_text, show_default=False)
            annotation = Annotated[value_type | None, settings]
        default = False if option.kind == "flag" else None
        parameters.append(
            Parameter(_name_argument(word), Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )
    return parameters


def _name_argument(word: str) -> str:
    """Name the command's argument for an option: `--lambda` alone would be a word of Python."""
    return f"option_{word.lstrip('-').replace('-', '_')}"


def _parse_by_column(word: str, entries: Sequence[str]) -> Any:
    """Parse one number for all columns, one for each named column, or a default with exceptions."""
    from reticent.errors import RequestError

    if len(entries) == 1 and "=" not in entries[0]:
        return entries[0]
    by_column: dict[str, str] = {}
    for entry in entries:
        column, sign, value = entry.rpartition("=")
        column = column if sign else catalogue.OTHER_COLUMNS
        if not column or not value:
            raise RequestError(f"{word} lacks a column or a number.", attempt=f"{word} COLUMN=0.2.")
        if column in by_column:
            whose = "all columns" if column == catalogue.OTHER_COLUMNS else repr(column)
            raise RequestError(
                f"{word} is given twice for {whose}.",
                attempt=f"{word} 0.3 once, for all columns, and {word} COLUMN=0.2 once for each that differs.",
            )
        by_column[column] = value
    return by_column


def _require_options_taken(name: str | None, used: Mapping[str, Any]) -> None:
    """Refuse options of other attacks than the named one."""
    from reticent.errors import RequestError

    words_by_takers: dict[tuple[str, ...], list[str]] = {}
    for word, (_, attack_names) in list_attack_options().items():
        words_by_takers.setdefault(tuple(attack_names), []).append(word)
    for takers, words in words_by_takers.items():
        row = catalogue.ATTACKS[takers[0]]
        words_used = [word for word in words if word in used]
        is_taken = name in takers or (name is None and not row.options_need_name)
        if words_used and not is_taken:
            usual = f"{_join_with_and(words)} {'is' if len(words) == 1 else 'are'} for "
            usual += f"{' and '.join(f'--as {taker}' for taker in takers)}."
            refusal = row.options_refusal if len(takers) == 1 else ""
            raise RequestError((refusal or usual).format(given=", ".join(words_used)))


def _describe_corruption_bounds(outcome: Mapping[str, Any], rho1: str) -> list[str]:
    if "predicate_values" in outcome:
        return [
            f"corruption: what is believed with {outcome['predicate_prior']:.6f} beforehand is believed with "
            f"{outcome['predicate_posterior']:.6f} afterwards, of the worst victim, and can be with {outcome['bound']:.6f} at most; "
            f"beliefs grew by {outcome['worst_growth']:.6f}"
        ]
    lines = [
        f"corruption: no belief of {rho1} can exceed {outcome['bound']:.6f} (theorem 2: {outcome['bound_theorem2']:.6f}); "
        f"beliefs grew by {outcome['worst_growth']:.6f}, at most by {outcome['growth_bound']:.6f}"
    ]
    if not outcome["domain_declared"]:
        lines.append(
            f"corruption: these bounds do not hold here: the domain is not said to be declared, and {outcome['single_holders']:,} "
            "have a value in it that nobody else has"
        )
    return lines


def _join_with_and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _describe_singling_out(outcome: Mapping[str, Any]) -> list[str]:
    """Describe what the singling-out attack reports beside its share."""
    unit = "person" if counts_persons(outcome) else "row"
    outside = "" if outcome["others"] is None else f", {outcome['others']:.1%} of them somebody who is not in the data"
    return [
        f"singling-out: {outcome['success']:.1%} of {outcome['targets']:,} ends of ranges, with their labels, are true of one {unit} alone"
        f" (a random value inside the label: {outcome['control']:.1%}{outside}); {outcome['certain']:.1%} of the values in ranges are"
        " certain up to their order. No promise speaks of this adversary."
    ]


def _describe_background(outcome: Mapping[str, Any]) -> list[str]:
    """Describe what the background attack reports beside its guesses."""
    membership = (
        ""
        if outcome["membership"] == "known"
        else " Labels overlap: people are spread over the groups that may hold them."
    )
    worst = f"by {outcome['worst_risk']:.4f}" if outcome["worst_risk"] is not None else "without bound"
    measured = "" if outcome["divergence"] == "js" else f", divergence {outcome['divergence']}"
    infinite = ""
    if outcome["infinite"]:
        infinite = (
            f" The divergence is infinite for {outcome['infinite']:,} of them: the release rules out a value that was believed "
            "possible, however little."
        )
    return [
        f"background: {outcome['vulnerable']:,} of {outcome['targets']:,} {name_targets(outcome)} learned of by more than t = {outcome['t']}; the worst "
        f"{worst} (bandwidth {outcome['bandwidth']}, inference {outcome['posterior']}{measured}).{infinite}{membership}"
    ]


def _describe_matrix(outcome: Mapping[str, Any]) -> list[str]:
    return [
        f"{outcome['attack']}: the belief in a value exceeds its overall frequency by {outcome['growth']:.4f} times that frequency at"
        " the most."
    ]


def _describe_composition(outcome: Mapping[str, Any]) -> list[str]:
    others = outcome["releases"] - 1
    if not others:
        return ["composition: joined with no other release (--with OTHER); this is what the release says alone."]
    above = (
        ""
        if outcome["exceeds"] is None
        else f" {outcome['exceeds']:,} {name_targets(outcome)} stand above what one of them promises."
    )
    rest = "balanced"
    if "odds" in outcome:  # of redrawn values
        allowed = (
            "" if outcome["odds_bound"] is None else f" (of {outcome['odds_bound']:.4g} that these releases allow)"
        )
        above = f" The odds of two values grow by {outcome['odds']:.4g}{allowed}; by one alone by {outcome['odds_alone']:.4g}."
        rest = "estimated"
    return [
        f"composition: joined with {pluralize(others, 'other release')}, {outcome['half']:.1%} of {outcome['targets']:,} {name_targets(outcome)} have a value"
        f" that is believed at .5 or more (from one alone: {outcome['half_alone']:.1%}); the worst belief is"
        f" {outcome['worst_posterior']:.4f} (alone: {outcome['worst_alone']:.4f}).{above} Guesses are right {outcome['success']:.1%} of the"
        f" time (alone: {outcome['alone']:.1%}; joined with shuffled values: {outcome['control']:.1%}). Counted exactly for"
        f" {outcome['exact']:,} {name_targets(outcome)}, {rest} for the others. No promise speaks of several releases."
    ]


def _describe_overlap(outcome: Mapping[str, Any]) -> list[str]:
    tables = (
        "of nobody: no component is small enough to count"
        if outcome["tables_worst"] is None
        else f"of {outcome['tables_people']:,} {name_targets(outcome)} the worst is {outcome['tables_worst']:.4f}"
    )
    return [
        f"overlap: {outcome['shared']:.1%} of {outcome['targets']:,} {name_targets(outcome)} lie under the labels of several groups. If every assignment"
        f" to rows is equally likely, the worst belief is {outcome['worst_posterior']:.4f} (in a group: {outcome['worst_group']:.4f});"
        f" if every table is, {tables}. Promises that are convex in a group's distribution survive the first reading, and speak"
        " of neither of them."
    ]


def _describe_minimality(outcome: Mapping[str, Any]) -> list[str]:
    if outcome["why"]:
        return [f"minimality: knowing the method adds nothing that could be computed: {outcome['why']}."]
    procedure = {
        "exact": f"every table was published again ({outcome['runs']:,} runs; {outcome['behind']:,} tables lead to this release)",
        "walked": f"a walk of {outcome['runs']:,} steps met {outcome['behind']:,} tables that publish this release",
        "left whole": f"values were dealt anew {outcome['runs']:,} times, and groups that would have been cut ruled out",
    }[outcome["how"]]
    return [
        f"minimality: {procedure}. Of {outcome['looked_at']:,} of {outcome['targets']:,} {name_targets(outcome)} something was concluded; the worst belief is"
        f" {outcome['worst_posterior']:.4f} (95 %: {outcome['worst_low']:.4f} to {outcome['worst_high']:.4f}; in a group:"
        f" {outcome['worst_group']:.4f}). Guesses are right {outcome['success']:.1%} of the time (who does not know the method:"
        f" {outcome['control']:.1%}). No promise speaks of this adversary."
    ]


def _describe_downcoding(outcome: Mapping[str, Any]) -> list[str]:
    sure = "cannot have left" if outcome["provable"] else "is supposed not to have left"
    bits = (
        ""
        if outcome["bits"] is None
        else f" In {outcome['ranges']:,} ranges that tells {outcome['bits']:.2f} bits on average."
    )
    truth = (
        "" if outcome["holds"] is None else f" It is true of {outcome['holds']:.1%} of {outcome['holds_of']:,} of them."
    )
    return [
        f"downcoding: {outcome['success']:.1%} of {outcome['targets']:,} values that ranges hide are guessed by who supposes k ="
        f" {outcome['k']} and that the method {sure} a group that can be cut (without that: {outcome['control']:.1%}; a random value"
        f" of the range: {outcome['baseline']:.1%}).{bits}{truth} No promise speaks of this adversary."
    ]


def _describe_linkability(outcome: Mapping[str, Any]) -> list[str]:
    first_list, second_list = (", ".join(names) for names in outcome["lists"])
    whose = f", those of {outcome['people']:,} people," if outcome["people"] not in (None, outcome["rows"]) else ""
    return [
        f"linkability: a list with {first_list} and one with {second_list}: of {outcome['targets']:,} of {outcome['rows']:,} {name_targets(outcome)}{whose} {outcome['success']:.1%}"
        f" are linked by one group (of strangers: {outcome['control']:.1%}). No promise speaks of this adversary."
    ]


def _describe_inference(outcome: Mapping[str, Any]) -> list[str]:
    outside = "" if outcome["others"] is None else f"; of people who are not in the data: {outcome['others']:.1%}"
    return [
        f"inference: {outcome['success']:.1%} of guesses are right (groups with shuffled values: {outcome['control']:.1%}{outside})."
    ]


_DESCRIBERS_BY_PARAGRAPH: tuple[dict[str, Callable[[Mapping[str, Any]], list[str]]], ...] = (
    {"background": _describe_background},
    {"singling-out": _describe_singling_out},
    {
        "composition": _describe_composition,
        "overlap": _describe_overlap,
        "minimality": _describe_minimality,
        "downcoding": _describe_downcoding,
        "linkability": _describe_linkability,
        "inference": _describe_inference,
        "matrix": _describe_matrix,
        "matrix-learned": _describe_matrix,
    },
)
