"""Folders that are no release: links, pipes, devices, and files that nobody listed."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

DATA = ("data", "quasi")


def data_file(folder: Path) -> Path:
    return next(path for path in sorted(folder.iterdir()) if path.stem in DATA)


def _linked(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = data_file(folder) if name == "data" else folder / name
        away = folder.parent / f"away-{path.name}"
        shutil.move(path, away)
        path.symlink_to(away)

    return change


def _folder_linked(folder: Path) -> None:
    away = folder.parent / "away"
    folder.rename(away)
    folder.symlink_to(away, target_is_directory=True)


def _replaced(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = data_file(folder) if name == "data" else folder / name
        path.unlink()
        make(path)

    return change


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket may not be long
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _device(path: Path) -> None:
    os.mknod(path, 0o20644, os.makedev(1, 5))  # /dev/zero: it never ends


def _extra(name: str, content: str = "Ann,1980,flu\n") -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content) and None


def _many(folder: Path) -> None:
    for number in range(300):
        (folder / f"{number}.txt").touch()


FOLDERS: dict[str, Callable[[Path], None]] = {
    "the folder is a link": _folder_linked,
    "a data file is a link": _linked("data"),
    "README.md is a link": _linked("README.md"),
    "manifest.json is a link": _linked("manifest.json"),
    "a link to nothing": lambda folder: (folder / "more").symlink_to(folder / "nothing"),
    "a link to itself": lambda folder: (folder / "more").symlink_to(folder / "more"),
    "a data file is a pipe": _replaced("data", os.mkfifo),
    "manifest.json is a pipe": _replaced("manifest.json", os.mkfifo),
    "README.md is a pipe": _replaced("README.md", os.mkfifo),
    "a data file is a socket": _replaced("data", _socket),
    "a data file is a device": _replaced("data", _device),
    "manifest.json is a device": _replaced("manifest.json", _device),
    "a data file is a folder": _replaced("data", os.mkdir),
    "manifest.json is a folder": _replaced("manifest.json", os.mkdir),
    "an empty folder inside": lambda folder: (folder / "more").mkdir(),
    "a report.html of two megabytes": _extra("report.html", "x" * 2_000_000),
    "a report.html that is a link": lambda folder: (folder / "report.html").symlink_to(folder / "README.md"),
    "a file that is not listed": _extra("people.csv"),
    "a hidden file": _extra(".people.csv"),
    "a name that a terminal obeys": _extra("\x1b[2Jmore"),
    "many files that are not listed": _many,
    "manifest.json is missing": lambda folder: (folder / "manifest.json").unlink(),
    "README.md is missing": lambda folder: (folder / "README.md").unlink(),
    "a data file is missing": lambda folder: data_file(folder).unlink(),
    "an empty folder": lambda folder: [path.unlink() for path in folder.iterdir()] and None,
}
"""Each is refused by every reader."""
