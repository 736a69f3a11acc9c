"""README.md for the recipient: what the folder holds, what is promised and what is not.  A function of the manifest alone."""

from __future__ import annotations

from typing import Any

from reticent.release import anatomized_readme, perturbed_readme
from reticent.release.wording import coarser, persons, promise_sentence

_LIMITS = """\
- The promise is about this release alone: a second release of the same people, or other data about them, can say more.
- It limits what the group of a person says about that person. It does not stop statistical conclusions that hold for everyone."""


def text(manifest: dict[str, Any]) -> str:
    if manifest["kind"] == "perturbed":
        return perturbed_readme.text(manifest)
    if manifest["kind"] == "anatomized":
        return anatomized_readme.text(manifest)
    columns = manifest["columns"]
    parts = [f"# A {manifest['kind']} release of {manifest['rows']:,} rows", ""]
    if manifest.get("seeded"):
        parts += ["**Not for publication: made with a fixed seed, for tests and studies.**", ""]
    parts += [
        f"The data are in {' and '.join(f'`{name}`' for name in manifest['data'])}, {persons(manifest)}; `manifest.json` describes the columns and the promise.",
        "",
        "| column | what it is | how to read it |",
        "|---|---|---|",
    ]
    parts += [f"| {_cell(c['name'])} | {c['role']} | {_reading(c)} |" for c in columns]
    parts += ["", "## What is promised", "", *(f"- {promise_sentence(p)}" for p in manifest["promises"])]
    parts += _counted_persons(manifest)
    if manifest["withheld"]:
        parts.append(f"- {manifest['withheld']:,} row(s) were withheld.")
    parts += ["", "## What is not", "", _LIMITS, f"- It assumes {persons(manifest)}."]
    if manifest.get("rows_per_person", 1) > 1:
        parts.append("- Promises about sensitive values count rows: the rows of one person in a group count each.")
    sensitive = [c["name"] for c in columns if c["role"] == "sensitive"]
    if len(sensitive) > 1 and not manifest["jointly"]:
        parts.append(
            "- Each sensitive column is protected alone: who knows one of a person's sensitive values may learn more about another."
        )
    return "\n".join(parts) + "\n"


def _counted_persons(manifest: dict[str, Any]) -> list[str]:
    """What a declared number of rows per person makes of promises that count."""
    most = manifest.get("rows_per_person", 1)
    return [
        f"- Since nobody has more than {most} rows, these rows are {int(p['k']) * most} at least, those of {p['k']} persons at least."
        for p in manifest["promises"]
        if most > 1 and p["model"] in ("k-anonymity", "alpha-k-anonymity")
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _reading(column: dict[str, Any]) -> str:
    if column["role"] != "quasi-identifying":
        return "; ".join([f"as it was ({column['dtype']})", *coarser(column)])
    if column["type"] == "categorical":
        return "a value, or a node of the hierarchy in the manifest that covers it; `*` is any value"
    return "a value, or a range `[low, high]` with both ends included; `*` is any value" + "".join(
        f"; {said}" for said in coarser(column)
    )
