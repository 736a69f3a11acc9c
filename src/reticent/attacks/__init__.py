"""Attacks: each turns what a release shows and what an adversary knows of the targets into beliefs; one scorer counts hits.

attack(release, source, "naive-bayes")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from reticent import catalogue
from reticent.data.source import Source
from reticent.errors import RequestError, suggest
from reticent.ledger.source_options import find_person_columns, resolve_source
from reticent.plugins import load_plugin_if_named
from reticent.validation import (
    is_job,
    mapping,
    names,
    null_values,
    optional,
    path_or_table,
    require_known_options,
    text,
    validate_arguments,
)

ATTACKS = catalogue.ATTACKS
MAX_CONTROL_POINTS = 50_000
MAX_POINTS_WITH_CONTROL = 200_000


if TYPE_CHECKING:
    from reticent.attacks.algorithm import AlgorithmOutcome
    from reticent.attacks.eligibility.attack import EligibilityOutcome
    from reticent.attacks.scoring import AttackOutcome

ScoredAttack = Literal[
    "naive-bayes",
    "definetti",
    "skewness",
    "similarity",
    "background",
    "singling-out",
    "linkability",
    "inference",
    "downcoding",
    "overlap",
    "composition",
    "minimality",
    "corruption",
    "matrix",
    "matrix-learned",
]
"""Attacks that guess about the people of a source, and count hits."""


@overload
def attack(
    release: Any,
    source: Any = ...,
    name: ScoredAttack = ...,
    *,
    missing: tuple[str, ...] = ...,
    job: Any = ...,
    quasi: Iterable[str] | None = ...,
    sensitive: Iterable[str] | None = ...,
    hierarchy: Mapping[str, Any] | None = ...,
    **options: Any,
) -> AttackOutcome: ...


@overload
def attack(release: Any, *, name: Literal["eligibility"], **options: Any) -> EligibilityOutcome: ...


@overload
def attack(release: Any, *, name: Literal["algorithm"], **options: Any) -> AlgorithmOutcome: ...


@overload
def attack(
    release: Any,
    source: Any,
    name: str,
    *,
    missing: tuple[str, ...] = ...,
    job: Any = ...,
    quasi: Iterable[str] | None = ...,
    sensitive: Iterable[str] | None = ...,
    hierarchy: Mapping[str, Any] | None = ...,
    **options: Any,
) -> AttackOutcome | EligibilityOutcome | AlgorithmOutcome: ...


@validate_arguments(
    release=path_or_table,
    source=optional(path_or_table),
    name=text,
    missing=null_values,
    job=optional(is_job),
    quasi=optional(names),
    sensitive=optional(names),
    hierarchy=optional(mapping),
)
def attack(
    release: Any,
    source: Any = None,
    name: str = "naive-bayes",
    *,
    missing: tuple[str, ...] = (),
    job: Any = None,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    hierarchy: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Attack a release as the adversary of that name, who knows the quasi-identifiers of every row of the source.

    A plan (`rt.plan`) is attacked as its release would be: it knows its people, and takes no source.
    An attack that reads the release's files alone needs no source: what it knows is the algorithm.  A plain CSV or Parquet file or
    frame that another tool made needs the roles of its columns: a `job`, or `quasi`, `sensitive` and `hierarchy`.
    """
    roles = {"job": job, "quasi": quasi, "sensitive": sensitive, "hierarchy": hierarchy}
    return run_attack(release, source, name, missing=missing, roles=roles, options=options)


def run_attack(
    release: Any,
    source: Any,
    name: str,
    *,
    missing: tuple[str, ...],
    roles: Mapping[str, Any],
    options: dict[str, Any],
    control: bool = True,
    shared: dict[str, Any] | None = None,
) -> Any:
    """Run one attack; `roles` describe a plain table, `options` are the attack's own.

    `shared` holds what several attacks on one release and one source compute alike.  Without `control` the control is
    left out for an attack that has none of its own.
    """
    from reticent.attacks.target import is_plain_table, observe, observe_plain_table

    if not load_plugin_if_named("attacks", name) and name not in ATTACKS:
        raise RequestError(f"There is no attack {name!r}.", attempt=suggest(str(name), ATTACKS))
    function = catalogue.load_object(ATTACKS[name].function)
    require_known_options(options, ATTACKS[name].options, f"The attack {name!r}")
    if hasattr(release, "to_attack_target"):
        if options.get("others") is not None:
            raise RequestError(
                "A plan is attacked for the people that it was made for alone.",
                attempt="rt.publish(...) first, or leaving others out.",
            )
        return _run_with_control(name, _observe_plan(release, source, name), options, control)
    foreign = is_plain_table(release)
    if not ATTACKS[name].needs_source:
        return function(_open_release(_require_plain_table_attack(release, name) if foreign else release), **options)
    shared = {} if shared is None else shared
    if "targets" not in shared:
        shared["targets"] = _resolve_targets(release, source, roles["job"], missing, name)
    source, missing = shared["targets"]
    job = roles["job"]
    naming = find_person_columns(release, None if job is None else job.columns)
    if foreign:
        table = _require_plain_table_attack(release, name)
        if "people" not in shared:
            shared["people"] = observe_plain_table(table, source, missing=missing, **roles)
        people = shared["people"]
        if ATTACKS[name].reads_people:
            return _add_person_counts(function(people, None, **options), people)
        options = {**options, **_observe_others(release, people, options.get("others"), source, missing, roles, naming)}
        return _add_person_counts(_run_with_control(name, people, options, control), people)
    _require_no_roles(roles)
    if ATTACKS[name].reads_people:
        return _attack_people(function, _open_release(release), source, missing, naming, options, shared)
    people = observe(release, source, missing=missing, naming=naming)
    options = {**options, **_observe_others(release, people, options.get("others"), source, missing, None, naming)}
    return _add_person_counts(_run_with_control(name, people, options, control), people)


def _attack_people(
    function: Any,
    opened: Any,
    source: Any,
    missing: tuple[str, ...],
    naming: Sequence[str],
    options: dict[str, Any],
    shared: dict[str, Any],
) -> Any:
    """Run an attack that reads the people of the source by itself; `naming` are the columns that tell whose a row is."""
    from reticent.attacks.target import count_persons

    if "naming" in signature(function).parameters:
        options = {**options, "naming": naming}
    outcome = function(opened, source, missing=missing, **options)
    if opened.manifest.rows_per_person == 1:
        return outcome
    if "persons" not in shared:
        shared["persons"] = count_persons(source, naming, missing)
    return replace(outcome, rows_per_person=opened.manifest.rows_per_person, persons=shared["persons"])


def _add_person_counts(outcome: Any, people: Any) -> Any:
    """Return the same outcome, with how many rows a person has and how many persons there are."""
    if people.rows_per_person == 1:
        return outcome
    persons = None if people.persons is None else people.persons.count
    return replace(outcome, rows_per_person=people.rows_per_person, persons=persons)


def _run_with_control(name: str, people: Any, options: Mapping[str, Any], control: bool = True) -> Any:
    """Run the attack and, unless it has its own, its control: the same adversary where groups hold shuffled values.

    Where each target is guessed apart, the control is that of at most MAX_CONTROL_POINTS combinations of
    quasi-identifiers, drawn at random. Elsewhere it would double the time, and of more than MAX_POINTS_WITH_CONTROL
    combinations it is left out.
    """
    import numpy as np

    from reticent.attacks.scoring import compute_wilson_interval
    from reticent.attacks.target import make_silent_target, sample_points

    function = catalogue.load_object(ATTACKS[name].function)
    outcome = function(people, **options)
    if not control or outcome.to_dict()["control"] is not None:
        return outcome
    if not ATTACKS[name].independent_targets and len(people.points) > MAX_POINTS_WITH_CONTROL:
        return outcome
    tried = sample_points(people, MAX_CONTROL_POINTS) if ATTACKS[name].independent_targets else people
    other = function(make_silent_target(tried, np.random.default_rng(0)), **options)
    return replace(
        outcome, control=(other.success, *compute_wilson_interval(round(other.success * other.targets), other.targets))
    )


def _resolve_targets(
    release: Any, source: Any, job: Any, missing: tuple[str, ...], name: str
) -> tuple[Any, tuple[str, ...]]:
    """Return the data that the release was made from, read as it was published, and the texts that mean missing in it."""
    if source is None:
        why = f"The attack {name!r} needs the data that the release was made from: its targets."
        raise RequestError(why, attempt="source=..., --source DATA.")
    resolved, frame = resolve_source(release, source, job, missing=missing)
    return (resolved if frame is None else frame), resolved.missing


def _observe_others(
    release: Any,
    people: Any,
    others: Any,
    source: Any,
    missing: tuple[str, ...],
    roles: Mapping[str, Any] | None,
    naming: Sequence[str],
) -> dict[str, Any]:
    """Lay the same release over people who are not in it, where an attack gets some; `roles` are a plain table's.

    A file of them is read as the source is.
    """
    from reticent.attacks.target import observe_outsiders, plain_outside

    if others is None:
        return {}
    if isinstance(others, str | Path) and isinstance(source, Source):
        others = replace(source, path=str(others), url=None, table=None, query=None)
    if roles is None:
        return {"others": observe_outsiders(release, people, others, missing=missing, naming=naming)}
    return {"others": plain_outside(people, others, missing=missing, **roles)}


def _require_no_roles(roles: Mapping[str, Any]) -> None:
    """Refuse roles for a release: a job may define how the source is read, the rest describes a plain table."""
    if role_names := [word for word, value in roles.items() if value and word != "job"]:
        raise RequestError(
            f"{' and '.join(role_names)} describe a plain table; a release folder describes itself.",
            attempt="leaving them out.",
        )


def _require_plain_table_attack(table: Any, name: str) -> Any:
    """Require that an attack on another tool's table needs no manifest."""
    row = ATTACKS[name]
    if not row.needs_source or (row.reads_people and not row.reads_plain_tables):
        raise RequestError(
            "A plain table lacks what this adversary reads: the manifest of a release folder, which says how rows were "
            "withheld or drawn.",
            attempt="a folder that `reticent publish` made, or another attack.",
        )
    return table


def _observe_plan(plan: Any, source: Any, name: str) -> Any:
    """Make what the adversary would see of the planned release."""
    if source is not None:
        raise RequestError("A plan knows the people that it was made for.", attempt="leaving the source out.")
    row = ATTACKS[name]
    parameter = signature(catalogue.load_object(row.function)).parameters.get("source")
    if not row.needs_source or (parameter is not None and parameter.default is parameter.empty):
        raise RequestError(f"The attack {name!r} reads a release's files.", attempt="rt.publish(...) first.")
    return plan.to_attack_target()


def _open_release(release: Any) -> Any:
    from reticent.release.release import Release

    return release if isinstance(release, Release) else Release(release)
