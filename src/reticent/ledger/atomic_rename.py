"""Exchanges two names in one step, and takes a name only if nothing has it, by the system's own calls.

Linux has `renameat2` and macOS `renameatx_np`. Where the system or the file system has neither, `swap_names` returns
False and does nothing, and `move_to_new_name` checks first and then renames.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

_CURRENT_FOLDER_HANDLE = -2 if sys.platform == "darwin" else -100
"""AT_FDCWD: paths are relative to the working directory."""
_NO_REPLACE_FLAG, _EXCHANGE_FLAG = (4, 2) if sys.platform == "darwin" else (1, 2)
_UNSUPPORTED_ERRNOS = {
    errno.ENOSYS,
    errno.EINVAL,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.EPERM,  # what a sandbox answers
}


def swap_names(first: Path, second: Path) -> bool:
    """Exchange two names in one step; return False, without any change, where that is not possible."""
    number = _call_rename(first, second, _EXCHANGE_FLAG)
    if number and number not in _UNSUPPORTED_ERRNOS:
        raise OSError(number, os.strerror(number), str(second))
    return number == 0


def move_to_new_name(source: Path, target: Path) -> None:
    """Rename to a name that nothing may have; raise FileExistsError if something has it."""
    number = _call_rename(source, target, _NO_REPLACE_FLAG)
    if number in _UNSUPPORTED_ERRNOS:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        os.rename(source, target)
    elif number:
        raise OSError(number, os.strerror(number), str(target))


def move_between(source: int, name: str, destination: int, new_name: str) -> None:
    """Move an entry of one open folder into another, under a name that nothing may have there."""
    number = _call_rename(name, new_name, _NO_REPLACE_FLAG, source, destination)
    if number in _UNSUPPORTED_ERRNOS:
        try:
            os.stat(new_name, dir_fd=destination, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=destination)
        else:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new_name)
    elif number:
        raise OSError(number, os.strerror(number), new_name)


def replace_dir(folder: Path, place: Path, aside: Path, *, replace: bool) -> None:
    """Put a folder in its place.

    What it replaces has the folder's name afterwards, or is at `aside` where two steps are needed.
    """
    if not replace:
        move_to_new_name(folder, place)
    elif not swap_names(folder, place):
        os.rename(place, aside)
        try:
            os.rename(folder, place)
        except BaseException:
            os.rename(aside, place)
            raise


def undo_replace(folder: Path, place: Path, aside: Path) -> None:
    """Undo `replace_dir`."""
    if os.path.lexists(aside):
        os.rename(place, folder)
        os.rename(aside, place)
    elif os.path.lexists(folder):
        swap_names(folder, place)
    else:
        move_to_new_name(place, folder)


def _call_rename(
    one: str | Path,
    other: str | Path,
    how: int,
    source: int = _CURRENT_FOLDER_HANDLE,
    destination: int = _CURRENT_FOLDER_HANDLE,
) -> int:
    """Return 0, or the error number; names are relative to the open folders `source` and `destination`."""
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
        call = library.renameatx_np if sys.platform == "darwin" else library.renameat2
    except (AttributeError, OSError, TypeError):  # TypeError: Windows has no library of all that is loaded
        return errno.ENOSYS
    result = call(source, os.fsencode(one), destination, os.fsencode(other), how)
    return 0 if result == 0 else ctypes.get_errno()
