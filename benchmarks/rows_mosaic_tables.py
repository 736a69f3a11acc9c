"""Mosaic's loss against loss-guided Mondrian's on the common work, and on two tables that nothing was tuned on.

The tables lie outside the repository (`../shared`); without them there are no rows.  Both methods plan on the same cells in one
process; a row says how many CPU seconds mosaic took, which are scaled by the row `machine`, and what the ratio would be to a
Mondrian that takes the best cut without trying a few one level ahead, which ours does at the top for all but sizes.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.measure import measure
from benchmarks.row import Row
from benchmarks.rows_mosaic_work import SHARED, factor, work

PLAN = """
from reticent.methods.mosaic.kernel_tables import make_loss_space
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels
given = Promises.from_iterable([{"k": rt.KAnonymity(5), "beta": rt.BetaLikeness(4), "t": rt.TCloseness("0.2")}[promise]])
def loss(method):
    recipe, _ = merge_equal_labels(method.plan(cells, given, Random.from_seed(1)))
    assert given.bind(cells).allow(recipe.as_groups()).all()
    lower, upper = recipe.find_spans()
    return float((make_loss_space(cells).compute_loss_per_row(lower, upper) * recipe.as_groups().sizes).sum() / cells.rows)
began = time.process_time()
ours = loss(rt.Mosaic(effort=effort, threads=1))
value = {"ours": ours, "cpu": time.process_time() - began, "theirs": loss(rt.Mondrian(cuts="loss"))}
from reticent.methods.mondrian import method
method.LOOK_AHEAD_AT_FIRST = method.LOOK_AHEAD_NEVER
value["greedy"] = loss(rt.Mondrian(cuts="loss"))
"""
COUNT = """
import time
import polars as pl, reticent as rt
from reticent.engines import local
"""
OF_WORK = (
    COUNT
    + """
import importlib.util
spec = importlib.util.spec_from_file_location("judge", judge)
module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
meta, source, trees = module.load(work, table)
columns = {q: rt.quasi(numeric=True) if q in meta["numeric"] else rt.quasi(hierarchy=trees[q]) for q in meta["qi"]}
columns |= {meta["sensitive"]: rt.sensitive(type="categorical")}
cells = local.count(pl.from_pandas(source).lazy().select(list(columns)), columns).cells
"""
)
OF_DATA = (
    COUNT
    + """
frame = pl.scan_parquet(path).select([*numbers, *labels, sensitive])
frame = frame.with_columns(pl.col(numbers).cast(pl.Float64, strict=False), pl.col([*labels, sensitive]).cast(pl.String)).drop_nulls()
columns = {q: rt.quasi(numeric=True) for q in numbers} | {q: rt.quasi() for q in labels} | {sensitive: rt.sensitive()}
cells = local.count(frame, columns).cells
"""
)
DATA = {
    "time use": {
        "path": str(SHARED / "data/atus_2003_2016.parquet"),
        "numbers": ["age", "hh_size"],
        "labels": ["sex", "state", "edu", "race", "marital"],
        "sensitive": "occup_code",
    },
    "deaths": {
        "path": str(SHARED / "data/nchs_mortality2006_sample.parquet"),
        "numbers": ["age"],
        "labels": ["Sex", "Race", "MaritalStatus", "PlaceOfDeath", "HispanicOrigin"],
        "sensitive": "CauseRecord39",
    },
}


def against_mondrian(table: str, promise: str, seconds: float) -> Callable[[], Row]:
    def row() -> Row:
        given = {"promise": promise, "effort": seconds * factor()}
        if table in DATA:
            setup = OF_DATA
            given = given | DATA[table]
        else:
            setup = OF_WORK
            given |= {"judge": str(SHARED / "bench/loss.py"), "work": str(work()), "table": table}
        found = measure(PLAN, setup=setup, given=given, runs=0).value
        note = f"{found['cpu']:.1f} CPU s; {found['ours'] / found['greedy']:.2f} of one that does not look ahead"
        return Row(
            ours=found["ours"], reference=found["theirs"], against="mondrian(cuts='loss')", unit="loss", note=note
        )

    return row


ROWS = [
    (f"mosaic against Mondrian, {table}: {promise}, {seconds} s", against_mondrian(table, promise, seconds))
    for table, efforts in (
        ("adult30k", {"k": (1, 3), "beta": (1, 3)}),
        ("acs100k", {"k": (1.5, 3), "beta": (2, 6)}),
        ("acs265k", {"k": (2, 6), "beta": (6, 18)}),
        ("acs500k", {"k": (0.5,), "beta": (4, 12)}),
        ("time use", {"k": (1.5, 3), "beta": (2, 6, 20), "t": (5, 20)}),
        ("deaths", {"k": (1.5, 3), "beta": (6, 20), "t": (5, 20)}),
    )
    for promise, several in efforts.items()
    for seconds in several
    if SHARED.is_dir()
]
