"""Command lines that work, one or more for each command, and the folder that they run in."""

from __future__ import annotations

from pathlib import Path

from tests.support.hostile_cases import JOB, PROMISE, Case, job, run

SQL = "SELECT COUNT(*) FROM release WHERE age > 30"


GOOD: dict[str, tuple[str, ...]] = {  # a name for each command line that works; its first word is the command
    "init": ("init", "people.csv", "-o", "new.toml"),
    "schema": ("schema",),
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
    "plugins": ("plugins",),
    "releases": ("releases",),
    "releases, one of them": ("releases", "release", "--json"),
    "releases of a person": ("releases", "--person", "persons.txt"),
    "forget": ("forget", "job.toml", "--person", "persons.txt", "-o", "rest.csv", "--job-to", "rest.toml"),
    "withdraw": ("withdraw", "second", "--reason", "wrong column"),
    "data": ("data", "census", "--rows", "20", "-o", "new.csv"),
    "demo": ("demo", "--to", "new", "--rows", "300"),
}  # fmt: skip


METHOD = '\n[method]\nname = "perturbed-generalization"\nk = 2\ndomain = ["flu", "cold", "gout", "mumps", "croup"]\n'


def prepared(folder: Path) -> None:
    """What the command lines above speak of: two releases of the people, a sampled one, and a plain table."""
    job((PROMISE, 'model = "delta-growth"\ndelta = 0.9\nlambda = 0.5'), more=METHOD)(folder)
    sampled = (folder / "job.toml").read_text()
    for text, name in ((sampled, "sampled"), (JOB, "release"), (JOB, "second")):
        words = ("publish", "job.toml", "-o", name, "--again")
        ran = run(folder, Case(lambda folder, text=text: (folder / "job.toml").write_text(text), 0, words))
        assert ran.code == 0, ran.err
    (folder / "persons.txt").write_text("p0003\n")
    (folder / "plain.csv").write_text((folder / "people.csv").read_text().replace("person,", "who,"))
