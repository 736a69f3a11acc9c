"""From the population's weights to the lookup tables the census generator draws with.  All in exact integers.

A conditional distribution is a table of 4,096 codes, in which each code stands as often as its share: twelve random
bits pick one.  Pay is a sum of points and noise; the exact distribution of that sum over the whole population turns
it into a rank, uniform by construction, which cuts into the 50 salary classes with their stated frequencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reticent.datasets import census_population as people

BITS = 12
SLOTS = 1 << BITS
RANK_BITS = 40

Weights = Sequence[int]


class Tables(NamedTuple):
    """What a row is drawn with: codes by 4,096 slots for each condition, pay points, and ranks of their sum."""

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


def apportion(weights: Weights, total: int = SLOTS) -> list[int]:
    """Integers that add up to `total` in proportion to `weights`, by largest remainders."""
    whole = sum(weights)
    shares = [weight * total // whole for weight in weights]
    remainders = sorted(range(len(weights)), key=lambda i: (-(weights[i] * total % whole), i))
    for i in remainders[: total - sum(shares)]:
        shares[i] += 1
    return shares


def between(knots: Mapping[int, Weights], age: int) -> list[int]:
    """A hundred times the weights at an age, interpolated between two knots."""
    left = max(knot for knot in knots if knot <= age)
    right = min((knot for knot in knots if knot > age), default=left + 1)
    pairs = zip(knots[left], knots.get(right, knots[left]), strict=True)
    return [100 * (low * (right - age) + high * (age - left)) // (right - left) for low, high in pairs]


def since(rows: Mapping[int, Weights], age: int) -> Weights:
    """The row of the last first age that is not above `age`."""
    return rows[max(first for first in rows if first <= age)]


class Shares:
    """Every conditional distribution of the population as shares of 4,096."""

    def __init__(self) -> None:
        ages, genders = people.AGES, range(len(people.GENDERS))
        schoolings, sectors = range(len(people.WORK_BY_SCHOOLING)), range(max(people.SECTOR) + 1)
        age_knots = {age: (weight,) for age, weight in people.AGE_WEIGHTS}
        self.age = apportion([between(age_knots, age)[0] for age in ages])
        self.gender = [apportion((100 + max(0, age - 60) * 2, 100)) for age in ages]
        self.education = [apportion(since(people.EDUCATION_WEIGHTS, age)) for age in ages]
        self.marital = [
            [apportion(between(people.MARITAL_WEIGHTS[gender], age)) for gender in people.GENDERS] for age in ages
        ]
        self.work = [
            [
                apportion([a * b for a, b in zip(since(people.WORK_WEIGHTS, age), by_schooling, strict=True)])
                for by_schooling in people.WORK_BY_SCHOOLING
            ]
            for age in ages
        ]
        self.occupation = [
            [[apportion(occupation_weights(s, gender, sector)) for sector in sectors] for gender in genders]
            for s in schoolings
        ]
        self.race = list(people.RACE_WEIGHTS)
        self.birthplace = [apportion(birthplace_weights(race)) for race in range(len(people.RACE))]
        middle, reach = people.NOISE_TRIALS // 2, people.NOISE_REACH
        self.noise = apportion([comb(people.NOISE_TRIALS, middle + d) for d in range(-reach, reach + 1)])


def occupation_weights(schooling: int, gender: int, sector: int) -> list[int]:
    """How many people of a schooling, gender and sector have each occupation."""
    weights = []
    for job in people.OCCUPATIONS:
        weight = job.size * people.SCHOOLING_DISTANCE[abs(schooling - job.schooling)]
        weight *= (job.women, 100 - job.women)[gender]
        soldier = 0 if job.name == "military" else 1
        weight *= (100 * soldier, job.government * soldier, 2 if soldier else 20_000, job.own * soldier, 100)[sector]
        weights.append(weight)
    return weights


def birthplace_weights(race: int) -> list[int]:
    """How many people of a race were born in each place."""
    percent = list(tuple(people.BIRTHPLACE_BY_RACE.values())[people.BIRTHPLACE_ROW[race]])
    weights: list[int] = []
    for (country, _), places in people.BIRTHPLACES.items():
        for size in places.values():
            weights.append(size * (percent.pop(0) if country == "abroad" else percent[0]))
        if country != "abroad":
            del percent[0]
    return weights


def pay_distribution(shares: Shares) -> list[int]:
    """Exactly how many of 2^84 people have each sum of pay points.

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
                share * jobs[people.SCHOOLING[e]] << (128 * base_points(age, gender, e))
                for e, share in enumerate(shares.education[i])
            )
            marital = polynomial(people.MARITAL_PAY, shares.marital[i][gender])
            total += shares.age[i] * gender_share * schooled * marital
    total *= noise
    mask, counts = (1 << 128) - 1, []
    while total:
        counts.append(total & mask)
        total >>= 128
    return counts


def base_points(age: int, gender: int, education: int) -> int:
    """Pay points of age, gender and education."""
    of_age = between({knot: (points,) for knot, points in people.AGE_PAY}, age)[0] // 100
    return of_age + people.GENDER_PAY[gender] + people.EDUCATION_PAY[education]


def salary_ends() -> list[int]:
    """For each class the rank, in 2^40ths, at which the next begins."""
    ends, below = [], 0
    for count in people.SALARY_PER_MILLION:
        below += count
        ends.append(((below << RANK_BITS) + 500_000) // 1_000_000)
    return ends


def lookup(rows: Iterable[Weights]) -> NDArray[np.uint8]:
    """One table of 4,096 codes after another, a table for each row of shares."""
    return np.concatenate([np.repeat(np.arange(len(row), dtype=np.uint8), row) for row in rows])


@cache
def tables() -> Tables:
    """The lookup tables of version 1, made once in a process."""
    shares = Shares()
    counts = pay_distribution(shares)
    scale = sum(counts).bit_length() - 1 - RANK_BITS
    starts = [0]
    for count in counts:
        starts.append(starts[-1] + count)
    rank = np.array([start >> scale for start in starts], dtype=np.uint64)
    ends = salary_ends()
    slots = np.arange(SLOTS, dtype=np.uint64) << np.uint64(RANK_BITS - BITS)
    genders, educations = range(len(people.GENDERS)), range(len(people.EDUCATION))
    return Tables(
        age=lookup([shares.age]),
        women=np.array([row[0] for row in shares.gender], dtype=np.int64),
        education=lookup(shares.education),
        marital=lookup(row for by_gender in shares.marital for row in by_gender),
        work=lookup(row for by_schooling in shares.work for row in by_schooling),
        occupation=lookup(row for by_gender in shares.occupation for by_sector in by_gender for row in by_sector),
        race=lookup([shares.race]),
        birthplace=lookup(shares.birthplace),
        noise=lookup([shares.noise]),
        points=np.array([base_points(a, g, e) for a in people.AGES for g in genders for e in educations], np.uint8),
        job_points=np.array([w + job.pay for w in people.WORK_PAY for job in people.OCCUPATIONS], np.uint8),
        rank=rank[:-1],
        rank_width=np.diff(rank),
        salary=np.searchsorted(np.array(ends, dtype=np.uint64), slots, side="right").astype(np.uint8),
        salary_end=np.array(ends, dtype=np.uint64),
    )
