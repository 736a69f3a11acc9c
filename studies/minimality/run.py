"""Measure again:  python -m studies.minimality.run [SETTING ...]

Without a setting, all of them.  Each becomes results/<setting>.csv, exact, a row for each set of people; its summary is
printed.  With --docs the tables of README.md and of the pages that quote them are written anew; figures in sentences are not.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from studies.minimality.charts import draw_charts
from studies.minimality.figures import ANY_DEAL, SETTINGS, Row, figure, pairs, summary
from studies.results import write_charts

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {
    "burel": ["burel"],
    "sabre": ["sabre"],
    "mondrian": ["mondrian", "mondrian (median)", "mondrian (blind)"],
}  # that quote a table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", metavar="SETTING", help=", ".join(SETTINGS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--lacking", action="store_true", help="measure only what results/ lacks")
    parser.add_argument("--docs", action="store_true", help="write the tables of README.md and docs/ anew")
    options = parser.parse_args()
    unknown = set(options.settings) - set(SETTINGS)
    if unknown:
        parser.error(f"no such setting: {', '.join(sorted(unknown))}; known are {', '.join(SETTINGS)}")
    for name in options.settings or SETTINGS:
        save(options.out, name, options.lacking)
    print(shares(options.out))
    if options.docs:
        write_docs()


def save(folder: Path, name: str, lacking: bool = False) -> None:
    had = saved(name, folder) if lacking else []
    known = {(row["promise"], row["method"]) for row in had}
    rows = had + list(figure(name, [pair for pair in pairs(name) if pair not in known]))
    rows.sort(key=lambda row: [*pairs(name)].index((row["promise"], row["method"])))
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    write_charts(folder / f"{name}.csv", draw_charts)
    print(f"## {name}\n\n{as_markdown(rows)}\n", flush=True)


def saved(name: str, folder: Path = RESULTS) -> list[Row]:
    """The rows of a setting as they were saved."""
    with open(folder / f"{name}.csv", newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def as_markdown(rows: list[Row]) -> str:
    """The summary as the docs print it."""
    lines = [
        "| promise | method | above the promise | the same, method unknown | surest guess | the same, method unknown | worst |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in summary(rows):
        lines.append(
            f"| {row['promise']} | `{row['method']}` | {row['exceeding']:.1%} | {row['exceeding_unknowing']:.1%} "
            f"| {row['surest']:.3f} | {row['surest_unknowing']:.3f} | {row['worst']:.3f} |"
        )
    return "\n".join(lines)


def of_methods(*methods: str, folder: Path = RESULTS) -> str:
    """One page's methods in every setting: the table of docs/methods/*.md."""
    lines = [
        "| method | promise | setting | above the promise | surest guess, mean | method unknown | worst |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting in SETTINGS:
        for row in summary(saved(setting, folder)):
            if row["method"] in methods:
                lines.append(
                    f"| `{row['method']}` | {row['promise']} | `{setting}` | {row['exceeding']:.0%}".replace("%", " %")
                    + f" | {row['surest']:.3f} | {row['surest_unknowing']:.3f} | {row['worst']:.3f} |"
                )
    return "\n".join(lines)


def shares(folder: Path = RESULTS) -> str:
    """How many releases leave somebody above the promise, a column for each setting: the table of docs/promises.md."""
    names = [name for name in SETTINGS if (folder / f"{name}.csv").exists()]
    above = {
        (row["promise"], row["method"], name): f"{row['exceeding']:.0%}".replace("%", " %")
        for name in names
        for row in summary(saved(name, folder))
    }
    pairs = dict.fromkeys((promise, method) for promise, method, _ in above)
    lines = [f"| promise | method | {' | '.join(names)} |", "|---|---|" + "---|" * len(names)]
    for promise, method in pairs:
        # Without draws a secret key changes nothing; anything else that is absent was not run.
        secret = "0 % (every deal)" if method in ANY_DEAL else "as `line`"
        lacking = {name: secret if name == "secret" else "not run" for name in names}
        cells = (above.get((promise, method, name), lacking[name]) for name in names)
        lines.append(f"| {promise} | `{method}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def write_docs() -> None:
    """Every table that is quoted, in its place."""
    for setting in SETTINGS:
        replace_table(Path(__file__).parent / "README.md", as_markdown(saved(setting)), under=f"## `{setting}`")
    replace_table(DOCS / "promises.md", shares())
    for page, methods in PAGES.items():
        replace_table(DOCS / "methods" / f"{page}.md", of_methods(*methods))


def replace_table(page: Path, table: str, under: str = "") -> None:
    """The table with the same header, the first under a heading where one is given."""
    text = page.read_text(encoding="utf-8")
    start = text.index(table.splitlines()[0], text.index(under))
    end = text.find("\n\n", start)
    rest = text[end:] if end >= 0 else "\n"
    page.write_text(text[:start] + table + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
