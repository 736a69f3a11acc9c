"""The charts of by-l-<table>.csv and by-beta-<table>.csv: how often adversaries guess right as a promise is loosened."""

from __future__ import annotations

from studies.drawing import average_runs, draw_lines
from studies.results import Rows
from studies.seeds import say_seeds

TABLES = {
    "adult30k": "Adult",
    "teachers": "Teachers",
    "deaths": "Deaths of 2006",
    "time-use": "Time use",
}
ACROSS = {
    "l": "l: nobody's value has more than one person in l of their group",
    "beta": "beta: how much more frequent than overall a value may be in a group",
}
CONTROL = "control"


def draw_charts(name: str, runs: Rows) -> dict[str, str]:
    kind, _, rest = name.partition("-")
    letter, _, table = rest.partition("-")
    if kind != "by":
        return {}
    rows = average_runs(runs, letter, "right")
    values = sorted({row[letter] for row in rows}, key=float)
    strict, loose = (values[place] for place in ((-1, 0) if letter == "l" else (0, -1)))
    best = max(
        (row for row in rows if row[letter] == loose and row["method"] != CONTROL), key=lambda row: float(row["right"])
    )
    [stricter] = [row for row in rows if row[letter] == strict and row["method"] == best["method"]]
    [control] = [row for row in rows if row[letter] == loose and row["method"] == CONTROL]
    shares = [f"{float(row['right']):.0%}".replace("%", "\u00a0%") for row in (best, stricter, control)]
    chart = draw_lines(
        rows,
        letter,
        "right",
        title=f"{TABLES[table]}: {best['method']} guesses {shares[0]} right at {letter} = {loose} and {shares[1]} at {letter} = {strict}; "
        f"with values dealt at random {shares[2]} are",
        note="Releases of 4,000 people by mondrian. The control is the attack inference on the same groups with values dealt at random. "
        f"{say_seeds(runs)}",
        ends=("least", "most"),
        x_label=ACROSS[letter],
        y_label="share of the people whose value is guessed",
        references=(CONTROL,),
    )
    return {name: chart}
