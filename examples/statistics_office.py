"""A statistics office compares: which promise and method fit a census, what each costs, and two forms for two audiences.

Run it anywhere:  python examples/statistics_office.py [FOLDER]

A sweep plans without publishing.  Researchers get rows with ranges; the public gets exact columns with sensitive values apart,
which answer counts with guaranteed bounds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import reticent as rt


def office_job(**changes: object) -> rt.Job:
    trees = rt.datasets.hierarchies("census")
    job = rt.Job(
        columns={
            "age": rt.quasi(),
            "education": rt.quasi(),
            "work_class": rt.quasi(hierarchy=trees["work_class"]),
            "salary_class": rt.sensitive(),
        },
        promises=[rt.KAnonymity(5), rt.BetaLikeness(4)],
        release=rt.Output(undeclared="drop"),
    )
    return job.at(**changes)


def main(folder: Path) -> dict[str, rt.Release]:
    people = rt.datasets.load("census", rows=3_000, seed=11)

    # 1. What does strictness cost?  Every combination is planned, nothing is published.
    swept = rt.sweep(office_job(), frame=people, k=[5, 20], beta=[2, 4])
    with pl.Config(tbl_rows=20):
        print(swept.frame().select("k", "beta", "groups", "smallest", "loss", "seconds"))
    try:
        print(f"The chart is {swept.chart().save(folder / 'loss.svg')}")
    except rt.RequestError as error:
        print(error)  # the extra `charts` is not installed

    # 2. Which method serves who counts, and who wants rows?  Measured on the office's own people; nothing is published.
    for purpose in ("counts", "sharing-rows"):
        print(
            rt.advise(office_job(), frame=people, purpose=purpose, methods=["mondrian", "burel"], runs=2).sentences()[0]
        )

    # 3. Rows with ranges for researchers.
    ledger = folder / "ledger"
    for_researchers = rt.publish(office_job(), frame=people, to=folder / "for-researchers", ledger=ledger)

    # 4. Counts with guaranteed bounds for everybody.  The ledger knows these people: two releases can be joined, so the
    #    office says that it knows what it does.
    apart = office_job(promises=[rt.ProbabilisticLDiversity(4)], method=rt.Anatomy())
    for_everybody = rt.publish(apart, frame=people, to=folder / "for-everybody", ledger=ledger, again=True)
    answer = for_everybody.query("SELECT COUNT(*) FROM release WHERE age BETWEEN 30 AND 40 AND salary_class > 10")
    assert isinstance(answer, rt.Answer)  # with GROUP BY it would be rt.Answers, a list of them
    print(
        f"People of 30 to 40 above class 10: about {answer.estimate:.0f}, surely {answer.lower:.0f} to {answer.upper:.0f}."
    )
    true = people.filter(pl.col("age").is_between(30, 40) & (pl.col("salary_class") > 10)).height
    assert answer.lower <= true <= answer.upper
    return {"researchers": for_researchers, "everybody": for_everybody}


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with TemporaryDirectory() as made:
            main(Path(made))
