"""Hostile command lines: every option and argument of every command with values that it cannot mean.

The options are those that the parser knows, so a command or an option that is added is tried by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from reticent.cli.commands import build_parser
from tests.hostile.jobs import PROMISE, job
from tests.hostile.running import JOB, Case, run

SQL = "SELECT COUNT(*) FROM release WHERE age > 30"
GOOD: dict[str, tuple[str, ...]] = {  # a name for each command line that works; its first word is the command
    "init": ("init", "people.csv", "-o", "new.toml"),
    "hierarchy": ("hierarchy", "--data", "people.csv", "--column", "age", "-o", "new.csv"),
    "hierarchy of a file": ("hierarchy", "city.csv", "--data", "people.csv", "--column", "city"),
    "check": ("check", "job.toml", "--budget", "0.1"),
    "publish": ("publish", "job.toml", "-o", "out", "--again"),
    "publish by stream": ("publish", "job.toml", "--engine", "stream", "-o", "out", "--again"),
    "audit": ("audit", "release", "--source", "people.csv"),
    "audit of a table": ("audit", "people.csv", "--quasi", "age,city", "--sensitive", "illness"),
    "risk": ("risk", "people.csv", "--quasi", "age,city"),
    "risk of a release": ("risk", "release", "--source", "people.csv"),
    "export": ("export", "release", "sqlite:///out.db", "--table", "people"),
    "query": ("query", "release", SQL),
    "attack": ("attack", "release", "--source", "people.csv", "--as", "naive-bayes"),
    "attack as background": ("attack", "release", "--source", "people.csv", "--as", "background", "--bandwidth", "0.3", "--t", "0.2"),
    "attack as composition": ("attack", "release", "--source", "people.csv", "--as", "composition", "--with", "second"),
    "attack as singling-out": ("attack", "release", "--source", "people.csv", "--as", "singling-out"),
    "attack as corruption": ("attack", "sampled", "--source", "people.csv", "--as", "corruption", "--lambda", "0.5"),
    "attack on a table": ("attack", "plain.csv", "--source", "people.csv", "--as", "skewness", "--quasi", "age,city",
                          "--sensitive", "illness"),
    "report": ("report", "release", "-o", "page.md", "--format", "md"),
    "report, internal": ("report", "release", "--internal", "--source", "people.csv", "--format", "json"),
    "compare": ("compare", "job.toml", "--attacks", "none", "--no-classification"),
    "advise": ("advise", "job.toml", "--for", "counts", "--runs", "1", "--methods", "mondrian"),
    "calibrate suppression": ("calibrate", "suppression", "--counts", "10,4,2,1,1", "--l", "2"),
    "calibrate p": ("calibrate", "perturbed-generalization", "--p", "0.3", "--k", "6", "--lambda", "0.1", "--rho1", "0.2",
                    "--domain", "50"),
    "data": ("data", "census", "--rows", "20", "-o", "new.csv"),
    "demo": ("demo", "--to", "new", "--rows", "300"),
}  # fmt: skip
VALUES = {
    "an empty text": "",
    "blanks": "   ",
    "10,000 characters": "x" * 10_000,
    "terminal escapes": "\x1b[31m\x07",
    "a line end": "a\nb",
    "a turned reading direction": "a\u202eb",
    "a negative number": "-1",
    "0": "0",
    "a huge number": "1e999999999",
    "a tiny number": "1e-999999999",
    "5,000 digits": "9" * 5_000,
    "nan": "nan",
    "a division by zero": "1/0",
    "a folder": ".",
    "a table": "people.csv",
    "a job": "job.toml",
    "a release": "release",
    "an equals sign": "=",
    "a name without a value": "age=",
    "a huge number of a name": "age=1e999999999",
    "a huge number of k": "k=1e999999999",
    "a range without an end": "k=1..1e999999999",
    "a file of a name": "age=people.csv",
    "commas": ",,,",
    "a column twice": "age,age",
    "a sensitive column": "illness",
    "brackets": "[[1,",
    "an address": "sqlite:///none.db",
    "SQL": "SELECT * FROM release; DROP TABLE x",
}


@cache
def parameters() -> dict[str, list[tuple[str, bool]]]:
    """Of each command: how each option is given, or which argument it is; whether it takes a value."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for name, parser in build_parser().commands.items():
        arguments = [one for one in parser.params if one.param_type_name == "argument"]
        options = [one for one in parser.params if one not in arguments and one.opts[0] != "--help"]
        found[name] = [(f"argument {at}", True) for at, _ in enumerate(arguments, 1)]
        found[name] += [(one.opts[0], not getattr(one, "is_flag", False)) for one in options]
    return found


def _given(words: tuple[str, ...], option: str, value: str | None) -> tuple[str, ...]:
    """The command line with an option given, or an argument replaced, by this value."""
    if option.startswith("argument "):
        at = int(option.split()[1])
        taken = at < len(words) and not words[at].startswith("-")
        return (*words[:at], value or "", *words[at + taken :])
    if value is None:
        return (*words, option)
    if option in words:
        at = words.index(option)
        words = (*words[:at], *words[at + 2 :])
    return (*words, f"{option}={value}") if option.startswith("--") else (*words, option, value)


def lines(name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is wrong with it, and the words, of each hostile command line that is made of a good one."""
    words = GOOD[name]
    for option, valued in parameters()[words[0]]:
        if not valued:
            yield option, _given(words, option, None)
            continue
        for what, value in VALUES.items():
            yield f"{option} is {what}", _given(words, option, value)


METHOD = '\n[method]\nname = "perturbed-generalization"\nk = 2\ndomain = ["flu", "cold", "gout", "mumps", "croup"]\n'


def prepared(folder: Path) -> None:
    """What the command lines above speak of: two releases of the people, a sampled one, and a plain table."""
    job((PROMISE, 'model = "delta-growth"\ndelta = 0.9\nlambda = 0.5'), more=METHOD)(folder)
    sampled = (folder / "job.toml").read_text()
    for text, name in ((sampled, "sampled"), (JOB, "release"), (JOB, "second")):
        words = ("publish", "job.toml", "-o", name, "--again")
        ran = run(folder, Case(lambda folder, text=text: (folder / "job.toml").write_text(text), 0, words))
        assert ran.code == 0, ran.err
    (folder / "plain.csv").write_text((folder / "people.csv").read_text().replace("person,", "who,"))


def contents(folder: Path) -> dict[str, bytes]:
    """Of every file: none is changed by a command that fails."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
