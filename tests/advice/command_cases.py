"""Advice of the command line: provoked and followed by command lines."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path
from typing import Any

import reticent as rt
from reticent.cli import compare as compare_command
from reticent.cli import demo, startup
from tests.advice.cases import CaseTable, Desk, Steps
from tests.advice.kind_releases import publish_kind
from tests.support.contract_examples import CITIES, people, population

TABLE = CaseTable()
follows = TABLE.follows
JOB = """\
[source]
path = "people.csv"
[columns]
name = "identifying"
age = "quasi-identifying"
city = "quasi-identifying"
illness = "sensitive"
wage = "identifying"
[[promise]]
model = "k-anonymity"
k = 3
"""
PLAIN = ("--quasi", "age,city", "--sensitive", "illness")


def write_files(desk: Desk) -> None:
    """Write people.csv, job.toml and city.csv."""
    people().write_csv(desk / "people.csv")
    (desk / "job.toml").write_text(JOB)
    (desk / "city.csv").write_text("".join(";".join(row) + "\n" for row in CITIES))


def release_folder() -> Path:
    return publish_kind("generalized").folder


# attack and audit.


@follows("cli/attack.py", "the folder that `reticent publish` made, or a plain file.")
def attack_what_is_not_there(desk: Desk) -> Steps:
    write_files(desk)
    words = ("--source", "people.csv", "--as", "skewness")
    yield desk.command("attack", "nowhere", *words)
    yield desk.command("attack", release_folder(), *words)
    yield desk.command("attack", "people.csv", *words, *PLAIN)


@follows("cli/attack.py", "--source DATA.")
def attack_in_every_way_without_source(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("attack", release_folder())
    yield desk.command("attack", release_folder(), "--source", "people.csv", "--budget", "1")


@follows("cli/attack.py", "… COLUMN=0.2.")
def attack_with_bandwidth_of_no_column(desk: Desk) -> Steps:
    write_files(desk)
    words = ("attack", release_folder(), "--source", "people.csv", "--as", "background", "--t", "0.2", "--bandwidth")
    yield desk.command(*words, "=0.2")
    yield desk.command(*words, "age=0.2", "--bandwidth", "city=0.2")


@follows("cli/attack.py", "… 0.3 once, for all columns, and … COLUMN=0.2 once for each that differs.")
def attack_with_two_bandwidths(desk: Desk) -> Steps:
    write_files(desk)
    words = ("attack", release_folder(), "--source", "people.csv", "--as", "background", "--t", "0.2")
    yield desk.command(*words, "--bandwidth", "0.3", "--bandwidth", "0.2")
    yield desk.command(*words, "--bandwidth", "0.3", "--bandwidth", "age=0.2")


@follows("cli/audit.py", "the folder that `reticent publish` made, or a plain file.")
def audit_what_is_not_there(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("audit", "nowhere")
    yield desk.command("audit", release_folder())
    yield desk.command("audit", "people.csv", *PLAIN)


@follows("cli/audit.py", "--source DATA.")
def audit_with_missing_of_no_source(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("audit", release_folder(), "--missing", "NA")
    yield desk.command("audit", release_folder(), "--missing", "NA", "--source", "people.csv")


# calibrate.


@follows("cli/calibrate.py", "{suggest(method, CALIBRATION_MODULES)}")
def calibrate_unknown_method(desk: Desk) -> Steps:
    yield desk.command("calibrate", "supression", "--counts", "10,4,2,1,1", "--l", "3")
    yield desk.command("calibrate", "suppression", "--counts", "10,4,2,1,1", "--l", "3")


@follows("cli/calibrate.py", "….")
def calibrate_from_other_numbers(desk: Desk) -> Steps:
    yield desk.command("calibrate", "suppression", "--counts", "10,4,2,1,1", "--l", "3", "--rho1", "0.2")
    yield desk.command("calibrate", "suppression", "--counts", "10,4,2,1,1", "--l", "3", "--prior", "uniform")


@follows("cli/calibration/suppression.py", "--counts 10,4,2,1,1 --l 3.")
def calibrate_from_too_little(desk: Desk) -> Steps:
    yield desk.command("calibrate", "suppression", "--l", "3")
    yield desk.command("calibrate", "suppression", "--counts", "10,4,2,1,1", "--l", "3")


@follows("cli/calibration/suppression.py", "--counts 10,4,2,1,1.")
def calibrate_from_no_counts(desk: Desk) -> Steps:
    yield desk.command("calibrate", "suppression", "--counts", "10,0", "--l", "3")
    yield desk.command("calibrate", "suppression", "--counts", "10,4,2,1,1", "--l", "3")


# The parser, and failures of the machine.


@follows("cli/commands.py", "a file or folder; a database is named by url = ... in a job's [source].")
def publish_to_an_address(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("publish", "job.toml", "-o", "sqlite:///people.db")
    yield desk.command("publish", "job.toml", "-o", "release")
    with sqlite3.connect(desk / "people.db") as database:
        database.execute("CREATE TABLE people (name TEXT, age INTEGER, city TEXT, illness TEXT, wage INTEGER)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", people().rows())
    (desk / "db.toml").write_text(
        JOB.replace('path = "people.csv"', f'url = "sqlite:///{desk / "people.db"}"\ntable = "people"')
    )
    yield desk.command("publish", "db.toml", "-o", "second", "--again")


@follows("cli/failures.py", "… …; --help tells of each.")
def use_unknown_option(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("publish", "job.toml", "--out", "release")
    yield desk.command("publish", "job.toml", "--output", "release")
    yield desk.command("publish", "--help")


@follows("cli/failures.py", "`…`; --help tells of each option.")
def leave_option_out(desk: Desk) -> Steps:
    write_files(desk)
    rt.publish(rt.Job.read("job.toml"), to="patients-release", seed=1)
    yield desk.command("withdraw", "patients-release")
    yield desk.command("withdraw", "patients-release", "--reason", "wrong column")
    yield desk.command("withdraw", "--help")


@follows("cli/failures.py", "{_advise_command(error.format_message())}")
def use_unknown_command(desk: Desk) -> Steps:
    yield desk.command("wishes")
    yield desk.command("--help")


@follows("cli/main.py", "another name.")
def name_file_with_a_nul(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("publish", "job.toml", "-o", "rele\0ase")
    yield desk.command("publish", "job.toml", "-o", "release")


def fail_with(desk: Desk, error: Exception, *words: str) -> Any:
    """Return a command line that ends with an error of the machine."""
    from reticent import datasets

    def fail(*arguments: Any, **named: Any) -> Any:
        raise error

    return desk.with_setting(datasets, "names", fail, desk.command(*words, "data"))


@follows("cli/failures.py", "more room, or another folder.")
def write_to_full_disk(desk: Desk) -> Steps:
    yield fail_with(desk, OSError(errno.ENOSPC, "full"))
    yield desk.command("data")


@follows("cli/failures.py", "another name, or a folder that is there.")
def write_to_unusable_path(desk: Desk) -> Steps:
    yield fail_with(desk, OSError(errno.ENAMETOOLONG, "long"))
    yield desk.command("data")


@follows("cli/failures.py", "--traceback, and reporting what it prints together with the job file.")
def meet_a_bug(desk: Desk) -> Steps:
    record = people()["name"][0]
    yield fail_with(desk, LookupError(record))

    def see_frames() -> None:
        outcome = fail_with(desk, LookupError(record), "--traceback")()
        assert "data.py" in outcome.err and record not in outcome.err

    yield see_frames


@follows("cli/startup.py", "ulimit -v unlimited; a control group limits what is filled.")
def run_with_few_addresses(desk: Desk) -> Steps:
    for name in startup.FRUGAL_ENVIRONMENT:
        desk.patch.setenv(name, startup.FRUGAL_ENVIRONMENT[name])
    yield desk.with_setting(startup, "get_address_limit", lambda: 1 << 28, startup.require_address_space)
    yield desk.with_setting(startup, "get_address_limit", lambda: None, startup.require_address_space)


@follows("cli/progress.py", "--log with a file's name.")
def log_to_a_folder(desk: Desk) -> Steps:
    yield desk.command("--log", desk.folder, "data")
    yield desk.command("--log", desk / "log.txt", "data")


@follows("cli/options.py", "--hierarchy education=education.csv.")
def name_hierarchy_without_column(desk: Desk) -> Steps:
    write_files(desk)
    words = ("audit", "people.csv", *PLAIN, "--hierarchy")
    yield desk.command(*words, "city.csv")
    yield desk.command(*words, "city=city.csv")


@follows("cli/options.py", "--engine spark.")
def name_master_of_no_cluster(desk: Desk) -> Steps:
    from reticent.cli.options import make_engine

    yield lambda: make_engine("local", "local[2]", None)
    yield lambda: make_engine("spark", "local[2]", None)


@follows("cli/output.py", "another name (-o), or --force.")
def write_data_again(desk: Desk) -> Steps:
    (desk / "census.csv").write_text("mine")
    words = ("data", "census", "--rows", "10", "-o")
    yield desk.command(*words, "census.csv")
    yield desk.command(*words, "others.csv")
    yield desk.command(*words, "census.csv", "--force")


@follows("cli/output.py", "another name (-o).")
def write_data_over_a_folder(desk: Desk) -> Steps:
    (desk / "census.csv").mkdir()
    words = ("data", "census", "--rows", "10", "-o")
    yield desk.command(*words, "census.csv")
    yield desk.command(*words, "others.csv")


@follows("cli/data.py", ".csv or .parquet.")
def write_data_as_something_else(desk: Desk) -> Steps:
    words = ("data", "census", "--rows", "10", "-o")
    yield desk.command(*words, "census.xlsx")
    yield desk.command(*words, "census.csv")
    yield desk.command(*words, "census.parquet")


@follows("cli/demo.py", "--to with another folder.")
def show_demo_in_a_used_folder(desk: Desk) -> Steps:
    def make_folder(name: str) -> None:
        with demo._make_fresh_folder(desk / name):
            pass

    (desk / "notes").mkdir()
    (desk / "notes" / "text").write_text("mine")
    yield desk.command("demo", "--to", desk / "notes")
    yield lambda: make_folder("demo")


# compare.


def compare(desk: Desk, *words: object) -> Any:
    return desk.command("compare", "job.toml", "--attacks", "none", "--no-classification", *words)


@follows("cli/compare.py", "--beside arx=arx.csv.")
def compare_with_table_without_name(desk: Desk) -> Steps:
    write_files(desk)
    people().select("age", "city", "illness").write_csv(desk / "arx.csv")
    yield compare(desk, "--beside", "arx.csv")
    yield compare(desk, "--beside", "arx=arx.csv")


@follows("cli/compare.py", "a CSV or Parquet file.")
def compare_with_table_that_is_not_there(desk: Desk) -> Steps:
    write_files(desk)
    people().select("age", "city", "illness").write_parquet(desk / "arx.parquet")
    yield compare(desk, "--beside", "arx=nowhere.csv")
    yield compare(desk, "--beside", "arx=arx.parquet")


@follows("cli/compare.py", "--privacy and another figure, such as loss, or --attacks with an attack.")
def draw_gain_without_attacks(desk: Desk) -> Steps:
    write_files(desk)
    yield compare(desk, "--chart", "frontier.svg")
    yield compare(desk, "--chart", "frontier.svg", "--privacy", "loss")
    yield desk.command("compare", "job.toml", "--no-classification", "--attacks", "skewness", "--chart", "second.svg")


@follows("cli/compare.py", "a file for each.")
def write_two_figures_to_one_file(desk: Desk) -> Steps:
    write_files(desk)
    yield compare(desk, "--chart", "one.svg", "--csv", "one.svg")
    yield compare(desk, "--chart", "one.svg", "--csv", "one.csv", "--privacy", "loss")


@follows("cli/compare.py", "another place for ….")
def write_figures_into_a_release(desk: Desk) -> Steps:
    write_files(desk)
    yield compare(desk, "--csv", release_folder() / "figures.csv")
    yield compare(desk, "--csv", "figures.csv")


@follows("cli/compare.py", "--chart frontier.svg.")
def draw_as_something_else(desk: Desk) -> Steps:
    write_files(desk)
    yield compare(desk, "--chart", "frontier.png")
    yield compare(desk, "--chart", "frontier.svg", "--privacy", "loss")


@follows("cli/compare.py", "another name.")
def write_figures_where_another_process_did(desk: Desk) -> Steps:
    from reticent.ledger import staging

    def fail(*arguments: Any, **named: Any) -> Any:
        raise FileExistsError

    write_texts = compare_command.write_texts
    yield desk.with_setting(staging, "stage_file", fail, lambda: write_texts({desk / "figures.csv": "x"}, False))
    yield lambda: write_texts({desk / "others.csv": "x"}, False)


SWEEPS = "--sweep beta=1..5, --sweep t=0.1..0.5..0.1, or --sweep k=2,5,10."


@follows("cli/compare.py", SWEEPS)
def sweep_nothing(desk: Desk) -> Steps:
    yield lambda: compare_command.parse_sweeps(["k"])
    yield from _follow_sweeps(desk)


@follows("cli/compare.py", SWEEPS)
def sweep_from_one_end(desk: Desk) -> Steps:
    yield lambda: compare_command.parse_sweeps(["k=2.."])
    yield from _follow_sweeps(desk)


@follows("cli/compare.py", SWEEPS)
def sweep_downwards(desk: Desk) -> Steps:
    yield lambda: compare_command.parse_sweeps(["k=9..2"])
    yield from _follow_sweeps(desk)


def _follow_sweeps(desk: Desk) -> Steps:
    write_files(desk)
    for entry in ("beta=1..5", "t=0.1..0.5..0.1", "k=2,5,10"):
        yield lambda entry=entry: compare_command.parse_sweeps([entry])
    yield compare(desk, "--sweep", "k=2,5")


@follows("cli/compare.py", "all of its values in one list.")
def sweep_twice(desk: Desk) -> Steps:
    write_files(desk)
    yield compare(desk, "--sweep", "k=2", "--sweep", "k=5")
    yield compare(desk, "--sweep", "k=2,5")


@follows("compare/candidates.py", 'methods=["mondrian", "mosaic"] (--methods mondrian,mosaic).')
def sweep_methods(desk: Desk) -> Steps:
    write_files(desk)
    job = rt.Job.read(desk / "job.toml")
    yield compare(desk, "--sweep", "method=mondrian,mosaic")
    yield compare(desk, "--methods", "mondrian,mosaic")
    yield lambda: rt.compare(job, methods=["mondrian", "mosaic"], attacks=(), classification=False)


@follows("compare/compare.py", "runs=3, rows=10_000 (--runs 3 --rows 10000).")
def compare_never(desk: Desk) -> Steps:
    write_files(desk)
    job = rt.Job.read(desk / "job.toml")
    yield compare(desk, "--runs", "0")
    yield compare(desk, "--runs", "3", "--rows", "10000")
    yield lambda: rt.compare(job, runs=3, rows=10_000, attacks=(), classification=False)


@follows("compare/compare.py", "seed=1 (--seed 1).")
def compare_with_seed_below_zero(desk: Desk) -> Steps:
    write_files(desk)
    job = rt.Job.read(desk / "job.toml")
    yield compare(desk, "--seed", "-1")
    yield compare(desk, "--seed", "1")
    yield lambda: rt.compare(job, seed=1, attacks=(), classification=False)


# query.


COUNT = "SELECT COUNT(*) FROM release"


@follows("cli/query.py", "the folder that `reticent publish` made.")
def ask_what_is_not_there(desk: Desk) -> Steps:
    yield desk.command("query", "nowhere", COUNT)
    yield desk.command("query", release_folder(), COUNT)


@follows("cli/query.py", "--analyses FILE, and --source DATA with it.")
def ask_analyses_beside_a_question(desk: Desk) -> Steps:
    write_files(desk)
    (desk / "analyses.toml").write_text('[[analysis]]\ntable = ["city", "illness"]\n')
    yield desk.command("query", release_folder(), COUNT, "--analyses", "analyses.toml")
    yield desk.command("query", release_folder(), "--analyses", "analyses.toml")
    yield desk.command("query", release_folder(), "--analyses", "analyses.toml", "--source", "people.csv")


@follows("cli/query.py", "--by inversion, or --by without --at and --print-sql.")
def print_sql_by_another_reconstruction(desk: Desk) -> Steps:
    words = ("query", publish_kind("anatomized").folder, COUNT)
    yield desk.command(*words, "--print-sql", "duckdb", "--by", "em")
    yield desk.command(*words, "--print-sql", "duckdb", "--by", "inversion")
    yield desk.command(*words, "--by", "em")


@follows("cli/query.py", "--density without --at and --print-sql.")
def print_sql_by_a_density(desk: Desk) -> Steps:
    yield desk.command("query", publish_kind("anatomized").folder, COUNT, "--print-sql", "duckdb", "--density", "even")
    yield desk.command("query", release_folder(), COUNT, "--density", "even")
    yield desk.command("query", release_folder(), COUNT, "--density", "likelihood")


@follows("cli/query.py", "--source without --at and --print-sql.")
def print_sql_beside_the_source(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("query", release_folder(), COUNT, "--print-sql", "duckdb", "--source", "people.csv")
    yield desk.command("query", release_folder(), COUNT, "--source", "people.csv")


@follows("cli/query.py", "SQL in quotes, or --file FILE, or --analyses FILE; with each, --source DATA.")
def ask_nothing(desk: Desk) -> Steps:
    write_files(desk)
    (desk / "questions.sql").write_text(f"{COUNT};")
    (desk / "analyses.toml").write_text('[[analysis]]\ntable = ["city", "illness"]\n')
    yield desk.command("query", release_folder())
    yield desk.command("query", release_folder(), COUNT)
    yield desk.command("query", release_folder(), COUNT, "--source", "people.csv")
    yield desk.command("query", release_folder(), "--file", "questions.sql")
    yield desk.command("query", release_folder(), "--file", "questions.sql", "--source", "people.csv")
    yield desk.command("query", release_folder(), "--analyses", "analyses.toml", "--source", "people.csv")


# risk.


@follows("cli/risk.py", "a table, or the folder that `reticent publish` made.")
def measure_what_is_not_there(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("risk", "nowhere")
    yield desk.command("risk", "people.csv")
    yield desk.command("risk", release_folder())


@follows("cli/risk.py", "a table, a release folder, or --job JOB for its source.")
def measure_nothing(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("risk")
    yield desk.command("risk", "people.csv")
    yield desk.command("risk", release_folder())
    yield desk.command("risk", "--job", "job.toml")


@follows("cli/risk.py", "the source of the release.")
def count_who_is_alone_in_a_release(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("risk", release_folder(), "--singling-out")
    yield desk.command("risk", "people.csv", "--job", "job.toml", "--singling-out")


@follows("cli/init.py", "both.")
def print_evidence_for_people(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("init", "people.csv", "-o", "-", "--evidence")
    yield desk.command("init", "people.csv", "-o", "-", "--evidence", "--json")


@follows("cli/risk.py", "a number from 0 to 1, such as 0.2.")
def measure_above_no_share(desk: Desk) -> Steps:
    yield desk.command("risk", release_folder(), "--threshold", "2")
    yield desk.command("risk", release_folder(), "--threshold", "0.2")


@follows("cli/risk.py", "--records FILE.")
def overwrite_no_records(desk: Desk) -> Steps:
    write_files(desk)
    words = ("risk", "people.csv", "--quasi", "age,city", "--force")
    yield desk.command(*words)
    yield desk.command(*words, "--records", "records.csv")


@follows("cli/risk.py", "one of them.")
def weigh_beside_a_population(desk: Desk) -> Steps:
    write_files(desk)
    population().write_csv(desk / "population.csv")
    words = ("risk", "people.csv", "--quasi", "age,city")
    yield desk.command(*words, "--weights", "wage", "--population", "population.csv")
    yield desk.command(*words, "--weights", "wage")
    yield desk.command(*words, "--population", "population.csv")


@follows("cli/risk.py", "`reticent risk` of the source alone.")
def measure_table_with_source(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("risk", "people.csv", "--source", "people.csv")
    yield desk.command("risk", "people.csv")


@follows("cli/risk.py", "--quasi A,B, or --job JOB.")
def weigh_by_what_everybody_knows(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("risk", "people.csv", "--weights", "wage")
    yield desk.command("risk", "people.csv", "--weights", "wage", "--quasi", "age,city")
    yield desk.command("risk", "people.csv", "--weights", "wage", "--job", "job.toml")


@follows("cli/risk.py", "--source DATA.")
def read_no_source_with_options(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv", separator=";")
    yield desk.command("risk", release_folder(), "--delimiter", ";")
    yield desk.command("risk", release_folder(), "--delimiter", ";", "--source", "people.csv")


@follows("cli/risk.py", "--source DATA.")
def count_persons_of_a_release(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("risk", release_folder(), "--person", "name")
    yield desk.command("risk", release_folder(), "--person", "name", "--source", "people.csv")


@follows("cli/risk.py", "--source DATA.")
def write_records_of_a_release(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("risk", release_folder(), "--records", "records.csv")
    yield desk.command("risk", release_folder(), "--records", "records.csv", "--source", "people.csv")
