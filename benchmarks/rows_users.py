"""What a steward waits for: a hospital's export of 50,000 rows, drafted, checked, published and audited by the command line."""

from __future__ import annotations

from functools import cache

from benchmarks.measure import Cost, measure
from benchmarks.row import Row

SECONDS = 10 / 0.25  # 10 CPU s on a machine that sorts the columns below in 0.25

MACHINE = """
import numpy as np
keys = tuple(np.random.default_rng(1).integers(0, 1000, (8, 500_000)))
"""
SETUP = """
import os, subprocess, sys, tempfile
from pathlib import Path
from tests.hospital import write
place = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
write(place / "hospital.csv")

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


def publish() -> Row:
    machine = measure("np.lexsort(keys)", setup=MACHINE)
    return Row(ours=hospital("publish").cpu, reference=machine.cpu, against="np.lexsort of 8 x 500k", at_most=SECONDS)


def check() -> Row:
    return Row(ours=hospital("check").cpu, reference=hospital("publish").cpu, against="publishing it", at_most=3)


def audit() -> Row:
    return Row(ours=hospital("audit").cpu, reference=hospital("publish").cpu, against="publishing it", at_most=2)


ROWS = [
    ("hospital 50k as drafted: publish", publish),
    ("hospital 50k as drafted: check", check),
    ("hospital 50k as drafted: audit --source", audit),
]
