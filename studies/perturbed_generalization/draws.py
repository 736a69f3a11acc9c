"""How many rows to draw of a group, and groups of which size: rows published, errors of counts and of questions, on real tables.

Every release promises that a belief of .2 becomes one of .35 at most (lambda .2), with the largest p that its k allows.  `one` is the
paper's one row of each group, `many` is one row in k; k = 6 is what was taken where nobody chose, and `chosen` what is taken now.

    rows           published
    std_error      what the release states for the count of the value that is nearest to a tenth of all people, as a share of them
    rms            the root of the mean squared error of the counts of all values, as a share of all people
    query          the median over 100 questions of |estimate - truth| / max(truth, .5 % of the people); each cuts two
                   quasi-identifiers and asks for about a third of the values
    ail            the loss of labels
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

import reticent as rt

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
SEEDS = (1, 2, 3, 4, 5)
QUESTIONS = 100
SENSITIVE = "value"
TABLES = {
    "adult": ("adult.parquet", ("age", "education", "marital-status", "race", "sex"), "occupation"),
    "women": ("acs_married_women_2014.parquet", ("ST", "AGEP", "FER", "LFP"), "PINCP"),
    "teachers": ("acs_teachers_2015_2019.parquet", ("agep", "sex", "schl", "mar", "stabbr"), "wagp"),
    "deaths": ("nchs_mortality2006_sample.parquet", ("age", "Sex", "Race", "MaritalStatus"), "Cause"),
    "time-use": ("atus_2003_2016.parquet", ("age", "sex", "edu", "region", "marital"), "famincome"),
}
CLASSES = 20  # of a sensitive number


@cache
def people(name: str) -> pl.DataFrame:
    """The complete rows of a table: quasi-identifiers, and the sensitive column as texts in `value`; numbers in classes of like size."""
    file, quasi, sensitive = TABLES[name]
    table = pl.read_parquet(SHARED / file).select(*quasi, pl.col(sensitive).alias(SENSITIVE)).drop_nulls()
    table = table.filter(pl.col(SENSITIVE).cast(pl.String) != "?")
    if table[SENSITIVE].n_unique() > 100:
        rank = table[SENSITIVE].rank("min").to_numpy() - 1
        classes = np.minimum((rank * CLASSES / len(table)).astype(np.int64), CLASSES - 1)
        table = table.with_columns(pl.Series(SENSITIVE, classes))
    texts = [pl.col(column).cast(pl.String) for column in quasi if not table[column].dtype.is_numeric()]
    return table.with_columns(*texts, pl.format("v{}", SENSITIVE).alias(SENSITIVE))


def compared() -> Iterator[dict[str, object]]:
    """The three settings on every table, for every seed."""
    for name in TABLES:
        for setting in ({"draw": "one", "k": 6}, {"draw": "many", "k": 6}, {}):
            for seed in SEEDS:
                yield measured(name, seed, "chosen" if not setting else f"{setting['draw']}, 6", setting)


def measured(name: str, seed: int, setting: str, given: dict[str, object]) -> dict[str, object]:
    table = people(name)
    _, quasi, _ = TABLES[name]
    values = sorted(table[SENSITIVE].unique())
    columns = {column: rt.quasi() for column in quasi} | {SENSITIVE: rt.sensitive(domain=[*values, "none of these"])}
    job = rt.Job(
        columns=columns,
        promises=[rt.RhoGuarantee("0.2", "0.35", "0.2")],
        method=rt.PerturbedGeneralization(**given),
        release=rt.Output(undeclared="drop"),
    )
    release = rt.publish(job, frame=table, seed=seed)
    found = rt.audit(release)
    frame = release.frame()
    truth = {value: int((table[SENSITIVE] == value).sum()) for value in values}
    answers = {value: release.count(values=[value]) for value in values}
    tenth = min(values, key=lambda value: abs(truth[value] - len(table) / 10))
    squares = [(answers[value].estimate - truth[value]) ** 2 for value in values]
    return {
        "table": name,
        "people": len(table),
        "setting": setting,
        "seed": seed,
        "k": release.manifest.own["k"],
        "p": float(release.manifest.own["p"]),
        "groups": found.groups,
        "rows": len(frame),
        "ail": float(found.utility["ail"]),
        "std_error": float(answers[tenth].std_error) / len(table),
        "rms": float(np.sqrt(np.mean(squares))) / len(table),
        "query": float(np.median(list(list_errors_of_questions(release, table, quasi, values)))),
    }


def list_errors_of_questions(
    release: rt.Release, table: pl.DataFrame, quasi: tuple[str, ...], values: list[str]
) -> Iterator[float]:
    """Errors of questions that are the same for every release of a table."""
    rng = np.random.default_rng(0)
    for _ in range(QUESTIONS):
        conditions = []
        for column in rng.choice(quasi, 2, replace=False):
            known = table[column].unique().sort()
            if known.dtype.is_numeric():
                first = int(rng.integers(0, len(known) // 2 + 1))
                last = min(first + int(rng.integers(len(known) // 4, len(known) // 2 + 1)), len(known) - 1)
                conditions.append(f'"{column}" BETWEEN {known[first]} AND {known[last]}')
            else:
                chosen = rng.choice(known.to_list(), max(1, len(known) // 2), replace=False)
                conditions.append(f'"{column}" IN ({_quote(chosen)})')
        chosen = rng.choice(values, max(1, len(values) // 3), replace=False)
        conditions.append(f'"{SENSITIVE}" IN ({_quote(chosen)})')
        where = " AND ".join(conditions)
        truth = table.sql(f"SELECT COUNT(*) FROM self WHERE {where}").item()
        answer = release.query(f"SELECT COUNT(*) FROM release WHERE {where}")
        yield abs(float(answer.estimate) - truth) / max(truth, 0.005 * len(table))


def _quote(values: object) -> str:
    return ", ".join("'" + str(value).replace("'", "''") + "'" for value in values)
