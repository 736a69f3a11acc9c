"""Output of `check` while it plans: a line for each method as it finishes, and why the plan loses what it loses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reticent.data.hierarchy_proposal import format_source_options
from reticent.errors import pluralize

TABLE_HEAD = ("method", "reachable", "groups", "smallest", "withheld", "expected loss (AIL)")
VERDICT_SENTENCES = {
    True: "The promise is reachable by {method}.",
    False: "The promise IS NOT reachable by {method}.",
    None: "Whether the promise is reachable by {method} is not known: there was no time to plan.",
}
COLUMN_WIDTHS = (26, 9, 9, 9, 9, 19)


def make_plan_printer(progress: Callable[[str], None]) -> Callable[[Any, Any], None]:
    """Make a callback that prints the verdict with the first method, which is the job's own, then a line for each."""
    summaries: list[Any] = []

    def print_summary(summary: Any, cells: Any) -> None:
        if not summaries:
            verdict = VERDICT_SENTENCES[summary.reachable].format(method=summary.method)
            print(f"{cells.rows:,} rows in {len(cells):,} cells. {verdict}", end="\n\n")
            print(
                "  " + _format_line(TABLE_HEAD),
                "  " + "─" * (sum(COLUMN_WIDTHS) + 2 * len(COLUMN_WIDTHS) - 2),
                sep="\n",
            )
        summaries.append(summary)
        print("  " + _format_line(_format_summary(summary)), flush=True)

    return print_summary


def format_explanation(result: Any, source: Any) -> list[str]:
    """Format loss by column, what became of the columns, what binds, and what would help, each with its figure."""
    why = result.explained
    lines = []
    if why.by_column:
        worst = sorted(why.by_column.items(), key=lambda pair: -pair[1])
        lines += ["", "Loss by column: " + ", ".join(f"{name} {loss:.3f}" for name, loss in worst) + "."]
    lines += [line for sentence in why.sentences() for line in ("", sentence)]
    if why.changes:
        base = "" if why.base is None else f", which is {why.base:.4f} as it is"
        lines += ["", f"What another promise would do to the loss by mondrian{base}:"]
        lines += [f"  {_format_loss(change, why.base)}  {change.promise}: {change.what}" for change in why.changes]
        if why.skipped:
            lines += [f"  {why.skipped} more were not tried, for want of time; --budget SECONDS gives more."]
        lines += _format_best_change(why, source)
    elif why.skipped:
        sentence = f"{pluralize(why.skipped, 'other promise', 'was', 'were')} not tried, for want of time"
        lines += ["", f"{sentence}; --budget SECONDS gives more."]
    return lines


def format_withholding(costs: Any) -> list[str]:
    """Format what missing values and people with many rows cost, and the best remedies to be pasted."""
    base = "There is no plan as it is" if costs.base is None else f"The loss is {costs.base:.4f} as it is"
    lines = ["", f"{base}; with rows withheld, each counted as lost:"]
    lines += [f"  {_format_loss(trial, costs.base)}  {trial}" for trial in costs.trials]
    if costs.skipped:
        lines += [f"  {costs.skipped} more were not tried, for want of time; --budget SECONDS gives more."]
    pasted = [line for trial in costs.best for line in trial.paste]
    if pasted:
        lines += ["To paste, instead of these columns:", *(f"  {line}" for line in pasted)]
    return lines


def _format_line(cells: tuple[str, ...]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, COLUMN_WIDTHS, strict=True)).rstrip()


def _format_summary(summary: Any) -> tuple[str, ...]:
    from reticent.cli.output import format_number

    ail = None if summary.ail is None else f"{summary.ail:.4f}"
    figures = (summary.groups, summary.smallest, summary.withheld, ail)
    return (
        summary.method,
        "?" if summary.reachable is None else format_number(summary.reachable),
        *("" if value is None else format_number(value) for value in figures),
    )


def _format_loss(change: Any, own: float | None) -> str:
    if change.ail is None:
        return "no plan"
    return f"{change.ail:.4f}" + (" (no gain)" if own is not None and change.ail >= own - 0.0005 else "")


def _format_best_change(why: Any, source: Any) -> list[str]:
    """Format the change that gains most, to be pasted."""
    gaining = [
        change
        for change in why.changes
        if change.paste and change.ail is not None and (why.base is None or change.ail < why.base)
    ]
    if not gaining:
        return []
    best = min(gaining, key=lambda change: change.ail)
    paste = best.paste.replace("--data DATA", f"--data {format_source_options(source)}")
    lines = ["", f"Instead of {best.promise}, to paste:", *(f"  {line}" for line in paste.splitlines())]
    if "famil" in best.what:
        lines.append("It protects families of values, not each value; grouping the values in the source does as much.")
    return lines
