"""The charts of seeds.csv (figures 2a-b and 3a-b, with bands over five seeds), and of draws.csv and cuts.csv."""

from __future__ import annotations

from studies.drawing import Row, average_runs, draw_categories, draw_lines
from studies.results import Rows

DEFAULT_K = "6"
DEFAULT_P = "0.3"
FIGURES = {
    "2a": ("k", "2"),
    "2b": ("k", "3"),
    "2-median": ("k", "median"),
    "3a": ("p", "2"),
    "3b": ("p", "3"),
    "3-median": ("p", "median"),
}
CATEGORIES = {"2": "two lopsided categories", "3": "three categories", "median": "halves at the median"}
ACROSS = {
    "k": "k: the least number of people under a label (p = 0.3)",
    "p": "p: the chance that a value is kept (k = 6)",
}
DRAWS = {"draw one": "tree, one tuple of a label", "draw many": "tree, many tuples of a label"}
GUESSING = "guessing the most frequent"
SETTINGS = {
    "one, 6": "one of a label, k = 6 (the paper)",
    "many, 6": "many of a label, k = 6",
    "chosen": "many, k chosen",
}
CUTS = {"loss": "cuts by loss", "median": "at the median", "gain": "following other people's rows"}


def draw_charts(name: str, rows: Rows) -> dict[str, str]:
    if name == "seeds":
        return {f"figure-{figure}": draw_figure(rows, *of) for figure, of in FIGURES.items()}
    if name == "draws":
        return {name: draw_draws(rows)}
    if name == "cuts":
        return {name: draw_cuts(rows)}
    return {}


def draw_figure(rows: Rows, axis: str, split: str) -> str:
    fixed, value = ("p", DEFAULT_P) if axis == "k" else ("k", DEFAULT_K)
    chosen = [row for row in rows if row["split"] == split and row[fixed] == value]
    guesses: list[Row] = [{**row, "method": GUESSING, "held_out": row["guess"]} for row in chosen]
    named = [{**row, "method": DRAWS.get(row["method"], row["method"])} for row in chosen]
    averaged = average_runs([*named, *guesses], axis, "held_out")
    guess = float(chosen[0]["guess"])
    own = [row for row in averaged if row["method"] != GUESSING]
    clear = all(row["most"] < guess for row in own)
    gain = max(guess - row["held_out"] for row in own)
    title = (
        f"A tree from the release errs less than guessing at every {axis}, by up to {gain:.2f}"
        if clear
        else f"Into {CATEGORIES[split]} a tree from a release does no better than guessing beyond the band: by {max(gain, 0):.3f} at best"
    )
    return draw_lines(
        averaged,
        axis,
        "held_out",
        title=title,
        note=f"Held-out people of the census generator, put into {CATEGORIES[split]}; learned from a release of others. Means of five seeds, "
        "bands from the least to the greatest.",
        x_label=ACROSS[axis],
        y_label="share of the people put into the wrong category",
        ends=("least", "most"),
        references=(GUESSING,),
    )


def draw_draws(rows: Rows) -> str:
    averaged = average_runs(
        [{**row, "setting": SETTINGS[row["setting"]]} for row in rows], "table", "rms", series="setting"
    )
    errors = {(row["table"], row["setting"]): row["rms"] for row in averaged}
    ratios = [
        errors[table, SETTINGS["many, 6"]] / error
        for (table, setting), error in errors.items()
        if setting == SETTINGS["one, 6"]
    ]
    return draw_categories(
        averaged,
        "table",
        "rms",
        series="setting",
        ends=("least", "most"),
        title=f"Drawing many tuples of a label instead of one brings the error of a count to {min(ratios):.2f} to {max(ratios):.2f} of what it was",
        note="Counts of the sensitive values of real tables. Marks are means of five seeds, bars from the least to the greatest.",
        value_label="error of a count (root of the mean square), as a share of the people",
        logarithmic=True,
    )


def draw_cuts(rows: Rows) -> str:
    averaged = average_runs([{**row, "cuts": CUTS[row["cuts"]]} for row in rows], "table", "tree", series="cuts")
    errors = {(row["table"], row["cuts"]): row["tree"] for row in averaged}
    tables = list(dict.fromkeys(row["table"] for row in rows))
    gains = {table: errors[table, CUTS["loss"]] - errors[table, CUTS["gain"]] for table in tables}
    best = max(tables, key=lambda table: gains[table])
    others = max(abs(gain) for table, gain in gains.items() if table != best)
    return draw_categories(
        averaged,
        "table",
        "tree",
        series="cuts",
        ends=("least", "most"),
        title=f"Cuts that follow other people's rows bring a tree's error on {best} from {errors[best, CUTS['loss']]:.2f} to "
        f"{errors[best, CUTS['gain']]:.2f}; elsewhere it changes by {others:.3f} at most",
        note="Held-out people of real tables, put into halves of the sensitive values; k = 10. Marks are means of five seeds, bars from "
        "the least to the greatest.",
        value_label="share of the people put into the wrong half",
    )
