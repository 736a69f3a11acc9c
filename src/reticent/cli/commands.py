"""The commands and their parser.  A new command is a file of its name in this folder and a word in COMMANDS.

`PathOnlyCommand` refuses a URL as a path before any command makes a file's or a folder's name of it, password and all.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from reticent.cli.failures import EXAMPLE_PREFIX
from reticent.cli.help_formatter import load_help_formatter
from reticent.cli.progress import note_release
from reticent.cli.startup import describe_version
from reticent.errors import RequestError
from reticent.redaction import is_address

COMMANDS = (
    "init",
    "schema",
    "hierarchy",
    "check",
    "publish",
    "audit",
    "risk",
    "export",
    "query",
    "attack",
    "report",
    "compare",
    "advise",
    "calibrate",
    "plugins",
    "releases",
    "withdraw",
    "forget",
    "data",
    "demo",
    "studio",
)

HELP_OPTIONS = {"-h", "--help"}


class PathOnlyCommand(TyperCommand):
    """A command that accepts no URL where it expects a path."""

    def invoke(self, context: Any) -> Any:
        for parameter in self.params:
            values = context.params.get(parameter.name)
            for value in values if isinstance(values, list | tuple) else (values,):
                if isinstance(value, Path) and is_address(str(value)) and not value.exists():
                    _refuse_address(parameter, value)
        note_release(
            context.params.get("release") or (context.params.get("output") if self.name == "publish" else None)
        )
        return super().invoke(context)


def build_parser(words: Sequence[str] = ()) -> Any:
    """Build the parser with every command, or with the one that these words name: the others cost time to load."""
    app = typer.Typer(
        callback=run_top_level,
        invoke_without_command=True,
        add_completion=not words or words[0].startswith("-"),
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": sorted(HELP_OPTIONS, key=len)},
        epilog="Start with:  reticent demo",
    )
    if HELP_OPTIONS & set(words):
        load_help_formatter()
    named = next((word for word in words if not word.startswith("-")), None)
    for name in (named,) if named in COMMANDS else COMMANDS:
        module = import_module(f"reticent.cli.{name}")
        command = module.make_command() if hasattr(module, "make_command") else getattr(module, name)
        app.command(name, cls=PathOnlyCommand, epilog=f"{EXAMPLE_PREFIX}{module.EXAMPLE}")(command)
    parser = _simplify_help(typer.main.get_command(app))
    if not words:  # a shell asks for completions without a word; every other run names its command
        from reticent.cli.completion import add_completions

        add_completions(parser)
    return parser


def run_top_level(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where in the code an error arose; so does RETICENT_TRACEBACK=1.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not say which stage is at work.")] = False,
    log: Annotated[
        str | None,
        typer.Option("--log", metavar="FILE", help="Add a line for each stage, with its time, to this file."),
    ] = None,
    log_json: Annotated[
        bool, typer.Option("--log-json", help="Each stage as one JSON object a line, to the log or to stderr.")
    ] = False,
) -> None:
    """Publish microdata that says no more than you promised."""
    # `main` has taken the options about telling out of the words; they stand here for the help.
    if version:
        typer.echo(describe_version())
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(1)


def _refuse_address(parameter: Any, value: Path) -> None:
    name = parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.metavar or parameter.name
    raise RequestError(
        f"{name} takes a path, and {value} is an address.",
        attempt="a file or folder; a database is named by url = ... in a job's [source].",
    )


def _simplify_help(parser: Any) -> Any:
    """Remove the names of types from the help: a switch takes no value, and the name of an argument tells what it is.

    A paragraph of a docstring becomes one line: a terminal breaks it where its own lines end.
    """
    top_context = parser.context_class(parser, **parser.context_settings)
    contexts = [top_context, *(part.context_class(part, parent=top_context) for part in parser.commands.values())]
    for context in contexts:
        paragraphs = (context.command.help or "").split("\n\n")
        context.command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        for parameter in context.command.get_params(context):
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
            elif parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None
    return parser
