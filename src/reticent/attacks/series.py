"""Runs all attacks on a release, cheap ones first, within a budget of CPU seconds; names those left out with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import process_time
from typing import Any

from reticent.attacks import ATTACKS, run_attack
from reticent.attacks.target import share_observations
from reticent.errors import RequestError, SourceError
from reticent.progress import ProgressCallback, ProgressEvent
from reticent.time_limit import TimeLimitReached, run_within

MIN_SERIES_SECONDS = 60.0
FIRST_ATTACK_FACTOR = 40
"""CPU seconds that a series has where no budget is given; more where the first attack, which reads the source, takes long."""


@dataclass(frozen=True, eq=False)
class AttackSeries:
    """Outcomes of attacks, in the catalogue's order, and the names of those that were not tried, by the reason."""

    outcomes: tuple[Any, ...]
    skipped: Mapping[str, list[str]] = field(default_factory=dict)


def run_attacks(
    release: Any,
    source: Any,
    names: Iterable[str],
    *,
    missing: tuple[str, ...] = (),
    roles: Mapping[str, Any] | None = None,
    options_of: Callable[[str], Mapping[str, Any]] = lambda name: {},
    budget: float | None = None,
    control: bool = True,
    progress: ProgressCallback = lambda step: None,
) -> AttackSeries:
    """Try the attacks of these names, those of lower cost first; `options_of` gives the options of each.

    The attacks share one reading of the source.  An attack that has not ended when the budget is used is stopped, and those after it
    are not begun.
    """
    roles = roles or {"job": None, "quasi": None, "sensitive": None, "hierarchy": None}
    ordered_names = sorted(names, key=lambda name: ATTACKS[name].cost)
    outcomes: dict[str, Any] = {}
    skipped: dict[str, list[str]] = {}
    shared: dict[str, Any] = {}
    began = process_time()
    limit = budget
    with share_observations():
        for index, name in enumerate(ordered_names):
            progress(ProgressEvent(f"attacking as {name}", index / len(ordered_names)))
            attack_source = source if ATTACKS[name].needs_source else None

            def attempt(name: str = name, attack_source: Any = attack_source) -> Any:
                options = dict(options_of(name))
                return run_attack(
                    release,
                    attack_source,
                    name,
                    missing=missing,
                    roles=roles,
                    options=options,
                    control=control,
                    shared=shared,
                )

            started = process_time()
            try:
                seconds_left = float("inf") if limit is None else limit - (started - began)
                outcomes[name] = attempt() if seconds_left == float("inf") else run_within(seconds_left, attempt)
            except TimeLimitReached:
                skipped.setdefault(_describe_time_limit(limit or 0.0), []).append(name)
            except SourceError:  # what cannot be read is not a reason to leave one attack out
                raise
            except RequestError as error:
                skipped.setdefault(error.what, []).append(name)
            if limit is None:
                limit = max(MIN_SERIES_SECONDS, FIRST_ATTACK_FACTOR * (process_time() - started))
    return AttackSeries(
        tuple(outcomes[name] for name in dict.fromkeys((*ATTACKS, *names)) if name in outcomes), skipped
    )


def _describe_time_limit(seconds: float) -> str:
    return f"The budget of {seconds:,.0f} CPU s was used: a greater one (--budget) tries what is left."
