"""README.md of an anatomized release.  A function of the manifest alone."""

from __future__ import annotations

from typing import Any

from reticent.release.wording import coarser, persons, promise_sentence, several_rows


def text(manifest: dict[str, Any]) -> str:
    column = next(c["name"] for c in manifest["columns"] if c["role"] == "sensitive")
    quasi, sensitive = manifest["data"]
    parts = [f"# An anatomized release of {manifest['rows']:,} rows", ""]
    if manifest.get("seeded"):
        parts += ["**Not for publication: made with a fixed seed, for tests and studies.**", ""]
    parts += [
        f"`{quasi}` holds {persons(manifest)}: every column but `{column}` as it was, and the row's `group`.",
        f"`{sensitive}` holds, for each group, which values of `{column}` its rows have, and how many of them have each (`count`).",
        "Which row of a group has which value is not said. Counts can be estimated, with the least and the most possible:",
        "",
        "```python",
        "import polars as pl, reticent as rt",
        'release = rt.open("this folder")',
        'release.count(pl.col("...") == ..., values=["..."])      # estimate, lower, upper',
        "```",
        "",
        *(f"- `{c['name']}`: {said}." for c in manifest["columns"] for said in coarser(c)),
        "",
        "## What is promised",
        "",
        *(f"- {promise_sentence(promise)}" for promise in manifest["promises"]),
    ]
    if manifest["withheld"]:
        parts.append(f"- {manifest['withheld']:,} row(s) were withheld.")
    parts += [
        "",
        "## What is not",
        "",
        "- Who a row belongs to is not hidden: the other columns are exact. Whether someone is in the data is not hidden either.",
        "- The promise is about one row's group, for an adversary to whom all ways to match rows and values are equally likely.",
        "  One who knows how the values go with the other columns, or learns it from this release, can do better.",
        f"- It is about this release alone, and it assumes {persons(manifest)}.",
        *several_rows(manifest, "who knows that their rows share a value can compare the groups of these rows"),
        "- Statistical conclusions that hold for everyone are not stopped, and are what the data is for.",
    ]
    return "\n".join(parts) + "\n"
