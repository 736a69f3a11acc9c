"""Each promise in one plain sentence, what was made coarser of a column, and how many rows a person has, from the manifest."""

from __future__ import annotations

from typing import Any

_SENTENCES = {
    "k-anonymity": "Every row is one of at least {k} that read the same in all quasi-identifying columns (k-anonymity).",
    "k-map": "Every published combination fits at least {k} people of the population table (k-map).",
    "alpha-k-anonymity": "Every group has at least {k} rows, and no value of {column} is held by more than {alpha} of them ((alpha,k)-anonymity).",
    "distinct-l-diversity": "Every group shows at least {l} different values of {column} (distinct l-diversity).",
    "probabilistic-l-diversity": "In every group each value of {column} is held by at most one in {l} rows (probabilistic l-diversity).",
    "entropy-l-diversity": "In every group the entropy of {column} is at least that of {l} equally frequent values (entropy l-diversity).",
    "recursive-l-diversity": "In every group the most frequent value of {column} is at most {c} times as frequent as all from the {l}-th on together (recursive (c,l)-diversity).",
    "t-closeness": "In every group the distribution of {column} is within {t} of the whole release's, by {distance} earth mover's distance (t-closeness).",
    "delta-disclosure": "In every group each value of {column} is within a factor of the whole release's frequency, |log| < {delta} (delta-disclosure).",
    "l-dichotomy": "No value of {column} is held by more than one in {l} rows, and which value was the most frequent before rows were withheld cannot be told with a probability above one in {l}, every table from which rows had to be withheld being equally likely beforehand (l-dichotomy).",
    "semantic-beta-likeness": "In no group is a family of values of {column} (level {level} of its hierarchy) more frequent than in the whole release by more than {beta} times its frequency there, relatively{form} (semantic beta-likeness).",
    "proximity-beta-likeness": "In no group are the values of {column} in any interval of width {width} more frequent than in the whole release by more than {beta} times their frequency there, relatively{form} (proximity beta-likeness).",
    "beta-likeness": "In no group is a value of {column} more frequent than in the whole release by more than {beta} times its frequency there, relatively{form} (beta-likeness).",
}


def promise_sentence(promise: dict[str, Any]) -> str:
    template = _SENTENCES.get(promise["model"])
    given = {key: value for key, value in promise.items() if key != "model" and value is not None}
    if template is None:
        return f"{promise['model']}: " + ", ".join(f"{key} = {value}" for key, value in given.items()) + "."
    form = ", less for frequent values (enhanced)" if promise.get("enhanced") else ""
    form += "; nor rarer by as much" if promise.get("two_sided") else ""
    column = f"`{given['column']}`" if "column" in given else "the sensitive column"
    return template.format(**{**given, "column": column, "form": form})


def coarser(column: dict[str, Any]) -> list[str]:
    """What top and bottom coding and rounding did to a column."""
    words = {"bottom": "earlier", "top": "later"} if column["type"] == "date" else {"bottom": "less", "top": "more"}
    said = [f"`{column[side]}` means {column[side]} or {words[side]}" for side in words if side in column]
    return said + ([f"rounded to the nearest multiple of {column['round_to']}"] if "round_to" in column else [])


def persons(manifest: dict[str, Any]) -> str:
    """How many rows a person has, as the job declares it."""
    most = manifest.get("rows_per_person", 1)
    return "one row per person" if most == 1 else f"at most {most} rows per person"


def several_rows(manifest: dict[str, Any], because: str) -> list[str]:
    """What a promise about rows does not say of a person who has several."""
    if manifest.get("rows_per_person", 1) == 1:
        return []
    return [f"- A person with several rows is protected in each row alone: {because}."]
