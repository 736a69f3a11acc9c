"""The charts of results/<table>-<figure>.csv: what each figure shows, in a sentence from its rows."""

from __future__ import annotations

from collections.abc import Sequence

from studies.drawing import Row, average_runs, draw_categories, draw_lines, say_lowest, say_range
from studies.results import Rows
from studies.seeds import say_seeds

TABLES = {
    "census": "Census generator",
    "teachers": "Teachers of the ACS",
    "deaths": "Deaths of 2006",
    "adult30k": "Adult",
    "acs100k": "ACS, work of 100,000 people",
    "acs265k": "ACS, work of 264,948 people",
    "acs500k": "ACS, work of 500,000 people",
    "adult": "Adult",
    "time use": "Time use",
}
ACROSS = {
    "beta": ("beta, how much more frequent than overall a value may be in a class", "beta"),
    "quasi-identifiers": ("quasi-identifiers of the table", "number of quasi-identifiers"),
    "rows": ("rows of the table", "number of rows"),
    "predicates": ("conditions of a question", "number of conditions"),
    "selectivity": ("share of the people that a question is expected to select", "selectivity"),
    "t": ("t, how far a class may be from the whole table", "t"),
    "ail": ("loss that is allowed (AIL, share of the detail)", "loss"),
}
TIMES = ("5b", "6b", "7b")
ENDS = ("least", "most")
INTERVALS = "bands of the intervals of 95\u00a0% over the people,"
LOSS = "detail lost (AIL, 0 none, 1 all)"
SETTINGS = {
    "5": "Three quasi-identifiers",
    "6": "beta = 4",
    "6-beta1": "beta = 1",
    "7": "beta = 4",
    "claim": "Every quasi-identifier of the table",
    "5b": "Three quasi-identifiers",
    "6b": "beta = 4",
    "7b": "beta = 4",
    "8a": "beta = 4, selectivity 0.1",
    "8b": "Three conditions, selectivity 0.1",
    "8c": "beta = 4, up to three conditions, selectivity 0.1",
    "8d": "beta = 4, three conditions",
    "9a": "beta = 4, selectivity 0.1",
    "9b": "Three conditions, selectivity 0.1",
    "9c": "beta = 4, up to three conditions, selectivity 0.1",
    "9d": "beta = 4, three conditions",
}
REFINED = {
    "share 1": "BUREL, the paper's (share 1)",
    "auto": "BUREL, chosen share",
    "auto, refined": "BUREL, chosen share, classes refined",
}
STARTS = {
    "4a": "Each method is given the t that BUREL's classes reach",
    "4b": "BUREL's beta is searched for the t that the others are given",
    "4c": "Each method's parameter is searched for the least privacy within the loss",
}


def draw_charts(name: str, rows: Rows) -> dict[str, str]:
    if name == "refinement":
        return {name: draw_refinement(rows)}
    table, _, figure = name.partition("-")
    if table not in TABLES:
        return {}
    if figure == "section7":
        return {name: draw_section_7(table, rows)}
    if figure[0] == "4":
        return {name: draw_reached(table, figure, rows)}
    if figure[0] in "89":
        return {name: draw_answers(table, figure, rows)}
    if figure in TIMES:
        return {name: draw_times(table, figure, rows)}
    return {name: draw_losses(table, figure, rows)}


def draw_losses(table: str, figure: str, rows: Rows) -> str:
    x = next(iter(rows[0]))
    label, place = ACROSS[x]
    averaged = average_runs(rows, x, "ail")
    return draw_lines(
        averaged,
        x,
        "ail",
        title=f"{TABLES[table]}: {say_lowest(averaged, x, 'ail', 'loses the least detail', place)}",
        note=f"{SETTINGS[figure]}, less is better. {say_seeds(rows)}",
        x_label=label,
        y_label=LOSS,
        ends=ENDS,
    )


def draw_times(table: str, figure: str, rows: Rows) -> str:
    x = next(iter(rows[0]))
    label, place = ACROSS[x]
    averaged = average_runs(rows, x, "cpu")
    return draw_lines(
        averaged,
        x,
        "cpu",
        title=f"{TABLES[table]}: {say_lowest(averaged, x, 'cpu', 'is planned fastest', place)}",
        note=f"{SETTINGS[figure]}. Cells are counted before. {say_seeds(rows)}",
        x_label=label,
        y_label="CPU seconds of planning",
        ends=ENDS,
        logarithmic=True,
    )


def draw_reached(table: str, figure: str, rows: Rows) -> str:
    x = next(iter(rows[0]))
    label, place = ACROSS[x]
    averaged = average_runs(rows, x, "beta reached")
    return draw_lines(
        averaged,
        x,
        "beta reached",
        title=f"{TABLES[table]}: {say_lowest(averaged, x, 'beta reached', 'lets values grow least in a class', place)}",
        note=f"{STARTS[figure]}; less is more private. {say_seeds(rows)}",
        x_label="beta, promised by BUREL" if x == "beta" else label,
        y_label="beta reached: how much more frequent than overall the worst value is",
        ends=ENDS,
        logarithmic=True,
    )


def draw_answers(table: str, figure: str, rows: Rows) -> str:
    x = next(iter(rows[0]))
    label, place = ACROSS[x]
    perturbed = figure[0] == "9"
    note = (
        "from perturbed values, beside the whole table's distribution (baseline)"
        if perturbed
        else "from generalized tables"
    )
    averaged = average_runs(rows, x, "median error")
    return draw_lines(
        averaged,
        x,
        "median error",
        title=f"{TABLES[table]}: {say_lowest(averaged, x, 'median error', 'answers counts best', place)}",
        note=f"Random counting questions, answered {note}. {SETTINGS[figure]}. {say_seeds(rows)}",
        x_label=label,
        y_label="median error of a count, as a share of the true count",
        ends=ENDS,
        references=("baseline",),
    )


def draw_section_7(table: str, rows: Rows) -> str:
    naive, always = "naive Bayes on BUREL's classes", "always the most frequent"
    named = [{**row, "method": naive} for row in rows]
    intervals = {
        end: {row["beta"]: row[end] for row in average_runs(named, "beta", column)}
        for end, column in (("least", "low"), ("most", "high"))
    }
    guesses: list[Row] = [
        {**row, **{end: found[row["beta"]] for end, found in intervals.items()}}
        for row in average_runs(named, "beta", "naive Bayes")
    ]
    most = float(rows[0]["most frequent"])
    farthest = max(abs(float(row["naive Bayes"]) - most) for row in rows)
    baseline = [
        {"beta": row["beta"], "method": always, "naive Bayes": most, "least": most, "most": most} for row in guesses
    ]
    return draw_lines(
        [*guesses, *baseline],
        "beta",
        "naive Bayes",
        title=f"{TABLES[table]}: guesses by naive Bayes are right as often as the most frequent value, within {farthest:.3f}",
        note=f"Classes by BUREL. {say_seeds(named, INTERVALS)}",
        x_label=ACROSS["beta"][0],
        y_label="share of the people whose value is guessed",
        ends=ENDS,
        references=(always,),
    )


def draw_refinement(rows: Rows) -> str:
    averaged = [
        {
            **row,
            "table": TABLES[row["table"]],
            "beta": f"beta = {row['beta']}",
            "method": REFINED.get(row["method"], row["method"]),
        }
        for row in average_runs(rows, "beta", "ail", group="table")
    ]
    gains = _find_ratios(rows)
    return draw_categories(
        averaged,
        "beta",
        "ail",
        group="table",
        ends=ENDS,
        title=f"BUREL with a chosen share and refined classes loses {min(gains):.2f} to {max(gains):.2f} of what the paper's loses",
        note=f"Every quasi-identifier of the table; less is better; {say_range(rows, 'ail')} of the detail is lost. {say_seeds(rows, 'ranges')}",
        value_label=LOSS,
    )


def _find_ratios(rows: Rows) -> Sequence[float]:
    losses = {(row["table"], row["beta"], row["seed"], row["method"]): float(row["ail"]) for row in rows}
    return [
        losses[*drawn, "auto, refined"] / loss
        for (*drawn, method), loss in losses.items()
        if method == "share 1" and (*drawn, "auto, refined") in losses
    ]
