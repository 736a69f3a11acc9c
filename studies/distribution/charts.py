"""The charts of results/*.csv: how narrow the guaranteed bounds are, figure by figure, in a sentence from the rows."""

from __future__ import annotations

from collections.abc import Mapping

from studies.drawing import average_runs, draw_categories, draw_lines, say_lowest, say_range
from studies.results import Rows
from studies.seeds import say_seeds

NO_BREAK = "\u00a0"
REDRAWN = "values redrawn (naive)"
SCHEMES = {"SAonly": "SA-only", "QISA": "QI-SA"}
BOUNDS = "width of the guaranteed bounds of an average, over the true average"
MEAN = "Mean over 100 random ranges for each seed; less is better."
ENDS = ("least", "most")
RANGE = "years of age that a question selects"
SETTINGS = {
    "5a": "Adult, 1,427 people with a capital loss",
    "5b": "10,000 made-up people, age and loss uncorrelated",
    "5c": "10,000 made-up people, age and loss correlated",
    "5d": "Adult, QI-SA with fake rows",
    "5e": "10,000 uncorrelated people, QI-SA with fake rows",
    "5f": "10,000 correlated people, QI-SA with fake rows",
    "6a": "Adult without a tenth of its rows, SA-only with fake rows",
    "6b": "2,000 uncorrelated people without a tenth of the rows, SA-only with fake rows",
    "7": "Normal targets whose standard deviation is the domain's width / r, uniform data, ranges of 50 years",
    "7-variance": "Normal targets whose variance is the domain's width / r (as printed), uniform data, ranges of 50 years",
    "8": "Zipf targets over Zipf data of s = 0.1, ranges of 50 years",
    "9": "Zipf targets over Zipf data of s = 0.1 that goes with age, ranges of 50 years",
    "10": "Binary and ternary trees, uniform target over uniform data",
    "11": "Adult by 2 and by 10 parts of age, each with its own distribution as the target",
    "12": "Correlated data by 2 and by 10 parts of age, uniform over each part's own range",
}
ACROSS = {"range": RANGE, "r": "r, how much narrower than the domain the target is", "s": "s, how skewed the target is"}
PLACES = {"range": "range of ages", "r": "target", "s": "target"}
GROUPINGS: Mapping[str, str] = {"qi-sa": "groups of QI-SA"}
BY_GROUP = "group by group, as the paper"
WITH_TOTALS = "with totals across groups (ours)"
TOTALS = {
    "totals-count": ("a count", "selected rows", "rounded targets (the default)"),
    "totals-count-exact": ("a count", "selected rows", "exact targets"),
    "totals-avg": ("an average", "answer", "rounded targets (the default)"),
    "totals-avg-exact": ("an average", "answer", "exact targets"),
}


def draw_charts(name: str, rows: Rows) -> dict[str, str]:
    if name == "13":
        return {name: draw_times(rows)}
    if name == "belief":
        return {name: draw_beliefs(rows)}
    if name in TOTALS:
        return {name: draw_totals(name, rows)}
    return {name: draw_errors(name, rows)}


def draw_errors(name: str, rows: Rows) -> str:
    x = next(iter(rows[0]))
    named = average_runs([{**row, "method": _name_line(row["method"])} for row in rows], x, "error")
    return draw_lines(
        named,
        x,
        "error",
        title=f"{SETTINGS[name]}: {say_lowest(named, x, 'error', 'has the narrowest bounds', PLACES[x])}",
        note=f"{MEAN} {say_seeds(rows)}",
        ends=ENDS,
        x_label=ACROSS[x],
        y_label=BOUNDS,
        references=(REDRAWN,),
    )


def _name_line(method: str) -> str:
    """Name a line in words: "QI-SA +5%" by its fakes, "QISA-10" by its parts."""
    if method == "naive: redrawn":
        return REDRAWN
    scheme, fakes, share = method.partition(" +")
    if fakes:
        return f"{scheme}, {share.replace('%', NO_BREAK + '%')} fakes"
    scheme, parts, number = method.partition("-")
    if parts and number.isdigit():
        return f"{SCHEMES[scheme]}, {number} parts"
    return method.replace("(2)", "binary").replace("(3)", "ternary")


def draw_times(rows: Rows) -> str:
    averaged = average_runs(rows, "rows", "seconds")
    return draw_lines(
        averaged,
        "rows",
        "seconds",
        title=f"Publishing takes {say_range(averaged, 'seconds', lambda seconds: f'{seconds:.2f}')} CPU seconds, from 10,000 to 160,000 rows",
        note=f"Uncorrelated people, audit included. {say_seeds(rows)}",
        ends=ENDS,
        x_label="rows of the table",
        y_label="CPU seconds of publishing",
    )


def draw_beliefs(rows: Rows) -> str:
    lifted = [row for row in rows if float(row["lift"]) > 1.0005]
    most = max(rows, key=lambda row: float(row["lift"]))
    named = [{**row, "groups": GROUPINGS.get(row["groups"], row["groups"])} for row in rows]
    return draw_categories(
        average_runs(named, "method", "lift", series="groups"),
        "method",
        "lift",
        series="groups",
        title=f"Who knows the algorithm believes more than is promised in {len(lifted)} of {len(rows)} releases, at most {float(most['lift']):.2f} "
        f"times as much (target: {most['method']})",
        note="The surest belief over what is promised, exact, by target and grouping: 600 people, a domain of 8 values. "
        f"{say_seeds(named, 'ranges', 'groups')}",
        ends=ENDS,
        value_label="surest belief, in multiples of the promised one",
    )


def draw_totals(name: str, rows: Rows) -> str:
    asked, whole, targets = TOTALS[name]
    split = []
    for row in rows:
        table, _, how = row["method"].rpartition(", ")
        named = {"by group": BY_GROUP, "totals": WITH_TOTALS}[how]
        split.append({**row, "table": table, "years": f"{row['years']} years", "method": named})
    averaged = average_runs(split, "years", "width", group="table")
    widths = {(row["table"], row["years"], row["method"]): row["width"] for row in averaged}
    ratios = [
        widths[table, years, WITH_TOTALS] / width for (table, years, how), width in widths.items() if how == BY_GROUP
    ]
    return draw_categories(
        averaged,
        "years",
        "width",
        group="table",
        title=f"With totals across groups the bounds of {asked} are {min(ratios):.2f} to {max(ratios):.2f} times as wide",
        note=f"Mean over 60 random ranges of as many years of age for each seed, {targets}; less is better. {say_seeds(split, 'ranges')}",
        ends=ENDS,
        value_label=f"width of the guaranteed bounds, over the {whole}",
        logarithmic=asked == "an average",
    )
