"""Adversaries: each turns what a release shows and what it knows of its targets into beliefs, and one scorer counts its hits.

attack(release, source, "naive-bayes")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

from reticent import catalogue
from reticent.door import a_job, door, marks, names, optional, options, place, table, text
from reticent.errors import RequestError, suggest
from reticent.owner.reading import reading_of

ATTACKS = catalogue.ATTACKS
CONTROLLED, UNCONTROLLED = 50_000, 200_000


@door(release=place, source=optional(place), name=text, missing=marks, job=optional(a_job), quasi=optional(names),
      sensitive=optional(names), hierarchy=optional(table))  # fmt: skip
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
    **how: Any,
) -> Any:
    """Attack a release as the adversary of that name, who knows the quasi-identifiers of every row of the source.

    A plan (`rt.plan`) is attacked as its release would be: it knows its people, and takes no source.
    An attack that reads the release's files alone needs no source: what it knows is the algorithm.  A plain CSV or Parquet file or
    frame that another tool made needs the roles of its columns: a `job`, or `quasi`, `sensitive` and `hierarchy`.
    """
    from reticent.attacks.plain import is_plain, plain
    from reticent.attacks.seen import seen

    if name not in ATTACKS:
        raise RequestError(f"There is no attack {name!r}.", attempt=suggest(str(name), ATTACKS))
    function = catalogue.load(ATTACKS[name].function)
    options(how, _options(function), f"The attack {name!r}")
    if hasattr(release, "seen"):
        return _controlled(name, _seen_of_plan(release, source, name), how)
    foreign = is_plain(release)
    if not ATTACKS[name].needs_source:
        return function(_opened(_plain_table(release, name) if foreign else release), **how)
    source, missing = _targets(release, source, job, missing, name)
    roles = {"job": job, "quasi": quasi, "sensitive": sensitive, "hierarchy": hierarchy}
    how |= _laid_over(release, how.get("others"), missing, roles if foreign else None)
    if foreign:
        return _controlled(name, plain(_plain_table(release, name), source, missing=missing, **roles), how)
    _refuse_roles(roles)
    if ATTACKS[name].reads_people:
        return function(_opened(release), source, missing=missing, **how)
    return _controlled(name, seen(release, source, missing=missing), how)


def _controlled(name: str, people: Any, how: Mapping[str, Any]) -> Any:
    """The attack and, unless it has one of its own, its control: the same adversary where groups hold shuffled values.

    Where everybody is guessed apart, the control is that of at most CONTROLLED combinations of quasi-identifiers, drawn at random.
    Elsewhere it would double the time, and of more than UNCONTROLLED combinations it is left out.
    """
    import numpy as np

    from reticent.attacks.decoy import silent
    from reticent.attacks.score import wilson
    from reticent.attacks.seen import part_of

    function = catalogue.load(ATTACKS[name].function)
    found = function(people, **how)
    if found.to_dict()["control"] is not None:
        return found
    if not ATTACKS[name].apart and len(people.points) > UNCONTROLLED:
        return found
    tried = part_of(people, CONTROLLED) if ATTACKS[name].apart else people
    other = function(silent(tried, np.random.default_rng(0)), **how)
    return replace(found, control=(other.success, *wilson(round(other.success * other.targets), other.targets)))


def _targets(release: Any, source: Any, job: Any, missing: tuple[str, ...], name: str) -> tuple[Any, tuple[str, ...]]:
    """The data that the release was made from, read as it was published, and the texts that mean missing in it."""
    if source is None:
        why = f"The attack {name!r} needs the data that the release was made from: its targets."
        raise RequestError(why, attempt="source=..., --source DATA.")
    given, frame = reading_of(release, source, job, missing=missing)
    return (given if frame is None else frame), given.missing


def _options(function: Any) -> list[str]:
    """What an attack lets its caller choose: its parameters that are given by name and have a default."""
    given = [one for one in signature(function).parameters.values() if one.default is not one.empty]
    return [one.name for one in given if one.name != "missing"]


def _laid_over(release: Any, others: Any, missing: tuple[str, ...], roles: Mapping[str, Any] | None) -> dict[str, Any]:
    """The same release over people who are not in it, where an attack is given some; `roles` are a plain table's."""
    from reticent.attacks.plain import plain
    from reticent.attacks.seen import outside

    if others is None:
        return {}
    found = (
        outside(release, others, missing=missing) if roles is None else plain(release, others, missing=missing, **roles)
    )
    return {"others": found}


def _refuse_roles(roles: Mapping[str, Any]) -> None:
    """A job may say how the source is read; the rest describes a plain table."""
    if named := [word for word, value in roles.items() if value and word != "job"]:
        raise RequestError(
            f"{' and '.join(named)} describe a plain table; a release folder describes itself.",
            attempt="leaving them out.",
        )


def _plain_table(table: Any, name: str) -> Any:
    """Another tool's table, for an attack that needs no manifest."""
    if not ATTACKS[name].needs_source or ATTACKS[name].reads_people:
        raise RequestError(
            f"The attack {name!r} needs a release folder: its manifest says how rows were withheld or drawn.",
            attempt="a folder that `reticent publish` made, or another attack.",
        )
    return table


def _seen_of_plan(plan: Any, source: Any, name: str) -> Any:
    """What the adversary would see of the planned release."""
    if source is not None:
        raise RequestError("A plan knows the people that it was made for.", attempt="leaving the source out.")
    row = ATTACKS[name]
    asked = signature(catalogue.load(row.function)).parameters.get("source")
    if not row.needs_source or (asked is not None and asked.default is asked.empty):
        raise RequestError(f"The attack {name!r} reads a release's files.", attempt="rt.publish(...) first.")
    return plan.seen()


def _opened(release: Any) -> Any:
    from reticent.opened import Release

    return release if isinstance(release, Release) else Release(release)
