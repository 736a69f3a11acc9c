"""Requirements on a job that are checked before any data is read.

They refuse promises that a method cannot keep, labels that do not fit, and rows that would be withheld twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent import catalogue, limits, registry
from reticent.data.columns import Column, Role
from reticent.data.domain import Domain, TreeDomain
from reticent.errors import ColumnError, JobError, pluralize, quote_list, suggest
from reticent.job.job import Job
from reticent.methods.base import resolve_weights
from reticent.methods.recipe_planning import select_method_promises
from reticent.methods.regions import require_plannable_by_region
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.k_anonymity import KAnonymity
from reticent.models.l_dichotomy import LDichotomy
from reticent.models.l_diversity import ProbabilisticLDiversity
from reticent.models.promise import Promise, Promises
from reticent.models.t_closeness import TCloseness
from reticent.plugins import list_namespaces

if TYPE_CHECKING:
    from reticent.engines.engine import Engine


MAX_CHANGES_TOGETHER = 3  # more than that is another job
NEEDED_PROMISES: Mapping[str, tuple[str, Promise]] = {
    "burel": ('model = "beta-likeness" and beta = 4', BetaLikeness(4)),
    "sabre": ('model = "t-closeness" and t = 0.2', TCloseness(Fraction(1, 5))),
}
"""What a method needs beside promises about the number of people, with usual parameters, as a job file has it."""


def require_promises_supported(job: Job) -> None:
    """Refuse a promise that the method cannot keep, and whatever else of the job the method does not take.

    The attempt names changes of this job that were tried: each of them is accepted, as far as it can be told before
    data is read.
    """
    for stage in job.prepare:
        if hasattr(stage, "require_stated_prior"):
            stage.require_stated_prior()
    try:
        _require_job_supported(job)
    except JobError as refusal:
        tried = _advise_changes(job)
        stated = refusal.attempt.rstrip(".")
        if tried and (stated.startswith("a further") or "method =" in stated):
            stated = ""
        advice = ", or ".join(words for words in (tried, stated) if words)
        raise JobError(refusal.what, why=refusal.why, attempt=f"{advice or _advise_promise(job)}.") from None


def list_supporting_methods(job: Job, sensitive_columns: int = 0) -> list[str]:
    """List the other methods that take the job as it is, with so many sensitive columns."""
    jobs = {name: replace(job, method=registry.make_method({"name": name})) for name in catalogue.METHODS}
    return [
        name
        for name, changed in jobs.items()
        if name != job.method.name
        and _is_supported(changed)
        and (sensitive_columns < 2 or registry.load_writer(changed.method.kind).several_sensitive)
    ]


def _require_job_supported(job: Job) -> None:
    """Refuse what the method does not take; the caller advises what to change."""
    require_withholding_supported(job)
    require_early_withholding_supported(job)
    if job.prepare and not getattr(job.method, "prepares", True):
        raise JobError(
            f"{job.method.name} takes no preparing stage: it publishes generalized values and fakes, and what a stage promises of "
            "the published values could not be seen in them.",
        )
    require_complete_table(job)
    left = select_method_promises(job.prepare, job.promises)
    for promise in left:
        if not isinstance(promise, job.method.keeps):
            raise JobError(f"{job.method.name} cannot keep {promise.name}.")
    require_columns_supported(job)
    if hasattr(job.method, "refuse"):
        job.method.refuse(left)
    left.check_labels(getattr(job.method, "labels", None))
    require_label_styles_supported(job)
    require_loss_limit_supported(job)
    require_odds_limit_supported(job)


def _is_supported(job: Job) -> bool:
    try:
        _require_job_supported(job)
    except JobError:
        return False
    return True


def _advise_changes(job: Job) -> str:
    """Return the single changes of a job that make it accepted, or else the first few that do so together; "" for none."""
    changes = list(_list_changes(job))
    single = [words for words, change in changes if _is_supported(replace(job, **change))]
    if single:
        return ", or ".join(single)
    for number in range(2, MAX_CHANGES_TOGETHER + 1):
        for chosen in combinations(changes, number):
            fields = [name for _, change in chosen for name in change]
            combined = {name: value for _, change in chosen for name, value in change.items()}
            if len(set(fields)) == len(fields) and _is_supported(replace(job, **combined)):
                return " and ".join(words for words, _ in chosen)
    return ""


def _advise_promise(job: Job) -> str:
    """Advise another promise with which the job is accepted, if one of the usual ones is."""
    usual = (ProbabilisticLDiversity(2), BetaLikeness(4), TCloseness(Fraction(1, 5)), KAnonymity(5))
    accepted = [promise.name for promise in usual if _is_supported(replace(job, promises=Promises((promise,))))]
    return f'another promise, such as model = "{accepted[0]}"' if accepted else "another promise"


def _list_changes(job: Job) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield changes of a job that a steward may make, in words and as fields of the job."""
    if job.release.suppress_at_most:
        yield "suppress_at_most = 0", {"release": replace(job.release, suppress_at_most=Fraction(0))}
    if job.release.loss_at_most is not None:
        yield "leaving loss_at_most out", {"release": replace(job.release, loss_at_most=None)}
    if any(column.labels for column in job.columns.values()):
        unlabelled = {name: replace(column, labels=None) for name, column in job.columns.items()}
        yield "leaving labels out", {"columns": unlabelled}
    if job.prepare:
        yield "leaving [[prepare]] out", {"prepare": ()}
    dichotomies = [promise for promise in job.promises if isinstance(promise, LDichotomy)]
    lacking = [promise for promise in dichotomies if not any(stage.keeps(promise) for stage in job.prepare)]
    for promise in lacking[:1]:
        stage = registry.make_stage({"name": "suppression", "kind": "safe", "l": promise.l})
        yield f'[[prepare]] with name = "suppression", kind = "safe" and l = {promise.l}', {"prepare": (stage,)}
    yield from _list_further_promises(job)
    for role in (Role.IDENTIFYING, Role.QUASI):
        carried = [name for name, column in job.columns.items() if column.role is Role.INSENSITIVE]
        if carried:
            recast = {**job.columns, **{name: Column(role) for name in carried}}
            yield f'role = "{role.value}" for {quote_list(carried)}', {"columns": recast}
    for name in catalogue.METHODS:
        if name != job.method.name:
            yield f'method = "{name}"', {"method": registry.make_method({"name": name})}


def _list_further_promises(job: Job) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield promises that may stand beside those of a job, in words and as fields of the job."""
    dichotomies = [promise for promise in job.promises if isinstance(promise, LDichotomy)]
    further: list[tuple[str, Promise]] = [
        (f'model = "probabilistic-l-diversity" and l = {promise.l}', ProbabilisticLDiversity(promise.l))
        for promise in dichotomies[:1]
    ]
    if job.method.name in NEEDED_PROMISES:
        words, needed = NEEDED_PROMISES[job.method.name]
        if not any(isinstance(promise, type(needed)) for promise in job.promises):
            further.append((words, needed))
    for words, promise in further:
        yield f"a further [[promise]] with {words}", {"promises": Promises((*job.promises, promise))}


def require_partitionable(job: Job, target: Path | None) -> Path:
    """Refuse a plan in two levels for methods and promises that must see all rows at once, and without a target.

    Such a release cannot be temporary: its rows are in parts, which are gone when it is published.
    """
    if list_namespaces(promise.name for promise in job.promises):
        raise JobError(
            "A promise of a plugin is not judged for a plan in regions: its judge is asked about a whole release.",
            attempt="an engine that does not plan in regions (--engine local, or no --regions).",
        )
    left = select_method_promises(job.prepare, job.promises)
    require_plannable_by_region(
        job.method, left, prepared=bool(job.prepare), withholding=bool(job.release.suppress_at_most)
    )
    if target is None:
        raise JobError("A release that is planned in regions needs a folder to be put in.", attempt="to=... with it.")
    return target


def require_whole_table_engine(engine: str | Engine, doing: str) -> Engine:
    """Return the engine if it plans a table whole; `doing` holds its combinations, as a plan does."""
    worker = registry.load_engine(engine)
    if worker.regions:
        raise JobError(
            f"{doing} holds the cells of all rows, and the engine plans regions because these do not fit one machine.",
            attempt="an engine without regions, on as many of the rows as one machine plans.",
        )
    return worker


def require_label_styles_supported(job: Job) -> None:
    """Refuse labels other than the method's own for releases without labels, and for promises about what labels cover."""
    fine = ("tight", job.promises.labels)
    asked = [name for name, column in job.columns.items() if column.labels and column.labels.style not in fine]
    if not asked or may_relabel(job):
        return
    what = f"Column {asked[0]!r} asks for {job.columns[asked[0]].labels.style} labels"
    if job.promises.labels is not None:
        name = next(promise.name for promise in job.promises if getattr(promise, "labels", None))
        raise JobError(
            f"{what}, and {name} needs labels of which no two cover one person.",
            why="Which group somebody is in must be known to say what they learn; wider labels overlap.",
        )
    if getattr(registry.load_writer(job.method.kind), "apart", False):
        raise JobError(
            f"{what}, and {job.method.name} needs labels of which no two cover one person.",
            why="A row is drawn of each group, and its size is published: a person in two labels would be counted twice.",
        )
    raise JobError(
        f"{what}, and {job.method.name} publishes quasi-identifiers as they are.",
    )


def may_relabel(job: Job) -> bool:
    """Tell whether labels may be wider than groups: if they are the release's groups, and no promise needs them separate."""
    return registry.load_writer(job.method.kind).generalizes and job.promises.labels is None


def require_columns_supported(job: Job) -> None:
    """Refuse columns that a kind does not support.

    A kind may have no passthrough column, allow no stage before it, have one sensitive column only, and reserve a name.
    """
    writer = registry.load_writer(job.method.kind)
    carried = [name for name, column in job.columns.items() if column.role == "insensitive"]
    if carried and not getattr(writer, "carries", True):
        raise JobError(
            f"A {writer.kind} release carries no insensitive column; the job declares {quote_list(carried)}.",
            why="A carried value beside a drawn row would tell whose row it is.",
        )
    if job.prepare and not getattr(writer, "prepared", True):
        raise JobError(
            f"{job.method.name} takes no preparing stage.",
            why="A stage looks at true values, and which rows it leaves would tell of people who are not drawn.",
        )
    require_unreserved_names(job, job.columns)


def require_withholding_supported(job: Job) -> None:
    """Refuse `suppress_at_most` where it does not apply.

    It weighs what rows lose by generalization, and would undo what a stage withheld for its promise.
    """
    if not job.release.suppress_at_most:
        return
    writer = registry.load_writer(job.method.kind)
    if not writer.generalizes:
        is_sampled = getattr(writer, "apart", False)
        raise JobError(
            f"suppress_at_most is for methods whose groups lose less without some rows; {job.method.name} "
            + ("draws rows at random." if is_sampled else "publishes quasi-identifiers as they are."),
        )
    if job.prepare:
        raise JobError(
            "suppress_at_most and a preparing stage both withhold rows, and the stage's promise is about those it chose.",
        )


def require_loss_limit_supported(job: Job) -> None:
    """Refuse `loss_at_most` for a kind that publishes quasi-identifiers as they are: it has no labels to lose by."""
    if job.release.loss_at_most is None or getattr(registry.load_writer(job.method.kind), "labelled", False):
        return
    raise JobError(
        f"loss_at_most is about labels; {job.method.name} publishes quasi-identifiers as they are.",
        why="What it loses is the sensitive value or the link to it, and the audit says how much.",
    )


def require_odds_limit_supported(job: Job) -> None:
    """Refuse `odds_at_most` for a kind that shows the values that people have: what is shown has no odds."""
    if job.release.odds_at_most is None or getattr(registry.load_writer(job.method.kind), "redraws_values", False):
        return
    raise JobError(
        f"odds_at_most is about values that are redrawn; {job.method.name} publishes those that people have.",
        attempt="beta-perturbation or perturbed-generalization, or together in [release], a limit of belief.",
    )


def require_early_withholding_supported(job: Job) -> None:
    """Refuse rows withheld before planning where that would tell too much, or could not be audited.

    Which rows of a person are withheld (`beyond = "withhold"`) is drawn, and no file records it: an audit that compares
    with the rows that were planned could not tell them. Rows without a value are no such case, since the source shows
    which they are; but a kind may have to hide whose sensitive value is missing.
    """
    writer = registry.load_writer(job.method.kind)
    incomplete = [
        name for name, column in job.columns.items() if column.missing == "withhold" and column.role == "sensitive"
    ]
    if incomplete and getattr(writer, "hides_presence", False):
        raise JobError(
            f'{job.method.name} cannot withhold rows by missing = "withhold" of the sensitive column {incomplete[0]!r}.',
            why="It promises something against who knows the values of all others, and to them the published size of a group "
            "would tell that somebody's value is missing.",
            attempt="a value of their own for these rows in the source.",
        )
    names = [name for name, column in job.columns.items() if column.beyond == "withhold"]
    if not names:
        return
    if not getattr(writer, "draws_rows", True):
        raise JobError(
            f'{job.method.name} cannot withhold rows by beyond = "withhold".',
            why=f"What a {writer.kind} release states of its groups is compared with all rows of the source, and which rows "
            "were drawn to be withheld is recorded nowhere.",
            attempt="a table with one row of each person, without rows_per_person and beyond.",
        )
    for promise in job.promises:
        if getattr(promise, "whole_table", False):
            raise JobError(
                f'{promise.name} cannot be kept with beyond = "withhold".',
                why="Prior beliefs are estimated from the rows that are planned: which rows were drawn to be withheld is "
                "recorded nowhere, so that the beliefs could not be recounted.",
                attempt=f"leaving beyond out for {names[0]!r}, with rows_per_person as high as anybody has rows, or fewer rows "
                "in the source.",
            )


def require_one_sensitive_column(job: Job, sensitive: list[str]) -> None:
    """Refuse several sensitive columns, jointly or not, for a kind that supports one."""
    if len(sensitive) > 1 and not registry.load_writer(job.method.kind).several_sensitive:
        advice = [f'role = "identifying" for all but one of {quote_list(sensitive)}, which are then not published']
        advice += [f'method = "{name}"' for name in list_supporting_methods(job, len(sensitive))]
        raise JobError(
            f"A release by {job.method.name} has one sensitive column; the job declares {len(sensitive)}.",
            attempt=f"{', or '.join(advice)}.",
        )


def require_unreserved_names(job: Job, columns: Mapping[str, Column]) -> None:
    """Refuse columns with names that a kind reserves; a column may have matched its declaration by a pattern."""
    writer = registry.load_writer(job.method.kind)
    reserved = getattr(writer, "reserved", {}).items()
    taken = [name for name, roles in reserved if name in columns and columns[name].role in roles]
    if taken:
        raise JobError(
            f"A column is named {taken[0]!r}, and a release of kind {writer.kind!r} has one of its own by that name.",
            attempt="renaming the source's column.",
        )


def require_method_columns(job: Job, columns: Mapping[str, Column]) -> None:
    """Have the method check the declared columns, before any row is read."""
    if hasattr(job.method, "require_columns"):
        job.method.require_columns(columns)


def require_named_columns(job: Job, quasi: list[str], sensitive: list[str]) -> None:
    """Refuse weights of columns that are not quasi-identifiers, and a stage on a column that is not sensitive."""
    resolve_weights(quasi, getattr(job.method, "weights", None))
    for stage in job.prepare:
        column = getattr(stage, "column", None)
        if column is not None and column not in sensitive:
            raise JobError(
                f"{stage.name}: {quote_list([column])} is not a sensitive column.", attempt=suggest(column, sensitive)
            )


def require_complete_table(job: Job) -> None:
    """Refuse withheld rows with a promise about what the whole table teaches an adversary."""
    for promise in job.promises:
        if getattr(promise, "whole_table", False) and (job.prepare or job.release.suppress_at_most):
            raise JobError(
                f"{promise.name} cannot be kept where rows are withheld.",
                why="Prior beliefs are estimated from all rows: whose rows they came from could not be recounted.",
            )


def require_short_texts(job: Job, domains: tuple[Sequence[Domain], Sequence[Domain]]) -> None:
    """Refuse, before anything is planned, values and labels of a hierarchy that are longer than a manifest's texts may be.

    `domains` are those of quasi-identifying and of sensitive columns; sensitive values are listed by some kinds.
    """
    quasi, sensitive = domains
    lists_values = getattr(registry.load_writer(job.method.kind), "lists_values", False)
    for domain in (*quasi, *sensitive):
        is_listed = lists_values or domain in quasi or getattr(domain, "is_from_steward", False)
        texts = {*domain.texts, *(domain.hierarchy.labels if isinstance(domain, TreeDomain) else ())}
        longest = max(map(len, texts), default=0)
        if is_listed and longest > limits.MAX_TEXT_CHARACTERS:
            many = sum(len(text) > limits.MAX_TEXT_CHARACTERS for text in texts)
            raise ColumnError(
                f"Column {domain.name!r} has {pluralize(many, 'value')} of more than {limits.MAX_TEXT_CHARACTERS:,} characters; the "
                f"longest has {longest:,}.",
                why="The manifest of a release lists such values, and texts as long as that are not read from one.",
                attempt="a shorter code for each, or leaving the column out.",
            )
