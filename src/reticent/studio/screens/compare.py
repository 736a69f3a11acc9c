"""The screen *Compare*: is the promise reachable, by which method at what cost, and what the release would look like."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData

from reticent.drawing.comparison_plots import MAX_METHODS, draw_before_after, draw_field
from reticent.drawing.plots import draw_bar, draw_pair, format_share
from reticent.errors import JobError, RequestError
from reticent.job.job import Job
from reticent.studio import coarser_column, method_choice
from reticent.studio.desk import Desk
from reticent.studio.runs import Run
from reticent.studio.screens.screen import CommandLines, Screen

PREVIEW_PROGRAM = ("-m", "reticent.studio.plan_preview")
SMALL_CHANGE = 0.05  # share of people: below, a column keeps its shape
UNREACHABLE = 2  # the exit code of a check that answered no


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs."""
    job = desk.read_job()
    if job is None:
        return {"job": None}
    chosen = desk.remember("compare")
    checked = find_check(desk)
    preview = find_preview(desk)
    methods = method_choice.list_methods(job)
    compare_run = _find_run(desk, "compare")
    described = method_choice.describe_check(checked, job.method.name) if checked else None
    return {
        "job": job,
        "method": job.method.name,
        "check_run": _find_run(desk, "check"),
        "check": described,
        "has_answer": checked is not None,
        "costliest": _find_costliest(desk, described),
        "preview_run": _find_run(desk, "preview", of_method=True),
        "preview": preview,
        "column": _describe_column(preview, chosen.get("column")),
        "pair": _describe_pair(preview, chosen.get("pair")),
        "group": _describe_group(preview, chosen.get("group", 0)),
        "compare_run": compare_run,
        "compared": (
            method_choice.describe_comparison(compare_run.result, job)
            if compare_run and compare_run.succeeded
            else None
        ),
        "methods": methods,
        "ticked": chosen.get("methods", methods[:MAX_METHODS]),
        "compared_rows": method_choice.COMPARED_ROWS,
        "rows": chosen.get("rows", method_choice.DEFAULT_ROWS),
        "most_methods": MAX_METHODS,
        "bar": draw_bar,
    }


def find_check(desk: Desk) -> Mapping[str, Any] | None:
    """Return what the last check of this job found, whether it is reachable or not; None where there was none."""
    run = _find_run(desk, "check")
    if run is None or not isinstance(run.result, dict) or "methods" not in run.result:
        return None
    return run.result


def find_preview(desk: Desk) -> Mapping[str, Any] | None:
    """Return the picture of the job's own plan; None where it was not drawn."""
    run = _find_run(desk, "preview", of_method=True)
    return run.result if run is not None and run.succeeded and isinstance(run.result, dict) else None


def check_job(desk: Desk, form: FormData) -> str | None:
    """Check the job, and draw what its release would look like."""
    _require_job(desk)
    _start_check(desk)
    return None


def compare_methods(desk: Desk, form: FormData) -> str | None:
    """Compare the methods that are ticked."""
    job = _require_job(desk)
    possible = method_choice.list_methods(job)
    methods = [name for name in possible if name in form.getlist("methods")]
    if not methods or len(methods) > MAX_METHODS:
        raise RequestError(
            f"{len(methods)} methods are ticked.",
            why="Colours and markers tell five of them apart.",
            attempt=f"1 to {MAX_METHODS} methods.",
        )
    text = str(form.get("rows", ""))
    if text not in ("all", *map(str, method_choice.COMPARED_ROWS)):
        raise RequestError("This is no number of rows of the list.", attempt="one of the list.")
    rows = None if text == "all" else int(text)
    desk.remember("compare").update(methods=methods, rows=rows)
    desk.runs.start(method_choice.make_compare_words(desk, job, methods, rows), method_choice.make_key(desk, "compare"))
    return None


def choose_method(desk: Desk, form: FormData) -> str | None:
    """Write a method into the job."""
    job = _require_job(desk)
    name = str(form.get("method", ""))
    if name not in method_choice.list_methods(job):
        raise RequestError("This method cannot keep the promises of the job.", attempt="a method of the list.")
    if name == job.method.name:
        return None
    had_preview = _find_run(desk, "preview", of_method=True) is not None
    desk.job_file.set_field(["method"], {"name": name})
    if had_preview:
        _start_preview(desk)
    return None


def weaken_promise(desk: Desk, form: FormData) -> str | None:
    """Write a weaker promise, which the check measured, into the job; then check again."""
    checked = find_check(desk)
    changes = [] if checked is None else checked["explained"]["changes"]
    number = _read_number(form.get("change"))
    if number >= len(changes):
        raise RequestError("This change is not of the check that is shown.", attempt="checking the job again.")
    method_choice.apply_change(desk, changes[number])
    _start_check(desk)
    return None


def coarsen_column(desk: Desk, form: FormData) -> str | None:
    """Use the second level of a column's tree, or leave the column out; then check again."""
    _require_job(desk)
    name = str(form.get("column", ""))
    if form.get("way") == "out":
        coarser_column.leave_out(desk, name)
    else:
        coarser_column.use_upper_level(desk, name)
    _start_check(desk)
    return None


def look_at(desk: Desk, form: FormData) -> str | None:
    """Remember which column, pair or group is looked at."""
    preview = find_preview(desk)
    chosen = desk.remember("compare")
    if preview is None or "columns" not in preview:
        return None
    names = [column["name"] for column in preview["columns"]]
    if str(form.get("column", "")) in names:
        chosen["column"] = str(form["column"])
    if "pair" in form:
        chosen["pair"] = min(_read_number(form["pair"]), max(len(preview["pairs"]) - 1, 0))
    if "group" in form:
        chosen["group"] = _read_number(form["group"]) % max(len(preview["groups"]), 1)
    return None


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that do what this screen does."""
    job = desk.read_job()
    name = desk.job_name
    if job is None:
        methods = ["mondrian", "mosaic"]
        words = ["compare", name, "--methods", ",".join(methods), "--rows", str(method_choice.DEFAULT_ROWS)]
        sweep = None
        rows: int | None = method_choice.DEFAULT_ROWS
    else:
        chosen = desk.remember("compare")
        possible = method_choice.list_methods(job)
        methods = [
            method for method in chosen.get("methods", possible[:MAX_METHODS]) if method in possible
        ] or possible[:1]
        rows = chosen.get("rows", method_choice.DEFAULT_ROWS)
        words = method_choice.make_compare_words(desk, job, methods, rows)
        sweep = method_choice.choose_sweep(job)
    shell = f"reticent check {shlex.quote(name)}\n{_wrap_words(['reticent', *words])}"
    options = [f"    methods={methods!r},"]
    if rows is not None:
        options.append(f"    rows={rows},")
    if sweep is not None:
        options.append(f"    {sweep[0]}=[{', '.join(sweep[1])}],")
    options += [f"    attacks={method_choice.GUESSING_ATTACKS!r},", "    classification=False,"]
    python = "\n".join(
        [
            "import reticent as rt",
            f"job = rt.Job.read({name!r})",
            "print(rt.check(job))",
            "compared = rt.compare(",
            "    job,",
            *options,
            ")",
            "print(compared.frame())",
        ]
    )
    return CommandLines(shell, python)


def find_obstacle(desk: Desk) -> str:
    """Return why the job cannot be published yet; empty where it can, or nobody asked."""
    job = desk.read_job()
    if job is None:
        return "The job is not valid yet."
    checked = find_check(desk)
    own = None if checked is None else method_choice.describe_check(checked, job.method.name)["own"]
    return f"{job.method.name} does not reach the promises." if own and own["reachable"] is False else ""


def is_done(desk: Desk) -> bool:
    """Tell whether the job was checked, or published already."""
    return (find_check(desk) is not None and not find_obstacle(desk)) or bool(desk.project.list_releases())


def _start_check(desk: Desk) -> None:
    desk.runs.start(["check", desk.job_name], method_choice.make_key(desk, "check"))
    _start_preview(desk)


def _start_preview(desk: Desk) -> None:
    key = method_choice.make_key(desk, "preview", of_method=True)
    desk.runs.start([desk.job_name], key, program=PREVIEW_PROGRAM)


def _find_run(desk: Desk, what: str, *, of_method: bool = False) -> Run | None:
    return desk.runs.find(method_choice.make_key(desk, what, of_method=of_method))


def _require_job(desk: Desk) -> Job:
    error = desk.find_job_error()
    if error is not None:
        raise error
    job = desk.read_job()
    if job is None:
        raise JobError("There is no job yet.", attempt="opening a table on the screen Data.")
    return job


def _read_number(text: Any) -> int:
    try:
        return max(int(str(text)), 0) if len(str(text)) < 10 else 0
    except ValueError:
        raise RequestError("This is not a number.", attempt="a whole number.") from None


def _find_costliest(desk: Desk, described: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Find the column that costs most, and what can be done about it; None where nothing is lost."""
    columns = described["columns"] if described else []
    if not columns or columns[0]["lost"] <= 0:
        return None
    name = columns[0]["name"]
    level = coarser_column.find_upper_level(desk, name)
    return {**columns[0], "level": level, "can_leave_out": coarser_column.can_leave_out(desk, name)}


def _describe_column(preview: Mapping[str, Any] | None, name: str | None) -> dict[str, Any] | None:
    """Describe one column before and after; without a name, the one that changed most."""
    columns = [] if preview is None else preview.get("columns", [])
    if not columns:
        return None
    widest = max(columns, key=lambda each: each["changed"])
    column = next((each for each in columns if each["name"] == name), widest)
    kept = "keeps its shape" if column["changed"] < SMALL_CHANGE else "changes its shape"
    top = max(*column["before"], *column["after"], 1)
    rows = list(zip(column["steps"], column["before"], column["after"], strict=True))
    return {
        "name": column["name"],
        "names": [each["name"] for each in columns],
        "title": f"{column['name']} {kept}: {format_share(column['changed'])} of people are read elsewhere",
        "drawing": (
            draw_before_after(column["steps"], column["before"], column["after"], column["name"])
            if column["on_line"]
            else ""
        ),
        "bars": []
        if column["on_line"]
        else [(name, draw_pair(a / top, b / top), round(a), round(b)) for name, a, b in rows],
        "rows": [(name, f"{before:,.0f}", f"{after:,.0f}") for name, before, after in rows],
    }


def _describe_pair(preview: Mapping[str, Any] | None, number: int | None) -> dict[str, Any] | None:
    """Describe one pair of columns before and after; without a choice, the pair that changed most."""
    pairs = [] if preview is None else preview.get("pairs", [])
    if not pairs:
        return None
    if number is None or number >= len(pairs):
        number = max(range(len(pairs)), key=lambda place: pairs[place]["changed"])
    pair = pairs[number]
    first, second = pair["names"]
    top = max(max(map(max, pair["before"])), max(map(max, pair["after"])), 1e-9)

    def draw(side: str, words: str) -> str:
        description = f"People by {first} (down) and {second} (across), {words}."
        return draw_field(pair[side], top, pair["steps"][0], pair["steps"][1], description)

    return {
        "number": number,
        "names": [" and ".join(each["names"]) for each in pairs],
        "title": f"Of {first} and {second} together, {format_share(pair['changed'])} of people are read elsewhere",
        "first": first,
        "second": second,
        "before": draw("before", "in the source"),
        "after": draw("after", "in the release"),
        "rows": [
            (down, across, f"{pair['before'][row][place]:,.0f}", f"{pair['after'][row][place]:,.0f}")
            for row, down in enumerate(pair["steps"][0])
            for place, across in enumerate(pair["steps"][1])
        ],
    }


def _describe_group(preview: Mapping[str, Any] | None, number: int) -> dict[str, Any] | None:
    """Describe one group as readers of the release will see it."""
    groups = [] if preview is None else preview.get("groups", [])
    if not groups:
        return None
    number %= len(groups)
    return {**groups[number], "number": number, "next": (number + 1) % len(groups), "shown": len(groups)}


def _wrap_words(words: list[str]) -> str:
    """Write a command over several lines, a line for each option."""
    text = shlex.join(words)
    return text.replace(" --", " \\\n  --")


SCREEN = Screen(
    name="compare",
    title="Compare",
    question="Which way, and is it worth it?",
    why="The same promise can be kept in several ways, and some lose less. Beside them stand the yardsticks that need no method: the honest answer may be to use none.",
    example="A table with its columns apart answers simple counts well, and says nothing about how columns go together.",
    docs="choosing",
    show=show,
    write_commands=write_commands,
    actions={
        "check": check_job,
        "compare": compare_methods,
        "choose": choose_method,
        "weaken": weaken_promise,
        "coarsen": coarsen_column,
        "look": look_at,
    },
    find_obstacle=find_obstacle,
    is_done=is_done,
)
