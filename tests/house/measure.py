"""How the code reads, in numbers: `python -m tests.house.measure` prints them for the package that is imported.

`PYTHONPATH=other/src:. python -m tests.house.measure` prints those of another tree; `--list NAME` prints what was counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import reticent as rt
from tests.house import counting
from tests.house.counting import Package, Source

PATIENTS = """\
name,age,city,disease
Ada Berg,24,Kiel,flu
Ben Stein,27,Rostock,asthma
Cem Yildiz,29,Kiel,gout
Dora Klein,41,Ulm,flu
Emil Sommer,45,Passau,asthma
Fritz Lang,48,Ulm,gout
"""
CITIES = [["Kiel", "north", "*"], ["Rostock", "north", "*"], ["Ulm", "south", "*"], ["Passau", "south", "*"]]


class Trace:
    """Which modules of ours a call enters, how often the module changes, and how often a file is opened from Python."""

    def __init__(self, watched: Path):
        self.watched = str(watched)
        self.entered: list[str] = []
        self.changes = 0
        self.opened = 0
        self.is_on = False
        sys.addaudithook(self._note_open)

    def run(self, call: Callable[[], Any]) -> None:
        """Make the call and count."""
        self.is_on = True
        sys.setprofile(self._note_call)
        try:
            call()
        finally:
            sys.setprofile(None)
            self.is_on = False

    def _note_call(self, frame: FrameType, event: str, argument: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event != "call" or not module.startswith("reticent"):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_globals.get("__name__", "").startswith("reticent"):
            caller = caller.f_back
        if caller is None or caller.f_globals["__name__"] != module:
            self.changes += 1
        self.entered.append(module)

    def _note_open(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_on and event == "open" and isinstance(arguments[0], str | os.PathLike | bytes):
            self.opened += os.fsdecode(arguments[0]) == self.watched


def trace_publish() -> Trace:
    """Publish the six rows of the README's CSV twice, and count the second time, when everything is imported.

    The file is touched in between: it is a new version, of which nothing is known.
    """
    columns = {
        "name": rt.identifying(),
        "age": rt.quasi(),
        "city": rt.quasi(hierarchy=CITIES),
        "disease": rt.sensitive(),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        source = folder / "patients.csv"
        source.write_text(PATIENTS, encoding="utf-8")
        job = rt.Job(source=str(source), columns=columns, promises=[rt.KAnonymity(3), rt.BetaLikeness(1)])
        rt.publish(job, to=folder / "first", ledger=folder / "first-ledger")
        source.touch()
        trace = Trace(source)
        trace.run(lambda: rt.publish(job, to=folder / "second", ledger=folder / "second-ledger"))
    return trace


def in_sources(package: Package, count: Callable[[Source], list[Any]]) -> list[str]:
    """What a count finds in each module, as `module:line`."""
    return [
        f"{module}:{getattr(node, 'lineno', node)}"
        for module, source in package.modules.items()
        for node in count(source)
    ]


def measure(package: Package) -> dict[str, list[str]]:
    """What is counted, listed."""
    importers = package.importers()
    functions = package.functions()
    trace = trace_publish()
    return {
        "files": list(package.modules),
        "functions": [node.name for node in functions],
        "functions named by a bare participle": counting.participle_functions(package),
        "the same, properties counted": [node.name for node in functions if counting.begins_with_participle(node.name)],
        "functions over 40 lines": [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= 40],
        "packed assignments": in_sources(package, counting.packed_assignments),
        "conditional expressions": in_sources(package, counting.conditional_expressions),
        "nested conditional expressions": in_sources(package, counting.nested_conditional_expressions),
        "modules with exactly one importer": sorted(name for name, by in importers.items() if len(by) == 1),
        "fmt: skip, all": in_sources(package, counting.all_skipped_formatting),
        "fmt: skip outside tables of data": in_sources(package, counting.skipped_formatting),
        "modules entered by rt.publish of six rows": sorted(set(trace.entered)),
        "module changes in it": [""] * trace.changes,
        "times its CSV is opened from Python": [""] * trace.opened,
        "modules imported by publish.py": sorted(package.imported_by("reticent.publish")),
    }


SHARES = {
    "functions named by a bare participle": "functions",
    "the same, properties counted": "functions",
    "functions over 40 lines": "functions",
}
PER_1000_LINES = {"packed assignments", "conditional expressions"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", metavar="NAME", help="print what was counted under this name")
    name = parser.parse_args().list
    package = Package.read(Path(rt.__file__).parent)
    counted = measure(package)
    if name:
        sys.stdout.write("\n".join(counted[name]) + "\n")
        return 0
    lines = package.lines
    sys.stdout.write(f"{'lines':45} {lines:8,}\n{'mean lines of a file':45} {lines / len(package.modules):8.0f}\n")
    for title, items in counted.items():
        beside = ""
        if title in SHARES:
            beside = f"{100 * len(items) / len(counted[SHARES[title]]):8.1f} %"
        elif title in PER_1000_LINES:
            beside = f"{1000 * len(items) / lines:8.1f} in 1,000 lines"
        sys.stdout.write(f"{title:45} {len(items):8,}{beside}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
