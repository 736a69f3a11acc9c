"""A question as plain SQL over the tables of a release: count the selected rows of each group, look up, add up.

No function of ours and no extension: what runs is GROUP BY, a join and a sum (Koudas et al., VLDB 2009, section 3.3).  A view could
not do it, because the reader's condition belongs below its aggregation.
"""

from __future__ import annotations

import numpy as np
from sqlglot import exp

from reticent.errors import RequestError, suggest
from reticent.query.asked import understood
from reticent.query.printed_redrawn import printed_redrawn
from reticent.query.separated import ELSE, Separated, Withheld, held, separated
from reticent.release.annotated import Annotated
from reticent.release.guaranteed import covered, wanted
from reticent.release.kind import reader
from reticent.release.manifest import Manifest
from reticent.table.grammar import ANY, range_label, set_label, value_label

DIALECTS = {"duckdb": "duckdb", "sqlite": "sqlite", "postgresql": "postgres"}
DOUBLE = {"duckdb": "DOUBLE", "sqlite": "REAL", "postgresql": "DOUBLE PRECISION"}
WHOLE = {"duckdb": "BIGINT", "sqlite": "INTEGER", "postgresql": "BIGINT"}
TABLES = ("quasi", "sensitive", "bounds")


def printed(manifest: Manifest, text: str, dialect: str, table: str = "release") -> str:
    """The question in a database's SQL; its tables are NAME, or NAME_quasi and so on, as `export` writes them."""
    if dialect not in DIALECTS:
        raise RequestError(f"SQL of {dialect!r} is not printed.", attempt=suggest(dialect, list(DIALECTS)))
    kind = reader(manifest.kind)
    if "matrix" in manifest.own:
        people = ".".join(map(quoted, table.split(".")))
        asked = separated(understood(text, manifest), manifest)
        return printed_redrawn(manifest, asked, DIALECTS[dialect], DOUBLE[dialect], people)
    if kind.files not in (TABLES, TABLES[:2]):
        raise RequestError(
            f"Questions to a {manifest.kind} release are not printed as plain SQL: "
            + (
                "its labels are texts that a database does not read."
                if kind.labelled
                else "it has no table of bounds to look up."
            ),
            attempt="release.query, or `reticent query` without --print-sql and --at.",
        )
    asked = separated(understood(text, manifest), manifest)
    if asked.withheld.rows and kind.files == TABLES:
        raise RequestError(
            "Questions to a transformed release with withheld rows are not printed as plain SQL: `bounds` is of published rows.",
            attempt=ELSE,
        )
    names = {name: ".".join(quoted(part) for part in f"{table}_{name}".split(".")) for name in TABLES}
    keys = [f"reticent_key{at}" for at in range(len(asked.by))]
    columns = [f"{quoted(name)} AS {key}" for name, key in zip(asked.by, keys, strict=True)]
    condition = "" if asked.where is None else f"\n  WHERE {asked.where.sql(dialect=DIALECTS[dialect])}"
    group = ", ".join([*map(quoted, asked.by), '"group"'])
    listed = ", ".join([*columns, '"group"'])
    picked = f"picked AS (\n  SELECT {listed}, COUNT(*) AS reticent_n FROM {names['quasi']}{condition}\n  GROUP BY {group}\n)"
    shown = "".join(f"{key} AS {quoted(name)}, " for name, key in zip(asked.by, keys, strict=True))
    ending = f"\nGROUP BY {', '.join(keys)}\nORDER BY {', '.join(keys)}" if keys else ""
    if kind.files != TABLES:
        return _spread(manifest, asked, dialect, names, picked, shown, ending)
    if asked.aggregate == "count":
        return _count(manifest, asked, dialect, names, picked, shown, ending)
    return _looked_up(manifest, asked, dialect, names, picked, shown, ending)


def _looked_up(
    manifest: Manifest, asked: Separated, dialect: str, names: dict[str, str], picked: str, shown: str, ending: str
) -> str:
    keys = "".join(f"p.reticent_key{at}, " for at in range(len(asked.by)))
    join = (
        f'looked AS (\n  SELECT {keys}p.reticent_n, b.* FROM picked p JOIN {names["bounds"]} b ON b."group" = p."group" AND b.selected = (\n'
        f'    SELECT MIN(x.selected) FROM {names["bounds"]} x WHERE x."group" = p."group" AND x.selected >= p.reticent_n)\n)'
    )
    whole = manifest.sensitive.dtype.startswith(("Int", "UInt"))
    exact = WHOLE[dialect] if whole else DOUBLE[dialect]
    sums = {
        "lower": "SUM(sum_lower - (selected - reticent_n) * max_lower)",
        "upper": "SUM(sum_upper - (selected - reticent_n) * min_upper)",
    }
    mean = f"CAST(SUM(reticent_n * {_by_group(manifest, _means(manifest), dialect)}) AS {DOUBLE[dialect]})"
    if asked.aggregate == "sum":
        columns = [f"{mean} AS estimate", *(f"CAST({form} AS {exact}) AS {side}" for side, form in sums.items())]
    elif asked.aggregate == "avg":
        rows = f"CAST(SUM(reticent_n) AS {DOUBLE[dialect]})"
        columns = [f"{mean} / {rows} AS estimate"]
        columns += [f"CAST({form} AS {DOUBLE[dialect]}) / {rows} AS {side}" for side, form in sums.items()]
    else:
        take = asked.aggregate.upper()
        columns = [f"CAST({take}({asked.aggregate}_{side}) AS {exact}) AS {side}" for side in ("lower", "upper")]
    return f"WITH {picked},\n{join}\nSELECT {shown}{', '.join(columns)}\nFROM looked{ending}"


def _count(
    manifest: Manifest, asked: Separated, dialect: str, names: dict[str, str], picked: str, shown: str, ending: str
) -> str:
    whole, double = WHOLE[dialect], DOUBLE[dialect]
    kind = reader(manifest.kind)
    values = held(kind.domain({}, manifest), asked)
    if values is None:
        columns = ", ".join(
            f"CAST(COALESCE(SUM(reticent_n), 0) AS {whole}) AS {side}" for side in ("estimate", "lower", "upper")
        )
        return f"WITH {picked}\nSELECT {shown}{columns}\nFROM picked{ending}"
    annotated = Annotated.of(manifest)
    inside, touching = covered(annotated, values)
    keys = "".join(f"p.reticent_key{at}, " for at in range(len(asked.by)))
    held_ = (
        f'held AS (\n  SELECT "group", SUM("count") AS total,\n'
        f'    SUM(CASE WHEN {_among(annotated, inside, manifest)} THEN "count" ELSE 0 END) AS within,\n'
        f'    SUM(CASE WHEN {_among(annotated, touching, manifest)} THEN "count" ELSE 0 END) AS touching\n'
        f'  FROM {names["sensitive"]} GROUP BY "group"\n)'
    )
    looked = f'looked AS (\n  SELECT {keys}p.reticent_n, h.* FROM picked p JOIN held h ON h."group" = p."group"\n)'
    share = annotated.floats @ wanted(annotated, values)
    columns = (
        f"CAST(COALESCE(SUM(reticent_n * {_by_group(manifest, share, dialect)}), 0) AS {double}) AS estimate, "
        f"CAST(COALESCE(SUM(CASE WHEN reticent_n > total - within THEN reticent_n - (total - within) ELSE 0 END), 0) AS {whole}) AS lower, "
        f"CAST(COALESCE(SUM(CASE WHEN reticent_n < touching THEN reticent_n ELSE touching END), 0) AS {whole}) AS upper"
    )
    return f"WITH {picked},\n{held_},\n{looked}\nSELECT {shown}{columns}\nFROM looked{ending}"


def _spread(
    manifest: Manifest, asked: Separated, dialect: str, names: dict[str, str], picked: str, shown: str, ending: str
) -> str:
    """Of groups that list their values as they are: every matching alike, and the least and the most of all matchings."""
    if asked.aggregate != "count":
        raise RequestError(
            f"{asked.aggregate.upper()} is not printed as plain SQL: there is no table of bounds to look it up in.",
            attempt=ELSE,
        )
    whole, double = WHOLE[dialect], DOUBLE[dialect]
    among = "1 = 1" if asked.held is None else asked.held.sql(dialect=DIALECTS[dialect])
    keys = "".join(f"p.reticent_key{at}, " for at in range(len(asked.by)))
    held_ = (
        f'held AS (\n  SELECT "group", SUM("count") AS total, SUM(CASE WHEN {among} THEN "count" ELSE 0 END) AS among\n'
        f'  FROM {names["sensitive"]} GROUP BY "group"\n)'
    )
    looked = f'looked AS (\n  SELECT {keys}p.reticent_n, h.* FROM picked p JOIN held h ON h."group" = p."group"\n)'
    estimate = f"COALESCE(SUM(CAST(reticent_n AS {double}) * CAST(among AS {double}) / CAST(total AS {double})), 0)"
    least = "COALESCE(SUM(CASE WHEN reticent_n + among > total THEN reticent_n + among - total ELSE 0 END), 0)"
    most = "COALESCE(SUM(CASE WHEN reticent_n < among THEN reticent_n ELSE among END), 0)"
    published = {"estimate": estimate, "lower": f"CAST({least} AS {whole})", "upper": f"CAST({most} AS {whole})"}
    columns = about_source(published, asked.withheld, double, whole)
    comment = write_withheld_comment(asked)
    return f"{comment}WITH {picked},\n{held_},\n{looked}\nSELECT {shown}{columns}\nFROM looked{ending}"


def about_source(published: dict[str, str], withheld: Withheld, double: str, whole: str) -> str:
    """The columns of a count: of the source's rows, and where some are withheld, of published ones beside them."""
    if not withheld.rows:
        return ", ".join(f"{form} AS {name}" for name, form in published.items())
    share = f"CAST({float(withheld.share)!r} AS {double})"
    lower = f"CAST({published['lower']} + {withheld.must} AS {whole})"
    upper = f"CAST({published['upper']} + {withheld.may} AS {whole})"
    estimate = f"({published['estimate']}) * {share}"
    within = f"CASE WHEN {estimate} < {lower} THEN {lower} WHEN {estimate} > {upper} THEN {upper} ELSE {estimate} END"
    columns = [f"{within} AS estimate", f"{lower} AS lower", f"{upper} AS upper"]
    columns += [f"{form} AS published_{name}" for name, form in published.items()]
    return ", ".join(columns)


def write_withheld_comment(asked: Separated) -> str:
    """What a reader of the SQL has to know where rows are withheld."""
    if not asked.withheld.rows:
        return ""
    groups = " any of them may be in each group, or in one that has no line;" if asked.by else ""
    return f"-- {asked.withheld.rows} rows of the source were withheld:{groups} lower and upper count them in\n"


def _means(manifest: Manifest) -> np.ndarray:
    annotated = Annotated.of(manifest)
    return annotated.floats @ np.array([float(text) for text in annotated.texts])


def _by_group(manifest: Manifest, of_target: np.ndarray, dialect: str) -> str:
    """A number of each group's target, by the group from which on it is assigned."""
    numbers = [
        (group, f"CAST({float(of_target[target])!r} AS {DOUBLE[dialect]})")
        for group, target in manifest.own["assigned"]
    ]
    if len(numbers) == 1:
        return numbers[0][1]
    cases = " ".join(f'WHEN "group" >= {group} THEN {number}' for group, number in reversed(numbers[1:]))
    return f"CASE {cases} ELSE {numbers[0][1]} END"


def _among(annotated: Annotated, marked: np.ndarray, manifest: Manifest) -> str:
    """Entries of `sensitive` that are one of the marked nodes, by their labels."""
    labels = [_label(annotated, node, manifest.sensitive.type == "numeric") for node in np.flatnonzero(marked).tolist()]
    listed = ", ".join(exp.Literal.string(label).sql() for label in labels)
    return f"label IN ({listed})" if labels else "1 = 0"


def _label(annotated: Annotated, node: int, numeric: bool) -> str:
    first, last = int(annotated.first[node]), int(annotated.last[node])
    if first == last:
        return value_label(annotated.texts[first])
    if numeric:
        return range_label(annotated.texts[first], annotated.texts[last])
    return ANY if last - first + 1 == len(annotated.texts) else set_label(annotated.texts[first : last + 1])


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
