"""The tables and jobs of the golden set: small, seeded, and with every habit of a table that changes what is published."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import polars as pl

ROWS = 200
ILLNESSES = {
    "flu": "lungs",
    "cold": "lungs",
    "asthma": "lungs",
    "ulcer": "belly",
    "gastritis": "belly",
    "colitis": "belly",
}
CITIES = {"Ulm": "south", "Bonn": "west", "Kiel": "north", "Essen": "west", "Jena": "east"}


def draw_people(seed: int) -> pl.DataFrame:
    """Draw one row per person; sensitive values go with age, so that groups differ."""
    draw = random.Random(seed)
    ages = [draw.randint(20, 79) for _ in range(ROWS)]
    ranks = [min(int(draw.random() * 4) + (age >= 45) * 2, 5) for age in ages]
    return pl.DataFrame(
        {
            "name": [f"name-{row:04d}" for row in range(ROWS)],
            "age": ages,
            "born": [f"{2020 - age}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}" for age in ages],
            "city": [draw.choice(list(CITIES)) for _ in range(ROWS)],
            "illness": [list(ILLNESSES)[rank] for rank in ranks],
            "wage": [1000 * min(draw.randint(1, 5) + (age >= 30), 6) for age in ages],
            "ward": [draw.choice("NS") for _ in range(ROWS)],
            "weight": [round(draw.uniform(80, 160), 1) for _ in range(ROWS)],
        }
    )


def write_tables(folder: Path) -> None:
    """Write the sources, the population and the hierarchies that the jobs name."""
    people = draw_people(11)
    people.write_csv(folder / "people.csv")
    people.write_parquet(folder / "people.parquet")
    pl.concat([people.select("age", "city")] * 3).write_csv(folder / "population.csv")
    pl.concat([people.select("age", "born", "city")] * 2).write_csv(folder / "everyone.csv")
    draw_people(15).drop("name").write_csv(folder / "others.csv")

    draw = random.Random(12)
    is_common = pl.Series([draw.random() < 0.6 for _ in range(ROWS)])
    common = pl.when(is_common).then(pl.lit("flu")).otherwise("illness")
    draw_people(13).with_columns(illness=common).write_csv(folder / "skewed.csv")

    visits = draw_people(14).with_columns(pl.Series("times", [1 + row % 3 for row in range(ROWS)]))
    visits = visits.select(pl.all().exclude("times").repeat_by("times")).explode(pl.all())
    row = pl.int_range(pl.len())
    visits.with_columns(
        age=pl.when(row % 11 != 3).then("age"),
        city=pl.when(row % 7 != 2).then("city"),
        illness=pl.when(row % 13 != 5).then("illness"),
    ).write_csv(folder / "visits.csv")

    foreign = people.with_columns(
        born=pl.col("born").str.to_date().dt.strftime("%d.%m.%Y"),
        wage=pl.when(pl.int_range(pl.len()) % 9 == 4).then(pl.lit("k.A.")).otherwise(pl.col("wage").cast(str)),
        city=pl.col("city").replace("Kiel", 'Köln; "Süd"'),
    )
    (folder / "foreign.csv").write_bytes(foreign.write_csv(separator=";").encode("latin-1"))

    for name, tree in (("illness", ILLNESSES), ("city", CITIES)):
        lines = [f"{leaf};{parent};*\n" for leaf, parent in tree.items()]
        (folder / f"{name}.csv").write_text("".join(lines), encoding="utf-8")


PEOPLE = """
name    = "identifying"
age     = { role = "quasi-identifying", type = "numeric", domain = [0, 120] }
born    = { role = "quasi-identifying", type = "date" }
city    = { role = "quasi-identifying", hierarchy = "city.csv" }
illness = { role = "sensitive", hierarchy = "illness.csv" }
ward    = "insensitive"
"""
AGE_AND_CITY = """
name    = "identifying"
age     = "quasi-identifying"
city    = { role = "quasi-identifying", hierarchy = "city.csv" }
illness = { role = "sensitive", hierarchy = "illness.csv" }
"""
BUILT = """
name    = "identifying"
age     = { role = "quasi-identifying", hierarchy = { build = "intervals", width = [5, 20] } }
born    = { role = "quasi-identifying", type = "date", hierarchy = { build = "dates" }, bottom = 1950-01-01 }
city    = { role = "quasi-identifying", labels = "sets" }
illness = "sensitive"
weight  = { role = "insensitive", round_to = 10 }
"""
PADDED = """
name    = "identifying"
age     = { role = "quasi-identifying", type = "numeric", labels = { style = "padded", width = 2 } }
born    = { role = "quasi-identifying", type = "date", labels = { style = "snapped", step = "month" } }
city    = { role = "quasi-identifying", hierarchy = "city.csv" }
illness = "sensitive"
"""
VISITS = """
name    = { role = "identifying", rows_per_person = 3 }
age     = { role = "quasi-identifying", type = "numeric", top = 70, labels = "snapped" }
city    = { role = "quasi-identifying", missing = "category" }
illness = { role = "sensitive", missing = "category" }
wage    = { role = "insensitive", round_to = 500 }
"""
FOREIGN = """
name    = "identifying"
age     = "quasi-identifying"
born    = { role = "quasi-identifying", format = "%d.%m.%Y" }
city    = "quasi-identifying"
wage    = { role = "sensitive", type = "numeric", missing = "category" }
"""
WAGE = """
name    = "identifying"
age     = "quasi-identifying"
city    = { role = "quasi-identifying", hierarchy = "city.csv" }
wage    = { role = "sensitive", type = "numeric" }
"""
BOTH = """
name    = "identifying"
age     = "quasi-identifying"
city    = "quasi-identifying"
illness = "sensitive"
ward    = "sensitive"
"""


@dataclass(frozen=True)
class Case:
    """A job of the golden set. `looks` says how much is asked of its release: everything, or its files and its audit."""

    columns: str
    rest: str
    table: str = "people"
    options: str = ""
    looks: str = "little"
    formats: tuple[str, ...] = ("parquet", "csv")
    head: str = ""
    top: str = ""

    def job(self, file_format: str) -> str:
        """The text of the job file."""
        release = f'[release]\nundeclared = "drop"\nformat = "{file_format}"\n{self.options}'
        suffix = "" if "." in self.table else ".csv"
        return (
            f'{self.top}[source]\npath = "{self.table}{suffix}"\n{self.head}\n[columns]\n{self.columns.strip()}\n\n'
            f"{self.rest}\n{release}"
        )


def promise(model: str, **parameters: object) -> str:
    """The text of a promise in a job file; `lambda_` is written `lambda`."""
    lines = [f"{name.rstrip('_')} = {value}\n" for name, value in parameters.items()]
    return f'[[promise]]\nmodel = "{model}"\n{"".join(lines)}'


def method(name: str, **parameters: object) -> str:
    """The text of a method in a job file."""
    lines = [f"{parameter} = {value}\n" for parameter, value in parameters.items()]
    return f'[method]\nname = "{name}"\n{"".join(lines)}'


K3 = promise("k-anonymity", k=3)
L2 = promise("probabilistic-l-diversity", l=2)
BETA4 = promise("beta-likeness", beta=4)
RHO = promise("rho-guarantee", rho1=0.2, rho2=0.6, lambda_=0.4)
P_PRIVACY = promise("p-privacy", target='"source"')
QUICK = method("mosaic", effort='"quick"')
SAFE = '[[prepare]]\nname = "suppression"\nkind = "safe"\nl = 2\n'
CALIBRATED = '[[prepare]]\nname = "suppression"\nkind = "calibrated"\nprior = "uniform"\nl = 2\n'
POINTS = '[{ bandwidth = 0.3, t = 0.6 }, { bandwidth = "whole", t = 0.7 }]'

GROUPED_PROMISES = {
    "alpha-k-anonymity": (AGE_AND_CITY, promise("alpha-k-anonymity", alpha='"1/2"', k=3)),
    "k-map": (AGE_AND_CITY, promise("k-map", k=4, population='"population.csv"')),
    "distinct-l-diversity": (AGE_AND_CITY, promise("distinct-l-diversity", l=2)),
    "entropy-l-diversity": (AGE_AND_CITY, promise("entropy-l-diversity", l=2)),
    "recursive-l-diversity": (AGE_AND_CITY, promise("recursive-l-diversity", c=2, l=2)),
    "t-closeness": (AGE_AND_CITY, promise("t-closeness", t=0.4)),
    "delta-disclosure": (AGE_AND_CITY, promise("delta-disclosure", delta=3)),
    "beta-likeness": (AGE_AND_CITY, BETA4),
    "semantic-beta-likeness": (AGE_AND_CITY, promise("semantic-beta-likeness", beta=2, level=1)),
    "proximity-beta-likeness": (WAGE, promise("proximity-beta-likeness", beta=4, width=1000)),
}
"""Promises that both methods with groups keep, and that no case of `CASES` has of both."""

CASES = {
    "mondrian": Case(PEOPLE, K3 + L2 + method("mondrian"), looks="all"),
    "mondrian-built": Case(BUILT, K3 + L2 + method("mondrian")),
    "mondrian-padded": Case(PADDED, K3 + method("mondrian")),
    "mondrian-foreign": Case(
        FOREIGN,
        K3 + method("mondrian"),
        "foreign",
        head='delimiter = ";"\nencoding = "latin-1"\nmissing = ["k.A."]\n',
    ),
    "mondrian-from-parquet": Case(PEOPLE, K3 + method("mondrian"), "people.parquet"),
    "mondrian-visits": Case(VISITS, K3 + method("mondrian"), "visits", looks="all"),
    "mondrian-withheld": Case(PEOPLE, K3 + method("mondrian"), options="suppress_at_most = 0.1\n", looks="all"),
    "mondrian-jointly": Case(BOTH, L2 + method("mondrian"), top="jointly = true\n"),
    "mondrian-bt-privacy": Case(AGE_AND_CITY, promise("bt-privacy", bandwidth=0.3, t=0.6) + K3 + method("mondrian")),
    "mondrian-skyline": Case(AGE_AND_CITY, promise("skyline", points=POINTS) + method("mondrian")),
    "mondrian-suppressed": Case(AGE_AND_CITY, SAFE + L2 + method("mondrian"), "skewed", looks="all"),
    "mosaic": Case(AGE_AND_CITY, K3 + BETA4 + QUICK, looks="all"),
    "mosaic-withheld": Case(PEOPLE, K3 + QUICK, options="suppress_at_most = 0.1\n"),
    "mosaic-visits": Case(VISITS, K3 + QUICK, "visits"),
    "burel": Case(AGE_AND_CITY, BETA4 + method("burel")),
    "sabre": Case(AGE_AND_CITY, promise("t-closeness", t=0.4) + method("sabre")),
    "sabre-withheld": Case(
        AGE_AND_CITY, promise("t-closeness", t=0.4) + K3 + method("sabre"), options="suppress_at_most = 0.1\n"
    ),
    "anatomy": Case(PEOPLE, L2 + method("anatomy"), looks="all"),
    "anatomy-visits": Case(VISITS.replace(', labels = "snapped"', ""), L2 + method("anatomy"), "visits"),
    "anatomy-suppressed": Case(AGE_AND_CITY, CALIBRATED + L2 + method("anatomy"), "skewed"),
    "beta-perturbation": Case(AGE_AND_CITY, BETA4 + method("beta-perturbation"), looks="all"),
    "beta-perturbation-suppressed": Case(AGE_AND_CITY, SAFE + BETA4 + method("beta-perturbation"), "skewed"),
    "distribution": Case(WAGE, P_PRIVACY + method("distribution", group_by='["city"]', fakes=0.1), looks="all"),
    "distribution-categories": Case(AGE_AND_CITY, P_PRIVACY + method("distribution", group_by='["city"]')),
    "perturbed-generalization": Case(AGE_AND_CITY, RHO + method("perturbed-generalization", k=2), looks="all"),
    "perturbed-generalization-one": Case(
        AGE_AND_CITY, RHO + method("perturbed-generalization", k=2, draw='"one"'), looks="all"
    ),
    "perturbed-generalization-growth": Case(
        AGE_AND_CITY, promise("delta-growth", delta=0.4, lambda_=0.4) + method("perturbed-generalization", k=2)
    ),
    **{
        f"{name}-{model}": Case(columns, text + (QUICK if name == "mosaic" else method(name)), formats=("parquet",))
        for name in ("mondrian", "mosaic")
        for model, (columns, text) in GROUPED_PROMISES.items()
    },
}
