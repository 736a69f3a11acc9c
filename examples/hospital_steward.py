"""A hospital steward publishes: look at the risk, choose a promise, check it, publish, audit, and keep what stays at home.

Run it anywhere:  python examples/hospital_steward.py [FOLDER]

The patients are the census generator's people, with a salary class in the place of a diagnosis: anybody can make them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import reticent as rt


def patients() -> pl.DataFrame:
    """Three thousand made-up people with a name each."""
    people = rt.datasets.load("census", rows=3_000, seed=7).rename({"salary_class": "diagnosis"})
    names = pl.Series("name", [f"Patient {number:04}" for number in range(len(people))])
    return people.with_columns(names, pl.col("diagnosis").cast(pl.String))


def main(folder: Path) -> rt.Release:
    people = patients()
    trees = rt.datasets.hierarchies("census")

    # 1. How exposed are they as they are?
    known = ["age", "gender", "education", "marital_status"]
    before = rt.risk(people, quasi=known)
    print(f"Before: {before.sample_uniques:,} of {before.rows:,} patients are the only one with their values.")

    # 2. A role for every column, and what to promise.
    job = rt.Job(
        columns={
            "name": rt.identifying(),
            "age": rt.quasi(top=80),
            "gender": rt.quasi(),
            "education": rt.quasi(),
            "marital_status": rt.quasi(hierarchy=trees["marital_status"]),
            "diagnosis": rt.sensitive(),
        },
        promises=[rt.KAnonymity(5), rt.BetaLikeness(4)],
        method=rt.Mosaic(effort="quick"),
        release=rt.Output(undeclared="drop"),
    )

    # 3. Can it be kept, and at what loss?  Nothing is written.
    outlook = rt.check(job, frame=people, methods=["mondrian"])
    for method in outlook.methods:
        print(f"{method.method}: {method.groups} groups, expected loss {method.ail:.3f}")

    # 4. Publish.  The folder is for the recipient; reticent-owner beside it stays with the steward.
    release = rt.publish(job, frame=people, to=folder / "release", ledger=folder / "ledger")
    print(f"Published {release!r}; digest {release.digest[:12]}...")

    # 5. What does an audit against the source say, and what would an adversary reach?
    found = rt.audit(release, source=people, expect_digest=release.digest)
    assert found.kept
    print(*found.source.sentences, sep="\n")
    guessed = rt.attack(release, people, "skewness")
    print(
        f"An adversary guesses {guessed.success:.1%} of the diagnoses; always guessing the commonest: {guessed.baseline:.1%}."
    )
    after = rt.risk(release)
    print(f"After: {after.sample_uniques} are unique; the highest risk is {after.prosecutor.highest:.2f}.")
    return release


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with TemporaryDirectory() as made:
            main(Path(made))
