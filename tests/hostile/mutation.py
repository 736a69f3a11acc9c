"""Good jobs and files, mutated: a Hypothesis strategy for what a stranger, a bad disk or a slip of the hand makes of them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from tests.hostile.jobs import METHODS, NUMBERS, PROMISES, WRONG, asked
from tests.support.hostile_cases import CITIES, JOB, Case, csv_text, people

PEOPLE = csv_text(people(40))
CITY = "".join(f"{city};{part};*\n" for city, part in CITIES.items())
FILES = {"job.toml": JOB, "people.csv": PEOPLE, "city.csv": CITY}
INSERTED = [
    "\x00",
    "\r",
    "\n",
    '"',
    ",",
    ";",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\\",
    "\ufeff",
    "\u202e",
    "é",
    "-",
    "1e999999999",
    "nan",
    "inf",
    "\x1b[31m",
    "*",
    "true",
    "9" * 400,
    '"""',
    "#",
    "../",
    "\t",
    "0x" + "f" * 300,
    "[[",
    "]]",
    ".",
]


@st.composite
def edited(draw: st.DrawFn, text: str) -> bytes:
    """A text with up to four edits: something put in, taken out, doubled or swapped, or bytes that are none of UTF-8."""
    raw = text.encode()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(raw)))
        until = min(len(raw), at + draw(st.integers(0, 30)))
        how = draw(st.sampled_from(["insert", "delete", "double", "byte", "cut", "lines"]))
        if how == "insert":
            raw = raw[:at] + draw(st.sampled_from(INSERTED)).encode() + raw[at:]
        elif how == "delete":
            raw = raw[:at] + raw[until:]
        elif how == "double":
            raw = raw[:until] + raw[at:]
        elif how == "byte":
            raw = raw[:at] + bytes([draw(st.integers(0, 255))]) + raw[at + 1 :]
        elif how == "cut":
            raw = raw[:at]
        else:
            lines = raw.split(b"\n")
            raw = b"\n".join(draw(st.permutations(lines[:12])) + lines[12:])
    return raw


@st.composite
def edited_files(draw: st.DrawFn) -> Case:
    """One or two of the files edited."""
    names = draw(st.lists(st.sampled_from(list(FILES)), min_size=1, max_size=2, unique=True))
    changed = {name: draw(edited(FILES[name])) for name in names}

    def spoil(folder: Path) -> None:
        (folder / "people.csv").write_text(PEOPLE)
        for name, raw in changed.items():
            (folder / name).write_bytes(raw)

    return Case(spoil, None, draw(st.sampled_from(COMMANDS)))


@st.composite
def odd_parameters(draw: st.DrawFn) -> Case:
    """A promise and a method that keeps it, each field of either in danger of an odd value."""
    odd = st.sampled_from([*NUMBERS.values(), *WRONG.values(), "2", "0.5", "1", "3"]).filter(
        lambda text: len(text) < 6_000
    )
    method, promise = draw(st.sampled_from(list(METHODS)))
    fields = draw(st.lists(st.sampled_from([*METHODS[method, promise], "nobody"]), max_size=2, unique=True))
    keys = draw(st.lists(st.sampled_from([*PROMISES[promise][0], "column", "nobody"]), max_size=2, unique=True))
    more = "".join(f"{field} = {draw(odd)}\n" for field in fields if field != "effort")
    return Case(asked(promise, {key: draw(odd) for key in keys}, more, method), None, draw(st.sampled_from(COMMANDS)))


COMMANDS = [
    ("publish", "job.toml", "-o", "out"),
    ("publish", "job.toml", "-o", "out"),
    ("publish", "job.toml", "-o", "out", "--format", "csv"),
    ("publish", "job.toml", "-o", "out", "--json"),
    ("check", "job.toml"),
    ("risk", "people.csv", "--quasi", "age,city"),
    ("publish", "job.toml", "-o", "out", "--engine", "stream"),
    ("init", "people.csv", "-o", "new.toml"),
    ("hierarchy", "city.csv", "--data", "people.csv", "--column", "city"),
    ("compare", "job.toml", "--attacks", "none", "--no-classification"),
    ("advise", "job.toml", "--for", "counts", "--runs", "1", "--methods", "mondrian"),
]
