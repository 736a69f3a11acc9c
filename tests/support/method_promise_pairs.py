"""Every method with every promise it keeps, as jobs: the pairs come from the catalogue, the parameters from `people`.

A job is plain, or drafted with *turns*: a stage before the method, carried columns, missing values and the like.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import polars as pl

import reticent as rt
from reticent import catalogue, registry
from reticent.errors import JobError
from reticent.models.promise import Promises
from tests.support import contract_examples
from tests.support.contract_examples import EXAMPLES, QUICK

NOT_ALONE = {("burel", "k-anonymity"), ("sabre", "k-anonymity")}
"""A method keeps the promise only beside one that its groups are made for."""


@dataclass(frozen=True)
class Pair:
    """A method and a promise; `beside` is the further promise of its jobs, `stages` what must stand before the method."""

    method: str
    promise: str
    beside: str | None = None
    stages: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.method} {self.promise}"

    @property
    def kind(self) -> str:
        return registry.load_method_class(self.method).kind

    @property
    def promises(self) -> tuple[str, ...]:
        return (self.promise,) if self.beside is None else (self.promise, self.beside)

    @property
    def sensitive(self) -> str:
        return EXAMPLES[self.promise].sensitive


def keeps(method: str, promise: str) -> bool:
    """Whether a method takes a promise, alone or beside another: by its shape, and if it has more to ask, by its own word."""
    asked = made_promise(promise)
    made = registry.make_method({"name": method, **QUICK.get(method, {})})
    if not isinstance(asked, made.keeps):
        return False
    if (method, promise) in NOT_ALONE:
        return True
    try:
        if hasattr(made, "refuse"):
            made.refuse(Promises.from_iterable([asked]))
    except JobError:
        return False
    return True


def takes_stages(method: str) -> bool:
    kind = registry.load_method_class(method)
    return getattr(kind, "prepares", True) and getattr(registry.load_writer(kind.kind), "prepared", True)


def kept_by(promise: str) -> tuple[str, ...]:
    """The stages that keep a promise by themselves."""
    asked = made_promise(promise)
    return tuple(name for name in catalogue.STAGES if isinstance(asked, registry.load_stage_class(name).can_keep))


@cache
def pairs() -> list[Pair]:
    """Every registered method with every registered promise that it, or a stage before it, keeps."""
    found = []
    for method in catalogue.METHODS:
        for promise in catalogue.PROMISES:
            stages = kept_by(promise) if takes_stages(method) else ()
            if not keeps(method, promise) and not stages:
                continue
            lonely = (method, promise) in NOT_ALONE or not keeps(method, promise)
            found.append(Pair(method, promise, companion(method) if lonely else None, stages))
    return found


def companion(method: str) -> str:
    """The first promise about sensitive values that the method keeps."""
    return next(
        name
        for name in catalogue.PROMISES
        if keeps(method, name) and getattr(registry.load_promise_class(name), "needs_sensitive", False)
    )


def made_promise(name: str, **also: Any) -> Any:
    example = EXAMPLES[name]
    of = {"population": contract_examples.population()} if example.of_population else {}
    return registry.make_promise({"model": name, **example.parameters, **of, **also})


@dataclass
class Draft:
    """A job before it is one."""

    pair: Pair
    frame: pl.DataFrame
    columns: dict[str, Any]
    output: dict[str, Any] = field(default_factory=dict)
    stages: list[Any] = field(default_factory=list)
    jointly: bool = False
    named: bool = False  # whether promises say which column they are about
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)  # of the method or a promise, by its name

    @property
    def method_parameters(self) -> dict[str, Any]:
        """What makes the method quick, and its settings; a setting of None takes a parameter away."""
        given = {**QUICK.get(self.pair.method, {}), **self.settings.get(self.pair.method, {})}
        return {name: value for name, value in given.items() if value is not None}

    def job(self) -> rt.Job:
        pair = self.pair
        about = {
            name: {"column": pair.sensitive} if self.named and "column" in catalogue.PROMISES[name].parameters else {}
            for name in pair.promises
        }
        return rt.Job(
            columns=self.columns,
            promises=[made_promise(name, **{**about[name], **self.settings.get(name, {})}) for name in pair.promises],
            method=registry.make_method({"name": pair.method, **self.method_parameters}),
            prepare=self.stages,
            release=rt.Output(**self.output),
            jointly=self.jointly,
        )


def stage(draft: Draft) -> None:
    """Suppression before the method, on a table where one value dominates."""
    draft.frame = contract_examples.skewed()
    column = draft.pair.sensitive if draft.named else None
    draft.stages = [registry.make_stage({"name": "suppression", "l": 2, **({"column": column} if column else {})})]


def carry(draft: Draft) -> None:
    """Two carried columns; one says which source row a published row is."""
    rows = pl.Series("note", [f"{contract_examples.CANARY}-note-{row:04d}" for row in range(len(draft.frame))])
    visits = (pl.int_range(pl.len()) * 7 % 5).cast(pl.Int64).alias("visits")
    draft.frame = draft.frame.with_columns(rows, visits)
    draft.columns |= {"note": rt.insensitive(acknowledge=True), "visits": rt.insensitive()}


def lose_quasi(draft: Draft) -> None:
    """Every tenth age and every seventh city is missing."""
    row = pl.int_range(pl.len())
    draft.frame = draft.frame.with_columns(
        age=pl.when(row % 10 != 3).then("age"), city=pl.when(row % 7 != 2).then("city")
    )


def lose_sensitive(draft: Draft) -> None:
    """Some sensitive values are missing, and that is a category of its own."""
    from dataclasses import replace

    name = draft.pair.sensitive
    draft.frame = draft.frame.with_columns(pl.when(pl.int_range(pl.len()) % 12 != 5).then(name).alias(name))
    draft.columns[name] = replace(draft.columns[name], missing="category")


def lose_sensitive_unsaid(draft: Draft) -> None:
    """Some sensitive values are missing, and the job does not say what that means."""
    lose_sensitive(draft)
    from dataclasses import replace

    name = draft.pair.sensitive
    draft.columns[name] = replace(draft.columns[name], missing="refuse")


def withhold_quasi(draft: Draft) -> None:
    """Every tenth age and every seventh city is missing, and such rows are withheld."""
    lose_quasi(draft)
    from dataclasses import replace

    for name in ("age", "city"):
        draft.columns[name] = replace(draft.columns[name], missing="withhold")


def withhold_sensitive(draft: Draft) -> None:
    """Some sensitive values are missing, and such rows are withheld."""
    lose_sensitive(draft)
    from dataclasses import replace

    name = draft.pair.sensitive
    draft.columns[name] = replace(draft.columns[name], missing="withhold")


def withhold_surplus(draft: Draft) -> None:
    """Every twelfth person has two rows, of which one is withheld; the others have one."""
    names = [f"{contract_examples.CANARY}-name-{row - (row % 12 == 7):04d}" for row in range(len(draft.frame))]
    draft.frame = draft.frame.with_columns(name=pl.Series(names))
    draft.columns["name"] = rt.identifying(rows_per_person=1, beyond="withhold")


def recode_sensitive(draft: Draft) -> None:
    """Where the sensitive column is one of numbers, they are rounded and bounded."""
    from dataclasses import replace

    if draft.pair.sensitive == "wage":
        draft.columns["wage"] = replace(draft.columns["wage"], round_to=2000, bottom=2000, top=4000)


def recode_carried(draft: Draft) -> None:
    """A carried number is rounded and bounded, a carried date is bounded."""
    row = pl.int_range(pl.len())
    visits = (row * 7 % 50).cast(pl.Int64).alias("visits")
    seen = (pl.date(2020, 1, 1) + pl.duration(days=row % 40)).alias("seen")
    draft.frame = draft.frame.with_columns(visits, seen)
    draft.columns |= {
        "visits": rt.insensitive(round_to=5, bottom=10, top=40),
        "seen": rt.insensitive(top="2020-01-31", bottom="2020-01-05", acknowledge=True),
    }


def withhold(draft: Draft) -> None:
    """One row in ten may be withheld."""
    draft.output["suppress_at_most"] = 0.1


def limit_loss(draft: Draft) -> None:
    """Any loss is allowed, and the limit is stated."""
    draft.output["loss_at_most"] = 1


def repeat(draft: Draft) -> None:
    """Two rows for every person."""
    names = [f"{contract_examples.CANARY}-name-{row // 2:04d}" for row in range(len(draft.frame))]
    draft.frame = draft.frame.with_columns(name=pl.Series(names))
    draft.columns["name"] = rt.identifying(rows_per_person=2)


def several(draft: Draft) -> None:
    """Two sensitive columns; the promise is about one of them."""
    draft.columns |= {"illness": rt.sensitive(hierarchy=contract_examples.ILLNESS), "wage": rt.sensitive()}
    draft.named = True
    if draft.stages:
        stage(draft)


def together(draft: Draft) -> None:
    """Two sensitive columns, and the promise is about their combined values."""
    draft.columns |= {"illness": rt.sensitive(hierarchy=contract_examples.ILLNESS), "wage": rt.sensitive()}
    draft.jointly = True


def snap(draft: Draft) -> None:
    """Ages end on multiples of five."""
    draft.columns["age"] = rt.quasi(numeric=True, labels={"style": "snapped", "step": 5})


def pad(draft: Draft) -> None:
    """The ends of ages are moved by up to two years."""
    draft.columns["age"] = rt.quasi(numeric=True, labels={"style": "padded", "width": 2})


def as_csv(draft: Draft) -> None:
    draft.output["format"] = "csv"


def cut(draft: Draft) -> None:
    """Files of more than 17 rows are cut into parts; `small_parts` allows that."""
    draft.output["part_rows"] = 17


Turn = Callable[[Draft], None]


def drafted(pair: Pair, *turns: Turn) -> Draft:
    draft = Draft(pair, contract_examples.people(), contract_examples.columns(pair.sensitive))
    if pair.stages and stage not in turns:
        stage(draft)
    for turn in turns:
        turn(draft)
    return draft


@cache
def released(pair: Pair, *turns: Turn) -> tuple[rt.Release, pl.DataFrame, rt.Job]:
    """A release made once for all who look at it, the table it is of, and its job.  A refusal is not kept."""
    draft = drafted(pair, *turns)
    job = draft.job()
    return rt.publish(job, frame=draft.frame), draft.frame, job
