"""Output of `check` while it plans: a line for each method as it finishes, and why the plan loses what it loses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from reticent.data.hierarchy_proposal import format_source_options
from reticent.errors import pluralize

TABLE_HEAD = ("method", "reachable", "groups", "smallest", "withheld", "expected loss (AIL)")
VERDICT_SENTENCES = {
    True: "The promise is reachable by {method}.",
    False: "The promise IS NOT reachable by {method}.",
    None: "Whether the promise is reachable by {method} is not known: there was no time to plan.",
}
MAX_SHOWN_VARIANTS = 12  # of a job's groups, targets and fakes
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


def list_remarks(summaries: Iterable[Any]) -> Iterator[str]:
    """List what is to be said of methods beside their figures: why there is no plan, and what is drawn."""
    for summary in summaries:
        if summary.why:
            yield f"{summary.method}: {summary.why}"
        if summary.drawn is not None:
            yield _format_drawn(summary)


def _format_drawn(summary: Any) -> str:
    """Format what a sample of perturbed rows has: k, p, how many rows, and how certain a count of a tenth of the people is."""
    drawn = summary.drawn
    return (
        f"{summary.method}: groups of at least {drawn['k']:,}, values retained with p = {drawn['p']:g}, {pluralize(drawn['rows'], 'row')} drawn. "
        f"Of a value that a tenth of the people have, the estimated count has a standard error of about {drawn['std_error']:,.0f} "
        f"({100 * drawn['std_error_share']:.2g} % of all people). What labels lose (AIL) comes on top where a question cuts them."
    )


def format_loss_limit(result: Any, limit: Any) -> str:
    """Format whether the expected loss is within `loss_at_most`, by the job's own method and by the others; nothing without a limit."""
    if limit is None:
        return ""
    within = [summary.method for summary in result.methods if summary.within_limit]
    above = [summary.method for summary in result.methods if summary.within_limit is False]
    own = result.methods[0].method
    outcome = {
        True: f"is met by {own}",
        False: f"IS NOT met by {own}: publishing would be refused",
        None: f"is not decided for {own}: there is no plan to measure",
    }[result.within_limit]
    others = [name for name in within if name != own]
    sentence = f"loss_at_most = {float(limit):g} {outcome}."
    if others:
        sentence += (
            f" It is met by {', '.join(others)} too." if own in within else f" It is met by {', '.join(others)}."
        )
    if refused := [name for name in above if name != own]:
        sentence += f" It is not met by {', '.join(refused)}."
    return sentence


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


def format_skyline_trials(advice: Mapping[str, Any]) -> list[str]:
    """Format the loss of each t that was held at every bandwidth, and the proposed skyline, to be pasted."""
    lines = [
        f"One t against every adversary of the grid of bandwidths, for {advice['column']!r}:",
        f"  {'t':<8}{'loss (AIL)':<14}{'groups':<10}withheld",
        *map(_format_skyline_trial, advice["trials"]),
        advice["why"],
    ]
    if advice["paste"]:
        lines += [
            f"Instead of {advice['promise']}, to paste:",
            *(f"  {line}" for line in advice["paste"].splitlines()),
        ]
    risks = [f"{point['bandwidth']}: {point['risk']:.4f}" for point in advice["grid"] if point["risk"] is not None]
    if risks:
        groups = "the job's own plan" if advice["planned"] else "the table as one group"
        lines += [f"The greatest risk by bandwidth that {groups} leaves: {', '.join(risks)}."]
    lines += _format_best_predictor(advice)
    if advice["routes"]:
        lines += [f"Priors by {' and '.join(dict.fromkeys(advice['routes']))}."]
    return lines


def format_bound_widths(advice: Mapping[str, Any]) -> list[str]:
    """Format the widths of guaranteed bounds by variant, the narrowest first, and what is recommended, to be pasted."""
    head = ("group_by", "within", "target", "fakes", "arity", "AVG, SUM", "COUNT", "belief", "")
    shown = advice["variants"][:MAX_SHOWN_VARIANTS]
    named = (advice["own"], advice["recommended"], advice["recommended_target"])
    shown += [variant for variant in advice["variants"][MAX_SHOWN_VARIANTS:] if variant in named]
    rows = [head, *(_format_width_variant(variant, advice) for variant in shown)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    answer = advice["mean_answer"]
    of = "" if answer is None else f" The mean answer of AVG is {answer:,.6g}."
    lines = [
        f"Expected widths of the guaranteed bounds, over {advice['questions']} questions about {advice['column']!r}: relative to the "
        f"answer (AVG, SUM), and as a share of the selected rows (COUNT of a range of values).{of}",
        *(
            "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ),
    ]
    hidden = len(advice["variants"]) - len(shown)
    if hidden:
        lines.append(f"  {hidden:,} wider ones stand in --json.")
    if advice["skipped"]:
        lines.append(f"  {advice['skipped']} more were not planned, for want of time; --budget SECONDS gives more.")
    lines += advice["why"]
    recommended = advice["recommended"]
    if recommended is not None and not recommended["is_own"]:
        lines += ["To paste, with the promise as it is:", *(f"  {line}" for line in recommended["paste"].splitlines())]
    other = advice["recommended_target"]
    if other is not None:
        lines += ["To paste, with the other target:", *(f"  {line}" for line in other["paste"].splitlines())]
        lines += [f"Of that target: {notice}." for notice in other["notices"]]
    return lines


def _format_width_variant(variant: Mapping[str, Any], advice: Mapping[str, Any]) -> tuple[str, ...]:
    from reticent.job.job import format_toml_value

    target = format_toml_value(variant["target"]).strip('"') + (", exact" if variant["exact"] else "")
    grouped = "all rows" if variant["group_by"] is None else format_toml_value(variant["group_by"])
    relative = variant["relative_width"]
    remarks = []
    if variant["is_own"]:
        remarks.append("the job's own")
    if variant == advice["recommended"]:
        remarks.append("recommended")
    return (
        grouped,
        variant["within"],
        target,
        format_toml_value(variant["fakes"]),
        str(variant["arity"]),
        "" if relative is None else f"{relative:.1%}",
        f"{variant['count_width']:.1%}",
        f"{variant['belief']:.3f}",
        ", ".join(remarks),
    )


def _format_skyline_trial(trial: Mapping[str, Any]) -> str:
    from reticent.cli.output import format_number

    t = f"  {trial['t']:<8g}"
    if trial["reachable"] is None:
        return f"{t}not planned, for want of time"
    if not trial["reachable"]:
        return f"{t}not reachable"
    loss = "-" if trial["ail"] is None else f"{trial['ail']:.4f}"
    figures = f"{t}{loss:<14}{format_number(trial['groups']):<10}{format_number(trial['withheld'])}"
    return figures + ("" if trial["binds"] is not False else "  asks for nothing: no bandwidth is left more without it")


def _format_best_predictor(advice: Mapping[str, Any]) -> list[str]:
    """Format the adversary who predicts the sensitive column best, with the risk that is left and what holding t costs."""
    predictor = advice["predictor"]
    if predictor["bandwidth"] is None:
        return [f'Not tried: bandwidth = "auto". {predictor["why"]}']
    by_column = ", ".join(f"{column} {width}" for column, width in predictor["bandwidth"].items())
    lines = [
        f'The adversary who predicts {advice["column"]!r} best (bandwidth = "auto"): {by_column}. A held-out person costs them '
        f"{-predictor['bits']:.2f} bits, and {-predictor['bits_without']:.2f} who knows the overall distribution alone.",
    ]
    if predictor["risk"] is not None:
        groups = "The job's own plan" if advice["planned"] else "The table as one group"
        lines[0] += f" {groups} leaves them a risk of {predictor['risk']:.4f}."
    of_holding = f"Holding t = {predictor['t']:g} against them"
    if predictor["reachable"] is None:
        lines.append(f"{of_holding} was not planned, for want of time.")
    elif not predictor["reachable"]:
        lines.append(f"{of_holding} is not reachable.")
    elif not predictor["is_own"]:
        loss = "" if predictor["ail"] is None else f" a loss of {predictor['ail']:.4f} in"
        lines.append(f"{of_holding} costs{loss} {predictor['groups']:,} groups; to paste:")
        lines += [f"  {line}" for line in predictor["paste"].splitlines()]
    return lines


def format_withholding(costs: Any) -> list[str]:
    """Format what missing values and people with many rows cost, and the best remedies to be pasted."""
    if not costs.trials:
        if not costs.skipped:
            return []
        sentence = "What withholding rows would do to the loss was not tried, for want of time"
        return ["", f"{sentence}; --budget SECONDS gives more."]
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
