"""Hostile files beside a job: hierarchies of other tools, weights of a target, distances, beliefs and a population."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.hostile.files import at, linked
from tests.support.hostile_cases import PROMISE, Case, job

ILLNESSES = ("flu", "cold", "gout", "mumps")
LONG = 200_000  # characters of one field: more than a CSV reader of Python takes
CONTENTS: dict[str, bytes] = {  # of any file that is read whole, where a table of texts and numbers is expected
    "nothing": b"",
    "zeros": bytes(1_000),
    "no text": bytes(range(128, 256)),
    "UTF-16": "flu;1\ncold;2\n".encode("utf-16"),
    "a field of 200,000 characters": b"x" * LONG + b";1\n",
    "a quote that is not closed": b'"flu;1\ncold;2\n',
    "a number of a billion digits": b"flu;1e999999999\ncold;1\ngout;1\nmumps;1\n",
    "a tiny number": b"flu;1e-999999999\ncold;1\ngout;1\nmumps;1\n",
    "5,000 digits": b"flu;" + b"9" * 5_000 + b"\n",
    "a negative number": b"flu;-1\ncold;1\ngout;1\nmumps;1\n",
    "nan": b"flu;nan\ncold;1\n",
    "a division by zero": b"flu;1/0\ncold;1\n",
    "no numbers": b"flu;many\ncold;few\n",
    "a value twice": b"flu;1\nflu;2\n",
    "a value that nobody has": b"plague;1\ncold;1\ngout;1\nmumps;1\n",
    "one column": b"flu\ncold\n",
    "many columns": b";".join([b"1"] * 10_000) + b"\n",
    "terminal escapes": b"\x1b[2J;1\n",
    "JSON": b'{"a": 1}',
}
TREES: dict[str, bytes] = {  # hierarchies as Amnesia saves them
    "JSON that is cut off": b'{"name": "*", "children": [',
    "a JSON list": b"[]",
    "a JSON number in a list": b"[3]",
    "an empty JSON object": b"{}",
    "JSON of 100,000 lists": b"[" * 100_000,
    "JSON of 100,000 objects": b'{"children":[' * 100_000,
    "JSON 900 deep": b'{"name": "*", "children": [' * 900 + b'{"name": "Ulm"}' + b"]}" * 900,
    "nodes that are numbers": b'{"nodes": 3, "edges": []}',
    "nodes that are texts": b'{"nodes": ["a", "b"], "edges": []}',
    "nodes without a name": b'{"nodes": [{}], "edges": []}',
    "edges that are texts": b'{"nodes": [{"id": 1, "label": "*"}], "edges": ["a"]}',
    "edges of nobody": b'{"nodes": [{"id": 1, "label": "*"}], "edges": [{"from": 1, "to": 2}]}',
    "edges in a ring": b'{"nodes": [{"id": 1, "label": "a"}, {"id": 2, "label": "b"}], '
    b'"edges": [{"from": 1, "to": 2}, {"from": 2, "to": 1}]}',
    "an edge to itself": b'{"nodes": [{"id": 1, "label": "a"}], "edges": [{"from": 1, "to": 1}]}',
    "children that are a number": b'{"name": "*", "children": 3}',
    "children that are texts": b'{"name": "*", "children": ["Ulm", "Bonn", "Kiel", "Jena"]}',
    "a name that is a list": b'{"name": [], "children": [{"name": {}}]}',
    "no finite number": b'{"name": NaN, "children": [{"name": Infinity}]}',
    "Amnesia's head alone": b"distinct\n",
    "Amnesia's range of nothing": b"range\nname x\n",
    "Amnesia's range of text": b"range\nname age\ntype int\nheight 2\n\n0,9 has a,b c,d\n",
    "Amnesia's range of a huge number": b"range\nname age\ntype int\nheight 2\n\n0,1e999999999 has 0,5 5,1e999999999\n",
    "Amnesia's ring": b"distinct\nname x\ntype string\nheight 3\n\na has b\nb has a\n",
    "Amnesia's lines without has": b"distinct\nname x\ntype string\nheight 3\n\na b c\n",
}
WEIGHTED = 'model = "p-privacy"\ntarget = { file = "beside.csv" }'
DISTANT = 'model = "bt-privacy"\nbandwidth = 0.5\nt = 0.3\ndistances = { illness = "beside.csv" }'
MAPPED = 'model = "k-map"\nk = 5\npopulation = "beside.csv"'
SAMPLED = 'model = "rho-guarantee"\nrho1 = 0.2\nrho2 = 0.6\nlambda = 0.3'
CITY = 'city    = { role = "quasi-identifying", hierarchy = "city.csv" }'
SQUARE = "," + ",".join(ILLNESSES) + "\n"


def given(promise: str, content: bytes, method: str = "mondrian") -> Callable[[Path], object]:
    steps = (job((PROMISE, promise), more=f'\n[method]\nname = "{method}"\n'), at("beside.csv", content))
    return lambda folder: [step(folder) for step in steps]


def referred(content: bytes) -> Callable[[Path], object]:
    """A job whose groups follow a reference table."""
    listed = ", ".join(f'"{illness}"' for illness in ILLNESSES)
    method = f'perturbed-generalization"\nk = 2\ncuts = "gain"\nreference = "beside.csv"\ndomain = [{listed}]\n#"'
    return given(SAMPLED, content, method)


def square(*rows: str) -> bytes:
    return (SQUARE + "".join(f"{row}\n" for row in rows)).encode()


def distances(value: str) -> bytes:
    """A matrix with this distance between any two values."""
    return square(*(",".join([one, *("0" if one == other else value for other in ILLNESSES)]) for one in ILLNESSES))


def tree(content: bytes) -> Callable[[Path], object]:
    steps = (job((CITY, CITY.replace("city.csv", "tree.json"))), at("tree.json", content))
    return lambda folder: [step(folder) for step in steps]


CASES = {
    **{
        f"weights of {what}": Case(given(WEIGHTED, content, "distribution"), None) for what, content in CONTENTS.items()
    },
    **{f"distances of {what}": Case(given(DISTANT, content), 1) for what, content in CONTENTS.items()},
    **{f"a reference of {what}": Case(referred(content), None) for what, content in CONTENTS.items()},
    **{f"a population of {what}": Case(given(MAPPED, content), None) for what, content in CONTENTS.items()},
    **{
        f"distances of {value}": Case(given(DISTANT, distances(value)), None)
        for value in ("1", "1e999999999", "1e-999999999", "9" * 5_000, "nan", "-1", "1/0", "many", "")
    },
    "distances that are not symmetric": Case(
        given(DISTANT, square("flu,0,1,1,1", "cold,2,0,1,1", "gout,1,1,0,1", "mumps,1,1,1,0")), 1
    ),
    "distances from itself": Case(
        given(DISTANT, square("flu,1,1,1,1", "cold,1,0,1,1", "gout,1,1,0,1", "mumps,1,1,1,0")), 1
    ),
    **{f"a hierarchy of {what}, in a job": Case(tree(content), None) for what, content in TREES.items()},
    **{
        f"a hierarchy of {what}": Case(
            at("tree.json", content), None, ("hierarchy", "tree.json", "--data", "people.csv", "--column", "age")
        )
        for what, content in TREES.items()
    },
    **{
        f"a population beside a table of {what}": Case(
            at("beside.csv", content), None, ("risk", "people.csv", "--quasi", "age", "--population", "beside.csv")
        )
        for what, content in CONTENTS.items()
    },
    "a hierarchy that never ends": Case(
        lambda folder: [
            step(folder)
            for step in (job((CITY, CITY.replace("city.csv", "zero.csv"))), linked("zero.csv", "/dev/zero"))
        ],
        1,
    ),
    "a hierarchy that never ends, shown": Case(linked("zero.csv", "/dev/zero"), 1, ("hierarchy", "zero.csv")),
}
