"""Each attack on a release of 500,000 people, with its control, against publishing the release: at most ten times as long.

An attack that samples says of how many people in the note: `linkability` tries 2,000, `definetti` learns from the groups of 30,000
combinations, controls of others are those of 50,000 combinations, `singling-out` at most 200,000 ends of a column,
`minimality` deals values anew 24 times.  `similarity` needs a sensitive hierarchy, `corruption`, `eligibility` and `algorithm` need other
kinds of releases or a stage; they are not here.
"""

from __future__ import annotations

from functools import cache, partial

from benchmarks.data import census_file
from benchmarks.measure import Cost, measure
from benchmarks.row import Row

SIZE = 500_000
ATTACKS = ("naive-bayes", "definetti", "skewness", "background", "singling-out", "linkability", "inference", "downcoding",
           "overlap", "composition", "minimality")  # fmt: skip
SETUP = """
import tempfile
from pathlib import Path
import reticent as rt
quasi = ("age", "gender", "education", "marital_status", "work_class")
job = rt.Job(source=source, columns={name: rt.quasi() for name in quasi} | {"salary_class": rt.sensitive()},
             promises=[rt.BetaLikeness(4)], method=rt.Mosaic(effort="quick") if overlapping else rt.Mondrian(),
             release=rt.Output(undeclared="drop"))
"""
RELEASED = """
place = Path(tempfile.mkdtemp())
rt.publish(job, to=place / "release", seed=0, ledger=place / "ledger")
given = {"background": {"bandwidth": "0.3", "t": "0.2"}}.get(attack, {})
if attack == "composition":
    second = job.at(method=rt.Mondrian(weights={"age": 3}))
    rt.publish(second, to=place / "second", seed=0, ledger=place / "other")
    given = {"joined": [place / "second"], "force_join": True}
"""
PUBLISH = 'rt.publish(job, to=scratch / "release", seed=0, ledger=scratch / "ledger")'
ATTACK = """
found = rt.attack(place / "release", source, attack, **given).to_dict()
value = [found["targets"], found["success"], found["control"], found.get("how", "")]
"""


@cache
def published(overlapping: bool) -> Cost:
    return measure(PUBLISH, setup=SETUP, given={"source": str(census_file(SIZE)), "overlapping": overlapping}, runs=1)


def attacked(attack: str) -> Row:
    overlapping = attack == "overlap"
    given = {"source": str(census_file(SIZE)), "overlapping": overlapping, "attack": attack}
    cost = measure(ATTACK, setup=SETUP + RELEASED, given=given, runs=0)
    targets, success, control, how = cost.value  # type: ignore[misc]  # what ATTACK left
    beside = "left out" if control is None else f"{control:.3f}"
    note = f"{targets:,} targets, {success:.3f}, control {beside}{', ' if how else ''}{how}"
    return Row(ours=cost.cpu, reference=published(overlapping).cpu, against="publishing it", at_most=10, note=note)


ROWS = [(f"attack {attack}, 500k census", partial(attacked, attack)) for attack in ATTACKS]
