"""Advice of methods and promises is followed: a job that is refused with it is published by each way that it names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reticent.methods.mosaic.tiling import SweepBudget
from reticent.methods.suppression.stage import require_countable, require_enough_values
from tests.advice.coverage import Trial
from tests.advice.job_tables import (
    DraftJob,
    Habit,
    ask_for_a_share_that_is_exceeded,
    ask_for_more_people_than_there_are,
    ask_for_more_values_than_there_are,
    draft_job,
    drop_sensitive_hierarchy,
    promise_about_another_column,
    protect_combined_values,
    protect_nothing,
    protect_two_columns,
    repeat_people_beyond_reason,
    weigh_a_column_that_is_not_there,
    write_promise,
)
from tests.advice.small_jobs import CITIES, publish
from tests.advice.steps import find_broken_advice, list_steps


def job_trial(module: str, text: str, method: str, model: str, *habits: Habit, beside: str | None = None) -> Trial:
    """Make the trial of a job whose refusal has this text: every way that it names must lead to a release."""

    def draft() -> DraftJob:
        job = draft_job(method, model, habits)
        if beside is not None:
            job.table["promise"].append(write_promise(beside))
            for habit in habits:
                habit(job)
        return job

    return Trial(module, text, lambda: refuse(draft), lambda: follow(draft))


def refuse(draft: Callable[[], DraftJob]) -> None:
    refusal = draft().publish()
    assert refusal is not None
    raise refusal


def follow(draft: Callable[[], DraftJob]) -> None:
    assert find_broken_advice(draft()) == []


def protect_illness_alone(job: DraftJob) -> None:
    """The sensitive values are words without an order."""
    job.table["columns"] |= {"wage": {"role": "identifying"}, "illness": {"role": "sensitive"}}


KNOWING = {"model": "bt-privacy", "t": 0.9}
DISTANCES = {"values": ["flu", "cold", "gout"], "rows": [[0, 1, 2], [1, 0, 1], [2, 1, 0]]}


CITY_DISTANCES = {
    "values": list(CITIES),
    "rows": [[int(first != second) for first in CITIES] for second in CITIES],
}


def promise(*promises: dict[str, Any], **parts: Any) -> None:
    publish(promise=list(promises), **parts)


def measure(distances: Any) -> None:
    """Publish with distances between illnesses."""
    promise({**KNOWING, "bandwidth": 0.3, "distances": {"illness": distances}})


def write_distances(text: str) -> str:
    Path("disease-distances.csv").write_text(text)
    return "disease-distances.csv"


SQUARE = ",flu,cold,gout\nflu,0,1,2\ncold,1,0,1\ngout,2,1,0\n"
BT = "models/background_knowledge/bt_privacy.py"
ADVERSARY = "models/background_knowledge/adversary.py"
PROMISED = "models/promise.py"
K = {"model": "k-anonymity", "k": 5}

PARAMETERS = [
    Trial(PROMISED, 'a [[promise]] such as model = "k-anonymity", k = 5.', promise, lambda: promise(K)),
    Trial(PROMISED, "the strictest of each model.", lambda: promise(*[K] * 200), lambda: promise(K)),
    Trial(
        ADVERSARY,
        "{suggest(column, names)}",
        lambda: promise({**KNOWING, "bandwidth": {"agee": 0.3, "default": 0.3}}),
        lambda: promise({**KNOWING, "bandwidth": {"age": 0.3, "default": 0.3}}),
    ),
    Trial(
        ADVERSARY,
        'a number for it, "whole" for what the adversary knows nothing of, or a default for all others.',
        lambda: promise({**KNOWING, "bandwidth": {"age": 0.3}}),
        lambda: [
            promise({**KNOWING, "bandwidth": {"age": 0.3, **rest}})
            for rest in ({"city": 0.3}, {"city": "whole"}, {"default": 0.3})
        ],
    ),
    Trial(
        ADVERSARY,
        "{suggest(column, known_names)}",
        lambda: promise({**KNOWING, "bandwidth": 0.3, "distances": {"ilness": DISTANCES}}),
        lambda: promise({**KNOWING, "bandwidth": 0.3, "distances": {"illness": DISTANCES}}),
    ),
    Trial(
        BT,
        "values in the first row and column.",
        lambda: measure(write_distances("flu,cold\n0,1\n1,0\n")),
        lambda: measure(write_distances(SQUARE)),
    ),
    Trial(
        BT,
        "the same values in the same order.",
        lambda: measure(write_distances(SQUARE.replace(",flu,cold,gout", ",cold,flu,gout"))),
        lambda: measure(write_distances(SQUARE)),
    ),
    Trial(
        BT,
        "the same distance both ways.",
        lambda: measure(write_distances(SQUARE.replace("gout,2", "gout,1"))),
        lambda: measure(write_distances(SQUARE)),
    ),
    Trial(
        "models/background_knowledge/distances.py",
        "a row and a column for every value of the table.",
        lambda: promise({**KNOWING, "bandwidth": 0.3, "distances": {"city": {"values": ["Ulm"], "rows": [[0]]}}}),
        lambda: promise({**KNOWING, "bandwidth": 0.3, "distances": {"city": CITY_DISTANCES}}),
    ),
    Trial(
        "methods/base.py",
        "a weight above 0 for one column.",
        lambda: promise(K, method={"name": "mondrian", "weights": {"age": 0, "city": 0}}),
        lambda: promise(K, method={"name": "mondrian", "weights": {"age": 1, "city": 0}}),
    ),
    Trial(
        "methods/mosaic/tiling.py",
        "threads = 2, or leaving it out.",
        lambda: SweepBudget.from_options("quick", None, 0),
        lambda: [SweepBudget.from_options("quick", None, threads) for threads in (2, None)],
    ),
    Trial(
        "methods/mosaic/tiling.py",
        "quick, balanced, thorough, or a number of CPU seconds.",
        lambda: SweepBudget.from_options("slow", None, 1),
        lambda: [SweepBudget.from_options(effort, None, 1) for effort in ("quick", "balanced", "thorough", 5)],
    ),
    Trial(
        "methods/mosaic/tiling.py",
        '"quick", "balanced", "thorough" or a number such as 10.',
        lambda: SweepBudget.from_options(0, None, 1),
        lambda: [SweepBudget.from_options(effort, None, 1) for effort in ("quick", "balanced", "thorough", 10)],
    ),
    Trial(
        "methods/suppression/stage.py",
        "l = … or less.",
        lambda: require_enough_values(3, 5, "illness"),
        lambda: require_enough_values(3, 3, "illness"),
    ),
    Trial(
        "methods/suppression/stage.py",
        "counts=[10, 4, 2, 1, 1].",
        lambda: require_countable([2**62]),
        lambda: require_countable([10, 4, 2, 1, 1]),
    ),
]


@pytest.mark.parametrize("trial", PARAMETERS, ids=str)
def test_parameters_of_methods_and_promises(trial, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trial.run()


TRIALS = [
    job_trial("methods/anatomy.py", "….", "anatomy", "probabilistic-l-diversity", ask_for_a_share_that_is_exceeded),
    job_trial("methods/anatomy.py", "….", "anatomy", "probabilistic-l-diversity", ask_for_more_values_than_there_are),
    job_trial(
        "methods/base.py", "{suggest(column, names)}", "mondrian", "k-anonymity", weigh_a_column_that_is_not_there
    ),
    job_trial(
        "methods/burel.py",
        'a further [[promise]] with model = "beta-likeness" and beta = 4, or method = "mondrian".',
        "burel",
        "k-anonymity",
    ),
    job_trial(
        "methods/burel.py",
        "k = … or less, or more rows.",
        "burel",
        "beta-likeness",
        ask_for_more_people_than_there_are,
        beside="k-anonymity",
    ),
    job_trial(
        "methods/sabre.py",
        "k = … or less, or more rows.",
        "sabre",
        "t-closeness",
        ask_for_more_people_than_there_are,
        beside="k-anonymity",
    ),
    job_trial("methods/sabre.py", '…method = "mondrian".', "sabre", "k-anonymity"),
    job_trial(
        "methods/perturbed_generalization/calibration.py",
        "a table with one row of each person, and rows_per_person = 1.",
        "perturbed-generalization",
        "rho-guarantee",
        repeat_people_beyond_reason,
    ),
    job_trial("models/beta_likeness.py", "column = …", "mondrian", "semantic-beta-likeness", protect_combined_values),
    job_trial(
        "models/beta_likeness.py",
        'order = [...] for that column, with every value, or type = "numeric" if they are numbers.',
        "mondrian",
        "proximity-beta-likeness",
        protect_illness_alone,
    ),
    job_trial(
        "models/beta_likeness.py",
        'hierarchy = "file.csv" on that column.',
        "mondrian",
        "semantic-beta-likeness",
        drop_sensitive_hierarchy,
    ),
    job_trial(
        "models/promise.py",
        "column = …, or jointly = true at the top of the job, above every [table], for the combined values.",
        "mondrian",
        "distinct-l-diversity",
        protect_two_columns,
    ),
    job_trial(
        "models/promise.py",
        'role = "sensitive" for the column to protect.',
        "mondrian",
        "distinct-l-diversity",
        protect_nothing,
    ),
    job_trial(
        "models/promise.py",
        "{suggest(column, sensitive)}",
        "mondrian",
        "distinct-l-diversity",
        promise_about_another_column,
    ),
    job_trial("preconditions.py", "….", "anatomy", "k-anonymity"),
]


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_advice_about_refused_jobs_is_accepted(trial):
    trial.run()


@pytest.mark.parametrize("method", ["anatomy", "burel", "sabre"])
def test_every_change_that_is_advised_is_accepted_by_itself(method):
    draft = draft_job(method, "k-anonymity")
    refusal = draft.publish()
    steps = list_steps(refusal, draft)
    assert len(steps) >= 2
    assert [step.advice for step in steps if step.job.publish() is not None] == []
