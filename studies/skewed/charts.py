"""The charts of results/*.csv: what suppression withholds, what an adversary learns from it, and what groupings cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from studies.drawing import Row, average_runs, draw_categories, draw_lines, say_range
from studies.results import Rows
from studies.seeds import say_seeds

RATE = "share of the rows that are withheld"
SURE = "surest belief in which value led, over all releases"
L = "l, of l-eligibility: no value may have more than one person in l"
ALL = "suppress all"
BOUND = "promised, 1 / l"
EXACT = "Exact means over the random choices of a method; nothing is drawn."
SAMPLES = "100 samples of Adult for each seed; samples that need no suppression count as 0."
ENDS = ("least", "most")
BAND = "Marks are means of five seeds, bars from the least to the greatest; 20,000 people of each table."
PRIORS = {
    "1": "all tables alike",
    "2": "all shapes alike",
    "3": "records independent",
    "4": "plausible tables alike",
}
TABLES = {
    "adult-workclass": "Adult, work class",
    "adult-marital": "Adult, marital status",
    "teachers-employer": "teachers, employer",
    "deaths-cause": "deaths, cause",
    "time-use-marital": "time use, marital status",
}
ATTACKS = ("naive-bayes", "definetti", "skewness", "composition")


def draw_charts(name: str, rows: Rows) -> dict[str, str]:
    if name == "groupings-answers":
        return {name: draw_widths(rows), "groupings-errors": draw_errors(rows)}
    return {name: DRAWINGS[name](rows)}


def _select(rows: Iterable[Row], **wanted: str) -> list[Row]:
    return [row for row in rows if all(row[column] == value for column, value in wanted.items())]


def _add_bounds(rows: Rows, x: str, column: str) -> list[Row]:
    """Add a line of what is promised, where the rows have it in a column."""
    bounds = {row[x]: row["bound"] for row in rows}
    shown = [row for row in rows if row["method"] != "1 / l"]
    return [
        *shown,
        *({x: place, "method": BOUND} | dict.fromkeys((column, *ENDS), bound) for place, bound in bounds.items()),
    ]


def _count_above(rows: Rows, method: str, x: str, column: str) -> tuple[int, int]:
    of_method = _select(rows, method=method)
    return sum(float(row[column]) > float(row["bound"]) * 1.0001 for row in of_method), len(of_method)


def draw_4(rows: Rows) -> str:
    first = {row["method"]: float(row["share"]) for row in rows if row["rank"] == "1"}
    flattest = min(first, key=first.__getitem__)
    return draw_lines(
        [row for row in rows if int(row["rank"]) <= 16],
        "rank",
        "share",
        title=f"Of Adult's columns {flattest} is the flattest: its most frequent value has {first[flattest]:.1%} of the people".replace(
            "%", "\u00a0%"
        ),
        note="Adult, 30,162 complete rows of the training split, the first 16 values of each column. A line that starts above 1 / l violates "
        "l-eligibility. Nothing is drawn at random.",
        x_label="rank of the value, 1 the most frequent",
        y_label="share of the people who have the value",
        logarithmic=True,
    )


def draw_5(rows: Rows) -> str:
    averaged = average_runs(rows, "sample %", "violations")
    return draw_lines(
        averaged,
        "sample %",
        "violations",
        title=f"At l = 6, {say_range(_select(averaged, method='l = 6'), 'violations')} of 100 samples violate l-eligibility, the more the smaller they are",
        note=f"100 samples of Adult of each size for each seed, without replacement. {say_seeds(rows)}",
        ends=ENDS,
        x_label="size of a sample, % of Adult (logarithmic)",
        y_label="samples that violate l-eligibility, of 100",
        doubling=True,
    )


def _draw_rates(x: str, at: str, x_label: str, note: str, *, doubling: bool = False) -> Callable[[Rows], str]:
    def draw(runs: Rows) -> str:
        is_drawn = "seed" in runs[0]
        rows = average_runs(runs, x, "rate") if is_drawn else runs
        safe = {row[x]: float(row["rate"]) for row in _select(rows, method="safe D")}
        ours = {row[x]: float(row["rate"]) for row in _select(rows, method="calibrated (ours)")}
        place = max(safe, key=lambda value: safe[value] - ours[value])
        title = (
            f"Calibrated suppression withholds up to {safe[place] - ours[place]:.1%} of the rows less than safe: {ours[place]:.1%} against "
            f"{safe[place]:.1%} {at.format(place)}"
        ).replace("%", "\u00a0%")
        return draw_lines(
            rows,
            x,
            "rate",
            title=title,
            note=f"{note} {say_seeds(runs) if is_drawn else EXACT}",
            x_label=x_label,
            y_label=RATE,
            ends=ENDS if is_drawn else None,
            references=(ALL,),
            doubling=doubling,
        )

    return draw


def _draw_posteriors(x: str, x_label: str, note: str, *, sampled: bool = False) -> Callable[[Rows], str]:
    def draw(runs: Rows) -> str:
        bounds = {row[x]: row["bound"] for row in runs}
        averaged = [{**row, "bound": bounds[row[x]]} for row in average_runs(runs, x, "posterior")]
        rows = averaged if sampled else runs
        above, of = _count_above(rows, "R-suppression", x, "posterior")
        ours, _ = _count_above(rows, "calibrated (ours)", x, "posterior")
        return draw_lines(
            _add_bounds(rows, x, "posterior"),
            x,
            "posterior",
            title=f"R-suppression lets an adversary be surer than 1 / l at {above} of {of} values of l, calibrated suppression at {ours or 'none'}",
            note=f"{note} The adversary knows the algorithm; all tables are equally likely beforehand."
            f"{f' {say_seeds(runs)}' if sampled else ''}",
            x_label=x_label,
            y_label=SURE,
            ends=ENDS if sampled else None,
            references=(BOUND,),
        )

    return draw


def draw_priors(rows: Rows) -> str:
    worst = max(_select(rows, method="calibrated (ours)"), key=lambda row: float(row["posterior"]))
    names = [{**row, "prior": PRIORS[str(row["prior"])]} for row in rows]
    bounds = [{"prior": name, "method": BOUND, "posterior": rows[0]["bound"]} for name in PRIORS.values()]
    return draw_categories(
        [*names, *bounds],
        "prior",
        "posterior",
        title=f"Safe suppression keeps 1 / l whatever the adversary takes for likely; calibrated reaches {float(worst['posterior']):.2f} "
        f"with {PRIORS[worst['prior']]}",
        note="All releases of 18 records in 5 values, l = 3, exact, by what the adversary takes for likely beforehand.",
        value_label=SURE,
        references=(BOUND,),
    )


def draw_priors_growing(rows: Rows) -> str:
    grown = _select(rows, method="calibrated, records")
    first, last = (float(grown[place]["posterior"]) for place in (0, -1))
    return draw_lines(
        _add_bounds(rows, "records", "posterior"),
        "records",
        "posterior",
        title=f"With independent records the belief against calibrated suppression grows from {first:.3f} to "
        f"{'more than 0.999' if last > 0.999 else f'{last:.3f}'}; safe stays at 1 / 3",
        note="Counts 30, 8, 6, 5, 4 and their multiples, l = 3; exact, or what it is at least.",
        x_label="records of the table",
        y_label=SURE,
        references=(BOUND,),
    )


def draw_real_kinds(rows: Rows) -> str:
    named = [
        {**row, "table": f"{TABLES[row['table']]}, {int(row['rows']):,} people", "l": f"l = {row['l']}"} for row in rows
    ]
    rates: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        rates.setdefault((row["table"], row["l"]), {})[row["method"]] = float(row["withheld"])
    alike = sum(kinds["safe"] <= kinds["calibrated"] * 1.0001 for kinds in rates.values())
    return draw_categories(
        named,
        "l",
        "share",
        group="table",
        title=f"Safe suppression, the default, withholds as much as calibrated in {alike} of {len(rates)} cases",
        note=f"Columns of four real tables, at every l of 2 to 5 that they violate. {EXACT}",
        value_label=RATE,
    )


def draw_widths(rows: Rows) -> str:
    ratios = _compare_groupings(rows, "width")
    return draw_categories(
        rows,
        "name",
        "width",
        ends=("width low", "width high"),
        title=f"Groups by Hilbert order have bounds {min(ratios):.2f} to {max(ratios):.2f} times as wide as random ones",
        note=f"Anatomy, 60 counts over a third of the ages and one value, medians. {BAND}",
        value_label="width of the guaranteed bounds, over the true count",
        logarithmic=True,
    )


def draw_errors(rows: Rows) -> str:
    ratios = _compare_groupings(rows, "error")
    return draw_categories(
        rows,
        "name",
        "error",
        ends=("error low", "error high"),
        title=f"Estimates from groups by Hilbert order err {min(ratios):.2f} to {max(ratios):.2f} times as much as from random ones",
        note=f"Anatomy, 60 counts over a third of the ages and one value, medians. {BAND}",
        value_label="error of the estimate, as a share of the true count",
        logarithmic=True,
    )


def _compare_groupings(rows: Rows, column: str) -> list[float]:
    values = {(row["name"], row["method"]): float(row[column]) for row in rows}
    return [
        values[name, method.replace("random", "hilbert")] / value
        for (name, method), value in values.items()
        if method.startswith("random")
    ]


def draw_attacks(rows: Rows) -> str:
    shown = [row for row in rows if row["attack"] in ATTACKS]
    guessed = {(row["name"], row["attack"], row["grouping"]): float(row["success"]) for row in shown}
    more = [
        guessed[name, attack, "hilbert"] > value for (name, attack, how), value in guessed.items() if how == "random"
    ]
    controls = [
        {
            **row,
            "grouping": f"control, {row['grouping']}",
            "success": row["control"],
            "success low": row["control"],
            "success high": row["control"],
        }
        for row in shown
    ]
    return draw_categories(
        list(chain(shown, controls)),
        "attack",
        "success",
        series="grouping",
        group="name",
        ends=("success low", "success high"),
        references=("control, random", "control, hilbert"),
        title=f"More people are guessed where groups follow the Hilbert curve in {sum(more)} of {len(more)} cases",
        note=f"Anatomy at l = 4: a quarter is what a group says by itself. A control is the same attack on values dealt at random. {BAND}",
        value_label="share of the people whose value is guessed",
    )


def draw_knowing(rows: Rows) -> str:
    certain = sorted({row["counts"] for row in _select(rows, method="hilbert") if float(row["surest"]) > 0.9999})
    worst = max(float(row["surest"]) for row in _select(rows, method="random"))
    bounds = [{**row, "method": "promised, 1 / 2", "surest": row["bound"]} for row in _select(rows, method="random")]
    return draw_categories(
        [*rows, *bounds],
        "counts",
        "surest",
        title=f"Who knows the method is certain of somebody in {len(certain)} of {len({row['counts'] for row in rows})} tables grouped by Hilbert order, "
        f"and never surer than {worst:g} where groups are random",
        note="Anatomy at l = 2, all releases of tiny tables, exactly; each line is how many people hold each value.",
        value_label="surest belief in somebody's value",
        references=("promised, 1 / 2",),
    )


DRAWINGS: dict[str, Callable[[Rows], str]] = {
    "4": draw_4,
    "5": draw_5,
    "6": _draw_rates(
        "sample %",
        "in samples of {}\u00a0%",
        "size of a sample, % of Adult (logarithmic)",
        f"l = 6. {SAMPLES}",
        doubling=True,
    ),
    "7": _draw_rates("l", "at l = {}", L, f"Samples of 0.5\u00a0%. {SAMPLES}"),
    "8a": _draw_rates(
        "alpha", "at alpha = {}", "alpha, how skewed Zipf's counts are", "Zipf's counts of 20 values, l = 5."
    ),
    "8b": _draw_rates("l", "at l = {}", L, "Zipf's counts of 20 values, alpha = 1."),
    "linear-l": _draw_rates(
        "l",
        "at l = {}",
        L,
        "Counts 1000, 900, ... 100, then 1, of 20 values: they violate l-eligibility from l = 6 on.",
    ),
    "linear-slope": _draw_rates(
        "slope",
        "at a slope of {}",
        "slope: what a value has less than the one before, by 1000",
        "Linear counts of 20 values, l = 5.",
    ),
    "posterior-small": _draw_posteriors("l", L, "24 records in 6 values, exact."),
    "posterior-zipf": _draw_posteriors("l", L, "Zipf's counts, 3,598 records in 20 values, alpha = 1, exact."),
    "posterior-adult": _draw_posteriors(
        "l", L, "Means over the violating ones of 100 samples of 0.5\u00a0% of Adult for each seed.", sampled=True
    ),
    "posterior-priors": draw_priors,
    "priors-growing": draw_priors_growing,
    "real-kinds": draw_real_kinds,
    "groupings-attacks": draw_attacks,
    "groupings-knowing": draw_knowing,
}
