"""The entry point: parse, run one command, end with its exit code.

0    done, and every promise kept        70   a bug of ours
1    the request is wrong                74   the disk refuses
2    the promise is unreachable         130   interrupted, nothing written
3    the audit failed
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

from reticent.cli.failures import Wishes, tell
from reticent.cli.stages import ended, telling
from reticent.errors import ReticentError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `reticent ARGUMENTS`; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:  # the process is ours: a warning is a line, not a place in the code
        warnings.showwarning = lambda message, *_, **__: print(f"reticent: {message}", file=sys.stderr)
    wishes = Wishes(
        json="--json" in given,
        show_values="--show-values" in given,
        traceback="--traceback" in given or bool(os.environ.get("RETICENT_TRACEBACK")),
    )
    try:
        code = told([word for word in given if word != "--traceback"], wishes)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has seen enough, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


def told(words: list[str], wishes: Wishes) -> int:
    """Run, with stages told as the words ask."""
    try:
        with telling(words) as rest:
            code = run(rest, wishes)
            ended(code)
            return code
    except ReticentError as error:  # of the log itself
        return tell(error, wishes)


def run(words: list[str], wishes: Wishes) -> int:
    try:
        from reticent.cli.app import command

        # On its own the parser ends the process with 2 for a usage error, which means "unreachable" here.
        code = command(words).main(words, "reticent", standalone_mode=False)
    except BrokenPipeError:
        raise
    except SystemExit as error:  # how the parser ends where the reader of a pipe has seen enough
        return error.code if isinstance(error.code, int) else 1
    except BaseException as error:
        return tell(error, wishes)
    if code == 130:  # the parser's word for Ctrl-C
        return tell(KeyboardInterrupt(), wishes)
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
