"""A recipient analyses: open a release, see what is promised, use it with pandas and scikit-learn, and know its limits.

Run it anywhere:  python examples/recipient_analyst.py

The first function plays the publisher; an analyst starts at `main`.  It needs pandas and, for the model, scikit-learn.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

import reticent as rt


def published(folder: Path) -> Path:
    people = rt.datasets.load("census", rows=2_000, seed=3)
    wealthy = pl.when(pl.col("salary_class") > 24).then(pl.lit("high")).otherwise(pl.lit("low")).alias("income")
    job = rt.Job(
        columns={"age": rt.quasi(), "education": rt.quasi(), "gender": rt.quasi(), "income": rt.sensitive()},
        promises=[rt.KAnonymity(10), rt.TCloseness(0.4)],
        release=rt.Output(undeclared="drop"),
    )
    return rt.publish(job, frame=people.with_columns(wealthy)).save(folder / "handed-over", ledger=folder / "ledger")


def main(folder: Path) -> float | None:
    # 1. Open it: the files are checked against the manifest, and types are restored.
    release = rt.open(published(folder))
    print(release)
    for promise in release.manifest.promises:
        print("promised:", promise.name, dict(promise.parameters))
    print("recounted from the files:", "kept" if release.audited.kept else "not shown by the files alone")

    # 2. Ranges as two numbers each, in pandas.
    table = release.to_pandas(bounds=True)
    table["age_middle"] = (table["age_lower"] + table["age_upper"]) / 2
    print(table.groupby("income")["age_middle"].mean().round(1).to_dict())

    # 3. A model of the released table.  What it learns holds for everyone; no promise stops that, and none should.
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        print("scikit-learn is not installed: pip install 'reticent[stats]'")
        return None
    inputs = table[["age_lower", "age_upper", "education_lower", "education_upper"]]
    model = LogisticRegression(max_iter=2_000).fit(inputs, table["income"])
    score = float(model.score(inputs, table["income"]))
    print(
        f"accuracy on the release: {score:.2f}; the commonest answer alone: {table['income'].value_counts(normalize=True).max():.2f}"
    )
    return score


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as made:
        main(Path(made))
