"""Sentences that the READMEs of several kinds share.  Functions of the manifest alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reticent import catalogue
from reticent.errors import some
from reticent.release.manifest import ColumnEntry, Described, Manifest
from reticent.release.markup import cell, code
from reticent.release.parts import grouped, pattern
from reticent.table.labelling import Labelling
from reticent.table.roles import Role

SEEDED = "**Not for publication: made with a fixed seed, for tests and studies.**"
EXACT = "- Who a row belongs to is not hidden: the other columns are exact. Whether someone is in the data is not hidden either."
FORMULAS = {
    "quote": "In the CSV files, texts and column names that a spreadsheet would take for formulas begin with an apostrophe (`'`) that\n"
    "is not part of them; `rt.open` takes it away.",
    "present": "**Some texts or column names begin as formulas do (`=`, `+`, `-`, `@`, a tab or a carriage return), and a spreadsheet may\n"
    'run them.** Import the files as text, or open them with `rt.open`. The publisher can quote them (`formulas = "quote"`).',
}
BESIDES = (
    "- Who else reads a release, what they reached of others and what lowers it: *What a release says besides*,\n"
    "  `docs/what-else-it-says.md` in the documentation of reticent. No release is safe because an attack failed on it."
)
FOR_ALL = "- Statistical conclusions that hold for everyone are not stopped, and are what the data is for."


def heading(manifest: Manifest) -> list[str]:
    article = "An" if manifest.kind[0] in "aeiou" else "A"
    parts = [f"# {article} {manifest.kind} release of {manifest.rows:,} rows", ""]
    parts += [SEEDED, ""] if manifest.seeded else []
    parts += [FORMULAS[manifest.formulas], ""] if manifest.formulas else []
    return [*parts, *_in_parts(manifest)]


def files(manifest: Manifest) -> list[str]:
    """Each data file as a sentence names it: one file, or its first part to its last."""
    found = grouped(manifest.data).values()
    return [f"`{names[0]}`" if len(names) == 1 else f"`{names[0]}` to `{names[-1]}`" for names in found]


def holding(manifest: Manifest) -> list[str]:
    """Each data file as the subject of a sentence, with its verb."""
    many = [len(names) > 1 for names in grouped(manifest.data).values()]
    return [f"{named} hold" if cut else f"{named} holds" for named, cut in zip(files(manifest), many, strict=True)]


def _in_parts(manifest: Manifest) -> list[str]:
    """How to read files that are cut into parts, without reticent."""
    cut = {name: names for name, names in grouped(manifest.data).items() if len(names) > 1}
    if not cut:
        return []
    read = "read_csv" if manifest.data[0].endswith(".csv") else "read_parquet"
    listed = ", ".join(f"`{name}` into {len(names):,}" for name, names in cut.items())
    polars = [f'{name} = pl.{read}("{pattern(names)}")' for name, names in cut.items()]
    pandas = [
        f'{name} = pd.concat(map(pd.{read}, sorted(glob.glob("{pattern(names)}"))), ignore_index=True)'
        for name, names in cut.items()
    ]
    return [
        f"The rows are cut into parts of {manifest.part_rows:,}, the last part of a file holding what is left: {listed}. Where",
        "they are cut says nothing about them. `rt.open` reads the parts as one table, and so do Polars or pandas, in this folder:",
        "",
        "```python",
        "import polars as pl",
        *polars,
        "```",
        "",
        "```python",
        "import glob",
        "import pandas as pd",
        *pandas,
        "```",
        "",
    ]


def counting(condition: str, found: str) -> list[str]:
    """How rows are counted by who has reticent."""
    return [
        "```python",
        "import polars as pl, reticent as rt",
        'release = rt.open("this folder")',
        f'release.count({condition}, values=["..."])      # {found}',
        "```",
        "",
    ]


def promised(manifest: Manifest, sentence: Callable[[Described], str] | None = None) -> list[str]:
    """The promises, in sentences."""
    said = sentence or promise_sentence
    return ["## What is promised", "", *(f"- {said(promise)}" for promise in manifest.promises)]


def not_promised(*limits: str) -> list[str]:
    """What a kind's promises do not say, and what no promise says."""
    return ["", "## What is not", "", *limits, FOR_ALL, BESIDES]


def promise_sentence(promise: Described) -> str:
    given = dict(promise.parameters)
    form = ", frequent ones less than that" if given.get("enhanced") else ""
    form += ", and no less frequent than there divided by as much" if given.get("two_sided") else ""
    which = "".join(f", {word.replace('_', '-')}" for word in ("enhanced", "two_sided") if given.get(word))
    column = code(given["column"]) if "column" in given else "the sensitive column"
    said = {name: _said(value) for name, value in given.items()}
    return catalogue.PROMISES[promise.name].sentence.format(**{**said, "column": column, "form": form, "which": which})


def _said(value: Any) -> Any:
    """A parameter in a sentence: a table as its entries, a list as one thing after the other."""
    if isinstance(value, Mapping):
        return ", ".join(f"{cell(name)} {_said(entry)}" for name, entry in sorted(value.items()))
    if isinstance(value, list | tuple):
        return "; ".join(str(_said(entry)) for entry in value)
    return cell(value) if isinstance(value, str) and not value[:1].isdigit() else value


def coarser(column: ColumnEntry) -> list[str]:
    """What top and bottom coding and rounding did to a column."""
    less, more = ("earlier", "later") if column.type == "date" else ("less", "more")
    ends = ((column.bottom, less), (column.top, more))
    said = [f"`{end}` means {end} or {word}" for end, word in ends if end is not None]
    return said + ([f"rounded to the nearest multiple of {column.round_to}"] if column.round_to is not None else [])


def coarser_columns(manifest: Manifest) -> list[str]:
    return [f"- {code(column.name)}: {said}." for column in manifest.columns for said in coarser(column)]


_TIGHT = (
    "- The ends of a range, and the least and greatest value that `manifest.json` states of a column, are values that people have,\n"
    "  unless the publisher declared them."
)
_WIDER = {
    "snapped": "the ends of a range were rounded outwards{by}: an end is not a value that somebody has, unless by chance",
    "padded": "each end of a range was moved outwards by a secret amount{by}: an end is not a value that somebody has, unless by chance",
    "shared": "each end of a range was moved outwards by a secret amount{by}, and of at most {share} of the range: the ends of the\n"
    "  narrowest ranges were not moved, and people have them; another end is not a value that somebody has, unless by chance",
}


def ends(manifest: Manifest) -> list[str]:
    """What the ends of ranges tell: of columns whose labels are tight, and of each that has others."""
    lines = [column for column in manifest.named(Role.QUASI) if column.type != "categorical"]
    wider = {column.name: Labelling.of(column.labels) for column in lines if column.labels is not None}
    tight = [column for column in lines if column.name not in wider]
    said = [_TIGHT] if tight and not wider else []
    if tight and wider:
        names = ", ".join(code(column.name) for column in tight)
        said = [f"- The ends of a range of {names} are values that people have, unless the publisher declared them."]
    return [*said, *(f"- {code(name)}: {_wider(how)}." for name, how in wider.items())]


def _wider(how: Labelling) -> str:
    return _WIDER["shared" if how.share is not None else how.style].format(by=_by(how), share=how.share)


def _by(how: Labelling) -> str:
    if how.step is not None:
        return f", to {how.step}s" if isinstance(how.step, str) else f", to multiples of {how.step}"
    return f" of at most {how.width}" if how.width is not None else ""


def persons(manifest: Manifest) -> str:
    """How many rows a person has, as the job declares it."""
    most = manifest.rows_per_person
    return "one row per person" if most == 1 else f"at most {most} rows per person"


def several_rows(manifest: Manifest, because: str) -> list[str]:
    """What a promise about rows does not say of a person who has several."""
    if manifest.rows_per_person == 1:
        return []
    return [f"- A person with several rows is protected in each row alone: {because}."]


def withheld(manifest: Manifest) -> list[str]:
    return [f"- {some(manifest.withheld, 'row', 'was', 'were')} withheld."] if manifest.withheld else []
