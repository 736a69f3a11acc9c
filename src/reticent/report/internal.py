"""Facts of the internal edition of the report: from the release and its source together, for the owner alone.

Its sections are: every attack that applies, what it reached, and whether a promise of the release covers that adversary
(`build_attack_section`); groups as an adversary sees them, the worst of them, and how the sensitive values spread over
all (`build_group_sections`); what the release lost of its source, column by column (`build_loss_section`); how far
answers to counting questions are off (`build_utility_section`); risk before and after, the job, the environment and
earlier releases.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from reticent import catalogue
from reticent.attacks.excess import (
    ATTACKS_DRAWN,
    WHO_GUESSES,
    WHO_KNOWS_MORE,
    describe_excess,
    find_control,
    find_guessing,
    measure_excess,
)
from reticent.attacks.series import run_attacks
from reticent.attacks.target import count_source_cells
from reticent.audit.audit import audit
from reticent.audit.risk import compute_risk_before
from reticent.data.cells import Cells
from reticent.data.columns import Role
from reticent.drawing.plots import format_share
from reticent.errors import RequestError
from reticent.labels.adversary_view import Boxes
from reticent.ledger.ledger import Ledger
from reticent.ledger.notes import describe_lost_promises, summarize_lost_promises
from reticent.ledger.paths import list_notes_folders
from reticent.ledger.source_options import JOB_FILE, resolve_source
from reticent.progress import ProgressEvent, scale_progress
from reticent.release.kind import reader_for
from reticent.release.release import Release
from reticent.report.blocks import (
    Block,
    convert_to_plain,
    format_value,
    make_code,
    make_figure,
    make_list,
    make_section,
    make_table,
    make_text,
)
from reticent.report.distributions import build_distribution_section
from reticent.report.pictures import build_picture_sections, measure_group_sizes, weigh_rows
from reticent.report.public import (
    build_about_sections,
    build_method_section,
    build_recount_section,
    build_verdict,
    fold_section,
    format_odds,
    make_key_figure,
)
from reticent.utility.query_error import measure_average_ranges
from reticent.utility.workload import (
    Workload,
    group_errors_by_selectivity,
    make_answerer,
    mean_relative_error,
    median_relative_error,
)

ATTACK_TABLE_HEAD = (
    "attack",
    "adversary",
    "targets",
    "success",
    "baseline",
    "control",
    "highest belief",
    "promised",
    "a promise speaks of it",
)
SHARING_BINS = (
    ("alone", 1, 1),
    ("with 1 other", 2, 2),
    ("with 2 to 4 others", 3, 5),
    ("with 5 to 8 others", 6, 9),
    ("with 9 to 48 others", 10, 49),
    ("with 49 or more", 50, np.iinfo(np.int64).max),
)
"""How many others share somebody's description: a name, and the least and greatest size of the group."""
MAX_WORST_GROUPS = 10
MAX_VALUES_LISTED = 15
SHARE_STEPS = 10
"""The most groups and values that are listed, and the number of steps of shares."""
QUERY_COUNT = 1_000
QUERY_SEED = 1
QUERY_SHAPES = ((1, 0.1), (2, 0.1), (3, 0.1), (2, 0.05), (2, 0.2))
"""Columns in a question, and the share of the rows that it would select if rows were spread evenly."""
PACKAGES = ("reticent", "numpy", "polars", "pyarrow", "randomgen", "altair", "vl-convert-python")
MAX_JOB_LETTERS = 20_000  # letters of a job


def build_attack_section(
    release: Release, data: Any, missing: tuple[str, ...], progress: Callable[[str], None], budget: float | None = None
) -> dict[str, Any]:
    """Build the section on attacks, each beside its control, within `budget` CPU seconds, the cheap ones first."""
    series = run_attacks(
        release,
        data,
        catalogue.ATTACKS,
        missing=missing,
        options_of=lambda name: collect_assumed_beliefs(release, name),
        budget=budget,
        progress=progress,
    )
    promised = [promise.name for promise in release.manifest.promises]
    rows: list[tuple[Any, ...]] = []
    tried: list[dict[str, Any]] = []
    persons: int | None = None
    for outcome in series.outcomes:
        outcome_fields = outcome.to_dict()
        persons = persons or outcome_fields.get("persons")
        row = catalogue.ATTACKS[outcome_fields["attack"]]
        covering_promises = ", ".join(row.select_promises(promised)) or "no"
        tried.append({**outcome_fields, "promises": covering_promises})
        rows.append(
            (
                outcome_fields["attack"],
                row.adversary,
                outcome_fields["targets"],
                outcome_fields["success"],
                outcome_fields["baseline"],
                outcome_fields["control"],
                outcome_fields["worst_posterior"],
                outcome_fields["promised"],
                covering_promises,
            )
        )
    skipped = series.skipped
    return make_section(
        "attacks",
        "Attacks",
        make_text(
            "Success is the share of right guesses; the baseline is always guessing the most frequent value, the control what the "
            "same adversary reaches where groups say nothing. No release is called safe here: the table says which adversaries were "
            "tried and what they reached."
        ),
        _make_attack_figure([fields for fields in tried if catalogue.ATTACKS[fields["attack"]].guesses], WHO_GUESSES),
        _make_attack_figure(
            [fields for fields in tried if not catalogue.ATTACKS[fields["attack"]].guesses], WHO_KNOWS_MORE
        ),
        make_text(_describe_row_targets(release, persons)) if release.manifest.rows_per_person > 1 else None,
        make_table("Adversaries that were tried", ATTACK_TABLE_HEAD, rows)
        if rows
        else make_text("No attack applies to this release."),
        make_text("Not tried:") if skipped else None,
        make_list(f"{', '.join(names)}: {why}" for why, names in skipped.items()) if skipped else None,
    )


def _make_attack_figure(outcomes: Sequence[Mapping[str, Any]], who: tuple[str, str]) -> Block | None:
    """Draw what each adversary reaches beside its control; None where none has a success.

    `who` says what these adversaries have in common.
    """
    reached = [outcome for outcome in outcomes if outcome["success"] is not None]
    if not reached:
        return None
    reached.sort(key=measure_excess, reverse=True)
    names = ("success", "low", "high", "control", "baseline")
    drawn = [
        {
            "attack": outcome["attack"],
            "adversary": f"Who {catalogue.ATTACKS[outcome['attack']].adversary}",
            "says": _describe_attack(outcome),
            **{name: convert_to_plain(outcome[name]) for name in names},
        }
        for outcome in reached
    ]
    return make_figure(
        describe_excess(reached, who),
        ATTACKS_DRAWN,
        {"type": "attacks", "rows": drawn},
        make_table(
            f"What adversaries reach {who[1]}",
            ("attack", "right guesses", "95 % from", "to", "control", "guessing"),
            [(outcome["attack"], *(outcome[name] for name in names)) for outcome in reached],
        ),
        "A promise is not broken by an attack that it does not speak of; readers may still expect that one was thought of.",
    )


def _describe_attack(outcome: Mapping[str, Any]) -> str:
    """Describe in a few sentences what promise speaks of an attack, what it means, what was reached, and what lowers it."""
    name = outcome["attack"]
    entry = catalogue.ATTACKS[name]
    belief = outcome["worst_posterior"]
    believed = "" if belief is None else f" The surest belief is {format_share(float(belief))}."
    promises = outcome["promises"]
    spoken = "No promise of this release speaks of it." if promises == "no" else f"{promises} speaks of it."
    lowered = f" Lowers it: {entry.lowers}." if entry.lowers else ""
    meaning = f" {entry.meaning}" if entry.meaning else ""
    return f"{name}: {spoken}{meaning}{believed}{lowered}"


def collect_assumed_beliefs(release: Release, name: str) -> dict[str, Any]:
    """Collect the prior beliefs that the promises assume of an adversary, where the attack takes them."""
    words = {"lambda": "lambda_", "rho1": "rho1"} if name == "corruption" else {}
    stated = [promise.parameters for promise in release.manifest.promises]
    return {word: parameters[key] for key, word in words.items() for parameters in stated if key in parameters}


def build_group_sections(view: Any, cells: Any) -> Iterator[dict[str, Any]]:
    if isinstance(view, str):
        yield make_section("groups", "Worst groups", make_text(view))
        return
    counts = view.counts[view.counts.sum(axis=1) > 0]
    occupied = np.flatnonzero(view.counts.sum(axis=1) > 0)
    sizes = counts.sum(axis=1)
    shares = counts / sizes[:, None]
    yield _build_worst_groups(view, cells, occupied, sizes, shares)
    yield _build_value_spread(cells, counts, sizes, shares)


def build_loss_section(release: Release, report: Mapping[str, Any], cells: Cells | str) -> dict[str, Any]:
    """Build the section on information loss; `cells` is a text (the reason) where the source was not counted."""
    lost = report["utility"].get("ail_by_column") or {}
    frame = release.frame()
    sizes = {} if isinstance(cells, str) else {domain.name: domain.size for domain in cells.quasi}
    names = [column.name for column in release.manifest.find_columns_with_role(Role.QUASI)]
    distinct = [
        (
            name,
            sizes.get(name),
            frame[name].n_unique() if name in frame.columns else None,
            convert_to_plain(lost.get(name)),
        )
        for name in names
    ]
    by_column = [(name, convert_to_plain(value)) for name, value in lost.items()]
    return make_section(
        "loss",
        "Loss by column",
        make_text(
            "The loss of a column is the mean share of its domain that a label covers beyond one value: 0 is exact, 1 says nothing."
        ),
        make_table("Information loss", ("column", "loss"), by_column, bars=(0, 1))
        if by_column
        else make_text("The quasi-identifiers are published as they are: no column lost anything."),
        make_table("Distinct values and labels", ("column", "in the source", "in the release", "loss"), distinct),
    )


def build_utility_section(release: Release, cells: Cells | str) -> dict[str, Any]:
    """Build the section on errors of random COUNT questions, as the papers ask them.

    The baseline knows no group at all.
    """
    if isinstance(cells, str):
        return make_section("utility", "Utility", make_text(cells))
    if not cells.quasi:
        return make_section(
            "utility", "Utility", make_text("Random questions are about quasi-identifiers; there are none.")
        )
    try:
        ask = make_answerer(release.tables, release.manifest, cells)
    except RequestError as error:
        return make_section("utility", "Utility", make_text(f"Random questions were not asked. {error.what}"))
    rng = np.random.default_rng(QUERY_SEED)
    rows = []
    answers = []
    for predicates, selectivity in QUERY_SHAPES:
        if predicates > len(cells.quasi):
            continue
        workload = Workload.draw(cells, predicates=predicates, selectivity=selectivity, queries=QUERY_COUNT, rng=rng)
        selected = workload.histograms(cells)
        truth = workload.exact(cells, selected)
        estimate = ask(workload)
        baseline = workload.baseline(cells, selected)
        rows.append(
            (
                predicates,
                selectivity,
                _replace_nan(median_relative_error(estimate, truth)),
                _replace_nan(mean_relative_error(estimate, truth)),
                _replace_nan(median_relative_error(baseline, truth)),
            )
        )
        answers.append((estimate, truth))
    head = ("columns asked about", "selectivity", "median error", "mean error", "median error without groups")
    return make_section(
        "utility",
        "Utility",
        make_text(
            f"{QUERY_COUNT:,} random questions of each form, SELECT COUNT(*) with ranges over some columns and the sensitive one; the error is "
            "|estimate - truth| / truth. Estimates are those that a recipient makes of this kind. Without groups: exact quasi-identifiers "
            "beside the overall distribution of the sensitive column."
        ),
        make_table("Relative error of counts", head, rows),
        _build_selectivity_table(answers, cells.rows),
        _build_range_table(release, cells),
    )


def build_internal_facts(
    release: Release,
    source: Any,
    missing: tuple[str, ...],
    progress: Callable[[str], None],
    budget: float | None = None,
) -> dict[str, Any]:
    """Build all facts of the internal edition; attacks take about `budget` CPU seconds at most."""
    resolved_source, frame = resolve_source(release, source, missing=missing)
    data = resolved_source if frame is None else frame
    progress(ProgressEvent("auditing against the source", 0))
    report = audit(release, source=data, missing=missing).to_dict()
    progress(ProgressEvent("measuring risks", 0.15))
    before = compute_risk_before(release, data, missing=resolved_source.missing).to_dict()
    progress(ProgressEvent("counting the source", 0.25))
    cells = _count_source(release, data, resolved_source.missing)
    view = cells if isinstance(cells, str) else _view_release(release, cells)
    attacks = build_attack_section(release, data, resolved_source.missing, scale_progress(progress, 0.3, 0.8), budget)
    pictures = build_picture_sections(release, report)
    return {
        "edition": "internal",
        "title": f"{_name_release(release)}: for its owner",
        "digest": release.digest,
        "warning": "Never to be handed out: this page tells what the release keeps back.",
        "verdict": build_verdict(report),
        "figures": _build_key_figures(release, report, before, attacks),
        "lead": [
            *_describe_lost_promises(release),
            report["left"]["says"],
            *report.get("source", {}).get("sentences", ()),
        ],
        "sections": [
            *build_about_sections(release),
            _build_risk_section(before, report.get("risk"), _make_alone_figure(release, cells)),
            attacks,
            *pictures,
            *build_group_sections(view, cells),
            build_loss_section(release, report, cells),
            build_utility_section(release, cells),
            _build_earlier_section(release),
            fold_section(build_recount_section(report)),
            fold_section(build_distribution_section(release)),
            fold_section(build_method_section(release)),
            fold_section(_build_job_section(release)),
            fold_section(_build_environment_section()),
        ],
    }


def _build_key_figures(
    release: Release, report: Mapping[str, Any], before: Mapping[str, Any], attacks: Mapping[str, Any]
) -> list[dict[str, str]]:
    """Build the figures of the first screen: who stood alone, the highest risk, the best guess, and earlier releases."""
    after = report.get("risk")
    figures = []
    if after is not None:
        alone = f"{before['sample_uniques']:,} \u2192 {after['sample_uniques']:,}"
        figures.append(
            make_key_figure(
                "Alone with their description",
                alone,
                "",
                "Rows that no other is like in every describing column: in the source, and in the release.",
            )
        )
        was = " ".join(format_odds(before["prosecutor"]["highest"]))
        figures.append(
            make_key_figure(
                "Highest risk to be found", *format_odds(after["prosecutor"]["highest"]), f"It was {was} in the source."
            )
        )
    guesses = [
        row
        for part in attacks["parts"]
        for row in part.get("figure", {}).get("plot", {}).get("rows", ())
        if row["baseline"] is not None and catalogue.ATTACKS[row["attack"]].guesses
    ]
    if guesses:
        best = max(guesses, key=measure_excess)
        chance = max(find_control(best) or 0.0, find_guessing(best) or 0.0)
        figures.append(
            make_key_figure(
                "Best guess",
                format_share(best["success"]),
                "right",
                f"{format_share(chance)} by chance, without what this release tells.",
            )
        )
    noted = Ledger.open().find_joined_entries(Path(release.folder))
    earlier = max(len(noted) - 1, 0)
    means = (
        "The ledger knows no earlier release of these people." if not earlier else "What they tell together is below."
    )
    figures.append(make_key_figure("Other releases", f"{earlier:,}" if earlier else "none", "", means))
    return figures


def _make_alone_figure(release: Release, cells: Cells | str) -> Block | None:
    """Draw how many people share a description with how many others, before and after; None where rows are not people."""
    if isinstance(cells, str) or not cells.quasi or release.manifest.rows_per_person > 1:
        return None
    if not reader_for(release.manifest.kind).labelled:
        return None
    sizes_after = measure_group_sizes(release, weigh_rows(release, release.frame(bounds=True)))
    if sizes_after is None:
        return None
    sizes_before = np.bincount(cells.point, weights=cells.counts).astype(np.int64)
    rows = [
        (
            label,
            int(sizes_before[(sizes_before >= low) & (sizes_before <= high)].sum()),
            int(sizes_after[(sizes_after >= low) & (sizes_after <= high)].sum()),
        )
        for label, low, high in SHARING_BINS
    ]
    _, alone_before, alone_after = rows[0]
    was = "was" if alone_before == 1 else "were"
    title = f"{alone_before:,} of {cells.rows:,} people {was} alone; now {_count_alone(alone_after)}"
    if not alone_before:
        title = f"Nobody was alone; now {_count_alone(alone_after) if alone_after else 'nobody is, either'}"
    head = ("shares the description", "people", "before", "after")
    return make_figure(
        title,
        "People by how many others share their description. Hollow: in the source. Filled: in the release.",
        {"type": "pairs", "head": list(head), "rows": [list(row) for row in rows]},
        make_table("People who share a description", (head[0], "before", "after"), rows),
        "The risk to be found is one over the number of people with the same description. People are counted, not groups.",
    )


def _count_alone(people: int) -> str:
    if not people:
        return "nobody is"
    return "1 is" if people == 1 else f"{people:,} are"


def _name_release(release: Release) -> str:
    """Return the title of a release, or what it is."""
    stated = f"{release.manifest.kind.capitalize()} release of {release.manifest.rows:,} rows"
    return str(release.about.get("title", stated))


def _describe_row_targets(release: Release, persons: int | None) -> str:
    people = "how many people that are is not known" if persons is None else f"they are those of {persons:,} people"
    return f"Targets are rows, and a person may have {release.manifest.rows_per_person:,} of them: {people}."


def _build_worst_groups(
    view: Any, cells: Cells, occupied: np.ndarray, sizes: np.ndarray, shares: np.ndarray
) -> dict[str, Any]:
    """Build the table of the groups that reveal the most of one value; of equal ones, the smaller first."""
    names = _list_value_names(cells)
    overall = (shares * sizes[:, None]).sum(axis=0) / sizes.sum()
    order = np.lexsort((occupied, sizes, -shares.max(axis=1)))[:MAX_WORST_GROUPS]
    rows = []
    for position in order:
        value = int(shares[position].argmax())
        rows.append(
            (
                _label_group(view, cells, int(occupied[position])),
                int(sizes[position]),
                names[value],
                float(shares[position, value]),
                float(overall[value]),
            )
        )
    size, groups = np.unique(sizes, return_counts=True)
    smallest = [
        (int(group_size), int(group_count))
        for group_size, group_count in zip(size[:SHARE_STEPS], groups[:SHARE_STEPS], strict=True)
    ]
    return make_section(
        "groups",
        "Worst groups",
        make_text(
            f"{len(sizes):,} groups; the smallest has {int(sizes.min()):,} rows, the largest {int(sizes.max()):,}."
        ),
        make_table(
            "Groups that say the most of one value",
            ("group", "rows", "most frequent value", "its share", "its share overall"),
            rows,
        ),
        make_table("The smallest groups", ("rows in the group", "groups"), smallest),
    )


def _build_value_spread(cells: Cells, counts: np.ndarray, sizes: np.ndarray, shares: np.ndarray) -> dict[str, Any]:
    """Build the tables of how the share of each value varies over the groups, and how many rows are in groups that
    reveal much.
    """
    top = np.minimum((shares.max(axis=1) * SHARE_STEPS).astype(np.int64), SHARE_STEPS - 1)
    rows = np.bincount(top, weights=sizes, minlength=SHARE_STEPS).astype(np.int64)
    steps = [
        (f"{number * 100 // SHARE_STEPS} % to under {(number + 1) * 100 // SHARE_STEPS} %", int(rows[number]))
        for number in range(SHARE_STEPS)
    ]
    steps[-1] = (f"{(SHARE_STEPS - 1) * 100 // SHARE_STEPS} % to 100 %", steps[-1][1])
    total = counts.sum(axis=0)
    names = _list_value_names(cells)
    listed = np.lexsort((np.arange(len(total)), -total))[:MAX_VALUES_LISTED]
    values = [
        (
            names[number],
            int(total[number]),
            float(total[number] / sizes.sum()),
            float(shares[:, number].min()),
            float(np.median(shares[:, number])),
            float(shares[:, number].max()),
        )
        for number in listed
        if total[number]
    ]
    name = cells.sensitive[0].name
    return make_section(
        "sensitive",
        "The sensitive values by group",
        make_table(
            f"{name}: rows by the share of the most frequent value in their group",
            ("share", "rows"),
            steps,
            bars=(0, 1),
        ),
        make_table(
            f"{name}: the share of each value in the groups",
            ("value", "rows", "overall", "least", "median", "most"),
            values,
        ),
    )


def _replace_nan(value: float) -> float | None:
    return None if np.isnan(value) else value


def _build_selectivity_table(answers: Sequence[tuple[np.ndarray, np.ndarray]], rows: int) -> Block:
    """Build the table of errors by selectivity, from pairs of estimates and truths: questions that few rows answer are
    answered worst.
    """
    estimate, truth = (np.concatenate(side) for side in zip(*answers, strict=True))
    lines = [
        (
            f"{line['above']:g} to {line['until']:g}",
            line["queries"],
            _replace_nan(line["median"]),
            _replace_nan(line["mean"]),
        )
        for line in group_errors_by_selectivity(estimate, truth, rows)
    ]
    return make_table(
        "The same by the share of rows selected", ("share", "questions", "median error", "mean error"), lines
    )


def _build_range_table(release: Release, cells: Cells) -> Block | None:
    """Build the table of how wide the guaranteed range of an average is; None where the kind gives none."""
    widths = measure_average_ranges(release.tables, release.manifest, cells, QUERY_SEED)
    if widths is None:
        return None
    head = ("column", "questions", "median width", "mean width")
    line = (widths["column"], widths["queries"], widths["median"], widths["mean"])
    return make_table("Guaranteed ranges of averages, as shares of the column's span", head, [line])


def _count_source(release: Release, data: Any, missing: tuple[str, ...]) -> Cells | str:
    """Count the source's cells; return the reason, as a text, where the release has no sensitive column or several."""
    sensitive = len(release.manifest.find_columns_with_role("sensitive"))
    if sensitive != 1:
        return f"This is told of releases with one sensitive column; this one has {sensitive or 'none'}."
    return count_source_cells(release.columns, data, missing)


def _view_release(release: Release, cells: Any) -> Any:
    """Return what an adversary sees; the reason, as a text, where the kind shows no groups."""
    try:
        return release.sight(cells)
    except RequestError as error:
        return error.what


def _describe_lost_promises(release: Release) -> list[str]:
    """Describe, as one line, the promises that no longer hold where earlier releases of the same people are out."""
    lost = summarize_lost_promises(Ledger.open().find_joined_entries(Path(release.folder)))
    return [] if lost is None else [f"What is found below is of this release alone; {lost}."]


def _build_risk_section(
    before: Mapping[str, Any], after: Mapping[str, Any] | None, figure: Block | None
) -> dict[str, Any]:
    several = before.get("rows_per_person", 1) > 1 or (after or {}).get("rows_per_person", 1) > 1
    columns = zip(_list_measures(before), _list_measures(after), strict=True)
    names = (
        "rows",
        "people",
        "combinations of quasi-identifiers",
        "highest risk of a row",
        "average risk",
        f"rows with a risk above {format_value(before['threshold'])}",
        "people with such a row",
        "combinations of one person alone" if several else "rows that are alone",
    )
    rows = [
        (name, convert_to_plain(source), convert_to_plain(release))
        for name, (source, release) in zip(names, columns, strict=True)
    ]
    distinguishing = [
        (" and ".join(columns_entry["columns"]), columns_entry["distinction"], columns_entry["separation"])
        for columns_entry in before["columns"][:10]
    ]
    return make_section(
        "risks",
        "Risks before and after",
        figure,
        make_text(_describe_counting(before, after)),
        make_table(
            "Re-identification",
            ("measure", "source", "release"),
            [row for row in rows if several or not row[0].startswith("people")],
        ),
        make_table(
            "Which columns of the source tell people apart", ("columns", "distinction", "separation"), distinguishing
        ),
    )


def _build_job_section(release: Release) -> dict[str, Any]:
    """Build the section with the job as the owner's folder keeps it."""
    words = release.job_text
    for notes in list_notes_folders(Path(release.folder).resolve()):
        if words is None and (notes / JOB_FILE).is_file():
            words = (notes / JOB_FILE).read_text(encoding="utf-8")
    if words is None:
        return make_section("job", "The job", make_text("The owner's folder beside the release keeps no job of it."))
    remainder = make_text(
        f"{len(words) - MAX_JOB_LETTERS:,} more characters stand in {JOB_FILE} of the owner's folder."
    )
    return make_section(
        "job",
        "The job",
        make_code(words[:MAX_JOB_LETTERS].rstrip().split("\n"), "toml"),
        remainder if len(words) > MAX_JOB_LETTERS else None,
    )


def _build_environment_section() -> dict[str, Any]:
    rows: list[tuple[str, str]] = [("python", platform.python_version()), ("system", platform.platform())]
    rows.append(("processors", str(os.cpu_count())))
    for name in PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    return make_section("environment", "Environment", make_table("Where this page was made", ("what", "version"), rows))


def _build_earlier_section(release: Release) -> dict[str, Any]:
    """Build the section on what earlier releases of the same people change, as the ledger notes them."""
    noted = Ledger.open().find_joined_entries(Path(release.folder))
    parts: list[Block] = [
        make_text(
            "The ledger knows no other release of these people."
            if noted
            else "The ledger does not know this release: it was published with another, or elsewhere."
        )
    ]
    if lost := describe_lost_promises(noted):
        rows = [(entry["release"], entry["at"], entry["rows"], entry["digest"]) for entry in noted]
        parts = [
            make_list(lost),
            make_table("Releases of these people", ("release", "published", "rows", "digest"), rows),
        ]
    return make_section("earlier", "Earlier releases of the same people", *parts)


def _list_value_names(cells: Cells) -> list[str]:
    domain = cells.sensitive[0]
    return [*domain.texts, *(["(missing)"] if domain.null else [])]


def _label_group(view: Any, cells: Cells, group: int) -> str:
    """Name a group by its labels where it has some, else by its number."""
    if not isinstance(view, Boxes):
        return f"group {group:,}"
    ends = [
        (view.first[axis, group : group + 1], view.last[axis, group : group + 1]) for axis in range(len(cells.quasi))
    ]
    spans = [domain.labels(low, high)[0] for domain, (low, high) in zip(cells.quasi, ends, strict=True)]
    return ", ".join(
        f"{domain.name} {'missing' if span is None else span}" for domain, span in zip(cells.quasi, spans, strict=True)
    )


def _list_measures(risk: Mapping[str, Any] | None) -> list[Any]:
    """List the measures of a table, in the order of the rows that name them; no people where they were not counted."""
    if risk is None:
        return [None] * 8
    prosecutor = risk["prosecutor"]
    people = risk.get("people", {})
    return [
        risk["rows"],
        people.get("count"),
        risk["groups"],
        prosecutor["highest"],
        prosecutor["average"],
        prosecutor["at_risk"],
        people.get("at_risk"),
        risk["sample_uniques"],
    ]


def _describe_counting(before: Mapping[str, Any], after: Mapping[str, Any] | None) -> str:
    rows_per_person = (after or before).get("rows_per_person", 1)
    if rows_per_person == 1 and "people" not in before:
        return "The risk of a row is one divided by how many rows read the same in every quasi-identifier."
    counted = "" if "people" in before else " So it is in the source, where no column says whose a row is."
    return (
        "The risk of a row is one divided by how many people have rows that read the same in every quasi-identifier. The release "
        f"does not say whose a row is: its rows are taken to be those of as few people as can be, {rows_per_person:,} of each.{counted}"
    )
