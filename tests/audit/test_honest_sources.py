"""What a source may look like without its honest release being condemned: spellings, clipped ends, dates, texts that mean missing."""

from __future__ import annotations

from pathlib import Path

import pytest

import reticent as rt

METHODS = {
    "generalized": (rt.Mondrian(), [rt.KAnonymity(4)]),
    "anatomized": (rt.Anatomy(), [rt.ProbabilisticLDiversity(2)]),
    "perturbed": (rt.BetaPerturbation(), [rt.BetaLikeness(1)]),
}
ROWS = 600


def spelled(name: str, number: int) -> str:
    return {
        "decimals": f"{number % 40}.{number % 7}0",
        "zeros": f"{number % 40:05d}",
        "old": str(20 + number % 80),
        "day": f"19{50 + number % 40}-0{1 + number % 9}-1{number % 10}",
        "marked": "?" if number % 10 == 0 else str(20 + number % 30),
        "town": "unknown" if number % 11 == 0 else f"town {number % 8}",
    }[name]


COLUMNS = {
    "decimals": rt.quasi(),
    "zeros": rt.quasi(type="categorical"),
    "old": rt.quasi(type="numeric", top=85, bottom=25),
    "day": rt.quasi(type="date", bottom="1955-01-01"),
    "marked": rt.quasi(type="numeric"),
    "town": rt.quasi(),
}
SENSITIVE = {
    "illness": lambda number: ("flu", "gout", "asthma", "ulcer")[number * 7 % 4],
    "dose": lambda number: ("1.20", "2.50", "3.00", "4.10")[number * 5 % 4],
}


def written(folder: Path, quasi: str, sensitive: str) -> Path:
    lines = [f"person {n},{spelled(quasi, n)},{SENSITIVE[sensitive](n)}" for n in range(ROWS)]
    path = folder / "people.csv"
    path.write_text("\n".join([f"name,{quasi},{sensitive}", *lines]) + "\n")
    return path


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("sensitive", SENSITIVE)
@pytest.mark.parametrize("quasi", COLUMNS)
def test_an_honest_release_is_not_condemned(kind, quasi, sensitive, tmp_path):
    path = written(tmp_path, quasi, sensitive)
    method, promises = METHODS[kind]
    job = rt.Job(
        source=rt.Source(path=str(path), missing=("?", "unknown")),
        columns={"name": rt.identifying(), quasi: COLUMNS[quasi], sensitive: rt.sensitive()},
        promises=promises,
        method=method,
    )
    release = rt.publish(job, seed=1)
    by_job = rt.audit(release, source=path, job=job)
    by_marks = rt.audit(release, source=path, missing=("?", "unknown"))
    for found in (by_job, by_marks):
        assert found.kept is not False and found.source.passed, str(found)


def test_marks_of_missing_values_that_are_not_given_are_told_apart_from_values(tmp_path):
    """Read without its marks the source has other values, and the release does not stand for it."""
    path = written(tmp_path, "town", "illness")
    job = rt.Job(
        source=rt.Source(path=str(path), missing=("unknown",)),
        columns={"name": rt.identifying(), "town": rt.quasi(), "illness": rt.sensitive()},
        promises=[rt.ProbabilisticLDiversity(2)],
        method=rt.Anatomy(),
    )
    assert rt.audit(rt.publish(job, seed=1).folder, source=path).source.unmatched > 0
