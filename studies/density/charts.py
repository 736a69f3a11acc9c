"""The chart of answers.csv: by table and method, the error of counts evenly and by likelihood, with the range of five seeds."""

from __future__ import annotations

from statistics import median

from studies.drawing import Row, draw_categories
from studies.results import Rows

NAMES = {"even": "people lie evenly in their labels", "likelihood": "as all labels together make likely"}


def draw_charts(name: str, rows: Rows) -> dict[str, str]:
    if name != "answers":
        return {}
    errors: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        if row["workload"] == "all":
            errors.setdefault((row["table"], row["method"], row["density"]), []).append(float(row["median_error"]))
    summaries: list[Row] = [
        {
            "table": table,
            "method": method,
            "density": NAMES[density],
            "error": median(runs),
            "low": min(runs),
            "high": max(runs),
        }
        for (table, method, density), runs in errors.items()
    ]
    pairs = [
        (median(runs), median(errors[table, method, "likelihood"]))
        for (table, method, density), runs in errors.items()
        if density == "even"
    ]
    less = sum(likelihood < even for even, likelihood in pairs)
    chart = draw_categories(
        summaries,
        "method",
        "error",
        series="density",
        group="table",
        ends=("low", "high"),
        title=f"Counts err less where people are taken to lie as all labels together make likely, in {less} of {len(pairs)} cases",
        note="100 random counts that cut labels, 8,000 rows of each table. Marks are medians of five seeds (rows, release and questions drawn "
        "anew), bars from the least to the greatest; left is better.",
        value_label="median error of a count, as a share of the true count",
        logarithmic=True,
    )
    return {name: chart}
