"""What only some operating systems have is called in one module, and text is written with the same line ends everywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support.repository import PACKAGE

ONE_MODULE = PACKAGE / "operating_system.py"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != ONE_MODULE)
POSIX_MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "signal", "msvcrt", "winreg"}
POSIX_NAMES = {
    *("geteuid", "getuid", "getegid", "getgid", "getgroups", "getpgid", "setsid", "killpg", "fork", "umask"),
    *(
        "fchmod",
        "fchown",
        "chown",
        "lchown",
        "chmod",
        "mkfifo",
        "pread",
        "pwrite",
        "statvfs",
        "uname",
        "nice",
        "getloadavg",
    ),
    *("supports_dir_fd", "supports_fd", "sched_getaffinity", "O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_BINARY"),
}
"""Of `os` and of `pathlib.Path`."""
MODE_FIELDS = {"st_uid", "st_gid"}
HANDLE_ARGUMENTS = {"dir_fd", "src_dir_fd", "dst_dir_fd"}
SYSTEM_FOLDERS = ("/proc/", "/sys/")


def list_system_calls(tree: ast.AST) -> Iterator[str]:
    """List what a module uses that not every system has."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in POSIX_MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in POSIX_MODULES:
            yield str(node.module)
        elif isinstance(node, ast.Attribute):
            is_platform = isinstance(node.value, ast.Name) and (node.value.id, node.attr) in {
                ("os", "name"),
                ("sys", "platform"),
                ("os", "kill"),
            }
            if is_platform or node.attr in MODE_FIELDS | POSIX_NAMES:
                yield node.attr
        elif isinstance(node, ast.keyword) and node.arg in HANDLE_ARGUMENTS:
            yield str(node.arg)
        elif isinstance(node, ast.Constant) and str(node.value) in POSIX_NAMES - {"fork", "nice", "uname"}:
            yield str(node.value)  # of getattr
        elif isinstance(node, ast.Constant) and is_foreign_system_file(str(node.value)):
            yield str(node.value)


MEMORY_FILES = {"/proc/meminfo", "/sys/fs/cgroup/memory."}
"""What `memory` asks `read_system_file` for, which answers "" where there is no such file."""


def is_foreign_system_file(text: str) -> bool:
    return text.startswith(SYSTEM_FOLDERS) and text not in MEMORY_FILES


def list_translated_writes(tree: ast.AST) -> Iterator[int]:
    """List the lines where text is written with the line ends of whatever system runs."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        modes = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        modes += [
            word.value.value for word in node.keywords if word.arg == "mode" and isinstance(word.value, ast.Constant)
        ]
        opens_text = name in ("open", "fdopen") and any(
            mode in ("w", "a", "x", "w+", "wt", "at", "xt") for mode in modes
        )
        is_archive = any(word.arg == "force_zip64" for word in node.keywords)
        says_line_ends = any(word.arg == "newline" for word in node.keywords)
        if (name == "write_text" or opens_text) and not is_archive and not says_line_ends:
            yield node.lineno


def test_no_other_module_calls_what_only_some_systems_have():
    calls = {
        str(path.relative_to(PACKAGE)): names
        for path in MODULES
        if (names := sorted(set(list_system_calls(ast.parse(path.read_text(encoding="utf-8"))))))
    }
    assert not calls, "ask operating_system"


def test_text_is_written_with_the_same_line_ends_on_every_system():
    places = []
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        places += [
            f"{path.relative_to(PACKAGE)}:{line}"
            for line in list_translated_writes(ast.parse(text))
            if "os.devnull" not in lines[line - 1]
        ]
    assert not places, 'newline="\\n"'


@pytest.mark.parametrize(
    "line",
    [
        "import fcntl",
        "from signal import SIGINT",
        "os.geteuid()",
        'getattr(os, "O_NOFOLLOW", 0)',
        "os.rename(a, b, src_dir_fd=c)",
        'if os.name == "nt": pass',
        "status.st_uid",
        "path.chmod(0o600)",
        'Path("/proc/self/status")',
    ],
)
def test_every_such_call_is_seen(line):
    assert list(list_system_calls(ast.parse(line)))


@pytest.mark.parametrize("line", ['path.write_text("x")', 'open(path, "w", encoding="utf-8")', 'path.open(mode="a")'])
def test_every_text_that_is_written_is_seen(line):
    assert list(list_translated_writes(ast.parse(line)))
