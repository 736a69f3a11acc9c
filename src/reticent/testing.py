"""Our contract as functions, for tests of a plugin (docs/plugins.md) and for our own.

    from reticent.testing import check_method

    def test_fast_is_a_method():
        check_method("acme:fast")

Each function tries one method, promise, attack or kind on random tables that are the same in every run, and raises
`ContractBroken`, an AssertionError, with the law that does not hold. What is counted here is counted by dictionaries
and loops of this file, slowly: it shares nothing with methods, promises or the audit, which it holds against each
other.

`check_method`: its releases conserve rows, hold what was promised by this file's count, pass our audit with their
source, and do not depend on the order of rows; it says that a promise is unreachable only where the whole table breaks
it. `check_promise`: its class and its judge agree on random groups, and with an oracle where one is passed; a union of
groups that keep it keeps it, where it says so. `check_attack`: on a release of each kind it reports figures that can
be, or refuses with advice. `check_kind`: its releases are opened and audited, and one that was changed is refused.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.attacks import attack as run_attack
from reticent.audit.audit import audit
from reticent.data.cells import COUNT_COLUMN, Cells, encode_cells
from reticent.data.columns import Column, quasi
from reticent.errors import AuditFailed, BundleDamaged, PromiseUnreachable, RequestError
from reticent.job.job import Job, resolve_method, resolve_promises
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.k_anonymity import KAnonymity
from reticent.models.l_diversity import ProbabilisticLDiversity
from reticent.models.promise import (
    CandidateGroups,
    CountCappedPromise,
    GroupCheckedPromise,
    MechanismPromise,
    Promises,
)
from reticent.plugins import is_plugin_name, load_plugin
from reticent.publish import publish

TABLES = 12
"""How many random tables a method is tried on."""
GROUP_SETS = 40
"""How many sets of random groups a promise is tried on."""
VALUES = ("s0", "s1", "s2", "s3", "s4")
HIERARCHY = [["s0", "a", "*"], ["s1", "a", "*"], ["s2", "b", "*"], ["s3", "b", "*"], ["s4", "c", "*"]]
COLUMNS = {"age": "quasi-identifying", "city": "quasi-identifying", "illness": "sensitive"}
Oracle = Callable[..., bool]
"""Called with groups (for each a table of values and counts) and the promise's parameters; tells whether it is kept."""


class ContractBroken(AssertionError):
    """A law of the contract does not hold; the message says which, and where it was tried."""


def check_method(
    method: Any,
    *,
    promises: Iterable[Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    frames: Iterable[pl.DataFrame] | None = None,
) -> None:
    """Hold a method to the contract: its name, its table as in a job file, or the object.

    `promises` are tried one by one; without them k-anonymity and l-diversity, as far as the method keeps them. `frames`
    with their `columns` (roles, as a job has them) replace the random tables. Raises `ContractBroken`.
    """
    tried = resolve_method(method)
    _require(tried.kind in catalogue.KINDS, f"{tried.name} makes a kind that is not known: {tried.kind!r}")
    _require(
        not is_plugin_name(tried.name) or load_plugin("methods", tried.name).kind == tried.kind,
        f"{tried.name}: its row names another kind",
    )
    own_promises = [KAnonymity(3), ProbabilisticLDiversity(2)] if promises is None else list(resolve_promises(promises))
    kept_promises = [promise for promise in own_promises if isinstance(promise, tried.keeps)]
    _require(bool(kept_promises), f"{tried.name} keeps none of the promises that it is tried with")
    roles = COLUMNS if columns is None else columns
    tables = [make_random_table(seed) for seed in range(TABLES)] if frames is None else list(frames)
    published = 0
    for number, frame in enumerate(tables):
        for promise in kept_promises:
            where = f"{tried.name} with {promise.name}, table {number}"
            job = Job(columns=roles, promises=[promise], method=tried)
            published += _check_publication(job, frame, where)
    _require(published > 0, f"{tried.name} published none of {len(tables)} tables")


def check_promise(promise: Any, *, oracle: Oracle | None = None) -> None:
    """Hold a promise to the contract: the object, or its table as in a job file. Raises `ContractBroken`."""
    (tried,) = resolve_promises(promise)
    shapes = [
        shape for shape in (CountCappedPromise, GroupCheckedPromise, MechanismPromise) if isinstance(tried, shape)
    ]
    _require(len(shapes) == 1, f"{tried.name} has {len(shapes)} shapes of a promise, and must have one")
    _require(
        shapes[0] is not MechanismPromise,
        f"{tried.name} is about a mechanism: groups alone do not show it, and are not tried here",
    )
    parameters = _list_parameters(tried)
    outcomes = Counter[bool]()
    for seed in range(GROUP_SETS):
        groups = make_random_groups(seed)
        cells = make_cells_of_groups(groups)
        by_group = judge_groups([tried], cells)
        by_class = bool(by_group.all())
        outcomes[by_class] += 1
        verdict = audit(_make_frame(groups), quasi=["g"], sensitive=["s"], promises=[tried]).promises[-1]
        where = f"{tried.name} on random groups {seed}"
        _require(verdict.kept is by_class, f"{where}: planning says {by_class}, the judge says {verdict.kept}")
        if oracle is not None:
            _require(
                bool(oracle(groups, **parameters)) is by_class,
                f"{where}: planning says {by_class}, the oracle does not",
            )
        if getattr(tried, "union_closed", False):
            _check_unions(tried, cells, by_group, random.Random(seed), where)
    _require(
        len(outcomes) == 2,
        f"{tried.name} is {'kept' if outcomes[True] else 'broken'} by all of {GROUP_SETS} sets of groups: nothing was shown",
    )


def check_attack(name: str, *, options: Mapping[str, Any] | None = None) -> None:
    """Hold an attack to the contract, with its options if some are passed. Raises `ContractBroken`."""
    tried = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, (job, frame) in _make_example_jobs().items():
            release = publish(
                job, frame=frame, to=Path(folder) / kind, seed=1, again=True, ledger=Path(folder) / "ledger"
            )
            try:
                outcomes = [run_attack(release, frame, name, **(options or {})).to_dict() for _ in range(2)]
            except RequestError as refusal:
                _require(
                    bool(refusal.attempt or refusal.why),
                    f"{name} refuses a {kind} release without saying why or what to try",
                )
                continue
            tried += 1
            _check_outcome(name, outcomes, f"{name} on a {kind} release")
    _require(tried > 0, f"{name} attacks no kind of release")


def check_kind(kind: str, *, method: Any = None, promise: Any = None) -> None:
    """Hold a release kind to the contract, by a method that makes it. Raises `ContractBroken`."""
    _require(catalogue.KINDS.find(kind) is not None, f"There is no release kind {kind!r}")
    job, frame = _make_example_jobs().get(kind) or _make_example_jobs()[catalogue.PLAIN_TABLE_KIND]
    if method is not None:
        job = replace(job, method=method, **({} if promise is None else {"promises": promise}))
    _require(job.method.kind == kind, f"{job.method.name} makes no {kind} release")
    with tempfile.TemporaryDirectory() as folder:
        release = publish(
            job, frame=frame, to=Path(folder) / "release", seed=1, again=True, ledger=Path(folder) / "ledger"
        )
        _require(audit(release, source=frame).kept is not False, f"A {kind} release is not what its source says")
        for path in sorted(release.folder.iterdir()):
            changed = Path(folder) / "changed"
            shutil.copytree(release.folder, changed)
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            (changed / path.name).write_bytes(content)
            try:
                audit(changed)
            except BundleDamaged:
                shutil.rmtree(changed)
                continue
            raise ContractBroken(f"A {kind} release with a changed {path.name} was not refused.")


def make_random_table(seed: int, rows: int = 60) -> pl.DataFrame:
    """Make a table of people, the same for the same seed, with the columns `COLUMNS`."""
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [draw.randint(20, 40) for _ in range(rows)],
            "city": [draw.choice(["Ulm", "Bonn", "Kiel", "Jena"]) for _ in range(rows)],
            "illness": [draw.choice(["flu", "flu", "cold", "gout", "mumps"]) for _ in range(rows)],
        }
    )


def make_random_groups(seed: int, count: int = 6) -> list[dict[str, int]]:
    """Make groups of values and counts; those of every other seed are large and look like one another."""
    draw = random.Random(seed)
    if seed % 2:
        return [{value: draw.randint(4, 7) for value in VALUES} for _ in range(count)]
    return [
        {value: draw.randint(1, 6) for value in draw.sample(VALUES, draw.randint(1, len(VALUES)))} for _ in range(count)
    ]


def make_cells_of_groups(groups: Sequence[Mapping[Any, int]], tree: Sequence[Sequence[str]] = HIERARCHY) -> Cells:
    """Make cells of one quasi-identifier `g`, the group's number, and one sensitive column `s`."""
    entries = [(g, value, count) for g, group in enumerate(groups) for value, count in group.items() if count]
    counted = pl.DataFrame(entries, schema={"g": pl.Int64, "s": pl.String, COUNT_COLUMN: pl.Int64}, orient="row")
    columns = {"g": quasi(), "s": Column("sensitive", hierarchy=tree, missing="category")}
    return encode_cells(counted, columns)[0]


def make_numbered_groups(cells: Cells, number: np.ndarray) -> CandidateGroups:
    """Make groups of whole cells: `number` is each cell's group, from 0 on."""
    order = np.argsort(number, kind="stable")
    sizes = np.bincount(number)
    return CandidateGroups(cells, order, cells.counts[order], np.append(0, np.cumsum(sizes)))


def judge_groups(promises: Sequence[Any], cells: Cells, number: np.ndarray | None = None) -> np.ndarray:
    """Tell which groups keep the promises, by their classes; groups are those of `g` unless numbered otherwise."""
    number = cells.codes[:, 0].astype(np.int64) if number is None else number
    return Promises.from_iterable(promises).bind(cells).allow(make_numbered_groups(cells, number))


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise ContractBroken(f"{sentence}.")


def _check_publication(job: Job, frame: pl.DataFrame, where: str) -> bool:
    """Publish a table and check the release; tell whether it could be published."""
    (promise,) = job.promises
    names = {
        role: [name for name, column in job.columns.items() if column.role == role]
        for role in ("quasi-identifying", "sensitive")
    }
    try:
        release = publish(job, frame=frame, seed=1)
    except PromiseUnreachable:
        groups = [Counter(frame[names["sensitive"][0]].to_list())]
        _require(not _is_kept(promise, groups), f"{where}: said to be unreachable, and the whole table keeps it")
        return False
    except AuditFailed as refusal:
        raise ContractBroken(f"{where}: the audit before publishing says: {refusal.what}") from None
    result = audit(release.folder, source=frame, job=job)
    _require(result.kept is not False, f"{where}: the audit says {result.verdict}")
    _require(
        release.manifest.rows + release.manifest.withheld >= len(frame) or job.method.kind == "sampled",
        f"{where}: rows were lost",
    )
    if job.method.kind != "generalized":
        return True
    rows = release.frame()
    sensitive = names["sensitive"][0]
    if not release.manifest.withheld:
        _require(
            Counter(rows[sensitive].to_list()) == Counter(frame[sensitive].to_list()),
            f"{where}: sensitive values are not those of the source",
        )
    groups_by_label: dict[tuple[Any, ...], Counter[Any]] = {}
    for row in rows.iter_rows(named=True):
        groups_by_label.setdefault(tuple(row[name] for name in names["quasi-identifying"]), Counter())[
            row[sensitive]
        ] += 1
    _require(_is_kept(promise, list(groups_by_label.values())), f"{where}: counted anew, the promise is broken")
    shuffled = publish(job, frame=frame.sample(fraction=1, shuffle=True, seed=7), seed=1).frame()
    _require(
        Counter(shuffled.select(rows.columns).rows()) == Counter(rows.rows()),
        f"{where}: the order of rows in the source changes what is published",
    )
    return True


def _is_kept(promise: Any, groups: Sequence[Mapping[Any, int]]) -> bool:
    """Tell whether groups keep a promise, by counting; of a promise that this file does not know, True."""
    if isinstance(promise, KAnonymity):
        return all(sum(group.values()) >= promise.k for group in groups)
    if isinstance(promise, ProbabilisticLDiversity):
        return all(max(group.values()) * promise.l <= sum(group.values()) for group in groups)
    return True


def _check_unions(promise: Any, cells: Cells, by_group: np.ndarray, draw: random.Random, where: str) -> None:
    """Check that unions of groups that keep the promise keep it."""
    fine = np.flatnonzero(by_group).tolist()
    if len(fine) < 2:
        return
    union = draw.sample(fine, draw.randint(2, len(fine)))
    number = np.where(np.isin(cells.codes[:, 0], union), 0, 1)
    if number.all() or not number.any():
        number = np.zeros(len(cells), np.int64)
    _require(bool(judge_groups([promise], cells, number)[0]), f"{where}: groups keep it and their union does not")


def _check_outcome(name: str, outcomes: Sequence[Mapping[str, Any]], where: str) -> None:
    """Check figures that every attack reports, and that the same attack reports the same."""
    first, second = outcomes
    try:
        _require(json.dumps(first) == json.dumps(second), f"{where}: two runs report different figures")
    except TypeError:
        raise ContractBroken(f"{where}: its outcome is not JSON.") from None
    _require(first.get("attack") == name, f"{where}: its outcome bears the name {first.get('attack')!r}")
    for figure in ("success", "low", "high", "baseline"):
        value = first.get(figure)
        _require(value is None or 0 <= value <= 1, f"{where}: {figure} is no share")


def _make_frame(groups: Sequence[Mapping[Any, int]]) -> pl.DataFrame:
    rows = [
        (f"g{number}", value)
        for number, group in enumerate(groups)
        for value, count in group.items()
        for _ in range(count)
    ]
    return pl.DataFrame(rows, schema={"g": pl.String, "s": pl.String}, orient="row")


def _make_example_jobs() -> dict[str, tuple[Job, pl.DataFrame]]:
    """Make a job and its table for each kind that a simple promise has."""
    frame = make_random_table(5, 120)
    return {
        "generalized": (Job(columns=COLUMNS, promises=[KAnonymity(4)]), frame),
        "anatomized": (Job(columns=COLUMNS, promises=[ProbabilisticLDiversity(2)], method="anatomy"), frame),
        "perturbed": (
            Job(columns=COLUMNS, promises=[BetaLikeness(2)], method="beta-perturbation"),
            frame,
        ),
    }


def _list_parameters(promise: Any) -> dict[str, Any]:
    return {field.name.removesuffix("_"): getattr(promise, field.name) for field in fields(promise)}
