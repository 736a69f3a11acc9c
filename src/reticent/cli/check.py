"""`reticent check JOB`: is the promise reachable, by which methods, at what expected loss."""

from __future__ import annotations

from typing import Annotated

import typer

from reticent import catalogue
from reticent.cli.options import Engine, JobFile, Json, Master, ShowValues, make_engine

EXAMPLE = "reticent check patients.toml"


def check(
    job: JobFile,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="A,B",
            help="Compare with these methods only; by default with all that can keep the promises.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            metavar="SECONDS",
            help="CPU seconds that all of it may take; what there was no time for is named. By default about 30 for the job's own plan and four times what it took for the rest.",
            show_default=False,
        ),
    ] = None,
    engine: Engine = catalogue.DEFAULT_ENGINE,
    master: Master = None,
    show_values: ShowValues = False,
    json: Json = False,
) -> int:
    """Plan the job and write nothing: is the promise reachable, by which methods, at what expected loss.

    Ends with 0 if `reticent publish` would reach the promise by the job's own method, else with 2; also if there was no time to tell.
    """
    from time import process_time

    began = process_time()

    from reticent.check import check as check_job
    from reticent.cli.check_output import (
        format_explanation,
        format_loss_limit,
        format_withholding,
        list_remarks,
        make_plan_printer,
    )
    from reticent.cli.output import say, say_json, show_progress
    from reticent.errors import PromiseUnreachable
    from reticent.job.job import Job

    named = None if methods is None else [name.strip() for name in methods.split(",") if name.strip()]
    with show_progress(json) as progress:
        print_plan = (lambda summary, cells: None) if json else make_plan_printer(progress)
        parsed_job = Job.read(job)
        worker = make_engine(engine, master)
        remaining = (
            None if budget is None else max(budget - (process_time() - began), 0.0)
        )  # loading modules is a part of it
        result = check_job(
            parsed_job, methods=named, budget=remaining, progress=progress, finished=print_plan, engine=worker
        )
    is_publishable = result.reachable and result.within_limit is not False
    code = 0 if is_publishable else PromiseUnreachable.exit_code
    if json:
        say_json(result.to_dict(show_values=show_values))
        return code
    if result.unplanned:
        say(
            "",
            f"Not planned, for want of time: {', '.join(result.unplanned)}. --methods NAME plans one whatever it takes.",
        )
    if limit_sentence := format_loss_limit(result, parsed_job.release.loss_at_most):
        say("", limit_sentence)
    for remark in list_remarks(result.methods):
        say("", remark)
    say(*format_explanation(result, parsed_job.source))
    if withholding_lines := format_withholding(result.withholding):
        say(*withholding_lines)
    for advice in result.advice:
        say("", *_format_advice(advice, show_values))
    for warning in result.warnings:
        say("", f"Note: {warning}")
    for rare in result.rare:
        say("", f"Note: {rare}")
        if show_values:
            say(*(f"  {line}" for line in rare.list_values()))
    for spelled in result.spellings if show_values else ():
        say(
            "", f"{spelled.column!r}, spelled alike:", *(f"  {', '.join(map(repr, group))}" for group in spelled.groups)
        )
    return code


def _format_advice(advice, show_values: bool) -> list[str]:
    """Format a piece of advice by what it is about."""
    from reticent.cli.check_output import format_bound_widths, format_skyline_trials

    if advice.get("about") == "skyline":
        return format_skyline_trials(advice)
    if advice.get("about") == "bounds":
        return format_bound_widths(advice)
    return _format_eligibility(advice, show_values)


def _format_eligibility(advice, show_values: bool) -> list[str]:
    """Format whether the table supports l, and what each remedy would cost."""
    share = f"The most frequent value of {advice['column']!r} has a share of {advice['largest_share']:.4f}"
    if advice["eligible"]:
        return [f"{share}: the table supports l = {advice['l']}, and at most l = {advice['supports']}."]
    from reticent.errors import pluralize

    named = f" ({', '.join(advice['dominating_values'])})" if show_values else ""
    dominate = "dominates" if advice["dominating"] == 1 else "dominate"
    lines = [
        f"{share}, and l = {advice['l']} allows {1 / advice['l']:.4f}: {pluralize(advice['dominating'], 'value')}{named} {dominate}.",
        f"Without withholding rows the table supports l = {advice['supports']}.",
    ]
    if None in advice["withheld"].values():
        return [*lines, f"It has {advice['values']} values, and l = {advice['l']} needs as many."]
    costs = ", ".join(f"{name} {count:,.0f}" for name, count in advice["withheld"].items())
    return [
        *lines,
        f"Withholding rows would restore it; rows withheld on average by kind: {costs}.",
        "  [[prepare]]",
        '  name = "suppression"',
        f"  l = {advice['l']}",
        "  kind safe is the default; calibrated needs its prior in the job, and unsafe and eligible acknowledge = true.",
    ]
