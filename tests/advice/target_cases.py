"""Advice of the methods that publish a target distribution or a perturbed sample: distribution and perturbed-generalization."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl

import reticent as rt
from tests.advice.cases import CaseTable, Desk, Steps
from tests.advice.small_jobs import CITIES, ILLNESSES, ROWS, make_people, publish

TABLE = CaseTable()
follows = TABLE.follows

WAGES = [1000 * (1 + row % 5) for row in range(ROWS)]
GRID = [1000, 5000, 1000]


def make_earners(wages: Any = WAGES) -> pl.DataFrame:
    """Return people with a wage instead of an illness."""
    return make_people(wage=wages).drop("illness")


def protect_wage(**options: Any) -> dict[str, Any]:
    """Declare the wage as sensitive, with these options."""
    return {"illness": None, "wage": {"role": "sensitive", **options}}


def protect_illness(**options: Any) -> dict[str, Any]:
    return {"illness": {"role": "sensitive", **options}}


def weigh(*values: object) -> dict[str, Any]:
    """Return a target that gives every one of the values the same weight."""
    return {"weights": {str(value): 1 for value in values}}


# distribution.

GROUPS = "methods/distribution/analysis_groups.py"
FAKES = "methods/distribution/generalization.py"
TARGETS = "methods/distribution/targets.py"
VALUES = "methods/distribution/value_domain.py"


def transform(
    target: Any = "source", frame: Any = None, columns: Any = None, domain: Any = None, **method: Any
) -> rt.Release:
    """Publish by distribution with this target, over a domain if one is given."""
    promise = {"model": "p-privacy", "target": target, **({} if domain is None else {"domain": domain})}
    return publish(frame, columns, promise=[promise], method={"name": "distribution", **method})


def transform_wages(wages: Any = WAGES, target: Any = "source", domain: Any = None, **method: Any) -> rt.Release:
    return transform(target, make_earners(wages), protect_wage(), domain, **method)


@follows(GROUPS, "{suggest(name, list(place))}")
def group_by_unknown_column(desk: Desk) -> Steps:
    yield lambda: transform(group_by=["cty"])
    yield lambda: transform(group_by=["city"])


@follows(GROUPS, "group_by = […].")
def group_words_by_bands(desk: Desk) -> Steps:
    yield lambda: transform(group_by={"city": [1, 2]})
    yield lambda: transform(group_by=["city"])


@follows(GROUPS, "edges such as [18, 40, 65].")
def group_by_descending_bands(desk: Desk) -> Steps:
    yield lambda: transform(group_by={"age": [40, 18]})
    yield lambda: transform(group_by={"age": [18, 40, 65]})


@follows(GROUPS, "{suggest(lacking[0], names)}")
def expect_questions_about_unknown_column(desk: Desk) -> Steps:
    yield lambda: transform(within="hilbert", workload={"agee": 0.2})
    yield lambda: transform(within="hilbert", workload={"age": 0.2})


@follows(
    FAKES,
    'fewer fakes, or a share of them (fakes = 0.05) in smaller groups (group_by, within = "qi-sa", or within = "hilbert" '
    "with a size), or a coarser grid.",
)
def add_fakes_of_fine_numbers(desk: Desk) -> Steps:
    wages = WAGES * 3
    people = pl.concat([make_earners()] * 3)

    def add_fakes(fakes: Any, step: int = 1, **groups: Any) -> rt.Release:
        return transform("source", people, protect_wage(), [1000, max(wages), step], fakes=fakes, **groups)

    yield lambda: add_fakes(200)
    yield lambda: add_fakes(2)
    yield lambda: add_fakes(0.05, group_by=["city"])
    yield lambda: add_fakes(0.05, within="qi-sa")
    yield lambda: add_fakes(0.05, within="hilbert", size=20)
    yield lambda: add_fakes(200, step=1000)


@follows(
    FAKES,
    'fewer fakes, or a share of them (fakes = 0.05) in smaller groups (group_by, within = "qi-sa", or within = "hilbert" '
    "with a size).",
)
def add_very_many_fakes(desk: Desk) -> Steps:
    people = pl.concat([make_people()] * 30)
    yield lambda: transform(frame=people, fakes=15_000)
    yield lambda: transform(frame=people, fakes=5)
    yield lambda: transform(frame=people, fakes=0.05, group_by=["city"])
    yield lambda: transform(frame=people, fakes=0.05, within="qi-sa")
    yield lambda: transform(frame=people, fakes=0.05, within="hilbert", size=20)


@follows("methods/distribution/method.py", "one [[promise]], its target given for each group by name.")
def promise_two_targets(desk: Desk) -> Steps:
    targets = ({"model": "p-privacy", "target": "uniform"}, {"model": "p-privacy", "target": "source"})
    yield lambda: publish(promise=list(targets), method={"name": "distribution", "group_by": ["city"]})
    yield lambda: transform({"groups": dict(zip(CITIES, ("uniform", "source") * 2, strict=True))}, group_by=["city"])


@follows(TARGETS, "a target for each group that occurs, and for no other.")
def forget_target_of_group(desk: Desk) -> Steps:
    yield lambda: transform({"groups": dict.fromkeys(CITIES[1:], "uniform")}, group_by=["city"])
    yield lambda: transform({"groups": dict.fromkeys(CITIES, "uniform")}, group_by=["city"])


@follows(TARGETS, "a weaker promise, or a domain with more values.")
def ask_for_more_values_than_the_domain_has(desk: Desk) -> Steps:
    def come_near(values: int, columns: Any = None) -> rt.Release:
        return transform({"nearest": {"model": "probabilistic-l-diversity", "l": values}}, None, columns)

    yield lambda: come_near(4)
    yield lambda: come_near(3)
    yield lambda: come_near(4, protect_illness(order=[*ILLNESSES, "mumps"]))


@follows(TARGETS, "a weight above 0 for every value that occurs.")
def weigh_a_value_that_occurs_with_nothing(desk: Desk) -> Steps:
    yield lambda: transform({"weights": {"flu": 1, "cold": 1, "gout": 0}})
    yield lambda: transform(weigh(*ILLNESSES))


@follows(TARGETS, "values of the domain, or … that holds them.")
def weigh_numbers_beside_the_grid(desk: Desk) -> Steps:
    earned = sorted(set(WAGES))
    yield lambda: transform_wages(target=weigh(500, *earned), domain=GRID)
    yield lambda: transform_wages(target=weigh(*earned), domain=GRID)
    yield lambda: transform_wages(target=weigh(500, *earned), domain=[500, 5000, 500])


@follows(TARGETS, "values of the domain, or … that holds them.")
def weigh_words_beside_the_domain(desk: Desk) -> Steps:
    more = (*ILLNESSES, "mumps")
    target = {"groups": {"all": weigh(*more)}}
    yield lambda: transform(target)
    yield lambda: transform({"groups": {"all": weigh(*ILLNESSES)}})
    yield lambda: transform(target, None, protect_illness(order=list(more)))
    yield lambda: transform(target, None, protect_illness(hierarchy=[[word, "*"] for word in more]))


@follows(TARGETS, '"uniform" or { zipf = ... }.')
def draw_a_bell_over_words(desk: Desk) -> Steps:
    yield lambda: transform({"normal": {"mean": 1, "std": 1}})
    yield lambda: transform("uniform")
    yield lambda: transform({"zipf": {"s": 1}})


@follows(TARGETS, "a mean within the domain, or a greater std.")
def draw_a_bell_far_away(desk: Desk) -> Steps:
    yield lambda: transform_wages(target={"normal": {"mean": 100_000, "std": 1}})
    yield lambda: transform_wages(target={"normal": {"mean": 3000, "std": 1}})
    yield lambda: transform_wages(target={"normal": {"mean": 100_000, "std": 10_000}})


@follows(VALUES, 'a number of days or years, or type = "ordinal" with its order.')
def transform_dates(desk: Desk) -> Steps:
    days = [dt.date(2020, 1, 1 + row % 5) for row in range(ROWS)]
    order = [str(day) for day in sorted(set(days))]
    yield lambda: transform_wages(days)
    yield lambda: transform_wages([day.day for day in days])
    yield lambda: transform("source", make_earners(days), protect_wage(type="ordinal", order=order))


def transform_by_file(desk: Desk, text: str | None) -> rt.Release:
    """Publish with the target of a file that holds this text; None: there is no file."""
    if text is not None:
        (desk / "target.csv").write_text(text)
    return transform({"file": "target.csv"})


GOOD_FILE = "flu;1\ncold;3\ngout;2\n"


@follows(VALUES, "a CSV beside the job file.")
def read_no_target(desk: Desk) -> Steps:
    yield lambda: transform_by_file(desk, None)
    yield lambda: transform_by_file(desk, GOOD_FILE)


@follows(VALUES, "lines such as 40000;3.")
def read_target_without_weights(desk: Desk) -> Steps:
    yield lambda: transform_by_file(desk, "flu\ncold\ngout\n")
    yield lambda: transform_by_file(desk, GOOD_FILE)


@follows(VALUES, "each value once, with a weight of 0 or more.")
def read_target_with_a_value_twice(desk: Desk) -> Steps:
    yield lambda: transform_by_file(desk, GOOD_FILE + "flu;2\n")
    yield lambda: transform_by_file(desk, GOOD_FILE + "mumps;0\n")


@follows(VALUES, 'missing = "withhold" for this column, or a value of their own for these rows in the source.')
def transform_missing_values(desk: Desk) -> Steps:
    illnesses = [None if row % 12 == 5 else ILLNESSES[row % 3] for row in range(ROWS)]
    people = make_people(illness=illnesses)
    yield lambda: transform("source", people, protect_illness(missing="category"))
    yield lambda: transform("source", people, protect_illness(missing="withhold"))
    yield lambda: transform("source", people.with_columns(pl.col("illness").fill_null("unknown")))


@follows(VALUES, "a column with two values or more.")
def transform_one_value(desk: Desk) -> Steps:
    yield lambda: transform("source", make_people(illness=["flu"] * ROWS))
    yield transform


@follows(VALUES, "domain = [least, greatest, step] that holds them.")
def earn_more_than_the_grid(desk: Desk) -> Steps:
    yield lambda: transform_wages(domain=[1000, 4000, 1000])
    yield lambda: transform_wages(domain=GRID)


@follows(VALUES, "a target that lists them.")
def suffer_what_the_target_does_not_list(desk: Desk) -> Steps:
    yield lambda: transform(weigh("flu"))
    yield lambda: transform(weigh(*ILLNESSES))


@follows(VALUES, "a target that lists them.")
def earn_what_the_target_does_not_list(desk: Desk) -> Steps:
    yield lambda: transform_wages(target=weigh(1000, 2000))
    yield lambda: transform_wages(target=weigh(*sorted(set(WAGES))))


@follows(VALUES, "a coarser unit: thousands instead of ones, or fewer digits after the point.")
def sum_very_large_numbers(desk: Desk) -> Steps:
    large = [10**17 + wage for wage in WAGES]
    yield lambda: transform_wages(large)
    yield lambda: transform_wages([wage // 1000 for wage in large])


@follows(VALUES, "a coarser unit: thousands instead of ones, or fewer digits after the point.")
def sum_numbers_of_many_digits(desk: Desk) -> Steps:
    exact = [123456789.12345679 + wage for wage in WAGES] * 2
    yield lambda: transform(
        "source", pl.concat([make_earners()] * 2).with_columns(wage=pl.Series(exact)), protect_wage()
    )
    rounded = [round(wage, 2) for wage in exact]
    yield lambda: transform(
        "source", pl.concat([make_earners()] * 2).with_columns(wage=pl.Series(rounded)), protect_wage()
    )


@follows(VALUES, "rounding it to a grid first, such as whole hundreds, and domain = [least, greatest, step].")
def transform_fine_numbers(desk: Desk) -> Steps:
    thirds = make_earners([wage / 3 for wage in WAGES])
    yield lambda: transform("source", thirds, protect_wage())
    yield lambda: transform("source", thirds, protect_wage(round_to=100), [0, 5000, 100])


@follows(VALUES, "a grid of values of that type, or a column of a wider one.")
def halve_whole_numbers(desk: Desk) -> Steps:
    yield lambda: transform_wages(domain=[1000, 5000, 62.5])
    yield lambda: transform_wages(domain=[1000, 5000, 500])
    yield lambda: transform_wages([float(wage) for wage in WAGES], domain=[1000, 5000, 62.5])


# perturbed-generalization.

CALIBRATION = "methods/perturbed_generalization/calibration.py"
DECLARED = "methods/perturbed_generalization/declared_domain.py"
GROUPING = "methods/perturbed_generalization/grouping.py"
ALL_ILLNESSES = [*ILLNESSES, "mumps"]
CATEGORIES = [["flu", "cold"], ["gout", "mumps"]]
EARNED = [str(wage) for wage in sorted(set(WAGES))]


def sample(frame: Any = None, columns: Any = None, promise: Any = None, **method: Any) -> rt.Release:
    """Publish by perturbed-generalization; the illness has a declared domain unless columns are given."""
    promised = promise or {"model": "rho-guarantee", "rho1": 0.2, "rho2": 0.5, "lambda": 0.5}
    declared = protect_illness(domain=ALL_ILLNESSES) if columns is None else columns
    return publish(frame, declared, promise=[promised], method={"name": "perturbed-generalization", **method})


def sample_wages(wages: Any = WAGES, method: Any = None, **options: Any) -> rt.Release:
    """Publish wages that are declared with these options."""
    return sample(make_earners(wages), protect_wage(**options), **(method or {}))


def limit_growth(delta: str) -> dict[str, Any]:
    return {"model": "delta-growth", "delta": delta, "lambda": 0.5}


@follows(
    CALIBRATION, "a declared domain of two values or more: a hierarchy, an order, or domain = [...] of the method."
)
def sample_one_value(desk: Desk) -> Steps:
    healthy = make_people(illness=["flu"] * ROWS)
    yield lambda: sample(healthy, protect_illness(order=["flu"]))
    yield lambda: sample(healthy, protect_illness(order=ALL_ILLNESSES))
    yield lambda: sample(healthy, protect_illness(hierarchy=[[value, "*"] for value in ALL_ILLNESSES]))
    yield lambda: sample(healthy, protect_illness(), domain=ALL_ILLNESSES)


@follows(CALIBRATION, "a larger k, or a weaker promise.")
def sample_small_groups_strictly(desk: Desk) -> Steps:
    yield lambda: sample(promise=limit_growth("1/5000000"), k=2)
    yield lambda: sample(promise=limit_growth("1/5000000"), k=20)
    yield lambda: sample(promise=limit_growth("1/10"), k=2)


@follows(CALIBRATION, "more rows, or a weaker promise.")
def sample_few_rows_strictly(desk: Desk) -> Steps:
    yield lambda: sample(promise=limit_growth("1/100000000"))
    yield lambda: sample(pl.concat([make_people()] * 4), promise=limit_growth("1/100000000"))
    yield lambda: sample(promise=limit_growth("1/10"))


@follows(CALIBRATION, 'grouping = "mondrian" without categories, or a weaker promise.')
def specialize_strictly(desk: Desk) -> Steps:
    specialization = {"grouping": "specialization", "categories": CATEGORIES}
    yield lambda: sample(promise=limit_growth("1/5000000"), k=20, **specialization)
    yield lambda: sample(promise=limit_growth("1/5000000"), k=20, grouping="mondrian")
    yield lambda: sample(promise=limit_growth("1/10"), k=20, **specialization)


def calibrate(desk: Desk, **options: Any) -> Any:
    """Return a call of `reticent calibrate perturbed-generalization` with these options."""
    question = {"p": 0.3, "k": 6, "lambda": 0.5, "rho1": 0.2, "domain": 50, **options}
    words = [word for name, value in question.items() for word in (f"--{name}", value)]
    return desk.command("calibrate", "perturbed-generalization", *words)


@follows(CALIBRATION, "--rows … or more.")
def calibrate_for_few_rows(desk: Desk) -> Steps:
    yield calibrate(desk, rows=3)
    yield calibrate(desk, rows=6)
    yield calibrate(desk, rows=600)


@follows(CALIBRATION, "domain=2 (--domain 2) or more.")
def calibrate_for_one_value(desk: Desk) -> Steps:
    yield calibrate(desk, domain=1)
    yield calibrate(desk, domain=2)
    yield lambda: rt.calibrate("perturbed-generalization", p=0.3, k=6, lambda_=0.5, rho1=0.2, domain=2)


@follows(DECLARED, "a value of their own for these rows in the source.")
def sample_missing_values(desk: Desk) -> Steps:
    people = make_people(illness=[None if row % 12 == 5 else ILLNESSES[row % 3] for row in range(ROWS)])
    columns = protect_illness(domain=ALL_ILLNESSES, missing="category")
    yield lambda: sample(people, columns)
    yield lambda: sample(people.with_columns(pl.col("illness").fill_null("mumps")), columns)


RECODED = "domain = [...] of …… with every value that can result, multiples of round_to within bottom and top."


@follows(DECLARED, RECODED)
def round_without_a_list(desk: Desk) -> Steps:
    yield lambda: sample_wages(round_to=2000, domain=[1000, 5000])
    yield lambda: sample_wages(round_to=2000, domain=[0, 2000, 4000, 6000])


@follows(DECLARED, RECODED)
def round_with_values_that_do_not_result(desk: Desk) -> Steps:
    yield lambda: sample_wages(round_to=1000, bottom=2000, top=4000, domain=[1000, 2000, 3000, 4000])
    yield lambda: sample_wages(round_to=1000, bottom=2000, top=4000, domain=[2000, 3000, 4000])


@follows(DECLARED, RECODED)
def round_with_a_hierarchy(desk: Desk) -> Steps:
    yield lambda: sample_wages(round_to=1000, domain=EARNED, hierarchy=[[wage, "*"] for wage in EARNED])
    yield lambda: sample_wages(round_to=1000, domain=EARNED)


@follows(DECLARED, RECODED)
def round_with_a_list_of_the_method(desk: Desk) -> Steps:
    yield lambda: sample_wages(round_to=1000, domain=EARNED, method={"domain": EARNED})
    yield lambda: sample_wages(round_to=1000, domain=EARNED)


@follows(
    DECLARED,
    'rt.sensitive(domain=[...]), in a job domain = ["a", "b", ...] of the column, every value that can occur in any such '
    "table: from the questionnaire, the code list or the classification, not from this table. Or a hierarchy file, an order, "
    "or the least and the greatest whole number.",
)
def sample_undeclared_values(desk: Desk) -> Steps:
    hierarchy = desk / "illnesses.csv"
    hierarchy.write_text("".join(f"{value};any\n" for value in ALL_ILLNESSES))
    wages = make_earners()
    columns = {"age": rt.quasi(), "city": rt.quasi(), "name": rt.identifying(), "wage": rt.sensitive(domain=EARNED)}
    job = rt.Job(columns=columns, promises=[rt.RhoGuarantee(0.2, 0.5, 0.5)], method=rt.PerturbedGeneralization())
    yield lambda: sample(columns=protect_illness())
    yield lambda: sample(columns=protect_illness(domain=ALL_ILLNESSES))
    yield lambda: sample(columns=protect_illness(hierarchy=str(hierarchy)))
    yield lambda: sample(columns=protect_illness(order=ALL_ILLNESSES))
    yield lambda: sample_wages(domain=[1000, 5000])
    yield lambda: rt.publish(job, frame=wages)


@follows(
    "methods/perturbed_generalization/reference_rows.py",
    'other people\'s rows, public or of an earlier year, or cuts = "loss".',
)
def cut_by_the_table_itself(desk: Desk) -> Steps:
    columns = protect_illness(domain=ALL_ILLNESSES)
    earlier = make_people(illness=[ILLNESSES[row % 2] for row in range(ROWS)])
    yield lambda: sample(make_people(), columns, cuts="gain", reference=make_people())
    yield lambda: sample(make_people(), columns, cuts="gain", reference=earlier)
    yield lambda: sample(make_people(), columns, cuts="loss")


@follows(DECLARED, "each value once.")
def list_a_value_twice(desk: Desk) -> Steps:
    yield lambda: sample(columns=protect_illness(), domain=[*ALL_ILLNESSES, "flu"])
    yield lambda: sample(columns=protect_illness(), domain=ALL_ILLNESSES)


@follows(DECLARED, "listing every value that can occur.")
def list_too_few_values(desk: Desk) -> Steps:
    yield lambda: sample(columns=protect_illness(), domain=["flu", "cold"])
    yield lambda: sample(columns=protect_illness(), domain=ALL_ILLNESSES)


OF_TYPE = "values as the column has them, or a source in which the column is text…."


@follows(DECLARED, OF_TYPE)
def list_words_of_numbers(desk: Desk) -> Steps:
    yield lambda: sample_wages(domain=[*EARNED, "unknown"])
    yield lambda: sample_wages(domain=EARNED)
    yield lambda: sample_wages([str(wage) for wage in WAGES], type="categorical", domain=[*EARNED, "unknown"])


@follows(DECLARED, OF_TYPE)
def order_words_of_numbers(desk: Desk) -> Steps:
    yield lambda: sample_wages(order=[*EARNED, "unknown"])
    yield lambda: sample_wages(order=EARNED)
    yield lambda: sample_wages([str(wage) for wage in WAGES], order=[*EARNED, "unknown"])


@follows(
    DECLARED,
    "binning it first: a whole number for each class, such as wage // 1000, or a declared order of classes.",
)
def sample_fractions(desk: Desk) -> Steps:
    exact = [wage / 7 for wage in WAGES]
    yield lambda: sample_wages(exact, domain=[0, 1000])
    yield lambda: sample_wages([int(wage // 100) for wage in exact], domain=[0, 10])
    yield lambda: sample_wages(["low" if wage < 300 else "high" for wage in exact], order=["low", "high"])


@follows(DECLARED, "domain = [...] with every value, or two whole numbers.")
def declare_a_range_of_decimals(desk: Desk) -> Steps:
    yield lambda: sample_wages(domain=[0.5, 5000])
    yield lambda: sample_wages(domain=EARNED)
    yield lambda: sample_wages(domain=[0, 5000])


@follows(DECLARED, "binning it first: a whole number for each class, such as wage // 1000.")
def declare_a_very_wide_range(desk: Desk) -> Steps:
    yield lambda: sample_wages(domain=[0, 500_000])
    yield lambda: sample_wages([wage // 1000 for wage in WAGES], domain=[0, 500])


@follows(GROUPING, "a smaller k (a greater s), or more rows.")
def sample_groups_of_more_than_all(desk: Desk) -> Steps:
    yield lambda: sample(k=100)
    yield lambda: sample(k=10)
    yield lambda: sample(s=0.1)
    yield lambda: sample(pl.concat([make_people()] * 2), k=100)


MISSING_PATTERN = "…values of their own for missing ones in the source, or k = …."


@follows(GROUPING, MISSING_PATTERN)
def sample_where_few_ages_are_missing(desk: Desk) -> Steps:
    people = make_people(age=[None if row in (1, 2) else 20 + row % 30 for row in range(ROWS)])
    age = {"age": {"role": "quasi-identifying", "type": "numeric", "missing": "withhold"}}
    yield lambda: sample(people, k=5)
    yield lambda: sample(people, protect_illness(domain=ALL_ILLNESSES) | age, k=5)
    yield lambda: sample(people.with_columns(pl.col("age").fill_null(99)), k=5)
    yield lambda: sample(people, k=2)


@follows(GROUPING, MISSING_PATTERN)
def sample_where_few_are_known_whole(desk: Desk) -> Steps:
    people = make_people(
        age=[None if row % 2 else 20 + row % 30 for row in range(ROWS)],
        city=["Ulm" if row % 2 or row == 4 else None for row in range(ROWS)],
    )
    yield lambda: sample(people, k=5)
    yield lambda: sample(people.with_columns(pl.col("age").fill_null(99), pl.col("city").fill_null("?")), k=5)
    yield lambda: sample(people, k=1)


PARTITION = "a partition of the column's domain."


@follows(GROUPING, PARTITION)
def name_a_category_twice(desk: Desk) -> Steps:
    yield lambda: sample(grouping="specialization", categories=[["flu", "cold"], ["gout", "mumps", "flu"]])
    yield lambda: sample(grouping="specialization", categories=CATEGORIES)


@follows(GROUPING, PARTITION)
def leave_a_value_without_category(desk: Desk) -> Steps:
    yield lambda: sample(grouping="specialization", categories=[["flu", "cold"], ["gout"]])
    yield lambda: sample(grouping="specialization", categories=CATEGORIES)
