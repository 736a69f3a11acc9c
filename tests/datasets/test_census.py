"""The census generator, version 1: frozen, seeded, exact in its salary classes."""

import hashlib
from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from reticent.datasets import census_population as people
from reticent.datasets.census import (
    CENSUS_COLUMNS,
    RANK_BITS,
    SAL_COLUMNS,
    SLOT_COUNT,
    PopulationShares,
    compute_pay_distribution,
    generate_census,
    iterate_census,
    make_lookup_tables,
    write_census,
)
from reticent.errors import OutputExists, RequestError

FIRST_THOUSAND = {
    0: "3e7e1a921ac9433a58655848374fc5c3527a9f34721d99fe92496d0231f3e3a2",
    7: "92ee6f9e854f3e976ee478a05a1befe75c86d0fb951b710d0f5af5d7ff056553",
}


@pytest.fixture(scope="module")
def half_million():
    return generate_census(500_000, attributes=SAL_COLUMNS)


@pytest.mark.parametrize("seed", FIRST_THOUSAND)
def test_the_first_thousand_rows_of_version_1_never_change(seed):
    text = generate_census(1000, seed=seed, attributes=SAL_COLUMNS).cast({pl.Enum: pl.String}).write_csv()
    assert hashlib.sha256(text.encode()).hexdigest() == FIRST_THOUSAND[seed]


def test_any_stretch_of_a_census_is_the_same_when_made_alone():
    whole = generate_census(100_000, seed=3, attributes=SAL_COLUMNS)
    for start, rows in ((0, 1), (1, 10), (32_767, 2), (40_000, 60_000), (99_999, 1), (500, 0)):
        assert_frame_equal(generate_census(rows, seed=3, attributes=SAL_COLUMNS, start=start), whole.slice(start, rows))


def test_a_chosen_attribute_has_the_same_values_alone_and_among_others():
    assert_frame_equal(
        generate_census(5000).select(CENSUS_COLUMNS[1], CENSUS_COLUMNS[5]),
        generate_census(5000, attributes=(CENSUS_COLUMNS[1], CENSUS_COLUMNS[5])),
    )
    assert_frame_equal(generate_census(5000, attributes=SAL_COLUMNS).select(CENSUS_COLUMNS), generate_census(5000))


def test_seeds_give_different_people():
    assert not generate_census(100, seed=1).equals(generate_census(100, seed=2))


def test_cardinalities_are_those_of_the_papers(half_million):
    expected = {"age": 79, "gender": 2, "education": 17, "birthplace": 57, "occupation": 50, "race": 9}
    expected |= {"work_class": 10, "marital_status": 6, "salary_class": 50}
    assert {name: half_million[name].n_unique() for name in SAL_COLUMNS} == expected
    assert half_million.columns == list(SAL_COLUMNS)


def test_salary_classes_have_exactly_the_stated_frequencies_in_the_population():
    """Enumerates every sum of pay points and every place within it; the tables round at 2^-40."""
    table = make_lookup_tables()
    counts = compute_pay_distribution(PopulationShares())
    people_in_all = sum(counts)
    assert people_in_all == SLOT_COUNT**7
    within = 1 << (64 - RANK_BITS)
    below = [0, *(int(end) for end in table.salary_end)]
    share = [Fraction(0)] * 50
    for points, count in enumerate(counts):
        start = int(table.rank[points])
        width = int(table.rank_width[points])
        # The places v with start + (v * width >> 24) < edge, for each edge: v < ceil((edge - start) * 2^24 / width).
        places = [min(max(-(-(edge - start) * within // width), 0), within) if width else 0 for edge in below]
        for i in range(50):
            share[i] += Fraction(count, people_in_all) * Fraction(places[i + 1] - places[i], within)
    stated = [Fraction(each, 1_000_000) for each in people.SALARY_PER_MILLION]
    assert stated[12] == max(stated) == Fraction("0.048402") and stated[49] == min(stated) == Fraction("0.002018")
    assert sum(stated) == 1
    assert max(abs(a - b) for a, b in zip(share, stated, strict=True)) < Fraction(1, 10**8)


def test_salary_classes_of_half_a_million_people_are_near_their_frequencies(half_million):
    counts = np.bincount(half_million["salary_class"].to_numpy(), minlength=50)
    expected = np.array(people.SALARY_PER_MILLION) / 2
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()
    assert counts.argmin() == 49 and counts.argmax() == 12


def test_salary_rises_with_education_and_follows_age_gender_marriage_and_work(half_million):
    def mean(condition):
        return half_million.filter(condition)["salary_class"].mean()

    schooling = [mean(pl.col("education").is_between(*ends)) for ends in ((0, 7), (8, 8), (9, 12), (13, 13), (14, 16))]
    assert schooling == sorted(schooling)
    assert mean(pl.col("age") == 48) > mean(pl.col("age") == 30) > mean(pl.col("age") == 19)
    assert mean(pl.col("age") == 48) > mean(pl.col("age") == 75)
    assert mean(pl.col("gender") == "male") > mean(pl.col("gender") == "female")
    assert mean(pl.col("marital_status") == "spouse present") > mean(pl.col("marital_status") == "never married")
    assert mean(pl.col("work_class") == "own company") > mean(pl.col("work_class") == "no recent work")
    assert mean(pl.col("occupation") == "physician") > mean(pl.col("occupation") == "cashier")
    assert 0.3 < half_million.select(pl.corr("education", "salary_class")).item() < 0.6


def test_the_young_are_unmarried_and_the_old_are_widowed(half_million):
    def share(age, status):
        return (half_million.filter(age)["marital_status"] == status).mean()

    assert share(pl.col("age") < 20, "never married") > 0.8
    assert share(pl.col("age") > 80, "widowed") > 0.3 > share(pl.col("age") < 50, "widowed")
    soldiers = half_million.filter(pl.col("occupation") == "military")
    assert (soldiers["work_class"] == "armed forces").mean() > 0.7


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_written_census_reads_back_as_plain_text_and_numbers(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("reticent.datasets.census.iterate_census", partial(iterate_census, chunk_rows=700))
    path = write_census(tmp_path / f"c{suffix}", 2000, seed=5)
    read = pl.read_csv(path) if suffix == ".csv" else pl.read_parquet(path)
    assert read["gender"].dtype == pl.String
    assert read.equals(generate_census(2000, seed=5).cast({pl.Enum: pl.String}).cast(read.schema))
    with pytest.raises(OutputExists):
        write_census(path, 10)


def test_pieces_make_up_the_whole():
    pieces = list(iterate_census(2500, chunk_rows=999))
    assert len(pieces) == 3
    assert_frame_equal(pl.concat(pieces), generate_census(2500))


@pytest.mark.parametrize(
    "wrong", [{"version": 2}, {"seed": -1}, {"start": -1}, {"attributes": ("agge",)}, {"attributes": ()}, {"rows": -5}]
)
def test_an_impossible_census_is_refused(wrong):
    with pytest.raises(RequestError):
        generate_census(**{"rows": 10} | wrong)
