"""READMEs of the first edition, which releases have whose manifest states no edition.

Nothing is written in it any more. A README is a function of the manifest, and a folder with another README is refused:
so an edition's sentences stay as they were. The texts here are the first edition's own; how names, promises and ends of
ranges are formatted it shares with the present one (`release/readme.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from reticent.data.columns import Role
from reticent.format.manifest import ColumnEntry, ComponentEntry, Manifest, find_domain_declaration
from reticent.format.schema_checks import parse_fraction
from reticent.release.readme import (
    EXACT_COLUMNS_LIMIT,
    FORMULA_NOTES,
    SEEDED_WARNING,
    STATISTICS_LIMIT,
    describe_coarsening,
    describe_promise,
    describe_range_ends,
    describe_several_rows,
    explain_parts,
    format_cell,
    format_code,
    format_example_name,
    format_rows_per_person,
    format_withheld_rows,
    list_file_names,
    list_file_subjects,
    render_page,
)

_OTHER_READERS_LIMIT = (
    "- Who else reads a release, what they reached of others and what lowers it: *What a release says besides*,\n"
    "  `docs/what-else-it-says.md` in the documentation of reticent. No release is safe because an attack failed on it."
)
_GENERALIZED_LIMITS = """\
- The promise is about this release alone: a second release of the same people, or other data about them, can say more.
- It limits what the group of a person says about that person. It does not stop statistical conclusions that hold for everyone.
- It is about somebody who reads the groups, not about somebody who reasons why the method made just these groups: who knows the
  method and everybody in the table can learn more."""
_DECLARATION_SENTENCES = {
    "hierarchy": "The domain is the leaves of the publisher's hierarchy, whichever of them occur.",
    "order": "The domain is the publisher's list of ordered values, whichever of them occur.",
    "range": "The domain is every whole number of a range that the publisher declared, whichever of them occur.",
    "list": "The domain was listed by the publisher, whichever of its values occur.",
}
_SUM_QUERY = """SELECT SUM(b.sum_lower - (b.selected - p.n) * b.max_lower) AS lower,
       SUM(b.sum_upper - (b.selected - p.n) * b.min_upper) AS upper
FROM (SELECT "group", COUNT(*) AS n FROM quasi WHERE ... GROUP BY "group") p
JOIN bounds b ON b."group" = p."group"
 AND b.selected = (SELECT MIN(x.selected) FROM bounds x WHERE x."group" = p."group" AND x.selected >= p.n)"""


def render_first_generalized(manifest: Manifest) -> str:
    """Render the README that the first edition wrote for a generalized release."""
    file_names = " and ".join(list_file_names(manifest))
    parts = _format_heading(manifest)
    parts += [
        f"The data are in {file_names}, {format_rows_per_person(manifest)}; `manifest.json` describes the columns and the promise.",
        "",
        "| column | what it is | how to read it |",
        "|---|---|---|",
    ]
    parts += [f"| {format_cell(c.name)} | {c.role} | {_describe_column(c)} |" for c in manifest.columns]
    parts += ["", *_format_promises(manifest), *_describe_counted_rows(manifest), *format_withheld_rows(manifest)]
    parts += ["", "## What is not", "", _GENERALIZED_LIMITS, f"- It assumes {format_rows_per_person(manifest)}."]
    parts += describe_range_ends(manifest)
    if manifest.rows_per_person > 1:
        parts.append("- Promises about sensitive values count rows: the rows of one person in a group count each.")
    if len(manifest.find_columns_with_role(Role.SENSITIVE)) > 1 and not manifest.jointly:
        parts.append(
            "- Each sensitive column is protected alone: who knows one of a person's sensitive values may learn more about another."
        )
    return render_page([*parts, _OTHER_READERS_LIMIT])


def render_first_anatomized(manifest: Manifest) -> str:
    """Render the README that the first edition wrote for an anatomized release."""
    column = manifest.sensitive.name
    quasi, sensitive = list_file_subjects(manifest)
    parts = _format_heading(manifest)
    parts += [
        f"{quasi} {format_rows_per_person(manifest)}: every column but {format_code(column)} as it was, and the row's `group`.",
        f"{sensitive}, for each group, which values of {format_code(column)} its rows have, and how many of them have each (`count`).",
        "Which row of a group has which value is not said. Counts can be estimated, with the least and the most possible:",
        "",
        *_format_count_example('pl.col("...") == ...', "estimate, lower, upper"),
        *_describe_coarser_columns(manifest),
        "",
        *_format_promises(manifest),
        *format_withheld_rows(manifest),
    ]
    limits = _format_limits(
        EXACT_COLUMNS_LIMIT,
        "- The promise is about one row's group, for an adversary to whom all ways to match rows and values are equally likely.",
        "  One who knows how the values go with the other columns, or learns it from this release, or reasons why the method made",
        "  just these groups, can do better.",
        "- Where values go with the other columns, estimates lean towards what independence would give; the bounds hold all the same.",
        f"- It is about this release alone, and it assumes {format_rows_per_person(manifest)}.",
        *describe_several_rows(
            manifest, "who knows that their rows share a value can compare the groups of these rows"
        ),
    )
    return render_page([*parts, *limits])


def render_first_perturbed(manifest: Manifest) -> str:
    """Render the README that the first edition wrote for a perturbed release."""
    column = manifest.sensitive.name
    parts = _format_heading(manifest)
    parts += [
        f"{list_file_subjects(manifest)[0]} {format_rows_per_person(manifest)}. Every column but {format_code(column)} is as it was. {format_code(column)} was redrawn",
        "at random, row by row, by the probabilities in `manifest.json`: `matrix[i][v]` is that of publishing `values[v]`",
        "for a row that had `values[i]`. So no single row says what a person has; counts over many rows can be estimated:",
        "",
        *_format_count_example('pl.col("...") == ...', "estimate and standard error"),
        *_describe_coarser_columns(manifest),
        "",
        *_format_promises(manifest, lambda promise: _describe_likeness(column, promise)),
        *format_withheld_rows(manifest),
    ]
    limits = _format_limits(
        EXACT_COLUMNS_LIMIT,
        "- The promise assumes an adversary who knows the overall distribution and these probabilities, and nothing else about",
        f"  the person's value. It is about one row of a person; it assumes {format_rows_per_person(manifest)}.",
        *describe_several_rows(manifest, "values were redrawn row by row, and all their rows together say more"),
        "- It is about this release alone: if the same people's values were redrawn in a second release, both together say more.",
    )
    return render_page([*parts, *limits])


def render_first_transformed(manifest: Manifest) -> str:
    """Render the README that the first edition wrote for a transformed release."""
    column = manifest.sensitive.name
    quasi, sensitive, bounds = list_file_subjects(manifest)
    example_column = manifest.find_columns_with_role(Role.QUASI)[0].name
    numeric = manifest.sensitive.type == "numeric"
    question = (
        f"SELECT AVG({format_example_name(column)}) FROM release WHERE {format_example_name(example_column)} = ..."
        if numeric
        else f"SELECT COUNT(*) FROM release WHERE {format_example_name(column)} = '...'"
    )
    parts = [
        *_format_heading(manifest),
        f"{quasi} {format_rows_per_person(manifest)}: every column but {format_code(column)} as it was, and the row's `group`.",
        f"{sensitive} each group's values of {format_code(column)}, generalized (`lower`, `upper`, `label`) and permuted, with how many there",
        "are of each (`count`). There may be more values than rows: some are fake, and nothing says which.",
        f"{bounds}, for each group, the bounds of any number of `selected` rows of it.",
        "`manifest.json` holds the domain (`values`), its hierarchy (`tree`: first and last value of each node), and each distinct target",
        "(`targets`: the weight of each node among its siblings), with the group from which on it is `assigned`.",
        "",
        "Aggregates of any condition on the other columns come with guaranteed bounds:",
        "",
        "```python",
        "import reticent as rt",
        f'rt.open("this folder").query("{question}")      # estimate, lower, upper',
        "```",
        "",
    ]
    if numeric:
        parts += [
            "or in plain SQL, here for SUM (for AVG, divide by the number of rows):",
            "",
            "```sql",
            _SUM_QUERY,
            "```",
            "",
        ]
    limits = _format_limits(
        EXACT_COLUMNS_LIMIT,
        "- The promise is about which value a person has, for somebody who does not know how the values were generalized. One who",
        "  does can infer somewhat more from what the method chose not to publish: `reticent attack --as algorithm` says how much.",
        "- Who knows the values of all others in a group learns the last one's entry in `sensitive`, up to the fakes.",
        f"- It is about this release alone, and it assumes {format_rows_per_person(manifest)}.",
        *describe_several_rows(
            manifest, "who knows that their rows share a value can compare the groups of these rows"
        ),
    )
    return render_page([*parts, *_describe_coarser_columns(manifest), *_format_promises(manifest), *limits])


def render_first_sampled(manifest: Manifest) -> str:
    """Render the README that the first edition wrote for a sampled release."""
    column = manifest.sensitive.name
    own = manifest.own
    parts = _format_heading(manifest)
    parts += [
        f"{list_file_subjects(manifest)[0]} one row for each group of at least {_describe_groups(manifest)} people. The labels are those of the whole",
        f"group; {format_code(column)} is that of one person of it, drawn at random, and was kept with probability p = {own['p']} or else drawn",
        f"from the {len(own['domain'])} values of its domain, each being equally likely; `G` is how many rows the group has. {_describe_domain(manifest)}",
        "",
        f"Absurd rows, such as a value that nobody with these labels can have, are expected: a perturbed {format_code(column)} goes with anything.",
        "So no single row says what a person has. Weight each row by `G`, and reconstruct counts of many rows: of N people, those with",
        f"one of v values are estimated as (the sum of `G` over rows that show one - (1 - p) N v / {len(own['domain'])}) / p.",
        "",
        *_format_count_example('pl.col("...") == "..."', "estimate and standard error"),
        *_describe_coarser_columns(manifest),
        "",
        *_format_promises(manifest),
    ]
    return render_page([*parts, *_describe_sampled_limits(manifest)])


def _describe_sampled_limits(manifest: Manifest) -> list[str]:
    corrupted = "- Corruption is meant: an adversary who has learned the true values of any other people, of everyone else even, is within the"
    looked = (
        "- Groups were made by looking at perturbed values; the promise is calibrated as if each group were one person."
    )
    grouping = manifest.method.parameters.get("grouping", "mondrian")
    return _format_limits(
        corrupted,
        "  promise, whoever they are. It assumes that this person's value is believed independently of theirs.",
        "- A prior that believes more strongly in one value than lambda is outside of it.",
        *([looked] if grouping == "specialization" else []),
        "- Whether someone is in the data is not hidden: labels and group sizes are those of everybody in it.",
        "- Ends and members of labels are values that people have, drawn or not.",
        f"- It is about this release alone, and it assumes {format_rows_per_person(manifest)}: a second release draws again, and both say more.",
        *describe_several_rows(
            manifest, "rows that lie in different groups are drawn and perturbed apart, and together say more"
        ),
    )


def _format_heading(manifest: Manifest) -> list[str]:
    article = "An" if manifest.kind[0] in "aeiou" else "A"
    parts = [f"# {article} {manifest.kind} release of {manifest.rows:,} rows", ""]
    parts += [SEEDED_WARNING, ""] if manifest.seeded else []
    parts += [FORMULA_NOTES[manifest.formulas], ""] if manifest.formulas else []
    return [*parts, *explain_parts(manifest)]


def _format_count_example(condition: str, result: str) -> list[str]:
    return [
        "```python",
        "import polars as pl, reticent as rt",
        'release = rt.open("this folder")',
        f'release.count({condition}, values=["..."])      # {result}',
        "```",
        "",
    ]


def _format_promises(manifest: Manifest, sentence: Callable[[ComponentEntry], str] | None = None) -> list[str]:
    describe = sentence or describe_promise
    return ["## What is promised", "", *(f"- {describe(promise)}" for promise in manifest.promises)]


def _format_limits(*limits: str) -> list[str]:
    return ["", "## What is not", "", *limits, STATISTICS_LIMIT, _OTHER_READERS_LIMIT]


def _describe_column(column: ColumnEntry) -> str:
    if column.role != Role.QUASI:
        return "; ".join([f"as it was ({column.dtype})", *describe_coarsening(column)])
    if column.type == "categorical":
        if column.hierarchy is None:
            return "a value, or a set `{a, b}` of values, one of which it is; `*` is any value"
        return "a value, or a node of the hierarchy in the manifest that covers it; `*` is any value"
    return "a value, or a range `[low, high]` with both ends included; `*` is any value" + "".join(
        f"; {sentence}" for sentence in describe_coarsening(column)
    )


def _describe_counted_rows(manifest: Manifest) -> list[str]:
    rows_per_person = manifest.rows_per_person
    promised_sizes = [
        int(parse_fraction(p.parameters["k"]))
        for p in manifest.promises
        if p.name in ("k-anonymity", "alpha-k-anonymity")
    ]
    return [
        f"- Since nobody has more than {rows_per_person} rows, such a group has at least {k * rows_per_person} rows, those of at least {k} persons."
        for k in promised_sizes
        if rows_per_person > 1
    ]


def _describe_coarser_columns(manifest: Manifest) -> list[str]:
    return [
        f"- {format_code(column.name)}: {sentence}."
        for column in manifest.columns
        for sentence in describe_coarsening(column)
    ]


def _describe_likeness(column: str, promise: ComponentEntry) -> str:
    parameters = promise.parameters
    form = ", less for frequent values (enhanced)" if parameters.get("enhanced", True) else ""
    form += ", nor fall by as much" if parameters.get("two_sided") else ""
    return (
        f"Seeing a person's row lifts the belief that they have any one value of {format_code(column)} above its overall frequency by at most "
        f"{parameters['beta']} times that frequency{form} (beta-likeness by perturbation)."
        if promise.name == "beta-likeness"
        else describe_promise(promise)
    )


def _describe_groups(manifest: Manifest) -> str:
    rows_per_person = manifest.rows_per_person
    return f"{manifest.own['k']}" + (
        ""
        if rows_per_person == 1
        else f" ({manifest.own['k'] * rows_per_person} rows: at most {rows_per_person} of one person)"
    )


def _describe_domain(manifest: Manifest) -> str:
    if "declared" in manifest.own:
        return _DECLARATION_SENTENCES[manifest.own["declared"]]
    if find_domain_declaration(manifest) is not None:
        return "The domain was declared by the publisher."
    return "The domain is the values that occur in the data: `manifest.json` tells which they are."
