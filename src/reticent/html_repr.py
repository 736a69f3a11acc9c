"""HTML representations of our objects for notebooks: one function for each class, a heading in words and a table below it.

`render_job`, `render_check`, `render_release`, `render_audit`, `render_hierarchy`, `render_attack` and `render_answers`
are what `_repr_html_` returns. They take the object itself and show nothing that it does not print anyway: they read no file and
show no record.

The tables (`render_table`, `render_page`, `render_list`) and the drawings (`render_picture`, those of the report and the
studio) have no script, no style sheet of their own and need no network: a notebook styles them as it does its others. Every text is escaped; long texts and long tables are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from numbers import Integral, Real
from typing import Any

from reticent.drawing import plots
from reticent.drawing.own_colours import colour_drawing
from reticent.errors import pluralize

MAX_TABLE_ROWS = 30
MAX_CELL_LETTERS = 120
_TEXT_CELL_STYLE = "text-align: left; vertical-align: top; padding: 0.15em 0.8em 0.15em 0;"
_NUMBER_CELL_STYLE = (
    "text-align: right; vertical-align: top; padding: 0.15em 0.8em 0.15em 0; font-variant-numeric: tabular-nums;"
)
_BAR_CELL_STYLE = "width: 20em; vertical-align: middle;"
VERDICT_SENTENCES = {
    True: "every promise is kept",
    False: "NOT every promise is kept",
    None: "the files alone do not show every promise",
}
KEPT_WORDS = {True: "yes", False: "NO", None: "not shown"}


def format_value(value: Any) -> str:
    """Format a value for people, short enough for a cell."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, Fraction):
        return str(value) if value.limit_denominator(99) == value else f"{float(value):.4g}"
    if isinstance(value, Real):
        number = float(value)
        return f"{number:,.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {format_value(inner)}" for name, inner in value.items())
    text = str(value)
    return text if len(text) <= MAX_CELL_LETTERS else text[: MAX_CELL_LETTERS - 1] + "…"


def render_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Render a table with numbers aligned to the right; rows beyond MAX_TABLE_ROWS are only counted."""
    listed = [list(row) for row in rows]
    if not listed:
        return ""
    right = [all(_is_number(row[column]) for row in listed) for column in range(len(head))]
    top = "".join(_render_cell("th", name, column) for name, column in zip(head, right, strict=True))
    body = "".join(
        f"<tr>{''.join(_render_cell('td', format_value(cell), column) for cell, column in zip(row, right, strict=True))}</tr>"
        for row in listed[:MAX_TABLE_ROWS]
    )
    hidden_rows = len(listed) - MAX_TABLE_ROWS
    below = f"<p>and {hidden_rows:,} more</p>" if hidden_rows > 0 else ""
    return f"<table style='margin-bottom: 0.8em;'><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{below}"


def render_page(title: str, *parts: str) -> str:
    """Render a heading in words with parts below it."""
    return f"<div><p><strong>{_escape_text(title)}</strong></p>{''.join(parts)}</div>"


def render_picture(title: str, drawn: str, svg: str) -> str:
    """Render a drawing below the sentence that it shows and the line that says what is drawn; empty where there is none."""
    if not svg:
        return ""
    return (
        f'<figure style="max-width: 44rem; margin: 0.8em 0;"><figcaption><strong>{_escape_text(title)}</strong><br>'
        f"{_escape_text(drawn)}</figcaption>{colour_drawing(svg)}</figure>"
    )


def render_bars(title: str, drawn: str, shares: Mapping[str, float]) -> str:
    """Render a bar for each share, from 0 to 1 of the width, with its name and its number; empty where there is none."""
    lines = "".join(
        f'<tr>{_render_cell("th", name, False)}<td style="{_BAR_CELL_STYLE}">{colour_drawing(plots.draw_bar(share))}</td>'
        f"{_render_cell('td', plots.format_share(share), True)}</tr>"
        for name, share in list(shares.items())[:MAX_TABLE_ROWS]
    )
    if not lines:
        return ""
    return (
        f"<p><strong>{_escape_text(title)}</strong><br>{_escape_text(drawn)}</p>"
        f"<table style='margin-bottom: 0.8em;'><tbody>{lines}</tbody></table>"
    )


def render_list(sentences: Iterable[str]) -> str:
    """Render sentences, one below the other."""
    items = "".join(f"<li>{_escape_text(format_value(sentence))}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def render_job(self: Any) -> str:
    """Render what is published and what is promised; the source is left out because it may hold a password."""
    columns = [
        (name, column.role.value, column.type or "by its values", _describe_column_options(column))
        for name, column in self.columns.items()
    ]
    return render_page(
        f"A job for {self.method.name}",
        render_table(("column", "role", "type", "how"), columns),
        render_table(("promise", "parameters"), [_describe_component(promise) for promise in self.promises]),
        render_table(("preparing stage", "parameters"), [_describe_component(stage) for stage in self.prepare]),
    )


def render_check(self: Any) -> str:
    """Render whether the promise is reached, by which methods, at what loss."""
    own = self.methods[0]
    head = ["method", "reachable", "groups", "smallest", "withheld", "expected loss (AIL)"]
    rows = [
        [summary.method, summary.reachable, summary.groups, summary.smallest, summary.withheld, summary.ail]
        for summary in self.methods
    ]
    if any(summary.within_limit is not None for summary in self.methods):
        head.append("within loss_at_most")
        rows = [[*row, summary.within_limit] for row, summary in zip(rows, self.methods, strict=True)]
    reached = {True: "is reachable", False: "IS NOT reachable", None: "may or may not be reachable"}[own.reachable]
    reasons = [f"{summary.method}: {summary.why}" for summary in self.methods if summary.why]
    title = f"{self.rows:,} rows in {self.cells:,} cells. The promise {reached} by {own.method}."
    return render_page(title, render_table(head, rows), render_list([*reasons, *self.warnings]))


def render_release(self: Any) -> str:
    """Render kind, promises and columns of a release from its manifest."""
    columns = [(column.name, column.role, column.type) for column in self.columns]
    stated = [(promise.name, format_value(promise.parameters)) for promise in self.manifest.promises]
    title = f"A {self.kind} release of {self.manifest.rows:,} rows, {self.manifest.withheld:,} withheld"
    said = [(name, "; ".join(text) if isinstance(text, list) else text) for name, text in self.about.items()]
    parts = (
        render_table(("about", ""), said),
        render_table(("promise", "parameters"), stated),
        render_table(("column", "role", "type"), columns),
    )
    return render_page(title, *parts, render_list(self.notices))


def render_audit(self: Any) -> str:
    """Render the verdict, what was asked and achieved, and every measure."""
    verdict = VERDICT_SENTENCES[self.kept] if self.promises else "no promise was stated"
    named = f"{self.about['title']}: " if "title" in self.about else ""
    withheld = "an unknown number" if self.withheld is None else f"{self.withheld:,}"
    title = f"{named}{self.rows:,} rows in {self.groups:,} groups, {withheld} withheld: {verdict}"
    promises = [
        (
            promise.model + (f" of {promise.column}" if promise.column else ""),
            format_value(promise.asked),
            format_value(promise.achieved),
            KEPT_WORDS[promise.kept],
        )
        for promise in self.promises
    ]
    measures = [
        (name, "none holds" if value is None else format_value(value))
        for name, value in {**self.exact, **self.utility}.items()
        if not hasattr(value, "items")
    ]
    parts = [
        render_table(("promise", "asked", "achieved", "kept"), promises),
        render_table(("measure", "achieved"), measures),
    ]
    if self.source is not None:
        parts.append(render_list(self.source.sentences))
    return render_page(
        title,
        *(f"<p>{_escape_text(caveat)}</p>" for caveat in self.caveats),
        f"<p>{_escape_text(self.remainder.sentence)}</p>",
        *parts[:1],
        _render_losses(self.utility.get("ail_by_column") or {}),
        *parts[1:],
        render_list([*self.disagreements, *self.notes, *([] if self.page is None else [self.page.sentence])]),
    )


def _render_losses(losses: Mapping[str, Any]) -> str:
    known = {name: float(loss) for name, loss in losses.items() if loss is not None}
    shares = dict(sorted(known.items(), key=lambda entry: -entry[1]))
    if not any(shares.values()):
        return ""
    drawn = "How much of its column a label covers, on average: 0 % is the value itself, 100 % is anything."
    return render_bars("What each column lost", drawn, shares)


def render_hierarchy(self: Any) -> str:
    """Render the levels of a hierarchy from the values up: the number of labels of each and the first of them."""
    rows = []
    for level in range(self.height + 1):
        labels = list(dict.fromkeys(self.labels[node] for node in self.paths[:, level]))
        first = ", ".join(labels[:5]) + (", ..." if len(labels) > 5 else "")
        rows.append((level, len(labels), first))
    return render_page(
        f"A hierarchy of {len(self.leaves):,} values, {pluralize(self.height, 'level')} above them",
        render_table(("level", "labels", "the first of them"), rows),
    )


def render_attack(self: Any) -> str:
    """Render what the adversary reached beside the baseline and the promise."""
    outcome = self.to_dict()
    rows = [
        (name.replace("_", " "), format_value(value))
        for name, value in outcome.items()
        if not isinstance(value, list | dict)
    ]
    return render_page(
        f"The attack {outcome.get('attack', '')}".strip(),
        _draw_success(outcome),
        render_table(("", ""), rows[1:] if "attack" in outcome else rows),
    )


def _draw_success(outcome: Mapping[str, Any]) -> str:
    """Draw what an attack reached beside its control and guessing; empty where it guesses nobody."""
    success = outcome.get("success")
    baseline = outcome.get("baseline")
    if success is None or baseline is None:
        return ""
    control = outcome.get("control")
    low, high = outcome.get("low"), outcome.get("high")
    interval = None if low is None or high is None else (low, high)
    top = min(max(number for number in (success, baseline, control, high, 0.01) if number is not None) * 1.05, 1.0)
    drawing = plots.draw_attack(
        success, baseline if control is None else control, top, interval, None if control is None else baseline
    )
    beside = "" if control is None else f" Hollow: its control, {plots.format_share(control)}."
    guessing = f"{'Hollow' if control is None else 'Upright line'}: guessing the most frequent value, {plots.format_share(baseline)}."
    title = f"{plots.format_share(success)} of the guesses are right"
    return render_picture(
        title, f"Filled: with this release.{beside} {guessing} From 0 to {plots.format_share(top)}.", drawing
    )


def render_answers(title: str, answers: Sequence[Any], note: str | None) -> str:
    """Render answers as a table: keys, estimate, bounds and interval; what is certain and assumed stands below."""
    key_names = list(dict.fromkeys(name for answer in answers for name in answer.keys or ()))
    has_aggregate = any(answer.of is not None for answer in answers)
    intervals = [answer.interval for answer in answers]
    has_interval = any(interval is not None for interval in intervals)
    head = [*key_names, *(["aggregate"] if has_aggregate else []), "estimate", "lower", "upper"]
    if has_interval:
        head.append(f"{format_share(answers[0].level)} interval")
    rows = []
    for answer, interval in zip(answers, intervals, strict=True):
        keys = [_format_key(answer, name) for name in key_names]
        cells = [*keys, *([answer.of] if has_aggregate else []), answer.estimate, answer.lower, answer.upper]
        if has_interval:
            cells.append(None if interval is None else " to ".join(map(format_value, interval)))
        rows.append(cells)
    below = f"<p>{_escape_text(note)}</p>" if note else ""
    return render_page(title, render_table(head, rows), below)


def format_share(share: float) -> str:
    """Format a share as percent, such as 95 %."""
    return f"{share * 100:g} %"


def _format_key(answer: Any, name: str) -> str:
    keys = answer.keys or {}
    return "NULL" if keys.get(name) is None else str(keys[name])


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool))


def _render_cell(tag: str, text: str, right: bool) -> str:
    return f'<{tag} style="{_NUMBER_CELL_STYLE if right else _TEXT_CELL_STYLE}">{_escape_text(text)}</{tag}>'


def _escape_text(value: Any) -> str:
    return escape(str(value), quote=True)


def _describe_column_options(column: Any) -> str:
    is_set = {
        "hierarchy": column.hierarchy is not None,
        "order": column.order is not None,
        "top": column.top is not None,
        "bottom": column.bottom is not None,
        "round_to": column.round_to is not None,
        "rows_per_person": column.rows_per_person is not None,
    }
    return ", ".join(name for name, is_option_set in is_set.items() if is_option_set) or "-"


def _describe_component(part: Any) -> tuple[str, str]:
    from dataclasses import fields

    parameters = {field.name.removesuffix("_"): getattr(part, field.name) for field in fields(part)}
    return part.name, format_value({name: value for name, value in parameters.items() if value is not None}) or "-"
