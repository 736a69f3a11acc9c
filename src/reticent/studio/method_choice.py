"""Facts of the screen *Compare*: which promise binds, what each method keeps, the frontier, and what one column costs.

What was measured of a job stays good while the job asks for the same: another method without options of its own, or
another text in `[about]`, changes neither what the methods keep nor the frontier.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from reticent import catalogue, registry
from reticent.compare.frontier import draw_measured_frontier, find_row_loss, list_drawable, write_frontier_title
from reticent.compare.trivial_sanitizations import COLUMNS_APART
from reticent.drawing.plots import format_share
from reticent.errors import JobError, RequestError
from reticent.job.job import Job
from reticent.preconditions import require_promises_supported
from reticent.studio.desk import Desk, sign_file

SWEPT_PARAMETERS = ("beta", "t", "delta", "l", "alpha", "k")  # the first that one promise of the job has is varied
COMPARED_ROWS = (2_000, 5_000, 20_000)
DEFAULT_ROWS = 5_000
GUESSING_ATTACKS = [name for name, attack in catalogue.ATTACKS.items() if attack.guesses]
LEAST_GAIN = 0.0005  # of loss: less is no gain, as `reticent check` has it


def make_key(desk: Desk, what: str, *, of_method: bool = False) -> str:
    """Make the key of what was measured of the job as it is now; `of_method`: it is about the job's own method."""
    table = dict(desk.job_file.read_table())
    table.pop("about", None)
    method = table.get("method")
    if not of_method and isinstance(method, dict) and set(method) == {"name"}:
        table.pop("method")
    digest = hashlib.sha256(json.dumps(table, sort_keys=True, default=str).encode()).hexdigest()[:16]
    source = desk.find_source()
    return f"{what}:{digest}:{'' if source is None else sign_file(source)}"


def list_methods(job: Job) -> list[str]:
    """List the methods that can keep the job's promises with their defaults, the job's own first."""
    names = [job.method.name]
    for name in catalogue.METHODS:
        if name == job.method.name:
            continue
        try:
            require_promises_supported(job.at(method=registry.make_method(name)))
        except (RequestError, TypeError):
            continue
        names.append(name)
    return names


def choose_sweep(job: Job) -> tuple[str, list[str]] | None:
    """Choose a parameter of a promise and three values of it: half, the job's own, and double; None if there is none."""
    for name in SWEPT_PARAMETERS:
        having = [promise for promise in job.promises if _has_parameter(promise, name)]
        if len(having) != 1 or not isinstance(getattr(having[0], name), int | Fraction):
            continue
        own = Fraction(getattr(having[0], name))
        values = [value for value in (own / 2, own, own * 2) if _is_allowed(having[0], name, value, own)]
        return name, [str(registry.convert_to_plain(value)) for value in values]
    return None


def make_compare_words(desk: Desk, job: Job, methods: Sequence[str], rows: int | None) -> list[str]:
    """Make the words of the command that compares methods; only adversaries who guess from the release are tried."""
    words = ["compare", desk.job_name, "--methods", ",".join(methods)]
    sweep = choose_sweep(job)
    if sweep is not None:
        words += ["--sweep", f"{sweep[0]}={','.join(sweep[1])}"]
    if rows is not None:
        words += ["--rows", str(rows)]
    return [*words, "--attacks", ",".join(GUESSING_ATTACKS), "--no-classification"]


def describe_check(checked: Mapping[str, Any], own_method: str) -> dict[str, Any]:
    """Describe what `check --json` found, for the job's method as it is now."""
    summaries = [dict(summary, keeps=_find_kept(summary)) for summary in checked["methods"]]
    own = next((summary for summary in summaries if summary["method"] == own_method), None)
    reached = [summary for summary in summaries if summary["reachable"] and summary["keeps"] is not None]
    best = max(reached, key=lambda summary: summary["keeps"], default=None)
    return {
        "own": own,
        "methods": sorted(summaries, key=lambda summary: -1 if summary["keeps"] is None else -summary["keeps"]),
        "title": _write_method_title(own, best),
        "binding": find_binding_promise(checked["explained"]),
        "changes": [
            _describe_change(number, change, checked["explained"]["base"])
            for number, change in enumerate(checked["explained"]["changes"])
            if change["ail"] is not None
        ],
        "base": checked["explained"]["base"],
        "columns": list_column_costs({} if own is None else own["ail_by_column"]),
        "rows": checked["rows"],
        "warnings": [*checked["warnings"]],
        "unplanned": checked["unplanned"],
    }


def find_binding_promise(explained: Mapping[str, Any]) -> str:
    """Say which promise binds: without which the loss falls most; empty where nothing was tried."""
    base = explained["base"]
    left_out = [change for change in explained["changes"] if change["what"] == "left out" and change["ail"] is not None]
    if base is None or not left_out:
        return ""
    best = min(left_out, key=lambda change: change["ail"])
    if best["ail"] >= base - LEAST_GAIN:
        return "No promise binds alone: without any one of them, as much is lost."
    return (
        f"{best['promise']} binds: without it a row would keep {format_share(1 - best['ail'])} instead of "
        f"{format_share(1 - base)} (by mondrian)."
    )


def list_column_costs(by_column: Mapping[str, float]) -> list[dict[str, Any]]:
    """List what each column loses, and its part of all that is lost, the costliest first."""
    total = sum(by_column.values())
    ordered = sorted(by_column.items(), key=lambda pair: -pair[1])
    return [{"name": name, "lost": lost, "part": lost / total if total else 0.0} for name, lost in ordered]


def read_change(paste: str) -> tuple[str, dict[str, Any]] | None:
    """Read the promise that `check` proposes to paste: its model and its parameters; None where more would change."""
    try:
        table = tomllib.loads(paste)
    except ValueError:
        return None
    promises = table.get("promise")
    if paste.lstrip().startswith("#") or not isinstance(promises, list) or len(promises) != 1:
        return None
    parameters = dict(promises[0])
    return str(parameters.pop("model", "")), parameters


def apply_change(desk: Desk, change: Mapping[str, Any]) -> None:
    """Write a weaker promise that `check` measured into the job.

    Raises:
        JobError: the job has none, or several, of this promise.
    """
    proposed = read_change(str(change["paste"]))
    with desk.job_file.edit() as document:
        promises = document.get("promise")
        if proposed is None or not isinstance(promises, list):
            raise JobError("This change is not one number of one promise.", attempt="the text of the job.")
        model, parameters = proposed
        column = parameters.get("column")
        same = [entry for entry in promises if entry.get("model") == model and entry.get("column") in (None, column)]
        if len(same) != 1:
            raise JobError(
                f"The job has {len(same)} promises of {model}.", attempt="changing it on the screen Promise."
            )
        for name, value in parameters.items():
            if name != "column":
                same[0][name] = value


def describe_comparison(compared: Mapping[str, Any], job: Job) -> dict[str, Any]:
    """Describe what `compare --json` measured: the frontier with the present job ringed, and the yardsticks beside it."""
    candidates = [row for row in compared["rows"] if row["role"] == "candidate"]
    measured = [row for row in candidates if row["reached"] and find_row_loss(row) is not None]
    own = next((row for row in measured if is_own_candidate(row, job)), None)
    drawable = list_drawable(compared["rows"])
    sampled = f"On {compared['people']:,} of {compared['of']:,} rows, drawn at random; all of them lose less."
    return {
        "drawing": draw_measured_frontier(compared["rows"], own),
        "title": _write_frontier_title(drawable, own),
        "sample": sampled if compared["people"] < compared["of"] else f"On all {compared['of']:,} rows.",
        "yardstick": _compare_with_yardstick(compared["rows"], own),
        "rows": [_format_candidate(row) for row in compared["rows"] if row["role"] != "source" and row["reached"]],
        "left_out": [(row["name"], row["why"]) for row in candidates if row not in measured and row["why"]],
        "parameters": list(dict.fromkeys(name for row in measured for name in row["parameters"])),
    }


def is_own_candidate(row: Mapping[str, Any], job: Job) -> bool:
    """Tell whether a candidate is the job as it is now: its method with its options, and its promises."""
    described = json.loads(json.dumps([registry.describe(promise, public=True) for promise in job.promises]))
    measured = row.get("job") or {}
    method = json.loads(json.dumps(registry.describe(job.method, public=True)))
    return measured.get("method") == method and measured.get("promise") == described


def _compare_with_yardstick(rows: Sequence[Mapping[str, Any]], own: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Compare how well counts are answered by the job and by columns that stand apart; None where it was not measured."""
    apart = next((row for row in rows if row["name"] == COLUMNS_APART), None)
    if own is None or apart is None or not own.get("count_error") or not apart.get("count_error"):
        return None
    theirs = apart["count_error"]["value"]
    ours = own["count_error"]["value"]
    return {"theirs": theirs, "ours": ours, "is_better": theirs < ours}


def _write_frontier_title(rows: Sequence[Mapping[str, Any]], own: Mapping[str, Any] | None) -> str:
    if not rows:
        return "No method could be measured"
    if own is not None:
        equals = [row for row in rows if row["parameters"] == own["parameters"]]
        nearest = min(equals, key=lambda row: find_row_loss(row) or 0.0)
        if nearest["method"] != own["method"]:
            return (
                f"{nearest['method']} would lose {format_share(find_row_loss(nearest) or 0.0)} of a row for the same promises, "
                f"your method {format_share(find_row_loss(own) or 0.0)}"
            )
        return f"Your method, {own['method']}, loses least for these promises"
    return write_frontier_title(rows)


def _write_method_title(own: Mapping[str, Any] | None, best: Mapping[str, Any] | None) -> str:
    if best is None:
        return "No method reaches the promises"
    if own is None or own["keeps"] is None:
        return f"By {best['method']} a row keeps {format_share(best['keeps'])}"
    if best["method"] == own["method"]:
        return f"Your method keeps most: a row keeps {format_share(own['keeps'])}"
    return f"By {best['method']} a row would keep {format_share(best['keeps'])}, by yours {format_share(own['keeps'])}"


def _describe_change(number: int, change: Mapping[str, Any], base: float | None) -> dict[str, Any]:
    gains = base is None or change["ail"] < base - LEAST_GAIN
    is_applicable = (
        gains and bool(change["paste"]) and read_change(change["paste"]) is not None and "=" in change["what"]
    )
    return {
        "number": number,
        "promise": change["promise"],
        "what": change["what"],
        "keeps": 1 - change["ail"],
        "is_applicable": is_applicable,
    }


def _format_candidate(row: Mapping[str, Any]) -> dict[str, Any]:
    loss = find_row_loss(row)
    gain = row.get("attack_gain")
    error = (row.get("count_error") or {}).get("value")
    return {
        "name": row["name"],
        "lost": "–" if loss is None else format_share(loss),
        "gained": "–" if gain is None else f"{gain * 100:.1f}",
        "count_error": "–" if error is None else format_share(error),
        "gives_up": row.get("gives_up", ""),
    }


def _find_kept(summary: Mapping[str, Any]) -> float | None:
    return None if summary["ail"] is None else 1 - summary["ail"]


def _has_parameter(promise: Any, name: str) -> bool:
    return is_dataclass(promise) and any(field.name == name for field in fields(promise))


def _is_allowed(promise: Any, name: str, value: Fraction, own: Fraction) -> bool:
    """Tell whether a promise can have this value; where its own is a whole number, only whole numbers are tried."""
    if name in ("k", "l") and own == int(own) and value != int(value):
        return False
    try:
        replace(promise, **{name: int(value) if value == int(value) else value})
    except (RequestError, TypeError):
        return False
    return True
