"""The screen *Promise*: sentences with blanks, what each says and does not say, and what stricter costs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from shlex import quote
from typing import Any

import tomlkit
from starlette.datastructures import FormData

from reticent import catalogue, registry
from reticent.drawing import plots
from reticent.drawing.cost_curves import draw_cost_curve, draw_people
from reticent.errors import RequestError, ReticentError
from reticent.job.job import Job, format_toml_value
from reticent.job.preset import Preset
from reticent.plugins import list_plugins
from reticent.preconditions import list_supporting_methods, require_promises_supported
from reticent.studio import column_counts, plan_points
from reticent.studio.desk import Desk
from reticent.studio.job_file import set_in_document
from reticent.studio.plan_points import PlanMemory, PlannedPoint
from reticent.studio.promise_controls import Control, convert_decimals, make_control, read_control
from reticent.studio.promise_sentences import PROMISE_SENTENCES, Example, Picture, PromiseSentence
from reticent.studio.screens.screen import CommandLines, Screen

EXAMPLE_SHARE = 0.05  # of everybody: the value that pictures are worked with is the nearest to it
MIN_SCALE = 0.05
_BLANK = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class CostCurve:
    """A slider of a promise and what its places cost."""

    parameter: str
    steps: tuple[Any, ...]
    current: int
    tables: tuple[Mapping[str, Any], ...]  # the job at each place
    points: tuple[PlannedPoint | None, ...]

    @property
    def labels(self) -> list[str]:
        return [_format_step(step) for step in self.steps]

    @property
    def title(self) -> str:
        """Return what the curve shows, as a sentence."""
        here = self.points[self.current]
        stricter = self.points[self.current + 1] if self.current + 1 < len(self.points) else None
        if here is None or here.kept is None:
            return "Not planned yet" if here is None else "Out of reach here"
        if stricter is not None and not stricter.is_reached:
            return f"One step stricter, {self.labels[self.current + 1]}, is out of reach"
        if stricter is not None and stricter.kept is not None:
            after, before = plots.format_share(stricter.kept), plots.format_share(here.kept)
            if after == before:
                return f"One step stricter, {self.labels[self.current + 1]}, costs nothing: a row keeps {before}"
            return f"One step stricter, {self.labels[self.current + 1]}, a row keeps {after} instead of {before}"
        return f"Here a row keeps {plots.format_share(here.kept)}"

    def draw(self, top: float) -> str:
        return draw_cost_curve(
            self.labels,
            [
                None if point is None or point.kept is None or not point.is_reached else 1 - point.kept
                for point in self.points
            ],
            [point is not None and not point.is_reached for point in self.points],
            self.current,
            top,
            self.parameter,
        )


@dataclass(frozen=True)
class PromiseCard:
    """A promise of the job: its sentence in pieces, its options, its picture and its curves.

    One that is not understood has its text alone.
    """

    index: int
    model: str
    text: str
    pieces: tuple[tuple[str, Control | None], ...] = ()
    options: tuple[Control, ...] = ()
    sentence: PromiseSentence | None = None
    picture: Picture | None = None
    curves: tuple[CostCurve, ...] = ()
    error: ReticentError | None = None


@dataclass(frozen=True)
class Offer:
    """A promise that can be added: what it would say, and which methods keep it."""

    model: str
    sentence: PromiseSentence
    words: str
    picture: Picture
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Share:
    """What a row keeps under one promise alone, or under all."""

    name: str
    point: PlannedPoint | None
    table: Mapping[str, Any] = field(default_factory=dict)


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs."""
    table = desk.job_file.read_table()
    memory = plan_points.open_memory(desk)
    job = desk.read_job()
    entries = _list_entries(table)
    cards = [_make_card(desk, memory, table, index, entry) for index, entry in enumerate(entries)]
    shares = _list_shares(desk, memory, table, entries) if job is not None else []
    here = plan_points.find_point(desk, memory, table) if job is not None and entries else None
    if here is not None:
        memory.latest = here
    kept = [
        point.kept
        for card in cards
        for curve in card.curves
        for point in curve.points
        if point and point.kept is not None
    ]
    refusal = find_refusal(job)
    return {
        "job": job,
        "cards": cards,
        "offers": _list_offers(desk, table, {card.model for card in cards}),
        "presets": [plugin for plugin in list_plugins() if plugin.group == "presets" and not plugin.fault],
        "shares": shares,
        "finding": _describe_costs(shares, here),
        "here": here,
        "earlier": memory.latest if here is None else None,
        "top": max([MIN_SCALE, *(1 - share for share in kept)]) * 1.1,
        "refusal": refusal,
        "methods": _list_methods(job) if refusal is not None and job is not None else [],
        "runs": [run for run, _ in memory.pending],
        "failed": memory.failed,
        "sample": memory.sample,
        "samples": plan_points.SAMPLES,
        "draw_bar": plots.draw_bar,
        "draw_people": draw_people,
        "to_json": json.dumps,
    }


def change(desk: Desk, form: FormData) -> None:
    """Fill the blanks and options of a promise; what its model refuses is not written."""
    index, entry = _read_entry(desk, form)
    row = catalogue.PROMISES[entry["model"]]
    changed = dict(entry)
    for name, specification in row.fields.items():
        if name not in form:
            continue
        value = read_control(specification, str(form[name]))
        if value is None:
            changed.pop(name, None)
        else:
            changed[name] = value
    _set_promise(desk, index, changed)


def slide(desk: Desk, form: FormData) -> None:
    """Move a slider to a place; its neighbours are planned, where plans were asked for."""
    index, entry = _read_entry(desk, form)
    parameter = str(form.get("parameter", ""))
    _require_promise(entry)
    steps = _list_steps(entry, parameter)
    place = str(form.get("place", ""))
    if not place.isdecimal() or int(place) >= len(steps):
        raise RequestError("The slider has no such place.", attempt=f"one from 0 to {max(len(steps) - 1, 0)}.")
    _set_promise(desk, index, {**entry, parameter: steps[int(place)]})
    memory = plan_points.open_memory(desk)
    if memory.is_live:
        plan_points.start_plans(desk, memory, _list_near_tables(desk, memory))


def add(desk: Desk, form: FormData) -> None:
    """Add a promise with usual parameters."""
    model = str(form.get("model", ""))
    if model not in PROMISE_SENTENCES:
        raise RequestError("There is no such promise.", attempt=f"{', '.join(PROMISE_SENTENCES)}.")
    table = desk.job_file.read_table()
    entry = {"model": model, **_make_start(desk, model)}
    _require_promise(entry)
    if table and not isinstance(table.get("promise", []), list):
        raise RequestError("The promises of this job are written by hand.", attempt="the job's text.")
    with desk.job_file.edit() as document:
        if "promise" not in document:
            document["promise"] = tomlkit.aot()
        promises: Any = document["promise"]
        promises.append(_make_table(entry))


def take_preset(desk: Desk, form: FormData) -> None:
    """Put a plugin's preset into the job: its promises, stages and method in place of those there, its output beside."""
    preset = Preset.load(str(form.get("name", "")))
    with desk.job_file.edit() as document:
        for name, content in preset.tables.items():
            if isinstance(content, list):
                document[name] = tomlkit.aot()
                for entry in content:
                    document[name].append(_make_table(entry))
            elif name == "release":
                for option, value in content.items():
                    set_in_document(document, [name, option], _make_item(value))
            else:
                document[name] = _make_table({"name": content} if isinstance(content, str) else content)


def remove(desk: Desk, form: FormData) -> None:
    """Take a promise out of the job."""
    index, entries = _read_index(desk, form)
    if len(entries) == 1:
        desk.job_file.set_field(["promise"], None)
    else:
        desk.job_file.set_field(["promise", index], None)


def take_method(desk: Desk, form: FormData) -> None:
    """Take a method that keeps the promises."""
    name = str(form.get("name", ""))
    if name not in catalogue.METHODS:
        raise RequestError("There is no such method.", attempt=f"{', '.join(catalogue.METHODS)}.")
    with desk.job_file.edit() as document:
        method = tomlkit.table()
        method["name"] = name
        document["method"] = method


def plan(desk: Desk, form: FormData) -> None:
    """Plan the job, the neighbours of its sliders first, then all other places."""
    memory = plan_points.open_memory(desk)
    sample = str(form.get("sample", memory.sample))
    if not sample.isdecimal() or int(sample) not in plan_points.SAMPLES:
        raise RequestError("This is no size of a sample.", attempt="one of the list.")
    job = desk.read_job()
    if job is None:
        raise desk.find_job_error() or RequestError("There is no job yet.", attempt="the screen Data first.")
    require_promises_supported(job)
    memory.sample = int(sample)
    memory.is_live = True
    plan_points.start_plans(desk, memory, _list_near_tables(desk, memory))
    table = desk.job_file.read_table()
    plan_points.start_plans(
        desk, memory, [each for curve in _list_curves(desk, memory, table) for each in curve.tables]
    )


def find_refusal(job: Job | None) -> ReticentError | None:
    """Return why the method cannot keep the promises, in its own words; None where it can, or nothing can be told."""
    if job is None:
        return None
    try:
        require_promises_supported(job)
    except ReticentError as error:
        return error
    return None


def find_obstacle(desk: Desk) -> str:
    """Return why the next screen cannot be entered yet."""
    if not _list_entries(desk.job_file.read_table()):
        return "Make a promise first."
    refusal = find_refusal(desk.read_job())
    return "" if refusal is None else refusal.what


def is_done(desk: Desk) -> bool:
    return desk.read_job() is not None


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that do what this screen does."""
    name = desk.job_name
    python = f"import reticent as rt\n\njob = rt.Job.read({json.dumps(name)})\n"
    plain = CommandLines(f"reticent check {quote(name)}", f"{python}print(rt.check(job))")
    if desk.read_job() is None:
        return plain
    entries = _list_entries(desk.job_file.read_table())
    if len(_list_sensitive(desk.job_file.read_table())) > 1:  # a comparison is of one
        return plain
    for entry in entries:
        for parameter in PROMISE_SENTENCES[entry["model"]].steps:
            if sum(parameter in catalogue.PROMISES[each["model"]].fields for each in entries) == 1:
                steps = [_format_step(step) for step in _list_steps(entry, parameter)]
                sample = plan_points.open_memory(desk).sample
                rows = f" --rows {sample}" if sample else ""
                return CommandLines(
                    f"reticent compare {quote(name)} --sweep {parameter}={','.join(steps)}{rows} --attacks none "
                    "--no-classification",
                    f"{python}print(rt.sweep(job, {parameter}=[{', '.join(steps)}]))",
                )
    return plain


def _list_entries(table: Mapping[str, Any]) -> list[Any]:
    entries = table.get("promise", [])
    return entries if isinstance(entries, list) else []


def _make_card(desk: Desk, memory: PlanMemory, table: Mapping[str, Any], index: int, entry: Any) -> PromiseCard:
    model = entry.get("model") if isinstance(entry, Mapping) else None
    text = format_toml_value(entry)
    if not isinstance(model, str) or model not in PROMISE_SENTENCES:
        return PromiseCard(index, str(model or ""), text)
    sentence = PROMISE_SENTENCES[model]
    controls = _make_controls(desk, table, entry)
    try:
        _require_promise(entry)
        error = None
    except ReticentError as refusal:
        error = refusal
    curves: tuple[CostCurve, ...] = ()
    if error is None:
        curves = tuple(_make_curve(desk, memory, table, index, parameter) for parameter in sentence.steps)
    in_sentence = set(_BLANK.findall(sentence.sentence))
    return PromiseCard(
        index,
        model,
        text,
        tuple(_split_sentence(sentence.sentence, controls)),
        tuple(control for name, control in controls.items() if name not in in_sentence),
        sentence,
        sentence.draw(_fill_defaults(entry), _choose_example(desk, table)),
        curves,
        error,
    )


def _make_controls(desk: Desk, table: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Control]:
    sensitive = _list_sensitive(table)
    files = [desk.project.describe(path) for path in desk.project.list_tables()]
    fields = catalogue.PROMISES[entry["model"]].fields
    return {
        name: make_control(name, specification, entry.get(name), sensitive, files)
        for name, specification in fields.items()
    }


def _split_sentence(sentence: str, controls: Mapping[str, Control]) -> Iterator[tuple[str, Control | None]]:
    """Yield the words of a sentence and its blanks, in their order."""
    for number, piece in enumerate(_BLANK.split(sentence)):
        if number % 2:
            yield piece, controls[piece]
        elif piece:
            yield piece, None


def _list_sensitive(table: Mapping[str, Any]) -> list[str]:
    columns = table.get("columns", {})
    if not isinstance(columns, Mapping):
        return []
    roles = {name: column.get("role") if isinstance(column, Mapping) else column for name, column in columns.items()}
    return [name for name, role in roles.items() if role == "sensitive"]


def _fill_defaults(entry: Mapping[str, Any]) -> dict[str, Any]:
    fields = catalogue.PROMISES[entry["model"]].fields
    return {name: entry.get(name, specification.default) for name, specification in fields.items()}


def _choose_example(desk: Desk, table: Mapping[str, Any]) -> Example:
    """Choose the value of the sensitive column that pictures are worked with, where its values were counted."""
    sensitive = _list_sensitive(table)
    counted = column_counts.find_column_counts(desk).columns.get(sensitive[0]) if sensitive else None
    if counted is None or not counted.is_counted or not counted.row_count:
        return Example()
    shares = [rows / counted.row_count for rows in counted.rows.to_list()]
    nearest = min(range(len(shares)), key=lambda number: abs(shares[number] - EXAMPLE_SHARE))
    value = counted.values[nearest]
    if value is None or not 0 < shares[nearest] < 1:
        return Example()
    return Example(f"{sensitive[0]} {value}", shares[nearest])


def _make_curve(desk: Desk, memory: PlanMemory, table: Mapping[str, Any], index: int, parameter: str) -> CostCurve:
    entry = _list_entries(table)[index]
    steps = _list_steps(entry, parameter)
    value = entry.get(parameter, steps[0])
    current = next(number for number, step in enumerate(steps) if _to_fraction(step) == _to_fraction(value))
    tables = []
    for step in steps:
        variant = deepcopy(dict(table))
        variant["promise"][index][parameter] = step
        tables.append(variant)
    tables[current] = dict(table)
    points = [plan_points.find_point(desk, memory, variant) for variant in tables]
    return CostCurve(parameter, tuple(steps), current, tuple(tables), tuple(points))


def _list_steps(entry: Mapping[str, Any], parameter: str) -> list[Any]:
    """List the places of a slider, the loosest first; the job's own value is one of them."""
    steps: list[Any] = list(PROMISE_SENTENCES[entry["model"]].steps.get(parameter, ()))
    value = convert_decimals(entry.get(parameter))
    if not steps or value is None or any(_to_fraction(step) == _to_fraction(value) for step in steps):
        return steps
    is_falling = steps[0] > steps[-1]
    return sorted([*steps, value], key=_to_fraction, reverse=is_falling)


def _list_curves(desk: Desk, memory: PlanMemory, table: Mapping[str, Any]) -> list[CostCurve]:
    return [
        _make_curve(desk, memory, table, index, parameter)
        for index, entry in enumerate(_list_entries(table))
        for parameter in PROMISE_SENTENCES[entry["model"]].steps
    ]


def _list_near_tables(desk: Desk, memory: PlanMemory) -> list[Mapping[str, Any]]:
    """List the job, each promise alone, and the neighbours of the places of all sliders."""
    if desk.read_job() is None:
        return []
    table = desk.job_file.read_table()
    shares = _list_shares(desk, memory, table, _list_entries(table))
    near = [
        variant
        for curve in _list_curves(desk, memory, table)
        for variant in curve.tables[max(curve.current - 1, 0) : curve.current + 2]
    ]
    return [table, *(share.table for share in shares), *near]


def _list_shares(desk: Desk, memory: PlanMemory, table: Mapping[str, Any], entries: Sequence[Any]) -> list[Share]:
    """List what a row keeps under each promise alone, where there are several."""
    if len(entries) < 2:
        return []
    shares = []
    for entry in entries:
        alone = {**table, "promise": [entry]}
        shares.append(Share(str(entry["model"]), plan_points.find_point(desk, memory, alone), alone))
    return shares


def _describe_costs(shares: Sequence[Share], here: PlannedPoint | None) -> str:
    """Say which promise costs what, where it is known."""
    if here is None or here.kept is None:
        return ""
    known = [share for share in shares if share.point is not None and share.point.kept is not None]
    if not known or len(known) < len(shares):
        return ""
    cheapest = max(known, key=lambda share: share.point.kept if share.point and share.point.kept is not None else 0.0)
    dearest = min(known, key=lambda share: share.point.kept if share.point and share.point.kept is not None else 0.0)
    assert cheapest.point is not None and cheapest.point.kept is not None
    if cheapest is dearest or plots.format_share(cheapest.point.kept) == plots.format_share(here.kept):
        return "Each promise alone costs as much as all together."
    return (
        f"With {cheapest.name} alone a row would keep {plots.format_share(cheapest.point.kept)}: "
        f"{dearest.name} costs most of the rest."
    )


def _list_offers(desk: Desk, table: Mapping[str, Any], present: set[str]) -> list[Offer]:
    example = _choose_example(desk, table)
    return [
        Offer(
            model,
            sentence,
            _say(sentence, model),
            sentence.draw({**_fill_defaults({"model": model}), **sentence.start}, example),
            list_keeping_methods(model),
        )
        for model, sentence in PROMISE_SENTENCES.items()
        if model not in present
    ]


@cache
def list_keeping_methods(model: str) -> tuple[str, ...]:
    """List the methods that can keep a promise, as they say themselves; a stage that keeps it is named by itself."""
    start: dict[str, Any] = {"model": model, **PROMISE_SENTENCES[model].start}
    if model == "k-map":
        start["population"] = "people.csv"
    promise = registry.make_promise(start)
    methods = [name for name in catalogue.METHODS if isinstance(promise, registry.load_method_class(name).keeps)]
    stages = [
        name for name in catalogue.STAGES if not methods and model == "l-dichotomy" and registry.load_stage_class(name)
    ]
    return (*methods, *(f"the stage {name}" for name in stages))


def _say(sentence: PromiseSentence, model: str) -> str:
    values = {**_fill_defaults({"model": model}), **sentence.start}
    return _BLANK.sub(
        lambda match: (
            {"column": "what is sensitive", "population": "a table"}.get(match[1])
            or _format_value(values.get(match[1]))
        ),
        sentence.sentence,
    )


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else format_toml_value(value)


def _list_methods(job: Job) -> list[str]:
    return list_supporting_methods(job, sum(column.role.value == "sensitive" for column in job.columns.values()))


def _make_start(desk: Desk, model: str) -> dict[str, Any]:
    start = deepcopy(dict(PROMISE_SENTENCES[model].start))
    if model == "k-map":
        source = desk.find_source()
        tables = [path for path in desk.project.list_tables() if path != source]
        if not tables:
            raise RequestError(
                "k-map needs a table of the population, and the project has none besides its data.",
                attempt="a file in the project's folder with the people that a description may fit.",
            )
        start["population"] = desk.project.describe(tables[0])
    return start


def _read_index(desk: Desk, form: FormData) -> tuple[int, list[Any]]:
    entries = _list_entries(desk.job_file.read_table())
    index = str(form.get("index", ""))
    model = str(form.get("model", ""))
    if index.isdecimal() and int(index) < len(entries):
        entry = entries[int(index)]
        if (str(entry.get("model", "")) if isinstance(entry, Mapping) else "") == model:
            return int(index), entries
    raise RequestError("The promises have changed in the meantime.", attempt="looking again, and then once more.")


def _read_entry(desk: Desk, form: FormData) -> tuple[int, dict[str, Any]]:
    index, entries = _read_index(desk, form)
    entry = entries[index]
    if entry.get("model") not in PROMISE_SENTENCES:
        raise RequestError("This promise is not known.", attempt="taking it out, or the job's text.")
    return index, dict(entry)


def _require_promise(entry: Mapping[str, Any]) -> None:
    """Refuse parameters that the promise's own model refuses."""
    registry.make_promise(dict(entry))


def _set_promise(desk: Desk, index: int, entry: Mapping[str, Any]) -> None:
    """Write the parameters of a promise, each field by itself, so that comments are kept."""
    _require_promise(entry)
    with desk.job_file.edit() as document:
        promises: Any = document["promise"]
        written = promises[index]
        for name in [name for name in written if name not in entry]:
            written.pop(name)
        for name, value in entry.items():
            if name not in written or convert_decimals(written[name]) != convert_decimals(value):
                written[name] = _make_item(value)


def _make_table(entry: Mapping[str, Any]) -> Any:
    table = tomlkit.table()
    for name, value in entry.items():
        table[name] = _make_item(value)
    return table


def _make_item(value: Any) -> Any:
    """Make an inline value, as a job writes one: a table in a line, a list in a line."""
    value = convert_decimals(value)
    return tomlkit.value(format_toml_value(value)) if isinstance(value, Mapping | list) else value


def _format_step(step: Any) -> str:
    return str(step)


def _to_fraction(value: Any) -> Fraction:
    return Fraction(str(value))


SCREEN = Screen(
    name="promise",
    title="Promise",
    question="What do you owe the people in the table?",
    why="A promise is a sentence about every group of the release. Move a slider and see what it costs; nothing is written until you publish.",
    example='"Everybody shares their description with at least 10 people" is k-anonymity with k = 10.',
    docs="promises",
    show=show,
    write_commands=write_commands,
    actions={
        "change": change,
        "slide": slide,
        "add": add,
        "preset": take_preset,
        "remove": remove,
        "method": take_method,
        "plan": plan,
    },
    find_obstacle=find_obstacle,
    is_done=is_done,
)
