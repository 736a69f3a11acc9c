"""The features that every release has to have: each a function of a pair, which asserts that it works or lets a refusal through.

A feature is tested on every pair of a method and a promise, because it stands here; a pair, because it is registered.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from reticent.audit.groups import NEEDS_SOURCE
from reticent.check import check
from reticent.errors import BundleDamaged, PromiseUnreachable, RequestError
from tests.contract.refusals import expected
from tests.support import contract_examples, method_promise_pairs
from tests.support.method_promise_pairs import Pair, drafted, released
from tests.support.tampering import caught, changed_byte, foreign_value, kept_apart, planted, resealed

Run = Callable[[Pair, Path], None]


@dataclass(frozen=True)
class Feature:
    """`run` asserts that it works.  `turns` are those of the job that a feature publishes, None for one that only reads.

    `words` are what a refusal may name beside the pair's method, promises, kind and columns.
    """

    name: str
    run: Run
    words: tuple[str, ...] = ()
    turns: tuple[method_promise_pairs.Turn, ...] | None = None


def audited(release: rt.Release, pair: Pair, **how: Any) -> Any:
    of = contract_examples.EXAMPLES[pair.promise].of_population
    return rt.audit(release.folder, **({"population": contract_examples.population()} if of else {}), **how)


def assert_shown(found: Any) -> None:
    """Every promise is kept, or it is said why no file can show it, or that the source would."""
    assert found.kept is not False, str(found)
    assert all(one.kept or one.why or one.evidence == NEEDS_SOURCE for one in found.promises), str(found)


def assert_sound(release: rt.Release, frame: pl.DataFrame, pair: Pair, job: rt.Job | None = None) -> None:
    """Compared with its source, every row stands for one of its own, and nothing else of it is found."""
    found = audited(release, pair, source=frame, job=job)
    assert found.source.passed and not found.disagreements, str(found)
    assert_shown(found)


def stands_for(release: rt.Release) -> int:
    """How many people the published rows stand for: each for one, or all of a group together for the group."""
    frame = rt.open(release.folder).frame()
    if "G" not in frame.columns:
        return len(frame)
    labels = [column.name for column in release.manifest.find_columns_with_role("quasi-identifying")]
    return int(frame.group_by(labels).agg(pl.col("G").first())["G"].sum())


def assert_counted(release: rt.Release, frame: pl.DataFrame) -> None:
    assert len(rt.open(release.folder).frame()) == release.manifest.rows
    assert stands_for(release) == len(frame) - release.manifest.withheld


def published(name: str, *turns: method_promise_pairs.Turn, words: tuple[str, ...] = ()) -> Feature:
    """Publish with these turns, which audits the files; open the release, and audit it with its source."""

    def run(pair: Pair, folder: Path) -> None:
        release, frame, job = released(pair, *turns)
        assert_counted(release, frame)
        assert release.audited.kept is not False
        assert_sound(release, frame, pair, job)

    return Feature(name, run, words, turns)


def publish(pair: Pair, folder: Path) -> None:
    release, frame, _ = released(pair)
    assert release.audited.kept is not False
    assert_counted(release, frame)


def check_first(pair: Pair, folder: Path) -> None:
    draft = drafted(pair)
    assert check(draft.job(), frame=draft.frame, methods=[]).reachable


def audit(pair: Pair, folder: Path) -> None:
    release, _, job = released(pair)
    found = audited(release, pair, expect_digest=release.digest, job=job)
    assert_shown(found)
    assert not found.disagreements
    assert [verdict.model for verdict in found.promises] == [promise.name for promise in job.promises]
    with pytest.raises(BundleDamaged):
        audited(release, pair, expect_digest="0" * 64)


def audit_with_source(pair: Pair, folder: Path) -> None:
    release, frame, job = released(pair)
    assert_sound(release, frame, pair, job)
    other = frame.with_columns(age=pl.col("age") + 1)
    assert audited(release, pair, source=other).kept is False


def audit_further(pair: Pair, folder: Path) -> None:
    """A promise asked for beside the manifest's is judged: nobody is one of a million alike."""
    release, _, _ = released(pair)
    found = audited(release, pair, promises=[rt.KAnonymity(1_000_000)])
    assert found.promises[-1].kept is False and found.kept is False


def audit_population(pair: Pair, folder: Path) -> None:
    release, _, _ = released(pair)
    found = rt.audit(release.folder, population=contract_examples.population())
    assert found.risk.journalist is not None and found.risk.journalist.highest <= found.risk.prosecutor.highest


def one_byte(pair: Pair, folder: Path) -> None:
    """A byte of any file is another: damaged, with or without the source."""
    release, _, _ = released(pair)
    for name in sorted(path.name for path in release.folder.iterdir()):
        with pytest.raises(BundleDamaged):
            rt.audit(changed_byte(release, folder / name, name))


def untouched(pair: Pair, folder: Path) -> None:
    """Rows and manifest written once more, unchanged, pass: what is found below is the change, not the copy."""
    release, frame, job = released(pair)
    assert_sound(rt.open(resealed(release, folder)), frame, pair, job)


def one_value(role: str) -> Run:
    def run(pair: Pair, folder: Path) -> None:
        release, frame, _ = released(pair)
        assert caught(foreign_value(release, folder, role), frame)

    return run


def one_row(pair: Pair, folder: Path) -> None:
    release, frame, _ = released(pair)
    frames = dict(release.tables)
    first = next(iter(frames))
    assert caught(resealed(release, folder, frames | {first: frames[first].slice(1)}), frame)


def no_names(pair: Pair, folder: Path) -> None:
    """Nothing of the columns that identify a person stands in any byte of the release, in either format."""
    for turns in ((), (method_promise_pairs.as_csv,)):
        release, frame, _ = released(pair, *turns)
        assert not kept_apart(release) & set(frame["name"])


def no_withheld(pair: Pair, folder: Path) -> None:
    """Rows that a stage withheld leave nothing in any byte: each row's note is its own."""
    release, frame, _ = released(pair, method_promise_pairs.stage, method_promise_pairs.carry)
    assert release.manifest.withheld > 0
    secret = set(frame["note"]) - set(release.frame()["note"])
    assert len(secret) == release.manifest.withheld
    assert not kept_apart(release) & secret


def planted_name(pair: Pair, folder: Path) -> None:
    """A name hidden in a data file, its checksum made right: found with the source."""
    for number, turns in enumerate([(), (method_promise_pairs.as_csv,)]):
        release, frame, _ = released(pair, *turns)
        assert caught(planted(release, folder / str(number), frame["name"][7]), frame)


def order(pair: Pair, folder: Path) -> None:
    """Rows in the order of the source, though nothing printed says so: found with the source."""
    release, frame, _ = released(pair, method_promise_pairs.carry)
    first = next(name for name, table in release.tables.items() if "note" in table.columns)
    rows = release.tables[first].sort("note").drop("note")
    entries = [column.to_dict() for column in release.columns if column.name != "note"]
    forged = resealed(release, folder, dict(release.tables) | {first: rows}, columns=entries)
    assert caught(forged, frame)


def risk(pair: Pair, folder: Path) -> None:
    release, _, _ = released(pair)
    found = rt.risk(release)
    assert found.rows == stands_for(release) and 0 < found.prosecutor.average <= found.prosecutor.highest <= 1


def attack(name: str) -> Run:
    def run(pair: Pair, folder: Path) -> None:
        stages = (method_promise_pairs.stage,) if name in contract_examples.AFTER_A_STAGE else ()
        release, frame, _ = released(pair, *stages)
        source = {"source": frame} if catalogue.ATTACKS[name].needs_source else {}
        found = rt.attack(release, name=name, **source, **contract_examples.ATTACKED_WITH.get(name, {})).to_dict()
        assert found["attack"] == name and found["targets"] > 0
        assert 0 <= found["worst_posterior"] <= 1
        assert {"control", "control_low", "control_high", "low", "high"} <= set(found)

    return run


def bounds(pair: Pair, folder: Path) -> None:
    release, frame, _ = released(pair)
    found = release.frame(bounds=True)
    assert len(found) == release.manifest.rows
    assert (found["age_lower"] <= found["age_upper"]).all()
    assert found["age_lower"].min() == frame["age"].min() and found["age_upper"].max() == frame["age"].max()


def estimate(pair: Pair, folder: Path) -> None:
    release, _, _ = released(pair)
    answer = release.count(pl.col("age") < 40)
    assert 0 < answer.estimate < release.manifest.rows + release.manifest.withheld


def query(pair: Pair, folder: Path) -> None:
    release, _, _ = released(pair)
    rows = stands_for(release) + release.manifest.withheld
    count, mean = release.query("SELECT COUNT(*), AVG(age) FROM release WHERE age < 40 OR age >= 60")
    assert 0 <= count.lower <= count.estimate <= count.upper <= rows
    published = mean.published or mean  # of withheld ages nothing is known
    assert published.lower <= published.estimate <= published.upper
    assert (mean.lower is None) == bool(release.manifest.withheld)
    assert mean.certainty and mean.note.startswith(mean.certainty)  # what is certain and what is assumed comes first
    held = release.query(f'SELECT "{pair.sensitive}", COUNT(*) FROM release GROUP BY "{pair.sensitive}"')
    assert abs(sum(one.estimate for one in held) - rows) < 1e-6 * rows


def query_with(**options: Any) -> Run:
    """Ask for a count about both columns, which has to lie within its own bounds."""

    def run(pair: Pair, folder: Path) -> None:
        release, frame, _ = released(pair)
        value = frame[pair.sensitive].mode().min()
        asked = f"'{value}'" if isinstance(value, str) else value
        question = f'SELECT COUNT(*) FROM release WHERE age < 40 AND "{pair.sensitive}" = {asked}'
        answer = release.query(question, **options)
        assert answer.lower <= answer.estimate <= answer.upper
        assert answer.certainty and answer.note.startswith(answer.certainty)

    return run


def value_counts(pair: Pair, folder: Path) -> None:
    release, frame, _ = released(pair)
    found = release.value_counts(pair.sensitive)
    assert found["count"].sum() == release.manifest.rows
    assert set(found[pair.sensitive]) <= set(frame[pair.sensitive])


def database(pair: Pair, folder: Path) -> None:
    release, _, _ = released(pair)
    folder.mkdir()
    names = release.to_database(f"sqlite:///{folder / 'out.db'}", "people")
    with closing(sqlite3.connect(folder / "out.db")) as connection:
        rows = [connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names]
        manifest = connection.execute(f'SELECT manifest FROM "{names[-1]}"').fetchone()[0]
    assert rows == [*map(len, release.tables.values()), 1]
    assert manifest == (release.folder / "manifest.json").read_text(encoding="utf-8")


def saved(pair: Pair, folder: Path) -> None:
    release, _, _ = released(pair)
    folder.mkdir()
    target = release.save(folder / "out", again=True)
    assert rt.open(target).digest == release.digest


FEATURES = [
    Feature("publish, Parquet", publish, turns=()),
    published("publish, CSV", method_promise_pairs.as_csv),
    published("publish, in parts (part_rows)", method_promise_pairs.cut),
    Feature("check", check_first),
    Feature("audit", audit),
    Feature("audit with the source", audit_with_source),
    Feature("audit of a further promise", audit_further),
    Feature("audit and risk with a population", audit_population, ("population",)),
    Feature("one byte changed: found", one_byte),
    Feature("written again, unchanged: passes", untouched),
    Feature("a quasi-identifier changed, re-sealed: found", one_value("quasi-identifying")),
    Feature("a sensitive value changed, re-sealed: found", one_value("sensitive")),
    Feature("a row removed, re-sealed: found", one_row),
    Feature("identifying values: in no byte", no_names),
    Feature("withheld rows: in no byte", no_withheld),
    Feature("a name planted in a file: found", planted_name),
    Feature("rows in source order, re-sealed: found", order),
    Feature("risk", risk),
    *(Feature(f"attack {name}", attack(name), ("attack", "counts")) for name in catalogue.ATTACKS),
    Feature("frame(bounds=True)", bounds),
    Feature("count (an estimate)", estimate, ("condition",)),
    Feature("query (SQL)", query),
    Feature('query (SQL), by = "em"', query_with(by="em")),
    Feature('query (SQL), by = "shrunk"', query_with(by="shrunk"), ("shrunk",)),
    Feature('query (SQL), density = "even"', query_with(density="even"), ("density",)),
    Feature("value_counts", value_counts, ("counts",)),
    Feature("to_database, SQLite", database),
    Feature("save", saved),
    published("a stage before (suppression)", method_promise_pairs.stage, words=("stage",)),
    published("carried columns", method_promise_pairs.carry, words=("carried",)),
    published("missing quasi-identifiers", method_promise_pairs.lose_quasi, words=("missing",)),
    published("missing sensitive values, a category", method_promise_pairs.lose_sensitive, words=("missing",)),
    published("missing sensitive values, not declared", method_promise_pairs.lose_sensitive_unsaid, words=("missing",)),
    published(
        'missing quasi-identifiers, withheld (missing = "withhold")',
        method_promise_pairs.withhold_quasi,
        words=("missing",),
    ),
    published(
        'missing sensitive values, withheld (missing = "withhold")',
        method_promise_pairs.withhold_sensitive,
        words=("missing",),
    ),
    published(
        'surplus rows of a person, withheld (beyond = "withhold")',
        method_promise_pairs.withhold_surplus,
        words=("beyond",),
    ),
    published("withheld rows (suppress_at_most)", method_promise_pairs.withhold, words=("suppress_at_most",)),
    published("a limit of loss (loss_at_most)", method_promise_pairs.limit_loss, words=("loss_at_most",)),
    published(
        "sensitive numbers rounded and bounded (round_to, top, bottom)",
        method_promise_pairs.recode_sensitive,
        words=("wage",),
    ),
    published(
        "carried numbers and dates rounded and bounded (round_to, top, bottom)",
        method_promise_pairs.recode_carried,
        words=("carried", "carries"),
    ),
    published("labels snapped", method_promise_pairs.snap, words=("labels",)),
    published("labels padded", method_promise_pairs.pad, words=("labels",)),
    published("several rows per person", method_promise_pairs.repeat, words=("rows_per_person",)),
    published("several sensitive columns, each alone", method_promise_pairs.several, words=("sensitive column",)),
    published("several sensitive columns, jointly", method_promise_pairs.together, words=("sensitive column",)),
]


def cell(feature: Feature, pair: Pair, folder: Path) -> str | None:
    """What is wrong with a cell: it neither works nor is refused as declared."""
    wanted = expected(feature.name, pair)
    try:
        feature.run(pair, folder)
    except RequestError as error:
        return None if error.what == wanted else f"refused: {error.what}"
    except PromiseUnreachable as error:
        return f"the table of the contract is too small: {error.what}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return f"works, and was to be refused: {wanted}" if wanted else None
