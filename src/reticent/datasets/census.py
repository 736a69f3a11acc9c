"""The census generator: any number of people like those of the papers' extracts, frozen as version 1.

`census(500_000)` has the attributes and cardinalities of table 3 of Cao & Karras (paper 1): age 79, gender 2,
education 17, marital status 6, work class 10, salary class 50, of which class 49 has 0.2018 % and class 12 4.8402 % of
the population.  `attributes=SAL` has the nine of SAL in Tao et al. (paper 5, section VII), where birthplace has 57
values, occupation 50 and race 9, as usual for SAL in this literature; the paper itself does not say.

Row i depends on the seed and on i alone: three 64-bit words of PCG64, twelve bits to a draw, integer tables.  So any
stretch of a table can be made by itself, and a huge one written piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reticent.datasets import census_population as people
from reticent.datasets.census_tables import BITS, RANK_BITS, SLOTS, tables
from reticent.errors import OutputExists, RequestError, suggest

if TYPE_CHECKING:
    import polars as pl

CENSUS = ("age", "gender", "education", "marital_status", "work_class", "salary_class")
SAL = (
    "age", "gender", "education", "birthplace", "occupation", "race", "work_class", "marital_status", "salary_class",
)  # fmt: skip

LABELS = {
    "gender": people.GENDERS,
    "birthplace": tuple(place for places in people.BIRTHPLACES.values() for place in places),
    "occupation": tuple(job.name for job in people.OCCUPATIONS),
    "race": people.RACE,
    "work_class": people.WORK_CLASS,
    "marital_status": people.MARITAL_STATUS,
}

WORDS = 3
BLOCK = 1 << 15  # rows drawn together: their scratch arrays stay in the cache
CHUNK = 1 << 20  # rows written together


def census(
    rows: int, seed: int = 0, version: int = 1, attributes: Sequence[str] = CENSUS, *, start: int = 0
) -> pl.DataFrame:
    """Rows `start` to `start + rows` of the census of this seed.  Numbers are 8-bit integers, texts are enums."""
    import polars as pl

    check(rows, seed, version, attributes, start)
    codes = {name: np.empty(rows, dtype=np.uint8) for name in attributes}
    bits = np.random.PCG64([version, seed])
    bits.advance(start * WORDS)
    for at in range(0, rows, BLOCK):
        size = min(BLOCK, rows - at)
        drawn = draw(bits.random_raw(size * WORDS).reshape(size, WORDS))
        for name, column in codes.items():
            column[at : at + size] = drawn[name]
    series = [pl.Series(name, column) for name, column in codes.items()]
    return pl.DataFrame([s.cat.to(pl.Enum(LABELS[s.name])) if s.name in LABELS else s for s in series])


def draw(words: NDArray[np.uint64]) -> dict[str, NDArray[np.integer]]:
    """All nine attributes of the people these words stand for: ages and levels as they are, the rest as codes."""
    table = tables()
    first, second, third = (words[:, i] for i in range(WORDS))

    def slot(word: NDArray[np.uint64], position: int) -> NDArray[np.int64]:
        return ((word >> np.uint64(64 - BITS * (position + 1))) & np.uint64(SLOTS - 1)).view(np.int64)

    def pick(codes: NDArray[np.uint8], word: NDArray[np.uint64], position: int, given: NDArray[np.int64] | int = 0):
        return codes.take(given * SLOTS + slot(word, position)).astype(np.int64)

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
    within = (table.rank_width.take(points) * (third >> np.uint64(RANK_BITS))) >> np.uint64(64 - RANK_BITS)
    rank = table.rank.take(points) + within
    salary = table.salary.take((rank >> np.uint64(RANK_BITS - BITS)).view(np.int64)).astype(np.int64)
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


SCHOOLING = np.array(people.SCHOOLING, dtype=np.int64)
SECTOR = np.array(people.SECTOR, dtype=np.int64)
MARITAL_PAY = np.array(people.MARITAL_PAY, dtype=np.int64)


def check(rows: int, seed: int, version: int, attributes: Sequence[str], start: int) -> None:
    """Refuse what no census can be made of."""
    if version != 1:
        raise RequestError(f"The census has no version {version}.", why="There is version 1.", attempt="version=1.")
    if rows < 0 or start < 0 or seed < 0:
        raise RequestError(
            "A census needs whole numbers that are not negative.",
            why=f"rows is {rows}, start is {start}, seed is {seed}.",
        )
    for name in attributes:
        if name not in SAL:
            raise RequestError(f"The census has no attribute {name!r}.", attempt=suggest(name, SAL))
    if len(set(attributes)) < len(attributes) or not attributes:
        raise RequestError("The census needs at least one attribute, each named once.")


def pieces(rows: int, seed: int = 0, version: int = 1, attributes: Sequence[str] = CENSUS) -> Iterator[pl.DataFrame]:
    """The same census in stretches of about a million rows."""
    for start in range(0, rows, CHUNK):
        yield census(min(CHUNK, rows - start), seed, version, attributes, start=start)


def write_census(
    path: str | Path, rows: int, seed: int = 0, version: int = 1, attributes: Sequence[str] = CENSUS
) -> Path:
    """Write a census to a `.parquet` or `.csv` file, text as plain strings, in the memory of one stretch."""
    import polars as pl

    path = Path(path)
    if path.exists():
        raise OutputExists(f"{path} exists.", attempt="another name, or remove it first.")
    check(rows, seed, version, attributes, 0)
    plain = (piece.cast({pl.Enum: pl.String}) for piece in pieces(rows, seed, version, attributes))
    if path.suffix == ".csv":
        with path.open("wb") as file:
            for i, piece in enumerate(plain):
                piece.write_csv(file, include_header=i == 0)
    elif path.suffix == ".parquet":
        import pyarrow.parquet

        empty = census(0, seed, version, attributes).cast({pl.Enum: pl.String}).to_arrow()
        with pyarrow.parquet.ParquetWriter(path, empty.schema) as writer:
            for piece in plain:
                writer.write_table(piece.to_arrow())
    else:
        raise RequestError(f"A census is written as .parquet or .csv, not as {path.suffix!r}.")
    return path
