"""The charts of results/*.csv: what each figure shows, in a sentence from its rows where they say one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from studies.drawing import Row, draw_categories, draw_lines, find_lowest, say_lowest, say_range
from studies.results import Rows

ADULT = "Adult, 30,162 people; (B,t) by Omega inference, b = 0.3. One run, nothing is drawn at random."
PARAMETERS = {
    "1": "para1: k 3, l 3, t .25",
    "2": "para2: k 4, l 4, t .2",
    "3": "para3: k 5, l 5, t .15",
    "4": "para4: k 6, l 6, t .1",
}
FIVE_SEEDS = (
    "Marks are means of five seeds (rows and all that is random drawn anew), bars from the least to the greatest."
)


def draw_charts(name: str, rows: Rows) -> dict[str, str]:
    return {name: DRAWINGS[name](rows)}


def _select(rows: Iterable[Row], **wanted: str) -> list[Row]:
    return [row for row in rows if all(row[column] == value for column, value in wanted.items())]


def _name_parameters(rows: Rows) -> list[Row]:
    return [{**row, "para": PARAMETERS[row["para"]]} for row in rows]


def _split_table(rows: Rows) -> list[Row]:
    """Split "adult, omega" into the table and what is compared."""
    return [
        {
            **row,
            "table": row["method"].partition(", ")[0],
            "method": row["method"].partition(", ")[2],
            "t": f"t = {row['t']}",
        }
        for row in rows
    ]


def draw_1a(rows: Rows) -> str:
    own = {row["b'"]: int(row["risk above t"]) for row in _select(rows, method="(B,t)-privacy")}
    worst = max(own, key=own.__getitem__)
    return draw_lines(
        rows,
        "b'",
        "risk above t",
        title=f"Against the bandwidth that it was made for, 0.3, the (B,t)-private table leaves {own['0.3'] or 'nobody'} above t; against {worst} "
        f"it leaves {own[worst]}",
        note=f"People whose beliefs move by more than t, by how much the adversary knows beforehand; para1. {ADULT}",
        x_label="b', the adversary's bandwidth (the smaller, the more the adversary knows)",
        y_label="people at risk above t",
    )


def draw_1b(rows: Rows) -> str:
    return draw_categories(
        _name_parameters(rows),
        "para",
        "risk above t",
        title=f"An adversary with b' = 0.3 puts {say_range(_select(rows, method='(B,t)-privacy'), 'risk above t')} people above t in the "
        f"(B,t)-private tables, and {say_range(_select(rows, method='distinct l-diversity'), 'risk above t')} under distinct l-diversity",
        note=f"People whose beliefs move by more than t, by the paper's four sets of parameters. {ADULT}",
        value_label="people at risk above t",
    )


def draw_2(rows: Rows) -> str:
    return draw_lines(
        rows,
        "N",
        "average distance error",
        title=f"Balanced inference is {say_range(_select(rows, method='balanced'), 'average distance error')} from exact inference on average, "
        f"the paper's Omega {say_range(_select(rows, method='omega'), 'average distance error')}",
        note="100 random groups of each size of Adult, b = 0.3; one seed.",
        x_label="people in a group",
        y_label="mean distance from exact beliefs (bits of Jensen-Shannon divergence)",
    )


def draw_3a(rows: Rows) -> str:
    return draw_lines(
        rows,
        "b",
        "worst risk",
        title=f"The worst risk does not change smoothly with the bandwidth: it lies between {say_range(rows, 'worst risk')}",
        note=f"(B,t)-private tables made for each bandwidth, looked at by four adversaries; para1. {ADULT}",
        x_label="b, the bandwidth that the table is made for",
        y_label="worst risk of a person (bits of Jensen-Shannon divergence)",
    )


def draw_3b(rows: Rows) -> str:
    same = len({(row["b1"], row["worst risk"]) for row in rows}) == len({row["b1"] for row in rows})
    return draw_lines(
        rows,
        "b1",
        "worst risk",
        title="The bandwidth of the last three columns changes nothing: all four lines are one"
        if same
        else "The worst risk by the bandwidths of the first and of the last three columns",
        note=f"Tables made for (b1, b1, b1, b2, b2, b2), looked at by b' = 0.3; para1. {ADULT}",
        x_label="b1, the bandwidth of the first three columns",
        y_label="worst risk of a person (bits of Jensen-Shannon divergence)",
    )


def draw_4a(rows: Rows) -> str:
    return draw_categories(
        _name_parameters(rows),
        "para",
        "CPU s",
        title=f"Planning takes {say_range(_select(rows, method='(B,t)-privacy'), 'CPU s', format_hundredths)} CPU seconds for (B,t)-privacy, priors "
        f"included, and at most {max(float(row['CPU s']) for row in rows if row['method'] != '(B,t)-privacy'):.2f} for the others",
        note="Adult, 30,162 people, by the paper's four sets of parameters. One run.",
        value_label="CPU seconds of planning",
    )


def format_hundredths(value: float) -> str:
    return f"{value:.2f}"


def draw_4b(rows: Rows) -> str:
    return draw_lines(
        rows,
        "rows",
        "CPU s",
        title=f"Prior beliefs of all people are computed in {say_range(rows, 'CPU s', format_hundredths)} CPU seconds",
        note="Adult, the first so many rows, four bandwidths. One run.",
        x_label="rows of the table",
        y_label="CPU seconds to compute prior beliefs",
    )


def _draw_utility(column: str, label: str, what: str) -> Callable[[Rows], str]:
    def draw(rows: Rows) -> str:
        return draw_categories(
            _name_parameters(rows),
            "para",
            column,
            title=f"{say_lowest(_with_numbers(rows), 'number', column, what, 'set of parameters')}",
            note=f"By the paper's four sets of parameters; less is better. {ADULT}",
            value_label=label,
            logarithmic=column == "DM",
        )

    return draw


def _with_numbers(rows: Rows) -> list[Row]:
    return [{**row, "number": row["para"]} for row in rows]


def _draw_answers(x: str, label: str, note: str) -> Callable[[Rows], str]:
    def draw(rows: Rows) -> str:
        return draw_lines(
            rows,
            x,
            "mean relative error",
            title=say_lowest(rows, x, "mean relative error", "answers counts best", "setting"),
            note=f"Mean relative error of random counting questions; {note}; para1. {ADULT}",
            x_label=label,
            y_label="mean error of a count, as a share of the true count",
        )

    return draw


def draw_mean_of_priors(rows: Rows) -> str:
    worst = max(rows, key=lambda row: float(row["largest difference"]))
    return draw_lines(
        rows,
        "b",
        "largest difference",
        title=f"The mean of all priors is off the table's distribution by up to {float(worst['largest difference']):.4f}, at b = {worst['b']}",
        note="The value that is off most, by bandwidth; 0 and the whole domain (b = 3) would be exact for a kernel without hierarchies. "
        "Adult, 30,162 people. Nothing is drawn at random.",
        x_label="b, the bandwidth of the prior beliefs",
        y_label="largest difference of a value's share",
    )


def draw_other_methods(rows: Rows) -> str:
    least, times, of = find_lowest(rows, "b'", "vulnerable", excluding=("mondrian, (.3, .2)",))
    return draw_categories(
        [{**row, "adversary": "b' = " + row["b'"]} for row in rows],
        "method",
        "vulnerable",
        series="adversary",
        title=f"Of other methods' releases, that of {least} leaves the fewest people above t = 0.2, at {times} of {of} bandwidths",
        note="People whose beliefs move by more than 0.2 bits, in releases at equal promises, no smoothing. Adult, 30,162 people; one seed.",
        value_label="people at risk above 0.2",
        logarithmic=True,
    )


def draw_inference(rows: Rows) -> str:
    by_method = {
        name: max(float(row["worst exact risk"]) for row in _split_table(rows) if row["method"] == name)
        for name in ("omega", "balanced")
    }
    return draw_categories(
        _split_table(rows),
        "t",
        "worst exact risk",
        group="table",
        ends=("least", "most"),
        title=f"Exact inference reaches a risk of up to {by_method['omega']:.2f} where t is kept by Omega, {by_method['balanced']:.2f} where by balanced inference",
        note=f"5,000 rows of each table, b = 0.3, k = 4, mondrian. {FIVE_SEEDS}",
        value_label="worst risk by exact inference (bits; the promise is t)",
    )


def draw_auto(rows: Rows) -> str:
    by_method = {name: [row for row in _split_table(rows) if row["method"] == name] for name in ("0.3", "auto")}
    named = [
        {**row, "method": {"0.3": "made for bandwidth 0.3", "auto": "made for the best predictor"}[str(row["method"])]}
        for row in _split_table(rows)
    ]
    column = "risk by the best predictor"
    kept = all(float(row["most"]) <= float(str(row["t"]).removeprefix("t = ")) for row in by_method["auto"])
    return draw_categories(
        named,
        "t",
        column,
        group="table",
        ends=("least", "most"),
        title=f"The best predictor reaches a risk of {say_range(by_method['0.3'], column)} where t is held against bandwidth 0.3, and "
        f"{'never more than t' if kept else say_range(by_method['auto'], column)} where it is held against this adversary",
        note=f"5,000 rows of each table, k = 4, mondrian, balanced inference. {FIVE_SEEDS}",
        value_label="worst risk by the best predictor (bits; the promise is t)",
    )


def draw_bucketized(rows: Rows) -> str:
    split = _split_table(rows)
    by_place: dict[tuple[str, str], dict[str, float]] = {}
    for row in split:
        by_place.setdefault((str(row["table"]), str(row["t"])), {})[str(row["method"])] = float(
            row["median count error"]
        )
    better = sum(errors["anatomy"] < errors["mondrian"] for errors in by_place.values())
    return draw_categories(
        split,
        "t",
        "median count error",
        group="table",
        ends=("least", "most"),
        title=f"Bucketized releases answer counts better than generalized ones in {better} of {len(by_place)} settings",
        note=f"2,000 rows of each table, b = 0.3 and l = 2; groups are cut alike. {FIVE_SEEDS}",
        value_label="median error of a count, as a share of the true count",
    )


DRAWINGS: dict[str, Callable[[Rows], str]] = {
    "1a": draw_1a,
    "1b": draw_1b,
    "2": draw_2,
    "3a": draw_3a,
    "3b": draw_3b,
    "4a": draw_4a,
    "4b": draw_4b,
    "5a": _draw_utility(
        "DM", "discernibility metric: pairs of people who read alike", "leaves the fewest pairs of people alike"
    ),
    "5b": _draw_utility("GCP", "global certainty penalty: detail lost, as a share of all", "loses the least detail"),
    "6a": _draw_answers("dimension", "conditions of a question", "an expected selectivity of 0.07"),
    "6b": _draw_answers("selectivity", "share of the people that a question is expected to select", "three conditions"),
    "mean-of-priors": draw_mean_of_priors,
    "other-methods": draw_other_methods,
    "auto": draw_auto,
    "bucketized": draw_bucketized,
    "inference": draw_inference,
}
