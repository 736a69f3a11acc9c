"""Hostile sources, hierarchies and column names: what a stranger's file may hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.hostile.jobs import AGE
from tests.support.hostile_cases import CANARY, JOB, Case, csv_text, job, people

HEAD = "person,age,city,illness"
CITY = 'city    = { role = "quasi-identifying", hierarchy = "city.csv" }'
ESCAPES = "\x1b[2J\x1b]0;owned\x07"


def data(content: bytes | str) -> Callable[[Path], object]:
    raw = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / "people.csv").write_bytes(raw)


def rows(change: Callable[[list[list[str]]], object], head: str = HEAD, **more: str) -> Callable[[Path], object]:
    held = people()
    change(held)
    return data(csv_text(held, head))


def ages(*values: str) -> Callable[[Path], object]:
    """The ages of the first people replaced by these, in turn."""

    def change(held: list[list[str]]) -> None:
        for at, row in enumerate(held):
            row[1] = values[at % len(values)]

    return rows(change)


def illnesses(*values: str) -> Callable[[Path], object]:
    def change(held: list[list[str]]) -> None:
        for at, row in enumerate(held):
            row[3] = values[at % len(values)]

    return rows(change)


def both(*steps: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda folder: [step(folder) for step in steps]


def hierarchy(content: bytes | str) -> Callable[[Path], object]:
    raw = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / "city.csv").write_bytes(raw)


def toml(text: str) -> str:
    """A basic string of TOML."""
    return '"' + "".join(f"\\U{ord(mark):08x}" if not mark.isalnum() else mark for mark in text) + '"'


def renamed(name: str, at: int = 3) -> Callable[[Path], object]:
    """The column at this place under another name, in the file (quoted) and in the job."""
    old = HEAD.split(",")[at]
    head = HEAD.split(",")
    head[at] = '"' + name.replace('"', '""') + '"'
    lines = [line for line in JOB.splitlines() if line.startswith(old)]
    assert len(lines) == 1
    changed = JOB.replace(lines[0], f"{toml(name)} ={lines[0].partition('=')[2]}")

    def spoil(folder: Path) -> None:
        (folder / "people.csv").write_text(csv_text(people(), ",".join(head)), newline="")
        (folder / "job.toml").write_text(changed)

    return spoil


GOOD = csv_text(people())
NAMES = {
    "a line end": "ill\nness",
    "a CR": "ill\rness",
    "a quote": 'ill"ness',
    "an apostrophe": "ill'ness",
    "a comma": "ill,ness",
    "a backtick": "ill`ness",
    "10,000 characters": "i" * 10_000,
    "markup": "<script>alert(1)</script>",
    "a picture in Markdown": "![x](http://example.com/x.png)",
    "a table's end": "a | b |\n|---|",
    "terminal escapes": ESCAPES,
    "a turned reading direction": "ill\u202eness",
    "blanks": "   ",
    "a formula": "=cmd|' /C calc'!A0",
    "braces": "{illness} {0} %s",
    "rich's markup": "[bold red]x[/bold red]",
    "an unclosed tag": "[/nothing]",
    "our own count": "count",
    "our own group": "group",
    "our own lower end": "age_lower",
    "a NUL count": "\x00count",
    "literal": "literal",
    "index": "index",
    "len": "len",
    "a regular expression": "^.*$",
    "a glob": "ill*",
    "a glob of everything": "*",
    "a bracket": "ill[n]ess",
    "rows": "rows",
    "emoji": "🤒",
    "a combining letter": "é",
    "a path": "../../etc/passwd",
}
REFUSED = {"a line end", "a CR", "a NUL count", "blanks", "10,000 characters", "terminal escapes", "a turned reading direction",
           "a table's end", "a regular expression", "a glob of everything"}  # fmt: skip
CASES = {
    f"a column called {what}, {role}": Case(renamed(name, at), expected=1 if what in REFUSED else 0)
    for what, name in NAMES.items()
    for role, at in (("sensitive", 3), ("quasi-identifying", 1))
}
CASES |= {
    "a column without a name": Case(data(GOOD.replace(HEAD, "person,age,city,")), 1),
    "a column without a name that is declared": Case(renamed("", 3), expected=None),
    "two columns of one name": Case(data(GOOD.replace(HEAD, "person,age,age,illness")), 1),
    "two undeclared columns of one name": Case(
        data(
            "".join(line + ",1,2\n" for line in [HEAD, *map(",".join, people())]).replace(HEAD + ",1,2", HEAD + ",x,x")
        ),
        1,
    ),
    "names that differ in case": Case(
        both(data(GOOD.replace(HEAD, "person,age,AGE,illness")), job((CITY, 'AGE = "quasi"'))), 0
    ),
    "names that differ in blanks": Case(data(GOOD.replace(HEAD, "person, age,city,illness")), 1),
    "1,000 undeclared columns with escapes": Case(
        data(",".join([HEAD, *(f"{ESCAPES}{n}" for n in range(1_000))]) + "\n"), 1
    ),
    # CSV files
    "CR line ends": Case(data(GOOD.replace("\n", "\r")), 1, says=("CR alone",)),
    "CRLF line ends": Case(data(GOOD.replace("\n", "\r\n")), 0),
    "mixed line ends": Case(data(GOOD.replace("\n", "\r\n", 5)), expected=None),
    "no line end at the end": Case(data(GOOD.rstrip("\n")), 0),
    "empty lines at the end": Case(data(GOOD + "\n\n\n"), expected=None),
    "empty lines between": Case(data(GOOD.replace("\n", "\n\n")), expected=None),
    "a byte order mark": Case(data(b"\xef\xbb\xbf" + GOOD.encode()), 0),
    "two byte order marks": Case(data(b"\xef\xbb\xbf\xef\xbb\xbf" + GOOD.encode()), 1),
    "a byte order mark of UTF-16": Case(data(GOOD.encode("utf-16")), 1),
    "NULs alone": Case(data(b"\x00" * 1_000), 1),
    "NULs in a value": Case(rows(lambda held: held[0].__setitem__(3, "f\x00lu")), expected=None),
    "NULs in the header": Case(data(GOOD.replace("illness", "ill\x00ness")), 1),
    "a NUL at the end": Case(data(GOOD.encode() + b"\x00"), 1),
    "bytes that are no text": Case(data(GOOD.encode() + bytes(range(128, 256))), 1),
    "half a letter": Case(rows(lambda held: None), 0),
    "a header alone": Case(data(HEAD + "\n"), 1),
    "a header without a line end": Case(data(HEAD), 1),
    "one row": Case(data("\n".join(GOOD.splitlines()[:2]) + "\n"), 2),
    "one byte": Case(data(b"x"), 1),
    "a line end alone": Case(data(b"\n"), 1),
    "a quote that is not closed": Case(data(GOOD + '"p,30,Ulm,flu\n'), 1),
    "a quote in the middle": Case(rows(lambda held: held[0].__setitem__(3, 'f"lu')), expected=None),
    "a header in quotes": Case(data(GOOD.replace(HEAD, '"person","age","city","illness"')), 0),
    "a header whose quote is not closed": Case(data(GOOD.replace(HEAD, 'person,age,city,"illness')), 1),
    "a row that is too long": Case(data(GOOD + "a,30,Ulm,flu,more\n"), 1),
    "100,000 fields in a row": Case(data(GOOD + "a," * 100_000 + "\n"), 1),
    "100,000 columns": Case(data(HEAD + "," + ",".join(f"c{n}" for n in range(100_000)) + "\n"), 1),
    "a field of a million characters": Case(rows(lambda held: held[0].__setitem__(3, "x" * 1_000_000)), expected=None),
    "a name of a million characters": Case(data("x" * 1_000_000 + "\n1\n"), 1),
    "JSON": Case(data(b'{"a": 1}'), 1),
    "HTML": Case(data(b"<html><body>404</body></html>"), 1),
    "a Parquet file that is called CSV": Case(data(b"PAR1" + bytes(100) + b"PAR1"), 1),
    "a gzipped file": Case(data(bytes.fromhex("1f8b0800000000000003") + bytes(50)), 1),
    # Numbers and values
    "ages of 20 digits": Case(ages("99999999999999999999", "10000000000000000000", "1"), expected=None),
    "ages of 2^63": Case(ages(str(2**63), str(2**63 - 1), "7"), 0),
    "ages beyond 2^64": Case(ages(str(2**64), str(2**64 + 1), "7"), 1, says=("too many digits",)),
    "ages of 400 digits": Case(ages("9" * 400, "1"), 1),
    "ages of 1e400": Case(ages("1e400", "1"), 1),
    "ages of 1e308": Case(ages("1e308", "-1e308", "1"), expected=None),
    "ages of 5e-324": Case(ages("5e-324", "0", "1"), expected=None),
    "ages of -0": Case(ages("-0", "0", "1"), 0),
    "ages of -0.0": Case(ages("-0.0", "0.0", "1.5"), 0),
    "ages of nan": Case(ages("nan", "1"), 1),
    "ages of inf": Case(ages("inf", "-inf", "1"), 1),
    "ages in Arabic digits": Case(ages("٣٤", "٣٥"), 1),
    "ages with thousands": Case(ages("1_000", "2_000"), 1),
    "ages in hexadecimal": Case(ages("0x10", "0x20"), 1),
    "ages with blanks": Case(ages(" 30", "40 "), 0),
    "ages with a comma": Case(ages('"30,5"', '"40,5"'), 1),
    "ages with a plus": Case(ages("+30", "40"), 0),
    "ages of the canary": Case(ages(CANARY, "30"), 1),
    "ages that are dates": Case(ages("2001-01-01", "2002-02-02"), 1),
    "ages that are all missing": Case(ages(""), 0),
    "illnesses with line ends": Case(illnesses('"flu\nbad"', "cold", "gout"), 0),
    "illnesses with terminal escapes": Case(illnesses(ESCAPES, "cold", "gout"), 0),
    "illnesses that are formulas": Case(illnesses("=1+1", "+1+1", "@x"), 0),
    "illnesses that look like labels": Case(illnesses("*", '"[1, 2]"', '"{a, b}"'), 0),
    "illnesses that are one": Case(illnesses("flu"), 0),
    "illnesses that are missing": Case(illnesses("", "flu"), 1),
    "illnesses of 20 digits": Case(illnesses("99999999999999999999", "10000000000000000000", "1"), 0),
    "illnesses beyond 2^64": Case(illnesses(str(2**64 + 1), str(2**64 + 2), "1"), 0),
    "illnesses of 30 decimals": Case(illnesses("0." + "1" * 30, "0." + "1" * 29 + "2", "1"), 0),
    "a person with a terminal escape": Case(rows(lambda held: held[0].__setitem__(0, ESCAPES)), 0),
    # Hierarchies
    "an empty hierarchy": Case(hierarchy(b""), 1),
    "a hierarchy of NULs": Case(hierarchy(b"\x00" * 100), 1),
    "a hierarchy that is no text": Case(hierarchy(bytes(range(256))), 1),
    "a hierarchy in UTF-16": Case(hierarchy("Ulm;*\n".encode("utf-16")), 1),
    "a hierarchy with a byte order mark": Case(hierarchy(b"\xef\xbb\xbfUlm;*\nBonn;*\nKiel;*\nJena;*\n"), 0),
    "a hierarchy with CR line ends": Case(hierarchy("Ulm;*\rBonn;*\rKiel;*\rJena;*\r"), expected=None),
    "a hierarchy of one column": Case(hierarchy("Ulm\nBonn\nKiel\nJena\n"), 1),
    "a hierarchy with two roots": Case(hierarchy("Ulm;a\nBonn;b\nKiel;a\nJena;b\n"), 1),
    "a hierarchy that is no tree": Case(hierarchy("Ulm;a;x;*\nBonn;a;y;*\nKiel;b;x;*\nJena;b;x;*\n"), 1),
    "a hierarchy of ragged rows": Case(hierarchy("Ulm;a;*\nBonn;*\nKiel;*\nJena;*\n"), 1),
    "a hierarchy with a leaf twice": Case(hierarchy("Ulm;a;*\nUlm;b;*\nBonn;a;*\nKiel;a;*\nJena;a;*\n"), 1),
    "a hierarchy without a city": Case(hierarchy("Ulm;*\nBonn;*\nKiel;*\n"), 1),
    "a hierarchy with a quote that is not closed": Case(hierarchy('Ulm;"*\nBonn;*\nKiel;*\nJena;*\n'), expected=None),
    "a hierarchy of 1,000 levels": Case(
        hierarchy(
            "".join(
                ";".join([city, *(f"{city}{n}" for n in range(1_000)), "*"]) + "\n"
                for city in ("Ulm", "Bonn", "Kiel", "Jena")
            )
        ),
        expected=None,
    ),
    "a hierarchy of 10,000 leaves": Case(
        hierarchy("".join(f"{city};*\n" for city in ["Ulm", "Bonn", "Kiel", "Jena", *map(str, range(10_000))])),
        expected=None,
    ),
    "a hierarchy with a field of a million characters": Case(
        hierarchy("Ulm;*\nBonn;*\nKiel;*\nJena;*\n" + "x" * 1_000_000 + ";*\n"), expected=None
    ),
    "a hierarchy with terminal escapes": Case(hierarchy("Ulm;\x1b[2J;*\nBonn;\x1b[2J;*\nKiel;b;*\nJena;b;*\n"), 0),
    "a hierarchy whose faults are many": Case(
        hierarchy("".join(f"{city};{n};{n % 7};*\n" for n in range(2_000) for city in ("Ulm", "Bonn"))), 1
    ),
    "a hierarchy whose labels are values": Case(hierarchy("Ulm;Bonn;*\nBonn;Bonn;*\nKiel;Ulm;*\nJena;Ulm;*\n"), 0),
    "a hierarchy with * as a leaf": Case(hierarchy("Ulm;*;*\nBonn;*;*\nKiel;*;*\nJena;*;*\n*;*;*\n"), expected=None),
    "a hierarchy of numbers": Case(
        both(
            hierarchy("".join(f"{n};{n // 10};*\n" for n in range(100))),
            job(
                (AGE, 'age = { role = "quasi-identifying", type = "numeric", hierarchy = "city.csv" }'),
                (CITY, 'city = "quasi"'),
            ),
        ),
        0,
    ),
    "a hierarchy of numbers, untyped": Case(
        both(
            hierarchy("".join(f"{n};{n // 10};*\n" for n in range(100))),
            job((AGE, 'age = { role = "quasi-identifying", hierarchy = "city.csv" }'), (CITY, 'city = "quasi"')),
        ),
        0,
    ),
    "a hierarchy of numbers whose labels are numbers": Case(
        both(
            hierarchy("".join(f"{n};{n // 10 * 10};*\n" for n in range(100))),
            job(
                (AGE, 'age = { role = "quasi-identifying", type = "numeric", hierarchy = "city.csv" }'),
                (CITY, 'city = "quasi"'),
            ),
        ),
        0,
    ),
    "a hierarchy of numbers written twice": Case(
        both(
            hierarchy("".join(f"{n};{n // 10};*\n{n}.0;{n // 10};*\n" for n in range(100))),
            job(
                (AGE, 'age = { role = "quasi-identifying", type = "numeric", hierarchy = "city.csv" }'),
                (CITY, 'city = "quasi"'),
            ),
        ),
        expected=None,
    ),
    "a hierarchy of numbers out of order": Case(
        both(
            hierarchy("".join(f"{n};{n % 10};*\n" for n in range(100))),
            job(
                (AGE, 'age = { role = "quasi-identifying", type = "numeric", hierarchy = "city.csv" }'),
                (CITY, 'city = "quasi"'),
            ),
        ),
        1,
    ),
    "a hierarchy of numbers with labels of decades": Case(
        both(
            hierarchy("".join(f"{n};{n // 10 * 10}-{n // 10 * 10 + 9};*\n" for n in range(100))),
            job(
                (AGE, 'age = { role = "quasi-identifying", type = "numeric", hierarchy = "city.csv" }'),
                (CITY, 'city = "quasi"'),
            ),
        ),
        0,
    ),
    "a hierarchy of numbers whose labels are other numbers": Case(
        both(
            hierarchy("".join(f"{n};{n // 10};*\n" for n in range(20, 100))),
            job(
                (AGE, 'age = { role = "quasi-identifying", type = "numeric", hierarchy = "city.csv" }'),
                (CITY, 'city = "quasi"'),
            ),
        ),
        0,
    ),
    "a hierarchy of numbers whose labels are markup": Case(
        both(
            hierarchy("".join(f"{n};<b>{n // 10};*\n" for n in range(20, 100))),
            job(
                (AGE, 'age = { role = "quasi-identifying", type = "numeric", hierarchy = "city.csv" }'),
                (CITY, 'city = "quasi"'),
            ),
        ),
        0,
    ),
    "a hierarchy of nan and infinity": Case(
        both(
            hierarchy("".join(f"{n};x;*\n" for n in [*range(100), "nan", "inf"])),
            job(
                (AGE, 'age = { role = "quasi-identifying", type = "numeric", hierarchy = "city.csv" }'),
                (CITY, 'city = "quasi"'),
            ),
        ),
        expected=None,
    ),
}
