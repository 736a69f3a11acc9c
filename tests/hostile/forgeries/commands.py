"""The commands that read a release folder, as users give them: what each made of a folder, by its exit code and its words."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from reticent import catalogue
from reticent.audit.provenance import UNPROVEN_SENTENCE
from reticent.audit.subject import UNCOUNTED_MESSAGE
from reticent.cli.main import main
from tests.support import contract_examples

KEPT = "kept"
REFUSED = "refused"
SAID = "said"
CRASHED = "crashed"
UNSAID = "kept without the sentence"
SCREEN = 4_000
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "reticent audit": ("audit", "{folder}"),
    "reticent audit --source": ("audit", "{folder}", "--source", "{source}"),
    "reticent risk": ("risk", "{folder}"),
    "reticent attack": ("attack", "{folder}", "--source", "{source}", "--as", "naive-bayes"),
    "reticent attack --as skewness": ("attack", "{folder}", "--source", "{source}", "--as", "skewness"),
    "reticent query": ("query", "{folder}", "SELECT COUNT(*) FROM release WHERE age > 30"),
    "reticent query GROUP BY": ("query", "{folder}", "SELECT illness, COUNT(*) FROM release GROUP BY illness"),
    "reticent export": ("export", "{folder}", "sqlite:///{place}/out.db", "--table", "people"),
    "reticent export --bounds": ("export", "{folder}", "duckdb:///{place}/out.duckdb", "--table", "people", "--bounds"),
    "reticent report": ("report", "{folder}", "-o", "{place}/page.md", "--format", "md"),
}
ATTACK = ("attack", "{folder}", "--source", "{source}")
ATTACKED: Mapping[str, tuple[str, ...]] = {  # what takes longer: tried on folders that can be opened
    "reticent attack by all": (*ATTACK, "--with", "{folder}", "--bandwidth", "0.3", "--t", "0.2"),
    "reticent risk --source": ("risk", "{folder}", "--source", "{source}"),
    "reticent query --print-sql": (
        "query",
        "{folder}",
        "SELECT COUNT(*) FROM release WHERE age > 30",
        "--print-sql",
        "duckdb",
    ),
    "reticent report, a page": ("report", "{folder}", "-o", "{place}/page.html"),
    "reticent report --internal": ("report", "{folder}", "--internal", "--source", "{source}", "--format", "json"),
}
BY_NAME = {f"reticent attack --as {name}": (*ATTACK, "--as", name) for name in catalogue.ATTACKS}
EVERY = {**COMMANDS, **ATTACKED, **BY_NAME}


@cache
def _source(place: str) -> str:
    """The table that releases of the contract are made of."""
    path = Path(place) / "contract_examples.csv"
    contract_examples.people().write_csv(path)
    return str(path)


@cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="reticent-forged-")  # as long as the process


def told(folder: Path, name: str) -> str:
    """One of the words above; what must never happen is a crash, with what was printed."""
    out = io.StringIO()
    err = io.StringIO()
    with tempfile.TemporaryDirectory() as place:
        given = {"folder": str(folder), "place": place, "source": _source(_kept().name)}
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _ledger(place):
            code = main([word.format(**given) for word in EVERY[name]])
        left = [path.name for path in Path(place).iterdir() if path.name != "ledger"]
    said = out.getvalue() + err.getvalue()
    wrong = [word for word in ("Traceback", "panicked", UNCOUNTED_MESSAGE) if word in said]
    wrong += [f"{len(err.getvalue())} characters"] if code and len(err.getvalue()) > SCREEN else []
    wrong += [f"left behind: {left}"] if code and left else []
    if code not in (0, 1, 2, 3, 4, 74) or wrong or (code == 74 and "OutOfMemory" not in said):
        return f"{CRASHED}: exit {code}, {wrong}: {said[-400:]}"
    if code:
        return REFUSED
    return KEPT if not name.startswith("reticent audit") else SAID if UNPROVEN_SENTENCE in said else UNSAID


@contextlib.contextmanager
def _ledger(place: str):
    before = os.environ.get("RETICENT_LEDGER")
    os.environ["RETICENT_LEDGER"] = f"{place}/ledger"
    try:
        yield
    finally:
        if before is None:
            del os.environ["RETICENT_LEDGER"]
        else:
            os.environ["RETICENT_LEDGER"] = before
