"""What `stream` does on its own: ranks sorted on disk, rows shuffled by buckets, values counted by hashes, progress in words."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import factorial

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.check import check
from reticent.data import passthrough
from reticent.engines import external_sort, local, stream
from reticent.engines.engine import EngineContext, PassProgress
from reticent.engines.expansion import expand_rows
from reticent.engines.stream import FrequencyCounter
from reticent.errors import ColumnError, JobError, SourceError
from reticent.randomness import Random
from reticent.recipe.recipe import WITHHELD_GROUP, Recipe
from tests.support.release_comparison import in_pieces


def split_recipe(rows: int, quotas: list[tuple[int, int]]):
    """One cell of identical rows, shared among groups and withheld."""
    frame = pl.DataFrame({"age": [30] * rows, "illness": ["flu"] * rows, "note": list(range(rows))})
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "note": rt.insensitive()}
    counted = local.count_rows(frame.lazy(), columns)
    group = np.array([g for g, _ in quotas])
    quota = np.array([q for _, q in quotas])
    return counted, Recipe(counted.cells, np.zeros(len(quotas), np.int64), group, quota, 2), frame


def carried(found, recipe, rng, frame, folder):
    """(entry, note) of each published row, in the order of the release."""
    pieces = stream.ENGINE.apply(found, recipe, rng, frame.lazy(), None, EngineContext(make_temp_dir=lambda: folder))
    return [pair for piece in pieces for pair in zip(piece.entry, piece.carried["note"], strict=True)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=1, max_size=6), st.integers(0, 5))
def test_ranks_sorted_on_disk_are_those_of_sorting_everything(tmp_path_factory, quotas, seed):
    counts = np.array([sum(cell) for cell in quotas])
    draw = np.random.default_rng(seed)
    of_row = draw.permutation(np.repeat(np.arange(len(quotas)), counts))
    cells = local.count_rows(pl.LazyFrame({"q": [1], "s": ["x"]}), COLUMNS).cells
    recipe = Recipe(
        _with(cells, counts),
        np.repeat(np.arange(len(quotas)), [len(cell) for cell in quotas]),
        np.arange(sum(map(len, quotas))),
        np.concatenate(quotas),
        sum(map(len, quotas)),
    )
    folder = tmp_path_factory.mktemp("ranks")
    ranks = external_sort.RowRanker(recipe, Random.from_seed(seed), folder, bucket_rows=31)
    taken = np.concatenate([ranks.take(part) for part in np.array_split(of_row, 3)])
    ranks.settle()
    found = ranks.entries(taken)
    assert (found == local.assign_outcomes(recipe, of_row, Random.from_seed(seed))).all()


COLUMNS = {"q": rt.quasi(), "s": rt.sensitive()}


def _with(cells, counts):
    from dataclasses import replace

    many = len(counts)
    codes = np.zeros((many, 1), np.int32)
    values = np.zeros((many, 1), np.int32)
    return replace(cells, codes=codes, values=values, counts=counts)


def test_buckets_chosen_by_each_row_and_shuffled_are_a_uniform_permutation():
    """Enumerated: four rows, every choice among four buckets, every order within each."""
    rows = 4
    buckets = 4
    chance: Counter = Counter()
    for chosen in product(range(buckets), repeat=rows):
        held = [[row for row in range(rows) if chosen[row] == bucket] for bucket in range(buckets)]
        weight = Fraction(1, buckets**rows)
        for part in held:
            weight /= factorial(len(part))
        for orders in product(*(permutations(part) for part in held)):
            chance[tuple(row for part in orders for row in part)] += weight
    assert set(chance.values()) == {Fraction(1, factorial(rows))}
    assert len(chance) == factorial(rows)


def test_carried_rows_come_in_every_order_equally_often(tmp_path):
    rows = 4
    runs = 720
    counted, recipe, frame = split_recipe(rows, [(0, rows)])
    seen: Counter = Counter()
    with in_pieces(3):
        for seed in range(runs):
            seen[tuple(note for _, note in carried(counted, recipe, Random.from_seed(seed), frame, tmp_path))] += 1
    expected = runs / factorial(rows)
    square = sum((count - expected) ** 2 / expected for count in seen.values())
    assert len(seen) == factorial(rows)
    assert square < 60, "chi-square with 23 degrees of freedom: 60 is exceeded once in 30,000"


def test_which_of_identical_rows_is_chosen_is_uniform(tmp_path):
    rows = 10
    runs = 600
    counted, recipe, frame = split_recipe(rows, [(0, 3), (1, 5), (WITHHELD_GROUP, 2)])
    chosen = np.zeros((rows, 2))
    with in_pieces(4):
        for seed in range(runs):
            found = carried(counted, recipe, Random.from_seed(seed), frame, tmp_path)
            assert len(found) == 8
            for entry, note in found:
                chosen[note, entry] += 1
    for group, share in ((0, 0.3), (1, 0.5)):
        assert np.abs(chosen[:, group] - runs * share).max() < 5 * np.sqrt(runs * share * (1 - share))


def test_expanded_rows_come_in_every_order_equally_often():
    _, recipe, _ = split_recipe(6, [(0, 4), (1, 2)])
    seen: Counter = Counter()
    runs = 3000
    for seed in range(runs):
        pieces = expand_rows(recipe, Random.from_seed(seed), batch_rows=2, max_shuffled_rows=50)
        seen[tuple(int(entry) for piece in pieces for entry in piece.entry)] += 1
    expected = runs / 15
    assert len(seen) == 15
    assert sum((count - expected) ** 2 / expected for count in seen.values()) < 45, "14 degrees of freedom"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 12), st.integers(0, 1000)), max_size=200), st.integers(1, 50))
def test_values_counted_by_their_hashes_are_counted_as_in_memory(tmp_path_factory, values, rows):
    frame = pl.DataFrame({"person": pl.Series(values, dtype=pl.Int64), "note": pl.Series(values).cast(pl.String)})
    columns = {"person": rt.identifying(), "note": rt.insensitive(acknowledge=True)}
    room = EngineContext(make_temp_dir=lambda: tmp_path_factory.mktemp("looked"))
    with in_pieces(rows):
        assert stream.ENGINE.profile_columns(frame.lazy(), columns, room) == passthrough.profile_columns(
            frame.lazy(), columns
        )


def test_a_person_with_more_rows_than_is_declared_is_refused_from_the_disk_too(tmp_path):
    frame = pl.DataFrame({"person": [*range(300), 7, 7]})
    with in_pieces(), pytest.raises(ColumnError, match="and one has 3"):
        stream.ENGINE.profile_columns(
            frame.lazy(), {"person": rt.identifying(rows_per_person=2)}, EngineContext(make_temp_dir=lambda: tmp_path)
        )


def test_few_values_take_no_folder():
    one = FrequencyCounter(lambda: pytest.fail("a folder was asked for"))
    one.add(pl.Series(["a", "b", None, "a"]))
    found = one.get_result()
    assert (found.missing, found.distinct, found.once, found.max_count) == (1, 2, 1, 2)


def test_progress_tells_rows_and_the_time_that_is_left():
    said = []
    now = iter([0.0, 1.0, 10.0, 11.0, 3000.0])
    pace = PassProgress("writing", 1_000, said.append, lambda: next(now))
    for _ in range(4):
        pace.add(100)
    assert said == [
        "writing: 200 of 1,000 rows, about 40 s left",
        "writing: 400 of 1,000 rows, about 1.2 h left",
    ]
    said.clear()
    uncounted = PassProgress("counting", None, said.append, iter([0.0, 9.0]).__next__)
    uncounted.add(5_000)
    assert said == ["counting: 5,000 rows"]


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("change", ["a row more", "a row less", "a value that was not there", "another value"])
def test_a_source_that_changes_while_it_is_published_is_refused(engine, change, table, carrying, tmp_path):
    path = tmp_path / "people.parquet"
    table.write_parquet(path)
    other = {
        "a row more": pl.concat([table, table[:1]]),
        "a row less": table[1:],
        "a value that was not there": table.with_columns(age=pl.Series([99, *table["age"][1:]])),
        "another value": table.with_columns(age=pl.Series([table["age"][0] ^ 1, *table["age"][1:]])),
    }[change]

    def rewritten(stage: str) -> None:
        if stage == "writing":
            other.write_parquet(path)

    with in_pieces(), pytest.raises(SourceError, match="changed while it was published"):
        rt.publish(carrying.at(source=str(path)), to=tmp_path / "out", engine=engine, progress=rewritten)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["people.parquet"]


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("form", ["a file", "a folder"])
def test_carried_values_that_change_while_they_are_published_are_refused_though_every_cell_is_the_same(
    engine, form, table, carrying, tmp_path
):
    path = tmp_path / "in" / "people.csv"
    path.parent.mkdir()
    table.with_columns(note=pl.lit("x")).write_csv(path)

    def rewritten(stage: str) -> None:
        if stage == "writing":
            table.write_csv(path)  # names, where nothing near-unique was

    job = carrying.at(source=str(path if form == "a file" else path.parent))
    with in_pieces(), pytest.raises(SourceError, match="changed while it was published"):
        rt.publish(job, to=tmp_path / "out", ledger=tmp_path / "ledger", engine=engine, progress=rewritten)
    assert {entry.name for entry in tmp_path.iterdir()} <= {"in", "ledger"}


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_a_source_that_vanishes_while_it_is_published_is_refused(engine, table, carrying, tmp_path):
    path = tmp_path / "people.parquet"
    table.write_parquet(path)

    def gone(stage: str) -> None:
        if stage == "writing":
            path.unlink()

    with pytest.raises(SourceError, match="or is gone"):
        rt.publish(carrying.at(source=str(path)), to=tmp_path / "out", engine=engine, progress=gone)
    assert not list(tmp_path.iterdir())


def test_stream_reads_a_csv_and_writes_one(table, carrying, tmp_path):
    table.write_csv(tmp_path / "people.csv")
    job = carrying.at(source=str(tmp_path / "people.csv"), release=rt.Output(format="csv"))
    with in_pieces():
        one = rt.publish(job, seed=1)
        other = rt.publish(job, seed=1, engine="stream")
    assert Counter(one.frame().rows()) == Counter(other.frame().rows())


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_a_release_may_be_in_a_place_of_any_name(engine, table, carrying, tmp_path):
    with in_pieces():
        place = tmp_path / "a [1]*" / "day=1 {2}"
        place.parent.mkdir()
        rt.publish(carrying, frame=table, to=place, ledger=tmp_path / "ledger", engine=engine)
        assert rt.audit(place, source=table).kept and len(rt.open(place).frame()) == len(table)


def test_an_engine_that_is_not_known_is_named_with_those_that_are(table, job):
    with pytest.raises(JobError, match="Unknown engine 'spork'"):
        rt.publish(job, frame=table, engine="spork")


@pytest.mark.parametrize("method", ["mondrian", "anatomy", "beta-perturbation"])
def test_a_large_file_is_audited_a_part_at_a_time_with_the_same_evidence(method, tmp_path):
    from tests.support import method_promise_pairs

    pair = next(pair for pair in method_promise_pairs.pairs() if pair.method == method and not pair.stages)
    draft = method_promise_pairs.drafted(pair, method_promise_pairs.carry, method_promise_pairs.lose_quasi)
    release = rt.publish(draft.job(), frame=draft.frame, to=tmp_path / "release")
    whole = rt.audit(tmp_path / "release").to_dict()
    with in_pieces():
        parts = rt.audit(tmp_path / "release").to_dict()
    assert [entry["column"] for entry in whole["carried"]] == ["note", "visits"]
    for one, other in zip(whole.pop("carried"), parts.pop("carried"), strict=True):
        assert one.pop("association") == pytest.approx(other.pop("association"))
        assert one == other
    assert whole == parts
    assert release.audited.kept is not False


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_batches_are_the_same_by_every_engine_and_stream_reads_none_of_them_whole(
    engine, table, job, tmp_path, monkeypatch
):
    path = tmp_path / "people.parquet"
    table.with_columns(day=pl.int_range(pl.len()) % 3).write_parquet(path)
    wanted = job.at(source=str(path), release=rt.Output(undeclared="drop"))
    if engine == "stream":
        monkeypatch.setattr(local.LocalEngine, "cache", lambda *given: pytest.fail("the rows were read whole"))
    with in_pieces():
        found = rt.publish_batches(wanted, "day", tmp_path / engine, seed=4, engine=engine, ledger=tmp_path / "ledger")
    assert [one["source_rows"] for one in found["batches"]] == [200, 200, 200]
    for day in range(3):
        alone = rt.publish(wanted, frame=table.filter(pl.int_range(pl.len()) % 3 == day), seed=4 + day)
        assert Counter(rt.open(tmp_path / engine / str(day)).frame().rows()) == Counter(alone.frame().rows())


def test_batches_of_a_source_that_changes_meanwhile_end_before_the_next_one(table, job, tmp_path):
    path = tmp_path / "people.csv"
    table.with_columns(day=pl.int_range(pl.len()) % 2).write_csv(path)

    def grown(stage: str) -> None:
        if stage == "batch 2 of 2":
            path.write_text(path.read_text() + path.read_text().split("\n", 1)[1])

    wanted = job.at(source=str(path), release=rt.Output(undeclared="drop"))
    for engine in ("local", "stream"):
        how = {"engine": engine, "ledger": tmp_path / f"ledger {engine}", "progress": grown}
        if engine == "local":  # which holds them
            found = rt.publish_batches(wanted, "day", tmp_path / engine, **how)
            assert [one["rows"] for one in found["batches"]] == [300, 300]
            continue
        with pytest.raises(SourceError, match="changed while it was published"):
            rt.publish_batches(wanted, "day", tmp_path / engine, **how)
        assert not (tmp_path / engine / "1").exists()


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("dtype", [pl.Datetime("ns"), pl.Datetime("ns", "UTC"), pl.Time, pl.Duration("ns")])
def test_batches_by_moments_that_differ_by_nanoseconds_hold_their_own_rows_only(engine, dtype, table, job, tmp_path):
    moments = pl.Series("day", [at % 2 for at in range(len(table))]).cast(pl.Int64).cast(dtype)
    wanted = job.at(release=rt.Output(undeclared="drop"))
    how = {"frame": table.with_columns(moments), "engine": engine, "ledger": tmp_path / "ledger"}
    found = rt.publish_batches(wanted, "day", tmp_path / "out", **how)
    assert [(one["source_rows"], one["rows"]) for one in found["batches"]] == [(300, 300), (300, 300)]


KINDS = {
    "small": pl.Int8, "large": pl.UInt64, "half": pl.Float32, "exact": pl.Decimal(12, 3), "kind": pl.Categorical,
    "listed": pl.Enum(["0", "1", "2"]), "yes": pl.Boolean, "day": pl.Date, "moment": pl.Datetime("ns"),
    "zoned": pl.Datetime("us", "UTC"), "hour": pl.Time, "nothing": pl.Null, "0": pl.String,
}  # fmt: skip


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_carried_columns_of_every_type_come_back_from_the_disk_as_they_were(format, table):
    number = pl.int_range(pl.len()) % 3
    whole = {"kind": number.cast(pl.String), "listed": number.cast(pl.String), "nothing": pl.lit(None)}
    made = [whole.get(name, number).cast(kind).alias(name) for name, kind in KINDS.items() if kind != pl.Time]
    made += [number.cast(pl.Int64).cast(pl.Time).alias("hour")]
    frame = table.drop("person", "note").with_columns(made)
    columns = {"age": rt.quasi(), "city": rt.quasi(), "illness": rt.sensitive()}
    columns |= {name: rt.insensitive(acknowledge=True) for name in KINDS}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5)], release=rt.Output(format=format))
    with in_pieces():
        one = rt.publish(job, frame=frame, seed=1)
        other = rt.publish(job, frame=frame, seed=1, engine="stream")
    assert one.frame().schema == other.frame().schema
    assert Counter(one.frame().rows()) == Counter(other.frame().rows())


def test_counting_and_checking_say_the_same_by_stream(table, carrying):
    with in_pieces():
        one, other = (rt.count(carrying, frame=table, engine=engine) for engine in ("local", "stream"))
        said = [check(carrying, frame=table, methods=[], budget=1e9, engine=engine) for engine in ("local", "stream")]
    assert (one.codes == other.codes).all() and (one.counts == other.counts).all()
    assert said[0].to_dict() == said[1].to_dict()
