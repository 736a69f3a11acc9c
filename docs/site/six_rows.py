"""Six people before and after each method, published for real and drawn:  python -m docs.site.six_rows

Writes one SVG for each method to docs/pictures, the first drawing of its page.  Runs are seeded, so the files are a function of
the code: a test compares them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

import reticent as rt
from reticent.methods.suppression import Suppression

FOLDER = Path(__file__).resolve().parents[1] / "pictures"
SEED = 1

WIDTH = 960
ROW_HEIGHT = 34
FIRST_ROW = 112  # the baseline of a table's first row
BEFORE_LEFT = 28
AFTER_LEFT = 532
TABLES_APART = 28
LETTER_WIDTH = 8.5  # of the monospaced type that values are drawn in
COLUMNS_APART = 26
MAX_CAPTION_LETTERS = 52

NAMES = ["Ada", "Ben", "Cem", "Dora", "Emil", "Fritz"]
AGES = [24, 27, 29, 41, 45, 48]
CITIES = ["Kiel", "Rostock", "Kiel", "Ulm", "Passau", "Ulm"]
TREE = [["Kiel", "north", "*"], ["Rostock", "north", "*"], ["Ulm", "south", "*"], ["Passau", "south", "*"]]
PATIENTS = pl.DataFrame(
    {"name": NAMES, "age": AGES, "city": CITIES, "disease": ["flu", "asthma", "gout", "flu", "asthma", "gout"]}
)
EPIDEMIC = PATIENTS.with_columns(disease=pl.Series(["flu", "flu", "gout", "flu", "asthma", "flu"]))
EARNERS = pl.DataFrame(
    {"name": NAMES, "age": AGES, "region": ["north"] * 3 + ["south"] * 3, "income": [20, 60, 40, 30, 50, 30]}
)
STYLE = """
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans","DejaVu Sans",sans-serif;font-size:15px;fill:#1c2024}
.value{font-family:ui-monospace,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace;font-size:14px}
.title{font-size:18px;font-weight:650}.head,.note{fill:#5d656e;font-size:13px}.gone{fill:#5d656e;text-decoration:line-through}
.box{fill:#d6e7ee;stroke:#0d5b7a;stroke-width:1.5}.rule{stroke:#dad7ce}.ring{fill:none;stroke:#a33f08;stroke-width:2}
.before{fill:#a33f08;font-weight:600;font-size:14px}.after{fill:#0d5b7a;font-weight:600;font-size:14px}
.arrow{stroke:#454c54;stroke-width:2;fill:none}.paper{fill:#fdfcf9}
@media (prefers-color-scheme:dark){text{fill:#e9e7e2}.head,.note,.gone{fill:#a0a6ad}.box{fill:#1e3a47;stroke:#7ec4e1}
.rule{stroke:#363c42}.ring{stroke:#f2a470}.before{fill:#f2a470}.after{fill:#7ec4e1}.arrow{stroke:#bec2c6}.paper{fill:#15181b}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Six people, the job that publishes them, and what a reader of the release learns."""

    people: pl.DataFrame
    promises: Sequence[Any]
    make_method: Callable[[], Any]
    stages: Sequence[Any] = ()
    title: str
    before: str = "Who knows that Cem is 29 and lives in Kiel reads his disease."
    after: str
    tables: Sequence[str] = ("data",)
    hidden: Sequence[str] = ()  # columns of the release that the drawing leaves out


EXAMPLES = {
    "mondrian": Example(
        people=PATIENTS,
        promises=[rt.KAnonymity(3), rt.BetaLikeness(1)],
        make_method=rt.Mondrian,
        title="After: each reads like two others",
        after="Who knows Cem learns that one in three like him has gout, as in the whole table.",
    ),
    "mosaic": Example(
        people=PATIENTS,
        promises=[rt.KAnonymity(3)],
        make_method=rt.Mosaic,
        title="After: each reads like two others",
        after="Of all ways to make groups of three, one is searched that loses least detail.",
    ),
    "burel": Example(
        people=PATIENTS,
        promises=[rt.BetaLikeness(1)],
        make_method=rt.Burel,
        title="After: a class holds one of each disease",
        after="No class says more of a disease than the whole table: one in three has gout.",
    ),
    "sabre": Example(
        people=PATIENTS,
        promises=[rt.TCloseness("0.2", distance="ordered")],
        make_method=rt.Sabre,
        title="After: each class is like the whole table",
        after="In both classes diseases are as frequent as in the whole table: the distance is 0.",
    ),
    "anatomy": Example(
        people=PATIENTS,
        promises=[rt.ProbabilisticLDiversity(3)],
        make_method=rt.Anatomy,
        title="After: two tables, tied by groups alone",
        after="Who knows Cem finds his row and his group: his disease is one of three.",
        tables=("quasi", "sensitive"),
        hidden=("count",),
    ),
    "beta-perturbation": Example(
        people=PATIENTS,
        promises=[rt.BetaLikeness(1)],
        make_method=rt.BetaPerturbation,
        title="After: every disease is drawn anew",
        after="Each keeps theirs with a chance of two in three. By these odds, counts can be estimated.",
    ),
    "distribution": Example(
        people=EARNERS,
        promises=[rt.PPrivacy("source")],
        make_method=lambda: rt.Distribution(group_by=["region"]),
        title="After: each group's incomes, apart from it",
        before="Who knows that Cem is 29 and lives in the north reads his income.",
        after="Incomes are permuted ranges. The mean of the north lies between 30 and 46.7 for certain.",
        tables=("quasi", "sensitive"),
        hidden=("lower", "upper", "count"),
    ),
    "perturbed-generalization": Example(
        people=PATIENTS,
        promises=[rt.RhoGuarantee("0.4", "0.8", "0.4")],
        make_method=lambda: rt.PerturbedGeneralization(k=3),
        title="After: one row in three, redrawn",
        after="Even who knows everybody else is never sure whether this is Cem's row, and its disease his.",
    ),
    "suppression": Example(
        people=EPIDEMIC,
        promises=[rt.ProbabilisticLDiversity(2)],
        make_method=rt.Anatomy,
        stages=[Suppression(l=2)],
        title="After: three rows are withheld",
        before="Four of six have the flu: a guess is right for most.",
        after="Which disease led cannot be told: what is left shows three that look alike.",
        tables=("quasi", "sensitive"),
        hidden=("count",),
    ),
}


def publish_example(example: Example) -> dict[str, pl.DataFrame]:
    """Publish six people, and return the release's tables in an order that can be read."""
    columns = {
        "name": rt.identifying(),
        "age": rt.quasi(),
        "city": rt.quasi(hierarchy=TREE),
        "region": rt.quasi(),
        "disease": rt.sensitive(order=["flu", "asthma", "gout"]),
        "income": rt.sensitive(),
    }
    job = rt.Job(
        columns={name: columns[name] for name in example.people.columns},
        promises=list(example.promises),
        method=example.make_method(),
        prepare=list(example.stages),
    )
    with tempfile.TemporaryDirectory() as ledger:
        release = rt.publish(job, frame=example.people, seed=SEED, ledger=ledger)
        tables = {name: release.tables[name].drop(example.hidden, strict=False) for name in example.tables}
    return {
        name: table.sort("group" if "group" in table.columns else "age", maintain_order=True)
        for name, table in tables.items()
    }


def draw_example(name: str) -> str:
    """Draw six people before and after a method, as SVG."""
    example = EXAMPLES[name]
    tables = publish_example(example)
    parts = [
        f'<text x="{BEFORE_LEFT}" y="42" class="title">Before: removing names is not enough</text>',
        f'<text x="{AFTER_LEFT}" y="42" class="title">{escape(example.title)}</text>',
        *_draw_source(example.people),
        *_draw_arrow(),
    ]
    left = float(AFTER_LEFT)
    for table in tables.values():
        drawing, width = _draw_table(table, left)
        parts += drawing
        left += width + TABLES_APART
    rows = max(len(example.people), *(len(table) for table in tables.values()))
    caption_top = FIRST_ROW + rows * ROW_HEIGHT + 14
    before = _wrap(example.before)
    after = _wrap(example.after)
    parts += _draw_caption(before, BEFORE_LEFT, caption_top, "before")
    parts += _draw_caption(after, AFTER_LEFT, caption_top, "after")
    height = caption_top + 20 * max(len(before), len(after)) + 4
    described = "; ".join(
        f"{table_name}: " + ", ".join(" ".join(map(str, row)) for row in table.iter_rows())
        for table_name, table in tables.items()
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title description">\n'
        f'<title id="title">Six people before and after {escape(name)}</title>\n'
        f'<desc id="description">{escape(example.before)} {escape(example.after)} Published: {escape(described)}.</desc>\n'
        f"<style>{STYLE}</style>\n"
        f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _draw_source(people: pl.DataFrame) -> list[str]:
    """Draw the source: names struck out, and a ring around what gives Cem away."""
    lefts = _place_columns(people, BEFORE_LEFT)
    right = lefts[-1]
    parts = [_draw_text(left, FIRST_ROW - 34, name, "head") for left, name in zip(lefts, people.columns, strict=False)]
    for number, row in enumerate(people.iter_rows()):
        baseline = FIRST_ROW + number * ROW_HEIGHT
        parts += [
            _draw_text(left, baseline, value, "gone" if column == "name" else "value")
            for left, column, value in zip(lefts, people.columns, row, strict=False)
        ]
        if number + 1 < len(people):
            parts.append(
                f'<line class="rule" x1="{BEFORE_LEFT}" x2="{right:g}" y1="{baseline + 11}" y2="{baseline + 11}"/>'
            )
    baseline = FIRST_ROW + NAMES.index("Cem") * ROW_HEIGHT
    ring_width = lefts[3] - lefts[1] - COLUMNS_APART + 20
    parts.append(
        f'<rect class="ring" x="{lefts[1] - 10:g}" y="{baseline - 20}" width="{ring_width:g}" height="29" rx="14.5"/>'
    )
    return parts


def _draw_table(table: pl.DataFrame, left: float) -> tuple[list[str], float]:
    """Draw a published table with a box around each group; return the drawing and its width."""
    lefts = _place_columns(table, left + 14)
    width = lefts[-1] - left
    parts = [_draw_text(place, FIRST_ROW - 34, name, "head") for place, name in zip(lefts, table.columns, strict=False)]
    first = 0
    keys = [row[table.columns.index("group")] if "group" in table.columns else row[0] for row in table.iter_rows()]
    if "group" in table.columns or isinstance(keys[0], str):
        for number in range(1, len(keys) + 1):
            if number == len(keys) or keys[number] != keys[first]:
                top = FIRST_ROW + first * ROW_HEIGHT - 21
                height = (number - first) * ROW_HEIGHT - 5
                parts.append(f'<rect class="box" x="{left:g}" y="{top}" width="{width:g}" height="{height}" rx="6"/>')
                first = number
    for number, row in enumerate(table.iter_rows()):
        baseline = FIRST_ROW + number * ROW_HEIGHT
        parts += [_draw_text(place, baseline, value, "value") for place, value in zip(lefts, row, strict=False)]
    return parts, width


def _place_columns(table: pl.DataFrame, left: float) -> list[float]:
    """Return where columns begin, and last where the table ends."""
    places = [left]
    for name in table.columns:
        letters = max(len(name), *(len(str(value)) for value in table[name]))
        places.append(places[-1] + letters * LETTER_WIDTH + COLUMNS_APART)
    places[-1] -= COLUMNS_APART - 14
    return places


def _draw_text(left: float, baseline: float, value: Any, style: str) -> str:
    return f'<text x="{left:g}" y="{baseline:g}" class="{style}">{escape(str(value))}</text>'


def _draw_arrow() -> list[str]:
    middle = FIRST_ROW + 2.5 * ROW_HEIGHT - 4
    return [
        f'<path class="arrow" d="M430 {middle:g}h68m-9-8 9 8-9 8"/>',
        f'<text x="462" y="{middle - 14:g}" class="note" text-anchor="middle">reticent</text>',
    ]


def _draw_caption(lines: Sequence[str], left: float, top: float, style: str) -> list[str]:
    return [_draw_text(left, top + 20 * number, line, style) for number, line in enumerate(lines)]


def _wrap(sentence: str) -> list[str]:
    lines = [""]
    for word in sentence.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > MAX_CAPTION_LETTERS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def main() -> None:
    """Write the drawing of every method."""
    FOLDER.mkdir(exist_ok=True)
    for name in EXAMPLES:
        (FOLDER / f"six-rows-{name}.svg").write_text(draw_example(name), encoding="utf-8")


if __name__ == "__main__":
    main()
