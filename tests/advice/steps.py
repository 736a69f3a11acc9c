"""Follows the advice of a refused job: its words become changes of the job's table or of its rows.

An attempt is cut into alternatives, and each must be understood by a rule below: advice that no rule understands fails
the test, so that nobody is told what nobody tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from reticent import catalogue
from reticent.errors import ReticentError
from tests.advice.job_tables import DraftJob, write_method, write_promise
from tests.support import contract_examples

MAX_STEPS = 5
"""How often one refusal may lead to the next before a steward gives up."""


@dataclass(frozen=True)
class Step:
    """One alternative of an attempt, and the job that follows it."""

    advice: str
    job: DraftJob


Follow = Callable[[DraftJob, re.Match[str], str], Iterator[DraftJob]]
_RULES: list[tuple[re.Pattern[str], Follow]] = []


def rule(pattern: str) -> Callable[[Follow], Follow]:
    """Register how advice of these words is followed; the third argument is what was refused."""

    def register(follow: Follow) -> Follow:
        _RULES.append((re.compile(pattern), follow))
        return follow

    return register


def list_steps(refusal: ReticentError, job: DraftJob) -> list[Step]:
    """Return a job for each way in which the attempt can be followed.

    Raises `AssertionError` where the attempt is empty, or a part of it is understood by no rule.
    """
    assert refusal.attempt.strip(" ."), f"nothing is advised: {refusal}"
    steps = []
    for alternative in re.split(
        r",? or (?=\w+ = |\[\[|leaving|a |another|withhold|fewer)|, (?=order = |leaving|round_to|fewer)",
        refusal.attempt,
    ):
        jobs, rest = [job], alternative
        for pattern, follow in _RULES:
            for match in pattern.finditer(rest):
                jobs = [changed for each in jobs for changed in follow(each, match, refusal.what)]
            rest = pattern.sub(" ", rest)
        unread = re.sub(r"\b(or|and|with it|it is then published as ranges)\b|[\s,;.:]", "", rest)
        assert not unread, f"no rule follows {rest.strip()!r} of the advice {refusal.attempt!r}"
        steps += [Step(alternative, changed) for changed in jobs if changed is not job]
    return steps


def find_way(job: DraftJob, refused: tuple[str, ...] = ()) -> str | None:
    """Return None if the job is published at last by following its refusals, else what the steward meets instead."""
    refusal = job.publish()
    if refusal is None:
        return None
    if str(refusal) in refused:
        return f"leads in a circle: {refusal}"
    if len(refused) == MAX_STEPS:
        return f"leads on and on: {refusal}"
    ways = [find_way(step.job, (*refused, str(refusal))) for step in list_steps(refusal, job)]
    return None if None in ways else f"leads to: {refusal}\n    which {ways[0]}"


def find_broken_advice(job: DraftJob) -> list[str]:
    """Return what is wrong with the advice that a refused job gets: each alternative must lead to a release."""
    refusal = job.publish()
    if refusal is None:
        return []
    broken = []
    for step in list_steps(refusal, job):
        fault = find_way(step.job, (str(refusal),))
        if fault is not None:
            broken.append(f"{job}: {refusal}\n  following {step.advice!r} {fault}")
    return broken


def _named_columns(job: DraftJob, what: str) -> list[str]:
    """Return the columns that a message names."""
    return [name for name in job.table["columns"] if f"'{name}'" in what]


def _set_option(job: DraftJob, what: str, option: str, value: Any) -> Iterator[DraftJob]:
    changed = job.change()
    names = _named_columns(job, what)
    for name in names:
        changed.table["columns"][name][option] = value
    if names:
        yield changed


@rule(r"method = ['\"]([\w-]+)['\"](?: with labels = ['\"](\w+)['\"])?(?: for several)?")
def change_method(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["method"] = write_method(match[1])
    if match[2]:
        changed.table["method"]["labels"] = match[2]
    yield changed


@rule(r"suppress_at_most = 0 and no preparing stage")
def withhold_nothing(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table.get("release", {}).pop("suppress_at_most", None)
    changed.table.pop("prepare", None)
    yield changed


@rule(r"suppress_at_most = 0")
def suppress_nothing(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["release"] = {"suppress_at_most": 0}
    yield changed


@rule(r"leaving \[\[prepare\]\] out")
def drop_stages(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table.pop("prepare")
    yield changed


@rule(r"leaving labels out")
def drop_labels(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    for column in changed.table["columns"].values():
        column.pop("labels", None)
    yield changed


@rule(r"missing = \"(category|withhold)\" for (?:this column|these columns)(?:, which withholds these rows)?")
def say_missing(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    yield from _set_option(job, what, "missing", match[1])


@rule(r"rows_per_person = (\d+)")
def bound_rows(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["columns"]["name"]["rows_per_person"] = int(match[1])
    yield changed


@rule(r"fewer rows of each person|a table with one row of each person(?:, without rows_per_person and beyond)?")
def drop_repeated_rows(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.frame = job.frame.unique("name", keep="first", maintain_order=True)
    changed.table["columns"]["name"] = {"role": "identifying"}
    yield changed


@rule(r"column = one of ((?:'[\w ]+'(?:, )?)+)")
def name_column(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    for name in re.findall(r"'([\w ]+)'", match[1]):
        changed = job.change()
        for part in (*changed.table["promise"], *changed.table.get("prepare", ())):
            if (
                "column"
                in (catalogue.PROMISES.get(part.get("model", "")) or catalogue.STAGES["suppression"]).parameters
            ):
                part["column"] = name
        yield changed


@rule(r"jointly = true(?: at the top of the job, above every \[table\],)?(?: for the combined values)?")
def promise_jointly(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["jointly"] = True
    yield changed


@rule(r"role = \"([\w-]+)\" for ((?:'\w+'(?:, )?)+)")
def change_roles(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    for name in re.findall(r"'(\w+)'", match[2]):
        changed.table["columns"][name] = {"role": match[1]}
    yield changed


@rule(r"role = \"identifying\" for all but one of ((?:'\w+'(?:, )?)+)which are then not published")
def protect_one_column(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """Protect the column that the promise of the example is about."""
    changed = job.change()
    names = re.findall(r"'(\w+)'", match[1])
    kept = next((part["column"] for part in job.table["promise"] if "column" in part), None)
    kept = kept or contract_examples.EXAMPLES[job.table["promise"][0]["model"]].sensitive
    for name in names:
        if name != kept:
            changed.table["columns"][name] = {"role": "identifying"}
    yield changed


@rule(r"role = ['\"]sensitive['\"] for the column to protect")
def protect_column(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    example = contract_examples.EXAMPLES[job.table["promise"][0]["model"]]
    changed.table["columns"][example.sensitive] = {"role": "sensitive"}
    if example.sensitive == "illness":
        changed.table["columns"]["illness"]["hierarchy"] = contract_examples.ILLNESS
    yield changed


@rule(r"role = \"quasi-identifying\"(?! for)")
def make_quasi(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    yield from _set_option(job, what, "role", "quasi-identifying")


@rule(r"round_to = \.\.\. for a number")
def round_numbers(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    yield from _set_option(job, what, "round_to", 500)


@rule(r"acknowledge = true")
def acknowledge(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    yield from _set_option(job, what, "acknowledge", True)


@rule(r"leaving it out")
def drop_column(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    for name in _named_columns(job, what):
        del changed.table["columns"][name]
        changed.frame = changed.frame.drop(name)
    yield changed


@rule(r"one of them")
def choose_withholding(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """`suppress_at_most` or a stage: each is left out once."""
    yield from suppress_nothing(job, match, what)
    yield from drop_stages(job, match, what)


@rule(r"renaming the source's column")
def rename_column(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    for name in re.findall(r"A column is named '(\w+)'", what):
        changed.frame = changed.frame.rename({name: f"{name}_1"})
        columns = changed.table["columns"]
        columns[f"{name}_1"] = columns.pop(name)
    yield changed


@rule(r"another method")
def change_to_some_method(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """One of the others must do; which is told by the next refusal."""
    for name in catalogue.METHODS:
        changed = job.change()
        changed.table["method"] = write_method(name)
        if changed.publish() is None:
            yield changed
            return
    changed = job.change()
    changed.table["method"] = write_method("mondrian")
    yield changed


@rule(r"another promise, such as model = \"([\w-]+)\"")
def change_promise(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["promise"] = [write_promise(match[1])]
    yield changed


@rule(r"beyond = \"withhold\", which withholds as many as are too many")
def withhold_surplus(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["columns"]["name"]["beyond"] = "withhold"
    yield changed


@rule(r"another promise")
def change_to_some_promise(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    for model in ("k-anonymity", "probabilistic-l-diversity", "beta-likeness", "p-privacy", "rho-guarantee"):
        changed = job.change()
        changed.table["promise"] = [write_promise(model)]
        if changed.publish() is None:
            yield changed
            return
    yield changed


@rule(r"a further \[\[promise\]\](?:, such as| with) model = \"([\w-]+)\"(?: and (\w+) = ([\d.]+))?")
def add_promise(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    further = {"model": match[1], match[2]: float(match[3].rstrip("."))} if match[2] else write_promise(match[1])
    changed.table["promise"].append(further)
    yield changed


@rule(r"hierarchy = \"file\.csv\" on that column")
def add_hierarchy(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    for name in _named_columns(job, what):
        wages = [[str(wage), "low" if wage < 3000 else "high", "*"] for wage in contract_examples.WAGES]
        column = changed.table["columns"][name]
        column["hierarchy"] = contract_examples.ILLNESS if name == "illness" else wages
        if name == "wage":
            column["type"] = "categorical"
    yield changed


@rule(r"\[\[prepare\]\] with name = \"suppression\"(?:, kind = \"(\w+)\")? and l = (\d+)")
def write_stage(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["prepare"] = [{"name": "suppression", "kind": match[1] or "safe", "l": int(match[2])}]
    yield changed


@rule(r"a promise that allows a share of (\d+\.\d+)")
def allow_share(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """`alpha` of one promise is such a share; that of the others is left to the steward, who is given a weaker one."""
    changed = job.change()
    changed.table["promise"] = [{"model": "alpha-k-anonymity", "alpha": match[1], "k": 3}]
    yield changed


@rule(r"(k|l) = (\d+) or less")
def lower_number(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    for part in (*changed.table["promise"], *changed.table.get("prepare", ())):
        if match[1] in part:
            part[match[1]] = int(match[2])
    yield changed


@rule(r"more rows")
def gather_more_rows(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.frame = pl.concat([job.frame.with_columns(name=pl.col("name") + f"-{number}") for number in range(3)])
    yield changed


@rule(r"a weaker promise")
def weaken_promise(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """Ask for what the examples ask."""
    changed = job.change()
    changed.table["promise"] = [write_promise(promise["model"]) for promise in job.table["promise"]]
    yield changed


@rule(r"(?:the format it is written in, )?missing = \[[^]]*\](?: in \[source\])? if they stand for nothing")
def mark_missing(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """The values of the example stand for something: the advice says that it is not for them."""
    yield from ()


@rule(r"type = \"categorical\"(?: without a format| without format and rates)?")
def make_categorical(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    for changed in _set_option(job, what, "type", "categorical"):
        if "without" in match[0]:
            for name in _named_columns(job, what):
                for option in ("format", "rates"):
                    changed.table["columns"][name].pop(option, None)
        yield changed


@rule(r"a wider domain")
def widen_domain(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    yield from _set_option(job, what, "domain", [0, 120])


@rule(r"top and bottom coding")
def code_ends(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    for name in _named_columns(job, what):
        least, greatest = changed.table["columns"][name]["domain"]
        changed.table["columns"][name] |= {"bottom": least, "top": greatest}
    yield changed


@rule(r"--show-values to see them")
def complete_hierarchy(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """Whoever sees the values writes rows for them."""
    changed = job.change()
    for name in _named_columns(job, what):
        values = [str(value) for value in job.frame[name].unique().to_list()]
        changed.table["columns"][name] = {"role": "quasi-identifying", "hierarchy": [[value, "*"] for value in values]}
    yield changed


@rule(r"every value in order = \[\.\.\.\]")
def complete_order(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    yield from _set_option(job, what, "order", ["Ulm", "Bonn", "Kiel", "Essen"])


@rule(r"giving each a role")
def declare_columns(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    for name in re.findall(r"'(\w+)'", what):
        changed.table["columns"][name] = {"role": "identifying"}
    yield changed


@rule(r"undeclared = \"drop\"")
def drop_undeclared(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table.setdefault("release", {})["undeclared"] = "drop"
    yield changed


@rule(r"role = \"quasi-identifying\" for what an adversary may know")
def declare_quasi_identifiers(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["columns"]["age"] = {"role": "quasi-identifying"}
    yield changed


@rule(r"^one of ((?:'\w+'(?:, )?)+)")
def correct_name(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """One of the names instead of the one that was refused: a column of a promise, a weight, or a parameter."""
    for name in re.findall(r"'(\w+)'", match[1]):
        changed = job.change()
        for part in (*changed.table["promise"], *changed.table.get("prepare", ())):
            if "column" in part:
                part["column"] = name
        weights = changed.table["method"].pop("weights", None)
        if weights is not None and "has no parameter" not in what:
            changed.table["method"]["weights"] = {name: 2}
        yield changed


@rule(r"a value of their own for these rows in the source")
def fill_values(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """Give them a value that the hierarchy has."""
    changed = job.change()
    for name in _named_columns(job, what):
        changed.frame = changed.frame.with_columns(pl.col(name).fill_null(pl.col(name).drop_nulls().first()))
        changed.table["columns"][name].pop("missing", None)
    yield changed


@rule(r"jointly = false with a promise for each column")
def promise_separately(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["jointly"] = False
    changed.table["promise"] = [
        {**promise, "column": name} for promise in job.table["promise"] for name in _named_columns(job, what)
    ]
    yield changed


@rule(r"leaving beyond out for '(\w+)', with rows_per_person as high as anybody has rows")
def raise_limit(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["columns"][match[1]] = {"role": "identifying", "rows_per_person": 3}
    yield changed


@rule(r"fewer rows in the source")
def drop_surplus_rows(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    yield from drop_repeated_rows(job, match, what)


@rule(r"leaving loss_at_most out")
def drop_loss_limit(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    changed.table["release"].pop("loss_at_most")
    yield changed


@rule(r"one of the \d+ names in the first line of the data, which are not shown.*")
def name_columns_alike(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """Call the columns of the source what those of the population are called."""
    names = {"group": "age", "count": "city"}
    changed = job.change()
    if "region" in changed.table["columns"]:
        del changed.table["columns"]["region"]
        yield changed
        return
    changed.frame = job.frame.rename(names)
    changed.table["columns"] = {names.get(name, name): column for name, column in job.table["columns"].items()}
    yield changed


@rule(r"order = \[\.\.\.\] for that column, with every value")
def order_values(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    for name in _named_columns(job, what):
        changed.table["columns"][name] = {"role": "sensitive", "order": [row[0] for row in contract_examples.ILLNESS]}
    yield changed


@rule(r"type = \"numeric\" if they are numbers")
def make_numeric(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    """The values of the example are words: the advice says that it is not for them."""
    yield from ()


@rule(r"rt\.sensitive\(domain=\[\.\.\.\]\), in a job domain = \[\"a\", \"b\", \.\.\.\] of the column.*")
def declare_domain(job: DraftJob, match: re.Match[str], what: str) -> Iterator[DraftJob]:
    changed = job.change()
    for name in _named_columns(job, what):
        changed.table["columns"][name]["domain"] = [row[0] for row in contract_examples.ILLNESS]
    yield changed
