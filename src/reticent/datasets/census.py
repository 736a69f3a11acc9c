"""The census generator: any number of people like those of the papers' extracts, frozen as version 1.

`generate_census(500_000)` has the attributes and cardinalities of table 3 of Cao & Karras (paper 1): age 79, gender
2, education 17, marital status 6, work class 10, salary class 50, of which class 49 has 0.2018 % and class 12 4.8402
% of the population. `attributes=SAL_COLUMNS` has the nine of SAL in Tao et al. (paper 5, section VII), where
birthplace has 57 values, occupation 50 and race 9, as usual for SAL in this literature; the paper itself does not
state it.

Row i depends on the seed and on i alone: three 64-bit words of PCG64, twelve bits to a draw, integer tables. So any
stretch of a table can be made by itself, and a huge one written piece by piece.

The lookup tables are computed from the population's weights in exact integers. A conditional distribution is a table
of 4,096 codes, in which each code occurs as often as its share: twelve random bits pick one. Pay is a sum of points
and noise; the exact distribution of that sum over the whole population turns it into a rank, uniform by construction,
which cuts into the 50 salary classes with their stated frequencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reticent.datasets import census_population as people
from reticent.errors import OutputExists, RequestError, suggest

if TYPE_CHECKING:
    import polars as pl

SLOT_BITS = 12
SLOT_COUNT = 1 << SLOT_BITS
RANK_BITS = 40

Weights = Sequence[int]
CENSUS_COLUMNS = ("age", "gender", "education", "marital_status", "work_class", "salary_class")
SAL_COLUMNS = (
    "age", "gender", "education", "birthplace", "occupation", "race", "work_class", "marital_status", "salary_class",
)  # fmt: skip

COLUMN_LABELS = {
    "gender": people.GENDERS,
    "birthplace": tuple(place for places in people.BIRTHPLACES.values() for place in places),
    "occupation": tuple(job.name for job in people.OCCUPATIONS),
    "race": people.RACE,
    "work_class": people.WORK_CLASS,
    "marital_status": people.MARITAL_STATUS,
}

WORDS_PER_PERSON = 3
BLOCK_ROWS = 1 << 15  # rows drawn together: their scratch arrays stay in the cache
CHUNK_ROWS = 1 << 20  # rows written together
SCHOOLING = np.array(people.SCHOOLING, dtype=np.int64)
SECTOR = np.array(people.SECTOR, dtype=np.int64)
MARITAL_PAY = np.array(people.MARITAL_PAY, dtype=np.int64)


def generate_census(
    rows: int, seed: int = 0, version: int = 1, attributes: Sequence[str] = CENSUS_COLUMNS, *, start: int = 0
) -> pl.DataFrame:
    """Generate rows `start` to `start + rows` of the census of this seed.

    Numbers are 8-bit integers, texts are enums.
    """
    import polars as pl

    require_census_possible(rows, seed, version, attributes, start)
    codes = {name: np.empty(rows, dtype=np.uint8) for name in attributes}
    bits = np.random.PCG64([version, seed])
    bits.advance(start * WORDS_PER_PERSON)
    for offset in range(0, rows, BLOCK_ROWS):
        size = min(BLOCK_ROWS, rows - offset)
        people_drawn = draw_people(bits.random_raw(size * WORDS_PER_PERSON).reshape(size, WORDS_PER_PERSON))
        for name, column in codes.items():
            column[offset : offset + size] = people_drawn[name]
    series = [pl.Series(name, column) for name, column in codes.items()]
    return pl.DataFrame([s.cat.to(pl.Enum(COLUMN_LABELS[s.name])) if s.name in COLUMN_LABELS else s for s in series])


def iterate_census(
    rows: int,
    seed: int = 0,
    version: int = 1,
    attributes: Sequence[str] = CENSUS_COLUMNS,
    chunk_rows: int = CHUNK_ROWS,
) -> Iterator[pl.DataFrame]:
    """Yield the same census in stretches of about a million rows."""
    for start in range(0, rows, chunk_rows):
        yield generate_census(min(chunk_rows, rows - start), seed, version, attributes, start=start)


def write_census(
    path: str | Path, rows: int, seed: int = 0, version: int = 1, attributes: Sequence[str] = CENSUS_COLUMNS
) -> Path:
    """Write a census to a `.parquet` or `.csv` file, text as plain strings, in the memory of one stretch."""
    import polars as pl

    path = Path(path)
    if path.exists():
        raise OutputExists(f"{path} exists.", attempt="another name, or remove it first.")
    require_census_possible(rows, seed, version, attributes, 0)
    plain = (piece.cast({pl.Enum: pl.String}) for piece in iterate_census(rows, seed, version, attributes))
    if path.suffix == ".csv":
        with path.open("wb") as file:
            for i, piece in enumerate(plain):
                piece.write_csv(file, include_header=i == 0)
    elif path.suffix == ".parquet":
        import pyarrow.parquet

        empty = generate_census(0, seed, version, attributes).cast({pl.Enum: pl.String}).to_arrow()
        with pyarrow.parquet.ParquetWriter(path, empty.schema) as writer:
            for piece in plain:
                writer.write_table(piece.to_arrow())
    else:
        raise RequestError(f"A census is written as .parquet or .csv, not as {path.suffix!r}.")
    return path


class LookupTables(NamedTuple):
    """The tables that rows are drawn with: codes by 4,096 slots for each condition, pay points, ranks of their sum."""

    age: NDArray[np.uint8]
    women: NDArray[np.int64]  # by age: the slots below which a person is female
    education: NDArray[np.uint8]  # by age
    marital: NDArray[np.uint8]  # by age and gender
    work: NDArray[np.uint8]  # by age and schooling
    occupation: NDArray[np.uint8]  # by schooling, gender and sector
    race: NDArray[np.uint8]
    birthplace: NDArray[np.uint8]  # by race
    noise: NDArray[np.uint8]
    points: NDArray[np.uint8]  # by age, gender and education
    job_points: NDArray[np.uint8]  # by work class and occupation
    rank: NDArray[np.uint64]  # of a sum of points, in 2^40ths
    rank_width: NDArray[np.uint64]
    salary: NDArray[np.uint8]  # by the first 12 bits of a rank: the class at its start
    salary_end: NDArray[np.uint64]  # by class: the rank at which the next begins


def apportion(weights: Weights, total: int = SLOT_COUNT) -> list[int]:
    """Return integers that add up to `total` in proportion to `weights`, by largest remainders."""
    weight_sum = sum(weights)
    shares = [weight * total // weight_sum for weight in weights]
    remainders = sorted(range(len(weights)), key=lambda i: (-(weights[i] * total % weight_sum), i))
    for i in remainders[: total - sum(shares)]:
        shares[i] += 1
    return shares


def interpolate_weights(knots: Mapping[int, Weights], age: int) -> list[int]:
    """Return a hundred times the weights at an age, interpolated between two knots."""
    lower_knot = max(knot for knot in knots if knot <= age)
    upper_knot = min((knot for knot in knots if knot > age), default=lower_knot + 1)
    pairs = zip(knots[lower_knot], knots.get(upper_knot, knots[lower_knot]), strict=True)
    return [
        100 * (low * (upper_knot - age) + high * (age - lower_knot)) // (upper_knot - lower_knot) for low, high in pairs
    ]


def find_weights_since(rows: Mapping[int, Weights], age: int) -> Weights:
    """Return the row with the greatest first age that is not above `age`."""
    return rows[max(first for first in rows if first <= age)]


class PopulationShares:
    """Every conditional distribution of the population as shares of 4,096."""

    def __init__(self) -> None:
        ages = people.AGES
        genders = range(len(people.GENDERS))
        schoolings = range(len(people.WORK_BY_SCHOOLING))
        sectors = range(max(people.SECTOR) + 1)
        age_knots = {age: (weight,) for age, weight in people.AGE_WEIGHTS}
        self.age = apportion([interpolate_weights(age_knots, age)[0] for age in ages])
        self.gender = [apportion((100 + max(0, age - 60) * 2, 100)) for age in ages]
        self.education = [apportion(find_weights_since(people.EDUCATION_WEIGHTS, age)) for age in ages]
        self.marital = [
            [apportion(interpolate_weights(people.MARITAL_WEIGHTS[gender], age)) for gender in people.GENDERS]
            for age in ages
        ]
        self.work = [
            [
                apportion(
                    [a * b for a, b in zip(find_weights_since(people.WORK_WEIGHTS, age), by_schooling, strict=True)]
                )
                for by_schooling in people.WORK_BY_SCHOOLING
            ]
            for age in ages
        ]
        self.occupation = [
            [[apportion(compute_occupation_weights(s, gender, sector)) for sector in sectors] for gender in genders]
            for s in schoolings
        ]
        self.race = list(people.RACE_WEIGHTS)
        self.birthplace = [apportion(compute_birthplace_weights(race)) for race in range(len(people.RACE))]
        middle = people.NOISE_TRIALS // 2
        reach = people.NOISE_REACH
        self.noise = apportion([comb(people.NOISE_TRIALS, middle + d) for d in range(-reach, reach + 1)])


def compute_occupation_weights(schooling: int, gender: int, sector: int) -> list[int]:
    """Compute how many people of a schooling, gender and sector have each occupation."""
    weights = []
    for job in people.OCCUPATIONS:
        weight = job.size * people.SCHOOLING_DISTANCE[abs(schooling - job.schooling)]
        weight *= (job.women, 100 - job.women)[gender]
        soldier = 0 if job.name == "military" else 1
        weight *= (100 * soldier, job.government * soldier, 2 if soldier else 20_000, job.own * soldier, 100)[sector]
        weights.append(weight)
    return weights


def compute_birthplace_weights(race: int) -> list[int]:
    """Compute how many people of a race were born in each place."""
    percent = list(tuple(people.BIRTHPLACE_BY_RACE.values())[people.BIRTHPLACE_ROW[race]])
    weights: list[int] = []
    for (country, _), places in people.BIRTHPLACES.items():
        for size in places.values():
            weights.append(size * (percent.pop(0) if country == "abroad" else percent[0]))
        if country != "abroad":
            del percent[0]
    return weights


def compute_pay_distribution(shares: PopulationShares) -> list[int]:
    """Compute exactly how many of 2^84 people have each sum of pay points.

    A distribution is held as one integer, 128 bits to a coefficient, so that multiplying two adds their points.
    """

    def polynomial(points: Weights, weights: Weights) -> int:
        return sum(weight << (128 * point) for point, weight in zip(points, weights, strict=True))

    job_pay = [job.pay for job in people.OCCUPATIONS]
    occupations = [[[polynomial(job_pay, row) for row in rows] for rows in by] for by in shares.occupation]
    noise = polynomial(range(len(shares.noise)), shares.noise)
    total = 0
    for i, age in enumerate(people.AGES):
        for gender, gender_share in enumerate(shares.gender[i]):
            jobs = [
                sum(
                    share * occupations[s][gender][people.SECTOR[w]] << (128 * people.WORK_PAY[w])
                    for w, share in enumerate(shares.work[i][s])
                )
                for s in range(len(shares.work[i]))
            ]
            schooled = sum(
                share * jobs[people.SCHOOLING[e]] << (128 * compute_base_points(age, gender, e))
                for e, share in enumerate(shares.education[i])
            )
            marital = polynomial(people.MARITAL_PAY, shares.marital[i][gender])
            total += shares.age[i] * gender_share * schooled * marital
    total *= noise
    mask = (1 << 128) - 1
    counts = []
    while total:
        counts.append(total & mask)
        total >>= 128
    return counts


def compute_base_points(age: int, gender: int, education: int) -> int:
    """Compute the pay points of age, gender and education."""
    of_age = interpolate_weights({knot: (points,) for knot, points in people.AGE_PAY}, age)[0] // 100
    return of_age + people.GENDER_PAY[gender] + people.EDUCATION_PAY[education]


def compute_salary_ends() -> list[int]:
    """Return for each class the rank, in 2^40ths, at which the next begins."""
    ends = []
    below = 0
    for count in people.SALARY_PER_MILLION:
        below += count
        ends.append(((below << RANK_BITS) + 500_000) // 1_000_000)
    return ends


def make_lookup(rows: Iterable[Weights]) -> NDArray[np.uint8]:
    """Concatenate tables of 4,096 codes, one for each row of shares."""
    return np.concatenate([np.repeat(np.arange(len(row), dtype=np.uint8), row) for row in rows])


@cache
def make_lookup_tables() -> LookupTables:
    """Make the lookup tables of version 1, once in a process."""
    shares = PopulationShares()
    counts = compute_pay_distribution(shares)
    scale = sum(counts).bit_length() - 1 - RANK_BITS
    starts = [0]
    for count in counts:
        starts.append(starts[-1] + count)
    rank = np.array([start >> scale for start in starts], dtype=np.uint64)
    ends = compute_salary_ends()
    slots = np.arange(SLOT_COUNT, dtype=np.uint64) << np.uint64(RANK_BITS - SLOT_BITS)
    genders = range(len(people.GENDERS))
    educations = range(len(people.EDUCATION))
    return LookupTables(
        age=make_lookup([shares.age]),
        women=np.array([row[0] for row in shares.gender], dtype=np.int64),
        education=make_lookup(shares.education),
        marital=make_lookup(row for by_gender in shares.marital for row in by_gender),
        work=make_lookup(row for by_schooling in shares.work for row in by_schooling),
        occupation=make_lookup(row for by_gender in shares.occupation for by_sector in by_gender for row in by_sector),
        race=make_lookup([shares.race]),
        birthplace=make_lookup(shares.birthplace),
        noise=make_lookup([shares.noise]),
        points=np.array(
            [compute_base_points(a, g, e) for a in people.AGES for g in genders for e in educations], np.uint8
        ),
        job_points=np.array([w + job.pay for w in people.WORK_PAY for job in people.OCCUPATIONS], np.uint8),
        rank=rank[:-1],
        rank_width=np.diff(rank),
        salary=np.searchsorted(np.array(ends, dtype=np.uint64), slots, side="right").astype(np.uint8),
        salary_end=np.array(ends, dtype=np.uint64),
    )


def draw_people(words: NDArray[np.uint64]) -> dict[str, NDArray[np.integer]]:
    """Draw all nine attributes of the people of these words: ages and levels as they are, the rest as codes."""
    table = make_lookup_tables()
    first = words[:, 0]
    second = words[:, 1]
    third = words[:, 2]

    def slot(word: NDArray[np.uint64], position: int) -> NDArray[np.int64]:
        return ((word >> np.uint64(64 - SLOT_BITS * (position + 1))) & np.uint64(SLOT_COUNT - 1)).view(np.int64)

    def pick(codes: NDArray[np.uint8], word: NDArray[np.uint64], position: int, row: NDArray[np.int64] | int = 0):
        return codes.take(row * SLOT_COUNT + slot(word, position)).astype(np.int64)

    age = pick(table.age, first, 0)
    gender = (slot(first, 1) >= table.women.take(age)).astype(np.int64)
    education = pick(table.education, first, 2, age)
    marital = pick(table.marital, first, 3, age * 2 + gender)
    schooling = SCHOOLING.take(education)
    work = pick(table.work, first, 4, age * 5 + schooling)
    occupation = pick(table.occupation, second, 0, (schooling * 2 + gender) * 5 + SECTOR.take(work))
    race = pick(table.race, second, 1)
    points = (
        table.points.take((age * 2 + gender) * len(people.EDUCATION) + education).astype(np.int64)
        + MARITAL_PAY.take(marital)
        + table.job_points.take(work * len(people.OCCUPATIONS) + occupation)
        + pick(table.noise, second, 3)
    )
    # The rank of these points among all people, spread evenly over those who share them.
    offset = (table.rank_width.take(points) * (third >> np.uint64(RANK_BITS))) >> np.uint64(64 - RANK_BITS)
    rank = table.rank.take(points) + offset
    salary = table.salary.take((rank >> np.uint64(RANK_BITS - SLOT_BITS)).view(np.int64)).astype(np.int64)
    return {
        "age": age + people.AGES.start,
        "gender": gender,
        "education": education,
        "marital_status": marital,
        "work_class": work,
        "occupation": occupation,
        "race": race,
        "birthplace": pick(table.birthplace, second, 2, race),
        "salary_class": salary + (rank >= table.salary_end.take(salary)),
    }


def require_census_possible(rows: int, seed: int, version: int, attributes: Sequence[str], start: int) -> None:
    """Refuse arguments of which no census can be made."""
    if version != 1:
        raise RequestError(f"The census has no version {version}.", why="There is version 1.", attempt="version=1.")
    if rows < 0 or start < 0 or seed < 0:
        raise RequestError(
            "A census needs whole numbers that are not negative.",
            why=f"rows is {rows}, start is {start}, seed is {seed}.",
        )
    for name in attributes:
        if name not in SAL_COLUMNS:
            raise RequestError(f"The census has no attribute {name!r}.", attempt=suggest(name, SAL_COLUMNS))
    if len(set(attributes)) < len(attributes) or not attributes:
        raise RequestError("The census needs at least one attribute, each named once.")
