"""The parameters of a promise as controls of a form, by their fields in the catalogue, and back."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from reticent.catalogue.fields import Field
from reticent.errors import RequestError
from reticent.job.job import format_toml_value

NUMBER_KINDS = ("number", "whole", "integer", "float", "decimal")
MAX_TEXT_LETTERS = 20_000
_NUMBER = re.compile(r"[+-]?\d{1,40}(\.\d{1,40})?")
_FRACTION = re.compile(r"\d{1,40}/\d{1,40}")


@dataclass(frozen=True, slots=True)
class Control:
    """A control: a number, a choice, or a text as the job writes it."""

    name: str
    label: str
    kind: str  # number, choice, text
    text: str
    choices: tuple[tuple[str, str], ...] = ()
    is_required: bool = False


def make_control(name: str, field: Field, value: Any, sensitive: Sequence[str], files: Sequence[str]) -> Control:
    """Make the control of a parameter; `value` is None where the job leaves it out."""
    text = "" if value is None else _format_value(value)
    label = f"{name}: {field.doc}" if field.doc else name
    choices: tuple[tuple[str, str], ...] = ()
    if field.kind in NUMBER_KINDS:
        return Control(name, label, "number", text, is_required=field.required)
    if field.kind == "flag":
        choices = (("true", "yes"), ("false", "no"))
    elif field.kind == "choice":
        choices = tuple((_format_value(choice), str(choice)) for choice in field.choices)
    elif field.kind == "column":
        choices = tuple((column, column) for column in sensitive)
    elif field.kind == "file":
        choices = tuple((file, file) for file in files)
    if not choices:
        return Control(name, label, "text", text, is_required=field.required)
    if text and text not in [choice for choice, _ in choices]:
        choices = (*choices, (text, text))
    if not field.required:
        choices = (("", _describe_unset(field, sensitive)), *choices)
    return Control(name, label, "choice", text, choices, field.required)


def read_control(field: Field, text: str) -> Any:
    """Read what a control holds as a value of the job; None for nothing.

    Raises:
        RequestError: it is no value.
    """
    text = text.strip()
    if not text:
        return None
    if len(text) > MAX_TEXT_LETTERS:
        raise RequestError("This text is too long.", attempt="a short one, or the job's text.")
    if field.kind in NUMBER_KINDS:
        return _read_number(text)
    if field.kind in ("column", "file", "text", "path", "line"):
        return text
    try:
        value = tomllib.loads(f"x = {text}", parse_float=Decimal)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        if "\n" in text or any(mark in text for mark in '{}[]"='):
            raise RequestError("This is no value as a job writes it.", attempt=f"{field.allowed_values}.") from None
        return text
    if list(value) != ["x"]:
        raise RequestError("This is more than one value.", attempt=f"{field.allowed_values}.")
    return convert_decimals(value["x"])


def convert_decimals(value: Any) -> Any:
    """Return a value with plain numbers, as a job file holds them."""
    if isinstance(value, Mapping):
        return {name: convert_decimals(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [convert_decimals(entry) for entry in value]
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == int(value) else float(value)
    return value


def _read_number(text: str) -> int | float | str:
    text = text.replace(",", ".") if text.count(",") == 1 and "." not in text else text
    if _FRACTION.fullmatch(text):
        return text
    if not _NUMBER.fullmatch(text):
        raise RequestError("A number is asked for.", attempt="a number such as 10 or 0.5, or a fraction such as 1/3.")
    number = Decimal(text)
    return int(number) if number == int(number) else float(number)


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else format_toml_value(value)


def _describe_unset(field: Field, sensitive: Sequence[str]) -> str:
    if field.kind == "column":
        return sensitive[0] if len(sensitive) == 1 else "the sensitive column"
    if field.kind == "flag" and field.default is not None:
        return f"as usual ({'yes' if field.default else 'no'})"
    usual = field.default if field.default is not None else field.unset
    return f"as usual ({usual})" if usual not in (None, "") else "as usual"
