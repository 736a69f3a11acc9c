"""Advice about hierarchies is followed: they are then read, or built."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from reticent import limits
from reticent.cli.hierarchy import EXAMPLE
from reticent.data import hierarchy_builders as builders
from reticent.data.hierarchy import Hierarchy, require_publishable
from reticent.errors import RequestError
from tests.advice.coverage import Trial, follows
from tests.advice.small_jobs import CITIES, ROWS, publish_column, publish_file, write_people
from tests.support.command_line import run as run

READ = "data/hierarchy.py"
BUILT = "data/hierarchy_builders.py"
ROWS_OF_CITIES = [[city, "south" if city == "Ulm" else "north", "*"] for city in CITIES]
AGES = [20 + row * 7 % 40 for row in range(ROWS)]
DAYS = [str(datetime.date(1960, 1, 1) + datetime.timedelta(row * 90)) for row in range(ROWS)]
NAMES = [CITIES[row % 4] for row in range(ROWS)]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An own folder with a hierarchy of the cities in it."""
    monkeypatch.chdir(tmp_path)
    Path("file.csv").write_text("".join(f"{';'.join(row)}\n" for row in ROWS_OF_CITIES))


def use(hierarchy: Any) -> None:
    """Publish the cities by this hierarchy."""
    publish_column("city", NAMES, hierarchy=hierarchy)


def read_text(text: str, encoding: str = "utf-8") -> None:
    Path("city.csv").write_text(text, encoding=encoding)
    use("city.csv")


def build(values: list[Any], name: str, **options: Any) -> None:
    """Publish a column whose hierarchy a builder makes."""
    publish_column("age", values, hierarchy={"build": name, **options})


WHOLE = "".join(f"{';'.join(row)}\n" for row in ROWS_OF_CITIES)
AMNESIA = "distinct\nname city\n* has south north\nsouth has Ulm\nnorth has Bonn Kiel Jena\n"
RANGES = "range\n0,100 has 0,39 40,100\n"
TREE = {"name": "*", "children": [{"name": "south", "children": ["Ulm"]}, {"name": "north", "children": ["Bonn"]}]}
LISTED = {
    "nodes": [{"id": 1, "label": "*"}, {"id": 2, "label": "Ulm"}, {"id": 3, "label": "Bonn"}],
    "edges": [{"from": 1, "to": 2}, {"from": 1, "to": 3}],
}
AMNESIA_FILE = "the file as Amnesia saved it."

TRIALS = [
    Trial(READ, 'hierarchy = "file.csv".', lambda: Hierarchy.of(5), lambda: use("file.csv")),
    Trial(READ, "saving it as UTF-8.", lambda: read_text("Köln;*\n", "latin-1"), lambda: read_text(WHOLE)),
    Trial(
        READ,
        "one row per value, `;` between levels.",
        lambda: read_text('Ulm;"south;*\n'),
        lambda: read_text(WHOLE),
    ),
    Trial(
        READ,
        '[["Kiel", "north", "*"], ...].',
        lambda: Hierarchy.from_rows(["Kiel"]),
        lambda: use(ROWS_OF_CITIES),
    ),
    Trial(
        READ,
        "one row per value, leaf first, the same number of levels in each, one root last.",
        lambda: read_text("Ulm;south;*\nBonn;*\n"),
        lambda: read_text(WHOLE),
    ),
    Trial(
        READ,
        "leaving out the values that no row has, or fewer levels.",
        lambda: require_publishable([*ROWS_OF_CITIES, ["Bern", "south", "*"]], "city", 17),
        lambda: [
            require_publishable(ROWS_OF_CITIES, "city", 17),
            require_publishable([[city, "*"] for city in (*CITIES, "Bern")], "city", 17),
        ],
    ),
    Trial(
        BUILT,
        "a column with values.",
        lambda: build([None] * ROWS, "intervals"),
        lambda: build(AGES, "intervals"),
    ),
    Trial(
        BUILT,
        "missing = [...] in [source] if they stand for nothing, or a builder for text.",
        lambda: build(["?", *map(str, AGES[1:])], "intervals"),
        lambda: [publish_marked_ages(), build(["?", *map(str, AGES[1:])], "prefixes")],
    ),
    Trial(BUILT, "width = 10.", lambda: build(AGES, "intervals", width=0), lambda: build(AGES, "intervals", width=10)),
    Trial(
        BUILT,
        "width = [5, 10, 20].",
        lambda: build(AGES, "intervals", width=[5, 12]),
        lambda: build(AGES, "intervals", width=[5, 10, 20]),
    ),
    Trial(
        BUILT,
        "edges = [18, 30, 45, 65].",
        lambda: build(AGES, "edges", edges=[30, 18]),
        lambda: build(AGES, "edges", edges=[18, 30, 45, 65]),
    ),
    Trial(
        BUILT,
        "edges = [[18, 30, 65], [18, 65]].",
        lambda: build(AGES, "edges", edges=[[18, 30], [20]]),
        lambda: build(AGES, "edges", edges=[[18, 30, 65], [18, 65]]),
    ),
    Trial(
        BUILT,
        "levels = ….",
        lambda: build(DAYS, "dates", levels=["year", "month"]),
        lambda: build(DAYS, "dates", levels=list(builders.CALENDAR_LEVELS)),
    ),
    Trial(
        BUILT,
        "dates as YYYY-MM-DD.",
        lambda: builders.dates(["3.4.1970", *DAYS]),
        lambda: builders.dates(["1970-04-03", *DAYS]),
    ),
    Trial(
        BUILT,
        'mask = "*".',
        lambda: build(NAMES, "prefixes", mask="**"),
        lambda: build(NAMES, "prefixes", mask="*"),
    ),
    Trial(
        BUILT,
        "keep = [3, 2].",
        lambda: build(NAMES, "prefixes", keep=[2, 3]),
        lambda: build(NAMES, "prefixes", keep=[3, 2]),
    ),
    Trial(BUILT, "fanout = 2.", lambda: build(AGES, "balanced", fanout=1), lambda: build(AGES, "balanced", fanout=2)),
    Trial(
        BUILT,
        "every value once.",
        lambda: build(NAMES, "balanced", order=["Ulm", "Bonn"]),
        lambda: build(NAMES, "balanced", order=list(CITIES)),
    ),
    Trial(BUILT, "each value once.", lambda: builders.ordered(["a", "a"]), lambda: builders.ordered(["a", "b", "c"])),
    Trial(
        BUILT,
        "size = 3.",
        lambda: builders.ordered(CITIES, size=1),
        lambda: builders.ordered(CITIES, size=3),
    ),
    Trial(
        BUILT,
        "groups = [16, 4].",
        lambda: build(AGES, "quantiles", groups=[16, 5]),
        lambda: build(AGES, "quantiles", groups=[16, 4]),
    ),
    Trial(
        BUILT,
        "a number such as 10 or 0.5.",
        lambda: build(AGES, "intervals", width="wide"),
        lambda: [build(AGES, "intervals", width=10), build(AGES, "intervals", width=0.5)],
    ),
    Trial(
        BUILT,
        "{suggest(str(kind), BUILDERS)}",
        lambda: build(AGES, "interval"),
        lambda: build(AGES, "intervals"),
    ),
    Trial(
        BUILT,
        "{suggest(parameter, parameters)}",
        lambda: build(AGES, "intervals", widt=10),
        lambda: build(AGES, "intervals", width=10),
    ),
    Trial(
        BUILT,
        "….",
        lambda: build(AGES, "edges"),
        lambda: build(AGES, "edges", edges=[30]),
    ),
    Trial(
        BUILT,
        "{error.attempt}",
        lambda: build(AGES, "balanced", fanout=0),
        lambda: build(AGES, "balanced", fanout=2),
    ),
    Trial(
        BUILT,
        "values of one type.",
        lambda: builders.intervals([1, "two", object()]),
        lambda: builders.intervals([1, 2, 3]),
    ),
    Trial(
        BUILT, AMNESIA_FILE, lambda: builders.from_amnesia("city\n* has a\n"), lambda: builders.from_amnesia(AMNESIA)
    ),
    Trial(
        BUILT,
        AMNESIA_FILE,
        lambda: builders.from_amnesia("range\n0,100 has 0,10,20\n", [5]),
        lambda: builders.from_amnesia(RANGES, [5, 50]),
    ),
    Trial(
        BUILT,
        "values without spaces.",
        lambda: builders.from_amnesia(AMNESIA.replace("Ulm", "Bad\nUlm")),
        lambda: builders.from_amnesia(AMNESIA.replace("Ulm", "BadUlm")),
    ),
    Trial(
        BUILT,
        "one node above all others.",
        lambda: builders.from_amnesia(AMNESIA.replace("* has south north\n", "")),
        lambda: builders.from_amnesia(AMNESIA),
    ),
    Trial(
        BUILT,
        "from_amnesia(path, values).",
        lambda: builders.from_amnesia(RANGES),
        lambda: builders.from_amnesia(RANGES, [5, 50]),
    ),
    Trial(
        BUILT,
        "wider ranges.",
        lambda: builders.from_amnesia(RANGES, [5, 120]),
        lambda: builders.from_amnesia(RANGES.replace("100", "200"), [5, 120]),
    ),
    Trial(
        BUILT,
        '{"nodes": [{"id", "label"}], "edges": [{"from", "to"}]}, or nested {"name", "children"}.',
        lambda: builders.from_tree({"nodes": [{"label": "*"}]}),
        lambda: [builders.from_tree(LISTED), builders.from_tree(TREE)],
    ),
    Trial(
        BUILT,
        '{"name": "*", "children": [...]}.',
        lambda: builders.from_tree({"children": ["Ulm"]}),
        lambda: builders.from_tree(TREE),
    ),
    Trial(
        BUILT,
        "saving it as UTF-8.",
        lambda: read_amnesia("latin-1"),
        lambda: read_amnesia("utf-8"),
    ),
]


def publish_marked_ages() -> None:
    write_people("people.csv", age=["?", *map(str, AGES[1:])])
    publish_file(missing=["?"], columns={"age": {"role": "quasi-identifying", "hierarchy": {"build": "intervals"}}})


def read_amnesia(encoding: str) -> None:
    Path("city.txt").write_text(AMNESIA.replace("Ulm", "Köln"), encoding=encoding)
    builders.from_amnesia("city.txt")


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_hierarchies_that_are_read_and_built(trial):
    trial.run()


@follows("limits.py", "a smaller file.")
def test_a_hierarchy_of_too_many_bytes():
    with open("large.csv", "wb") as file:
        file.truncate(limits.MAX_SIDE_FILE_BYTES + 1)
    with pytest.raises(RequestError, match="bytes"):
        use("large.csv")
    use("file.csv")


COMMAND = "cli/hierarchy.py"


@follows(
    COMMAND,
    "--data patients.csv --column age.",
    "`…`.",
    "leaving FILE out.",
    "{suggest_column(str(column), names, lazy)}",
    "a hierarchy file, or --data and --column to build one.",
    "--build if you want one.",
    "--with width=[5,10].",
)
def test_the_command_that_builds_hierarchies(run):
    Path("patients.csv").write_text("age,sex\n" + "".join(f"{age},{age % 2}\n" for age in AGES))
    column = ("--data", "patients.csv", "--column", "age")
    bands = (*column, "--build", "intervals")
    for wrong in (
        ("--data", "patients.csv"),
        (),
        ("file.csv", *bands),
        ("--data", "patients.csv", "--column", "agee"),
        ("absent.csv",),
        ("--data", "patients.csv", "--column", "sex"),
        (*bands, "--with", "width"),
    ):
        assert run("hierarchy", *wrong).code == 1, wrong
    for right in (
        EXAMPLE.split()[2:],
        column,
        bands,
        ("file.csv",),
        ("--data", "patients.csv", "--column", "sex", "--build", "balanced"),
        (*bands, "--with", "width=[5,10]"),
    ):
        ran = run("hierarchy", *right)
        assert ran.code == 0, ran.err


@follows(COMMAND, "--show-values to see them, or --missing if they stand for nothing.")
def test_values_that_the_hierarchy_lacks(run):
    Path("patients.csv").write_text("city\n" + "".join(f"{name}\n" for name in ["?", *NAMES]))
    command = ("hierarchy", "file.csv", "--data", "patients.csv", "--column", "city")
    assert run(*command).code == 1
    assert "?" in run(*command, "--show-values").err
    assert run(*command, "--missing", "?").code == 0
