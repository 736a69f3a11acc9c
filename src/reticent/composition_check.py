"""Checks, before a release is committed, what it and earlier releases of the same people reveal together.

`publish --again` and `save(again=True)` join the staged release with every earlier one that the ledger knows and that
still is where it was put (`attacks.composition`).  The result is among the owner's notices.  If a job sets `together`
in its [release], publication is refused if any posterior may exceed that limit, or if an earlier release cannot be
joined: then nothing would show that the limit holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from reticent.attacks.composition.alignment import align_releases
from reticent.attacks.composition.attack import CompositionOutcome, attack_aligned_releases
from reticent.errors import PromiseUnreachable, ReticentError, pluralize
from reticent.ledger.fingerprint import CountedRows
from reticent.ledger.ledger import Ledger, RepeatedRelease
from reticent.ledger.paths import compute_release_digest
from reticent.progress import ProgressCallback, ProgressEvent
from reticent.release.release import Release


def check_composition(
    joining: CompositionCheck, staged: Path, ledger: Any, progress: ProgressCallback
) -> tuple[str, ...]:
    """Return what this release and earlier ones of the same people reveal together, as notices for the owner; or refuse."""
    progress(ProgressEvent("joining with earlier releases", 0.95))
    return tuple(joining(staged, Ledger.open(ledger)))


@dataclass(frozen=True, eq=False)
class CompositionCheck:
    """What a staged release is joined over: the source (or the frame) and its rows; `limit` is the greatest belief allowed.

    `elsewhere`: the rows are on other machines.  Joining reads them, and is left to a machine that holds them.
    """

    source: Any
    missing: tuple[str, ...]
    rows: CountedRows
    limit: Fraction | None
    elsewhere: bool = False

    def __call__(self, staged: Path, ledger: Ledger) -> list[str]:
        """Return sentences for the owner; none if the ledger knows no earlier release of these people."""
        earlier = {repeat.entry["digest"]: repeat for repeat in ledger.find_repeats(self.rows)}
        if not earlier:
            return []
        there = []
        said = []
        latest = {(entry["folder"], entry["release"]): entry["digest"] for entry in ledger.read_entries()}
        for repeat in earlier.values():
            place = repeat.entry["folder"], repeat.entry["release"]
            folder = Path(*place)
            if latest[place] != repeat.entry["digest"]:
                day = repeat.entry["at"][:10]
                said.append(
                    self._report_unknown_composition(
                        repeat, f"a later one replaced it, and only who was given that of {day} has it"
                    )
                )
                continue
            if compute_release_digest(folder) != repeat.entry["digest"]:
                said.append(
                    self._report_unknown_composition(
                        repeat, "it is not where it was put, or was changed", "putting it back, or "
                    )
                )
                continue
            why = self._explain_misfit(Release(folder))
            there += [folder] if why is None else []
            said += [] if why is None else [self._report_unknown_composition(repeat, why)]
        if there:
            said.append(self._check_joint_belief(staged, there))
        return said

    def _explain_misfit(self, release: Release) -> str | None:
        """Explain why an earlier release cannot be joined; None if it can."""
        if self.elsewhere:
            return "rows are on a cluster, and `reticent attack --with` joins releases on one machine"
        try:
            align_releases([release], self.source, self.missing)
        except ReticentError as error:
            return error.what[:1].lower() + error.what[1:].rstrip(".")
        return None

    def _report_unknown_composition(self, repeat: RepeatedRelease, why: str, remedy: str = "") -> str:
        name = repeat.entry["release"]
        if self.limit is not None:
            raise PromiseUnreachable(
                f"Nothing shows what this release and {name!r} say together: {why}.",
                why=f"The job allows a belief of at most {self.limit} from both ([release] together), and {name!r} may be out.",
                attempt=f"{remedy}leaving `together` out of [release], or publishing nothing new of these people.",
            )
        return f"The earlier release {name!r} was not joined with this one: {why}."

    def _check_joint_belief(self, staged: Path, there: Sequence[Path]) -> str:
        try:
            together = align_releases([Release(one) for one in (staged, *there)], self.source, self.missing)
            found = attack_aligned_releases(together)
        except ReticentError as error:
            if self.limit is not None:
                raise
            return f"The releases were not joined: {error.what}"
        if self.limit is not None and (above := found.count_people_above(self.limit)):
            raise PromiseUnreachable(
                f"With {_list_folder_names(there)}, something is believed of {above:,} of {found.targets:,} people above {self.limit}; "
                "nothing was kept.",
                why=f"The worst belief is {found.worst_posterior:.3f} from all releases together and "
                f"{found.details['worst_alone']:.3f} from one alone.",
                attempt="publishing nothing new of these people, fewer quasi-identifiers, a stricter promise, or a greater `together`.",
            )
        return describe_composition(found, there)


def describe_composition(found: CompositionOutcome, there: Sequence[Path]) -> str:
    """Describe, in counts, what releases reveal together."""
    beside = found.details
    above = "" if beside["exceeds"] is None else f" {beside['exceeds']:,} stand above what one of them promises."
    if beside["departed"]:
        above += (
            f" {pluralize(beside['departed'], 'row', 'of theirs is', 'of theirs are')} of nobody in this table any more; "
            f"of {found.unbounded:,} people, who may be those who changed since, anything may be believed."
        )
    return (
        f"Joined with {_list_folder_names(there)}: {beside['half']:.1%} of {found.targets:,} people have a value that is believed at .5 or "
        f"more ({beside['half_alone']:.1%} from one release alone); the worst belief is {found.worst_posterior:.3f} "
        f"({beside['worst_alone']:.3f} alone).{above} Counted exactly for {beside['exact']:,} people, balanced for the others."
    )


def _list_folder_names(there: Sequence[Path]) -> str:
    return ", ".join(repr(folder.name) for folder in there[:4]) + (", ..." if len(there) > 4 else "")
