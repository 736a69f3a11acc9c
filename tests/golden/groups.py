"""What the golden set is made of: groups of items, each a name and the text or bytes that the package makes of it today.

A group works in a folder of its own and uses the command line and the public names alone, so that nothing inside the
package can be renamed, merged or rewritten without the same items coming out.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import polars as pl

import reticent as rt
from tests.golden.bad_arguments import argument_messages
from tests.golden.bad_jobs import BAD_COMMANDS, BAD_JOBS
from tests.golden.command import ROOT, normalize, run, working_in
from tests.golden.tables import AGE_AND_CITY, BETA4, CASES, K3, L2, PEOPLE, Case, method, promise, write_tables

Items = Iterator[tuple[str, str | bytes]]

COMMANDS = (
    "init", "schema", "hierarchy", "check", "publish", "audit", "risk", "export", "query", "attack", "report", "compare", "advise",
    "calibrate", "plugins", "releases", "withdraw", "forget", "data", "demo",
)  # fmt: skip
COUNT = "SELECT COUNT(*) FROM release"
QUESTIONS = (
    COUNT,
    f"{COUNT} WHERE age < 40 OR age >= 65 AND city IN ('Ulm', 'Kiel')",
    f"{COUNT} WHERE age IS NULL OR NOT city = 'Bonn'",
    "SELECT COUNT(*), SUM(age), AVG(age), MIN(age), MAX(age) FROM release WHERE age BETWEEN 30 AND 60",
    "SELECT city, COUNT(*), AVG(age) FROM release WHERE age > 25 GROUP BY city",
    "SELECT {sensitive}, COUNT(*) FROM release GROUP BY {sensitive}",
    "SELECT city, {sensitive}, COUNT(*) FROM release WHERE age < 50 GROUP BY city, {sensitive}",
    "SELECT AVG(wage), MAX(wage) FROM release WHERE age < 50",
    "SELECT COUNT(*) FROM release WHERE {sensitive} = {value} AND age < 45",
    "SELECT COUNT(*) FROM people",
    "SELECT AVG(city) FROM release",
    "SELECT COUNT(*) FROM release ORDER BY age",
)
"""Questions to a release; some are refused, by all kinds or by some."""

ATTACKS: dict[str, tuple[str, ...]] = {
    "background": ("--bandwidth", "0.3", "--t", "0.7"),
    "corruption": ("--lambda", "0.4", "--rho1", "0.2"),
}
"""Attacks with options of their own; all of them are tried without."""


def folder_items(name: str, folder: Path) -> Items:
    """Every file of a release folder, byte for byte."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield f"{name}/{path.relative_to(folder)}", path.read_bytes()


def owner_items(name: str, folder: Path, working_directory: Path) -> Items:
    """What the owner keeps of a release; of what is encrypted, which is never twice the same, how long it is."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        try:
            text = normalize(path.read_text(encoding="utf-8"), working_directory)
        except UnicodeDecodeError:
            text = f"{path.stat().st_size} bytes"
        yield f"{name}/{path.relative_to(folder)}", text


def publish(job: str, output: str, *options: object) -> str:
    """Publish by the command line, with a ledger that knows nothing."""
    return run("publish", job, "-o", output, "--seed", 7, "--ledger", f"{output}-ledger", "--json", *options).text()


def release_items(case: Case, folder: Path) -> Items:
    """The releases of one job in each format, and what is said of them."""
    write_tables(folder)
    source = case.table if "." in case.table else f"{case.table}.csv"
    for file_format in case.formats:
        Path("job.toml").write_text(case.job(file_format), encoding="utf-8")
        yield f"{file_format}/publish", publish("job.toml", file_format)
        yield from folder_items(f"{file_format}/files", folder / file_format)
        yield from owner_items(f"{file_format}/owner", folder / "reticent-owner" / file_format, folder)
        yield f"{file_format}/audit", run("audit", file_format, "--json").text()
        population = ("--population", "population.csv") if "k-map" in case.rest else ()
        yield f"{file_format}/audit-source", run("audit", file_format, "--source", source, *population, "--json").text()
        yield f"{file_format}/query", run("query", file_format, QUESTIONS[4], "--json").text()
    yield "risk", run("risk", case.formats[0], "--json").text()
    if case.looks == "all":
        yield from closer_items(case, source, folder)


def closer_items(case: Case, source: str, folder: Path) -> Items:
    """Attacks, questions, risks and reports of the first release, in words and as JSON."""
    release = case.formats[0]
    sensitive, value = ("wage", "2000") if 'wage    = { role = "sensitive"' in case.columns else ("illness", "'flu'")
    for number, question in enumerate(QUESTIONS):
        asked = question.format(sensitive=sensitive, value=value)
        yield f"query/{number:02}", asked + "\n" + run("query", release, asked, "--json").text()
    asked = QUESTIONS[6].format(sensitive=sensitive)
    yield "query/text", run("query", release, asked).text()
    yield "query/level", run("query", release, asked, "--level", "0.8", "--by", "em", "--json").text()
    yield "query/sql", run("query", release, QUESTIONS[1], "--print-sql", "sqlite").text()
    Path("questions.sql").write_text(";\n".join(QUESTIONS[:5]) + ";\n", encoding="utf-8")
    if 'type = "date"' not in case.columns:
        yield "query/file", run("query", release, "--file", "questions.sql", "--source", source, "--json").text()
    attack = ("attack", release, "--source", source, "--budget", "600")
    yield "attack", run(*attack, "--json").text()
    yield "attack-text", run(*attack).text()
    for name, options in ATTACKS.items():
        yield f"attack-{name}", run(*attack, "--as", name, *options, "--json").text()
    if "mondrian" in case.rest or "mosaic" in case.rest:
        others = ("--as", "singling-out", "--others", "others.csv")
        yield "attack-singling-out", run(*attack, *others, "--json").text()
    yield "audit-text", run("audit", release, "--source", source).text()
    yield "risk-source", run("risk", release, "--source", source, "--population", "everyone.csv", "--json").text()
    yield "risk-text", run("risk", release).text()
    for file_format in ("html", "md", "json"):
        report = f"report.{file_format}"
        yield f"report-{file_format}", run("report", release, "--format", file_format, "-o", report).text()
        yield f"public.{file_format}", normalize(Path(report).read_text(encoding="utf-8"), folder)
    internal = ("report", release, "--internal", "--source", source, "--budget", "600")
    yield "report-internal", run(*internal).text()
    for path in sorted(folder.glob("reticent-owner/**/*.html")):
        yield "internal.html", normalize(path.read_text(encoding="utf-8"), folder)
    opened = rt.open(release)
    yield "frame-bounds", opened.frame(bounds=True).write_csv()
    yield "repr", f"{opened!r}\n{opened}\n{opened._repr_html_()}\n{opened.audited}\n{opened.audited._repr_html_()}\n"
    yield "export", run("export", release, f"sqlite:///{folder / 'out.db'}", "--table", "people", "--json").text()
    if Path("out.db").exists():
        with closing(sqlite3.connect("out.db")) as connection:
            yield "export.sql", "\n".join(connection.iterdump())


CENSUS_COLUMNS = """
age            = "quasi-identifying"
gender         = "quasi-identifying"
education      = "quasi-identifying"
marital_status = "quasi-identifying"
work_class     = "insensitive"
salary_class   = "sensitive"
"""
CENSUS = f"""
[source]
path = "census.csv"
[columns]{CENSUS_COLUMNS}
{promise("k-anonymity", k=5)}
{BETA4}
[release]
undeclared = "drop"
part_rows = 1000
"""


def engine_items(folder: Path) -> Items:
    """One job by each engine of this machine, files in parts, batches, and a plan in regions."""
    rt.datasets.load("census", rows=2_400, seed=3).write_csv("census.csv")
    Path("census.toml").write_text(CENSUS, encoding="utf-8")
    Path("anatomy.toml").write_text(
        CENSUS.replace(promise("k-anonymity", k=5), "").replace(BETA4, L2) + method("anatomy")
    )
    for engine in ("local", "stream"):
        for file_format in ("parquet", "csv"):
            name = f"{engine}-{file_format}"
            yield f"{name}/publish", publish("census.toml", name, "--engine", engine, "--format", file_format)
            yield from folder_items(f"{name}/files", folder / name)
            yield f"{name}/audit", run("audit", name, "--source", "census.csv", "--json").text()
        yield (
            f"{engine}-check",
            run("check", "census.toml", "--methods", "mondrian", "--engine", engine, "--json").text(),
        )
        name = f"{engine}-batches"
        yield f"{name}/publish", publish("anatomy.toml", name, "--engine", engine, "--batch-by", "work_class")
        yield from folder_items(f"{name}/files", folder / name)
    yield "regions-without-spark", publish("census.toml", "refused", "--regions", "4")


def regional_items(folder: Path) -> Items:
    """A plan in regions, its table in parts in this process: what `--regions` does on Spark's executors."""
    from tests.support.in_process_partitions import Spread

    people = rt.datasets.load("census", rows=1_800, seed=2).with_columns(pl.col("work_class").cast(pl.String))
    quasi = ("age", "gender", "education", "marital_status")
    columns = {**{name: rt.quasi() for name in quasi}, "work_class": rt.insensitive(), "salary_class": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5), rt.BetaLikeness(4)], release=rt.Output(undeclared="drop"))
    for file_format in ("parquet", "csv"):
        output = job.at(release=rt.Output(undeclared="drop", format=file_format))
        release = rt.publish(
            output, frame=people, to=file_format, ledger="ledger", again=True, seed=3, engine=Spread(6, 400)
        )
        yield from folder_items(f"{file_format}/files", folder / file_format)
        yield f"{file_format}/audited", json.dumps(release.audited.to_dict(), indent=1, default=str)


def planning_items(folder: Path) -> Items:
    """What is said before anything is published: check, compare, advise, sweep, calibrate, drafts, hierarchies."""
    write_tables(folder)
    names = {
        "mondrian": K3 + L2 + method("mondrian"),
        "beta": BETA4 + method("mondrian"),
        "anatomy": L2 + method("anatomy"),
    }
    for name, rest in names.items():
        Path(f"{name}.toml").write_text(Case(AGE_AND_CITY, rest).job("parquet"), encoding="utf-8")
        check = ("check", f"{name}.toml", "--methods", "mondrian,sabre,anatomy", "--budget", "600")
        yield f"check-{name}", run(*check, "--json").text()
        yield f"check-{name}-text", run(*check).text()
    Path("steward.toml").write_text(CASES["mondrian-visits"].job("csv"), encoding="utf-8")
    yield "check-steward", run("check", "steward.toml", "--methods", "mondrian", "--budget", "600", "--json").text()
    unreachable = Case(AGE_AND_CITY, promise("probabilistic-l-diversity", l=40)).job("csv")
    Path("unreachable.toml").write_text(unreachable, encoding="utf-8")
    yield "check-unreachable", run("check", "unreachable.toml", "--budget", "600", "--json").text()
    yield "publish-unreachable", publish("unreachable.toml", "unreachable")
    compare = ("compare", "beta.toml", "--methods", "mondrian,burel", "--sweep", "beta=2,4", "--budget", "600")
    compare = (*compare, "--no-classification", "--csv", "compare.csv")
    yield "compare", run(*compare, "--attacks", "naive-bayes,skewness", "--json").text()
    yield "compare-text", run(*compare, "--attacks", "none", "--force").text()
    advise = ("advise", "beta.toml", "--for", "counts", "--methods", "mondrian,burel,anatomy", "--budget", "600")
    yield "advise", run(*advise, "--json").text()
    yield "advise-text", run(*advise).text()
    job = rt.Job.read("beta.toml").at(method="mondrian", promises=[rt.KAnonymity(3), rt.BetaLikeness(4)])
    swept = rt.sweep(job, seed=1, k=[2, 10], beta=[2, 4]).frame()
    yield "sweep", swept.select(pl.exclude("cpu_seconds", "seconds")).write_csv()
    measured = rt.measure(rt.plan(job, seed=1))
    yield "measure", json.dumps(measured, indent=1, default=str)
    for data in ("people.csv", "visits.csv", "people.parquet"):
        yield f"init-{data}", run("init", data, "-o", "-").text()
    foreign = ("init", "foreign.csv", "--encoding", "latin-1", "--missing", "k.A.")
    yield "init-foreign", run(*foreign, "-o", "foreign.toml", "--json").text()
    yield "init-foreign.toml", Path("foreign.toml").read_text(encoding="utf-8")
    growth = ("--p", "0.3", "--k", "6", "--lambda", "0.1", "--rho1", "0.2", "--domain", "50")
    yield "calibrate-perturbed", run("calibrate", "perturbed-generalization", *growth, "--json").text()
    yield (
        "calibrate-suppression",
        run("calibrate", "suppression", "--counts", "60,20,10,10", "--l", "2", "--json").text(),
    )
    build = ("hierarchy", "--data", "people.csv", "--column")
    yield "hierarchy-age", run(*build, "age", "--build", "intervals", "--with", "width=[5,20]", "--json").text()
    yield "hierarchy-born", run(*build, "born", "--build", "dates").text()
    yield "hierarchy-file", run("hierarchy", "city.csv", "--data", "people.csv", "--column", "city", "--json").text()
    yield "risk-table", run("risk", "people.csv", "--quasi", "age,city,ward", "--json").text()
    yield "risk-persons", run("risk", "visits.csv", "--quasi", "age,city", "--person", "name", "--json").text()


def ledger_items(folder: Path) -> Items:
    """People who are published twice, releases that are joined, and releases that were changed."""
    write_tables(folder)
    Path("job.toml").write_text(Case(PEOPLE, K3 + method("mondrian")).job("csv"), encoding="utf-8")
    Path("anatomy.toml").write_text(Case(PEOPLE, L2 + method("anatomy")).job("csv"), encoding="utf-8")
    yield "first", run("publish", "job.toml", "-o", "first", "--seed", 1, "--json").text()
    yield "repeated", run("publish", "job.toml", "-o", "second", "--seed", 2).text()
    yield "exists", run("publish", "job.toml", "-o", "first", "--seed", 2, "--again").text()
    yield "again", run("publish", "anatomy.toml", "-o", "second", "--seed", 2, "--again", "--json").text()
    yield "forced", run("publish", "job.toml", "-o", "first", "--seed", 3, "--again", "--force").text()
    composition = ("attack", "first", "--source", "people.csv", "--as", "composition", "--with", "second")
    yield "composition", run(*composition, "--json").text()
    yield "other-source", run("audit", "first", "--source", "visits.csv", "--json").text()
    yield "other-job", run("audit", "first", "--job", "anatomy.toml", "--source", "people.csv", "--json").text()
    data = Path("first/data.csv")
    data.write_text(data.read_text(encoding="utf-8").replace("flu", "gout", 1), encoding="utf-8")
    for name in ("audit", "query", "risk", "report"):
        yield f"damaged-{name}", run(name, "first", *([COUNT] if name == "query" else [])).text()
    people = pl.read_csv("people.csv").with_columns(age=pl.col("age") // 20 * 20).select("age", "city", "illness")
    people.write_csv("other-tool.csv")
    roles = ("--quasi", "age,city", "--sensitive", "illness", "--hierarchy", "city=city.csv")
    Path("plain.toml").write_text(Case(AGE_AND_CITY, K3 + L2).job("csv"), encoding="utf-8")
    yield "plain-audit", run("audit", "other-tool.csv", *roles, "--json").text()
    yield "plain-audit-job", run("audit", "other-tool.csv", "--job", "plain.toml", "--json").text()
    yield "plain-risk", run("risk", "other-tool.csv", "--quasi", "age,city", "--json").text()
    yield (
        "plain-attack",
        run("attack", "other-tool.csv", "--source", "people.csv", *roles, "--as", "naive-bayes", "--json").text(),
    )


def error_items(folder: Path) -> Items:
    """Bad jobs and bad commands: what is said, and the exit code."""
    write_tables(folder)
    good = Case(AGE_AND_CITY, K3 + BETA4 + method("mondrian")).job("csv")
    for name, (old, new) in BAD_JOBS.items():
        assert old in good, name
        Path("bad.toml").write_text(good.replace(old, new, 1), encoding="utf-8")
        yield f"job/{name}", run("check", "bad.toml", "--methods", "mondrian", "--budget", "600").text()
        yield f"job/{name}-json", publish("bad.toml", "bad")
    Path("good.toml").write_text(good, encoding="utf-8")
    for name, words in BAD_COMMANDS.items():
        yield f"command/{name}", run(*words).text()


def document_items(folder: Path) -> Items:
    """The pages that other programs and people rely on: the contract, the schema, the help of each command."""
    for name in ("contract.md", "job.schema.json"):
        yield name, (ROOT / "docs" / name).read_text(encoding="utf-8")
    yield "help", run("--help").text()
    for command in COMMANDS:
        yield f"help-{command}", run(command, "--help").text()
    yield "public-names", "\n".join(sorted(name for name in dir(rt) if not name.startswith("_")))


def argument_items(folder: Path) -> Items:
    """Wrong arguments to every public class and function, and what is said of them."""
    for name, said in argument_messages():
        yield name, normalize(said, folder)


GROUPS: dict[str, Callable[[Path], Items]] = {
    "documents": document_items,
    "errors": error_items,
    "arguments": argument_items,
    "planning": planning_items,
    "ledger": ledger_items,
    "engines": engine_items,
    "regional": regional_items,
    **{f"release-{name}": lambda folder, case=case: release_items(case, folder) for name, case in CASES.items()},
}
"""What one test makes anew, by name."""


def make(group: str, folder: Path) -> dict[str, str | bytes]:
    """Make the items of a group in a new folder."""
    with working_in(folder) as working_directory:
        return dict(GROUPS[group](working_directory))
