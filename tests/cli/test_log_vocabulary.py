"""What a log says comes from a fixed vocabulary: stages, names of ours and counts of what is done, never what a release tells."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import reticent
from reticent import catalogue
from tests.support.good_command_lines import GOOD

ATTACKS = "|".join(map(re.escape, catalogue.ATTACKS))
METHODS = "|".join(map(re.escape, catalogue.METHODS))
COUNT = r"\d{1,3}(,\d{3})*"
VOCABULARY = [
    "reading( the release| the rows)?|planning|writing|auditing|recounting|counting|explaining|exporting|drawing|measuring",
    "looking at columns( that are not generalized)?|auditing against the source|measuring risks|counting the source",
    "joining with earlier releases|calibrating|comparing|advising|learning|asking|publishing",
    rf"attacking as ({ATTACKS})",
    rf"planning by ({METHODS})",
    rf"planning {COUNT} of {COUNT}|batch {COUNT} of {COUNT}|planning: {COUNT} sweeps",
    rf"[a-z ]+: {COUNT} (of {COUNT} )?rows(, about [\d.]+ (s|min|h) left)?",
    r"making (census|adult|hospital|\w+)",
]
FIXED = re.compile("|".join(f"({phrase})" for phrase in VOCABULARY))
COMPARED = re.compile(rf"[^:]*: (publishing to nowhere|attacking as ({ATTACKS})|asking|learning|measuring)")
"""`compare` begins its stages with the name of a candidate, which is the user's own word or a method with what it was asked."""


def read_stages(text: str) -> list[str]:
    """The stages of a JSON log; every line of it is an object, and its last one says how the run ended."""
    lines = [json.loads(line) for line in text.splitlines()]
    every = {"time", "command", "run", "pid", "release", "seconds"}
    assert set(lines[-1]) == every | {"exit_code"}
    for line in lines[:-1]:
        assert set(line) == every | {"stage", "done"}
    assert len({(line["run"], line["pid"]) for line in lines}) == 1
    return [line["stage"] for line in lines[:-1]]


def require_fixed(stages: list[str], words: tuple[str, ...]) -> None:
    for stage in stages:
        known = FIXED.fullmatch(stage) or (words[0] in ("compare", "advise") and COMPARED.fullmatch(stage))
        assert known, f"{words[0]} logs {stage!r}"


@pytest.fixture(scope="module")
def furnished(tmp_path_factory) -> Path:
    from tests.support.good_command_lines import prepared

    folder = tmp_path_factory.mktemp("logs") / "place"
    folder.mkdir()
    prepared(folder)
    return folder


@pytest.fixture
def log(furnished, monkeypatch, capsys):
    """Run a command in the furnished place with a JSON log on stderr: its exit code and what it logged."""
    from reticent.cli.main import main

    monkeypatch.chdir(furnished)
    monkeypatch.setenv("RETICENT_LEDGER", str(furnished.parent / "place-ledger"))

    def run(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--log-json"])
        written = capsys.readouterr()
        return code, written.out, written.err

    return run


FOUND = {
    **GOOD,
    "attack by all": ("attack", "release", "--source", "people.csv"),
    "publish again": ("publish", "job.toml", "-o", "joined", "--again"),
}
LOGGED = [name for name in FOUND if name not in {"compare", "advise", "demo"}]


@pytest.mark.parametrize("name", LOGGED)
def test_every_line_of_a_log_is_of_a_fixed_vocabulary(name, log):
    words = FOUND[name]
    force = ("--force",) if words[0] in ("init", "report", "publish", "data", "hierarchy") and "-o" in words else ()
    code, _, err = log(*words, *force)
    assert code == 0, err
    require_fixed(read_stages(err), words)


def test_what_releases_say_together_is_a_notice_on_stdout_and_in_no_log(log):
    code, out, err = log("publish", "job.toml", "-o", "together", "--again", "--force")
    assert code == 0, err
    assert "the worst belief is" in out, "the owner is told"
    assert "belief" not in err
    assert "joining with earlier releases" in read_stages(err)


def test_the_loss_of_a_plan_is_shown_on_a_terminal_and_in_no_log():
    from reticent.progress import ProgressEvent, get_finding, scale_progress

    told: list[str] = []
    scale_progress(told.append, 0.2, 0.4)(ProgressEvent("planning: 3 sweeps", 0.5, "loss 0.1234"))
    assert told == ["planning: 3 sweeps"]
    assert get_finding(told[0]) == "loss 0.1234"


# The same for stages that no test here reaches: what is told stands in the code.

NAMES = {
    "candidate.label", "candidate.method", "job.method.name", "len(candidates)", "len(source_batches)", "name", "number + 1",
    "prefix", "self._format_progress(now - self.started)", "self.doing", "set_aside", "state.sweep", "step", "stride",
}  # fmt: skip
"""What may stand between the words of a stage: names of methods, attacks and candidates, counts of what is done, and a stage that is
passed on with words before it (`prefix`, `step`)."""
PASSED_ON = {"progress.py"}
"""Modules that hand on what others say."""


def told_expressions(tree: ast.AST) -> Iterator[ast.expr]:
    """The first argument of every call that tells a stage."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("progress", "ProgressEvent", "say_stage") or (
                called == "step" and isinstance(node.func, ast.Attribute)
            ):
                yield node.args[0]


def test_no_stage_in_the_code_holds_more_than_words_names_and_counts():
    package = Path(reticent.__file__).parent
    wrong = []
    for path in sorted(package.rglob("*.py")):
        if path.name in PASSED_ON:
            continue
        for told in told_expressions(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(told, ast.Call) or (isinstance(told, ast.Constant) and isinstance(told.value, str)):
                continue  # a Step, which is looked at by itself, or plain words
            parts = told.values if isinstance(told, ast.JoinedStr) else [told]
            values = [getattr(part, "value", part) for part in parts if not isinstance(part, ast.Constant)]
            wrong += [f"{path.name}: {ast.unparse(value)}" for value in values if ast.unparse(value) not in NAMES]
    assert not wrong
