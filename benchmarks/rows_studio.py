"""The studio on a million rows: how long each screen takes to answer, against `check` and `count` of the same job.

Screens are asked by Starlette's test client, each for the first time in its process, after the columns were counted and a
release was made; the work that a screen starts by itself is a child process and no part of its answer.  The memory is the
server's own.
"""

from __future__ import annotations

from functools import cache, partial

from benchmarks.data import census_file
from benchmarks.measure import Cost, measure
from benchmarks.row import Row

SIZE = 1_000_000
SCREENS = ("data", "columns", "hierarchies", "promise", "compare", "publish", "attack", "use", "handout", "ledger")
JOB = """
import shutil, tempfile, time
from pathlib import Path
import reticent as rt

place = Path(tempfile.mkdtemp())
shutil.copy(source, place / "people.parquet")
quasi = ("age", "gender", "education", "marital_status", "work_class")
columns = "".join(f'{name} = "quasi-identifying"\\n' for name in quasi) + 'salary_class = "sensitive"\\n'
(place / "job.toml").write_text(
    '[source]\\npath = "people.parquet"\\n[columns]\\n' + columns + '[[promise]]\\nmodel = "k-anonymity"\\nk = 10\\n'
    '[[promise]]\\nmodel = "beta-likeness"\\nbeta = 4\\n[release]\\nundeclared = "drop"\\n'
)
job = rt.Job.read(place / "job.toml")
"""
STUDIO = """
from starlette.testclient import TestClient
from reticent.studio.app import make_app
from reticent.studio.desk import Desk
from reticent.studio.guard import Keys

keys = Keys()
desk = Desk.open(place)
client = TestClient(make_app(desk, keys, lambda: 8765), base_url="http://127.0.0.1:8765", headers={"Sec-Fetch-Site": "same-origin"})
client.post("/enter", data={"token": keys.make_link()})

def look(screen):
    response = client.get(f"{keys.prefix}/{screen}")
    assert response.status_code == 200, (screen, response.status_code)
    return len(response.text)

def wait():
    while any(run.is_running for run in desk.runs._runs.values()):
        time.sleep(0.1)
"""
USED = """
rt.publish(job, to=place / "release", ledger=place / "ledger")
look("columns")
wait()
"""
CHECK = "rt.check(job)"
COUNT = "rt.count(job)"
LOOK = "value = look(screen)"
ALL = "for screen in screens:\n    look(screen)\n    wait()"


@cache
def cost(body: str, setup: str = "", screen: str = "", runs: int = 3) -> Cost:
    given = {"source": str(census_file(SIZE)), "screen": screen, "screens": list(SCREENS)}
    return measure(body, setup=JOB + setup, given=given, runs=runs)


def answer(screen: str, reference: str, name: str) -> Row:
    """Wall seconds of a screen's answer against the wall seconds of what counts all rows."""
    looked = cost(LOOK, STUDIO + USED, screen, runs=0)
    note = f"{looked.value / 1_000:,.0f} kB of page"
    return Row(ours=looked.wall, reference=cost(reference, runs=1).wall, against=name, unit="s", at_most=1, note=note)


def memory() -> Row:
    """Memory that ten screens add to the server, once each has done what it starts by itself."""
    looked = cost(ALL, STUDIO, runs=0)
    counted = cost(COUNT, runs=1)
    return Row(ours=looked.peak / 1e6, reference=counted.peak / 1e6, against="memory of count", unit="MB")


ROWS = [
    *((f"studio 1M: {screen} / check", partial(answer, screen, CHECK, "check")) for screen in SCREENS),
    *((f"studio 1M: {screen} / count", partial(answer, screen, COUNT, "count")) for screen in SCREENS),
    ("studio 1M: memory of the server / count", memory),
]
