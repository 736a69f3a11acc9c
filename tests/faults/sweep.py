"""`make faults`: every change of every scenario goes wrong in every way; a table of counts, and each thing that broke.

python -m tests.faults.sweep [--every N] [--scenario NAME]... [--way NAME]...
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.injected import SCENARIOS, WAYS, Server, changes_of, compiled, spoil, template


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--every", type=int, default=1)
    asked.add_argument("--scenario", action="append", choices=SCENARIOS)
    asked.add_argument("--way", action="append", choices=WAYS)
    given = asked.parse_args()
    wrong_in_all, started = 0, time.process_time()
    with tempfile.TemporaryDirectory(prefix="reticent-faults-") as made:
        place = Path(made).resolve()
        server = Server(compiled(place))
        print("| scenario | way | changes | spoiled | wrong |", "|---|---|---|---|---|", sep="\n", flush=True)
        for name in given.scenario or SCENARIOS:
            before = place / name.replace(" ", "-")
            template(server, place / "work", before, SCENARIOS[name])
            changes = changes_of(server, before, place / "work", SCENARIOS[name])
            for way in given.way or WAYS:
                points = range(1, changes + 1, given.every)
                wrong = [(at, one) for at in points
                         for one in spoil(server, before, place / "work", SCENARIOS[name], at, way)]  # fmt: skip
                print(f"| {name} | {way} | {changes} | {len(points)} | {len({at for at, _ in wrong})} |", flush=True)
                print(*(f"  at {at}: {one}" for at, one in wrong), sep="\n", end="\n" if wrong else "", file=sys.stderr)
                wrong_in_all += len(wrong)
        server.end()
    print(
        f"{wrong_in_all} wrong; {time.process_time() - started:.0f} CPU s beside those of the commands", file=sys.stderr
    )
    return 1 if wrong_in_all else 0


if __name__ == "__main__":
    sys.exit(main())
