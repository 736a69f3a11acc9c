"""Before and after: how people lie in the columns of a source, and how they would lie in its release.

`python -m reticent.studio.plan_preview JOB` plans a job on rows drawn at random and prints what its screen draws, as one
JSON object: each column in steps, pairs of columns, and groups with what they say.  It writes nothing.  The output has
values of the source, as the owner's own screens may.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from reticent.data.domain import Domain
from reticent.labels.adversary_view import find_covers
from reticent.labels.cover import LabelCover
from reticent.planning import Plan
from reticent.report.distributions import choose_round_step

PREVIEW_ROWS = 10_000  # at most, drawn at random
PREVIEW_SEED = 1  # of a plan that is never published
MAX_COLUMNS = 12
MAX_STEPS = 40  # of a column on a line
MAX_VALUES = 15  # of a category; the others together
PAIR_STEPS = 8
MAX_GROUPS = 60
MAX_VALUES_LISTED = 12
OTHERS = "all others"
MISSING = "(missing)"


@dataclass(frozen=True, slots=True)
class ColumnSteps:
    """The steps of a column that are drawn, and the step of each code."""

    names: tuple[str, ...]
    of_code: np.ndarray

    def add_up(self, people: np.ndarray) -> np.ndarray:
        """Add up the people of codes by steps."""
        return np.bincount(self.of_code, weights=people, minlength=len(self.names))


def describe_plan(planned: Plan, of: int) -> dict[str, Any]:
    """Describe a plan for its screen; `of` is how many rows the source has.

    Raises:
        RequestError: the method publishes no groups with labels.
    """
    planned.require_labels()
    cells = planned.cells
    covers = find_covers(planned.entries, cells, planned.labels.texts)
    names = [domain.name for domain in cells.quasi][:MAX_COLUMNS]
    columns = []
    coarse = []
    for axis in range(len(names)):
        fine_steps = divide_column(cells.quasi[axis], _count_codes(planned, axis), MAX_STEPS, MAX_VALUES)
        before, after = _spread_people(planned, covers, [(axis, fine_steps)])
        columns.append(
            {
                "name": names[axis],
                "on_line": _has_positions(cells.quasi[axis]),
                "steps": list(fine_steps.names),
                "before": before.tolist(),
                "after": after.tolist(),
                "changed": measure_change(before, after),
            }
        )
        coarse.append(divide_column(cells.quasi[axis], _count_codes(planned, axis), PAIR_STEPS, PAIR_STEPS - 1))
    pairs = []
    for first, second in combinations(range(len(names)), 2):
        before, after = _spread_people(planned, covers, [(first, coarse[first]), (second, coarse[second])])
        pairs.append(
            {
                "names": [names[first], names[second]],
                "steps": [list(coarse[first].names), list(coarse[second].names)],
                "before": before.tolist(),
                "after": np.round(after, 3).tolist(),
                "changed": measure_change(before, after),
            }
        )
    return {
        "rows": cells.source_rows,
        "of": of,
        "withheld": planned.withheld,
        "loss": planned.loss,
        "loss_by_column": planned.loss_by_column,
        "columns": columns,
        "pairs": pairs,
        "groups": _list_groups(planned, covers),
        "group_count": len(planned.sizes),
    }


def divide_column(domain: Domain, people: np.ndarray, most_steps: int, most_values: int) -> ColumnSteps:
    """Divide a column into what is drawn: round steps of a line, or its most frequent values and all others."""
    texts = domain.texts
    missing = [MISSING] if domain.null else []
    if _has_positions(domain) and len(texts):
        positions = np.asarray(_get_positions(domain), np.float64)
        if len(texts) <= most_steps:
            names = list(texts)
            step_of_text = np.arange(len(texts))
        else:
            width = choose_round_step(float(positions[0]), float(positions[-1]), most_steps)
            numbers = np.floor(positions / width).astype(np.int64)
            step_of_text = numbers - numbers[0]
            names = _name_steps(domain, int(step_of_text[-1]) + 1, step_of_text, float(numbers[0]) * width, width)
    else:
        order = np.argsort(-people[: len(texts)], kind="stable")
        shown = np.sort(order[: most_values if len(texts) > most_values + 1 else len(texts)])
        step_of_text = np.full(len(texts), len(shown))
        step_of_text[shown] = np.arange(len(shown))
        names = [texts[code] for code in shown] + ([OTHERS] if len(shown) < len(texts) else [])
    of_code = np.append(step_of_text, [len(names)] * len(missing)).astype(np.int64)
    return ColumnSteps((*names, *missing), of_code)


def measure_change(before: np.ndarray, after: np.ndarray) -> float:
    """Measure the share of people who would have to be moved to make one picture of the other."""
    total = max(float(before.sum()), 1.0)
    scale = total / max(float(after.sum()), 1e-9)
    return float(np.abs(before - after * scale).sum() / 2 / total)


def _name_steps(domain: Domain, steps: int, step_of_text: np.ndarray, start: float, width: float) -> list[str]:
    """Name steps by the number at their beginning; of dates by the first date that lies in them."""
    if domain.kind == "numeric":
        return [f"{start + number * width:.6g}" for number in range(steps)]
    names = [""] * steps
    for code in range(len(step_of_text) - 1, -1, -1):
        names[int(step_of_text[code])] = domain.texts[code]
    return names


def _has_positions(domain: Domain) -> bool:
    return _get_positions(domain) is not None


def _get_positions(domain: Domain) -> Any:
    """Return the places of a column's values on a line; None for categories."""
    return getattr(domain, "positions", None)


def _count_codes(planned: Plan, axis: int) -> np.ndarray:
    cells = planned.cells
    return np.bincount(cells.codes[:, axis], weights=cells.counts, minlength=cells.quasi[axis].size)


def _spread_people(
    planned: Plan, covers: Sequence[LabelCover], chosen: Sequence[tuple[int, ColumnSteps]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the people of each step (of one column, or of two) in the source, and in the release.

    A reader of the release knows no more than that a person is somewhere under a label: they are spread evenly over it.
    """
    cells = planned.cells
    shape = tuple(len(steps.names) for _, steps in chosen)
    places = np.ravel_multi_index(tuple(steps.of_code[cells.codes[:, axis]] for axis, steps in chosen), shape)
    before = np.bincount(places, weights=cells.counts, minlength=int(np.prod(shape))).reshape(shape)
    shares = [
        _share_labels(covers[axis], steps)[:, planned.labels.of_group[:, axis]].astype(np.float64)
        for axis, steps in chosen
    ]
    if len(shares) == 1:
        return before, shares[0] @ planned.sizes
    return before, (shares[0] * planned.sizes) @ shares[1].T


def _share_labels(cover: LabelCover, steps: ColumnSteps) -> np.ndarray:
    """Return (steps, labels): the share of each label that lies in each step."""
    codes = len(steps.of_code)
    shares = np.zeros((len(steps.names), len(cover.lower)))
    for start in range(0, codes, 512):
        chunk = np.arange(start, min(start + 512, codes))
        np.add.at(shares, steps.of_code[chunk], cover.table(chunk).astype(np.float64))
    return shares / np.maximum(shares.sum(axis=0), 1)


def _list_groups(planned: Plan, covers: Sequence[LabelCover]) -> list[dict[str, Any]]:
    """List groups from the smallest to the largest, at most MAX_GROUPS of them, with what each says."""
    cells = planned.cells
    sizes = planned.sizes
    order = np.argsort(sizes, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(MAX_GROUPS, len(order))).astype(np.int64))]
    labels = planned.labels
    sensitive = [domain for position, domain in enumerate(cells.sensitive) if position != cells.joint]
    histograms = {domain.name: planned.histogram(domain.name) for domain in sensitive}
    groups = []
    for group in chosen.tolist():
        fits = np.ones(len(cells), bool)
        for axis, cover in enumerate(covers):
            label = int(labels.of_group[group, axis])
            inside = cover.table(np.arange(cells.quasi[axis].size))[:, label]
            fits &= inside[cells.codes[:, axis]]
        groups.append(
            {
                "rows": int(sizes[group]),
                "fits": int(cells.counts[fits].sum()),
                "labels": [
                    [domain.name, labels.texts[axis][int(labels.of_group[group, axis])]]
                    for axis, domain in enumerate(cells.quasi)
                ],
                "values": [[domain.name, _list_values(domain, histograms[domain.name][group])] for domain in sensitive],
            }
        )
    return groups


def _list_values(domain: Domain, counts: np.ndarray) -> list[list[Any]]:
    order = np.argsort(-counts, kind="stable")
    frequent = [code for code in order.tolist() if counts[code] > 0]
    listed = [
        [MISSING if code == domain.null_code else domain.texts[code], int(counts[code])]
        for code in frequent[:MAX_VALUES_LISTED]
    ]
    rest = sum(int(counts[code]) for code in frequent[MAX_VALUES_LISTED:])
    return [*listed, [OTHERS, rest]] if rest else listed


def preview_job(path: str, progress: Any) -> Mapping[str, Any]:
    """Plan a job on some of its rows and describe the plan; where it has no groups with labels, say why.

    Raises:
        ReticentError: the job cannot be planned.
    """
    from reticent.compare.compare import make_setting
    from reticent.errors import RequestError
    from reticent.job.job import Job
    from reticent.planning import plan

    job = Job.read(path)
    setting = make_setting(job, None, PREVIEW_ROWS, 1, (), False, PREVIEW_SEED, progress)
    progress("planning")
    planned = plan(job, frame=setting.to_publishable(setting.frame), seed=PREVIEW_SEED, progress=lambda stage: None)
    progress("counting what is seen of it")
    try:
        planned.require_labels()
    except RequestError as error:
        return {"why": error.what, "rows": len(setting.frame), "of": setting.of}
    return describe_plan(planned, setting.of)


def main(words: Sequence[str]) -> int:
    """Print what a screen draws, or the failure as the command line prints it; return the exit code."""
    from reticent.errors import ReticentError

    def report_stage(stage: Any) -> None:
        sys.stderr.write(json.dumps({"stage": str(stage)}) + "\n")
        sys.stderr.flush()

    try:
        result = preview_job(words[0], report_stage)
    except ReticentError as error:
        json.dump({"error": {"what": error.what, "why": error.why, "try": error.attempt}}, sys.stdout)
        return error.exit_code
    json.dump(result, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
