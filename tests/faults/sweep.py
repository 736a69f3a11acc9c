"""`make faults`: every change of every scenario goes wrong in every way; a table of counts, and each thing that broke.

python -m tests.faults.sweep [--every N] [--scenario NAME]... [--way NAME]...
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TextIO

from tests.faults.injection import SCENARIOS, WAYS, Server, changes_of, compiled, spoil, template


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--every", type=int, default=1)
    asked.add_argument("--scenario", action="append", choices=SCENARIOS)
    asked.add_argument("--way", action="append", choices=WAYS)
    given = asked.parse_args()
    wrong_in_all = 0
    started = time.process_time()
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # a file system in memory, where there is one
    with tempfile.TemporaryDirectory(prefix="reticent-faults-", dir=memory) as made:
        place = Path(made).resolve()
        server = Server(compiled(place))
        say("| scenario | way | changes | spoiled | wrong |", "|---|---|---|---|---|")
        for name in given.scenario or SCENARIOS:
            before = place / name.replace(" ", "-")
            template(server, place / "work", before, SCENARIOS[name])
            changes = changes_of(server, before, place / "work", SCENARIOS[name])
            for way in given.way or WAYS:
                points = range(1, changes + 1, given.every)
                wrong = [
                    (at, one)
                    for at in points
                    for one in spoil(server, before, place / "work", SCENARIOS[name], at, way)
                ]
                say(f"| {name} | {way} | {changes} | {len(points)} | {len({at for at, _ in wrong})} |")
                say(*(f"  at {at}: {one}" for at, one in wrong), to=sys.stderr)
                wrong_in_all += len(wrong)
        server.end()
    say(f"{wrong_in_all} wrong; {time.process_time() - started:.0f} CPU s beside those of the commands.", to=sys.stderr)
    return 1 if wrong_in_all else 0


def say(*lines: str, to: TextIO = sys.stdout) -> None:
    to.writelines(f"{line}\n" for line in lines)
    to.flush()


if __name__ == "__main__":
    sys.exit(main())
