"""Jobs as tables, for every method with every promise and every habit of a table that may be refused.

A job is the table that a job file holds, so that advice such as `missing = "category"` is followed by writing it there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

import reticent as rt
from reticent import catalogue
from reticent.errors import ReticentError
from reticent.job.parse import parse_job
from tests.support import contract_examples
from tests.support.contract_examples import EXAMPLES, QUICK


@dataclass
class DraftJob:
    """The table of a job file, and the rows that it is about."""

    table: dict[str, Any]
    frame: pl.DataFrame
    habits: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        models = " and ".join(promise["model"] for promise in self.table["promise"])
        return ", ".join((f"{self.table['method']['name']} {models}", *self.habits))

    def change(self) -> DraftJob:
        """Return a copy that may be changed."""
        return DraftJob(copy.deepcopy(self.table), self.frame, self.habits)

    def publish(self) -> ReticentError | None:
        """Publish the job, and return what it was refused with."""
        try:
            rt.publish(parse_job(self.table), frame=self.frame, seed=1)
        except ReticentError as refusal:
            return refusal
        return None


Habit = Callable[[DraftJob], None]


def lose_sensitive_values(job: DraftJob) -> None:
    """Some sensitive values are missing, and the job does not say what becomes of them."""
    for name, column in job.table["columns"].items():
        if column["role"] == "sensitive":
            job.frame = job.frame.with_columns(pl.when(pl.int_range(pl.len()) % 12 != 5).then(name).alias(name))


def lose_quasi_identifiers(job: DraftJob) -> None:
    """Every tenth age and every seventh city is missing."""
    row = pl.int_range(pl.len())
    job.frame = job.frame.with_columns(age=pl.when(row % 10 != 3).then("age"), city=pl.when(row % 7 != 2).then("city"))


def carry_columns(job: DraftJob) -> None:
    """A column is published beside the record that it came with."""
    job.frame = job.frame.with_columns((pl.int_range(pl.len()) * 7 % 5).cast(pl.Int64).alias("visits"))
    job.table["columns"]["visits"] = {"role": "insensitive"}


def carry_fine_numbers(job: DraftJob) -> None:
    """An insensitive column is different in nearly every row."""
    job.frame = job.frame.with_columns((pl.int_range(pl.len()) * 7.25).alias("weight"))
    job.table["columns"]["weight"] = {"role": "insensitive"}


def withhold_rows(job: DraftJob) -> None:
    """One row in ten may be withheld."""
    job.table["release"] = {"suppress_at_most": 0.1}


def repeat_people(job: DraftJob) -> None:
    """Everybody has two rows."""
    names = [f"name-{row // 2:04d}" for row in range(len(job.frame))]
    job.frame = job.frame.with_columns(name=pl.Series(names))
    job.table["columns"]["name"] = {"role": "identifying", "rows_per_person": 2}


def repeat_people_beyond_reason(job: DraftJob) -> None:
    """Nobody has as many rows as the job allows."""
    names = [f"name-{row:04d}" for row in range(len(job.frame))]
    job.frame = job.frame.with_columns(name=pl.Series(names))
    job.table["columns"]["name"] = {"role": "identifying", "rows_per_person": 2000}


def repeat_people_too_often(job: DraftJob) -> None:
    """Everybody has three rows, and the job says at most two."""
    names = [f"name-{row // 3:04d}" for row in range(len(job.frame))]
    job.frame = job.frame.with_columns(name=pl.Series(names))
    job.table["columns"]["name"] = {"role": "identifying", "rows_per_person": 2}


def protect_two_columns(job: DraftJob) -> None:
    """Two columns are sensitive, and no promise says which it is about."""
    job.table["columns"] |= {
        "illness": {"role": "sensitive", "hierarchy": contract_examples.ILLNESS},
        "wage": {"role": "sensitive"},
    }


def protect_combined_values(job: DraftJob) -> None:
    """Two columns are sensitive, and promises are about their combined values."""
    protect_two_columns(job)
    job.table["jointly"] = True


def snap_labels(job: DraftJob) -> None:
    job.table["columns"]["age"] = {
        "role": "quasi-identifying",
        "type": "numeric",
        "labels": {"style": "snapped", "step": 5},
    }


def pad_labels(job: DraftJob) -> None:
    job.table["columns"]["age"] = {
        "role": "quasi-identifying",
        "type": "numeric",
        "labels": {"style": "padded", "width": 2},
    }


def prepare_rows(job: DraftJob) -> None:
    """Suppression comes before the method, on a table where one value dominates."""
    job.frame = contract_examples.skewed()
    job.table["prepare"] = [{"name": "suppression", "kind": "safe", "l": 2}]


def drop_sensitive_hierarchy(job: DraftJob) -> None:
    for column in job.table["columns"].values():
        if column["role"] == "sensitive":
            column.pop("hierarchy", None)


def protect_nothing(job: DraftJob) -> None:
    """No column is sensitive."""
    for column in job.table["columns"].values():
        if column["role"] == "sensitive":
            column.clear()
            column["role"] = "identifying"


def reserve_names(job: DraftJob) -> None:
    """Columns have names that some kinds of release use for their own."""
    job.frame = job.frame.rename({"age": "group", "city": "count"})
    columns = job.table["columns"]
    columns["group"] = columns.pop("age")
    columns["count"] = columns.pop("city")


def withhold_incomplete_rows(job: DraftJob) -> None:
    """Rows without an age, or without a sensitive value, are to be withheld."""
    lose_quasi_identifiers(job)
    lose_sensitive_values(job)
    for name, column in job.table["columns"].items():
        if name == "age" or column["role"] == "sensitive":
            column["missing"] = "withhold"


def withhold_surplus_rows(job: DraftJob) -> None:
    """Everybody has three rows, of which two are to be published."""
    repeat_people_too_often(job)
    job.table["columns"]["name"]["beyond"] = "withhold"


def limit_loss(job: DraftJob) -> None:
    job.table["release"] = {"loss_at_most": 1}


HABITS: tuple[tuple[Habit, ...], ...] = (
    (),
    (lose_sensitive_values,),
    (lose_quasi_identifiers,),
    (carry_columns,),
    (carry_fine_numbers,),
    (withhold_rows,),
    (repeat_people,),
    (repeat_people_too_often,),
    (withhold_incomplete_rows,),
    (withhold_surplus_rows,),
    (limit_loss,),
    (protect_two_columns,),
    (protect_combined_values,),
    (snap_labels,),
    (pad_labels,),
    (prepare_rows,),
    (drop_sensitive_hierarchy,),
    (protect_nothing,),
    (reserve_names,),
    (withhold_rows, prepare_rows),
    (withhold_rows, lose_sensitive_values),
    (protect_two_columns, lose_sensitive_values),
    (protect_combined_values, lose_sensitive_values),
)


def write_promise(model: str) -> dict[str, Any]:
    """Return a promise as a job file has it, with parameters that the table of the contract can keep."""
    example = EXAMPLES[model]
    population = {"population": contract_examples.population()} if example.of_population else {}
    return {"model": model, **example.parameters, **population}


def write_method(name: str) -> dict[str, Any]:
    return {"name": name, **QUICK.get(name, {})}


def draft_job(method: str, model: str, habits: tuple[Habit, ...] = ()) -> DraftJob:
    """Return the job of a method, a promise and habits of its table."""
    sensitive = EXAMPLES[model].sensitive
    columns = {
        "name": {"role": "identifying"},
        "age": {"role": "quasi-identifying"},
        "city": {"role": "quasi-identifying", "hierarchy": contract_examples.CITIES},
        "illness": {"role": "identifying"},
        "wage": {"role": "identifying"},
    }
    columns[sensitive] = {"role": "sensitive"}
    if sensitive == "illness":
        columns[sensitive]["hierarchy"] = contract_examples.ILLNESS
    table = {"columns": columns, "promise": [write_promise(model)], "method": write_method(method)}
    job = DraftJob(table, contract_examples.people(), tuple(habit.__name__ for habit in habits))
    for habit in habits:
        habit(job)
    return job


def iterate_jobs() -> Iterator[DraftJob]:
    for method in catalogue.METHODS:
        for model in catalogue.PROMISES:
            for habits in HABITS:
                yield draft_job(method, model, habits)


def read_words_as_numbers(job: DraftJob) -> None:
    job.table["columns"]["city"] = {"role": "quasi-identifying", "type": "numeric"}


def read_words_as_dates(job: DraftJob) -> None:
    job.table["columns"]["city"] = {"role": "quasi-identifying", "type": "date"}


def exceed_domain(job: DraftJob) -> None:
    job.table["columns"]["age"] = {"role": "quasi-identifying", "domain": [30, 40]}


def leave_values_out_of_hierarchy(job: DraftJob) -> None:
    job.table["columns"]["city"]["hierarchy"] = contract_examples.CITIES[1:]


def leave_values_out_of_order(job: DraftJob) -> None:
    job.table["columns"]["city"] = {"role": "quasi-identifying", "order": ["Ulm", "Bonn"]}


def leave_columns_undeclared(job: DraftJob) -> None:
    job.table["columns"].pop("wage", None)


def ask_for_more_people_than_there_are(job: DraftJob) -> None:
    for promise in job.table["promise"]:
        if "k" in promise:
            promise["k"] = 500


def ask_for_more_values_than_there_are(job: DraftJob) -> None:
    for promise in job.table["promise"]:
        if "l" in promise:
            promise["l"] = 50


def ask_for_a_share_that_is_exceeded(job: DraftJob) -> None:
    job.frame = contract_examples.skewed()


def declare_a_column_that_is_not_there(job: DraftJob) -> None:
    job.table["columns"]["region"] = {"role": "quasi-identifying"}


def promise_about_another_column(job: DraftJob) -> None:
    for promise in job.table["promise"]:
        if "column" in catalogue.PROMISES[promise["model"]].parameters:
            promise["column"] = "city"


def know_nothing_about_people(job: DraftJob) -> None:
    """No column is quasi-identifying."""
    for column in job.table["columns"].values():
        if column["role"] == "quasi-identifying":
            column.clear()
            column["role"] = "identifying"


def put_a_hierarchy_over_numbers(job: DraftJob) -> None:
    job.table["columns"]["age"] = {
        "role": "quasi-identifying",
        "type": "numeric",
        "hierarchy": [["20", "young", "*"], ["30", "old", "*"]],
    }


def weigh_a_column_that_is_not_there(job: DraftJob) -> None:
    job.table["method"]["weights"] = {"region": 2}


FAULTS: tuple[Habit, ...] = (
    read_words_as_numbers,
    read_words_as_dates,
    exceed_domain,
    leave_values_out_of_hierarchy,
    leave_values_out_of_order,
    leave_columns_undeclared,
    ask_for_more_people_than_there_are,
    ask_for_more_values_than_there_are,
    ask_for_a_share_that_is_exceeded,
    declare_a_column_that_is_not_there,
    promise_about_another_column,
    know_nothing_about_people,
    put_a_hierarchy_over_numbers,
    weigh_a_column_that_is_not_there,
)
"""What a steward gets wrong in the columns and numbers of a job."""
