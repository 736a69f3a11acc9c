"""Hostile jobs: every field of every promise, method, stage and column with numbers too large and values of the wrong type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.hostile_cases import JOB, PROMISE, Case, job

DEEP = 5_000


def raw(content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / "job.toml").write_bytes(content)


def promise(text: str, *more: tuple[str, str]) -> Callable[[Path], object]:
    return job((PROMISE, text), *more)


# Numbers that no parameter has: too large, too long, too many digits behind the point, or none at all.
NUMBERS = {
    "1e999999999": "1e999999999",
    "1e-999999999": "1e-999999999",
    "text of 1e999999999": '"1e999999999"',
    "text of 1e-999999999": '"1e-999999999"',
    "text of 1/10^5000": '"1/1' + "0" * 5_000 + '"',
    "100,000 digits as text": '"' + "9" * 100_000 + '"',
    "4,000 digits": "9" * 4_000,
    "5,000 digits": "9" * 5_000,
    "20,000 hexadecimal digits": "0x" + "f" * 20_000,
    "5,000 digits behind the point": "0." + "3" * 5_000,
    "nan": "nan",
    "inf": "inf",
    "-inf": "-inf",
    "text of nan": '"nan"',
    "text of inf": '"Infinity"',
    "a negative number": "-1",
    "true": "true",
    "a list": "[1]",
    "a table": "{ a = 1 }",
    "a date": "1979-05-27",
    "a text": '"many"',
    "an empty text": '""',
    "a division by zero": '"1/0"',
}
# Each promise with its parameters as they should be; the method that keeps it.
PROMISES = {
    "k-anonymity": ({"k": "5"}, "mondrian"),
    "alpha-k-anonymity": ({"alpha": "0.9", "k": "5"}, "mondrian"),
    "distinct-l-diversity": ({"l": "2"}, "mondrian"),
    "probabilistic-l-diversity": ({"l": "1.2"}, "mondrian"),
    "entropy-l-diversity": ({"l": "1.5"}, "mondrian"),
    "recursive-l-diversity": ({"c": "5", "l": "2"}, "mondrian"),
    "t-closeness": ({"t": "0.5"}, "mondrian"),
    "delta-disclosure": ({"delta": "3"}, "mondrian"),
    "beta-likeness": ({"beta": "4"}, "mondrian"),
    "semantic-beta-likeness": ({"beta": "4", "level": "1"}, "mondrian"),
    "proximity-beta-likeness": ({"beta": "4", "width": "1"}, "mondrian"),
    "bt-privacy": ({"bandwidth": "0.5", "t": "0.3"}, "mondrian"),
    "k-map": ({"k": "5", "population": '"people.csv"'}, "mondrian"),
    "l-dichotomy": ({"l": "2"}, "mondrian"),
    "rho-guarantee": ({"rho1": "0.2", "rho2": "0.6", "lambda": "0.1"}, "perturbed-generalization"),
    "delta-growth": ({"delta": "0.4", "lambda": "0.1"}, "perturbed-generalization"),
}
METHODS = {
    ("mondrian", "k-anonymity"): ("cuts", "fallback", "labels", "thorough", "weights"),
    ("mosaic", "k-anonymity"): ("effort", "weights", "threads"),
    ("burel", "beta-likeness"): ("fill", "axes", "share", "refine"),
    ("sabre", "t-closeness"): ("share", "fill", "axes"),
    ("beta-perturbation", "beta-likeness"): ("matrix", "conditioning"),
    ("anatomy", "distinct-l-diversity"): ("grouping",),
    ("perturbed-generalization", "delta-growth"): (
        "p",
        "k",
        "s",
        "draw",
        "grouping",
        "cuts",
        "reference",
        "categories",
        "domain",
        "weights",
    ),
}
HUGE = ("1e999999999", "text of 1e999999999", "text of 1e-999999999", "4,000 digits", "5,000 digits behind the point")
# What a field of any type is given in turn.
WRONG = {
    "a number": "0.2",
    "a huge number": "1e999999999",
    "nan": "nan",
    "true": "true",
    "a text": '"zebra"',
    "an empty text": '""',
    "a NUL": r'"a\u0000b"',
    "a long text": '"' + "z" * 20_000 + '"',
    "a list": "[1, 2]",
    "a list of nothing": "[]",
    "a list of lists": "[[1], [2]]",
    "a table": "{ a = 1 }",
    "a table of texts": '{ age = "heavy", city = "" }',
    "a date": "1979-05-27",
    "a time": "07:32:00",
}


def entry(name: str, parameters: dict[str, str]) -> str:
    return "\n".join([f'model = "{name}"', *(f"{key} = {value}" for key, value in parameters.items())])


def asked(name: str, changed: dict[str, str], more: str = "", method: str | None = None) -> Callable[[Path], object]:
    """A job with one promise, some of its parameters changed."""
    parameters, keeper = PROMISES[name]
    if (method or keeper) == "perturbed-generalization" and not more.startswith("domain"):
        more = f'domain = ["flu", "cold", "gout", "mumps", "croup"]\n{more}'
    made = f'\n[method]\nname = "{method or keeper}"\n{more}'
    return job((PROMISE, entry(name, {**parameters, **changed})), more=made)


CASES: dict[str, Case] = {}
for _name, (_parameters, _) in PROMISES.items():
    for _key in _parameters:
        for _what in NUMBERS if _name in ("k-anonymity", "beta-likeness", "t-closeness") else HUGE:
            if _key != "population":
                CASES[f"{_name}: {_key} is {_what}"] = Case(asked(_name, {_key: NUMBERS[_what]}), expected=None)
    for _what in ("a number", "true", "a text", "a list", "a table", "a NUL", "a long text"):
        CASES[f"{_name}: column is {_what}"] = Case(asked(_name, {"column": WRONG[_what]}))
for (_method, _promise), _fields in METHODS.items():
    for _key in _fields:
        for _what, _value in WRONG.items():
            _line = f'cuts = "gain"\nreference = {_value}\n' if _key == "reference" else f"{_key} = {_value}\n"
            CASES[f"{_method}: {_key} is {_what}"] = Case(asked(_promise, {}, _line, _method), expected=None)
for _what, _path in {
    "the source itself": "people.csv",
    "the source by another spelling": "./x/../people.csv",
    "a file that is not there": "nowhere.csv",
    "a folder": ".",
    "a device": "/dev/null",
    "a table without the columns": "city.csv",
}.items():
    CASES[f"perturbed-generalization: reference is {_what}"] = Case(
        asked("delta-growth", {}, f'cuts = "gain"\nreference = "{_path}"\n'), expected=None
    )


AGE = 'age     = { role = "quasi-identifying", type = "numeric" }'
ILLNESS = 'illness = "sensitive"'
PERSON = 'person  = "identifying"'
SOURCE = 'path = "people.csv"'


def source(line: str) -> Callable[[Path], object]:
    return job((SOURCE, f"{SOURCE}\n{line}"))


def method(text: str) -> Callable[[Path], object]:
    return job(more=f"\n[method]\n{text}\n")


def release(text: str) -> Callable[[Path], object]:
    return job(more=f"\n[release]\n{text}\n")


def column(given: str) -> Callable[[Path], object]:
    return job((AGE, f'age = {{ role = "quasi-identifying", {given} }}'))


CASES |= {
    # The file as a whole.
    "an empty job": Case(raw(b"")),
    "a job of NULs": Case(raw(b"\x00" * 100)),
    "a job in UTF-16": Case(raw(JOB.encode("utf-16"))),
    "a job in Latin-1": Case(raw(JOB.replace("flu", "").encode() + b"# \xe9\xff\n")),
    "a job with a byte order mark": Case(raw(b"\xef\xbb\xbf" + JOB.encode()), expected=0),
    "a job with CR line ends": Case(raw(JOB.replace("\n", "\r").encode())),
    "a job with CRLF line ends": Case(raw(JOB.replace("\n", "\r\n").encode()), expected=0),
    "a job that is JSON": Case(raw(b'{"source": {"path": "people.csv"}}')),
    "a job that is a folder": Case(lambda folder: None, words=("publish", ".", "-o", "out")),
    "a job that is the data": Case(lambda folder: None, words=("publish", "people.csv", "-o", "out")),
    "a job that is not there": Case(lambda folder: None, words=("publish", "nowhere.toml", "-o", "out")),
    "deep lists": Case(raw(b"a = " + b"[" * DEEP + b"]" * DEEP)),
    "deep lists in a known field": Case(job(("k = 5", "k = " + "[" * 200 + "]" * 200))),
    "deep tables": Case(raw(b"a = " + b"{ a = " * DEEP + b"1" + b"}" * DEEP)),
    "deep names": Case(raw(b"[" + b".".join([b"a"] * 100_000) + b"]")),
    "deep names in a known table": Case(raw(JOB.encode() + b"\n[columns." + b".".join([b"a"] * 5_000) + b"]\nb = 1\n")),
    "1,000 promises": Case(
        job(more="".join(f'\n[[promise]]\nmodel = "beta-likeness"\nbeta = {n + 1}\n' for n in range(1_000)))
    ),
    "1,000 promises that the method cannot keep": Case(
        job(
            more='\n[method]\nname = "anatomy"\n'
            + "".join(f'\n[[promise]]\nmodel = "beta-likeness"\nbeta = {n + 1}\n' for n in range(1_000))
        )
    ),
    "1,000 unknown fields": Case(job(more="".join(f"x{n} = 1\n" for n in range(1_000)))),
    "1,000 undeclared columns are counted": Case(
        lambda folder: (folder / "people.csv").write_text(
            ",".join(["person", "age", "city", "illness", *(f"a long column name {n}" for n in range(1_000))]) + "\n"
        )
    ),
    "1,000 declared columns that are not there": Case(
        job((PERSON, PERSON + "".join(f'\nc{n} = "quasi"' for n in range(1_000))))
    ),
    "a key of 100,000 characters": Case(raw(b"a" * 100_000 + b" = 1")),
    "a column's key of 200,000 characters": Case(job((PERSON, "a" * 200_000 + ' = "quasi"'))),
    "a key with terminal escapes": Case(raw(rb'"\u001b[31mred\u0007" = 1')),
    "a promise with terminal escapes": Case(promise(r'model = "\u001b]0;title\u0007"')),
    "a role with terminal escapes": Case(job((ILLNESS, r'illness = "\u001b[2J"'))),
    "a role that is a number": Case(job((ILLNESS, "illness = 3"))),
    "a role that is a list": Case(job((ILLNESS, 'illness = ["sensitive"]'))),
    "a role that is a table": Case(job((ILLNESS, "illness = { role = { role = 1 } }"))),
    "columns that are a list": Case(raw(b'columns = ["age"]')),
    "columns that are a text": Case(raw(b'columns = "age"')),
    "a source that is a text": Case(raw(b'source = "people.csv"')),
    "a source that is a list": Case(raw(b'source = ["people.csv"]')),
    "a method that is a number": Case(job((SOURCE, SOURCE), ("[source]", "method = 3\n[source]"))),
    "a method that is a list": Case(job(("[source]", 'method = ["mondrian"]\n[source]'))),
    "a method that is a text": Case(job(("[source]", 'method = "mondrian"\n[source]')), expected=0),
    "a method without a name": Case(method("cuts = 'loss'")),
    "a method whose name is a number": Case(method("name = 1e999999999")),
    "a method whose name is a table": Case(method("name = { a = 1 }")),
    "a promise that is a table": Case(job(("[[promise]]", "[promise]"))),
    "a promise that is a number": Case(raw(b"promise = [3]")),
    "a promise that is a list": Case(raw(b"promise = [[3]]")),
    "a promise whose model is a number": Case(promise("model = 3\nk = 5")),
    "a promise whose model is a list": Case(promise('model = ["k-anonymity"]\nk = 5')),
    "a stage that is a number": Case(job(("[source]", "prepare = [3]\n[source]"))),
    "a stage whose name is a list": Case(job(("[source]", "prepare = [{ name = [] }]\n[source]"))),
    "a release that is a list": Case(job(("[source]", "release = []\n[source]"))),
    "jointly is a text": Case(
        job(("[source]", 'jointly = "false"\n[source]')), says=("jointly must be true or false",)
    ),
    "jointly is a number": Case(job(("[source]", "jointly = 0\n[source]"))),
    "a seed in the job": Case(job(("[source]", "seed = 3\n[source]"))),
    # [source]
    "a delimiter of two characters": Case(source('delimiter = "::"')),
    "an empty delimiter": Case(source('delimiter = ""')),
    "a delimiter that is not ASCII": Case(source('delimiter = "é"')),
    "a delimiter that is a line end": Case(source(r'delimiter = "\n"')),
    "a delimiter that is the quote": Case(source(r"delimiter = '\"'")),
    "a delimiter that is a NUL": Case(source(r'delimiter = "\u0000"')),
    "a delimiter that is a number": Case(source("delimiter = 3")),
    "a quote of two characters": Case(source("""quote = "''" """)),
    "a quote that is not ASCII": Case(source('quote = "«"')),
    "a quote that is a line end": Case(source(r'quote = "\n"')),
    "a quote that is a comma": Case(source('quote = ","')),
    "no quote": Case(source('quote = ""'), expected=0),
    "broken lines that are to be skipped": Case(source('broken = "skip"'), says=("broken = 'skip' is not known",)),
    "broken lines that are a flag": Case(source("broken = true")),
    "broken lines that are set aside from a good file": Case(source('broken = "set-aside"'), expected=0),
    "spellings in the source": Case(source("spellings = []")),
    "an encoding with a NUL": Case(source(r'encoding = "utf\u00008"')),
    "an unknown encoding": Case(source('encoding = "klingon"')),
    "an encoding of 10,000 characters": Case(source(f'encoding = "{"x" * 10_000}"')),
    "an encoding with a line end": Case(source(r'encoding = "utf\n8"'), expected=None),
    "an encoding that is not ASCII": Case(source('encoding = "ütf"')),
    "an encoding that makes no text": Case(source('encoding = "base64"')),
    "an encoding that unpacks": Case(source('encoding = "zlib"')),
    "an encoding that turns letters": Case(source('encoding = "rot13"')),
    "an encoding without an inverse": Case(source('encoding = "idna"'), expected=None),
    "an encoding of code": Case(source('encoding = "unicode_escape"'), expected=None),
    "an undefined encoding": Case(source('encoding = "undefined"')),
    "an encoding of UTF-16": Case(source('encoding = "utf-16"')),
    "an encoding of UTF-7": Case(source('encoding = "utf-7"'), expected=0),
    "an empty encoding": Case(source('encoding = ""')),
    "an encoding that is a number": Case(source("encoding = 3")),
    "missing is a number": Case(source("missing = 3")),
    "missing is a list of numbers": Case(source("missing = [3]")),
    "missing is a table": Case(source("missing = { a = 1 }")),
    "empty is a list": Case(source('empty = ["missing"]')),
    "empty is a flag": Case(source("empty = true")),
    "a path that is a number": Case(job((SOURCE, "path = 3"))),
    "a path that is empty": Case(job((SOURCE, 'path = ""'))),
    "a path with a NUL": Case(job((SOURCE, r'path = "people\u0000.csv"'))),
    "a path of 10,000 characters": Case(job((SOURCE, f'path = "{"x" * 10_000}.csv"'))),
    "a path of 300 characters": Case(job((SOURCE, f'path = "{"x" * 300}.csv"'))),
    "a path of many folders": Case(job((SOURCE, f'path = "{"x/" * 3_000}.csv"'))),
    "a path to a device": Case(job((SOURCE, 'path = "/dev/null"'))),
    "a path to a folder": Case(job((SOURCE, 'path = "."'))),
    "a path with terminal escapes": Case(job((SOURCE, r'path = "\u001b[31m.csv"')), 6),
    "a path and a URL": Case(source('url = "sqlite:///x.db"\ntable = "t"'), expected=None),
    "a URL without a scheme": Case(job((SOURCE, 'url = "people.db"\ntable = "t"'))),
    "a URL of an unknown scheme": Case(job((SOURCE, 'url = "gopher://x"\ntable = "t"'))),
    "a URL that is no URL": Case(job((SOURCE, 'url = "sqlite://[::1"\ntable = "t"')), 6),
    "a URL with a NUL": Case(job((SOURCE, r'url = "sqlite:///a\u0000b"' + '\ntable = "t"'))),
    "a URL of 10,000 characters": Case(job((SOURCE, f'url = "sqlite:///{"x" * 10_000}"\ntable = "t"'))),
    # [columns]
    "acknowledge is the text false": Case(
        job((PERSON, 'person = { role = "insensitive", acknowledge = "false" }')),
        says=("acknowledge must be true or false",),
    ),
    "acknowledge is 1": Case(job((PERSON, 'person = { role = "insensitive", acknowledge = 1 }'))),
    "acknowledge is a list": Case(job((PERSON, 'person = { role = "insensitive", acknowledge = [] }'))),
    "a near-unique column that nobody acknowledged": Case(
        job((PERSON, 'person = "insensitive"')), says=("near-unique",)
    ),
    "a domain of one number": Case(column("domain = [1]")),
    "a domain of texts": Case(column('domain = ["a", "b"]')),
    "a domain of texts of numbers": Case(column('domain = ["0", "100"]'), expected=None),
    "a domain of nan": Case(column("domain = [nan, nan]")),
    "a domain to infinity": Case(column("domain = [0, inf]")),
    "a huge domain": Case(column("domain = [0, 1e999999999]")),
    "a domain of 10^50": Case(column("domain = [0, 1e50]"), expected=0),
    "a domain of lists": Case(column("domain = [[0], [1]]")),
    "a domain of flags": Case(column("domain = [false, true]")),
    "a domain that is a table": Case(column("domain = { a = 1 }")),
    "a top that is huge": Case(column("top = 1e999999999")),
    "a top of 10^50": Case(column("top = 1e50")),
    "a top of 60 digits": Case(column("top = " + "9" * 60)),
    "a top of nan": Case(column("top = nan")),
    "a top that is a list": Case(column("top = [1]")),
    "a top that is a flag": Case(column("top = true")),
    "a top that is a time": Case(column("top = 07:32:00")),
    "a top that is a date": Case(column("top = 1979-05-27")),
    "a top that is an impossible date": Case(column('top = "2001-99-99"')),
    "a bottom above the top": Case(column("bottom = 50, top = 30")),
    "a bottom that is a text": Case(column('bottom = "low"')),
    "an order that is a text": Case(column('order = "abc"')),
    "an order of tables": Case(column("order = [{ a = 1 }]")),
    "an empty order": Case(column("order = []")),
    "an order with a value twice": Case(column('order = ["1", "1"]')),
    "a type that is a number": Case(column("type = 3")),
    "a type that is a list": Case(column('type = ["numeric"]')),
    "missing of a column is a list": Case(column('missing = ["?"]')),
    "missing of a column is a flag": Case(column("missing = true")),
    "rows_per_person is huge": Case(job((PERSON, 'person = { role = "identifying", rows_per_person = 1e999999999 }'))),
    "rows_per_person is a text": Case(job((PERSON, 'person = { role = "identifying", rows_per_person = "2" }'))),
    "rows_per_person is a flag": Case(job((PERSON, 'person = { role = "identifying", rows_per_person = true }'))),
    "rows_per_person of 50 digits": Case(
        job((PERSON, 'person = { role = "identifying", rows_per_person = 1' + "0" * 50 + " }")), expected=2
    ),
    "round_to is huge": Case(
        job((AGE, 'age = { role = "insensitive", round_to = 1e999999999 }'), ("city    = {", "city = {"))
    ),
    "round_to is tiny": Case(job((AGE, 'age = { role = "insensitive", round_to = 1e-50 }')), expected=None),
    "round_to of 10^50": Case(job((AGE, 'age = { role = "insensitive", round_to = 1e50 }')), expected=None),
    "round_to is a text": Case(job((AGE, 'age = { role = "insensitive", round_to = "10" }'))),
    "round_to is 0": Case(job((AGE, 'age = { role = "insensitive", round_to = 0 }'))),
    "a hierarchy that is a number": Case(column("hierarchy = 3")),
    "a hierarchy that is empty": Case(column("hierarchy = []")),
    "a hierarchy that is a table of nothing": Case(column("hierarchy = {}")),
    "a hierarchy of numbers": Case(column("hierarchy = [1, 2]")),
    "a hierarchy of tables": Case(column("hierarchy = [{ a = 1 }]")),
    "a hierarchy of texts": Case(column('hierarchy = ["ab", "cd"]')),
    "a hierarchy of an unknown builder": Case(column('hierarchy = { build = "magic" }')),
    "a hierarchy of huge widths": Case(column("hierarchy = { widths = [1e999999999] }")),
    "a hierarchy with a NUL in its path": Case(column(r'hierarchy = "a\u0000b"')),
    "a hierarchy of 10,000 characters": Case(column(f'hierarchy = "{"x" * 10_000}"')),
    "a hierarchy that is a folder": Case(column('hierarchy = "."')),
    "a hierarchy that is a device": Case(column('hierarchy = "/dev/null"')),
    # [method], [[prepare]] and [release]
    "weights that are texts": Case(method('name = "mondrian"\nweights = { age = "heavy" }')),
    "weights that are texts of numbers": Case(method('name = "mosaic"\nweights = { age = "2" }')),
    "weights that are nan": Case(method('name = "mondrian"\nweights = { age = nan }')),
    "weights that are all 0": Case(method('name = "mondrian"\nweights = { age = 0, city = 0 }')),
    "weights that are all 0, by mosaic": Case(method('name = "mosaic"\nweights = { age = 0, city = 0 }')),
    "one weight of 0": Case(method('name = "mondrian"\nweights = { age = 0 }'), expected=0),
    "one weight of 0, by mosaic": Case(method('name = "mosaic"\nweights = { age = 0 }'), expected=0),
    "weights that are negative, by mosaic": Case(method('name = "mosaic"\nweights = { age = -1 }')),
    "weights that are huge": Case(method('name = "mondrian"\nweights = { age = 1e50 }'), expected=None),
    "weights that are tiny": Case(method('name = "mosaic"\nweights = { age = 1e-50, city = 1e-50 }'), expected=None),
    "weights of flags": Case(method('name = "mosaic"\nweights = { age = true }')),
    "weights of a column that is not there": Case(method('name = "mondrian"\nweights = { nobody = 2 }')),
    "weights that are a list": Case(method('name = "mosaic"\nweights = [1, 2]')),
    "a huge effort": Case(method('name = "mosaic"\neffort = 1e999999999')),
    "an effort of nan": Case(method('name = "mosaic"\neffort = nan')),
    "threads of 0": Case(method('name = "mosaic"\nthreads = 0')),
    "threads of a million": Case(method('name = "mosaic"\nthreads = 1000000')),
    "suppression with a huge l": Case(job(more='\n[[prepare]]\nname = "suppression"\nl = 1e999999999\n')),
    "suppression with an l of 50 digits": Case(
        job(more='\n[[prepare]]\nname = "suppression"\nl = 1' + "0" * 50 + "\n"), expected=1
    ),
    "suppression acknowledged by a text": Case(
        job(more='\n[[prepare]]\nname = "suppression"\nl = 2\nkind = "unsafe"\nacknowledge = "true"\n')
    ),
    "suppression of a column that is a number": Case(
        job(more='\n[[prepare]]\nname = "suppression"\nl = 2\ncolumn = 3\n')
    ),
    "suppression of a column that is not there": Case(
        job(more='\n[[prepare]]\nname = "suppression"\nl = 2\ncolumn = "nobody"\n')
    ),
    "suppression of a kind that is a list": Case(
        job(more='\n[[prepare]]\nname = "suppression"\nl = 2\nkind = ["safe"]\n')
    ),
    "loss_at_most is above 1": Case(release("loss_at_most = 1.01")),
    "loss_at_most is negative": Case(release("loss_at_most = -0.1")),
    "loss_at_most is huge": Case(release("loss_at_most = 1e999999999")),
    "loss_at_most is a text": Case(release('loss_at_most = "little"')),
    "loss_at_most is nan": Case(release("loss_at_most = nan")),
    "loss_at_most is a table": Case(release("loss_at_most = { age = 0.2 }")),
    "suppress_at_most is huge": Case(release("suppress_at_most = 1e999999999")),
    "suppress_at_most is tiny": Case(release("suppress_at_most = 1e-999999999")),
    "suppress_at_most is a text": Case(release('suppress_at_most = "half"')),
    "suppress_at_most is nan": Case(release("suppress_at_most = nan")),
    "suppress_at_most is true": Case(release("suppress_at_most = true")),
    "a format that is a list": Case(release('format = ["csv"]')),
    "an unknown format": Case(release('format = "xlsx"')),
    "undeclared is a flag": Case(release("undeclared = true")),
    "an unknown field of the release": Case(release("formula = 3")),
}
