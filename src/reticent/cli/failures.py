"""Reports failures: to people on stderr, with --json also as one object on stdout, and by the exit code.

Our own errors never quote a record.  Errors of libraries may: of those only the type and the place are reported.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import sys
import traceback as tracebacks
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reticent.cli.sanitize import sanitize_json, sanitize_line, sanitize_text
from reticent.errors import (
    DiskError,
    HierarchyError,
    InternalError,
    OutOfMemory,
    RequestError,
    ReticentError,
    locate_error,
)
from reticent.memory import is_memory_error

DISK_ERRNOS = {errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}
PATH_ERRNOS = {
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ELOOP,
    errno.EINVAL,
    errno.ENXIO,
    errno.ENODEV,
}
EXAMPLE_PREFIX = "Example:  "  # of a command's last line of help
OUTPUT_OPTION = "output"
OUTPUT_SYNONYMS = ("--to", "--out", "--into", "--dest", "--target", "--folder", "--save")
"""The option that says where something is written, and what other programs call it."""
COMMANDS_FOR_OTHER_WORDS = {
    "sweep": "`reticent compare JOB --sweep k=5,10,20`, which tries a parameter's values; rt.sweep in Python.",
    "plan": "`reticent check JOB`, which plans without publishing; rt.plan in Python.",
    "anonymize": "`reticent publish JOB -o FOLDER`; `reticent init DATA` drafts the job.",
    "anonymise": "`reticent publish JOB -o FOLDER`; `reticent init DATA` drafts the job.",
    "open": '`reticent query RELEASE "SELECT COUNT(*) FROM release"`, or `reticent report RELEASE`.',
    "describe": "`reticent audit RELEASE`, or `reticent report RELEASE`.",
}
"""Words of this library's Python names and of other tools, and the command that does what they say."""


@dataclass(frozen=True, slots=True)
class ErrorOptions:
    """How the user wants errors to be reported."""

    json: bool = False
    show_values: bool = False
    traceback: bool = False


class Interrupted(ReticentError):
    exit_code = 130


class TerminationSignal(BaseException):
    """The process got a signal to end.  It is no KeyboardInterrupt, which some methods take as "enough"."""


class UsageError(RequestError):
    pass


def report_failure(error: BaseException, options: ErrorOptions) -> int:
    """Report what went wrong; return the exit code."""
    ours = convert_error(error)
    values = list(ours.values) if isinstance(ours, HierarchyError) and options.show_values else []
    with contextlib.suppress(OSError):  # nobody reads it, or its disk is full: the exit code says the same
        _print_failure(error, ours, values, options)
    if options.json:
        facts: dict[str, Any] = {"kind": type(ours).__name__, "what": ours.what, "why": ours.why, "try": ours.attempt}
        facts |= {"exit_code": ours.exit_code} | ({"values": values} if values else {})
        print(sanitize_json(json.dumps({"error": facts}, indent=1, ensure_ascii=False)))
    return ours.exit_code


def convert_error(error: BaseException) -> ReticentError:
    """Convert an error to one of ours."""
    if isinstance(error, ReticentError):
        return error
    if isinstance(error, KeyboardInterrupt | TerminationSignal) or type(error).__name__ == "Abort":
        return Interrupted("Interrupted; nothing was written.")
    if hasattr(error, "format_message"):  # the parser's own
        return _explain_usage_error(error)
    if is_memory_error(error):
        return OutOfMemory()
    if isinstance(error, OSError) and error.errno in DISK_ERRNOS:
        return DiskError(f"The disk refuses: {os.strerror(error.errno)}.", attempt="more room, or another folder.")
    if isinstance(error, OSError) and error.errno in PATH_ERRNOS:
        return RequestError(
            f"A path cannot be used: {os.strerror(error.errno)}.", attempt="another name, or a folder that is there."
        )
    return InternalError(
        f"A bug of ours: {type(error).__name__} {locate_error(error)}.",
        why="Its message is withheld: it may quote a record.",
        attempt="--traceback, and reporting what it prints together with the job file.",
    )


def format_frames(error: BaseException) -> Iterator[str]:
    """Format the traceback without the messages of others and without any variable."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield from format_frames(cause)
        yield "which led to"
    yield "".join(tracebacks.format_list(tracebacks.extract_tb(error.__traceback__))).rstrip()
    yield str(error) if isinstance(error, ReticentError) else f"{type(error).__name__}: (message withheld)"


def _print_failure(error: BaseException, ours: ReticentError, values: list[str], options: ErrorOptions) -> None:
    if options.traceback:
        print(*map(sanitize_text, format_frames(error)), sep="\n", file=sys.stderr)
    print(sanitize_text(f"{type(ours).__name__}: {ours}"), file=sys.stderr)
    if values:
        print("  The values:", *(f"    {sanitize_line(value)}" for value in values), sep="\n", file=sys.stderr)


def _explain_usage_error(error: Any) -> UsageError:
    """Explain an error of the parser.

    For an option that a command does not have, suggest one of its own; for one that is missing, the command's example.
    """
    from difflib import get_close_matches

    unknown = getattr(error, "option_name", None)
    context = getattr(error, "ctx", None)
    is_missing = type(error).__name__ == "MissingParameter"
    if is_missing and context is not None and context.command.epilog:
        example = context.command.epilog.removeprefix(EXAMPLE_PREFIX)
        return UsageError(error.format_message(), attempt=f"`{example}`; --help tells of each option.")
    if not unknown or context is None:
        return UsageError(error.format_message(), attempt=_advise_command(error.format_message()))
    names = [option[2:] for parameter in context.command.params for option in parameter.opts if option.startswith("--")]
    intended = OUTPUT_OPTION if unknown in OUTPUT_SYNONYMS and OUTPUT_OPTION in names else unknown.lstrip("-")
    close = [f"--{name} instead; its options are" for name in get_close_matches(intended, names, n=1)]
    listed = ", ".join(f"--{name}" for name in names)
    return UsageError(
        f"{context.command_path} has no option {unknown}.",
        attempt=f"{''.join(close) or 'one of'} {listed}; --help tells of each.",
    )


def _advise_command(message: str) -> str:
    """Advise the command that does what an unknown one is for, where its name is known from elsewhere."""
    match = re.match(r"No such command '(\w+)'", message)
    return COMMANDS_FOR_OTHER_WORDS.get(match[1].lower(), "--help.") if match else "--help."
