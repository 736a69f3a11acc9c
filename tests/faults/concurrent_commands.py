"""Children that run a command each, all at the same time: lines of JSON words in, a list of exit codes out."""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    import pyarrow.parquet  # noqa: F401  # loaded once, for the children

    import reticent.audit
    import reticent.cli.commands
    import reticent.cli.publish
    import reticent.methods.mondrian
    import reticent.publish
    import reticent.recipe.generalized  # noqa: F401
    from reticent.cli.main import main as command

    reading, writing = os.pipe()
    children = []
    for line in sys.stdin:
        number = os.fork()
        if number == 0:
            os.close(writing)
            os.read(reading, 1)  # until the parent closes its end: all begin together
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # it lives as long as the child
            os._exit(command(json.loads(line)))
        children.append(number)
    os.close(writing)
    codes = [os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) for number in children]
    sys.__stdout__.write(json.dumps(codes) + "\n")


if __name__ == "__main__":
    main()
