"""Records the golden set, or compares with it: `python -m tests.golden.record [--check] [--texts FOLDER] [GROUP ...]`.

It prints what changed and writes digests.json.  With `--check` nothing is recorded.  With `--texts` everything that was made is
written to a folder, for a diff with another tree's: `PYTHONPATH=other/src:. python -m tests.golden.record --check --texts other`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import shutil
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import reticent as rt
from tests.golden.groups import GROUPS, make

DIGESTS = Path(__file__).with_name("digests.json")
LIBRARIES = ("polars", "pyarrow", "numpy", "randomgen", "sqlglot", "typer", "rich", "altair", "vl-convert-python")


def environment() -> dict[str, str]:
    """The versions that bytes and words depend on, beside the code."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, "reticent": rt.__version__, **{name: version(name) for name in LIBRARIES}}


def digest(made: str | bytes) -> str:
    """The SHA-256 of an item, cut to 32 hexadecimal digits."""
    return hashlib.sha256(made.encode() if isinstance(made, str) else made).hexdigest()[:32]


def recorded() -> dict[str, dict]:
    """The committed file: `environment`, and `groups` of digests by item."""
    return json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {"environment": {}, "groups": {}}


def differences(group: str, items: dict[str, str | bytes]) -> list[str]:
    """What is not as it was recorded, a line an item."""
    before = recorded()["groups"].get(group, {})
    now = {name: digest(made) for name, made in items.items()}
    lines = [f"changed  {group}/{name}" for name in now if name in before and before[name] != now[name]]
    lines += [f"new      {group}/{name}" for name in now if name not in before]
    return lines + [f"gone     {group}/{name}" for name in before if name not in now]


def write_texts(group: str, items: dict[str, str | bytes], folder: Path) -> None:
    """Write items as files, below a folder of their group."""
    for name, made in items.items():
        path = folder / group / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made.encode() if isinstance(made, str) else made)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", default=list(GROUPS), metavar="GROUP")
    parser.add_argument("--check", action="store_true", help="compare, and record nothing")
    parser.add_argument("--texts", type=Path, metavar="FOLDER", help="write everything that was made")
    parser.add_argument("--times", action="store_true", help="print the CPU seconds of each group")
    options = parser.parse_args()
    texts = options.texts.resolve() if options.texts else None
    everything = recorded()
    changed = []
    for group in options.groups:
        began = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            items = make(group, Path(folder) / "work")
        if texts:
            shutil.rmtree(texts / group, ignore_errors=True)
            write_texts(group, items, texts)
        lines = differences(group, items)
        for line in lines:
            say(line)
        changed += lines
        everything["groups"][group] = {name: digest(made) for name, made in sorted(items.items())}
        if options.times:
            say(f"{time.process_time() - began:6.1f} s  {len(items):4} items  {group}")
    if not options.check:
        everything["environment"] = environment()
        everything["groups"] = {name: everything["groups"][name] for name in GROUPS if name in everything["groups"]}
        DIGESTS.write_text(json.dumps(everything, indent=0) + "\n", encoding="utf-8")
    count = sum(len(everything["groups"][group]) for group in options.groups)
    say(f"{count} items, {len(changed)} changed.")
    return 1 if changed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
