"""Commands run with one change of the disk spoiled, and what must hold afterwards.

Nothing here is told by the code under test: releases, ledgers and notes are read as files.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.command_line import CITIES, JOB, people, write_csv

HERE = Path(__file__).parent
ERRORS = {"EIO": 5, "ENOSPC": 28, "EROFS": 30}
WAYS = {  # a name for each way in which the n-th change goes wrong: the library's mode and error
    "SIGKILL": ("kill", 0),
    "SIGTERM": ("term", 0),
    "half a write, SIGKILL": ("half", 0),
    "EIO once": ("once", ERRORS["EIO"]),
    "disk full from there on": ("full", 0),
    "read-only from there on": ("on", ERRORS["EROFS"]),
}
PUBLISH = ("publish", "job.toml", "-o", "out/release", "--json")
STREAM = ("publish", "carrying.toml", "-o", "out/release", "--json", "--engine", "stream")
PARTS = ("publish", "parts.toml", "-o", "out/release", "--json")
FORGET = ("forget", "job.toml", "--person", "persons.txt", "-o", "people-2.csv", "--job-to", "job-2.toml", "--json")
WITHDRAW = ("withdraw", "out/release", "--reason", "wrong column", "--json")
ONLY_NEW = ("publish", "grown.toml", "-o", "out/second", "--only-new", "--json")
BATCHES = ("publish", "batches.toml", "-o", "out", "--batch-by", "day", "--json")


@dataclass(frozen=True)
class Scenario:
    """What runs before, what is spoiled, and the next command that writes."""

    words: Sequence[str]
    before: Sequence[Sequence[str]] = ()
    next: Sequence[str] = ("report", "out/none")  # it writes, and ends before it does
    no_exchange: bool = False
    page: str = ""  # a file that is the old one or the new one, whole, at every moment
    ends: Sequence[int] = (0, 1, 3)  # how the next command may end
    environment: dict[str, str] = field(default_factory=dict)


SCENARIOS = {
    "publish": Scenario(PUBLISH),
    "replace": Scenario((*PUBLISH, "--force", "--again"), [PUBLISH]),
    "replace without an exchange": Scenario((*PUBLISH, "--force", "--again"), [PUBLISH], no_exchange=True),
    "replace by stream": Scenario((*STREAM, "--force", "--again"), [STREAM]),
    "replace in parts": Scenario((*PARTS, "--force", "--again"), [PARTS]),
    "batches": Scenario(BATCHES),
    "replace batches": Scenario((*BATCHES, "--force", "--again"), [BATCHES]),
    "publish of new people": Scenario(ONLY_NEW, [PUBLISH]),
    "a page about a release": Scenario(("report", "out/release", "-o", "page.md", "--format", "md", "--force"), [PUBLISH], page="page.md"),
    "export to a new SQLite file": Scenario(("export", "out/release", "sqlite:///new.db", "--table", "p"), [PUBLISH]),
    "export to a SQLite file": Scenario(("export", "out/release", "sqlite:///old.db", "--table", "p"), [PUBLISH]),
    "export to a new DuckDB file": Scenario(("export", "out/release", "duckdb:///new.duckdb", "--table", "p"), [PUBLISH]),
    "withdraw": Scenario((*WITHDRAW, "--never-handed-out"), [PUBLISH, WITHDRAW]),
    "forget": Scenario((*FORGET, "--force"), [PUBLISH, FORGET], page="people-2.csv"),
    "withdraw with its folder": Scenario((*WITHDRAW, "--delete"), [PUBLISH]),
}  # fmt: skip


def compiled(folder: Path) -> Path:
    """The library that spoils changes, from its source beside this file."""
    library = folder / "faults.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "faults.c"), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return library


class Server:
    """The process that forks a child for each command."""

    def __init__(self, library: Path):
        environment = {**os.environ, "LD_PRELOAD": str(library), "POLARS_MAX_THREADS": "1"}
        for name in ("RETICENT_OWNER", "RETICENT_TRACEBACK"):
            environment.pop(name, None)
        command = [sys.executable, str(HERE / "server.py")]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(self, folder: Path, words: Sequence[str], **how: Any) -> dict[str, Any]:
        environment = {
            "RETICENT_LEDGER": str(folder / "ledger"),
            "TMPDIR": str(folder / "tmp"),
            **how.pop("environment", {}),
        }
        asked = {
            "words": list(words),
            "folder": str(folder),
            "root": str(folder),
            "environment": environment,
            "at": 0,
            "mode": "count",
            "errno": 0,
            "no_exchange": 0,
            "umask": 0o022,
            "memory": 0,
            "log": "",
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked | how) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


def template(server: Server, folder: Path, before: Path, scenario: Scenario) -> None:
    """The folder before the command that is spoiled, kept under another name: what is noted in it names places."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tmp").mkdir(parents=True)
    rows = people(60)
    write_csv(folder / "people.csv", rows)
    write_csv(
        folder / "days.csv", [[*row, f"day{at % 2}"] for at, row in enumerate(rows)], "person,age,city,illness,day"
    )
    write_csv(folder / "many.csv", people(2_100))
    write_csv(folder / "grown.csv", people(130))
    (folder / "grown.toml").write_text(JOB.replace("people.csv", "grown.csv"))
    (folder / "parts.toml").write_text(JOB.replace("people.csv", "many.csv") + "\n[release]\npart_rows = 1_000\n")
    (folder / "city.csv").write_text("".join(f"{city};{part};*\n" for city, part in CITIES.items()))
    (folder / "job.toml").write_text(JOB)
    (folder / "persons.txt").write_text("p0003\n")
    (folder / "batches.toml").write_text(JOB.replace("people.csv", "days.csv") + '\n[release]\nundeclared = "drop"\n')
    ages = 'age     = { role = "quasi-identifying", type = "numeric" }'  # without them cells have several rows
    carrying = (
        JOB.replace("people.csv", "days.csv")
        .replace(ages, 'age = "identifying"')
        .replace('illness = "sensitive"', 'illness = "sensitive"\nday = "insensitive"')
    )
    (folder / "carrying.toml").write_text(carrying + '\n[method]\nname = "burel"\n')
    with closing(sqlite3.connect(folder / "old.db")) as connection:
        connection.execute("CREATE TABLE other (a)")
        connection.commit()
    for words in scenario.before:
        ran = server.run(folder, words, environment=scenario.environment)
        assert ran["code"] == 0, ran["said"]
    os.rename(folder, before)


def changes_of(server: Server, before: Path, folder: Path, scenario: Scenario, log: Path | None = None) -> int:
    """How many changes a scenario makes where nothing goes wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(before, folder)
    how = {"no_exchange": int(scenario.no_exchange), "environment": scenario.environment, "log": str(log or "")}
    ran = server.run(folder, scenario.words, **how)
    assert ran["code"] == 0, ran["said"]
    if scenario.page:
        shutil.copy(folder / scenario.page, before.with_name(f"{before.name}.page"))
    return ran["changes"]


def spoil(server: Server, before: Path, folder: Path, scenario: Scenario, at: int, way: str) -> list[str]:
    """What does not hold after the n-th change went wrong, at once and after the next command."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(before, folder)
    old = digests(folder)
    mode, number = WAYS[way]
    how = {"no_exchange": int(scenario.no_exchange), "environment": scenario.environment}
    ran = server.run(folder, scenario.words, at=at, mode=mode, errno=number, **how)
    wrong = [f"broken at once: {one}" for one in (*broken(folder), *half_written(before, folder, scenario))]
    if not scenario.no_exchange:
        wrong += [f"gone at once: {name}" for name in gone(folder, old)]
    wrong += [f"at once: {one}" for one in unlike_its_code(before, folder, scenario, way, ran, old)]
    following = server.run(folder, scenario.next, **how)
    if following["code"] not in scenario.ends or "could not be settled" in following["said"]:
        wrong.append(f"the next command ended with {following['code']}: {following['said'][-200:]}")
    wrong += [
        f"afterwards: {one}" for one in (*broken(folder), *disagreeing(folder), *stale(folder), *readable(folder))
    ]
    wrong += [f"gone: {name}" for name in gone(folder, old)]
    return wrong + [f"afterwards: {one}" for one in half_exported(folder)]


def unlike_its_code(
    before: Path, folder: Path, scenario: Scenario, way: str, ran: dict[str, Any], old: dict[str, str]
) -> list[str]:
    """Exit 0 means done; 74 and 130 mean that nothing was kept, and nothing is left."""
    code = ran["code"]
    if scenario.words[0] == "withdraw" and code == 0:
        done = len(withdrawals(folder)) > len(withdrawals(before)) and not (
            "--delete" in scenario.words and digests(folder)
        )
        return [] if done else ["it was not withdrawn in spite of 0"]
    if way in ("SIGKILL", "half a write, SIGKILL"):
        return [] if code in (-9, 0) else [f"ended with {code}: {ran['said'][-300:]}"]
    if code == 0:
        return []
    expected = 130 if way == "SIGTERM" else 74
    if code != expected:
        return [f"ended with {code}: {ran['said'][-300:]}"]
    if way == "read-only from there on" or "--batch-by" in scenario.words:
        return []  # what cannot be undone on such a disk is undone by the next command; earlier batches are kept
    if scenario.words[0] == "withdraw" and withdrawals(folder) != withdrawals(before):
        return [f"it was withdrawn in spite of {code}"]
    kept = [
        f"{name} was kept in spite of {code}" for name, digest in digests(folder).items() if old.get(name) != digest
    ]
    return kept + [f"{one} in spite of {code}" for one in stale(folder)]


def half_written(before: Path, folder: Path, scenario: Scenario) -> list[str]:
    """A page that is neither what stood there nor what a run without a fault writes."""
    if not scenario.page:
        return []
    held = folder / scenario.page
    old = before / scenario.page
    known = [before.with_name(f"{before.name}.page").read_bytes(), *([old.read_bytes()] if old.exists() else [])]
    whole = held.read_bytes() in known if held.exists() else not old.exists()
    return [] if whole else ["the page is not whole"]


def releases(folder: Path) -> list[Path]:
    found = [path.parent for path in sorted(folder.rglob("manifest.json"))]
    return [path for path in found if not any(part.startswith(".reticent") for part in path.parts)]


def digests(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): _sha256(path / "manifest.json") for path in releases(folder)}


def withdrawals(folder: Path) -> list[dict[str, Any]]:
    """The withdrawals that the ledger has, without half a line at the end."""
    path = folder / "ledger" / "ledger-withdrawals.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def gone(folder: Path, old: dict[str, str]) -> list[str]:
    """Releases that stood there before and stand no more, though nobody withdrew them."""
    withdrawn = {release["digest"] for one in withdrawals(folder) for release in one["releases"]}
    return [name for name, digest in old.items() if name not in digests(folder) and digest not in withdrawn]


def broken(folder: Path) -> list[str]:
    """Releases in place that are not whole."""
    found = []
    for path in releases(folder):
        try:
            files = json.loads((path / "manifest.json").read_text())["files"]
            whole = all(_sha256(path / name) == facts["sha256"] for name, facts in files.items())
            whole = whole and {one.name for one in path.iterdir()} - {"report.html"} == {*files, "manifest.json"}
        except (OSError, ValueError, KeyError):
            whole = False
        found += [] if whole else [f"{path.name} is not whole"]
    return found


def disagreeing(folder: Path) -> list[str]:
    """Where the ledger, the owner's notes and the releases say different things."""
    ledger = folder / "ledger" / "ledger.jsonl"
    lines = [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []
    noted = {str(Path(one["folder"], one["release"]).relative_to(folder)): one["digest"] for one in lines}
    standing = digests(folder)
    deleted = {
        str(Path(release["folder"], release["release"]).relative_to(folder))
        for one in withdrawals(folder)
        for release in one["releases"]
        if not Path(release["folder"], release["release"]).exists()
    }
    noted = {name: digest for name, digest in noted.items() if name not in deleted}
    wrong = [] if noted == standing else [f"the ledger has {sorted(noted)}, in place are {sorted(standing)}, by digest"]
    owners = [path for path in folder.rglob("digest.txt") if not any(one.startswith(".reticent") for one in path.parts)]
    kept = {(path.parent / "place.txt").read_text().strip(): path for path in owners}
    if sorted(kept) != sorted(str(folder / name) for name in (*standing, *deleted)):
        wrong.append(f"there are notes on {sorted(kept)}")
    wrong += [
        f"the digest of {name} is another's"
        for name, digest in standing.items()
        if str(folder / name) in kept and kept[str(folder / name)].read_text().strip() != digest
    ]
    lacking = [
        path for path in owners for name in ("audit.json", "job.toml", "README.md") if not (path.parent / name).exists()
    ]
    sketches = {path.name for path in (folder / "ledger" / "ledger-sketches").glob("*")}
    marks = {mark for one in lines for mark in (one["content"], one.get("whole", one["content"]))}
    marks |= {part for one in lines for column in one.get("people", []) for part in column["parts"]}
    return (
        wrong
        + [f"notes lack a file in {path.parent.name}" for path in lacking]
        + ([] if sketches == marks else ["the sketches are not those of the lines"])
    )


def stale(folder: Path) -> list[str]:
    """What a finished run never leaves."""
    names = [path.relative_to(folder) for path in folder.rglob("*")]
    return [
        f"{name} is left"
        for name in names
        if name.name.startswith((".reticent", ".ledger"))
        or name.suffix == ".part"
        or name.name == "ledger.journal"
        or name.parent.name == "ledger-stages"
    ]


def readable(folder: Path) -> list[str]:
    """What of the owner's others could read."""
    tops = [folder / "ledger", *folder.rglob("reticent-owner")]
    paths = [path for top in tops if top.exists() for path in (top, *top.rglob("*"))]
    return [f"{path.name} has mode {path.stat().st_mode & 0o777:o}" for path in paths if path.stat().st_mode & 0o077]


def half_exported(folder: Path) -> list[str]:
    """Databases with one of the two tables alone, or none at all in a new file."""
    found = []
    for path in (folder / "new.db", folder / "old.db"):
        if path.exists():
            with closing(sqlite3.connect(path)) as connection:
                tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            wanted = {frozenset({"p", "p_manifest"}), *([frozenset()] if path.name == "old.db" else [])}
            found += [] if tables - {"other"} in wanted else [f"{path.name} has {sorted(tables)}"]
    if (folder / "new.duckdb").exists():
        import duckdb

        with duckdb.connect(str(folder / "new.duckdb"), read_only=True) as connection:
            tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        found += [] if tables == {"p", "p_manifest"} else [f"new.duckdb has {sorted(tables)}"]
    return found


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
