"""README.md of a transformed release: a function of its manifest."""

from __future__ import annotations

from reticent.release.manifest import Manifest
from reticent.release.markup import code, in_example, page
from reticent.release.wording import (
    EXACT,
    coarser_columns,
    heading,
    holding,
    not_promised,
    persons,
    promised,
    several_rows,
)
from reticent.table.roles import Role

_SQL = """SELECT SUM(b.sum_lower - (b.selected - p.n) * b.max_lower) AS lower,
       SUM(b.sum_upper - (b.selected - p.n) * b.min_upper) AS upper
FROM (SELECT "group", COUNT(*) AS n FROM quasi WHERE ... GROUP BY "group") p
JOIN bounds b ON b."group" = p."group"
 AND b.selected = (SELECT MIN(x.selected) FROM bounds x WHERE x."group" = p."group" AND x.selected >= p.n)"""


def readme(manifest: Manifest) -> str:
    column = manifest.sensitive.name
    quasi, sensitive, bounds = holding(manifest)
    asked = manifest.named(Role.QUASI)[0].name
    numeric = manifest.sensitive.type == "numeric"
    question = (
        f"SELECT AVG({in_example(column)}) FROM release WHERE {in_example(asked)} = ..."
        if numeric
        else f"SELECT COUNT(*) FROM release WHERE {in_example(column)} = '...'"
    )
    parts = [
        *heading(manifest),
        f"{quasi} {persons(manifest)}: every column but {code(column)} as it was, and the row's `group`.",
        f"{sensitive} each group's values of {code(column)}, generalized (`lower`, `upper`, `label`) and permuted, with how many there",
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
            _SQL,
            "```",
            "",
        ]
    return page([*parts, *coarser_columns(manifest), *promised(manifest), *_limits(manifest)])


def _limits(manifest: Manifest) -> list[str]:
    return not_promised(
        EXACT,
        "- The promise is about which value a person has, for somebody who does not know how the values were generalized. One who",
        "  does can infer somewhat more from what the method chose not to publish: `reticent attack --as algorithm` says how much.",
        "- Who knows the values of all others in a group learns the last one's entry in `sensitive`, up to the fakes.",
        f"- It is about this release alone, and it assumes {persons(manifest)}.",
        *several_rows(manifest, "who knows that their rows share a value can compare the groups of these rows"),
    )
