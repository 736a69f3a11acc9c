"""The names of Cython that kernels use, for a kernel that runs uncompiled where Cython is not installed.

Types convert as Cython's own module for uncompiled code has them do: to `int`, `float` or `bool`, without a limit of bits.
Decorators return what they decorate.
"""

from __future__ import annotations

import builtins
from contextlib import nullcontext
from typing import Any

compiled = False


class CType:
    """A C type in an annotation, a declaration or a cast: `double[::1]` and `cast(double, 1)` may be written."""

    def __init__(self, python_type: type) -> None:
        self.python_type = python_type

    def __call__(self, value: Any) -> Any:
        return value if isinstance(value, self.python_type) else self.python_type(value)

    def __getitem__(self, axes: Any) -> CType:
        return self


class LockRelease(nullcontext[None]):
    """`with nogil:` and `@nogil`: no lock is released."""

    def __call__(self, function: Any) -> Any:
        return function


bint = CType(bool)
char = uchar = int = longlong = ulonglong = Py_ssize_t = CType(builtins.int)
double = CType(float)
void = None
nogil = LockRelease()


def return_unchanged(decorated: Any) -> Any:
    """Return a function or class as it is."""
    return decorated


cclass = cfunc = final = inline = return_unchanged


def exceptval(value: Any = None, *, check: bool = True) -> Any:
    """Return a decorator that changes nothing."""
    return return_unchanged


def declare(declared_type: CType, value: Any) -> Any:
    """Return the value of a variable, converted to its type."""
    return declared_type(value)


def cast(wanted_type: CType, value: Any) -> Any:
    """Return a value, converted to a type."""
    return wanted_type(value)


def fused_type(*members: CType) -> CType:
    """Return a type that stands for any of several, of which the first is as good as the others uncompiled."""
    return members[0]
