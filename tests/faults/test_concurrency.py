"""Twenty publications at once into one folder and one ledger: each is kept or refused, and noted once if it is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import reticent as rt
from reticent.ledger.ledger import Ledger
from reticent.ledger.withdrawals import WITHDRAWALS_FILE
from tests.support.ledger_tables import people

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the commands are started by fork")

JOB = """\
[source]
path = "{path}"

[columns]
name    = "identifying"
age     = {{ role = "quasi-identifying", type = "numeric" }}
zip     = {{ role = "quasi-identifying", type = "numeric" }}
illness = "sensitive"

[[promise]]
model = "k-anonymity"
k = 3

[release]
undeclared = "drop"
"""


def jobs(folder: Path) -> list[tuple[str, str]]:
    """A job and a name for each: twelve of other people, four of the same people, four of one name."""
    wanted = [(seed, f"release{seed}") for seed in range(12)]
    wanted += [(12, f"same{at}") for at in range(4)]
    wanted += [(13 + at, "one-name") for at in range(4)]
    for seed in {seed for seed, _ in wanted}:
        people(seed=seed).write_csv(folder / f"{seed}.csv")
        (folder / f"{seed}.toml").write_text(JOB.format(path=f"{seed}.csv"))
    return [(f"{seed}.toml", f"out/{name}") for seed, name in wanted]


def run_at_once(lines: list[list[str]]) -> list[int]:
    """The exit code of each of some commands that run at once."""
    asked = "".join(json.dumps(words) + "\n" for words in lines)
    script = Path(__file__).with_name("concurrent_commands.py")
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(script)], input=asked, capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_of_six_withdrawals_at_once_one_is_recorded_and_publications_go_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    for seed in range(3):
        people(seed=seed).write_csv(f"{seed}.csv")
        Path(f"{seed}.toml").write_text(JOB.format(path=f"{seed}.csv"))
    assert run_at_once([["publish", "0.toml", "-o", "out/zero", "--json"]]) == [0]
    withdrawing = ["withdraw", "out/zero", "--reason", "wrong", "--delete", "--json"]
    publishing = [["publish", f"{seed}.toml", "-o", f"out/{seed}", "--json"] for seed in (1, 2)]
    codes = run_at_once([*[withdrawing] * 6, *publishing])
    assert Counter(codes[:6]) == {0: 1, 1: 5}
    assert codes[6:] == [0, 0]
    assert [one.withdrawal is None for one in rt.releases()] == [False, True, True]
    assert sorted(path.name for path in Path("out").iterdir()) == ["1", "2", "reticent-owner"]
    assert len((Ledger.open().folder / WITHDRAWALS_FILE).read_text().splitlines()) == 1


def test_twenty_publications_at_once_are_each_kept_or_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    wanted = jobs(tmp_path)
    codes = run_at_once([["publish", job, "-o", to, "--json"] for job, to in wanted])
    assert Counter(codes) == {0: 14, 1: 3, 5: 3}
    kept = [to for (_, to), code in zip(wanted, codes, strict=True) if code == 0]
    assert sum(to.startswith("out/same") for to in kept) == 1
    assert kept.count("out/one-name") == 1
    noted = {f"out/{entry['release']}": entry["digest"] for entry in Ledger.open().read_entries()}
    assert len(Ledger.open().read_entries()) == len(kept)
    assert noted == {to: rt.open(to).digest for to in kept}
    for to in kept:
        assert (tmp_path / "out" / "reticent-owner" / Path(to).name / "digest.txt").read_text().strip() == noted[to]
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(
        [*(Path(to).name for to in kept), "reticent-owner"]
    )
