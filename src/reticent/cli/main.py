"""The entry point: parse, run one command, end with its exit code.

0    done, and every promise kept        5   published before
1    the request is wrong                 6   the source is unreachable
2    the promise is unreachable          70   a bug of ours
3    a promise is broken                 74   the disk refuses, or the memory
4    the source or the job disagrees    130   interrupted, nothing written
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from reticent.cli import streams
from reticent.cli.failures import Terminated, UsageError, Wishes, tell
from reticent.cli.room import leave_if_short, refuse_little_room
from reticent.cli.settling import settle
from reticent.cli.stages import ended, telling
from reticent.errors import DiskError, ReticentError


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
    streams.prepare()
    streams.forget_settings()
    try:
        refuse_unwritable(given)
        code = told([word for word in given if word != "--traceback"], wishes)
        if arguments is None:
            leave_if_short(code)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has seen enough, as in `| head`
        streams.silence()
        return 1
    except ReticentError as error:
        return tell(error, wishes)
    except OSError as error:  # a full disk behind `> file`: what the command did is done
        streams.silence()
        return tell(DiskError(f"Standard output cannot be written: {error.strerror}."), wishes)


def refuse_unwritable(words: Sequence[str]) -> None:
    """An argument that is not UTF-8, or holds a NUL, could be written neither to a job nor to a ledger."""
    for place, word in enumerate(words, 1):
        if "\x00" in word or any("\ud800" <= mark <= "\udfff" for mark in word):
            raise UsageError(f"Argument {place} is not UTF-8, or holds a NUL.", attempt="another name.")


def told(words: list[str], wishes: Wishes) -> int:
    """Run, with stages told as the words ask."""
    with telling(words) as rest:
        code = run(rest, wishes)
        ended(code)
        return code


def run(words: list[str], wishes: Wishes) -> int:
    try:
        with _told_to_end():
            code = _command(words)
    except BrokenPipeError:
        raise
    except SystemExit as error:  # how the parser ends where the reader of a pipe has seen enough
        return error.code if isinstance(error.code, int) else 1
    except BaseException as error:
        return tell(error, wishes)
    if code == 130:  # the parser's word for Ctrl-C
        return tell(KeyboardInterrupt(), wishes)
    return code if isinstance(code, int) else 0


def _command(words: list[str]) -> object:
    if not {"-h", "--help", "--version"} & set(words):
        refuse_little_room()
    for line in settle(words):
        print(line, file=sys.stderr)
    from reticent.cli.app import command

    # On its own the parser ends the process with 2 for a usage error, which means "unreachable" here.
    return command(words).main(words, "reticent", standalone_mode=False)


@contextmanager
def _told_to_end() -> Iterator[None]:
    """An order to end (SIGTERM), or a terminal that closes, cleans up as Ctrl-C does; nohup has the latter ignored."""

    def end(*_: object) -> None:
        raise Terminated

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ours = threading.current_thread() is threading.main_thread()
    taken = [number for number in numbers if ours and signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
