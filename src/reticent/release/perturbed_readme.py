"""README.md of a perturbed release.  A function of the manifest alone."""

from __future__ import annotations

from typing import Any

from reticent.release.wording import coarser, persons, several_rows


def text(manifest: dict[str, Any]) -> str:
    column = next(c["name"] for c in manifest["columns"] if c["role"] == "sensitive")
    parts = [f"# A perturbed release of {manifest['rows']:,} rows", ""]
    if manifest.get("seeded"):
        parts += ["**Not for publication: made with a fixed seed, for tests and studies.**", ""]
    parts += [
        f"`{manifest['data'][0]}` holds {persons(manifest)}. Every column but `{column}` is as it was. `{column}` was redrawn",
        "at random, row by row, by the probabilities in `manifest.json`: `matrix[i][v]` is that of publishing `values[v]`",
        "for a row that had `values[i]`. So no single row says what a person has; counts over many rows can be estimated:",
        "",
        "```python",
        "import polars as pl, reticent as rt",
        'release = rt.open("this folder")',
        'release.count(pl.col("...") == ..., values=["..."])      # estimate and standard error',
        "```",
        "",
        *(f"- `{c['name']}`: {said}." for c in manifest["columns"] for said in coarser(c)),
        "",
        "## What is promised",
        "",
        *(f"- {_sentence(promise, column)}" for promise in manifest["promises"]),
        "",
        "## What is not",
        "",
        "- Who a row belongs to is not hidden: the other columns are exact. Whether someone is in the data is not hidden either.",
        "- The promise assumes an adversary who knows the overall distribution and these probabilities, and nothing else about",
        f"  the person's value. It is about one row of a person; it assumes {persons(manifest)}.",
        *several_rows(manifest, "values were redrawn row by row, and all their rows together say more"),
        "- It is about this release alone: if the same people's values were redrawn in a second release, both together say more.",
        "- Statistical conclusions that hold for everyone are not stopped, and are what the data is for.",
    ]
    return "\n".join(parts) + "\n"


def _sentence(promise: dict[str, Any], column: str) -> str:
    if promise["model"] != "beta-likeness":
        return f"{promise['model']}."
    form = ", less for frequent values (enhanced)" if promise.get("enhanced", True) else ""
    form += ", nor fall by as much" if promise.get("two_sided") else ""
    return (
        f"Seeing a person's row lifts the belief that they have any one value of `{column}` above its overall frequency by at most "
        f"{promise['beta']} times that frequency{form} (beta-likeness by perturbation)."
    )
