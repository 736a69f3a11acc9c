"""The entry point: parse, run one command, end with its exit code.

0    done, and every promise kept        5   published before
1    the request is wrong                 6   the source is unreachable
2    the promise is unreachable          70   a bug of ours
3    a promise is broken                 74   the disk refuses, or the memory
4    the source or the job disagrees    130   interrupted, nothing written
7    `audit --strict`: not shown
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from reticent import operating_system
from reticent.cli import startup
from reticent.cli.failures import ErrorOptions, TerminationSignal, UsageError, report_failure
from reticent.cli.progress import apply_log_options, log_exit_code
from reticent.cli.startup import exit_if_out_of_memory, recover_interrupted_runs, require_address_space
from reticent.errors import DiskError, ReticentError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `reticent ARGUMENTS`; return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:  # the process is ours: a warning is a line, not a place in the code
        warnings.showwarning = lambda message, *_, **__: print(f"reticent: {message}", file=sys.stderr)
    options = ErrorOptions(
        json="--json" in words,
        show_values="--show-values" in words,
        traceback="--traceback" in words or bool(os.environ.get("RETICENT_TRACEBACK")),
    )
    startup.prepare_streams()
    startup.drop_polars_settings()
    try:
        require_utf8_arguments(words)
        code = run_with_logging([word for word in words if word != "--traceback"], options)
        if arguments is None:
            exit_if_out_of_memory(code)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has seen enough, as in `| head`
        startup.silence_stdout()
        return 1
    except ReticentError as error:
        return report_failure(error, options)
    except OSError as error:  # a full disk behind `> file`: what the command did is done
        startup.silence_stdout()
        return report_failure(DiskError(f"Standard output cannot be written: {error.strerror}."), options)


def require_utf8_arguments(words: Sequence[str]) -> None:
    """Refuse an argument that is not UTF-8, or holds a NUL: it could be written neither to a job nor to a ledger."""
    for place, word in enumerate(words, 1):
        if "\x00" in word or any("\ud800" <= mark <= "\udfff" for mark in word):
            raise UsageError(f"Argument {place} is not UTF-8, or holds a NUL.", attempt="another name.")


def run_with_logging(words: list[str], options: ErrorOptions) -> int:
    """Run a command, with its stages logged as the words ask."""
    with apply_log_options(words) as rest:
        code = run_command(rest, options)
        log_exit_code(code)
        return code


def run_command(words: list[str], options: ErrorOptions) -> int:
    try:
        with _handle_termination():
            code = _invoke_command(words)
    except BrokenPipeError:
        raise
    except SystemExit as error:  # the parser ends so where the reader of a pipe has seen enough
        if isinstance(error.__context__, BrokenPipeError):
            startup.silence_stdout()
        return error.code if isinstance(error.code, int) else 1
    except BaseException as error:
        return report_failure(error, options)
    if code == 130:  # the parser's word for Ctrl-C
        return report_failure(KeyboardInterrupt(), options)
    return code if isinstance(code, int) else 0


def _invoke_command(words: list[str]) -> object:
    if words == ["--version"]:  # answered before the parser is loaded, which takes most of a start
        print(startup.describe_version())
        return 0
    if not {"-h", "--help", "--version"} & set(words):
        require_address_space()
        for line in recover_interrupted_runs(words):
            print(line, file=sys.stderr)
    from reticent.cli.commands import build_parser

    # On its own the parser ends the process with 2 for a usage error, which means "unreachable" here.
    return build_parser(words).main(words, "reticent", standalone_mode=False)


@contextmanager
def _handle_termination() -> Iterator[None]:
    """Clean up on SIGTERM, or on a terminal that closes, as on Ctrl-C; under nohup the latter is ignored."""

    def end(*_: object) -> None:
        raise TerminationSignal

    handlers = operating_system.get_signal_handlers(operating_system.list_ending_signals())
    unhandled = [number for number, handler in handlers.items() if operating_system.is_unhandled(handler)]
    with operating_system.handle_signals(dict.fromkeys(unhandled, end)):
        yield


if __name__ == "__main__":
    sys.exit(main())
