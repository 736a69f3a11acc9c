"""What the operating system offers beyond what every Python has: the one module that calls what only POSIX systems have.

Every other module asks here; a test looks for such calls elsewhere (`tests/house/test_operating_system.py`). Where
something is lacking, as on Windows, each function says in its docstring what happens instead.

| | Linux, macOS | Windows |
|---|---|---|
| `has_user_ids`, `has_file_modes` | yes | no: files are as private as the folder that they are in |
| `has_directory_handles` | yes | no: a folder is named by its path, and nobody's leavings are acted on |
| `has_file_locks` | yes | no: a lock is a file that only one process can make (`private_files.hold_lock`) |
| names exchanged in one step (`call_rename`) | yes, unless the file system cannot | no |
| `can_recover` | yes | no: an existing folder is not replaced, and interrupted runs are not settled |
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `import reticent` loads this module, and no library of paths
    from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a system without locks has no such module
try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a system without limits has no such module

FolderIdentity = tuple[int, int]
"""A device and an inode: which folder a name means."""

# Flags of `os.open`; 0 where a system does not know them.
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""A link is not opened; a system without this flag follows it (`open_unlinked` looks first)."""
NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""A pipe is not waited for."""
BINARY = getattr(os, "O_BINARY", 0)
"""Bytes are written as they are: Windows would write another end of line."""
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)

SIGNAL_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that ask a process to end."""
NO_REPLACE_FLAG, EXCHANGE_FLAG = (4, 2) if sys.platform == "darwin" else (1, 2)
UNSUPPORTED_ERRNOS = {
    errno.ENOSYS,
    errno.EINVAL,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.EPERM,  # what a sandbox answers
}
_CURRENT_FOLDER_HANDLE = -2 if sys.platform == "darwin" else -100
"""AT_FDCWD: paths are relative to the working directory."""
_OWN_THREADS = "/proc/self/task"


# What this system can do.


def has_user_ids() -> bool:
    return hasattr(os, "geteuid")


def has_file_modes() -> bool:
    """Tell whether a file can be closed to other users by its mode."""
    return os.name == "posix" and hasattr(os, "fchmod")


def has_file_locks() -> bool:
    """Tell whether the system frees a lock when its process ends."""
    return fcntl is not None


def has_directory_handles() -> bool:
    """Tell whether an open folder can be acted in, whatever happens to its name meanwhile."""
    import shutil

    return (
        bool(NO_FOLLOW and _DIRECTORY)
        and {os.open, os.mkdir, os.rename, os.unlink, os.rmdir, os.stat} <= os.supports_dir_fd
        and os.listdir in os.supports_fd
        and shutil.rmtree.avoids_symlink_attacks
    )


def can_recover() -> bool:
    """Tell whether what an interrupted run left can be recognized as this user's own, and settled."""
    return has_user_ids() and has_file_modes() and has_file_locks() and has_directory_handles()


def list_capabilities() -> dict[str, bool]:
    """List what this system can do, by name."""
    checks = (has_user_ids, has_file_modes, has_file_locks, has_directory_handles, can_recover)
    return {check.__name__: check() for check in checks}


# Users.


def get_user_id() -> int:
    """Return the id of the user who owns what this process makes; -1 where a system has no such ids."""
    return os.geteuid() if has_user_ids() else -1


def get_user_name() -> str:
    """Return the name of the user who runs this process, by the system and not by the environment; else the id."""
    try:
        import pwd
    except ImportError:  # Windows has no such list of users
        import getpass

        try:
            return getpass.getuser()
        except (OSError, ImportError, KeyError):  # neither does the environment say it
            return str(get_user_id())
    try:
        return pwd.getpwuid(get_user_id()).pw_name
    except KeyError:  # an id without a name, as in many containers
        return str(get_user_id())


def is_superuser() -> bool:
    return get_user_id() == 0


def belongs_to_other_user(status: os.stat_result, trusts_root: bool = False) -> bool:
    """Tell whether a file is another user's; never where a system has no user ids."""
    return has_user_ids() and status.st_uid not in {get_user_id(), *([0] if trusts_root else [])}


# Modes.


def get_mode(file: str | Path | int) -> int:
    """Return the bits of a file's mode, by its path or its handle."""
    return stat.S_IMODE(os.stat(file).st_mode)


def set_mode(file: str | Path | int, mode: int) -> None:
    """Give a file this mode exactly if it has another one; where there are no modes nothing is done."""
    if has_file_modes() and get_mode(file) != mode:
        os.chmod(file, mode)


def set_permissions(file: str | Path | int, mode: int) -> None:
    """Give a file these permissions if it has others; a group that it inherits stays."""
    if has_file_modes() and get_mode(file) & 0o777 != mode:
        os.chmod(file, mode)


def is_writable_by_group(status: os.stat_result) -> bool:
    return has_file_modes() and bool(status.st_mode & 0o020)


def is_writable_by_others(status: os.stat_result) -> bool:
    """Tell whether the group or everybody may write to a file; never where there are no modes."""
    return has_file_modes() and bool(status.st_mode & 0o022)


# Files that are no links.


def open_unlinked(path: str | Path, flags: int, mode: int = 0o600) -> int:
    """Open a file that is no link; OSError (ELOOP) if it is one.

    A system that cannot refuse a link while it opens is asked before: who exchanges the file in between is followed there.
    """
    if not NO_FOLLOW and os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return os.open(path, flags | NO_FOLLOW | BINARY, mode)


# Folders, by their handles. Only where `has_directory_handles`.


def read_identity(folder: str | Path | int) -> FolderIdentity:
    """Return the device and inode of a folder, by path or by handle; every system has them."""
    status = os.stat(folder)
    return status.st_dev, status.st_ino


@contextmanager
def open_folder(name: str | Path, parent: int | None = None) -> Iterator[int]:
    """Open a folder that is no link; `parent` is the handle of the folder that holds it."""
    handle = os.open(name, os.O_RDONLY | _DIRECTORY | NO_FOLLOW, dir_fd=parent)
    try:
        yield handle
    finally:
        os.close(handle)


def open_in(name: str, parent: int, flags: int, mode: int = 0o600) -> int:
    """Open a file of an open folder, if it is no link; return its handle."""
    return os.open(name, flags | NO_FOLLOW | BINARY, mode, dir_fd=parent)


def make_folder_in(name: str, parent: int, mode: int) -> None:
    """Make a folder in an open one, with this mode whatever the umask."""
    os.mkdir(name, mode, dir_fd=parent)
    with open_folder(name, parent) as handle:
        set_mode(handle, mode)


def stat_in(name: str, parent: int) -> os.stat_result:
    """Return the status of an entry of an open folder; a link is not followed."""
    return os.stat(name, dir_fd=parent, follow_symlinks=False)


def remove_file_in(name: str, parent: int) -> None:
    os.unlink(name, dir_fd=parent)


def remove_empty_folder_in(name: str, parent: int) -> None:
    os.rmdir(name, dir_fd=parent)


def remove_tree_in(name: str, parent: int) -> None:
    """Remove a folder of an open one with all that is in it; what refuses stays."""
    import shutil

    shutil.rmtree(name, ignore_errors=True, dir_fd=parent)


def replace_in(name: str, new_name: str, parent: int) -> None:
    """Rename a file within an open folder; what has the new name is replaced."""
    os.replace(name, new_name, src_dir_fd=parent, dst_dir_fd=parent)


def rename_between(source: int, name: str, destination: int, new_name: str) -> None:
    os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=destination)


def read_from_start(handle: int, max_bytes: int) -> bytes:
    """Read from an open file's beginning, wherever it was read or written last."""
    return os.pread(handle, max_bytes, 0)


# Renames, locks, and what is on the disk.


def call_rename(
    name: str | Path,
    new_name: str | Path,
    flag: int,
    source: int = _CURRENT_FOLDER_HANDLE,
    destination: int = _CURRENT_FOLDER_HANDLE,
) -> int:
    """Rename by the system's own call, which no other name is lost by: `renameat2` of Linux, `renameatx_np` of macOS.

    Returns 0, or the error number; ENOSYS where there is no such call. Names are relative to the open folders `source`
    and `destination`.
    """
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
        call = library.renameatx_np if sys.platform == "darwin" else library.renameat2
    except (AttributeError, OSError, TypeError):  # TypeError: Windows has no library of all that is loaded
        return errno.ENOSYS
    result = call(source, os.fsencode(name), destination, os.fsencode(new_name), flag)
    return 0 if result == 0 else ctypes.get_errno()


def lock_file(handle: int, *, shared: bool = False, wait: bool = True) -> None:
    """Lock an open file until it is closed; OSError if that is refused. Only where `has_file_locks`."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(handle, kind | (0 if wait else fcntl.LOCK_NB))


def sync_to_disk(path: Path) -> None:
    """Flush a file's content, or the names in a folder, to the disk; not every system can do that with a folder."""
    if os.name == "nt" and os.path.isdir(path):
        return
    handle = os.open(path, (os.O_RDWR if os.name == "nt" else os.O_RDONLY) | BINARY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


# Signals.


def list_ending_signals() -> list[int]:
    """List the numbers of the signals that ask a process to end, as far as this system has them."""
    import signal

    return [getattr(signal, name) for name in SIGNAL_NAMES if hasattr(signal, name)]


def get_signal_handlers(numbers: list[int]) -> dict[int, Any]:
    """Return the handler of each signal; what is not callable is none of Python's."""
    import signal

    return {number: signal.getsignal(number) for number in numbers}


def is_unhandled(handler: object) -> bool:
    """Tell whether a signal is left to the system, which ends the process by it."""
    import signal

    return handler is signal.SIG_DFL


@contextmanager
def handle_signals(handlers: Mapping[int, Callable[[int, Any], Any] | None]) -> Iterator[None]:
    """Set the handlers of signals in a block; None ignores a signal. Only the main thread may do so: others do nothing."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, signal.SIG_IGN if handler is None else handler)
        for number, handler in handlers.items()
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def ignore_signals() -> Iterator[None]:
    """Ignore signals to end that arrive in this block."""
    with handle_signals(dict.fromkeys(list_ending_signals())):
        yield


@contextmanager
def defer_signals() -> Iterator[None]:
    """Handle signals to end that arrive in this block at its end."""
    import signal

    arrived: list[int] = []
    handled = [number for number, handler in get_signal_handlers(list_ending_signals()).items() if callable(handler)]
    try:
        with handle_signals(dict.fromkeys(handled, lambda number, _: arrived.append(number))):
            yield
    finally:
        for number in arrived:
            signal.raise_signal(number)


@contextmanager
def restore_interrupt_handler() -> Iterator[None]:
    """Put the handler of Ctrl-C back after a block in which a library sets its own."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt(process: Any) -> None:
    """Ask a child to end as Ctrl-C does; where only a console can, it is ended."""
    import signal

    process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)


# Memory and threads.


def get_address_limit() -> int | None:
    """Return the most addresses that this process may use (`ulimit -v`); None if there is no limit."""
    if resource is None:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def get_used_addresses() -> int | None:
    """Return how many addresses this process has taken; None if the system does not tell."""
    pages = read_system_file("/proc/self/statm").split()
    return int(pages[0]) * resource.getpagesize() if pages and resource is not None else None


def read_system_file(path: str) -> str:
    """Return what the system says of itself in a file such as `/proc/meminfo`; "" where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def read_process_memory(field: str) -> int | None:
    """Return the bytes of a field of this process's status, such as VmHWM; None if the system does not tell."""
    lines = read_system_file("/proc/self/status").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), None)


def reset_peak_memory() -> bool:
    """Forget the peak of what ran before; False where that is not possible."""
    try:
        with open("/proc/self/clear_refs", "wb") as file:
            file.write(b"5")
    except OSError:
        return False
    return True


def list_thread_names() -> list[str] | None:
    """List the names of this process's threads, those of libraries too; None if the system does not show them."""
    names = []
    try:
        for task in os.listdir(_OWN_THREADS):
            with open(f"{_OWN_THREADS}/{task}/comm", encoding="utf-8", errors="replace") as file:
                names.append(file.read().strip())
    except OSError:
        return None
    return names


def can_reuse_address() -> bool:
    """Tell whether a port may be taken again at once: on Windows that option lets two processes listen on one."""
    return os.name == "posix"
