"""A repair for overlapping boxes, tried and not built in, and its price:  python -m tests.attacks.overlap_repair TABLE ...

The groups of every component whose counted tables exceed the promise are put into one, again and again until none does.  Prints for
`mosaic` (quick) at l = 2 and l = 3, one seed and 4,000 rows, how many people stood above the promise, and AIL before and after.
Tables are those of `studies.what_else.attacks`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

import reticent as rt
from reticent.attacks.group_membership import find_linked_points, find_membership
from reticent.attacks.overlap import attack_by_overlap
from reticent.recipe.group_labels import merge_equal_labels


def repaired(made: Any) -> tuple[Any, int]:
    """The plan with the groups of each component that exceeds the promise put into one, and how many rounds that took.

    Promises of l-diversity that hold of parts hold of their union.  A union's label may cover people of other groups, so that
    everything is looked at again.
    """
    for rounds in range(100):
        seen = made.to_attack_target()
        who = find_membership(seen)
        if who.known:
            return made, rounds
        beliefs = attack_by_overlap(seen).tables
        beyond = [point for point, row in beliefs.items() if float(max(row)) > float(seen.promised or 1)]
        if not beyond:
            return made, rounds
        component = find_linked_points(who.point, who.group, who.points)
        first = np.arange(who.groups + 1)
        inside = np.isin(component[who.point], component[beyond])
        least = np.full(who.points, who.groups + 1)
        np.minimum.at(least, component[who.point[inside]], who.group[inside])
        first[who.group[inside]] = least[component[who.point[inside]]]
        number = np.unique(first[: who.groups], return_inverse=True)[1].reshape(-1)
        made = replace(made, recipe=merge_equal_labels(made.recipe.renumber(number))[0])
    raise RuntimeError("the repair does not end")


def main(names: list[str]) -> None:
    from studies.what_else.attacks import table

    for name in names:
        frame, columns = table(name)
        cells = rt.count(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame.select(list(columns)))
        for number in (2, 3):
            job = rt.Job(
                columns=columns, promises=[rt.ProbabilisticLDiversity(number)], method=rt.Mosaic(effort="quick")
            )
            made = rt.plan(job, cells=cells, seed=1)
            above = attack_by_overlap(made.to_attack_target()).details["tables_exceeds"]
            mended, rounds = repaired(made)
            more = mended.loss / made.loss - 1
            sys.stdout.write(f"{name}, l = {number}: {above} {made.loss:.5f} {mended.loss:.5f} {more:.1%} {rounds}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
