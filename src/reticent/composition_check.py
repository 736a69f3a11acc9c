"""Checks, before a release is committed, what it and earlier releases of the same people reveal together.

`publish --again` and `save(again=True)` join the staged release with every earlier one that the ledger knows and that
still is where it was put (`attacks.composition`).  The result is among the owner's notices.  If a job sets `together`
in its [release], publication is refused if any posterior may exceed that limit, or if an earlier release cannot be
joined: then nothing would show that the limit holds.

`odds_at_most` is the budget of releases that redraw values: by how much all of them together may multiply the odds of a
value of a person (`attacks/composition/release_odds.py`).  The product over the releases that the ledger knows, read from
their manifests, is refused beyond it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from reticent.attacks.composition.alignment import align_releases
from reticent.attacks.composition.attack import (
    CompositionOutcome,
    attack_aligned_releases,
    attack_redrawn_releases,
)
from reticent.attacks.composition.redrawn_releases import (
    RedrawnReleases,
    can_be_multiplied,
    is_redrawn,
    require_same_values,
)
from reticent.attacks.composition.release_odds import ReleaseOdds, bound_release_odds, multiply_odds
from reticent.errors import PromiseUnreachable, ReticentError, pluralize
from reticent.job.job import Job
from reticent.ledger.fingerprint import CountedRows
from reticent.ledger.ledger import Ledger, RepeatedRelease
from reticent.ledger.paths import compute_release_digest
from reticent.release.release import Release

MAX_NAMED_FOLDERS = 4
ODDS_ADVICE = {
    "other limits": "publishing nothing new of these people, a stricter promise or a smaller p, or a greater odds_at_most in "
    "[release].",
    "no seed": "publishing without a seed, or leaving odds_at_most out of [release].",
    "no limit": "publishing nothing new of these people, or leaving odds_at_most out of [release].",
}
"""What helps where releases multiply the odds of a value by too much: an earlier one may leave nothing that bounds them."""


def check_composition(
    job: Job, frame: Any, rows: CountedRows, distributed: bool, staged: Path, ledger: Ledger
) -> list[str]:
    """Check a staged release with all earlier ones of the same people; return sentences for the owner.

    `rows` are the job's, from its source or a frame; `distributed` rows are on other machines, and joining is left to a
    machine that holds them.  The list is empty if the ledger knows no earlier release of these people.
    """
    source = job.source if frame is None else frame
    check = CompositionCheck(source, job.source.missing, job.release.together, distributed)
    sentences = check.run(staged, ledger, rows)
    if job.release.odds_at_most is not None:
        sentences += _check_odds(job.release.odds_at_most, staged, ledger, rows)
    return sentences


def require_own_odds(limit: Fraction | None, manifest: Any) -> None:
    """Refuse a release that alone may multiply the odds of a value by more than the job's limit."""
    if limit is None:
        return
    own = bound_release_odds(manifest)
    if own.odds is None or own.odds > limit:
        reach = f"nothing bounds the odds: {own.why}" if own.odds is None else f"it is {float(own.odds):.4g}"
        raise PromiseUnreachable(
            f"This release may multiply the odds of a value by more than {float(limit):g}, which odds_at_most allows; "
            "nothing was published.",
            why=f"By itself {reach}.",
            attempt="a stricter promise or a smaller p, or a greater odds_at_most in [release].",
        )


def _check_odds(limit: Fraction, staged: Path, ledger: Ledger, rows: CountedRows) -> list[str]:
    """Add up the budget of odds over all releases of these people that may be out; refuse beyond the limit."""
    repeats = {repeat.entry["digest"]: repeat.entry for repeat in ledger.find_repeats(rows)}
    if not repeats:
        return []
    parts = [bound_release_odds(Release(staged).manifest)]
    folders = []
    for digest, entry in repeats.items():
        folder = Path(entry["folder"], entry["release"])
        if compute_release_digest(folder) != digest:
            raise PromiseUnreachable(
                f"Nothing shows by how much this release and {entry['release']!r} multiply the odds of a value together.",
                why=f"{entry['release']!r} of {entry['at'][:10]} is not where it was put, was changed, or was replaced, and may be out.",
                attempt="putting it back, or leaving odds_at_most out of [release], or publishing nothing new of these people.",
            )
        parts.append(bound_release_odds(Release(folder).manifest))
        folders.append(folder)
    together = multiply_odds(parts)
    if together.odds is None or together.odds > limit:
        product = " x ".join("?" if part.odds is None else f"{float(part.odds):.4g}" for part in parts)
        reach = f"nothing bounds them: {together.why}" if together.odds is None else f"{float(together.odds):.4g}"
        raise PromiseUnreachable(
            f"With {_list_folder_names(folders)}, the odds of a value may be multiplied by more than {float(limit):g}; "
            "nothing was published.",
            why=f"Odds multiply over releases of the same people: {product}, {reach}.",
            attempt=ODDS_ADVICE[_find_odds_remedy(parts)],
        )
    left = limit / together.odds
    return [
        f"With {_list_folder_names(folders)}, the odds of a value are multiplied by {float(together.odds):.4g} at the most; of the "
        f"budget of {float(limit):g} a factor of {float(left):.4g} is left."
    ]


def _find_odds_remedy(parts: Sequence[ReleaseOdds]) -> str:
    """Find which of ODDS_ADVICE helps where odds exceed a limit; the first part is the release to be published."""
    if multiply_odds(parts).odds is not None:
        return "other limits"
    unseeded = replace(parts[0], seeded=False)
    return "no limit" if multiply_odds([unseeded, *parts[1:]]).odds is None else "no seed"


@dataclass(frozen=True, eq=False)
class CompositionCheck:
    """What releases are joined over: the source (or the frame); `limit` is the greatest belief that is allowed."""

    source: Any
    null_values: tuple[str, ...]
    limit: Fraction | None
    distributed: bool = False

    def run(self, staged: Path, ledger: Ledger, rows: CountedRows) -> list[str]:
        """Join the staged release with each earlier one of these rows that can be joined."""
        repeats = {repeat.entry["digest"]: repeat for repeat in ledger.find_repeats(rows)}
        if not repeats:
            return []
        latest_digests = {(entry["folder"], entry["release"]): entry["digest"] for entry in ledger.read_entries()}
        joined: list[Path] = []
        sentences: list[str] = []
        for repeat in repeats.values():
            place = (repeat.entry["folder"], repeat.entry["release"])
            folder = Path(*place)
            digest = repeat.entry["digest"]
            if latest_digests[place] != digest:
                day = repeat.entry["at"][:10]
                reason = f"a later one replaced it, and only who was given that of {day} has it"
                sentences.append(self._report_not_joined(repeat, reason))
                continue
            if compute_release_digest(folder) != digest:
                reason = "it is not where it was put, or was changed"
                sentences.append(self._report_not_joined(repeat, reason, "putting it back, or "))
                continue
            misfit = self._explain_misfit(Release(staged), [Release(path) for path in joined], Release(folder))
            if misfit is None:
                joined.append(folder)
            else:
                sentences.append(self._report_not_joined(repeat, misfit))
        if joined:
            sentences.append(self._check_joint_belief(staged, joined))
        return sentences

    def _explain_misfit(self, staged: Release, joined: Sequence[Release], release: Release) -> str | None:
        """Explain why an earlier release cannot be joined with this one and those `joined` so far; None if it can."""
        if self.distributed:
            return "rows are on a cluster, and `reticent attack --with` joins releases on one machine"
        is_staged_redrawn = is_redrawn(staged)
        if is_staged_redrawn and not can_be_multiplied([staged, release]):
            return f"releases of redrawn values are joined with others of their kind, and it is {release.manifest.kind}"
        if is_staged_redrawn and sum(other.manifest.seeded for other in (staged, *joined, release)) > 1:
            return "several of these releases were made with a seed, and may share their draws"
        try:
            if is_staged_redrawn:
                require_same_values([staged, release])
                RedrawnReleases.from_releases([release], self.source, self.null_values)
                return None
            align_releases([release], self.source, self.null_values)
        except ReticentError as error:
            return error.what[:1].lower() + error.what[1:].rstrip(".")
        return None

    def _report_not_joined(self, repeat: RepeatedRelease, reason: str, remedy: str = "") -> str:
        """Describe a release that was not joined; raise if the job sets a limit, which nothing shows to hold then."""
        name = repeat.entry["release"]
        if self.limit is not None:
            raise PromiseUnreachable(
                f"Nothing shows what this release and {name!r} say together: {reason}.",
                why=f"The job allows a belief of at most {self.limit} from both ([release] together), and {name!r} may be out.",
                attempt=f"{remedy}leaving `together` out of [release], or publishing nothing new of these people.",
            )
        return f"The earlier release {name!r} was not joined with this one: {reason}."

    def _check_joint_belief(self, staged: Path, earlier: Sequence[Path]) -> str:
        """Describe what is believed from all releases together; raise if that may exceed the limit."""
        try:
            releases = [Release(folder) for folder in (staged, *earlier)]
            if can_be_multiplied(releases):
                outcome = attack_redrawn_releases(
                    RedrawnReleases.from_releases(releases, self.source, self.null_values)
                )
            else:
                outcome = attack_aligned_releases(align_releases(releases, self.source, self.null_values))
        except ReticentError as error:
            if self.limit is not None:
                raise
            return f"The releases were not joined: {error.what}"
        above = 0 if self.limit is None else outcome.count_people_above(self.limit)
        if above:
            raise PromiseUnreachable(
                f"With {_list_folder_names(earlier)}, something is believed of {above:,} of {outcome.targets:,} people above {self.limit}; "
                "nothing was kept.",
                why=f"The worst belief is {outcome.worst_posterior:.3f} from all releases together and "
                f"{outcome.details['worst_alone']:.3f} from one alone.",
                attempt="publishing nothing new of these people, fewer quasi-identifiers, a stricter promise, or a greater `together`.",
            )
        return describe_composition(outcome, earlier)


def describe_composition(outcome: CompositionOutcome, earlier: Sequence[Path]) -> str:
    """Describe, in counts, what releases reveal together."""
    details = outcome.details
    above = "" if details["exceeds"] is None else f" {details['exceeds']:,} stand above what one of them promises."
    if details["departed"]:
        above += (
            f" {pluralize(details['departed'], 'row', 'of theirs is', 'of theirs are')} of nobody in this table any more; "
            f"of {outcome.unbounded:,} people, who may be those who changed since, anything may be believed."
        )
    return (
        f"Joined with {_list_folder_names(earlier)}: {details['half']:.1%} of {outcome.targets:,} people have a value that is believed at .5 or "
        f"more ({details['half_alone']:.1%} from one release alone); the worst belief is {outcome.worst_posterior:.3f} "
        f"({details['worst_alone']:.3f} alone).{above} Counted exactly for {details['exact']:,} people, "
        f"{'estimated' if 'odds' in details else 'balanced'} for the others."
    )


def _list_folder_names(folders: Sequence[Path]) -> str:
    names = ", ".join(repr(folder.name) for folder in folders[:MAX_NAMED_FOLDERS])
    return names + (", ..." if len(folders) > MAX_NAMED_FOLDERS else "")
