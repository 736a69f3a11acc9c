"""What people wait for in their first week: one function for each row.

A hospital's export of 50,000 rows is drafted, checked, published and audited by the command line.  Of 40,000 visits with 901 codes, of
20,613 people, everything else that an owner asks of a release is measured against publishing it: the internal report, all attacks,
advice, and `check` with promises that take long, against its budget.
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
from functools import cache, partial
from pathlib import Path

from benchmarks.measure import ROOT, Cost, measure
from benchmarks.row import Row

SECONDS = 10 / 0.25  # 10 CPU s on a machine that sorts the columns below in 0.25
DEMO = 60.0  # CPU s, of whatever machine

MACHINE = """
import numpy as np
keys = tuple(np.random.default_rng(1).integers(0, 1000, (8, 500_000)))
"""
SETUP = """
import os, subprocess, sys, tempfile
from pathlib import Path
from tests.support.hospital import write
place = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
write(place / "hospital.csv")
os.environ["RETICENT_LEDGER"] = str(place / "ledger")  # not the ledger of who measures

def run(*words):
    command = [sys.executable, "-m", "reticent", *words]
    subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL, env=os.environ)

run("init", "hospital.csv")
if command == "audit":
    run("publish", "hospital.toml", "-o", "release")
"""
BODY = """
if command == "publish":
    run("publish", "hospital.toml", "-o", str(scratch / "release"), "--again")
elif command == "check":
    run("check", "hospital.toml")
else:
    run("audit", "release", "--source", "hospital.csv", "--job", "hospital.toml")
"""


@cache
def hospital(command: str) -> Cost:
    return measure(BODY, setup=SETUP, given={"command": command}, runs=1)


def machine() -> float:
    return measure("np.lexsort(keys)", setup=MACHINE).cpu


def publish() -> Row:
    against = "np.lexsort of 8 x 500k"
    return Row(ours=hospital("publish").cpu, reference=machine(), against=against, at_most=SECONDS)


def check() -> Row:
    return Row(ours=hospital("check").cpu, reference=hospital("publish").cpu, against="publishing it", at_most=3)


def audit() -> Row:
    return Row(ours=hospital("audit").cpu, reference=hospital("publish").cpu, against="publishing it", at_most=2)


ADMISSIONS = """
import numpy as np
import polars as pl
import reticent as rt

rng, rows = np.random.default_rng(7), 50_000
moments = np.datetime64("2019-01-01T00:00:00") + rng.integers(0, 3 * 365 * 86_400, rows).astype("timedelta64[s]")
frame = pl.DataFrame({"admitted": moments.astype("datetime64[us]"), "age": rng.integers(0, 100, rows),
                      "illness": rng.choice(list("abcdefgh"), rows)}).with_columns(day=pl.col("admitted").dt.date())
columns = {"admitted": rt.identifying(), "day": rt.quasi(type="date"), "age": rt.quasi(numeric=True), "illness": rt.sensitive()}
"""
PUBLISHED = """
frame.write_csv(scratch / "people.csv", datetime_format="%Y-%m-%d %H:%M:%S")
job = rt.Job(source=scratch / "people.csv", columns=columns, promises=[rt.KAnonymity(5)], release=rt.Output(format="csv"))
rt.publish(job, to=scratch / "release", seed=1)
"""
AUDITED = PUBLISHED + 'value = rt.audit(scratch / "release", source=scratch / "people.csv").verdict'


def leak_search() -> Row:
    """50,000 identifying datetimes that share their beginnings with published dates: what the audit adds to publishing."""
    published = measure(PUBLISHED, setup=ADMISSIONS)
    both = measure(AUDITED, setup=ADMISSIONS)
    note = f"verdict {both.value}"
    return Row(ours=both.cpu - published.cpu, reference=published.cpu, against="publish", at_most=2, note=note)


VISITS = """
import os, resource, subprocess, sys, tempfile
from pathlib import Path
from benchmarks.visits import write_visits
place = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
write_visits(place / "visits.csv")
(place / "visits.toml").write_text(job)
os.environ["RETICENT_LEDGER"], os.environ["RETICENT_OWNER"] = str(place / "ledger"), str(place / "owner")
kept = dict(os.environ)

def run(*words):
    done = subprocess.run([sys.executable, "-m", "reticent", *words], cwd=place, stdout=subprocess.DEVNULL, env=kept)
    assert done.returncode in allowed, done.returncode

if released:
    run("publish", "visits.toml", "-o", "release")
"""
VISITED = """
run(*(word.replace("SCRATCH", str(scratch)) for word in words))
value = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
"""
COLUMNS = """
[source]
path = "visits.csv"
[columns]
patient = { role = "identifying", rows_per_person = 9 }
age = "quasi-identifying"
sex = "quasi-identifying"
zip = { role = "quasi-identifying", type = "categorical" }
ethnicity = "quasi-identifying"
ward = "quasi-identifying"
diagnosis = "sensitive"
[method]
name = "METHOD"
"""
K_AND_L = """
[[promise]]
model = "k-anonymity"
k = 5
[[promise]]
model = "distinct-l-diversity"
l = 3
"""
CHECKED = {
    "k and l by mondrian": ("mondrian", K_AND_L),
    "k, l and t by mosaic": ("mosaic", K_AND_L + '[[promise]]\nmodel = "t-closeness"\nt = 0.5\n'),
    "bt-privacy": ("mondrian", '[[promise]]\nmodel = "bt-privacy"\nbandwidth = 0.3\nt = 0.2\n'),
    "beta-likeness by burel": ("burel", '[[promise]]\nmodel = "beta-likeness"\nbeta = 20\n'),
    "entropy l by mosaic": ("mosaic", '[[promise]]\nmodel = "entropy-l-diversity"\nl = 8\n'),
}
CHECK_SECONDS = 15
REPORT_MEGABYTES = 600
ATTACK_MEGABYTES = 1_000


@cache
def run_on_visits(words: tuple[str, ...], method: str = "mondrian", promises: str = K_AND_L) -> Cost:
    """CPU seconds of one command on the visits, start included; `value` is its peak memory in MB."""
    job = COLUMNS.replace("METHOD", method) + promises
    given = {"words": list(words), "job": job, "released": "release" in words, "allowed": [0, 2]}
    return measure(VISITED, setup=VISITS, given=given, runs=0)


def published_visits() -> float:
    return run_on_visits(("publish", "visits.toml", "-o", "SCRATCH/release", "--again")).cpu


def visits_against_publish(words: tuple[str, ...], at_most: float) -> Row:
    cost = run_on_visits(words)
    note = f"peak {cost.value:.0f} MB"
    return Row(ours=cost.cpu, reference=published_visits(), against="publishing them", at_most=at_most, note=note)


def visits_memory(words: tuple[str, ...], megabytes: int) -> Row:
    cost = run_on_visits(words)
    return Row(ours=cost.value, reference=megabytes, against="the most that is asked", unit="MB", at_most=1)  # type: ignore[arg-type]  # what VISITED left


def visits_checked(method: str, promises: str) -> Row:
    cost = run_on_visits(("check", "visits.toml", "--budget", str(CHECK_SECONDS)), method, promises)
    return Row(ours=cost.cpu, reference=CHECK_SECONDS, against="its --budget", at_most=1.1)


REPORT = ("report", "release", "--internal", "--source", "visits.csv", "--force")
ATTACK = ("attack", "release", "--source", "visits.csv")
ADVISE = ("advise", "visits.toml", "--for", "counts")

PARTS = {"packages": "venv", "kernels": "install", "the demo": "demo"}  # each target rests on those before it


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def demo_from_nothing() -> Row:
    """`make demo` in a fresh clone, in CPU seconds of all its processes; what is downloaded is not counted.

    The bar is of plain seconds.  The note says how long this machine sorts, before and after, since others may share it.
    """
    before = machine()
    with tempfile.TemporaryDirectory(prefix="reticent-") as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
        took = {}
        for part, target in PARTS.items():
            used = children()
            subprocess.run(
                ["make", target], cwd=clone, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            took[part] = children() - used
    note = ", ".join(f"{part} {seconds:.1f}" for part, seconds in took.items())
    note += f"; np.lexsort of 8 x 500k takes {before:.2f} before, {machine():.2f} after (0.25 elsewhere)"
    return Row(ours=sum(took.values()), reference=DEMO, against="the 60 s it may cost", at_most=1, note=note)


ROWS = [
    ("hospital 50k as drafted: publish", publish),
    ("hospital 50k as drafted: check", check),
    ("hospital 50k as drafted: audit --source", audit),
    ("audit 50k: datetimes that begin like published dates", leak_search),
    ("visits 40k: report --internal", partial(visits_against_publish, REPORT, 5)),
    ("visits 40k: report --internal, memory", partial(visits_memory, REPORT, REPORT_MEGABYTES)),
    ("visits 40k: attack, all", partial(visits_against_publish, ATTACK, 10)),
    ("visits 40k: attack, all, memory", partial(visits_memory, ATTACK, ATTACK_MEGABYTES)),
    ("visits 40k: advise", partial(visits_against_publish, ADVISE, 15)),
    *(
        (f"visits 40k: check --budget {CHECK_SECONDS}, {name}", partial(visits_checked, *job))
        for name, job in CHECKED.items()
    ),
    ("users: make demo from a clean clone", demo_from_nothing),
]
