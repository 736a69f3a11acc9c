"""The charts of results/<setting>.csv: how many releases leave somebody above the promise."""

from __future__ import annotations

from studies.drawing import draw_categories
from studies.minimality.figures import summary
from studies.results import Rows

SETTINGS = {
    "line": "Six people on a line, values held by 2, 2 and 2",
    "plane": "Six people in a plane, values held by 2, 2 and 2",
    "skewed": "Six people, values held by 3, 2 and 1",
    "eight": "Eight people, values held by 3, 3 and 2",
    "secret": "Six people on a line, one of 20 keys",
}


def draw_charts(name: str, rows: Rows) -> dict[str, str]:
    summaries = list(summary(rows))
    kept = [row for row in summaries if row["exceeding"] == 0]
    marks = [
        {"promise": row["promise"], "method": row["method"], "adversary": adversary, "share": row[column]}
        for row in summaries
        for adversary, column in (
            ("knows the method", "exceeding"),
            ("does not know the method", "exceeding_unknowing"),
        )
    ]
    chart = draw_categories(
        marks,
        "method",
        "share",
        series="adversary",
        group="promise",
        references=("does not know the method",),
        title=f"{SETTINGS[name]}: who knows the method is held to the promise in all releases in {len(kept)} of {len(summaries)} cases",
        note="Share of all tables (and keys) whose release leaves an adversary with a belief above the promise; exact, by enumeration.",
        value_label="share of the releases that leave somebody above the promise",
    )
    return {name: chart}
