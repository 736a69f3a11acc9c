"""The charts of results/<table>.csv: what mosaic loses by the time it searches, promise by promise."""

from __future__ import annotations

from studies.drawing import average_runs, draw_categories, draw_lines
from studies.results import Rows

TABLES = {
    "adult30k": "Adult, 30,162 people",
    "acs100k": "ACS, 100,000 people",
    "deaths": "Deaths of 2006",
    "census": "Census generator, 100,000 people",
}
SHARE = "share of Mondrian's loss"


def draw_charts(name: str, rows: Rows) -> dict[str, str]:
    if name == "promises":
        return {name: draw_promises(rows)}
    if name == "promises-before":
        return {}
    last = {row["method"]: float(row[SHARE]) for row in rows}
    best = min(last, key=last.__getitem__)
    better = sum(share < 1 for share in last.values())
    title = (
        f"{TABLES.get(name, name)}: the longest search loses less than Mondrian under {better} of {len(last)} promises, "
        f"least under {best} ({last[best]:.2f} of its loss)"
    )
    chart = draw_lines(
        rows,
        "CPU seconds",
        SHARE,
        title=title,
        note="What would be published if the search were stopped; 1 is what Mondrian by loss loses. One thread, one seed. "
        "A line begins where there is something to publish. The height does not begin at 0.",
        x_label="CPU seconds of the search (logarithmic)",
        y_label="loss, as a share of Mondrian's",
        doubling=True,
        from_zero=False,
    )
    return {name: chart}


def draw_promises(rows: Rows) -> str:
    worse = sum(float(row["share"]) > 1 for row in rows)
    return draw_categories(
        average_runs(rows, "promise", "share", series="table"),
        "promise",
        "share",
        series="table",
        ends=("least", "most"),
        title=f"Mosaic loses more than Mondrian in {worse or 'none'} of {len(rows)} cases"
        if worse
        else f"Mosaic loses no more than Mondrian in any of {len(rows)} cases",
        note="Every promise that mosaic takes, on 10,000 rows of real tables; 1 is what Mondrian loses. Means of five seeds, ranges "
        "from the least to the greatest.",
        value_label="mosaic's loss, as a share of Mondrian's",
    )
