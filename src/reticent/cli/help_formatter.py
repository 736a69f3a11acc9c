"""Loads typer's formatter of help without the parts of rich that it names and that no help of ours uses.

Those are Markdown, whose parser and lexers take a third of the time of `reticent --help`, and tracebacks, which are our own
(`failures`). Each is replaced, in the formatter alone, by a class that is loaded when it is used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

UNUSED_CLASSES = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
"""What the formatter imports, by module."""


class LoadedWhenUsed(type):
    """A class that stands for another one: it is loaded when an object of it is made, or an attribute is asked for."""

    module_name: str

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        return cls.load()(*arguments, **options)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.load(), name)

    def load(cls) -> Any:
        return getattr(import_module(cls.module_name), cls.__name__)


def load_help_formatter() -> None:
    """Load `typer.rich_utils`; whoever imports Markdown or Traceback of rich afterwards gets rich's own."""
    stand_ins = {name: _make_stand_in(name) for name in UNUSED_CLASSES if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        import typer.rich_utils  # noqa: F401  # for the module that is left in sys.modules
    finally:
        for name in stand_ins:
            del sys.modules[name]


def _make_stand_in(module_name: str) -> ModuleType:
    module = ModuleType(module_name)
    class_name = UNUSED_CLASSES[module_name]
    setattr(module, class_name, LoadedWhenUsed(class_name, (), {"module_name": module_name}))
    return module
